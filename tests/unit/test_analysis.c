#include "observe/analysis.h"
#include "support/support.h"
#include "support/timelines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_analysis analyse(const cuzk_record *r, uint64_t from_ms, uint64_t to_ms)
{
    cuzk_analysis a;
    cuzk_err err;
    assert_int_equal(cuzk_analyse(&a, r, from_ms * 1000, to_ms * 1000, &err), CUZK_OK);
    return a;
}

static size_t count(const cuzk_analysis *a, cuzk_phase phase)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_intervals; i++) {
        n += a->intervals[i].phase == phase;
    }
    return n;
}

/* Whatever the record: times add up and stay in their bounds. */
static void check_sums(const cuzk_analysis *a)
{
    uint64_t gaps[256] = {0};
    for (size_t i = 0; i < a->n_gaps; i++) {
        const cuzk_gap *g = &a->gaps[i];
        uint64_t sum = 0;
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            sum += g->cause_us[c];
        }
        assert_int_equal(sum, g->end_us - g->start_us);
        assert_true(g->start_us >= a->from_us && g->end_us <= a->to_us && sum > 0);
        for (size_t d = 0; d < a->n_devices; d++) {
            gaps[d] += a->devices[d].device == g->device ? sum : 0;
        }
    }
    for (size_t d = 0; d < a->n_devices; d++) {
        uint64_t idle = 0;
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            idle += a->devices[d].idle_us[c];
        }
        assert_int_equal(idle, gaps[d]);
        assert_int_equal(idle + a->devices[d].busy_us, a->to_us - a->from_us);
    }
    for (size_t i = 0; i < a->n_intervals; i++) {
        assert_true(a->intervals[i].end_us >= a->intervals[i].start_us);
        assert_true(i == 0 || a->intervals[i].start_us >= a->intervals[i - 1].start_us);
    }
}

static void a_proof_is_divided_into_its_phases(void **state)
{
    (void)state;
    cuzk_record r = {0};
    at(&r, 0, CUZK_EV_QUEUED, 1, -1, -1, -1, 1, "");
    at(&r, 10, CUZK_EV_SYNTH_START, 1, 0, 2, -1, 0, "");
    at(&r, 60, CUZK_EV_SYNTH_END, 1, 0, 2, -1, 99, "");
    at(&r, 65, CUZK_EV_CHAN_SEND, 1, 0, 2, -1, 1, "");
    at(&r, 80, CUZK_EV_GPU_PICKUP, 1, 0, 0, 1, 0, "");
    at(&r, 82, CUZK_EV_GPU_START, 1, 0, 0, 1, 0, "");
    at(&r, 182, CUZK_EV_GPU_END, 1, 0, 0, 1, 0, "");
    at(&r, 183, CUZK_EV_FINISH_START, 1, 0, 0, -1, 0, "");
    at(&r, 190, CUZK_EV_FINISH_END, 1, 0, 0, -1, 1, "");
    at(&r, 191, CUZK_EV_DONE, 1, -1, -1, -1, 1, "");
    cuzk_analysis a = analyse(&r, 0, 0);
    check_sums(&a);
    static const uint64_t want[CUZK_PHASE_COUNT][2] = {
        [CUZK_PHASE_QUEUE] = {0, 10},    [CUZK_PHASE_SYNTH] = {10, 60},
        [CUZK_PHASE_HELD] = {60, 65},    [CUZK_PHASE_CHANNEL] = {65, 80},
        [CUZK_PHASE_PICKUP] = {80, 82},  [CUZK_PHASE_GPU] = {82, 182},
        [CUZK_PHASE_FINISH] = {183, 190}};
    assert_int_equal(a.n_intervals, 7);
    for (size_t i = 0; i < a.n_intervals; i++) {
        const cuzk_interval *x = &a.intervals[i];
        assert_int_equal(x->start_us, 1000 * want[x->phase][0]);
        assert_int_equal(x->end_us, 1000 * want[x->phase][1]);
        assert_false(x->cut || x->failed);
        assert_int_equal(a.phase[x->phase].n, 1);
        assert_int_equal(a.phase[x->phase].sum_us, x->end_us - x->start_us);
    }
    assert_int_equal(a.n_jobs, 1);
    const cuzk_job_summary *j = &a.jobs[0];
    assert_int_equal(j->state, CUZK_JOB_DONE);
    assert_int_equal(j->synth_us, 50000);
    assert_int_equal(j->gpu_us, 100000);
    assert_int_equal(j->finish_us, 7000);
    assert_int_equal(j->proved, 1);
    assert_int_equal(j->end_us, 191000);
    assert_false(j->cut);
    assert_int_equal(a.total.max_us, 191000);
    assert_int_equal(a.prove.max_us, 181000);
    assert_int_equal(a.first_us, 191000);
    assert_int_equal(a.n_devices, 1);
    assert_int_equal(a.devices[0].device, 1);
    assert_int_equal(a.devices[0].busy_us, 100000);
    assert_int_equal(a.n_gaps, 2);
    /* 10 ms in the queue, 50 in synthesis, 22 in the channel: before the device; 9 without work. */
    assert_int_equal(a.gaps[0].cause, CUZK_IDLE_SYNTHESIS);
    assert_int_equal(a.gaps[0].cause_us[CUZK_IDLE_WAITING], 10000);
    assert_int_equal(a.gaps[0].cause_us[CUZK_IDLE_SYNTHESIS], 50000);
    assert_int_equal(a.gaps[0].cause_us[CUZK_IDLE_CHANNEL], 22000);
    assert_int_equal(a.gaps[1].cause, CUZK_IDLE_NO_WORK);
    assert_int_equal(a.gaps[1].cause_us[CUZK_IDLE_NO_WORK], 9000);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static uint64_t idle_of(const cuzk_analysis *a, cuzk_idle_cause cause)
{
    return a->devices[0].idle_us[cause];
}

static void slot_size_0_shows_as_partitions_that_are_kept_back(void **state)
{
    (void)state;
    pipeline p = {.jobs = 3, .partitions = 4, .synth_ms = 40, .gpu_ms = 25, .slot = 0};
    cuzk_record r = run_pipeline(&p);
    cuzk_analysis a = analyse(&r, 0, 0);
    check_sums(&a);
    assert_int_equal(a.done, 3);
    assert_true(idle_of(&a, CUZK_IDLE_CHANNEL) > 0);
    assert_true(idle_of(&a, CUZK_IDLE_SYNTHESIS) > 0);
    assert_true(idle_of(&a, CUZK_IDLE_CHANNEL) > idle_of(&a, CUZK_IDLE_SYNTHESIS));
    char verdict[300];
    cuzk_verdict(&a, verdict, sizeof verdict);
    assert_true(strncmp(verdict, "channel-bound: ", 15) == 0);
    /* The same work, each partition sent when it is ready. */
    cuzk_record r1;
    p.slot = 1;
    r1 = run_pipeline(&p);
    cuzk_analysis b = analyse(&r1, 0, 0);
    check_sums(&b);
    assert_int_equal(idle_of(&b, CUZK_IDLE_CHANNEL), 0);
    assert_true(idle_of(&b, CUZK_IDLE_SYNTHESIS) > 0);
    assert_int_equal(a.first_us, 261000); /* 4 x 40 ms, then 4 x 25 */
    assert_int_equal(b.first_us, 186000); /* the last one is alone on the device */
    assert_true(cuzk_utilisation_all(&b, false) > 1.1 * cuzk_utilisation_all(&a, false));
    cuzk_verdict(&b, verdict, sizeof verdict);
    assert_true(strncmp(verdict, "synthesis-bound: ", 17) == 0);
    cuzk_analysis_clear(&a);
    cuzk_analysis_clear(&b);
    cuzk_record_clear(&r);
    cuzk_record_clear(&r1);
}

static void a_device_that_is_never_idle_is_what_binds(void **state)
{
    (void)state;
    pipeline p = {.jobs = 5, .partitions = 4, .synth_ms = 10, .gpu_ms = 25, .slot = 1};
    cuzk_record r = run_pipeline(&p);
    cuzk_analysis a = analyse(&r, 0, 0);
    check_sums(&a);
    assert_int_equal(a.steady_done, 4);
    assert_true(cuzk_utilisation(&a, &a.devices[0], true) > 0.99);
    assert_true(a.devices[0].bound_us > a.devices[0].busy_us / 2);
    assert_true(cuzk_proofs_per_minute(&a, true) > 599 && cuzk_proofs_per_minute(&a, true) < 601);
    char verdict[300];
    cuzk_verdict(&a, verdict, sizeof verdict);
    assert_true(strncmp(verdict, "device-bound: ", 14) == 0);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static void loads_are_a_cause_of_their_own_and_apart_from_steady_state(void **state)
{
    (void)state;
    cuzk_record r = {0};
    for (uint64_t job = 1; job <= 3; job++) {
        uint64_t t = 1000 * (job - 1);
        at(&r, t, CUZK_EV_QUEUED, job, -1, -1, -1, 1, "");
        at(&r, t, CUZK_EV_SYNTH_START, job, 0, 0, -1, 0, "");
        at(&r, t + 100, CUZK_EV_SYNTH_END, job, 0, 0, -1, 0, "");
        at(&r, t + 100, CUZK_EV_CHAN_SEND, job, 0, 0, -1, 1, "");
        at(&r, t + 100, CUZK_EV_GPU_PICKUP, job, 0, 0, 0, 0, "");
        if (job != 2) {
            at(&r, t + 100, CUZK_EV_SRS_LOAD_START, job, -1, 0, 0, 0, "porep-32g");
            at(&r, t + 600, CUZK_EV_SRS_LOAD_END, job, -1, 0, 0, 47, "porep-32g");
        }
        at(&r, t + 600, CUZK_EV_GPU_START, job, 0, 0, 0, 0, "");
        at(&r, t + 1000, CUZK_EV_GPU_END, job, 0, 0, 0, 0, "");
        at(&r, t + 1000, CUZK_EV_DONE, job, -1, -1, -1, 1, "");
    }
    cuzk_analysis a = analyse(&r, 0, 0);
    check_sums(&a);
    assert_int_equal(idle_of(&a, CUZK_IDLE_LOADING), 1000000);
    assert_int_equal(idle_of(&a, CUZK_IDLE_CHANNEL), 500000);
    assert_int_equal(idle_of(&a, CUZK_IDLE_SYNTHESIS), 300000);
    assert_int_equal(a.phase[CUZK_PHASE_KEY_LOAD].n, 2);
    assert_int_equal(a.phase[CUZK_PHASE_KEY_LOAD].sum_us, 1000000);
    assert_int_equal(a.steady_load_us, 500000);
    assert_int_equal(a.steady_done, 2);
    /* Two proofs in 2 s less half a second of loading. */
    assert_true(cuzk_proofs_per_minute(&a, true) > 79.9 && cuzk_proofs_per_minute(&a, true) < 80.1);
    assert_true(cuzk_proofs_per_minute(&a, false) > 59.9 &&
                cuzk_proofs_per_minute(&a, false) < 60.1);
    for (size_t i = 0; i < a.n_intervals; i++) {
        if (a.intervals[i].phase == CUZK_PHASE_KEY_LOAD) {
            assert_string_equal(a.intervals[i].detail, "porep-32g");
        }
    }
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static void a_load_ahead_of_need_is_not_blamed(void **state)
{
    (void)state;
    cuzk_record r = {0};
    at(&r, 0, CUZK_EV_SRS_LOAD_START, 0, -1, -1, -1, 0, "next");
    at(&r, 0, CUZK_EV_QUEUED, 1, -1, -1, -1, 1, "");
    at(&r, 0, CUZK_EV_SYNTH_START, 1, 0, 0, -1, 0, "");
    at(&r, 100, CUZK_EV_SYNTH_END, 1, 0, 0, -1, 0, "");
    at(&r, 100, CUZK_EV_GPU_START, 1, 0, 0, 0, 0, "");
    at(&r, 200, CUZK_EV_GPU_END, 1, 0, 0, 0, 0, "");
    at(&r, 300, CUZK_EV_SRS_LOAD_END, 0, -1, -1, -1, 0, "next");
    cuzk_analysis a = analyse(&r, 0, 0);
    check_sums(&a);
    assert_int_equal(idle_of(&a, CUZK_IDLE_SYNTHESIS), 100000);
    assert_int_equal(idle_of(&a, CUZK_IDLE_LOADING), 100000);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static void retries_failures_and_deaths_are_counted_and_end_what_was_open(void **state)
{
    (void)state;
    cuzk_record r = {0};
    at(&r, 0, CUZK_EV_WORKER_START, 0, -1, 0, 0, 4711, "");
    at(&r, 0, CUZK_EV_QUEUED, 1, -1, -1, -1, 2, "");
    at(&r, 0, CUZK_EV_QUEUED, 2, -1, -1, -1, 1, "");
    at(&r, 0, CUZK_EV_CHAN_SEND, 1, 0, 0, -1, 1, "");
    at(&r, 0, CUZK_EV_CHAN_SEND, 1, 1, 0, -1, 2, "");
    at(&r, 10, CUZK_EV_GPU_START, 1, 0, 0, 0, 0, "");
    at(&r, 50, CUZK_EV_WORKER_DEATH, 0, -1, 0, 0, 4711, "killed by signal 9");
    at(&r, 50, CUZK_EV_RETRY, 1, 0, -1, -1, 2, "the worker died");
    at(&r, 80, CUZK_EV_WORKER_START, 0, -1, 0, 0, 4712, "");
    at(&r, 90, CUZK_EV_GPU_START, 1, 1, 0, 0, 0, "");
    at(&r, 120, CUZK_EV_GPU_END, 1, 1, 0, 0, 0, "");
    at(&r, 120, CUZK_EV_CHAN_SEND, 2, 0, 0, -1, 1, "");
    at(&r, 130, CUZK_EV_FAILED, 1, 0, -1, -1, 1, "the proof is wrong");
    at(&r, 140, CUZK_EV_CANCEL, 2, -1, -1, -1, 1, "");
    at(&r, 150, CUZK_EV_EVICT, 0, -1, -1, 0, 100, "c");
    cuzk_analysis a = analyse(&r, 0, 0);
    check_sums(&a);
    assert_int_equal(a.retries, 1);
    assert_int_equal(a.failed, 1);
    assert_int_equal(a.cancelled, 1);
    assert_int_equal(a.done, 0);
    assert_int_equal(a.evictions, 1);
    assert_int_equal(a.devices[0].deaths, 1);
    assert_int_equal(a.devices[0].busy_us, 70000);
    assert_int_equal(idle_of(&a, CUZK_IDLE_WORKER), 30000);
    assert_int_equal(a.phase[CUZK_PHASE_GPU].n, 1); /* the whole one */
    assert_int_equal(count(&a, CUZK_PHASE_GPU), 2);
    assert_int_equal(a.jobs[0].retries, 1);
    assert_int_equal(a.jobs[0].proved, 1);
    assert_string_equal(a.jobs[0].reason, "the proof is wrong");
    assert_int_equal(a.jobs[1].state, CUZK_JOB_CANCELLED);
    /* After the cancel nothing is ready: 140 to 150 is no channel's fault. */
    assert_int_equal(idle_of(&a, CUZK_IDLE_CHANNEL), 10000 + 10000 + 20000);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static void a_record_may_begin_and_end_in_the_middle(void **state)
{
    (void)state;
    pipeline p = {.jobs = 4, .partitions = 3, .synth_ms = 20, .gpu_ms = 30, .slot = 1};
    cuzk_record whole = run_pipeline(&p);
    for (size_t from = 0; from < whole.n; from++) {
        for (size_t to = from; to <= whole.n; to += 3) {
            cuzk_record r = {.events = whole.events + from, .n = to - from};
            cuzk_analysis a = analyse(&r, 0, 0);
            check_sums(&a);
            cuzk_analysis_clear(&a);
        }
    }
    /* Cut while a partition is on the device and another in synthesis. */
    size_t cut = 0;
    while (whole.events[cut].kind != CUZK_EV_GPU_START) {
        cut++;
    }
    cuzk_record r = {.events = whole.events + cut + 1, .n = whole.n - cut - 1};
    cuzk_analysis a = analyse(&r, 0, 0);
    assert_int_equal(a.done, 4);
    assert_true(cuzk_utilisation_all(&a, false) > 0.99);
    assert_true(a.jobs[0].cut);
    bool cut_on_device = false;
    for (size_t i = 0; i < a.n_intervals; i++) {
        cut_on_device |= a.intervals[i].cut && a.intervals[i].phase == CUZK_PHASE_GPU &&
                         a.intervals[i].start_us == r.events[0].t_us;
    }
    assert_true(cut_on_device);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&whole);
}

static void a_window_counts_what_is_in_it(void **state)
{
    (void)state;
    pipeline p = {.jobs = 5, .partitions = 4, .synth_ms = 10, .gpu_ms = 25, .slot = 1};
    cuzk_record r = run_pipeline(&p);
    cuzk_analysis a = analyse(&r, 100, 200);
    check_sums(&a);
    assert_int_equal(a.to_us - a.from_us, 100000);
    assert_int_equal(a.devices[0].busy_us, 100000);
    assert_int_equal(a.done, 1);
    cuzk_analysis later = analyse(&r, 10000, 20000); /* long after */
    check_sums(&later);
    assert_int_equal(later.devices[0].busy_us, 0);
    assert_int_equal(idle_of(&later, CUZK_IDLE_NO_WORK), 10000000);
    assert_int_equal(later.n_intervals, 0);
    assert_int_equal(later.n_jobs, 0);
    cuzk_analysis_clear(&later);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static void what_was_before_the_record_is_not_guessed(void **state)
{
    (void)state;
    pipeline p = {.jobs = 2, .partitions = 1, .synth_ms = 10, .gpu_ms = 25, .slot = 1};
    cuzk_record whole = run_pipeline(&p);
    cuzk_record r = {.events = whole.events + 8, .n = whole.n - 8};
    cuzk_analysis a = analyse(&r, 1, 0);
    check_sums(&a);
    assert_int_equal(a.from_us, r.events[0].t_us); /* not from 1 ms on */
    cuzk_analysis_clear(&a);
    for (size_t i = 0; i < whole.n; i++) {
        whole.events[i].t_us += 50000;
    }
    a = analyse(&whole, 1, 0);
    check_sums(&a);
    assert_int_equal(a.from_us, 1000);
    assert_int_equal(a.gaps[0].cause_us[CUZK_IDLE_NO_WORK], 49000);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&whole);
}

static void events_told_late_are_put_where_they_belong(void **state)
{
    (void)state;
    cuzk_record r = {0};
    at(&r, 0, CUZK_EV_QUEUED, 1, -1, -1, -1, 1, "");
    at(&r, 10, CUZK_EV_CHAN_SEND, 1, 0, 0, -1, 1, "");
    at(&r, 200, CUZK_EV_QUEUED, 2, -1, -1, -1, 1, "");
    at(&r, 20, CUZK_EV_GPU_START, 1, 0, 0, 0, 0, ""); /* a worker process tells both at the end */
    at(&r, 120, CUZK_EV_GPU_END, 1, 0, 0, 0, 0, "");
    cuzk_analysis a = analyse(&r, 0, 0);
    check_sums(&a);
    assert_int_equal(a.devices[0].busy_us, 100000);
    assert_int_equal(a.phase[CUZK_PHASE_CHANNEL].sum_us, 10000);
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static void workers_have_rows_of_their_own(void **state)
{
    (void)state;
    cuzk_record r = {0};
    for (int32_t i = 0; i < 6; i++) {
        at(&r, 10 * (uint64_t)i, CUZK_EV_SYNTH_START, 1, i, (int16_t)(i % 2), -1, 0, "");
        at(&r, 10 * (uint64_t)i + 20, CUZK_EV_SYNTH_END, 1, i, (int16_t)(i % 2), -1, 0, "");
    }
    at(&r, 100, CUZK_EV_SYNTH_START, 2, 0, -1, -1, 0, "");
    at(&r, 101, CUZK_EV_SYNTH_START, 2, 1, -1, -1, 0, "");
    at(&r, 105, CUZK_EV_SYNTH_END, 2, 0, -1, -1, 0, "");
    at(&r, 105, CUZK_EV_SYNTH_END, 2, 1, -1, -1, 0, "");
    cuzk_analysis a = analyse(&r, 0, 0);
    for (size_t i = 0; i < a.n_intervals; i++) {
        const cuzk_interval *x = &a.intervals[i];
        if (x->phase == CUZK_PHASE_SYNTH) {
            assert_int_equal(x->row, x->job == 1 ? x->worker : 2 + x->partition);
        }
    }
    cuzk_analysis_clear(&a);
    cuzk_record_clear(&r);
}

static void any_events_whatever_are_analysed(void **state)
{
    (void)state;
    test_rng g = test_rng_new("test_analysis");
    int rounds = test_is_slow() ? 200 : 2000;
    for (int round = 0; round < rounds; round++) {
        cuzk_record r = {0};
        uint64_t n = test_below(&g, 60), t = 0;
        for (uint64_t i = 0; i < n; i++) {
            t += test_below(&g, 30);
            at(&r, t, (cuzk_event_kind)test_below(&g, CUZK_EV_COUNT), test_below(&g, 4),
               (int32_t)test_below(&g, 4) - 1, (int16_t)((int)test_below(&g, 3) - 1),
               (int16_t)((int)test_below(&g, 3) - 1), (int64_t)test_u64(&g),
               test_below(&g, 2) ? "x" : "");
            r.events[i].seq += test_below(&g, 2);
        }
        uint64_t from = test_below(&g, 2) * test_below(&g, 500);
        cuzk_analysis a = analyse(&r, from, test_below(&g, 2) * test_below(&g, 900));
        check_sums(&a);
        cuzk_analysis_clear(&a);
        cuzk_record_clear(&r);
    }
}

static void more_devices_than_there_can_be_are_refused(void **state)
{
    (void)state;
    cuzk_record r = {0};
    for (int16_t d = 0; d < 257; d++) {
        at(&r, 0, CUZK_EV_WORKER_START, 0, -1, 0, d, 1, "");
    }
    cuzk_analysis a;
    cuzk_err err;
    assert_int_equal(cuzk_analyse(&a, &r, 0, 0, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "the timeline has more than 256 devices");
    cuzk_record_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proof_is_divided_into_its_phases),
        cmocka_unit_test(slot_size_0_shows_as_partitions_that_are_kept_back),
        cmocka_unit_test(a_device_that_is_never_idle_is_what_binds),
        cmocka_unit_test(loads_are_a_cause_of_their_own_and_apart_from_steady_state),
        cmocka_unit_test(a_load_ahead_of_need_is_not_blamed),
        cmocka_unit_test(retries_failures_and_deaths_are_counted_and_end_what_was_open),
        cmocka_unit_test(a_record_may_begin_and_end_in_the_middle),
        cmocka_unit_test(a_window_counts_what_is_in_it),
        cmocka_unit_test(what_was_before_the_record_is_not_guessed),
        cmocka_unit_test(events_told_late_are_put_where_they_belong),
        cmocka_unit_test(workers_have_rows_of_their_own),
        cmocka_unit_test(any_events_whatever_are_analysed),
        cmocka_unit_test(more_devices_than_there_can_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
