#include "support/engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "support/files.h"

/* Keys that come and go, and memory that does not suffice. */

static void names_of_the_reference_are_known(void **state)
{
    (void)state;
    const char *const names[][2] = {
        {"porep-32g", "porep-32GiB"},     {"porep-64g", "porep-64GiB"},
        {"wpost-32g", "window-32GiB"},    {"winning-32g", "winning-32GiB"},
        {"snap-32g", "update-32GiB"},     {"snap-64g", "update-64GiB"},
        {"winning-2KiB", "winning-2KiB"}, {"window-512MiB", "window-512MiB"},
    };
    char own[CUZK_CIRCUIT_NAME_MAX];
    cuzk_err err;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(cuzk_engine_circuit_name(own, names[i][0], &err), CUZK_OK);
        assert_string_equal(own, names[i][1]);
    }
    assert_int_equal(cuzk_engine_circuit_name(own, "porep-33g", &err), CUZK_E_ARG);
    assert_non_null(strstr(err.msg, "circuit_id: no circuit porep-33g"));
    assert_int_equal(cuzk_engine_circuit_name(own, "porep-32GiB-1challenge", &err), CUZK_E_ARG);
}

static void preload_and_evict_do_what_they_say(void **state)
{
    (void)state;
    fixture f;
    bool flag;
    uint64_t n;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    assert_int_equal(cuzk_engine_evict(f.e, &flag, &n, "window-2KiB", &err), CUZK_OK);
    assert_false(flag);
    assert_int_equal(n, 0);
    assert_int_equal(cuzk_engine_preload(f.e, &flag, &n, "window-2KiB", &err), CUZK_OK);
    assert_false(flag);
    assert_int_equal(cuzk_engine_preload(f.e, &flag, &n, "window-2KiB", &err), CUZK_OK);
    assert_true(flag);
    assert_int_equal(proving_device_loads(&f.device[0], "window-2KiB"), 1);
    assert_int_equal(cuzk_engine_evict(f.e, &flag, &n, "window-2KiB", &err), CUZK_OK);
    assert_true(flag);
    assert_int_equal(n, 16 << 20);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(proving_device_loads(&f.device[0], "window-2KiB"), 2);
    assert_int_equal(cuzk_engine_preload(f.e, &flag, &n, "porep-64g", &err), CUZK_E_NOT_FOUND);
    assert_non_null(strstr(err.msg, "porep-64GiB"));
    assert_int_equal(cuzk_engine_preload(f.e, &flag, &n, "nothing", &err), CUZK_E_ARG);
    assert_int_equal(cuzk_engine_evict(f.e, &flag, &n, "nothing", &err), CUZK_E_ARG);
    fixture_clear(&f);
}

static void what_is_to_be_preloaded_is_there_before_any_job(void **state)
{
    (void)state;
    fixture f;
    const char *const names[] = {"window-2KiB", "winning-2KiB"};
    fixture_init(&f);
    f.config.preload = names;
    f.config.n_preload = 2;
    fixture_open(&f);
    fixture_wait_events(&f, CUZK_EV_SRS_LOAD_END, 2);
    fixture_wait_events(&f, CUZK_EV_PCE_LOAD_END, 2);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(fixture_count(&f, CUZK_EV_SRS_LOAD_START, 0), 2);
    fixture_close(&f);
    const char *const wrong[] = {"no such"};
    cuzk_err err;
    f.config.preload = wrong;
    f.config.n_preload = 1;
    assert_int_equal(cuzk_engine_open(&f.e, &f.config, &err), CUZK_E_ARG);
    fixture_clear(&f);
}

static void what_can_never_fit_is_refused_with_numbers(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    cuzk_submitted s;
    cuzk_err err;
    fixture_init(&f);
    f.device[0].memory = 16 << 20; /* the key alone */
    fixture_open(&f);
    test_job_window(&job, "job", 1, 0);
    test_failed(cuzk_engine_submit(f.e, &s, &job.r, &err), &err, CUZK_E_FULL, "device 0", NULL);
    assert_int_equal(fixture_count(&f, CUZK_EV_QUEUED, 0), 0);
    fixture_clear(&f);
    fixture_init(&f);
    f.config.pipeline_bytes = 10000;
    fixture_open(&f);
    test_failed(cuzk_engine_submit(f.e, &s, &job.r, &err), &err, CUZK_E_FULL, "10000", NULL);
    fixture_clear(&f);
}

static void a_device_with_room_takes_what_another_cannot(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.n_devices = 2;
    f.device[0].memory = 1 << 20;
    fixture_open(&f);
    fixture_window(&f, "job", 4, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(proving_device_proofs(&f.device[0]), 0);
    fixture_clear(&f);
}

static void a_small_pipeline_does_the_work_piece_by_piece(void **state)
{
    (void)state;
    for (unsigned slot_size = 0; slot_size < 3; slot_size++) {
        fixture f;
        fixture_init(&f);
        f.config.pipeline_bytes = 140000; /* the largest input and a partition, hardly more */
        f.config.synthesis_concurrency = 4;
        f.config.slot_size = slot_size;
        fixture_open(&f);
        for (unsigned i = 0; i < 4; i++) {
            char id[4] = {(char)('a' + i), 0};
            fixture_window(&f, id, 3 + 3 * (i == 1), i, CUZK_PRIORITY_NORMAL);
        }
        for (unsigned i = 0; i < 4; i++) {
            char id[4] = {(char)('a' + i), 0};
            fixture_done(&f, id);
        }
        fixture_clear(&f);
    }
}

static void keys_without_room_for_both_take_turns(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    f.device[0].memory = 24 << 20; /* one key of 16 MiB with its working set */
    fixture_open(&f);
    for (unsigned i = 0; i < 2; i++) {
        char a[4] = {'a', (char)('0' + i), 0}, b[4] = {'b', (char)('0' + i), 0};
        fixture_window(&f, a, 2, i, CUZK_PRIORITY_NORMAL);
        test_job_winning(&job, b, i);
        fixture_submit(&f, &job);
        fixture_done(&f, a);
        fixture_done(&f, b);
    }
    assert_true(fixture_count(&f, CUZK_EV_EVICT, 0) >= 1);
    fixture_clear(&f);
}

/* A job whose key is being loaded does not keep others, above or below it, off the device. */
static void others_run_during_a_load(cuzk_priority priority)
{
    fixture f;
    test_job job;
    bool flag;
    uint64_t n;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    assert_int_equal(cuzk_engine_preload(f.e, &flag, &n, "window-2KiB", &err), CUZK_OK);
    proving_device_hold(&f.device[0], false, true);
    test_job_winning(&job, "slow", 0);
    job.r.priority = CUZK_PRIORITY_NORMAL;
    fixture_submit(&f, &job);
    proving_device_wait_load(&f.device[0], 1);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 1);
    fixture_window(&f, "quick", 2, 0, priority);
    fixture_done(&f, "quick");
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "slow");
    fixture_clear(&f);
}

static void a_critical_job_overtakes_a_load(void **state)
{
    (void)state;
    others_run_during_a_load(CUZK_PRIORITY_CRITICAL);
}

static void a_device_does_not_stand_still_for_a_load(void **state)
{
    (void)state;
    others_run_during_a_load(CUZK_PRIORITY_LOW);
}

static void a_damaged_circuit_file_is_made_again(void **state)
{
    (void)state;
    fixture f;
    char path[600];
    fixture_init(&f);
    f.config.circuit_cache = test_tmpdir();
    snprintf(path, sizeof path, "%s/window-2KiB.circuit", test_tmpdir());
    FILE *file = fopen(path, "w");
    fputs("not a circuit", file);
    fclose(file);
    fixture_open(&f);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    fixture_clear(&f);
}

static void settings_that_cannot_be_are_named(void **state)
{
    (void)state;
    fixture f;
    cuzk_err err;
    fixture_init(&f);
    cuzk_engine_config c = f.config;
#define BAD(change, word)                                                                          \
    c = f.config;                                                                                  \
    change;                                                                                        \
    test_failed(cuzk_engine_open(&f.e, &c, &err), &err, CUZK_E_ARG, word, NULL);                   \
    assert_null(f.e)
    BAD(c.store = NULL, "store");
    BAD(c.n_devices = 0, "devices");
    BAD(c.gpu_workers_per_device = 0, "gpu_workers_per_device");
    BAD(c.synthesis_concurrency = 0, "synthesis_concurrency");
    BAD(c.synthesis_cpus = (const unsigned[]){4000}; c.n_synthesis_cpus = 1, "synthesis_cpus");
#undef BAD
    assert_true(f.device[0].closed);
    fixture_clear(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_of_the_reference_are_known),
    cmocka_unit_test(preload_and_evict_do_what_they_say),
    cmocka_unit_test(what_is_to_be_preloaded_is_there_before_any_job),
    cmocka_unit_test(what_can_never_fit_is_refused_with_numbers),
    cmocka_unit_test(a_device_with_room_takes_what_another_cannot),
    cmocka_unit_test(a_small_pipeline_does_the_work_piece_by_piece),
    cmocka_unit_test(keys_without_room_for_both_take_turns),
    cmocka_unit_test(a_critical_job_overtakes_a_load),
    cmocka_unit_test(a_device_does_not_stand_still_for_a_load),
    cmocka_unit_test(a_damaged_circuit_file_is_made_again),
    cmocka_unit_test(settings_that_cannot_be_are_named),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
