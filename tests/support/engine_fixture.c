#include "support/engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "filecoin/generate.h"
#include "filecoin/statement.h"
#include "filecoin/write.h"
#include "groth16/formats/formats.h"
#include "support/files.h"
#include "support/keys.h"

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

/* ---- the engine ---- */

static void log_line(void *ctx, cuzk_engine_level level, const char *job_id, const char *message)
{
    (void)ctx;
    if (getenv("CUZK_TEST_LOG")) {
        fprintf(stderr, "engine %d [%s] %s\n", (int)level, job_id, message);
    }
}

static void event_line(void *ctx, const char *json, size_t n)
{
    (void)ctx;
    if (getenv("CUZK_TEST_LOG")) {
        fprintf(stderr, "%.*s\n", (int)n, json);
    }
}

void fixture_init(fixture *f)
{
    static unsigned number;
    static test_circuit window, winning;
    memset(f, 0, sizeof *f);
    test_circuit_open(&window, "window-2KiB");
    test_circuit_open(&winning, "winning-2KiB");
    snprintf(f->store, sizeof f->store, "%s/store%u", test_tmpdir(), number++);
    for (unsigned d = 0; d < FIXTURE_DEVICES; d++) {
        proving_device_init(&f->device[d]);
        f->backends[d] = &f->device[d].base;
    }
    cuzk_engine_config_init(&f->config);
    f->config.param_cache = window.folder;
    f->config.store = f->store;
    f->config.devices = f->backends;
    f->config.n_devices = 1;
    f->config.synthesis_threads = 2;
    f->config.log = log_line;
    f->config.on_event = event_line;
}

void fixture_open(fixture *f)
{
    cuzk_err err;
    ok(cuzk_engine_open(&f->e, &f->config, &err), &err);
}

void fixture_close(fixture *f)
{
    cuzk_engine_close(f->e);
    f->e = NULL;
}

void fixture_clear(fixture *f)
{
    fixture_close(f);
    for (unsigned d = 0; d < FIXTURE_DEVICES; d++) {
        assert_int_equal(f->device[d].unloaded_uses, 0);
        proving_device_clear(&f->device[d]);
    }
}

/* ---- requests ---- */

/* The vanilla proof of a sector, made once. */
static cuzk_span sector_bytes(unsigned number, bool window)
{
    static test_file made[2][2 * TEST_JOB_PROOFS];
    test_file *at = &made[window][number];
    cuzk_err err;
    char path[600];
    if (!at->p) {
        const cuzk_post_proof proof = cuzk_post_proof_of_sector(cuzk_sector_named("2KiB"), window);
        cuzk_post_sector s;
        cuzk_file_writer *w;
        snprintf(path, sizeof path, "%s/sector", test_tmpdir());
        ok(cuzk_post_generate(&s, &proof, number + 1, NULL, NULL, &err), &err);
        ok(cuzk_file_writer_open(&w, path, &err), &err);
        ok(cuzk_post_sector_write(w, &s, proof.sector, &err), &err);
        ok(cuzk_file_writer_commit(w, &err), &err);
        cuzk_post_sector_clear(&s);
        *at = test_file_load(path);
    }
    return test_file_span(at);
}

static void make_post(test_job *ret, const char *id, unsigned sectors, bool window, bool distinct,
                      uint64_t salt)
{
    memset(ret, 0, sizeof *ret);
    snprintf(ret->id, sizeof ret->id, "%s", id);
    cuzk_post_generate_randomness(ret->randomness, NULL);
    for (unsigned i = 0; i < sectors; i++) {
        ret->spans[i] = sector_bytes(distinct ? i : i % 2, window);
    }
    ret->r = (cuzk_job_request){
        .request_id = ret->id,
        .kind = window ? CUZK_JOB_WINDOW : CUZK_JOB_WINNING,
        .sector_size = 2048,
        .registered_proof = window ? 10 : 0,
        .vanilla_proofs = ret->spans,
        .n_vanilla_proofs = sectors,
        .sector_number = salt,
        .miner_id = 1000,
        .randomness = {ret->randomness, 32},
    };
}

void test_job_window(test_job *ret, const char *id, unsigned partitions, uint64_t salt)
{
    make_post(ret, id, 2 * partitions, true, false, salt);
}

void test_job_distinct(test_job *ret, const char *id, unsigned partitions)
{
    make_post(ret, id, 2 * partitions, true, true, 0);
}

void test_job_winning(test_job *ret, const char *id, uint64_t salt)
{
    make_post(ret, id, 1, false, false, salt);
}

cuzk_submitted fixture_submit(fixture *f, const test_job *job)
{
    cuzk_submitted s;
    cuzk_err err;
    ok(cuzk_engine_submit(f->e, &s, &job->r, &err), &err);
    return s;
}

void fixture_window(fixture *f, const char *id, unsigned partitions, uint64_t salt,
                    cuzk_priority priority)
{
    test_job job;
    test_job_window(&job, id, partitions, salt);
    job.r.priority = priority;
    fixture_submit(f, &job);
}

/* ---- ends ---- */

typedef struct waiter {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    bool called; /* guarded by mu, as is end */
    job_end *end;
} waiter;

static void copy_view(job_end *ret, const cuzk_job_view *view)
{
    ret->view = *view;
    assert_true(view->proof.n <= sizeof ret->proof);
    if (view->proof.n) {
        memcpy(ret->proof, view->proof.p, view->proof.n);
    }
    ret->view.proof.p = ret->proof;
    snprintf(ret->error, sizeof ret->error, "%s", view->error);
    ret->view.error = ret->error;
}

static void on_end(void *ctx, const cuzk_job_view *view)
{
    waiter *w = ctx;
    pthread_mutex_lock(&w->mu);
    copy_view(w->end, view);
    w->called = true;
    pthread_cond_broadcast(&w->cond);
    pthread_mutex_unlock(&w->mu);
}

/* The verifier of a circuit, made once. */
static cuzk_verifier *verifier_of(bool window)
{
    static cuzk_verifier *made[2];
    cuzk_err err;
    if (!made[window]) {
        test_circuit c;
        cuzk_vk vk;
        test_circuit_open(&c, window ? "window-2KiB" : "winning-2KiB");
        ok(cuzk_vk_read(&vk, c.vk, POINT_CHECK_SUBGROUP, &err), &err);
        ok(cuzk_verifier_new(&made[window], &vk, &err), &err);
        cuzk_vk_clear(&vk);
    }
    return made[window];
}

static bool verifies(const job_end *end, bool distinct)
{
    bool window = end->view.kind == CUZK_JOB_WINDOW, all = true;
    unsigned n = (unsigned)(end->view.proof.n / 192);
    test_job job;
    cuzk_statement *s;
    cuzk_err err;
    const cuzk_circuit_id id = {window ? CUZK_WINDOW_POST : CUZK_WINNING_POST,
                                cuzk_sector_named("2KiB"), 0};
    make_post(&job, "", window ? 2 * n : 1, window, distinct, 0);
    const cuzk_claims claims = {.randomness = job.randomness};
    ok(cuzk_statement_parse(&s, &id, job.spans, job.r.n_vanilla_proofs, &claims, &err), &err);
    size_t n_inputs = cuzk_statement_input_count(&id);
    fr_repr *inputs = malloc(n_inputs * sizeof *inputs);
    for (unsigned k = 0; k < n; k++) {
        cuzk_proof proof;
        ok(cuzk_statement_inputs(s, k, inputs, &err), &err);
        ok(cuzk_proof_decode(&proof, end->proof + (size_t)192 * k, "proof", 0, &err), &err);
        all = all &&
              cuzk_verify(verifier_of(window), &proof, inputs, n_inputs, NULL, &err) == CUZK_OK;
    }
    free(inputs);
    cuzk_statement_free(s);
    return all && n > 0;
}

bool fixture_verify(const job_end *end) { return verifies(end, false) || verifies(end, true); }

job_end fixture_wait(fixture *f, const char *id)
{
    job_end end;
    waiter w = {.mu = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER, .end = &end};
    cuzk_watch *watch;
    cuzk_err err;
    memset(&end, 0, sizeof end);
    ok(cuzk_engine_await(f->e, &watch, id, 60000, on_end, &w, &err), &err);
    pthread_mutex_lock(&w.mu);
    while (!w.called) {
        pthread_cond_wait(&w.cond, &w.mu);
    }
    pthread_mutex_unlock(&w.mu);
    cuzk_engine_unwatch(f->e, watch);
    assert_false(end.view.timed_out);
    if (end.view.state == CUZK_JOB_DONE) {
        assert_int_equal(end.view.proof.n, 192 * end.view.partitions);
        assert_true(fixture_verify(&end));
    }
    end.view.proof.p = NULL; /* of another frame */
    end.view.error = NULL;
    return end;
}

void fixture_done(fixture *f, const char *id)
{
    job_end end = fixture_wait(f, id);
    if (end.view.state != CUZK_JOB_DONE) {
        fail_msg("%s: %s %s", id, cuzk_job_state_name(end.view.state), end.error);
    }
}

static void on_look(void *ctx, const cuzk_job_view *view) { copy_view(ctx, view); }

job_end fixture_look(fixture *f, const char *id)
{
    job_end end;
    cuzk_err err;
    ok(cuzk_engine_get(f->e, id, on_look, &end, &err), &err);
    return end;
}

/* ---- events ---- */

size_t fixture_events(fixture *f, cuzk_event *ret, size_t cap, unsigned n_kinds,
                      const cuzk_event_kind *kinds)
{
    static cuzk_event all[20000];
    uint64_t cursor = 0, lost = 0;
    size_t n = cuzk_timeline_read(cuzk_engine_timeline(f->e), &cursor, 0, all, 20000, &lost);
    size_t found = 0;
    assert_int_equal(lost, 0);
    for (size_t i = 0; i < n; i++) {
        for (unsigned k = 0; k < n_kinds; k++) {
            if (all[i].kind == kinds[k] && found < cap) {
                ret[found++] = all[i];
            }
        }
    }
    return found;
}

unsigned fixture_count(fixture *f, cuzk_event_kind kind, uint64_t job)
{
    static cuzk_event all[20000];
    size_t n = fixture_events(f, all, 20000, 1, &kind);
    unsigned found = 0;
    for (size_t i = 0; i < n; i++) {
        found += job == 0 || all[i].job == job;
    }
    return found;
}

void fixture_wait_job_events(fixture *f, cuzk_event_kind kind, uint64_t job, unsigned n)
{
    uint64_t end = cuzk_clock_ns() + 60000000000u;
    cuzk_timeline *t = cuzk_engine_timeline(f->e);
    while (cuzk_clock_ns() < end) {
        uint64_t next = cuzk_timeline_next(t);
        if (fixture_count(f, kind, job) >= n) {
            return;
        }
        cuzk_timeline_wait(t, next, 1000);
    }
    fail_msg("no %u events %s in a minute", n, cuzk_event_name(kind));
}

void fixture_wait_events(fixture *f, cuzk_event_kind kind, unsigned n)
{
    fixture_wait_job_events(f, kind, 0, n);
}
