#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* One loop in progress; lives on the caller's stack until every participant has left it. */
typedef struct loop {
    cuzk_pool_fn *fn;
    void *ctx;
    size_t count;
    atomic_size_t next; /* relaxed: only hands out indices; the mutex orders the data */
    unsigned seats;     /* guarded by mu: participants that joined so far, the caller is 0 */
    unsigned active;    /* guarded by mu: participants that have not left */
    struct loop *link;  /* guarded by mu: next loop that still wants workers */
} loop;

struct cuzk_pool {
    unsigned size;
    unsigned started;
    pthread_t *threads;
    pthread_mutex_t mu;
    pthread_cond_t work; /* a loop was added, or stop was set */
    pthread_cond_t left; /* a participant left some loop */
    loop *loops;         /* guarded by mu */
    bool stop;           /* guarded by mu */
};

static void drain(loop *l, unsigned worker)
{
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        if (i >= l->count) {
            return;
        }
        l->fn(l->ctx, i, worker);
    }
}

static void unlink_loop(cuzk_pool *p, loop *l)
{
    for (loop **at = &p->loops; *at; at = &(*at)->link) {
        if (*at == l) {
            *at = l->link;
            return;
        }
    }
}

static void *worker_main(void *arg)
{
    cuzk_pool *p = arg;
    pthread_mutex_lock(&p->mu);
    while (!p->stop) {
        loop *l = p->loops;
        if (!l) {
            pthread_cond_wait(&p->work, &p->mu);
            continue;
        }
        unsigned seat = l->seats++;
        l->active++;
        if (l->seats == p->size) {
            unlink_loop(p, l);
        }
        pthread_mutex_unlock(&p->mu);
        drain(l, seat);
        pthread_mutex_lock(&p->mu);
        unlink_loop(p, l); /* its indices are used up: nobody else need join */
        l->active--;
        pthread_cond_broadcast(&p->left);
    }
    pthread_mutex_unlock(&p->mu);
    return NULL;
}

static unsigned available_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return 1;
    }
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

cuzk_code cuzk_pool_new(cuzk_pool **ret, unsigned threads, cuzk_err *err)
{
    cuzk_pool *p = calloc(1, sizeof *p);
    if (!p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a thread pool");
    }
    p->size = threads ? threads : available_processors();
    pthread_mutex_init(&p->mu, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->left, NULL);
    p->threads = calloc(p->size, sizeof *p->threads);
    if (!p->threads) {
        cuzk_pool_free(p);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u threads", threads);
    }
    while (p->started + 1 < p->size) {
        if (pthread_create(&p->threads[p->started], NULL, worker_main, p) != 0) {
            unsigned started = p->started;
            cuzk_pool_free(p);
            return CUZK_FAIL(err, CUZK_E_MEMORY, "cannot start thread %u", started + 1);
        }
        char name[16];
        snprintf(name, sizeof name, "cuzk-pool-%u", p->started + 1);
        pthread_setname_np(p->threads[p->started++], name);
    }
    *ret = p;
    return CUZK_OK;
}

void cuzk_pool_free(cuzk_pool *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&p->mu);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->mu);
    for (unsigned i = 0; i < p->started; i++) {
        pthread_join(p->threads[i], NULL);
    }
    pthread_cond_destroy(&p->left);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->mu);
    free(p->threads);
    free(p);
}

unsigned cuzk_pool_size(const cuzk_pool *p) { return p ? p->size : 1; }

void cuzk_pool_run(cuzk_pool *p, size_t count, cuzk_pool_fn *fn, void *ctx)
{
    loop l = {.fn = fn, .ctx = ctx, .count = count, .seats = 1, .active = 0};
    bool shared = p && p->size > 1 && count > 1;
    if (shared) {
        pthread_mutex_lock(&p->mu);
        l.link = p->loops;
        p->loops = &l;
        pthread_cond_broadcast(&p->work);
        pthread_mutex_unlock(&p->mu);
    }
    drain(&l, 0);
    if (shared) {
        pthread_mutex_lock(&p->mu);
        unlink_loop(p, &l);
        while (l.active > 0) {
            pthread_cond_wait(&p->left, &p->mu);
        }
        pthread_mutex_unlock(&p->mu);
    }
}
