#include "engine/engine_internal.h"

#include <stdio.h>

/*
 * Jobs with partitions to synthesise, a list for each priority. Orders everything: priority, then
 * the age of the job (of the first job of its batch), then the partition.
 */

/* ---- batches ---- */

/* A job takes the place in the queue of the batch it joins; a job that finds none opens one. */
static void join_batch_locked(cuzk_engine *e, cuzk_job *job)
{
    cuzk_batch *oldest = &e->batch[0];
    uint64_t wait_ns = e->config.max_batch_wait_ms * 1000000;
    for (size_t i = 0; i < sizeof e->batch / sizeof *e->batch; i++) {
        cuzk_batch *b = &e->batch[i];
        if (b->circuit == job->circuit && b->priority == job->priority &&
            b->jobs < e->config.max_batch_size && cuzk_clock_ns() - b->opened_ns <= wait_ns) {
            job->order = b->order;
            b->jobs++;
            cuzk_timeline_record(e->timeline, CUZK_EV_BATCH, job->number, -1, -1, -1, b->jobs,
                                 job->circuit->name);
            return;
        }
        oldest = b->opened_ns < oldest->opened_ns ? b : oldest;
    }
    *oldest = (cuzk_batch){job->circuit, job->priority, job->number, cuzk_clock_ns(), 1};
}

/* ---- the lists ---- */

void cuzk_queue_add_locked(cuzk_engine *e, cuzk_job *job)
{
    job->order = job->number;
    if (e->config.max_batch_size > 1) {
        join_batch_locked(e, job);
    }
    job->slot_size = e->config.slot_size ? e->config.slot_size : job->n_units;
    for (uint32_t k = 0; k < job->n_units; k++) {
        if (job->units[k].state == CUZK_PARTITION_PENDING) {
            job->slot_synth[k / job->slot_size]++;
            job->slot_left[k / job->slot_size]++;
        }
    }
    cuzk_list_insert(&e->queue[job->priority], job);
    job->queued = true;
    e->waiting[job->priority]++;
    cuzk_queue_prefetch_locked(e);
    pthread_cond_broadcast(&e->synth_cv);
}

void cuzk_queue_remove_locked(cuzk_engine *e, cuzk_job *job)
{
    if (!job->queued) {
        return;
    }
    cuzk_list_remove(&e->queue[job->priority], job);
    job->queued = false;
    (*(job->begun ? &e->begun[job->priority] : &e->waiting[job->priority]))--;
}

uint32_t cuzk_queue_position_locked(const cuzk_engine *e, const cuzk_job *job)
{
    size_t before = 0;
    if (!job->queued || job->begun) {
        return 0;
    }
    for (unsigned p = job->priority + 1u; p <= CUZK_PRIORITY_CRITICAL; p++) {
        before += e->waiting[p];
    }
    for (const cuzk_job *j = job->queue_prev; j; j = j->queue_prev) {
        before += !j->begun;
    }
    return (uint32_t)before;
}

/* ---- what is next ---- */

/* What one look at the queue has learned so far. */
typedef struct look {
    unsigned in_synth;     /* jobs that have a partition in synthesis */
    const cuzk_job *worst; /* the last of them in order */
    size_t unbegun;        /* jobs passed that have not begun */
    size_t begun_left;     /* jobs to come that have */
    bool closed;           /* only jobs that have begun may go on */
} look;

static bool job_before(const cuzk_job *a, const cuzk_job *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return a->order != b->order ? a->order < b->order : a->number < b->number;
}

static void count_in_synth(const cuzk_engine *e, look *l)
{
    for (int p = CUZK_PRIORITY_CRITICAL; p > CUZK_PRIORITY_DEFAULT; p--) {
        size_t begun = e->begun[p];
        for (const cuzk_job *j = e->queue[p].first; j && begun; j = j->queue_next) {
            begun -= j->begun;
            if (j->in_synth) {
                l->in_synth++;
                l->worst = j;
            }
        }
    }
}

/* synthesis_concurrency; a job that goes before one of those in synthesis does not wait for it. */
static bool may_enter(const cuzk_engine *e, const look *l, const cuzk_job *job)
{
    return job->in_synth || l->in_synth < e->config.synthesis_concurrency ||
           job_before(job, l->worst);
}

/* Room for one more slot of this priority: what is of lower priority takes no room from it. */
static bool has_slot(const cuzk_engine *e, const cuzk_job *job)
{
    unsigned open = 0;
    for (unsigned p = job->priority; p <= CUZK_PRIORITY_CRITICAL; p++) {
        open += e->slots_open[p];
    }
    return open < e->slot_limit;
}

/* Room in the pipeline's memory; when nothing is on its way one partition always goes. */
static bool has_room(const cuzk_engine *e, uint64_t bytes)
{
    return e->units_made == 0 || e->pipeline_used + bytes <= e->pipeline_max;
}

static void begin_locked(cuzk_engine *e, cuzk_job *job)
{
    if (!job->begun) {
        job->begun = true;
        e->waiting[job->priority]--;
        e->begun[job->priority]++;
    }
}

static bool take_unit_locked(cuzk_engine *e, look *l, cuzk_job *job, cuzk_unit **ret)
{
    cuzk_unit *u = &job->units[job->next_k];
    bool *open = &job->slot_open[u->k / job->slot_size];
    /* What is in a slot waits for the rest of it, which therefore needs no room of its own. */
    bool room = *open || (has_slot(e, job) && has_room(e, job->circuit->unit_bytes));
    if (!may_enter(e, l, job) || !room) {
        l->closed = true;
        return false;
    }
    if (!*open) {
        *open = true;
        job->slots_open++;
        e->slots_open[job->priority]++;
    }
    begin_locked(e, job);
    u->state = CUZK_PARTITION_SYNTHESIZING;
    u->bytes = job->circuit->unit_bytes;
    e->pipeline_used += u->bytes;
    e->units_made++;
    e->synth_active++;
    job->in_synth++;
    job->in_hand++;
    do {
        job->next_k++;
    } while (job->next_k < job->n_units && job->units[job->next_k].state != CUZK_PARTITION_PENDING);
    *ret = u;
    return true;
}

/* Input is read for jobs that may begin now, and ahead for the next `lookahead` ones. */
static bool take_reading_locked(cuzk_engine *e, const look *l, cuzk_job *job)
{
    size_t ahead = (size_t)e->config.synthesis_concurrency + e->config.lookahead;
    uint64_t bytes = job->payload_bytes + job->statement_bytes;
    bool first = l->unbegun == 0 && e->units_made == 0;
    if (!job->begun && l->unbegun >= ahead) {
        return false;
    }
    if (!first && e->pipeline_used + bytes > e->pipeline_max) {
        return false;
    }
    job->reading = true;
    job->in_hand++;
    e->synth_active++;
    return true;
}

static cuzk_synth_task try_job_locked(cuzk_engine *e, look *l, cuzk_job *job, cuzk_unit **ret_unit)
{
    if (!cuzk_circuit_want_locked(e, job->circuit) || job->reading) {
        return CUZK_SYNTH_NOTHING;
    }
    if (!job->statement) {
        return take_reading_locked(e, l, job) ? CUZK_SYNTH_READ : CUZK_SYNTH_NOTHING;
    }
    if (job->next_k >= job->n_units || (l->closed && !job->begun)) {
        return CUZK_SYNTH_NOTHING;
    }
    return take_unit_locked(e, l, job, ret_unit) ? CUZK_SYNTH_UNIT : CUZK_SYNTH_NOTHING;
}

cuzk_synth_task cuzk_queue_pick_locked(cuzk_engine *e, cuzk_job **ret_job, cuzk_unit **ret_unit)
{
    look l = {.begun_left = 0};
    for (int p = CUZK_PRIORITY_CRITICAL; p > CUZK_PRIORITY_DEFAULT; p--) {
        l.begun_left += e->begun[p];
    }
    size_t ahead = (size_t)e->config.synthesis_concurrency + e->config.lookahead;
    count_in_synth(e, &l);
    for (int p = CUZK_PRIORITY_CRITICAL; p > CUZK_PRIORITY_DEFAULT; p--) {
        for (cuzk_job *job = e->queue[p].first; job; job = job->queue_next) {
            cuzk_synth_task task = try_job_locked(e, &l, job, ret_unit);
            if (task != CUZK_SYNTH_NOTHING) {
                cuzk_job_share_locked(job);
                *ret_job = job;
                return task;
            }
            l.begun_left -= job->begun;
            l.unbegun += !job->begun;
            if (l.closed && l.begun_left == 0 && l.unbegun > ahead) {
                return CUZK_SYNTH_NOTHING;
            }
        }
    }
    return CUZK_SYNTH_NOTHING;
}

/* ---- look-ahead ---- */

enum { WANTED_MAX = 8 };

typedef struct wanted {
    cuzk_circuit_files files[WANTED_MAX];
    size_t n;
} wanted;

static void want(wanted *w, const cuzk_engine_circuit *c)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strcmp(w->files[i].circuit, c->name) == 0) {
            return;
        }
    }
    if (w->n < WANTED_MAX) {
        w->files[w->n++] = c->files;
    }
}

/* Soonest first: what is in the channel, then the jobs in the queue up to `lookahead` that have not
 * begun. */
static void collect(const cuzk_engine *e, wanted *w)
{
    size_t ahead = 0;
    for (int p = CUZK_PRIORITY_CRITICAL; p > CUZK_PRIORITY_DEFAULT; p--) {
        for (const cuzk_unit *u = e->channel_first[p]; u; u = u->next) {
            want(w, u->job->circuit);
        }
    }
    for (int p = CUZK_PRIORITY_CRITICAL; p > CUZK_PRIORITY_DEFAULT; p--) {
        for (const cuzk_job *j = e->queue[p].first; j && ahead <= e->config.lookahead;
             j = j->queue_next) {
            want(w, j->circuit);
            ahead += !j->begun;
        }
    }
}

void cuzk_queue_prefetch_locked(cuzk_engine *e)
{
    wanted w = {.n = 0};
    char names[sizeof e->devices->wanted] = "";
    size_t at = 0;
    if (cuzk_engine_is_resting(e)) {
        return;
    }
    collect(e, &w);
    for (size_t i = 0; i < w.n; i++) {
        at += (size_t)snprintf(names + at, sizeof names - at, "%s,", w.files[i].circuit);
    }
    for (unsigned d = 0; w.n && d < e->n_devices; d++) {
        if (strcmp(e->devices[d].wanted, names) != 0) {
            memcpy(e->devices[d].wanted, names, sizeof names);
            cuzk_residency_prefetch(e->residency, d, w.files, w.n);
        }
    }
}
