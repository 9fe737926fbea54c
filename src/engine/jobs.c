#include "engine/engine_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/request.h"

/* ---- one job ---- */

static void job_free(cuzk_job *job)
{
    for (uint32_t k = 0; job->units && k < job->n_units; k++) {
        cuzk_ports_clear(&job->units[k].ports);
        free(job->units[k].inputs);
    }
    cuzk_statement_free(job->statement);
    free(job->units);
    free(job->slot_synth);
    free(job->slot_left);
    free(job->slot_open);
    free(job->meta);
    free(job->proof);
    free(job->error);
    free(job);
}

cuzk_code cuzk_job_new(cuzk_job **ret, const char *id, uint32_t n_units, cuzk_err *err)
{
    cuzk_job *job = calloc(1, sizeof *job);
    if (!job) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a job");
    }
    snprintf(job->id, sizeof job->id, "%s", id);
    job->n_units = n_units;
    job->refs = 1;
    job->units = calloc(n_units ? n_units : 1, sizeof *job->units);
    job->slot_synth = calloc(n_units ? n_units : 1, sizeof *job->slot_synth);
    job->slot_left = calloc(n_units ? n_units : 1, sizeof *job->slot_left);
    job->slot_open = calloc(n_units ? n_units : 1, sizeof *job->slot_open);
    if (!job->units || !job->slot_synth || !job->slot_left || !job->slot_open) {
        job_free(job);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a job of %u partitions", n_units);
    }
    for (uint32_t k = 0; k < n_units; k++) {
        job->units[k] = (cuzk_unit){.job = job, .k = k, .device = -1, .prefer = -1, .avoid = -1};
    }
    job->to_synth = n_units;
    *ret = job;
    return CUZK_OK;
}

void cuzk_job_share_locked(cuzk_job *job) { job->refs++; }

void cuzk_job_drop_locked(cuzk_job *job)
{
    if (--job->refs == 0) {
        job_free(job);
    }
}

/* ---- lists ---- */

static bool goes_before(const cuzk_job *a, const cuzk_job *b)
{
    return a->order != b->order ? a->order < b->order : a->number < b->number;
}

void cuzk_list_insert(cuzk_job_list *list, cuzk_job *job)
{
    cuzk_job *after = list->last; /* nearly always right */
    while (after && goes_before(job, after)) {
        after = after->queue_prev;
    }
    job->queue_prev = after;
    job->queue_next = after ? after->queue_next : list->first;
    *(job->queue_next ? &job->queue_next->queue_prev : &list->last) = job;
    *(after ? &after->queue_next : &list->first) = job;
    list->n++;
}

void cuzk_list_remove(cuzk_job_list *list, cuzk_job *job)
{
    *(job->queue_next ? &job->queue_next->queue_prev : &list->last) = job->queue_prev;
    *(job->queue_prev ? &job->queue_prev->queue_next : &list->first) = job->queue_next;
    job->queue_next = job->queue_prev = NULL;
    list->n--;
}

/* ---- the table ---- */

/* FNV-1a: ids come from clients that may as well fill the queue, so collisions are no new power. */
static size_t hash_of(const char *id)
{
    uint64_t h = 14695981039346656037u;
    for (; *id; id++) {
        h = (h ^ (uint8_t)*id) * 1099511628211u;
    }
    return (size_t)(h ^ h >> 32);
}

cuzk_job *cuzk_table_find_locked(cuzk_engine *e, const char *id)
{
    cuzk_job *job = e->table_size ? e->table[hash_of(id) & (e->table_size - 1)] : NULL;
    while (job && strcmp(job->id, id) != 0) {
        job = job->hash_next;
    }
    return job;
}

static cuzk_code table_grow(cuzk_engine *e, cuzk_err *err)
{
    size_t size = e->table_size ? 2 * e->table_size : 256;
    cuzk_job **table = calloc(size, sizeof *table);
    if (!table) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a table of %zu jobs", size);
    }
    for (size_t i = 0; i < e->table_size; i++) {
        for (cuzk_job *job = e->table[i], *next; job; job = next) {
            cuzk_job **at = &table[hash_of(job->id) & (size - 1)];
            next = job->hash_next;
            job->hash_next = *at;
            *at = job;
        }
    }
    free(e->table);
    e->table = table;
    e->table_size = size;
    return CUZK_OK;
}

cuzk_code cuzk_table_add_locked(cuzk_engine *e, cuzk_job *job, cuzk_err *err)
{
    cuzk_job *old = cuzk_table_find_locked(e, job->id);
    if (old) {
        cuzk_table_remove_locked(e, old);
    }
    if (e->table_n >= e->table_size) {
        CUZK_TRY(table_grow(e, err));
    }
    cuzk_job **at = &e->table[hash_of(job->id) & (e->table_size - 1)];
    job->hash_next = *at;
    *at = job;
    job->in_table = true;
    e->table_n++;
    cuzk_job_share_locked(job);
    return CUZK_OK;
}

void cuzk_table_remove_locked(cuzk_engine *e, cuzk_job *job)
{
    if (!job->in_table) {
        return;
    }
    cuzk_job **at = &e->table[hash_of(job->id) & (e->table_size - 1)];
    while (*at != job) {
        at = &(*at)->hash_next;
    }
    *at = job->hash_next;
    job->in_table = false;
    e->table_n--;
    if (cuzk_job_ended(job->state)) {
        cuzk_list_remove(&e->ended, job);
    }
    cuzk_job_drop_locked(job);
}

/* ---- what a job looks like ---- */

static uint64_t ms(uint64_t ns) { return ns / 1000000; }

static void look_at_times(const cuzk_job *job, cuzk_job_view *ret)
{
    if (job->has_stored) {
        ret->queue_wait_ms = job->stored.queue_ms;
        ret->srs_load_ms = job->stored.srs_ms;
        ret->synthesis_ms = job->stored.synthesis_ms;
        ret->gpu_compute_ms = job->stored.gpu_ms;
        ret->total_ms = job->stored.total_ms;
        return;
    }
    uint64_t now = job->ended_ns ? job->ended_ns : cuzk_clock_ns();
    ret->queue_wait_ms = ms((job->started_ns ? job->started_ns : now) - job->created_ns);
    ret->srs_load_ms = ms(job->load_ns);
    ret->synthesis_ms = ms(job->synth_ns);
    ret->gpu_compute_ms = ms(job->gpu_ns);
    ret->total_ms = ms(now - job->created_ns);
}

void cuzk_job_look_locked(cuzk_engine *e, const cuzk_job *job, cuzk_job_view *ret)
{
    *ret = (cuzk_job_view){
        .number = job->number,
        .kind = job->kind,
        .state = job->state,
        .priority = job->priority,
        .partitions = job->n_units,
        .partitions_done = job->done,
        .created_unix_ms = job->created_us / 1000,
        .finished_unix_ms = job->ended_us / 1000,
        .error = job->error ? job->error->text : "",
    };
    memcpy(ret->job_id, job->id, sizeof ret->job_id);
    if (job->state == CUZK_JOB_DONE) {
        ret->proof = (cuzk_span){job->proof, job->n_proof};
        ret->partitions_done = job->n_units;
    }
    if (job->state == CUZK_JOB_QUEUED) {
        ret->queue_position = cuzk_queue_position_locked(e, job);
    }
    look_at_times(job, ret);
}

/* ---- jobs that only the store has ---- */

static cuzk_code fill_of_store(cuzk_job *job, const cuzk_store_job *kept, cuzk_err *err)
{
    job->number = job->order = (uint64_t)kept->seq;
    job->kind = (cuzk_job_kind)kept->kind;
    job->priority = (cuzk_priority)kept->priority;
    job->state = kept->state;
    job->created_us = (uint64_t)kept->created_us;
    job->created_ns = cuzk_clock_ns();
    job->ended_us = (uint64_t)kept->ended_us;
    job->stored = kept->timings;
    job->has_stored = cuzk_job_ended(kept->state);
    job->payload_bytes = kept->payload_bytes;
    memcpy(job->identity, kept->identity, sizeof job->identity);
    memcpy(job->payload_hash, kept->payload_hash, sizeof job->payload_hash);
    if (kept->state == CUZK_JOB_FAILED) {
        job->error = calloc(1, sizeof *job->error);
        if (!job->error) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for an error");
        }
        job->error->partition = kept->error_partition;
        snprintf(job->error->text, sizeof job->error->text, "%s", kept->error);
    }
    if (kept->proof.n) {
        job->proof = malloc(kept->proof.n);
        if (!job->proof) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a proof of %zu bytes",
                             kept->proof.n);
        }
        memcpy(job->proof, kept->proof.p, kept->proof.n);
        job->n_proof = kept->proof.n;
    }
    return CUZK_OK;
}

cuzk_code cuzk_job_of_store(cuzk_engine *e, cuzk_job **ret, const cuzk_store_job *kept,
                            cuzk_err *err)
{
    cuzk_kept_request r = {0};
    cuzk_job *job;
    if (kept->meta.n) { /* without it, as in a list, only the number of partitions is unknown */
        CUZK_TRY(cuzk_request_decode(&r, kept->meta, (cuzk_span){NULL, kept->payload_bytes}, err));
    }
    cuzk_code code = cuzk_job_new(&job, kept->id, r.partitions, err);
    if (code == CUZK_OK) {
        job->circuit = r.partitions ? cuzk_circuits_named(e, r.circuit) : NULL;
        code = fill_of_store(job, kept, err);
        if (code == CUZK_OK) {
            *ret = job;
        } else {
            job_free(job);
        }
    }
    cuzk_kept_request_clear(&r);
    return code;
}

cuzk_code cuzk_job_find(cuzk_engine *e, cuzk_job **ret, const char *id, cuzk_err *err)
{
    cuzk_store_job *kept;
    pthread_mutex_lock(&e->mu);
    cuzk_job *job = cuzk_table_find_locked(e, id);
    bool known = job && !job->accepting;
    if (known) {
        cuzk_job_share_locked(job);
        *ret = job;
    }
    pthread_mutex_unlock(&e->mu);
    if (known) {
        return CUZK_OK;
    }
    cuzk_err why = {0};
    cuzk_code code = CUZK_E_NOT_FOUND; /* as it is while it is being accepted */
    if (!job) {
        code = cuzk_store_find(e->store, &kept, id, &why);
    }
    if (code == CUZK_E_NOT_FOUND) {
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "job not found: %.200s", id);
    }
    if (code != CUZK_OK) {
        return CUZK_FAIL(err, code, "%s", why.msg);
    }
    code = cuzk_job_of_store(e, ret, kept, err);
    cuzk_store_job_free(kept);
    return code;
}
