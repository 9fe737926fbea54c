#include "cli.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 32, DELAY_NS = 1000000000, PERIOD_NS = 100000000 };

static void draw(const cli_bar *bar, uint64_t now)
{
    static const char full[] = "################################";
    double seconds = (double)(now - bar->start_ns) / 1e9;
    if (bar->total == 0) {
        fprintf(stderr, "\r\033[K%-14s %.0f s", bar->phase, seconds);
    } else {
        double part = (double)bar->done / (double)bar->total;
        int filled = (int)(part * WIDTH);
        fprintf(stderr, "\r\033[K%-14s [%.*s%*s] %3.0f %%, %.0f s", bar->phase, filled, full,
                WIDTH - filled, "", 100 * part, seconds);
    }
    fflush(stderr);
}

/* Draws again and again, so that the bar lives through long phases that report nothing. */
static void *keep_drawing(void *ctx)
{
    cli_bar *bar = ctx;
    uint64_t next = bar->start_ns + DELAY_NS;
    pthread_mutex_lock(&bar->lock);
    while (!bar->ended) {
        const struct timespec t = {(time_t)(next / 1000000000), (long)(next % 1000000000)};
        int status = pthread_cond_clockwait(&bar->wake, &bar->lock, CLOCK_MONOTONIC, &t);
        if (status == ETIMEDOUT && !bar->ended) {
            draw(bar, cuzk_clock_ns());
            bar->drawn = true;
            next = cuzk_clock_ns() + PERIOD_NS;
        }
    }
    pthread_mutex_unlock(&bar->lock);
    return NULL;
}

static void report(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    cli_bar *bar = ctx;
    if (bar->running) {
        pthread_mutex_lock(&bar->lock);
        bar->phase = phase;
        bar->done = done;
        bar->total = total;
        pthread_mutex_unlock(&bar->lock);
    }
}

void cli_bar_begin(cli_bar *bar, const char *phase)
{
    *bar = (cli_bar){.start_ns = cuzk_clock_ns(),
                     .phase = phase,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .wake = PTHREAD_COND_INITIALIZER};
    if (isatty(STDERR_FILENO) == 1) { /* without a thread there is no bar, and no harm */
        bar->running = pthread_create(&bar->thread, NULL, keep_drawing, bar) == 0;
    }
}

cuzk_progress cli_bar_progress(cli_bar *bar) { return (cuzk_progress){report, bar}; }

void cli_bar_end(cli_bar *bar)
{
    if (!bar->running) {
        return;
    }
    pthread_mutex_lock(&bar->lock);
    bar->ended = true;
    pthread_cond_signal(&bar->wake);
    pthread_mutex_unlock(&bar->lock);
    pthread_join(bar->thread, NULL);
    bar->running = false;
    if (bar->drawn) {
        fputs("\r\033[K", stderr);
    }
}
