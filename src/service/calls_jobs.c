#include "service/calls.h"
#include "service/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuzk/v1/proving.pb-c.h"
#include "observe/timeline.h"

/* ---- waiting for a job ---- */

/*
 * A call that waits. The engine's callback answers it; the end of the call, which comes once for
 * whatever reason and never before the watch is in place, frees it.
 */
typedef struct wait {
    cuzk_engine *engine;
    cuzk_rpc_call *call; /* a reference */
    cuzk_watch *watch;
    bool prove; /* the answer is a ProveResponse */
} wait;

static void end_wait(void *ctx, cuzk_rpc_call *call, cuzk_rpc_end end)
{
    wait *w = ctx;
    (void)end;
    cuzk_engine_unwatch(w->engine, w->watch);
    cuzk_rpc_call_unref(call);
    free(w);
}

static Cuzk__V1__AwaitProofResponse__Status wire_status(const cuzk_job_view *v)
{
    if (v->timed_out) {
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT;
    }
    switch (v->state) {
    case CUZK_JOB_DONE:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
    case CUZK_JOB_FAILED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED;
    case CUZK_JOB_CANCELLED:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED;
    default:
        return CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__UNKNOWN;
    }
}

static void answer(void *ctx, const cuzk_job_view *v)
{
    const wait *w = ctx;
    Cuzk__V1__AwaitProofResponse result = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    result.job_id = cuzk_call_text(v->job_id);
    result.status = wire_status(v);
    result.proof.len = v->proof.n;
    result.proof.data = (uint8_t *)(uintptr_t)v->proof.p;
    result.error_message = cuzk_call_text(v->error);
    if (v->timed_out) {
        result.error_message = cuzk_call_text("the job has not ended within timeout_ms");
    } else if (v->state == CUZK_JOB_CANCELLED) {
        result.error_message = cuzk_call_text("the job was cancelled");
    }
    result.queue_wait_ms = v->queue_wait_ms;
    result.srs_load_ms = v->srs_load_ms;
    result.synthesis_ms = v->synthesis_ms;
    result.gpu_compute_ms = v->gpu_compute_ms;
    result.total_ms = v->total_ms;
    if (!w->prove) {
        cuzk_call_reply(w->call, &result.base);
        return;
    }
    Cuzk__V1__ProveResponse response = CUZK__V1__PROVE_RESPONSE__INIT;
    response.result = &result;
    cuzk_call_reply(w->call, &response.base);
}

/* Has the call answered when the job ends. */
static void await(const cuzk_inbound *in, const char *job_id, uint64_t timeout_ms, bool prove)
{
    cuzk_err err;
    wait *w = malloc(sizeof *w);
    if (!w) {
        cuzk_rpc_call_finish(in->call, CUZK_RPC_RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    *w = (wait){in->service->engine, cuzk_rpc_call_ref(in->call), NULL, prove};
    if (cuzk_engine_await(w->engine, &w->watch, job_id, timeout_ms, answer, w, &err) != CUZK_OK) {
        cuzk_rpc_call_fail(in->call, &err);
    }
    cuzk_rpc_call_on_end(in->call, end_wait, w);
}

void cuzk_call_await(cuzk_inbound *in)
{
    Cuzk__V1__AwaitProofRequest *m =
        (void *)cuzk_call_unpack(in, &cuzk__v1__await_proof_request__descriptor);
    if (m) {
        await(in, m->job_id, m->timeout_ms, false);
        CUZK_CALL_FREE(m);
    }
}

/* ---- submitting ---- */

/* The message's memory goes back as soon as the engine has taken the job. */
static bool submit(cuzk_inbound *in, cuzk_submitted *ret, bool prove)
{
    cuzk_err err;
    cuzk_request r;
    cuzk_span bytes = {in->message.p, in->message.n};
    cuzk_code code =
        prove ? cuzk_request_read_prove(&r, bytes, &err) : cuzk_request_read(&r, bytes, &err);
    if (code == CUZK_OK) {
        code = cuzk_engine_submit(in->service->engine, ret, &r.job, &err);
    }
    cuzk_request_clear(&r);
    cuzk_rpc_message_free(&in->message);
    if (code != CUZK_OK) {
        cuzk_rpc_call_fail(in->call, &err);
    }
    return code == CUZK_OK;
}

void cuzk_call_submit(cuzk_inbound *in)
{
    cuzk_submitted s;
    if (submit(in, &s, false)) {
        Cuzk__V1__SubmitProofResponse m = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
        m.job_id = s.job_id;
        m.queue_position = s.queue_position;
        cuzk_call_reply(in->call, &m.base);
    }
}

void cuzk_call_prove(cuzk_inbound *in)
{
    cuzk_submitted s;
    if (submit(in, &s, true)) {
        await(in, s.job_id, 0, true);
    }
}

void cuzk_call_cancel(cuzk_inbound *in)
{
    Cuzk__V1__CancelProofRequest *m =
        (void *)cuzk_call_unpack(in, &cuzk__v1__cancel_proof_request__descriptor);
    if (!m) {
        return;
    }
    cuzk_err err;
    bool was_running;
    Cuzk__V1__CancelProofResponse response = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
    if (cuzk_engine_cancel(in->service->engine, &was_running, m->job_id, &err) == CUZK_OK) {
        response.was_running = was_running;
        cuzk_call_reply(in->call, &response.base);
    } else {
        cuzk_rpc_call_fail(in->call, &err);
    }
    CUZK_CALL_FREE(m);
}

/* ---- looking at jobs ---- */

/* The wire says "completed" where the engine says "done". */
static const char *state_name(cuzk_job_state state)
{
    return state == CUZK_JOB_DONE ? "completed" : cuzk_job_state_name(state);
}

static bool state_named(const char *name, int *ret)
{
    for (int s = 0; s < CUZK_JOB_STATES; s++) {
        if (strcmp(name, state_name((cuzk_job_state)s)) == 0) {
            *ret = s;
            return true;
        }
    }
    return false;
}

static void tell_state(void *ctx, const cuzk_job_view *v)
{
    const wait *w = ctx;
    Cuzk__V1__JobState m = CUZK__V1__JOB_STATE__INIT;
    m.job_id = cuzk_call_text(v->job_id);
    m.state = cuzk_call_text(state_name(v->state));
    m.partitions_total = v->partitions;
    m.partitions_done = v->partitions_done;
    m.queue_position = v->queue_position;
    m.error_message = cuzk_call_text(v->error);
    m.t_us = cuzk_timeline_now_us(cuzk_engine_timeline(w->engine));
    if (!cuzk_call_send(w->call, &m.base)) {
        cuzk_rpc_call_finish(w->call, CUZK_RPC_RESOURCE_EXHAUSTED,
                             "the client is too slow for this job's states");
    } else if (cuzk_job_ended(v->state)) {
        cuzk_rpc_call_finish(w->call, CUZK_RPC_OK, NULL);
    }
}

void cuzk_call_watch(cuzk_inbound *in)
{
    Cuzk__V1__WatchJobRequest *m =
        (void *)cuzk_call_unpack(in, &cuzk__v1__watch_job_request__descriptor);
    if (!m) {
        return;
    }
    cuzk_err err;
    wait *w = malloc(sizeof *w);
    if (w) {
        *w = (wait){in->service->engine, cuzk_rpc_call_ref(in->call), NULL, false};
        if (cuzk_engine_watch(w->engine, &w->watch, m->job_id, tell_state, w, &err) != CUZK_OK) {
            cuzk_rpc_call_fail(in->call, &err);
        }
        cuzk_rpc_call_on_end(in->call, end_wait, w);
    } else {
        cuzk_rpc_call_finish(in->call, CUZK_RPC_RESOURCE_EXHAUSTED, "no memory for the call");
    }
    CUZK_CALL_FREE(m);
}

enum { PAGE_DEFAULT = 100, PAGE_MAX = 1000 };

/* One page of jobs; owns the messages and their texts. */
typedef struct page {
    Cuzk__V1__JobInfo **jobs;
    size_t n;
    bool no_memory;
} page;

static void add_job(void *ctx, const cuzk_job_view *v)
{
    page *p = ctx;
    Cuzk__V1__JobInfo *m = malloc(sizeof *m);
    char *id = strdup(v->job_id);
    char *error = strdup(v->error ? v->error : "");
    if (!m || !id || !error) {
        free(m);
        free(id);
        free(error);
        p->no_memory = true;
        return;
    }
    cuzk__v1__job_info__init(m);
    m->job_id = id;
    m->request_id = id;
    m->proof_kind = (Cuzk__V1__ProofKind)v->kind;
    m->state = cuzk_call_text(state_name(v->state));
    m->priority = (Cuzk__V1__Priority)v->priority;
    m->created_unix_ms = v->created_unix_ms;
    m->finished_unix_ms = v->finished_unix_ms;
    m->partitions_total = v->partitions;
    m->partitions_done = v->partitions_done;
    m->error_message = error;
    p->jobs[p->n++] = m;
}

static cuzk_code list_page(cuzk_engine *e, page *p, char token[32],
                           const Cuzk__V1__ListJobsRequest *m, cuzk_err *err)
{
    int state = -1;
    char *end;
    uint64_t after = strtoull(m->page_token, &end, 10);
    uint32_t limit = m->limit == 0 ? PAGE_DEFAULT : m->limit > PAGE_MAX ? PAGE_MAX : m->limit;
    if (m->state[0] && !state_named(m->state, &state)) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "state: expected queued, running, completed, failed or cancelled");
    }
    if (*end || (m->page_token[0] && after == 0) || m->page_token[0] == '-') {
        return CUZK_FAIL(err, CUZK_E_ARG, "page_token: not one of a response");
    }
    p->jobs = calloc(limit, sizeof(Cuzk__V1__JobInfo *));
    if (!p->jobs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u jobs", limit);
    }
    uint64_t next;
    CUZK_TRY(cuzk_engine_list(e, &next, state, after, limit, add_job, p, err));
    if (p->no_memory) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u jobs", limit);
    }
    token[0] = '\0';
    if (next) {
        snprintf(token, 32, "%llu", (unsigned long long)next);
    }
    return CUZK_OK;
}

void cuzk_call_list(cuzk_inbound *in)
{
    Cuzk__V1__ListJobsRequest *m =
        (void *)cuzk_call_unpack(in, &cuzk__v1__list_jobs_request__descriptor);
    if (!m) {
        return;
    }
    cuzk_err err;
    page p = {0};
    char token[32];
    Cuzk__V1__ListJobsResponse response = CUZK__V1__LIST_JOBS_RESPONSE__INIT;
    if (list_page(in->service->engine, &p, token, m, &err) == CUZK_OK) {
        response.n_jobs = p.n;
        response.jobs = p.jobs;
        response.next_page_token = token;
        cuzk_call_reply(in->call, &response.base);
    } else {
        cuzk_rpc_call_fail(in->call, &err);
    }
    for (size_t i = 0; i < p.n; i++) {
        free(p.jobs[i]->job_id);
        free(p.jobs[i]->error_message);
        free(p.jobs[i]);
    }
    free(p.jobs);
    CUZK_CALL_FREE(m);
}
