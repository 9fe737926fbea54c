#include "engine/engine_internal.h"

#include <stdlib.h>

#include "engine/request.h"

/* Microseconds of work for a microsecond of bookkeeping: everything below runs without mu but for
 * the functions named _locked. */

/* ---- input ---- */

static cuzk_code read_statement(cuzk_engine *e, const cuzk_job *job, cuzk_statement **ret,
                                cuzk_err *err)
{
    cuzk_kept_request r;
    uint8_t *payload = cuzk_alloc_large(job->payload_bytes, 1);
    if (!payload) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu bytes of input",
                         (size_t)job->payload_bytes);
    }
    cuzk_code code =
        cuzk_store_read_payload(e->store, payload, job->payload_bytes, job->payload_hash, err);
    if (code == CUZK_OK) {
        code = cuzk_request_decode(&r, (cuzk_span){job->meta, job->n_meta},
                                   (cuzk_span){payload, job->payload_bytes}, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_request_parse(ret, &r.request, err);
        cuzk_kept_request_clear(&r);
    }
    free(payload);
    return code;
}

/* The pipeline was charged for payload and statement when the job was picked; the statement stays.
 */
static void do_read(cuzk_engine *e, cuzk_job *job)
{
    cuzk_statement *s = NULL;
    cuzk_err err = {0};
    cuzk_code code = read_statement(e, job, &s, &err);
    pthread_mutex_lock(&e->mu);
    e->synth_active--;
    job->reading = false;
    if (code == CUZK_OK) {
        e->pipeline_used += job->statement_bytes = cuzk_statement_bytes(s);
        job->statement = s;
    } else {
        cuzk_job_fail_locked(e, job, -1, "reading", err.msg);
    }
    cuzk_statement_settle_locked(e, job);
    cuzk_job_unhand_locked(e, job);
    cuzk_engine_wake_locked(e);
    pthread_mutex_unlock(&e->mu);
}

void cuzk_statement_settle_locked(cuzk_engine *e, cuzk_job *job)
{
    bool needed = !job->ending && !cuzk_job_ended(job->state) && job->to_synth > 0;
    if (!job->statement || job->in_synth > 0 || needed) {
        return;
    }
    cuzk_statement_free(job->statement);
    job->statement = NULL;
    e->pipeline_used -= job->statement_bytes;
    pthread_cond_broadcast(&e->synth_cv);
}

/* ---- one partition ---- */

static cuzk_code same_inputs(const cuzk_unit *u, size_t n, cuzk_err *err)
{
    for (size_t i = 0; i < n; i++) {
        fr_repr own;
        fr_to_repr(&own, &u->ports.inputs[i + 1]);
        if (memcmp(&own, &u->inputs[i], sizeof own) != 0) {
            return CUZK_FAIL(err, CUZK_E_INTERNAL,
                             "public input %zu is not the one that a verifier makes", i);
        }
    }
    return CUZK_OK;
}

static cuzk_code synthesise(cuzk_engine *e, cuzk_unit *u, const char **phase, cuzk_err *err)
{
    const cuzk_engine_circuit *c = u->job->circuit;
    const cuzk_statement *s = u->job->statement;
    size_t n = c->shape->n_inputs - 1;
    *phase = "check";
    CUZK_TRY(cuzk_statement_check(s, u->k, e->pool, err));
    *phase = "synthesis";
    u->inputs = malloc(n * sizeof *u->inputs);
    if (!u->inputs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu public inputs", n);
    }
    CUZK_TRY(cuzk_statement_inputs(s, u->k, u->inputs, err));
    CUZK_TRY(cuzk_statement_ports(s, u->k, c->shape, &u->ports, err));
    return same_inputs(u, n, err);
}

void cuzk_unit_release_locked(cuzk_engine *e, cuzk_unit *u)
{
    if (u->bytes == 0) {
        return;
    }
    cuzk_ports_clear(&u->ports);
    free(u->inputs);
    u->ports = (cuzk_ports){NULL, NULL};
    u->inputs = NULL;
    e->pipeline_used -= u->bytes;
    e->units_made--;
    u->bytes = 0;
    pthread_cond_broadcast(&e->synth_cv);
}

/* What became of it, with mu held. */
static void settle_unit_locked(cuzk_engine *e, cuzk_unit *u, int16_t worker, cuzk_code code,
                               const char *phase, const cuzk_err *err)
{
    cuzk_job *job = u->job;
    e->synth_active--;
    job->in_synth--;
    job->to_synth--;
    job->synth_ns += u->synth_ns;
    if (job->ending || code != CUZK_OK) {
        if (code != CUZK_OK) {
            u->state = CUZK_PARTITION_FAILED;
            cuzk_job_fail_locked(e, job, (int32_t)u->k, phase, err->msg);
        }
        cuzk_unit_release_locked(e, u);
        return;
    }
    u->state = CUZK_PARTITION_SYNTH_DONE;
    if (job->to_synth == 0) {
        cuzk_queue_remove_locked(e, job);
    }
    cuzk_channel_made_locked(e, u, worker);
}

static void start_locked(cuzk_engine *e, cuzk_unit *u, uint64_t now, int16_t worker)
{
    cuzk_job *job = u->job;
    if (job->state == CUZK_JOB_QUEUED && !job->ending) {
        job->state = CUZK_JOB_RUNNING;
        job->started_ns = now;
        job->say_running = true;
        cuzk_metrics_phase(e, job->kind, CUZK_TIME_QUEUE, now - job->created_ns);
        cuzk_job_task_locked(e, job);
        cuzk_watch_changed_locked(e, job);
    }
    cuzk_unit_event(e, CUZK_EV_SYNTH_START, u, worker, -1, 0, NULL);
}

static void do_unit(cuzk_engine *e, cuzk_unit *u, int16_t worker)
{
    cuzk_job *job = u->job;
    cuzk_err err = {0};
    const char *phase;
    uint64_t start = cuzk_clock_ns();
    cuzk_code code = synthesise(e, u, &phase, &err);
    u->synth_ns = cuzk_clock_ns() - start;
    cuzk_unit_event(e, CUZK_EV_SYNTH_END, u, worker, -1, (int64_t)u->bytes, NULL);
    cuzk_metrics_phase(e, job->kind, CUZK_TIME_SYNTH, u->synth_ns);
    pthread_mutex_lock(&e->mu);
    settle_unit_locked(e, u, worker, code, phase, &err);
    cuzk_statement_settle_locked(e, job);
    cuzk_job_unhand_locked(e, job);
    pthread_cond_broadcast(&e->synth_cv);
    pthread_mutex_unlock(&e->mu);
}

/* A number for each synthesis worker, for the timeline. */
static int16_t worker_number(cuzk_engine *e)
{
    pthread_t self = pthread_self();
    int16_t i = 0;
    while (i < (int16_t)e->n_synth - 1 && !pthread_equal(e->synth_threads[i], self)) {
        i++;
    }
    return i;
}

void *cuzk_synthesis_main(void *arg)
{
    cuzk_engine *e = arg;
    pthread_mutex_lock(&e->mu);
    int16_t worker = worker_number(e);
    while (!e->stopping) {
        cuzk_job *job;
        cuzk_unit *u = NULL;
        cuzk_synth_task task =
            e->draining ? CUZK_SYNTH_NOTHING : cuzk_queue_pick_locked(e, &job, &u);
        if (task == CUZK_SYNTH_NOTHING) {
            pthread_cond_wait(&e->synth_cv, &e->mu);
            continue;
        }
        if (task == CUZK_SYNTH_UNIT) {
            start_locked(e, u, cuzk_clock_ns(), worker);
        } else {
            e->pipeline_used += job->payload_bytes;
        }
        pthread_mutex_unlock(&e->mu);
        if (task == CUZK_SYNTH_UNIT) {
            do_unit(e, u, worker);
        } else {
            do_read(e, job);
        }
        pthread_mutex_lock(&e->mu);
        e->pipeline_used -= task == CUZK_SYNTH_READ ? job->payload_bytes : 0;
        cuzk_job_drop_locked(job);
    }
    pthread_mutex_unlock(&e->mu);
    return NULL;
}
