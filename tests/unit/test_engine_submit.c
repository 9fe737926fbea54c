#include "support/engine_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/files.h"

static void refused(fixture *f, const test_job *job, cuzk_code code, const char *field,
                    const char *what)
{
    cuzk_submitted s;
    cuzk_err err = {0};
    test_failed(cuzk_engine_submit(f->e, &s, &job->r, &err), &err, code, field, what, NULL);
}

static void partitions_are_proved_and_put_together_in_their_order(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    fixture_open(&f);
    test_job_distinct(&job, "one", test_is_slow() ? 2 : 3);
    cuzk_submitted s = fixture_submit(&f, &job);
    assert_string_equal(s.job_id, "one");
    assert_false(s.joined);
    fixture_done(&f, "one");
    job_end end = fixture_look(&f, "one");
    assert_int_equal(end.view.priority, CUZK_PRIORITY_HIGH);
    assert_int_equal(end.view.partitions_done, end.view.partitions);
    assert_memory_not_equal(end.proof, end.proof + 192, 192);
    assert_true(end.view.total_ms >= end.view.queue_wait_ms);
    fixture_clear(&f);
}

static void a_winning_job_without_an_id_gets_one_and_is_critical(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    fixture_open(&f);
    test_job_winning(&job, "", 0);
    cuzk_submitted s = fixture_submit(&f, &job);
    assert_int_equal(strlen(s.job_id), 36);
    fixture_done(&f, s.job_id);
    assert_int_equal(fixture_look(&f, s.job_id).view.priority, CUZK_PRIORITY_CRITICAL);
    fixture_clear(&f);
}

static void what_is_wrong_with_a_field_is_said_in_a_sentence(void **state)
{
    (void)state;
    fixture f;
    test_job good, bad;
    fixture_init(&f);
    fixture_open(&f);
    test_job_window(&good, "bad", 1, 0);
#define BAD(change, code, field, what)                                                             \
    bad = good;                                                                                    \
    bad.r.request_id = "bad";                                                                      \
    bad.r.vanilla_proofs = bad.spans;                                                              \
    bad.r.randomness.p = bad.randomness;                                                           \
    change;                                                                                        \
    refused(&f, &bad, code, field, what)
    BAD(bad.r.kind = 0, CUZK_E_ARG, "proof_kind", "found 0");
    BAD(bad.r.kind = 5, CUZK_E_ARG, "proof_kind", "found 5");
    BAD(bad.r.sector_size = 2047, CUZK_E_ARG, "sector_size", "2047");
    BAD(bad.r.registered_proof = 99, CUZK_E_ARG, "registered_proof", "99");
    BAD(bad.r.registered_proof = 13, CUZK_E_ARG, "registered_proof", "window-32GiB");
    BAD(bad.r.registered_proof = 3, CUZK_E_ARG, "registered_proof", "winning-32GiB");
    BAD(bad.r.randomness.n = 31, CUZK_E_ARG, "randomness", "found 31");
    BAD(bad.r.randomness.n = 0, CUZK_E_ARG, "randomness", "found 0");
    BAD(bad.r.comm_r_old = ((cuzk_span){bad.randomness, 5}), CUZK_E_ARG, "comm_r_old", "found 5");
    BAD(bad.r.comm_r_new = ((cuzk_span){bad.randomness, 33 - 2}), CUZK_E_ARG, "comm_r_new", "31");
    BAD(bad.r.comm_d_new = ((cuzk_span){bad.randomness, 1}), CUZK_E_ARG, "comm_d_new", "found 1");
    BAD(bad.r.n_vanilla_proofs = 0, CUZK_E_ARG, "vanilla_proofs", "none");
    BAD(bad.spans[1].n = 0, CUZK_E_ARG, "vanilla_proofs[1]", "empty");
    BAD(bad.spans[1].n--, CUZK_E_INPUT, "vanilla_proofs[1]", "");
    BAD(bad.r.vanilla_proof = bad.spans[0], CUZK_E_ARG, "vanilla_proof", "both");
    BAD(bad.r.kind = CUZK_JOB_WINNING;
        bad.r.registered_proof = 0, CUZK_E_ARG, "vanilla_proofs", "found 2");
    BAD(bad.r.kind = CUZK_JOB_SNAP;
        bad.r.registered_proof = 0, CUZK_E_ARG, "vanilla_proofs", "has 1, found 2");
    BAD(bad.r.kind = CUZK_JOB_SNAP, CUZK_E_ARG, "registered_proof", "found 10");
    BAD(bad.r.kind = CUZK_JOB_POREP;
        bad.r.registered_proof = 20, CUZK_E_ARG, "registered_proof", "20");
#undef BAD
    assert_int_equal(fixture_count(&f, CUZK_EV_QUEUED, 0), 0);
    fixture_window(&f, "good", 1, 0, CUZK_PRIORITY_DEFAULT); /* nothing was disturbed */
    fixture_done(&f, "good");
    fixture_clear(&f);
}

static void a_long_id_is_refused_and_the_longest_is_not(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    char id[CUZK_JOB_ID_MAX + 1];
    fixture_init(&f);
    fixture_open(&f);
    test_job_window(&job, "", 1, 0);
    memset(id, 'x', sizeof id);
    id[CUZK_JOB_ID_MAX] = 0;
    job.r.request_id = id;
    refused(&f, &job, CUZK_E_ARG, "request_id", "256");
    id[CUZK_JOB_ID_MAX - 1] = 0;
    fixture_submit(&f, &job);
    fixture_done(&f, id);
    fixture_clear(&f);
}

static void defaults_of_the_reference_are_taken(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    fixture_open(&f);
    test_job_window(&job, "no size", 1, 0);
    job.r.sector_size = 0;
    fixture_submit(&f, &job);
    test_job_window(&job, "no size, no number", 1, 0);
    job.r.sector_size = job.r.registered_proof = 0;
    fixture_submit(&f, &job);
    test_job_window(&job, "no number", 1, 0);
    job.r.registered_proof = 0;
    fixture_submit(&f, &job);
    test_job_window(&job, "one sector", 1, 0); /* repeated until the partition is full */
    job.r.n_vanilla_proofs = 1;
    job.r.partition_index = 7;
    fixture_submit(&f, &job);
    test_job_window(&job, "priority", 1, 0);
    job.r.priority = 77;
    fixture_submit(&f, &job);
    fixture_done(&f, "no size");
    fixture_done(&f, "no size, no number");
    fixture_done(&f, "no number");
    fixture_done(&f, "priority");
    assert_int_equal(fixture_look(&f, "priority").view.priority, CUZK_PRIORITY_NORMAL);
    bool running;
    cuzk_err err;
    assert_int_equal(cuzk_engine_cancel(f.e, &running, "one sector", &err), CUZK_OK);
    fixture_clear(&f);
}

static void the_same_content_joins_and_other_content_is_refused(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    test_job_window(&job, "same", 1, 1);
    assert_false(fixture_submit(&f, &job).joined);
    job.r.priority = CUZK_PRIORITY_LOW; /* how urgent it is changes nothing of what it proves */
    assert_true(fixture_submit(&f, &job).joined);
    proving_device_wait(&f.device[0], 1);
    assert_true(fixture_submit(&f, &job).joined);
    job.r.sector_number = 2;
    refused(&f, &job, CUZK_E_EXISTS, "request_id", "same");
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "same");
    job.r.sector_number = 1;
    assert_true(fixture_submit(&f, &job).joined);
    job.r.sector_number = 2;
    refused(&f, &job, CUZK_E_EXISTS, "same", "");
    assert_int_equal(proving_device_proofs(&f.device[0]), 1);
    fixture_clear(&f);
}

static void a_cancelled_or_failed_job_starts_anew_under_its_id(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    bool running;
    cuzk_err err;
    const device_fault input[] = {FAULT_NONE, FAULT_INPUT};
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    proving_device_fail(&f.device[0], input, 2);
    test_job_window(&job, "again", 1, 0);
    fixture_submit(&f, &job);
    proving_device_wait(&f.device[0], 1);
    assert_int_equal(cuzk_engine_cancel(f.e, &running, "again", &err), CUZK_OK);
    assert_true(running);
    assert_false(fixture_submit(&f, &job).joined); /* while the old one is still on the device */
    proving_device_hold(&f.device[0], false, false);
    assert_int_equal(fixture_wait(&f, "again").view.state, CUZK_JOB_FAILED);
    assert_false(fixture_submit(&f, &job).joined);
    fixture_done(&f, "again");
    fixture_clear(&f);
}

typedef struct crowd {
    fixture *f;
    test_job job;
    unsigned joined; /* guarded by mu */
    pthread_mutex_t mu;
} crowd;

static void *submit_main(void *arg)
{
    crowd *c = arg;
    cuzk_submitted s = fixture_submit(c->f, &c->job);
    pthread_mutex_lock(&c->mu);
    c->joined += s.joined;
    pthread_mutex_unlock(&c->mu);
    return NULL;
}

static void one_of_many_simultaneous_submissions_makes_the_job(void **state)
{
    (void)state;
    enum { N = 8 };
    fixture f;
    pthread_t threads[N];
    crowd c = {.f = &f, .mu = PTHREAD_MUTEX_INITIALIZER};
    fixture_init(&f);
    fixture_open(&f);
    test_job_window(&c.job, "porep-1000-1", 1, 0);
    c.job.r.request_id = c.job.id;
    c.job.r.vanilla_proofs = c.job.spans;
    c.job.r.randomness.p = c.job.randomness;
    for (unsigned i = 0; i < N; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, submit_main, &c), 0);
    }
    for (unsigned i = 0; i < N; i++) {
        pthread_join(threads[i], NULL);
    }
    fixture_done(&f, "porep-1000-1");
    assert_int_equal(c.joined, N - 1);
    assert_int_equal(proving_device_proofs(&f.device[0]), 1);
    fixture_clear(&f);
}

static void a_key_that_is_not_there_is_named(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    f.config.param_cache = f.config.circuit_cache = test_tmpdir();
    fixture_open(&f);
    test_job_window(&job, "x", 1, 0);
    refused(&f, &job, CUZK_E_NOT_FOUND, "window-2KiB", ".params");
    fixture_clear(&f);
}

static void jobs_beyond_the_limit_are_refused_and_room_comes_back(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    f.config.max_queued_jobs = 2;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "1", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "2", 1, 0, CUZK_PRIORITY_NORMAL);
    test_job_window(&job, "3", 1, 0);
    refused(&f, &job, CUZK_E_FULL, "2 jobs", "");
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "1");
    fixture_done(&f, "2");
    fixture_submit(&f, &job);
    fixture_done(&f, "3");
    fixture_clear(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(partitions_are_proved_and_put_together_in_their_order),
    cmocka_unit_test(a_winning_job_without_an_id_gets_one_and_is_critical),
    cmocka_unit_test(what_is_wrong_with_a_field_is_said_in_a_sentence),
    cmocka_unit_test(a_long_id_is_refused_and_the_longest_is_not),
    cmocka_unit_test(defaults_of_the_reference_are_taken),
    cmocka_unit_test(the_same_content_joins_and_other_content_is_refused),
    cmocka_unit_test(a_cancelled_or_failed_job_starts_anew_under_its_id),
    cmocka_unit_test(one_of_many_simultaneous_submissions_makes_the_job),
    cmocka_unit_test(a_key_that_is_not_there_is_named),
    cmocka_unit_test(jobs_beyond_the_limit_are_refused_and_room_comes_back),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
