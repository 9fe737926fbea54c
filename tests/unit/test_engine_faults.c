#include "support/engine_fixture.h"

#include <string.h>

/* What a device does wrong, and what becomes of the job. */

static void open_with(fixture *f, const device_fault *faults, unsigned n)
{
    fixture_init(f);
    f->config.partition_timeout_ms = 20000;
    fixture_open(f);
    proving_device_fail(&f->device[0], faults, n);
}

static void repeated(const device_fault *faults, unsigned n, unsigned loads)
{
    fixture f;
    open_with(&f, faults, n);
    fixture_window(&f, "job", 2, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(fixture_count(&f, CUZK_EV_RETRY, 0), n);
    assert_int_equal(proving_device_proofs(&f.device[0]), 2 + n);
    assert_int_equal(proving_device_loads(&f.device[0], "window-2KiB"), loads);
    fixture_clear(&f);
}

static void a_wrong_proof_never_leaves_and_the_partition_is_repeated(void **state)
{
    (void)state;
    repeated((const device_fault[]){FAULT_WRONG}, 1, 1);
}

static void bytes_that_are_no_proof_are_repeated(void **state)
{
    (void)state;
    repeated((const device_fault[]){FAULT_JUNK, FAULT_WRONG}, 2, 1);
}

static void an_error_of_the_device_is_repeated(void **state)
{
    (void)state;
    repeated((const device_fault[]){FAULT_ERROR, FAULT_ERROR, FAULT_ERROR}, 3, 1);
}

static void a_device_without_memory_is_asked_again(void **state)
{
    (void)state;
    repeated((const device_fault[]){FAULT_MEMORY}, 1, 1);
}

static void a_lost_device_costs_a_repetition_and_a_load(void **state)
{
    (void)state;
    repeated((const device_fault[]){FAULT_LOST, FAULT_LOST}, 2, 3);
}

static void a_hang_is_cut_by_the_deadline(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.partition_timeout_ms = 1000;
    fixture_open(&f);
    proving_device_fail(&f.device[0], (const device_fault[]){FAULT_HANG}, 1);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(fixture_count(&f, CUZK_EV_RETRY, 0), 1);
    assert_int_equal(proving_device_loads(&f.device[0], "window-2KiB"), 2);
    fixture_clear(&f);
}

static void a_witness_that_does_not_satisfy_fails_the_job_at_once(void **state)
{
    (void)state;
    fixture f;
    open_with(&f, (const device_fault[]){FAULT_NONE, FAULT_INPUT}, 2);
    fixture_window(&f, "job", 2, 0, CUZK_PRIORITY_NORMAL);
    job_end end = fixture_wait(&f, "job");
    assert_int_equal(end.view.state, CUZK_JOB_FAILED);
    assert_non_null(strstr(end.error, "partition "));
    assert_non_null(strstr(end.error, ", proving: row 7 is not satisfied"));
    assert_int_equal(fixture_count(&f, CUZK_EV_RETRY, 0), 0);
    fixture_clear(&f);
}

static void a_job_fails_once_when_repetitions_do_not_help(void **state)
{
    (void)state;
    fixture f;
    cuzk_engine_snapshot *s;
    cuzk_err err;
    fixture_init(&f);
    f.config.partition_retries = 2;
    fixture_open(&f);
    proving_device_always(&f.device[0], FAULT_WRONG);
    fixture_window(&f, "job", 4, 0, CUZK_PRIORITY_NORMAL);
    job_end end = fixture_wait(&f, "job");
    assert_int_equal(end.view.state, CUZK_JOB_FAILED);
    assert_non_null(strstr(end.error, ", verification: the proof of device 0 with the key of "
                                      "window-2KiB is wrong"));
    proving_device_always(&f.device[0], FAULT_NONE);
    fixture_window(&f, "next", 1, 0, CUZK_PRIORITY_NORMAL); /* others go on */
    fixture_done(&f, "next");
    assert_int_equal(cuzk_engine_status(f.e, &s, &err), CUZK_OK);
    assert_int_equal(s->counters.failed, 1);
    assert_int_equal(s->counters.failed_by_kind[CUZK_JOB_WINDOW], 1);
    assert_int_equal(s->counters.completed, 1);
    assert_true(s->counters.wrong_proofs >= 3);
    assert_int_equal(s->n_failures, 1);
    assert_string_equal(s->failures[0].error, end.error);
    cuzk_engine_status_free(s);
    assert_int_equal(fixture_count(&f, CUZK_EV_FAILED, 0), 1);
    fixture_clear(&f);
}

static void the_second_repetition_is_on_another_device(void **state)
{
    (void)state;
    fixture f;
    cuzk_event starts[32];
    const cuzk_event_kind kind = CUZK_EV_GPU_START;
    fixture_init(&f);
    f.config.n_devices = 2;
    f.config.quarantine_after = 0;
    fixture_open(&f);
    proving_device_always(&f.device[0], FAULT_WRONG);
    proving_device_hold(&f.device[1], true, false); /* so that some begin on device 0 */
    fixture_window(&f, "a", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "b", 1, 1, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "c", 1, 2, CUZK_PRIORITY_NORMAL);
    fixture_wait_events(&f, CUZK_EV_RETRY, 2);
    proving_device_hold(&f.device[1], false, false);
    const char *const ids[] = {"a", "b", "c"};
    for (unsigned i = 0; i < 3; i++) {
        fixture_done(&f, ids[i]);
    }
    size_t n = fixture_events(&f, starts, 32, 1, &kind);
    for (unsigned i = 0; i < 3; i++) {
        uint64_t job = fixture_look(&f, ids[i]).view.number;
        unsigned attempts = 0;
        int16_t last = -1;
        for (size_t j = 0; j < n; j++) {
            attempts += starts[j].job == job;
            last = starts[j].job == job ? starts[j].device : last;
        }
        assert_true(attempts == 1 || attempts == 3);
        assert_int_equal(last, 1);
    }
    fixture_clear(&f);
}

static void a_device_that_keeps_failing_gets_no_more_work(void **state)
{
    (void)state;
    fixture f;
    cuzk_engine_snapshot *s;
    cuzk_err err;
    fixture_init(&f);
    f.config.n_devices = 2;
    f.config.quarantine_after = 2;
    fixture_open(&f);
    proving_device_always(&f.device[0], FAULT_WRONG);
    proving_device_hold(&f.device[1], true, false);
    fixture_window(&f, "a", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "b", 1, 1, CUZK_PRIORITY_NORMAL);
    fixture_wait_events(&f, CUZK_EV_RETRY, 2);
    proving_device_hold(&f.device[1], false, false);
    fixture_window(&f, "c", 4, 2, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "a");
    fixture_done(&f, "b");
    fixture_done(&f, "c");
    /* A third may be under way while the second is looked at. */
    assert_in_range(proving_device_proofs(&f.device[0]), 2, 3);
    assert_int_equal(cuzk_engine_status(f.e, &s, &err), CUZK_OK);
    assert_true(s->devices[0].quarantined);
    assert_false(s->devices[1].quarantined);
    cuzk_engine_status_free(s);
    fixture_clear(&f);
}

static void the_last_device_is_never_given_up(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.quarantine_after = 1;
    f.config.partition_retries = 0;
    fixture_open(&f);
    proving_device_fail(&f.device[0], (const device_fault[]){FAULT_ERROR, FAULT_ERROR}, 2);
    fixture_window(&f, "a", 1, 0, CUZK_PRIORITY_NORMAL);
    assert_int_equal(fixture_wait(&f, "a").view.state, CUZK_JOB_FAILED);
    fixture_window(&f, "b", 1, 0, CUZK_PRIORITY_NORMAL);
    assert_int_equal(fixture_wait(&f, "b").view.state, CUZK_JOB_FAILED);
    fixture_window(&f, "c", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "c");
    fixture_clear(&f);
}

static void a_vanilla_proof_that_proves_nothing_is_found_before_any_device(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    uint8_t other[32] = {1};
    fixture_init(&f);
    fixture_open(&f);
    test_job_window(&job, "job", 1, 0);
    job.r.randomness.p = other; /* these sectors answer other challenges */
    fixture_submit(&f, &job);
    job_end end = fixture_wait(&f, "job");
    assert_int_equal(end.view.state, CUZK_JOB_FAILED);
    assert_non_null(strstr(end.error, "partition 0, check: vanilla_proofs[0]"));
    assert_int_equal(proving_device_proofs(&f.device[0]), 0);
    fixture_clear(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_wrong_proof_never_leaves_and_the_partition_is_repeated),
    cmocka_unit_test(bytes_that_are_no_proof_are_repeated),
    cmocka_unit_test(an_error_of_the_device_is_repeated),
    cmocka_unit_test(a_device_without_memory_is_asked_again),
    cmocka_unit_test(a_lost_device_costs_a_repetition_and_a_load),
    cmocka_unit_test(a_hang_is_cut_by_the_deadline),
    cmocka_unit_test(a_witness_that_does_not_satisfy_fails_the_job_at_once),
    cmocka_unit_test(a_job_fails_once_when_repetitions_do_not_help),
    cmocka_unit_test(the_second_repetition_is_on_another_device),
    cmocka_unit_test(a_device_that_keeps_failing_gets_no_more_work),
    cmocka_unit_test(the_last_device_is_never_given_up),
    cmocka_unit_test(a_vanilla_proof_that_proves_nothing_is_found_before_any_device),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
