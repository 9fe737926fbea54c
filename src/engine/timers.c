#include "engine/engine_internal.h"

#include <stdlib.h>

/* Watches with a deadline stand in a binary heap, soonest first; one thread waits for the first of
 * them and for the next clearing of old results. */

typedef struct cuzk_watch watch;

static void put(cuzk_engine *e, size_t at, watch *w)
{
    e->heap[at] = w;
    w->heap_at = at + 1;
}

static void sift_up(cuzk_engine *e, size_t at)
{
    watch *w = e->heap[at];
    while (at > 0 && w->deadline_ns < e->heap[(at - 1) / 2]->deadline_ns) {
        put(e, at, e->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(e, at, w);
}

static void sift_down(cuzk_engine *e, size_t at)
{
    watch *w = e->heap[at];
    for (size_t child; (child = 2 * at + 1) < e->heap_n; at = child) {
        if (child + 1 < e->heap_n &&
            e->heap[child + 1]->deadline_ns < e->heap[child]->deadline_ns) {
            child++;
        }
        if (w->deadline_ns <= e->heap[child]->deadline_ns) {
            break;
        }
        put(e, at, e->heap[child]);
    }
    put(e, at, w);
}

cuzk_code cuzk_timer_add_locked(cuzk_engine *e, watch *w, cuzk_err *err)
{
    if (e->heap_n == e->heap_cap) {
        size_t cap = e->heap_cap ? 2 * e->heap_cap : 64;
        watch **heap = realloc(e->heap, cap * sizeof(*heap));
        if (!heap) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu timers", cap);
        }
        e->heap = heap;
        e->heap_cap = cap;
    }
    put(e, e->heap_n++, w);
    sift_up(e, e->heap_n - 1);
    if (e->heap[0] == w) {
        pthread_cond_signal(&e->timer_cv);
    }
    return CUZK_OK;
}

void cuzk_timer_remove_locked(cuzk_engine *e, watch *w)
{
    if (w->heap_at == 0) {
        return;
    }
    size_t at = w->heap_at - 1;
    watch *last = e->heap[--e->heap_n];
    w->heap_at = 0;
    if (last != w) {
        put(e, at, last);
        sift_up(e, at);
        sift_down(e, last->heap_at - 1);
    }
}

/* ---- old results ---- */

enum { PURGE_MS = 60000 };

static void forget_ended_locked(cuzk_engine *e, uint64_t before_us)
{
    for (cuzk_job *job = e->ended.first, *next; job; job = next) {
        next = job->queue_next;
        if (job->ended_us < before_us) {
            cuzk_table_remove_locked(e, job);
        }
    }
}

/* Called and returns with mu held. */
static void purge_locked(cuzk_engine *e, uint64_t now_ns)
{
    uint64_t keep_ms = e->config.keep_results_ms, wall = cuzk_wall_us();
    uint64_t before = wall > keep_ms * 1000 ? wall - keep_ms * 1000 : 0;
    uint64_t pause_ms = keep_ms < PURGE_MS ? (keep_ms ? keep_ms : 1) : PURGE_MS;
    cuzk_err err = {0};
    size_t n = 0;
    e->next_purge_ns = now_ns + pause_ms * 1000000;
    forget_ended_locked(e, before);
    pthread_mutex_unlock(&e->mu);
    if (cuzk_store_purge(e->store, &n, (int64_t)before, &err) != CUZK_OK) {
        cuzk_engine_say(e, CUZK_ENGINE_ERROR, "", "old jobs stay in the store: %s", err.msg);
    }
    pthread_mutex_lock(&e->mu);
}

void *cuzk_timer_main(void *arg)
{
    cuzk_engine *e = arg;
    pthread_mutex_lock(&e->mu);
    while (!e->stopping) {
        uint64_t now = cuzk_clock_ns(), next = e->next_purge_ns;
        if (now >= next) {
            purge_locked(e, now);
            continue;
        }
        if (e->heap_n > 0 && e->heap[0]->deadline_ns <= now) {
            watch *w = e->heap[0];
            cuzk_timer_remove_locked(e, w);
            cuzk_watch_expired_locked(e, w);
            continue;
        }
        if (e->heap_n > 0 && e->heap[0]->deadline_ns < next) {
            next = e->heap[0]->deadline_ns;
        }
        cuzk_cond_wait(&e->timer_cv, &e->mu, next);
    }
    pthread_mutex_unlock(&e->mu);
    return NULL;
}
