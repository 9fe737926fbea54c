#include "support/engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filecoin/statement.h"
#include "support/files.h"

/*
 * What the reference daemon does wrong, one test for each weakness that is the engine's to avoid,
 * and what operators of prover servers have reported.
 */

static cuzk_engine_snapshot *status(fixture *f)
{
    cuzk_engine_snapshot *s;
    cuzk_err err;
    if (cuzk_engine_status(f->e, &s, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return s;
}

static void nothing_is_left(fixture *f)
{
    cuzk_engine_snapshot *s = status(f);
    assert_int_equal(s->buffers.statement_bytes, 0);
    assert_int_equal(s->buffers.witness_bytes, 0);
    assert_int_equal(s->buffers.channel + s->buffers.held + s->buffers.finishing, 0);
    assert_int_equal(s->counters.queue_depth, 0);
    for (unsigned k = 0; k < CUZK_JOB_KIND_MAX; k++) {
        assert_int_equal(s->queues[k].pending + s->queues[k].in_progress, 0);
    }
    cuzk_engine_status_free(s);
}

static void row_1_waiting_post_jobs_never_replace_each_other(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.channel_capacity = 32;
    f.config.synthesis_concurrency = 8;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    for (unsigned i = 0; i < 6; i++) {
        char id[4] = {'w', (char)('0' + i), 0};
        fixture_window(&f, id, 1, i, CUZK_PRIORITY_DEFAULT);
    }
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 6); /* all wait at once */
    proving_device_hold(&f.device[0], false, false);
    for (unsigned i = 0; i < 6; i++) {
        char id[4] = {'w', (char)('0' + i), 0};
        fixture_done(&f, id);
    }
    fixture_clear(&f);
}

static void row_2_a_repeated_id_joins_and_never_mixes(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    cuzk_submitted s;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    test_job_window(&job, "porep-1000-7", 3, 0);
    fixture_submit(&f, &job);
    proving_device_wait(&f.device[0], 1);
    assert_true(fixture_submit(&f, &job).joined);
    test_job_window(&job, "porep-1000-7", 2, 0);
    assert_int_equal(cuzk_engine_submit(f.e, &s, &job.r, &err), CUZK_E_EXISTS);
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "porep-1000-7");
    assert_int_equal(proving_device_proofs(&f.device[0]), 3);
    fixture_clear(&f);
}

static void row_3_a_bad_partition_costs_that_partition_alone(void **state)
{
    (void)state;
    fixture f;
    const device_fault faults[] = {FAULT_NONE, FAULT_NONE, FAULT_WRONG};
    fixture_init(&f);
    fixture_open(&f);
    proving_device_fail(&f.device[0], faults, 3);
    fixture_window(&f, "job", 5, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(proving_device_proofs(&f.device[0]), 6);
    fixture_clear(&f);
}

static void row_4_a_young_key_makes_room_for_a_waiting_job(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    f.device[0].memory = 24 << 20;
    f.config.eviction_min_idle_ms = 3600 * 1000;
    fixture_open(&f);
    fixture_window(&f, "a", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "a");
    test_job_winning(&job, "b", 0);
    fixture_submit(&f, &job);
    fixture_done(&f, "b");
    fixture_clear(&f);
}

static void row_4_a_critical_job_does_not_queue_behind_one_that_waits_for_memory(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    f.device[0].memory = 24 << 20;
    f.config.gpu_workers_per_device = 2;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "in use", 1, 0, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    test_job_winning(&job, "no room", 0);
    job.r.priority = CUZK_PRIORITY_NORMAL;
    fixture_submit(&f, &job);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 2);
    fixture_window(&f, "critical", 1, 1, CUZK_PRIORITY_CRITICAL);
    proving_device_wait(&f.device[0], 2); /* beside the first, with its key */
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "critical");
    fixture_done(&f, "in use");
    fixture_done(&f, "no room");
    fixture_clear(&f);
}

static void row_5_a_job_is_in_memory_once_and_a_waiting_one_not_at_all(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    cuzk_statement *s;
    cuzk_err err;
    const cuzk_circuit_id id = {CUZK_WINDOW_POST, cuzk_sector_named("2KiB"), 0};
    fixture_init(&f);
    f.config.channel_capacity = 1;
    f.config.max_parallel_synthesis = 1;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    for (unsigned i = 0; i < 20; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u", i);
        fixture_window(&f, name, 10, i, CUZK_PRIORITY_NORMAL);
    }
    proving_device_wait(&f.device[0], 1);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 3);
    test_job_window(&job, "", 10, 0);
    const cuzk_claims claims = {.randomness = job.randomness};
    assert_int_equal(cuzk_statement_parse(&s, &id, job.spans, 20, &claims, &err), CUZK_OK);
    cuzk_engine_snapshot *now = status(&f);
    assert_true(now->buffers.statement_bytes >= cuzk_statement_bytes(s));
    assert_true(now->buffers.statement_bytes <= 3 * cuzk_statement_bytes(s));
    cuzk_engine_status_free(now);
    cuzk_statement_free(s);
    for (unsigned i = 0; i < 20; i++) {
        bool running;
        char name[8];
        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(cuzk_engine_cancel(f.e, &running, name, &err), CUZK_OK);
    }
    proving_device_hold(&f.device[0], false, false);
    fixture_window(&f, "last", 1, 99, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "last");
    nothing_is_left(&f);
    fixture_clear(&f);
}

static void row_6_errors_of_a_device_are_values_and_others_go_on(void **state)
{
    (void)state;
    fixture f;
    const device_fault faults[] = {FAULT_LOST, FAULT_ERROR, FAULT_JUNK, FAULT_MEMORY, FAULT_LOST};
    fixture_init(&f);
    f.config.gpu_workers_per_device = 2;
    f.config.partition_retries = 8;
    fixture_open(&f);
    proving_device_fail(&f.device[0], faults, 5);
    for (unsigned i = 0; i < 5; i++) {
        char id[4] = {'j', (char)('0' + i), 0};
        fixture_window(&f, id, 2, i, CUZK_PRIORITY_NORMAL);
    }
    for (unsigned i = 0; i < 5; i++) {
        char id[4] = {'j', (char)('0' + i), 0};
        fixture_done(&f, id);
    }
    /* What runs beside a loss is lost with it. */
    assert_in_range(fixture_count(&f, CUZK_EV_RETRY, 0), 5, 7);
    fixture_clear(&f);
}

static void row_7_a_circuit_is_loaded_once_for_all_that_wait_for_it(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.circuit_cache = test_tmpdir(); /* it has to be made */
    f.config.synthesis_concurrency = 4;
    fixture_open(&f);
    for (unsigned i = 0; i < 5; i++) {
        char id[4] = {'j', (char)('0' + i), 0};
        fixture_window(&f, id, 1, i, CUZK_PRIORITY_NORMAL);
    }
    for (unsigned i = 0; i < 5; i++) {
        char id[4] = {'j', (char)('0' + i), 0};
        fixture_done(&f, id);
    }
    assert_int_equal(fixture_count(&f, CUZK_EV_PCE_LOAD_START, 0), 1);
    assert_int_equal(fixture_count(&f, CUZK_EV_SRS_LOAD_START, 0), 1);
    fixture_clear(&f);
}

static void row_8_a_failed_job_is_counted_once_and_leaves_nothing(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.partition_retries = 0;
    f.config.gpu_workers_per_device = 2;
    fixture_open(&f);
    proving_device_always(&f.device[0], FAULT_ERROR);
    fixture_window(&f, "job", 8, 0, CUZK_PRIORITY_NORMAL);
    assert_int_equal(fixture_wait(&f, "job").view.state, CUZK_JOB_FAILED);
    proving_device_always(&f.device[0], FAULT_NONE);
    fixture_window(&f, "after", 1, 1, CUZK_PRIORITY_LOW); /* what was on its way has ended by now */
    fixture_done(&f, "after");
    cuzk_engine_snapshot *s = status(&f);
    assert_int_equal(s->counters.failed, 1);
    assert_int_equal(s->n_failures, 1);
    cuzk_engine_status_free(s);
    assert_true(proving_device_proofs(&f.device[0]) < 8);
    nothing_is_left(&f);
    fixture_clear(&f);
}

/* Accepted but for the key, which no test has. */
static void known_but_for_the_key(fixture *f, const cuzk_job_request *r, const char *circuit)
{
    cuzk_submitted s;
    cuzk_err err;
    test_failed(cuzk_engine_submit(f->e, &s, r, &err), &err, CUZK_E_NOT_FOUND, circuit, NULL);
}

static void row_9_all_kinds_and_sizes_are_taken(void **state)
{
    (void)state;
    fixture f;
    uint8_t zero[32] = {0};
    fixture_init(&f);
    fixture_open(&f);
    TEST_VECTOR_OR_SKIP(c1, "reference/c1-2KiB.phase1.json");
    TEST_VECTOR_OR_SKIP(c1_bincode, "reference/c1-2KiB.bincode");
    TEST_VECTOR_OR_SKIP(update, "reference/update-2KiB.partition0.bincode");
    TEST_VECTOR_OR_SKIP(window, "reference/window-32GiB.sector0.bincode");
    test_file file[4] = {test_file_load(c1), test_file_load(c1_bincode), test_file_load(update),
                         test_file_load(window)};
    cuzk_span span[4];
    for (unsigned i = 0; i < 4; i++) {
        span[i] = test_file_span(&file[i]);
    }
    cuzk_job_request r = {.request_id = "", .kind = CUZK_JOB_POREP, .vanilla_proof = span[0]};
    known_but_for_the_key(&f, &r, "porep-2KiB");
    r.sector_size = 2048;
    known_but_for_the_key(&f, &r, "porep-2KiB");
    r.vanilla_proof = span[1];
    known_but_for_the_key(&f, &r, "porep-2KiB");
    r = (cuzk_job_request){
        .request_id = "", .kind = CUZK_JOB_SNAP, .vanilla_proofs = &span[2], .n_vanilla_proofs = 1};
    known_but_for_the_key(&f, &r, "update-2KiB");
    r.sector_size = 2048;
    known_but_for_the_key(&f, &r, "update-2KiB");
    r = (cuzk_job_request){.request_id = "",
                           .kind = CUZK_JOB_WINDOW,
                           .sector_size = (uint64_t)32 << 30,
                           .registered_proof = 13,
                           .randomness = {zero, 32},
                           .vanilla_proofs = &span[3],
                           .n_vanilla_proofs = 1};
    known_but_for_the_key(&f, &r, "window-32GiB");
    r.sector_size = 0;
    known_but_for_the_key(&f, &r, "window-32GiB");
    for (unsigned i = 0; i < 4; i++) {
        free(file[i].p);
    }
    fixture_clear(&f);
}

static void row_9_proofs_of_a_batch_come_out_apart(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.max_batch_size = 4;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "a", 3, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "b", 1, 1, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "c", 2, 2, CUZK_PRIORITY_NORMAL);
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "a");
    fixture_done(&f, "b");
    fixture_done(&f, "c");
    assert_int_equal(fixture_look(&f, "c").view.proof.n, 384);
    fixture_clear(&f);
}

static void row_10_status_reports_what_is_loaded_by_anybody(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    fixture_open(&f);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL); /* no preload asked for it */
    fixture_done(&f, "job");
    cuzk_engine_snapshot *s = status(&f);
    assert_int_equal(s->n_keys, 1);
    assert_int_equal(s->keys[0].bytes, 16 << 20);
    assert_int_equal(s->keys[0].refs, 0);
    assert_true(s->keys[0].evictable);
    assert_int_equal(s->memory[CUZK_MEMORY_DEVICE].total, 1 << 30);
    assert_true(s->pinned_limit > 0);
    cuzk_engine_status_free(s);
    fixture_clear(&f);
}

static void many_jobs_end_exactly_once_and_accounts_come_out_even(void **state)
{
    (void)state;
    unsigned n = test_is_slow() ? 40 : 200, cancelled = 0;
    fixture f;
    cuzk_err err;
    fixture_init(&f);
    f.config.gpu_workers_per_device = 2;
    f.config.max_queued_jobs = n;
    fixture_open(&f);
    for (unsigned i = 0; i < n; i++) {
        char id[8];
        bool running;
        snprintf(id, sizeof id, "%u", i);
        fixture_window(&f, id, 1 + i % 2, i, (cuzk_priority)(i % 5));
        if (i % 7 == 3) {
            assert_int_equal(cuzk_engine_cancel(f.e, &running, id, &err), CUZK_OK);
            cancelled += running;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        char id[8];
        snprintf(id, sizeof id, "%u", i);
        assert_in_range(fixture_wait(&f, id).view.state, CUZK_JOB_DONE, CUZK_JOB_CANCELLED);
    }
    cuzk_engine_snapshot *s = status(&f);
    assert_int_equal(s->counters.cancelled, cancelled);
    assert_int_equal(s->counters.completed, n - cancelled);
    assert_int_equal(s->counters.failed, 0);
    cuzk_engine_status_free(s);
    assert_int_equal(fixture_count(&f, CUZK_EV_DONE, 0), n - cancelled);
    nothing_is_left(&f);
    fixture_clear(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(row_1_waiting_post_jobs_never_replace_each_other),
    cmocka_unit_test(row_2_a_repeated_id_joins_and_never_mixes),
    cmocka_unit_test(row_3_a_bad_partition_costs_that_partition_alone),
    cmocka_unit_test(row_4_a_young_key_makes_room_for_a_waiting_job),
    cmocka_unit_test(row_4_a_critical_job_does_not_queue_behind_one_that_waits_for_memory),
    cmocka_unit_test(row_5_a_job_is_in_memory_once_and_a_waiting_one_not_at_all),
    cmocka_unit_test(row_6_errors_of_a_device_are_values_and_others_go_on),
    cmocka_unit_test(row_7_a_circuit_is_loaded_once_for_all_that_wait_for_it),
    cmocka_unit_test(row_8_a_failed_job_is_counted_once_and_leaves_nothing),
    cmocka_unit_test(row_9_all_kinds_and_sizes_are_taken),
    cmocka_unit_test(row_9_proofs_of_a_batch_come_out_apart),
    cmocka_unit_test(row_10_status_reports_what_is_loaded_by_anybody),
    cmocka_unit_test(many_jobs_end_exactly_once_and_accounts_come_out_even),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
