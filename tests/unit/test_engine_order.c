#include "support/engine_fixture.h"

#include <string.h>

/* What is proved when. */

static uint64_t number_of(fixture *f, const char *id) { return fixture_look(f, id).view.number; }

static size_t starts(fixture *f, cuzk_event *ret, size_t cap)
{
    const cuzk_event_kind kind = CUZK_EV_GPU_START;
    return fixture_events(f, ret, cap, 1, &kind);
}

/* Holds the device with a partition of a job of its own in it, so that what is queued meanwhile is
 * taken in order. */
static void block(fixture *f)
{
    proving_device_hold(&f->device[0], true, false);
    fixture_window(f, "blocker", 1, 999, CUZK_PRIORITY_CRITICAL);
    proving_device_wait(&f->device[0], 1);
}

static void unblock(fixture *f) { proving_device_hold(&f->device[0], false, false); }

static void priority_goes_before_age_and_age_before_partitions(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[16];
    fixture_init(&f);
    f.config.channel_capacity = 32;
    fixture_open(&f);
    block(&f);
    fixture_window(&f, "low", 1, 1, CUZK_PRIORITY_LOW);
    fixture_window(&f, "old", 2, 2, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "new", 2, 3, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "high", 1, 4, CUZK_PRIORITY_HIGH);
    fixture_window(&f, "critical", 1, 5, CUZK_PRIORITY_CRITICAL);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 8);
    unblock(&f);
    const struct {
        const char *id;
        int32_t partition;
    } want[] = {{"blocker", 0}, {"critical", 0}, {"high", 0}, {"old", 0},
                {"old", 1},     {"new", 0},      {"new", 1},  {"low", 0}};
    fixture_done(&f, "low");
    assert_int_equal(starts(&f, e, 16), 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(e[i].job, number_of(&f, want[i].id));
        assert_int_equal(e[i].partition, want[i].partition);
    }
    fixture_clear(&f);
}

static void a_critical_job_waits_for_one_partition_at_most(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[32];
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    for (unsigned i = 0; i < 4; i++) {
        char id[8] = {'j', (char)('0' + i), 0};
        fixture_window(&f, id, 4, i, CUZK_PRIORITY_NORMAL);
    }
    proving_device_wait(&f.device[0], 1); /* the channel behind it fills up */
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 3);
    fixture_window(&f, "winning", 1, 9, CUZK_PRIORITY_CRITICAL);
    uint64_t critical = number_of(&f, "winning");
    fixture_wait_job_events(&f, CUZK_EV_CHAN_SEND, critical, 1); /* it gets by */
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "winning");
    fixture_done(&f, "j3");
    size_t n = starts(&f, e, 32);
    assert_int_equal(n, 17);
    assert_int_equal(e[1].job, critical);
    fixture_clear(&f);
}

static void a_slot_of_all_partitions_waits_for_the_last_of_them(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[32];
    const cuzk_event_kind kinds[] = {CUZK_EV_SYNTH_END, CUZK_EV_CHAN_SEND};
    fixture_init(&f);
    f.config.slot_size = 0;
    fixture_open(&f);
    fixture_window(&f, "job", 5, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(fixture_events(&f, e, 32, 2, kinds), 10);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(e[i].kind, CUZK_EV_SYNTH_END);
        assert_int_equal(e[5 + i].kind, CUZK_EV_CHAN_SEND);
        assert_int_equal(e[5 + i].partition, i);
    }
    fixture_clear(&f);
}

static void a_slot_of_one_goes_as_soon_as_it_is_made(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[32];
    const cuzk_event_kind kinds[] = {CUZK_EV_SYNTH_START, CUZK_EV_CHAN_SEND};
    fixture_init(&f);
    f.config.max_parallel_synthesis = 1;
    fixture_open(&f);
    fixture_window(&f, "job", 4, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(fixture_events(&f, e, 32, 2, kinds), 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(e[i].kind, kinds[i % 2]);
        assert_int_equal(e[i].partition, i / 2);
    }
    fixture_clear(&f);
}

static void slots_of_n_go_n_at_a_time(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[32];
    const cuzk_event_kind kinds[] = {CUZK_EV_SYNTH_END, CUZK_EV_CHAN_SEND};
    const char order[] = "eesseesses"; /* e: made, s: sent */
    fixture_init(&f);
    f.config.slot_size = 2;
    f.config.max_parallel_synthesis = 1;
    fixture_open(&f);
    fixture_window(&f, "job", 5, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(fixture_events(&f, e, 32, 2, kinds), 10);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(e[i].kind, kinds[order[i] == 's']);
    }
    fixture_clear(&f);
}

static void the_next_job_is_made_while_the_device_is_busy_with_this_one(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "a", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "b", 1, 1, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 2);
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "b");
    fixture_clear(&f);
}

static void the_channel_is_bounded(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[64];
    const cuzk_event_kind kinds[] = {CUZK_EV_CHAN_SEND, CUZK_EV_GPU_PICKUP};
    fixture_init(&f);
    f.config.channel_capacity = 1;
    f.config.max_parallel_synthesis = 1;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "job", 16, 0, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 3); /* in proof, waiting, made */
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "job");
    size_t n = fixture_events(&f, e, 64, 2, kinds);
    assert_int_equal(n, 32);
    int waiting = 0;
    for (size_t i = 0; i < n; i++) {
        waiting += e[i].kind == CUZK_EV_CHAN_SEND ? 1 : -1;
        assert_in_range(waiting, 0, 2);
    }
    fixture_clear(&f);
}

static void only_so_many_jobs_are_in_synthesis_at_once(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[64];
    const cuzk_event_kind kinds[] = {CUZK_EV_SYNTH_START, CUZK_EV_SYNTH_END};
    fixture_init(&f);
    f.config.max_parallel_synthesis = 4;
    f.config.channel_capacity = 64;
    fixture_open(&f);
    fixture_window(&f, "a", 5, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "b", 5, 1, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "c", 5, 2, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "c");
    size_t n = fixture_events(&f, e, 64, 2, kinds);
    uint64_t current = 0;
    int open = 0;
    for (size_t i = 0; i < n; i++) {
        if (open == 0) {
            current = e[i].job;
        }
        /* An end is told before its worker gives the partition up, so only starts count. */
        if (e[i].kind == CUZK_EV_SYNTH_START) {
            assert_true(open == 0 || e[i].job == current);
        }
        open += e[i].kind == CUZK_EV_SYNTH_START ? 1 : -1;
    }
    fixture_clear(&f);
}

static void jobs_of_a_batch_run_side_by_side(void **state)
{
    (void)state;
    fixture f;
    cuzk_event e[16];
    test_job job;
    fixture_init(&f);
    f.config.max_batch_size = 2;
    f.config.channel_capacity = 32;
    f.config.lookahead = 8;
    f.config.synthesis_concurrency = 8;
    fixture_open(&f);
    block(&f);
    fixture_window(&f, "w1", 1, 1, CUZK_PRIORITY_NORMAL);
    test_job_winning(&job, "n1", 1);
    job.r.priority = CUZK_PRIORITY_NORMAL;
    fixture_submit(&f, &job);
    fixture_window(&f, "w2", 1, 2, CUZK_PRIORITY_NORMAL); /* with w1 */
    fixture_window(&f, "w3", 1, 3, CUZK_PRIORITY_NORMAL); /* that batch is full */
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 5);
    unblock(&f);
    fixture_done(&f, "w3");
    fixture_done(&f, "n1");
    const char *want[] = {"blocker", "w1", "w2", "n1", "w3"};
    assert_int_equal(starts(&f, e, 16), 5);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(e[i].job, number_of(&f, want[i]));
    }
    assert_int_equal(fixture_count(&f, CUZK_EV_BATCH, number_of(&f, "w2")), 1);
    fixture_clear(&f);
}

static void a_reserved_lane_takes_critical_jobs_alone(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.gpu_workers_per_device = 2;
    f.config.critical_lane = true;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "normal", 3, 0, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 3);
    assert_int_equal(f.device[0].most_in_prove, 1);
    fixture_window(&f, "critical", 1, 1, CUZK_PRIORITY_CRITICAL);
    proving_device_wait(&f.device[0], 2); /* while the other is still at it */
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "normal");
    fixture_done(&f, "critical");
    fixture_clear(&f);
}

static void several_devices_share_the_work(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.n_devices = 2;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    proving_device_hold(&f.device[1], true, false);
    fixture_window(&f, "job", 2, 0, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    proving_device_wait(&f.device[1], 1);
    proving_device_hold(&f.device[0], false, false);
    proving_device_hold(&f.device[1], false, false);
    fixture_done(&f, "job");
    fixture_clear(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(priority_goes_before_age_and_age_before_partitions),
    cmocka_unit_test(a_critical_job_waits_for_one_partition_at_most),
    cmocka_unit_test(a_slot_of_all_partitions_waits_for_the_last_of_them),
    cmocka_unit_test(a_slot_of_one_goes_as_soon_as_it_is_made),
    cmocka_unit_test(slots_of_n_go_n_at_a_time),
    cmocka_unit_test(the_next_job_is_made_while_the_device_is_busy_with_this_one),
    cmocka_unit_test(the_channel_is_bounded),
    cmocka_unit_test(only_so_many_jobs_are_in_synthesis_at_once),
    cmocka_unit_test(jobs_of_a_batch_run_side_by_side),
    cmocka_unit_test(a_reserved_lane_takes_critical_jobs_alone),
    cmocka_unit_test(several_devices_share_the_work),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
