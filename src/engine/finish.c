#include "engine/engine_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- how a job ends ---- */

void cuzk_job_task_locked(cuzk_engine *e, cuzk_job *job)
{
    if (job->task_queued) {
        return;
    }
    job->task_queued = true;
    job->task_next = NULL;
    *(e->task_last ? &e->task_last->task_next : &e->task_first) = job;
    e->task_last = job;
    cuzk_job_share_locked(job);
    pthread_cond_signal(&e->finish_cv);
}

/* Nothing of the job goes on, but for what a worker has in hand. */
static void drop_units_locked(cuzk_engine *e, cuzk_job *job)
{
    for (uint32_t k = 0; k < job->n_units; k++) {
        cuzk_unit *u = &job->units[k];
        if (u->state == CUZK_PARTITION_SYNTH_DONE) {
            if (u->in_channel) {
                cuzk_channel_remove_locked(e, u);
            } else {
                e->held_n--;
            }
            u->state = CUZK_PARTITION_PENDING;
            cuzk_unit_release_locked(e, u);
        }
    }
}

bool cuzk_job_decide_locked(cuzk_engine *e, cuzk_job *job, cuzk_job_state end)
{
    if (job->ending || cuzk_job_ended(job->state)) {
        return false;
    }
    job->ending = true;
    job->end_state = end;
    cuzk_queue_remove_locked(e, job);
    drop_units_locked(e, job);
    cuzk_slots_close_locked(e, job);
    cuzk_statement_settle_locked(e, job);
    pthread_cond_broadcast(&e->synth_cv);
    return true;
}

void cuzk_job_fail_locked(cuzk_engine *e, cuzk_job *job, int32_t k, const char *phase,
                          const char *reason)
{
    cuzk_job_error *error = calloc(1, sizeof *error);
    if (!cuzk_job_decide_locked(e, job, CUZK_JOB_FAILED)) {
        free(error);
        return;
    }
    if (error) {
        error->partition = k;
        snprintf(error->phase, sizeof error->phase, "%s", phase);
        if (k >= 0) {
            snprintf(error->text, sizeof error->text, "partition %d, %s: %s", k, phase, reason);
        } else {
            snprintf(error->text, sizeof error->text, "%s: %s", phase, reason);
        }
    }
    job->error = error;
    cuzk_job_task_locked(e, job);
}

static cuzk_job_timings timings_of(const cuzk_job *job)
{
    uint64_t begin = job->started_ns ? job->started_ns : job->ended_ns;
    return (cuzk_job_timings){
        .queue_ms = (begin - job->created_ns) / 1000000,
        .srs_ms = job->load_ns / 1000000,
        .synthesis_ms = job->synth_ns / 1000000,
        .gpu_ms = job->gpu_ns / 1000000,
        .total_ms = (job->ended_ns - job->created_ns) / 1000000,
    };
}

static cuzk_code store_end(cuzk_engine *e, const cuzk_job *job, const cuzk_job_timings *t,
                           cuzk_err *err)
{
    int64_t seq = (int64_t)job->number, ended = (int64_t)job->ended_us;
    switch (job->end_state) {
    case CUZK_JOB_DONE:
        return cuzk_store_set_done(e->store, seq, (cuzk_span){job->proof, job->n_proof}, t, ended,
                                   err);
    case CUZK_JOB_CANCELLED:
        return cuzk_store_set_cancelled(e->store, seq, ended, err);
    default:
        return cuzk_store_set_failed(e->store, seq, job->error ? job->error->text : "no memory",
                                     job->error ? job->error->phase : "",
                                     job->error ? job->error->partition : -1, t, ended, err);
    }
}

static void remember_failure_locked(cuzk_engine *e, const cuzk_job *job)
{
    cuzk_failure *f = &e->failures[e->n_failures++ % CUZK_FAILURES_KEPT];
    memcpy(f->job_id, job->id, sizeof f->job_id);
    f->kind = job->kind;
    f->unix_ms = job->ended_us / 1000;
    f->partition = job->error ? job->error->partition : -1;
    snprintf(f->phase, sizeof f->phase, "%s", job->error ? job->error->phase : "");
    snprintf(f->error, sizeof f->error, "%s", job->error ? job->error->text : "no memory");
}

static void count_end_locked(cuzk_engine *e, const cuzk_job *job)
{
    static const cuzk_event_kind events[] = {
        [CUZK_JOB_DONE] = CUZK_EV_DONE,
        [CUZK_JOB_FAILED] = CUZK_EV_FAILED,
        [CUZK_JOB_CANCELLED] = CUZK_EV_CANCEL,
    };
    int64_t value = job->state == CUZK_JOB_CANCELLED ? job->started_ns != 0 : job->done;
    cuzk_timeline_record(e->timeline, events[job->state], job->number, -1, -1, -1, value,
                         job->state == CUZK_JOB_FAILED && job->error ? job->error->text : NULL);
    if (job->state == CUZK_JOB_DONE) {
        e->counters.completed++;
        e->counters.completed_by_kind[job->kind]++;
    } else if (job->state == CUZK_JOB_FAILED) {
        e->counters.failed++;
        e->counters.failed_by_kind[job->kind]++;
        remember_failure_locked(e, job);
    } else {
        e->counters.cancelled++;
    }
    cuzk_metrics_ended(e, job);
}

void cuzk_job_end(cuzk_engine *e, cuzk_job *job)
{
    cuzk_err err = {0};
    pthread_mutex_lock(&e->mu);
    job->ended_ns = cuzk_clock_ns();
    job->ended_us = cuzk_wall_us();
    const cuzk_job_timings t = timings_of(job);
    pthread_mutex_unlock(&e->mu);
    if (store_end(e, job, &t, &err) != CUZK_OK) {
        cuzk_engine_say(e, CUZK_ENGINE_ERROR, job->id, "the store does not keep how it ended: %s",
                        err.msg);
    }
    pthread_mutex_lock(&e->mu);
    job->state = job->end_state;
    count_end_locked(e, job);
    if (job->in_table) {
        e->unended--;
        cuzk_list_insert(&e->ended, job);
        while (e->ended.n > CUZK_ENDED_KEPT) {
            cuzk_table_remove_locked(e, e->ended.first);
        }
    }
    cuzk_watch_changed_locked(e, job);
    pthread_cond_broadcast(&e->accepted_cv);
    pthread_cond_broadcast(&e->quiet_cv);
    pthread_mutex_unlock(&e->mu);
}

void cuzk_job_unhand_locked(cuzk_engine *e, cuzk_job *job)
{
    job->in_hand--;
    pthread_cond_broadcast(&e->quiet_cv);
}

/* ---- one partition ---- */

void cuzk_finish_put_locked(cuzk_engine *e, cuzk_unit *u)
{
    u->state = CUZK_PARTITION_FINISHING;
    u->next = NULL;
    u->prev = e->finish_last;
    *(e->finish_last ? &e->finish_last->next : &e->finish_first) = u;
    e->finish_last = u;
    e->finishing++;
    u->job->in_hand++;
    cuzk_job_share_locked(u->job);
    pthread_cond_signal(&e->finish_cv);
}

/* The proof as a verifier looks at it. CUZK_E_INVALID for whatever is wrong with it. */
static cuzk_code verify(const cuzk_unit *u, cuzk_err *err)
{
    const cuzk_engine_circuit *c = u->job->circuit;
    cuzk_proof proof;
    cuzk_err why = {0};
    cuzk_code code = cuzk_proof_decode(&proof, u->proof, "proof", 0, &why);
    if (code == CUZK_OK) {
        code = cuzk_verify(c->verifier, &proof, u->inputs, c->shape->n_inputs - 1, NULL, &why);
    }
    if (code == CUZK_E_INVALID || code == CUZK_E_INPUT) {
        return CUZK_FAIL(err, CUZK_E_INVALID,
                         "the proof of device %d with the key of %s is wrong: %s", u->device,
                         c->name, why.msg);
    }
    return code == CUZK_OK ? code : CUZK_FAIL(err, code, "%s", why.msg);
}

void cuzk_job_assemble_locked(cuzk_engine *e, cuzk_job *job)
{
    job->proof = malloc((size_t)job->n_units * CUZK_PROOF_BYTES);
    if (!job->proof) {
        cuzk_job_fail_locked(e, job, -1, "assembly", "no memory for the proof");
        return;
    }
    job->n_proof = (size_t)job->n_units * CUZK_PROOF_BYTES;
    for (uint32_t k = 0; k < job->n_units; k++) {
        memcpy(job->proof + (size_t)k * CUZK_PROOF_BYTES, job->units[k].proof, CUZK_PROOF_BYTES);
    }
    if (cuzk_job_decide_locked(e, job, CUZK_JOB_DONE)) {
        cuzk_job_task_locked(e, job);
    }
}

/* Takes a partition that verified into account. */
static void good_locked(cuzk_engine *e, cuzk_unit *u)
{
    cuzk_job *job = u->job;
    u->state = CUZK_PARTITION_DONE;
    cuzk_device_good_locked(&e->devices[u->device]);
    cuzk_unit_release_locked(e, u);
    if (job->ending) {
        return;
    }
    job->done++;
    cuzk_watch_changed_locked(e, job);
    if (job->done == job->n_units) {
        cuzk_job_assemble_locked(e, job);
    }
}

static void finish_unit(cuzk_engine *e, cuzk_unit *u)
{
    cuzk_job *job = u->job;
    cuzk_err err = {0}, lost = {0};
    uint64_t start = cuzk_clock_ns();
    cuzk_unit_event(e, CUZK_EV_FINISH_START, u, -1, (int16_t)u->device, 0, NULL);
    cuzk_code code = verify(u, &err);
    /* One that completes its job is kept with the job's proof. */
    if (code == CUZK_OK && job->n_units > 1 &&
        cuzk_store_put_partition(e->store, (int64_t)job->number, u->k, u->proof, &lost) !=
            CUZK_OK &&
        lost.code == CUZK_E_IO) {
        cuzk_engine_say(e, CUZK_ENGINE_ERROR, job->id, "the store does not keep partition %u: %s",
                        u->k, lost.msg);
    }
    cuzk_unit_event(e, CUZK_EV_FINISH_END, u, -1, (int16_t)u->device, code == CUZK_OK, NULL);
    cuzk_metrics_phase(e, job->kind, CUZK_TIME_FINISH, cuzk_clock_ns() - start);
    pthread_mutex_lock(&e->mu);
    if (code == CUZK_OK) {
        good_locked(e, u);
    } else {
        cuzk_unit_failed_locked(e, u, code, "verification", err.msg);
    }
    e->finishing--;
    cuzk_job_unhand_locked(e, job);
    cuzk_job_drop_locked(job);
    pthread_mutex_unlock(&e->mu);
}

/* ---- the workers ---- */

static cuzk_unit *pop_unit_locked(cuzk_engine *e)
{
    cuzk_unit *u = e->finish_first;
    if (u) {
        e->finish_first = u->next;
        *(u->next ? &u->next->prev : &e->finish_last) = NULL;
        u->next = u->prev = NULL;
    }
    return u;
}

static cuzk_job *pop_task_locked(cuzk_engine *e)
{
    cuzk_job *job = e->task_first;
    if (job) {
        e->task_first = job->task_next;
        e->task_last = e->task_first ? e->task_last : NULL;
        job->task_queued = false;
    }
    return job;
}

/* Tells the store that a job runs, or how it ended. */
static void do_task(cuzk_engine *e, cuzk_job *job, bool ending, bool running)
{
    if (ending) {
        cuzk_job_end(e, job);
    } else if (running) {
        cuzk_store_set_running(e->store, (int64_t)job->number, "", NULL);
    }
    pthread_mutex_lock(&e->mu);
    cuzk_job_drop_locked(job);
    pthread_mutex_unlock(&e->mu);
}

void *cuzk_finish_main(void *arg)
{
    cuzk_engine *e = arg;
    pthread_mutex_lock(&e->mu);
    for (;;) {
        cuzk_job *job = NULL;
        cuzk_unit *u = pop_unit_locked(e);
        if (!u && !(job = pop_task_locked(e))) {
            if (e->devices_ended) {
                break;
            }
            pthread_cond_wait(&e->finish_cv, &e->mu);
            continue;
        }
        bool ending = job && job->ending, running = job && job->say_running;
        if (job) {
            job->say_running = false;
        }
        pthread_mutex_unlock(&e->mu);
        if (u) {
            finish_unit(e, u);
        } else {
            do_task(e, job, ending, running);
        }
        pthread_mutex_lock(&e->mu);
    }
    pthread_mutex_unlock(&e->mu);
    return NULL;
}
