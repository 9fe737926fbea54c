#include "base/system.h"
#include "observe/timeline.h"
#include "support/support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static cuzk_timeline *new_timeline(unsigned ring_log2, cuzk_timeline_sink *sink, void *ctx)
{
    cuzk_timeline *t;
    cuzk_err err;
    cuzk_timeline_options o = {
        .ring_log2 = ring_log2, .max_jobs = 16, .sink = sink, .sink_ctx = ctx};
    assert_int_equal(cuzk_timeline_new(&t, &o, &err), CUZK_OK);
    return t;
}

static void an_event_comes_back_as_it_was_recorded(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline(4, NULL, NULL);
    uint64_t before = cuzk_timeline_now_us(t);
    cuzk_timeline_record(t, CUZK_EV_RETRY, UINT64_MAX, INT32_MAX, INT16_MAX, 3, INT64_MIN,
                         "a reason that is longer than the forty bytes there are");
    cuzk_timeline_record(t, CUZK_EV_DONE, 0, -1, -1, -1, -5, NULL);
    cuzk_timeline_record_at(t, cuzk_timeline_epoch_ns(t) + 77000, CUZK_EV_EVICT, 9, 0, 0, 0, 0,
                            "twelve bytes");
    uint64_t after = cuzk_timeline_now_us(t);
    cuzk_event e[4];
    uint64_t cursor = 0, lost = 0;
    assert_int_equal(cuzk_timeline_read(t, &cursor, 0, e, 4, &lost), 3);
    assert_int_equal(cursor, 3);
    assert_int_equal(lost, 0);
    assert_int_equal(e[0].seq, 0);
    assert_true(e[0].t_us >= before && e[1].t_us >= e[0].t_us && e[1].t_us <= after);
    assert_int_equal(e[0].kind, CUZK_EV_RETRY);
    assert_true(e[0].job == UINT64_MAX && e[0].value == INT64_MIN);
    assert_int_equal(e[0].partition, INT32_MAX);
    assert_int_equal(e[0].worker, INT16_MAX);
    assert_int_equal(e[0].device, 3);
    assert_string_equal(e[0].detail, "a reason that is longer than the forty ");
    assert_int_equal(e[1].partition, -1);
    assert_int_equal(e[1].worker, -1);
    assert_int_equal(e[1].device, -1);
    assert_true(e[1].value == -5);
    assert_string_equal(e[1].detail, "");
    assert_int_equal(e[2].t_us, 77);
    assert_string_equal(e[2].detail, "twelve bytes");
    cuzk_timeline_free(t);
    cuzk_timeline_record(NULL, CUZK_EV_DONE, 0, -1, -1, -1, 0, NULL);
}

static void a_slow_reader_is_told_what_it_missed(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline(4, NULL, NULL);
    for (int i = 0; i < 100; i++) {
        cuzk_timeline_record(t, CUZK_EV_SYNTH_START, 1 + (uint64_t)i % 2, i, 0, 0, i,
                             i % 3 ? "long detail" : "");
    }
    cuzk_event e[16];
    uint64_t cursor = 10, lost = 5;
    assert_int_equal(cuzk_timeline_read(t, &cursor, 0, e, 4, &lost), 4);
    assert_int_equal(lost, 5 + 74);
    assert_int_equal(cursor, 88);
    assert_int_equal(e[0].seq, 84);
    assert_int_equal(cuzk_timeline_read(t, &cursor, 2, e, 16, &lost), 6);
    assert_int_equal(lost, 79);
    assert_int_equal(cursor, 100);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(e[i].seq, 89 + 2 * i);
        assert_int_equal(e[i].value, 89 + 2 * i);
        assert_string_equal(e[i].detail, e[i].seq % 3 ? "long detail" : "");
    }
    assert_int_equal(cuzk_timeline_read(t, &cursor, 0, e, 16, &lost), 0);
    cuzk_timeline_free(t);
}

/* Threads that record as fast as they can. Every field of an event follows from its job (the
 * thread) and its number, so that a torn event shows. */
enum { THREADS = 8 };

typedef struct writer {
    cuzk_timeline *t;
    uint64_t number; /* of the thread, from 1 */
    uint64_t events;
} writer;

static void expected_detail(char out[CUZK_EVENT_DETAIL], uint64_t job, uint64_t i)
{
    size_t n = i % 32;
    for (size_t k = 0; k < n; k++) {
        out[k] = (char)('a' + (job * 7 + i + k) % 26);
    }
    out[n] = 0;
}

static void write_event(const writer *w, uint64_t i)
{
    char detail[CUZK_EVENT_DETAIL];
    expected_detail(detail, w->number, i);
    cuzk_timeline_record(w->t, (cuzk_event_kind)(i % CUZK_EV_COUNT), w->number, (int32_t)i,
                         (int16_t)(i % 1000), (int16_t)w->number,
                         (int64_t)(i * 0x9e3779b97f4a7c15u ^ w->number), detail);
}

static void *write_events(void *arg)
{
    const writer *w = arg;
    for (uint64_t i = 0; i < w->events; i++) {
        write_event(w, i);
    }
    return NULL;
}

static void check_event(const cuzk_event *e)
{
    uint64_t i = (uint64_t)e->partition;
    char detail[CUZK_EVENT_DETAIL];
    expected_detail(detail, e->job, i);
    assert_in_range(e->job, 1, THREADS);
    assert_int_equal(e->kind, i % CUZK_EV_COUNT);
    assert_int_equal(e->worker, i % 1000);
    assert_int_equal(e->device, e->job);
    assert_true(e->value == (int64_t)(i * 0x9e3779b97f4a7c15u ^ e->job));
    assert_string_equal(e->detail, detail);
}

/* Threads write, this one reads: all that it can get, at once, or after each wait. */
static void write_and_check(unsigned ring_log2, uint64_t each, bool wait)
{
    cuzk_timeline *t = new_timeline(ring_log2, NULL, NULL);
    pthread_t threads[THREADS];
    writer writers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        writers[i] = (writer){t, i + 1, each};
        assert_int_equal(pthread_create(&threads[i], NULL, write_events, &writers[i]), 0);
    }
    uint64_t cursor = 0, lost = 0, got = 0, last_of[THREADS + 1] = {0}, last_seq = 0;
    cuzk_event *e = malloc(256 * sizeof *e);
    assert_non_null(e);
    while (got + lost < each * THREADS) {
        size_t n = cuzk_timeline_read(t, &cursor, 0, e, 256, &lost);
        for (size_t i = 0; i < n; i++) {
            check_event(&e[i]);
            assert_true(got + i == 0 || e[i].seq > last_seq);
            last_seq = e[i].seq;
            assert_true(last_of[e[i].job] <= (uint64_t)e[i].partition); /* each thread's order */
            last_of[e[i].job] = (uint64_t)e[i].partition + 1;
        }
        got += n;
        assert_int_equal(cursor, got + lost);
        if (wait) {
            cuzk_timeline_wait(t, cursor, 1000);
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(cuzk_timeline_next(t), each * THREADS);
    assert_true(got > 0);
    print_message("%llu events, %llu overwritten\n", (unsigned long long)got,
                  (unsigned long long)lost);
    free(e);
    cuzk_timeline_free(t);
}

static void events_from_many_threads_are_whole_in_order_and_accounted_for(void **state)
{
    (void)state;
    write_and_check(10, test_is_slow() ? 20000 : 300000, true);
}

/* What a signal's handler does to the thread that it interrupts, in the middle of recording or of
 * reading: it records more events than the ring holds. */
static struct {
    cuzk_timeline *t;
    uint64_t events[THREADS + 1]; /* recorded, by job */
    volatile sig_atomic_t signals;
} interrupted;

static void record_next(uint64_t job)
{
    writer w = {interrupted.t, job, 0};
    write_event(&w, interrupted.events[job]++);
}

static void record_in_handler(int number)
{
    (void)number;
    interrupted.signals++;
    for (int i = 0; i < 5; i++) {
        record_next(1);
    }
}

static void alarm_every(long us)
{
    struct itimerval every = {{0, us}, {0, us}};
    assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static void a_thread_that_is_interrupted_neither_tears_nor_loses_unsaid(void **state)
{
    (void)state;
    sigset_t alarm_set;
    sigemptyset(&alarm_set);
    sigaddset(&alarm_set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_set, NULL); /* not for the timeline's own thread */
    memset(&interrupted, 0, sizeof interrupted);
    interrupted.t = new_timeline(2, NULL, NULL);
    struct sigaction action = {.sa_handler = record_in_handler, .sa_flags = SA_RESTART}, before;
    sigaction(SIGALRM, &action, &before);
    pthread_sigmask(SIG_UNBLOCK, &alarm_set, NULL);
    alarm_every(40);
    uint64_t cursor = 0, lost = 0, got = 0;
    int rounds = test_is_slow() ? 300000 : 10000000;
    for (int i = 0; i < rounds && interrupted.signals < 5000; i++) {
        cuzk_event e[4];
        record_next(2);
        int signals = interrupted.signals;
        size_t n = cuzk_timeline_read(interrupted.t, &cursor, 0, e, 4, &lost);
        for (size_t k = 0; k < n; k++) {
            check_event(&e[k]);
        }
        got += n;
        assert_int_equal(cursor, got + lost);
        uint64_t next = cuzk_timeline_next(interrupted.t);
        assert_true(interrupted.signals != signals || cursor == next); /* nothing hangs unwritten */
    }
    alarm_every(0);
    sigaction(SIGALRM, &before, NULL);
    print_message("%d signals, %llu events, %llu lost\n", (int)interrupted.signals,
                  (unsigned long long)got, (unsigned long long)lost);
    cuzk_event e[4];
    got += cuzk_timeline_read(interrupted.t, &cursor, 0, e, 4, &lost);
    assert_int_equal(cuzk_timeline_next(interrupted.t), got + lost);
    assert_int_equal(interrupted.events[1] + interrupted.events[2], got + lost);
    cuzk_timeline_free(interrupted.t);
}

static void nothing_is_lost_when_the_ring_holds_it_all(void **state)
{
    (void)state;
    uint64_t each = 8000;
    cuzk_timeline *t = new_timeline(16, NULL, NULL);
    pthread_t threads[THREADS];
    writer writers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        writers[i] = (writer){t, i + 1, each};
        assert_int_equal(pthread_create(&threads[i], NULL, write_events, &writers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    cuzk_event *e = malloc(each * THREADS * sizeof *e);
    assert_non_null(e);
    uint64_t cursor = 0, lost = 0;
    assert_int_equal(cuzk_timeline_read(t, &cursor, 0, e, each * THREADS, &lost), each * THREADS);
    assert_int_equal(lost, 0);
    for (size_t i = 0; i < each * THREADS; i++) {
        assert_int_equal(e[i].seq, i);
        check_event(&e[i]);
    }
    free(e);
    cuzk_timeline_free(t);
}

/* What a sink was given, line by line. */
typedef struct lines {
    size_t n;
    char text[64][CUZK_EVENT_JSON_MAX];
} lines;

static void keep_line(void *ctx, const char *json, size_t n)
{
    lines *l = ctx;
    assert_int_equal(strlen(json), n);
    if (l->n < 64) {
        memcpy(l->text[l->n], json, n + 1);
    }
    l->n++;
}

static void every_event_goes_to_the_sink_as_one_line(void **state)
{
    (void)state;
    lines *l = calloc(1, sizeof *l);
    assert_non_null(l);
    cuzk_timeline *t = new_timeline(6, keep_line, l);
    cuzk_timeline_job(t, 7, "porep-1000-\"1\"\n<\xff", "porep-c2");
    cuzk_timeline_record_at(t, cuzk_timeline_epoch_ns(t) + 5000, CUZK_EV_GPU_END, 7, 0, 1, 0, 31982,
                            "d");
    cuzk_timeline_record_at(t, cuzk_timeline_epoch_ns(t) + 6000, CUZK_EV_EVICT, 0, -1, -1, -1, 0,
                            NULL);
    cuzk_timeline_flush(t);
    assert_int_equal(l->n, 3);
    char want[200];
    snprintf(want, sizeof want, "{\"target\":\"TIMELINE\",\"epoch_wall_us\":%llu}",
             (unsigned long long)cuzk_timeline_epoch_wall_us(t));
    assert_string_equal(l->text[0], want);
    assert_string_equal(l->text[1],
                        "{\"target\":\"TIMELINE\",\"seq\":0,\"t_us\":5,\"event\":\"GPU_END\","
                        "\"job\":7,\"job_id\":\"porep-1000-\\\"1\\\"\\u000a\\u003c\\ufffd\","
                        "\"proof_kind\":\"porep-c2\",\"partition\":0,\"worker\":1,\"device\":0,"
                        "\"value\":31982,\"detail\":\"d\"}");
    assert_string_equal(l->text[2],
                        "{\"target\":\"TIMELINE\",\"seq\":1,\"t_us\":6,\"event\":\"EVICT\"}");
    cuzk_timeline_record(t, CUZK_EV_DONE, 7, -1, -1, -1, 1, NULL);
    cuzk_timeline_free(t); /* drains */
    assert_int_equal(l->n, 4);
    free(l);
}

static void the_longest_event_fits_its_line(void **state)
{
    (void)state;
    cuzk_event e = {
        UINT64_MAX, UINT64_MAX, UINT64_MAX, INT32_MAX, INT16_MAX, INT16_MAX, CUZK_EV_SRS_LOAD_START,
        INT64_MIN,  ""};
    cuzk_job_name name = {.number = UINT64_MAX};
    memset(e.detail, 1, sizeof e.detail - 1);
    memset(name.id, 0xff, sizeof name.id - 1);
    memset(name.kind, 2, sizeof name.kind - 1);
    char *buf = malloc(CUZK_EVENT_JSON_MAX); /* a sanitizer watches its end */
    assert_non_null(buf);
    size_t n = cuzk_event_json(buf, &e, &name);
    assert_in_range(n, 1500, CUZK_EVENT_JSON_MAX - 1);
    assert_int_equal(strlen(buf), n);
    free(buf);
}

static void job_names_are_kept_for_the_latest_jobs(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline(4, NULL, NULL); /* 16 names */
    cuzk_job_name name;
    for (uint64_t i = 1; i <= 20; i++) {
        char id[CUZK_JOB_ID + 50];
        snprintf(id, sizeof id, "%0*d", (int)(i == 20 ? sizeof id - 1 : 5), (int)i);
        cuzk_timeline_job(t, i, id, i == 19 ? "a-kind-with-a-rather-long-name" : "snap-update");
    }
    assert_false(cuzk_timeline_job_name(t, 0, &name));
    assert_false(cuzk_timeline_job_name(t, 4, &name));
    assert_true(cuzk_timeline_job_name(t, 5, &name));
    assert_string_equal(name.id, "00005");
    assert_true(cuzk_timeline_job_name(t, 19, &name));
    assert_string_equal(name.kind, "a-kind-with-a-rather-lo");
    assert_true(cuzk_timeline_job_name(t, 20, &name));
    assert_int_equal(strlen(name.id), CUZK_JOB_ID - 1);
    cuzk_timeline_job(t, 4, "late", "porep-c2");
    assert_false(cuzk_timeline_job_name(t, 4, &name));
    assert_true(cuzk_timeline_job_name(t, 20, &name));
    cuzk_timeline_free(t);
}

static void waiting_ends_with_an_event_or_after_its_time(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline(4, NULL, NULL);
    assert_false(cuzk_timeline_wait(t, 0, 1));
    cuzk_timeline_record(t, CUZK_EV_DONE, 1, -1, -1, -1, 0, NULL);
    assert_true(cuzk_timeline_wait(t, 0, 0));
    assert_false(cuzk_timeline_wait(t, 1, 1));
    pthread_t thread;
    writer w = {t, 1, 1};
    assert_int_equal(pthread_create(&thread, NULL, write_events, &w), 0);
    assert_true(cuzk_timeline_wait(t, 1, 60000));
    pthread_join(thread, NULL);
    cuzk_timeline_free(t);
}

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void recording_an_event_takes_less_than_a_microsecond(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline(16, NULL, NULL);
    uint64_t best = UINT64_MAX;
    enum { EVENTS = 20000 };
    for (int repeat = 0; repeat < 15; repeat++) {
        uint64_t start = thread_ns();
        for (int i = 0; i < EVENTS; i++) {
            cuzk_timeline_record(t, CUZK_EV_GPU_START, 1, i, 0, 0, i, "a detail");
        }
        uint64_t took = thread_ns() - start;
        best = took < best ? took : best;
    }
    print_message("%.0f ns an event\n", (double)best / EVENTS);
    assert_true(best / EVENTS < (test_is_slow() ? 20000 : 1000));
    cuzk_timeline_free(t);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    cuzk_timeline *t = NULL;
    cuzk_err err;
    cuzk_timeline_options o = {.ring_log2 = 25};
    assert_int_equal(cuzk_timeline_new(&t, &o, &err), CUZK_E_ARG);
    assert_null(t);
    assert_string_equal(err.msg, "a timeline of 2^25 events: at most 2^24");
    assert_int_equal(cuzk_timeline_new(&t, NULL, &err), CUZK_OK);
    cuzk_timeline_free(t);
    cuzk_timeline_free(NULL);
    assert_string_equal(cuzk_event_name(CUZK_EV_PCE_LOAD_END), "PCE_LOAD_END");
    assert_string_equal(cuzk_event_name(CUZK_EV_COUNT), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_comes_back_as_it_was_recorded),
        cmocka_unit_test(a_slow_reader_is_told_what_it_missed),
        cmocka_unit_test(events_from_many_threads_are_whole_in_order_and_accounted_for),
        cmocka_unit_test(a_thread_that_is_interrupted_neither_tears_nor_loses_unsaid),
        cmocka_unit_test(nothing_is_lost_when_the_ring_holds_it_all),
        cmocka_unit_test(every_event_goes_to_the_sink_as_one_line),
        cmocka_unit_test(the_longest_event_fits_its_line),
        cmocka_unit_test(job_names_are_kept_for_the_latest_jobs),
        cmocka_unit_test(waiting_ends_with_an_event_or_after_its_time),
        cmocka_unit_test(recording_an_event_takes_less_than_a_microsecond),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
