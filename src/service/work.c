#include "service/work.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct item {
    cuzk_work_fn *fn;
    void *arg;
} item;

struct cuzk_work {
    pthread_mutex_t mu;
    pthread_cond_t ready; /* an item came, or stop */
    item *items;          /* a ring; guarded by mu, and so is what follows */
    size_t capacity, first, n;
    bool stop;
    pthread_t *threads;
    unsigned n_threads;
};

static void *loop(void *arg)
{
    cuzk_work *w = arg;
    pthread_mutex_lock(&w->mu);
    for (;;) {
        while (w->n == 0 && !w->stop) {
            pthread_cond_wait(&w->ready, &w->mu);
        }
        if (w->n == 0) {
            break;
        }
        item it = w->items[w->first];
        w->first = (w->first + 1) % w->capacity;
        w->n--;
        pthread_mutex_unlock(&w->mu);
        it.fn(it.arg);
        pthread_mutex_lock(&w->mu);
    }
    pthread_mutex_unlock(&w->mu);
    return NULL;
}

cuzk_code cuzk_work_new(cuzk_work **ret, const char *name, unsigned threads, size_t capacity,
                        cuzk_err *err)
{
    cuzk_work *w = calloc(1, sizeof *w);
    if (w) {
        pthread_mutex_init(&w->mu, NULL);
        pthread_cond_init(&w->ready, NULL);
        w->capacity = capacity;
        w->items = calloc(capacity, sizeof *w->items);
        w->threads = calloc(threads, sizeof *w->threads);
    }
    if (!w || !w->items || !w->threads) {
        cuzk_work_free(w);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a queue of %zu items", capacity);
    }
    for (; w->n_threads < threads; w->n_threads++) {
        if (pthread_create(&w->threads[w->n_threads], NULL, loop, w) != 0) {
            cuzk_work_free(w);
            return CUZK_FAIL(err, CUZK_E_MEMORY, "a %s thread cannot be started", name);
        }
        pthread_setname_np(w->threads[w->n_threads], name);
    }
    *ret = w;
    return CUZK_OK;
}

cuzk_code cuzk_work_add(cuzk_work *w, cuzk_work_fn *fn, void *arg, cuzk_err *err)
{
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&w->mu);
    if (w->stop) {
        code = CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "the daemon is stopping");
    } else if (w->n == w->capacity) {
        code = CUZK_FAIL(err, CUZK_E_FULL, "%zu calls wait to be looked at: try again", w->n);
    } else {
        w->items[(w->first + w->n++) % w->capacity] = (item){fn, arg};
        pthread_cond_signal(&w->ready);
    }
    pthread_mutex_unlock(&w->mu);
    return code;
}

void cuzk_work_free(cuzk_work *w)
{
    if (!w) {
        return;
    }
    pthread_mutex_lock(&w->mu);
    w->stop = true;
    pthread_cond_broadcast(&w->ready);
    pthread_mutex_unlock(&w->mu);
    for (unsigned i = 0; i < w->n_threads; i++) {
        pthread_join(w->threads[i], NULL);
    }
    pthread_cond_destroy(&w->ready);
    pthread_mutex_destroy(&w->mu);
    free(w->threads);
    free(w->items);
    free(w);
}
