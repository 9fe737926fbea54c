#include "engine/engine_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "engine/request.h"

/* A request on its way to becoming a job. */
typedef struct arrival {
    const cuzk_job_request *request;
    char id[CUZK_JOB_ID_MAX];
    cuzk_statement *statement; /* owned until the job takes it */
    cuzk_engine_circuit *circuit;
    uint8_t *meta; /* owned until the job takes it */
    size_t n_meta;
    cuzk_span payload;
    uint8_t *payload_owned;
    uint8_t payload_hash[32], identity[32];
} arrival;

static void arrival_clear(arrival *a)
{
    cuzk_statement_free(a->statement);
    free(a->meta);
    free(a->payload_owned);
}

/* ---- without mu ---- */

static cuzk_code choose_id(arrival *a, cuzk_err *err)
{
    const char *id = a->request->request_id ? a->request->request_id : "";
    uint8_t b[16];
    char hex[33];
    if (strlen(id) >= CUZK_JOB_ID_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "request_id: at most %d bytes, found %zu",
                         CUZK_JOB_ID_MAX - 1, strlen(id));
    }
    if (*id) {
        memcpy(a->id, id, strlen(id) + 1);
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_random_bytes(b, sizeof b, err)); /* a version 4 UUID, RFC 9562 */
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    cuzk_hex_format(hex, b, sizeof b);
    snprintf(a->id, sizeof a->id, "%.8s-%.4s-%.4s-%.4s-%s", hex, hex + 8, hex + 12, hex + 16,
             hex + 20);
    return CUZK_OK;
}

/* What the job would take, on the device where it fits best. */
static cuzk_code check_fit(cuzk_engine *e, const arrival *a, cuzk_err *err)
{
    cuzk_code code = CUZK_OK;
    uint64_t input = cuzk_statement_bytes(a->statement) + a->payload.n;
    if (input > e->pipeline_max) {
        return CUZK_FAIL(err, CUZK_E_FULL,
                         "the job's input takes %" PRIu64 " bytes and the pipeline has %" PRIu64,
                         input, e->pipeline_max);
    }
    for (unsigned d = 0; d < e->n_devices; d++) {
        const cuzk_lease_request want = {.device = d, .files = &a->circuit->files, .partitions = 1};
        code = cuzk_residency_can_fit(e->residency, &want, err);
        if (code == CUZK_OK) {
            return CUZK_OK;
        }
    }
    return code;
}

static cuzk_code prepare(cuzk_engine *e, arrival *a, cuzk_err *err)
{
    CUZK_TRY(choose_id(a, err));
    CUZK_TRY(cuzk_request_parse(&a->statement, a->request, err));
    const cuzk_circuit_id *id = cuzk_statement_circuit(a->statement);
    unsigned partitions = cuzk_statement_partitions(a->statement);
    a->circuit = cuzk_circuits_find(e, id);
    if (!a->circuit) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "there is no circuit for this proof");
    }
    if (partitions > CUZK_STORE_PARTITION_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "vanilla_proofs: %u partitions are too many", partitions);
    }
    CUZK_TRY(cuzk_circuit_require(a->circuit, err));
    CUZK_TRY(cuzk_request_payload(a->request, &a->payload, &a->payload_owned, err));
    CUZK_TRY(check_fit(e, a, err));
    CUZK_TRY(cuzk_request_encode(&a->meta, &a->n_meta, a->request, id, partitions, err));
    cuzk_sha256_digest(a->payload_hash, a->payload.p, a->payload.n);
    cuzk_request_identity(a->identity, (cuzk_span){a->meta, a->n_meta}, a->payload_hash);
    return CUZK_OK;
}

static cuzk_code store_insert(cuzk_engine *e, const arrival *a, const cuzk_job *job,
                              cuzk_store_outcome *ret, int64_t *ret_seq, cuzk_err *err)
{
    cuzk_store_new_job want = {
        .id = a->id,
        .kind = a->request->kind,
        .sector_size = a->circuit->id.sector->bytes,
        .priority = (int32_t)job->priority,
        .created_us = (int64_t)job->created_us,
        .meta = {a->meta, a->n_meta},
        .payload = a->payload,
    };
    memcpy(want.identity, a->identity, sizeof want.identity);
    memcpy(want.payload_hash, a->payload_hash, sizeof want.payload_hash);
    return cuzk_store_insert(e->store, ret, ret_seq, &want, err);
}

/* ---- with mu ---- */

static cuzk_code may_accept_locked(const cuzk_engine *e, cuzk_err *err)
{
    if (cuzk_engine_is_resting(e)) {
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "the engine takes no more jobs: it is stopping");
    }
    if (e->unended >= e->config.max_queued_jobs) {
        return CUZK_FAIL(err, CUZK_E_FULL, "%zu jobs are waiting or running, and no more may be",
                         e->unended);
    }
    return CUZK_OK;
}

/* Waits while the id is in the making or on its way out. The job of that id that can be joined, or
 * NULL. */
static cuzk_code find_same_locked(cuzk_engine *e, const arrival *a, cuzk_job **ret, cuzk_err *err)
{
    cuzk_job *job;
    while ((job = cuzk_table_find_locked(e, a->id)) &&
           (job->accepting ||
            (job->ending && !cuzk_job_ended(job->state) && job->end_state != CUZK_JOB_DONE))) {
        pthread_cond_wait(&e->accepted_cv, &e->mu);
    }
    *ret = NULL;
    if (!job || job->state == CUZK_JOB_FAILED || job->state == CUZK_JOB_CANCELLED) {
        return CUZK_OK;
    }
    if (memcmp(job->identity, a->identity, sizeof job->identity) != 0) {
        return CUZK_FAIL(err, CUZK_E_EXISTS, "request_id: %.100s names another proof", a->id);
    }
    *ret = job;
    return CUZK_OK;
}

static void answer_locked(cuzk_engine *e, const cuzk_job *job, bool joined, cuzk_submitted *ret)
{
    memcpy(ret->job_id, job->id, sizeof ret->job_id);
    ret->queue_position = cuzk_queue_position_locked(e, job);
    ret->joined = joined;
}

/* A job that holds its id in the table while the store is asked. */
static cuzk_code new_job_locked(cuzk_engine *e, arrival *a, cuzk_job **ret, cuzk_err *err)
{
    cuzk_job *job;
    CUZK_TRY(may_accept_locked(e, err));
    CUZK_TRY(cuzk_job_new(&job, a->id, cuzk_statement_partitions(a->statement), err));
    job->kind = (cuzk_job_kind)a->request->kind;
    job->priority = cuzk_request_priority(a->request);
    job->circuit = a->circuit;
    job->created_us = cuzk_wall_us();
    job->created_ns = cuzk_clock_ns();
    job->payload_bytes = a->payload.n;
    job->statement_bytes = cuzk_statement_bytes(a->statement);
    memcpy(job->payload_hash, a->payload_hash, sizeof job->payload_hash);
    memcpy(job->identity, a->identity, sizeof job->identity);
    job->accepting = true;
    cuzk_code code = cuzk_table_add_locked(e, job, err);
    if (code != CUZK_OK) {
        cuzk_job_drop_locked(job);
        return code;
    }
    e->unended++;
    *ret = job;
    return CUZK_OK;
}

/* The input that was just parsed is kept for a job that begins soon. */
static void keep_statement_locked(cuzk_engine *e, cuzk_job *job, arrival *a)
{
    size_t ahead = (size_t)e->config.synthesis_concurrency + e->config.lookahead;
    if (cuzk_queue_position_locked(e, job) < ahead &&
        e->pipeline_used + job->statement_bytes <= e->pipeline_max) {
        job->statement = a->statement;
        a->statement = NULL;
        e->pipeline_used += job->statement_bytes;
    }
}

static void accept_locked(cuzk_engine *e, cuzk_job *job, arrival *a, int64_t seq)
{
    job->number = (uint64_t)seq;
    job->meta = a->meta;
    job->n_meta = a->n_meta;
    a->meta = NULL;
    job->accepting = false;
    cuzk_timeline_job(e->timeline, job->number, job->id, cuzk_job_kind_name(job->kind));
    cuzk_timeline_record(e->timeline, CUZK_EV_QUEUED, job->number, -1, -1, -1, job->n_units, NULL);
    cuzk_queue_add_locked(e, job);
    keep_statement_locked(e, job, a);
}

/* The store knows the id, the table did not: it ended some time ago, or it was refused. */
static void withdraw_locked(cuzk_engine *e, cuzk_job *job)
{
    job->accepting = false;
    cuzk_table_remove_locked(e, job);
    e->unended--;
}

static cuzk_code insert(cuzk_engine *e, arrival *a, cuzk_job *job, cuzk_submitted *ret,
                        cuzk_err *err)
{
    cuzk_store_outcome outcome;
    int64_t seq;
    cuzk_code code = store_insert(e, a, job, &outcome, &seq, err);
    pthread_mutex_lock(&e->mu);
    if (code == CUZK_OK && outcome == CUZK_STORE_NEW) {
        accept_locked(e, job, a, seq);
        answer_locked(e, job, false, ret);
    } else {
        withdraw_locked(e, job);
        if (code == CUZK_OK) {
            answer_locked(e, job, true, ret);
        }
    }
    pthread_cond_broadcast(&e->accepted_cv);
    cuzk_job_drop_locked(job);
    pthread_mutex_unlock(&e->mu);
    return code;
}

cuzk_code cuzk_engine_submit(cuzk_engine *e, cuzk_submitted *ret, const cuzk_job_request *request,
                             cuzk_err *err)
{
    arrival a = {.request = request};
    cuzk_job *job = NULL, *same = NULL;
    pthread_mutex_lock(&e->mu);
    bool resting = cuzk_engine_is_resting(e);
    pthread_mutex_unlock(&e->mu);
    if (resting) {
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "the engine takes no more jobs: it is stopping");
    }
    cuzk_code code = prepare(e, &a, err);
    if (code == CUZK_OK) {
        pthread_mutex_lock(&e->mu);
        code = find_same_locked(e, &a, &same, err);
        if (code == CUZK_OK && same) {
            answer_locked(e, same, true, ret);
        } else if (code == CUZK_OK) {
            code = new_job_locked(e, &a, &job, err);
        }
        pthread_mutex_unlock(&e->mu);
    }
    if (job) {
        code = insert(e, &a, job, ret, err);
    }
    arrival_clear(&a);
    return code;
}

/* ---- cancel ---- */

cuzk_code cuzk_engine_cancel(cuzk_engine *e, bool *ret_was_running, const char *job_id,
                             cuzk_err *err)
{
    cuzk_job *job;
    CUZK_TRY(cuzk_job_find(e, &job, job_id, err));
    pthread_mutex_lock(&e->mu);
    *ret_was_running = job->in_table && cuzk_job_decide_locked(e, job, CUZK_JOB_CANCELLED);
    if (*ret_was_running) {
        cuzk_job_task_locked(e, job);
    }
    while (*ret_was_running && !cuzk_job_ended(job->state)) {
        pthread_cond_wait(&e->accepted_cv, &e->mu);
    }
    cuzk_job_drop_locked(job);
    pthread_mutex_unlock(&e->mu);
    return CUZK_OK;
}
