#include "engine/engine_internal.h"

#include <stdlib.h>

enum { WAITING_MAX = 100, PIPELINES_MAX = 256, KEYS_MAX = 256, ENDED_SHOWN_MS = 30000 };

/** A snapshot and the strings that it points to, in one run of bytes. */
typedef struct snapshot {
    cuzk_engine_snapshot s; /* first member: what callers get */
    char *text;             /* owned */
    size_t at, cap;
} snapshot;

void cuzk_engine_status_free(cuzk_engine_snapshot *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->n_pipelines; i++) {
        free(s->pipelines[i].partitions);
    }
    free(s->pipelines);
    free(s->workers);
    free(s->devices);
    free(s->keys);
    free(s->waiting);
    free(s->failures);
    free(((snapshot *)s)->text);
    free(s);
}

/* Copies a string; there is room for all that there are, see text_size. */
static const char *keep(snapshot *t, const char *text)
{
    size_t n = strlen(text) + 1;
    if (t->cap - t->at < n) {
        return "";
    }
    char *copy = memcpy(t->text + t->at, text, n);
    t->at += n;
    return copy;
}

static uint64_t ms_since(uint64_t now, uint64_t then)
{
    return then && now > then ? (now - then) / 1000000 : 0;
}

/* ---- parts, with mu held ---- */

static void look_at_partitions(cuzk_snapshot_partition *ret, const cuzk_job *job)
{
    for (uint32_t k = 0; k < job->n_units; k++) {
        const cuzk_unit *u = &job->units[k];
        ret[k] = (cuzk_snapshot_partition){.index = k,
                                           .state = u->state,
                                           .attempts = u->attempts,
                                           .device = u->device,
                                           .synth_ms = u->synth_ns / 1000000,
                                           .gpu_ms = u->gpu_ns / 1000000};
    }
}

static void add_pipeline(snapshot *t, const cuzk_job *job, uint64_t now)
{
    cuzk_engine_snapshot *s = &t->s;
    cuzk_snapshot_partition *partitions = calloc(job->n_units, sizeof *partitions);
    if (!partitions || s->n_pipelines == PIPELINES_MAX) {
        free(partitions);
        return;
    }
    look_at_partitions(partitions, job);
    s->pipelines[s->n_pipelines++] = (cuzk_snapshot_pipeline){
        .job_id = keep(t, job->id),
        .kind = job->kind,
        .state = job->state,
        .priority = job->priority,
        .circuit = job->circuit ? job->circuit->name : "",
        .error = job->error ? keep(t, job->error->text) : "",
        .started_ms_ago = ms_since(now, job->started_ns),
        .partitions_done = job->done,
        .n_partitions = job->n_units,
        .partitions = partitions,
    };
}

static void look_at_jobs(snapshot *t, cuzk_engine *e, uint64_t now)
{
    for (size_t i = 0; i < e->table_size; i++) {
        for (const cuzk_job *job = e->table[i]; job; job = job->hash_next) {
            if (job->accepting || cuzk_job_ended(job->state)) {
                continue;
            }
            cuzk_snapshot_queue *q = &t->s.queues[job->kind - 1];
            (*(job->state == CUZK_JOB_QUEUED ? &q->pending : &q->in_progress))++;
            if (job->state == CUZK_JOB_RUNNING) {
                add_pipeline(t, job, now);
            }
        }
    }
    for (const cuzk_job *job = e->ended.last; job; job = job->queue_prev) {
        if (job->started_ns && ms_since(now, job->ended_ns) <= ENDED_SHOWN_MS) {
            add_pipeline(t, job, now);
        }
    }
}

static void look_at_waiting(snapshot *t, const cuzk_engine *e, uint64_t now)
{
    for (int p = CUZK_PRIORITY_CRITICAL; p > CUZK_PRIORITY_DEFAULT; p--) {
        for (const cuzk_job *job = e->queue[p].first; job && t->s.n_waiting < WAITING_MAX;
             job = job->queue_next) {
            if (!job->begun) {
                t->s.waiting[t->s.n_waiting++] = (cuzk_snapshot_waiting){
                    keep(t, job->id),   job->kind,    job->priority,
                    job->circuit->name, job->n_units, ms_since(now, job->created_ns)};
            }
        }
    }
}

static void look_at_devices(snapshot *t, const cuzk_engine *e, uint64_t now)
{
    for (unsigned i = 0; i < e->n_workers; i++) {
        const cuzk_device_worker *w = &e->workers[i];
        cuzk_snapshot_worker *to = &t->s.workers[t->s.n_workers++];
        *to = (cuzk_snapshot_worker){.id = w->id, .device = w->device->number, .job_id = ""};
        if (w->unit) {
            to->proving = true;
            to->job_id = keep(t, w->unit->job->id);
            to->kind = w->unit->job->kind;
            to->partition = w->unit->k;
            to->busy_ms = ms_since(now, w->since_ns);
        }
    }
    for (unsigned d = 0; d < e->n_devices; d++) {
        const cuzk_engine_device *dev = &e->devices[d];
        uint64_t minute = now - e->start_ns < 60000000000u ? now - e->start_ns + 1 : 60000000000u;
        double share = (double)cuzk_device_busy_minute_locked(dev, now) / (double)minute;
        uint64_t busy = dev->busy_ns + (dev->running ? now - dev->busy_since_ns : 0);
        t->s.devices[t->s.n_devices++] = (cuzk_snapshot_device){
            .info = dev->info,
            .quarantined = dev->quarantined,
            .partitions = dev->partitions,
            .wrong_proofs = dev->wrong_proofs,
            .errors = dev->errors,
            .busy_ms = busy / 1000000,
            .utilisation = share < 1 ? share : 1,
        };
    }
}

static void look_at_failures(snapshot *t, const cuzk_engine *e)
{
    size_t n = e->n_failures < CUZK_FAILURES_KEPT ? e->n_failures : CUZK_FAILURES_KEPT;
    for (size_t i = 0; i < n; i++) {
        const cuzk_failure *f = &e->failures[(e->n_failures - 1 - i) % CUZK_FAILURES_KEPT];
        t->s.failures[t->s.n_failures++] =
            (cuzk_snapshot_failure){keep(t, f->job_id), f->kind,           f->partition,
                                    keep(t, f->phase),  keep(t, f->error), f->unix_ms};
    }
}

static void look_at_counts(cuzk_engine_snapshot *s, const cuzk_engine *e, uint64_t now)
{
    uint64_t statements = 0;
    s->uptime_ms = ms_since(now, e->start_ns);
    s->unix_ms = cuzk_wall_us() / 1000;
    s->draining = e->draining;
    s->synthesis_max = e->n_synth;
    s->synthesis_active = e->synth_active;
    s->counters = e->counters;
    s->counters.queue_depth = 0;
    for (unsigned p = 0; p <= CUZK_PRIORITY_CRITICAL; p++) {
        s->counters.queue_depth += e->waiting[p];
    }
    for (size_t i = 0; i < e->table_size; i++) {
        for (const cuzk_job *job = e->table[i]; job; job = job->hash_next) {
            statements += job->statement ? job->statement_bytes : 0;
        }
    }
    s->buffers = (cuzk_snapshot_buffers){
        .synth_in_flight = e->synth_active,
        .held = e->held_n,
        .channel = e->channel_n,
        .finishing = e->finishing,
        .statement_bytes = statements,
        .witness_bytes = e->pipeline_used > statements ? e->pipeline_used - statements : 0,
    };
    for (unsigned i = 0; i < e->n_workers; i++) {
        s->buffers.provers_in_flight += e->workers[i].unit != NULL;
    }
}

/* ---- parts that have locks of their own ---- */

static void look_at_memory(cuzk_engine_snapshot *s, const cuzk_engine *e)
{
    cuzk_budget_state b;
    cuzk_budget_snapshot(e->budget, &b);
    for (unsigned i = 0; i < b.n_accounts; i++) {
        const char *name = b.accounts[i].name;
        cuzk_memory m = strcmp(name, "host") == 0     ? CUZK_MEMORY_HOST
                        : strcmp(name, "pinned") == 0 ? CUZK_MEMORY_PINNED
                                                      : CUZK_MEMORY_DEVICE;
        s->memory[m].total += b.accounts[i].total;
        s->memory[m].used += b.accounts[i].used;
        s->memory[m].waiting += b.accounts[i].waiting;
    }
    s->pinned_bytes = s->memory[CUZK_MEMORY_PINNED].used;
    s->pinned_limit = s->memory[CUZK_MEMORY_PINNED].total;
}

static void look_at_keys(cuzk_engine_snapshot *s, cuzk_engine *e, uint64_t now)
{
    cuzk_resident *all = calloc(KEYS_MAX, sizeof *all);
    size_t n = all ? cuzk_residency_snapshot(e->residency, all, KEYS_MAX) : 0;
    for (size_t i = 0; i < n && i < KEYS_MAX; i++) {
        const cuzk_resident *r = &all[i];
        const cuzk_engine_circuit *c = cuzk_circuits_named(e, r->circuit);
        if (!c || r->heat == CUZK_COLD) {
            continue;
        }
        s->keys[s->n_keys++] = (cuzk_snapshot_key){
            .circuit = c->name,
            .reference = c->reference,
            .device = r->device,
            .tier = r->heat == CUZK_HOT || r->heat == CUZK_EVICTING ? CUZK_KEY_HOT
                    : r->heat == CUZK_WARM                          ? CUZK_KEY_WARM
                                                                    : CUZK_KEY_COLD,
            .bytes = r->bytes,
            .refs = r->users,
            .idle_ms = r->users ? 0 : ms_since(now, r->last_used_ns),
            .evictable = r->users == 0 && r->heat == CUZK_HOT,
        };
    }
    free(all);
}

/* What devices say of themselves may take a moment: not under mu. */
static void refresh_devices(cuzk_engine *e)
{
    for (unsigned d = 0; d < e->n_devices; d++) {
        cuzk_engine_device *dev = &e->devices[d];
        cuzk_device_info info;
        if (dev->backend->ops->info(dev->backend, &info, NULL) == CUZK_OK) {
            pthread_mutex_lock(&e->mu);
            dev->info = info;
            pthread_mutex_unlock(&e->mu);
        }
    }
}

static bool allocate(snapshot *t, const cuzk_engine *e)
{
    cuzk_engine_snapshot *s = &t->s;
    t->cap = (PIPELINES_MAX + WAITING_MAX + e->n_workers + (size_t)CUZK_FAILURES_KEPT) *
                 CUZK_JOB_ID_MAX +
             (PIPELINES_MAX + (size_t)CUZK_FAILURES_KEPT) * CUZK_STORE_ERROR_MAX;
    t->text = malloc(t->cap);
    s->pipelines = calloc(PIPELINES_MAX, sizeof *s->pipelines);
    s->workers = calloc(e->n_workers, sizeof *s->workers);
    s->devices = calloc(e->n_devices, sizeof *s->devices);
    s->keys = calloc(KEYS_MAX, sizeof *s->keys);
    s->waiting = calloc(WAITING_MAX, sizeof *s->waiting);
    s->failures = calloc(CUZK_FAILURES_KEPT, sizeof *s->failures);
    return t->text && s->pipelines && s->workers && s->devices && s->keys && s->waiting &&
           s->failures;
}

cuzk_code cuzk_engine_status(cuzk_engine *e, cuzk_engine_snapshot **ret, cuzk_err *err)
{
    snapshot *t = calloc(1, sizeof *t);
    if (!t || !allocate(t, e)) {
        cuzk_engine_status_free(&t->s);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the engine's status");
    }
    refresh_devices(e);
    for (unsigned k = 0; k < CUZK_JOB_KIND_MAX; k++) {
        t->s.queues[k].kind = (cuzk_job_kind)(k + 1);
    }
    uint64_t now = cuzk_clock_ns();
    pthread_mutex_lock(&e->mu);
    look_at_counts(&t->s, e, now);
    look_at_jobs(t, e, now);
    look_at_waiting(t, e, now);
    look_at_devices(t, e, now);
    look_at_failures(t, e);
    pthread_mutex_unlock(&e->mu);
    look_at_memory(&t->s, e);
    look_at_keys(&t->s, e, now);
    *ret = &t->s;
    return CUZK_OK;
}
