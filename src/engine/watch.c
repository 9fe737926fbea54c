#include "engine/engine_internal.h"

#include <stdlib.h>

/*
 * Who waits for jobs. One thread, the notifier, makes all callbacks, without mu; a change puts the
 * watches of its job into the notifier's queue.
 */

typedef struct cuzk_watch watch;

static void ready_locked(cuzk_engine *e, watch *w)
{
    if (w->ready || w->over) {
        return;
    }
    w->ready = true;
    w->ready_next = NULL;
    *(e->ready_last ? &e->ready_last->ready_next : &e->ready_first) = w;
    e->ready_last = w;
    pthread_cond_signal(&e->ready_cv);
}

static void unready_locked(cuzk_engine *e, watch *w)
{
    watch *before = NULL;
    for (watch *at = e->ready_first; w->ready && at; before = at, at = at->ready_next) {
        if (at == w) {
            *(before ? &before->ready_next : &e->ready_first) = w->ready_next;
            e->ready_last = e->ready_last == w ? before : e->ready_last;
            w->ready = false;
            return;
        }
    }
}

void cuzk_watch_changed_locked(cuzk_engine *e, cuzk_job *job)
{
    for (watch *w = job->watches; w; w = w->next) {
        if (!w->once || cuzk_job_ended(job->state)) {
            ready_locked(e, w);
        }
    }
}

void cuzk_watch_expired_locked(cuzk_engine *e, watch *w)
{
    w->timed_out = true;
    ready_locked(e, w);
}

/* ---- the notifier ---- */

static void call(cuzk_engine *e, watch *w)
{
    cuzk_job_view view;
    cuzk_job_look_locked(e, w->job, &view);
    bool ended = cuzk_job_ended(view.state);
    view.timed_out = w->timed_out && !ended;
    w->over = ended || view.timed_out;
    w->calling = true;
    if (w->over) {
        cuzk_timer_remove_locked(e, w);
    }
    pthread_mutex_unlock(&e->mu);
    w->fn(w->ctx, &view);
    pthread_mutex_lock(&e->mu);
    w->calling = false;
    pthread_cond_broadcast(&e->called_cv);
}

void *cuzk_notifier_main(void *arg)
{
    cuzk_engine *e = arg;
    pthread_mutex_lock(&e->mu);
    while (e->ready_first || !e->stopping) {
        watch *w = e->ready_first;
        if (!w) {
            pthread_cond_wait(&e->ready_cv, &e->mu);
            continue;
        }
        e->ready_first = w->ready_next;
        e->ready_last = e->ready_first ? e->ready_last : NULL;
        w->ready = false;
        call(e, w);
    }
    pthread_mutex_unlock(&e->mu);
    return NULL;
}

/* ---- calls ---- */

static void link_locked(watch *w)
{
    w->prev = NULL;
    w->next = w->job->watches;
    if (w->next) {
        w->next->prev = w;
    }
    w->job->watches = w;
}

static void unlink_locked(watch *w)
{
    *(w->prev ? &w->prev->next : &w->job->watches) = w->next;
    if (w->next) {
        w->next->prev = w->prev;
    }
}

static cuzk_code start(cuzk_engine *e, watch **ret, const char *job_id, watch how, cuzk_err *err)
{
    watch *w = malloc(sizeof *w);
    if (!w) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a watch");
    }
    *w = how;
    cuzk_code code = cuzk_job_find(e, &w->job, job_id, err);
    if (code != CUZK_OK) {
        free(w);
        return code;
    }
    pthread_mutex_lock(&e->mu);
    if (w->deadline_ns) {
        code = cuzk_timer_add_locked(e, w, err);
    }
    if (code != CUZK_OK) {
        cuzk_job_drop_locked(w->job);
        free(w);
    } else {
        *ret = w; /* before the callback, which may come at once */
        link_locked(w);
        if (!w->once || cuzk_job_ended(w->job->state)) {
            ready_locked(e, w);
        }
    }
    pthread_mutex_unlock(&e->mu);
    return code;
}

cuzk_code cuzk_engine_await(cuzk_engine *e, cuzk_watch **ret, const char *job_id,
                            uint64_t timeout_ms, cuzk_job_fn *fn, void *ctx, cuzk_err *err)
{
    uint64_t longest = UINT64_MAX / 4000000; /* about 150 years */
    uint64_t wait_ms = timeout_ms < longest ? timeout_ms : longest;
    uint64_t deadline = timeout_ms ? cuzk_clock_ns() + wait_ms * 1000000 : 0;
    return start(e, ret, job_id,
                 (watch){.fn = fn, .ctx = ctx, .once = true, .deadline_ns = deadline}, err);
}

cuzk_code cuzk_engine_watch(cuzk_engine *e, cuzk_watch **ret, const char *job_id, cuzk_job_fn *fn,
                            void *ctx, cuzk_err *err)
{
    return start(e, ret, job_id, (watch){.fn = fn, .ctx = ctx}, err);
}

void cuzk_engine_unwatch(cuzk_engine *e, cuzk_watch *w)
{
    if (!w) {
        return;
    }
    pthread_mutex_lock(&e->mu);
    w->over = true;
    unready_locked(e, w);
    cuzk_timer_remove_locked(e, w);
    unlink_locked(w);
    while (w->calling) {
        pthread_cond_wait(&e->called_cv, &e->mu);
    }
    cuzk_job_drop_locked(w->job);
    pthread_mutex_unlock(&e->mu);
    free(w);
}

cuzk_code cuzk_engine_get(cuzk_engine *e, const char *job_id, cuzk_job_fn *fn, void *ctx,
                          cuzk_err *err)
{
    cuzk_job *job;
    cuzk_job_view view;
    CUZK_TRY(cuzk_job_find(e, &job, job_id, err));
    pthread_mutex_lock(&e->mu);
    cuzk_job_look_locked(e, job, &view);
    pthread_mutex_unlock(&e->mu);
    fn(ctx, &view);
    pthread_mutex_lock(&e->mu);
    cuzk_job_drop_locked(job);
    pthread_mutex_unlock(&e->mu);
    return CUZK_OK;
}
