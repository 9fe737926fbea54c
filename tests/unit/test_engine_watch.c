#include "support/engine_fixture.h"

#include <stdio.h>
#include <string.h>

#include "base/system.h"

/* Waiting, watching, cancelling, listing. */

static void cancelled(fixture *f, const char *id, bool want_running)
{
    bool running;
    cuzk_err err;
    if (cuzk_engine_cancel(f->e, &running, id, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(running, want_running);
}

static void an_unknown_job_is_not_found(void **state)
{
    (void)state;
    fixture f;
    bool running;
    cuzk_watch *w;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    assert_int_equal(cuzk_engine_cancel(f.e, &running, "nobody", &err), CUZK_E_NOT_FOUND);
    assert_string_equal(err.msg, "job not found: nobody");
    assert_int_equal(cuzk_engine_await(f.e, &w, "nobody", 0, NULL, NULL, &err), CUZK_E_NOT_FOUND);
    assert_int_equal(cuzk_engine_watch(f.e, &w, "nobody", NULL, NULL, &err), CUZK_E_NOT_FOUND);
    assert_int_equal(cuzk_engine_get(f.e, "nobody", NULL, NULL, &err), CUZK_E_NOT_FOUND);
    fixture_clear(&f);
}

static void a_job_is_cancelled_in_every_state(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.slot_size = 2;
    f.config.channel_capacity = 2;
    f.config.max_parallel_synthesis = 1;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "on device", 1, 0, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    fixture_window(&f, "channel", 2, 1, CUZK_PRIORITY_NORMAL);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 3);
    fixture_window(&f, "more", 4, 2, CUZK_PRIORITY_NORMAL);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 5);
    fixture_window(&f, "queued", 1, 3, CUZK_PRIORITY_NORMAL);
    cancelled(&f, "queued", true);
    cancelled(&f, "more", true);
    cancelled(&f, "channel", true);
    cancelled(&f, "on device", true);
    cancelled(&f, "on device", false);
    proving_device_hold(&f.device[0], false, false);
    const char *const all[] = {"queued", "more", "channel", "on device"};
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(fixture_wait(&f, all[i]).view.state, CUZK_JOB_CANCELLED);
    }
    assert_int_equal(fixture_count(&f, CUZK_EV_CANCEL, 0), 4);
    /* Nothing is left behind: there is room for all of it again. */
    fixture_window(&f, "next", 4, 4, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "next");
    cancelled(&f, "next", false);
    assert_int_equal(proving_device_proofs(&f.device[0]), 5);
    cuzk_engine_snapshot *s;
    assert_int_equal(cuzk_engine_status(f.e, &s, NULL), CUZK_OK);
    assert_int_equal(s->counters.cancelled, 4);
    assert_int_equal(s->buffers.statement_bytes, 0);
    assert_int_equal(s->buffers.witness_bytes, 0);
    assert_int_equal(s->buffers.channel + s->buffers.held, 0);
    cuzk_engine_status_free(s);
    fixture_clear(&f);
}

typedef struct seen {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    unsigned calls, ends; /* guarded by mu, as is what follows */
    bool timed_out;
    cuzk_job_state last;
    uint32_t most_done;
} seen;

#define SEEN                                                                                       \
    {                                                                                              \
        .mu = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER                          \
    }

static void see(void *ctx, const cuzk_job_view *view)
{
    seen *s = ctx;
    pthread_mutex_lock(&s->mu);
    s->calls++;
    s->ends += view->state >= CUZK_JOB_DONE;
    s->timed_out = view->timed_out;
    s->last = view->state;
    assert_true(view->partitions_done >= s->most_done);
    s->most_done = view->partitions_done;
    pthread_cond_broadcast(&s->cond);
    pthread_mutex_unlock(&s->mu);
}

static void wait_calls(seen *s, unsigned n)
{
    pthread_mutex_lock(&s->mu);
    while (s->calls < n) {
        pthread_cond_wait(&s->cond, &s->mu);
    }
    pthread_mutex_unlock(&s->mu);
}

static void a_wait_ends_when_its_time_is_over_and_the_job_goes_on(void **state)
{
    (void)state;
    fixture f;
    seen s = SEEN, other = SEEN;
    cuzk_watch *w, *w2;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL);
    uint64_t start = cuzk_clock_ns();
    assert_int_equal(cuzk_engine_await(f.e, &w2, "job", 60000, see, &other, &err), CUZK_OK);
    assert_int_equal(cuzk_engine_await(f.e, &w, "job", 50, see, &s, &err), CUZK_OK);
    wait_calls(&s, 1);
    assert_true(cuzk_clock_ns() - start >= 50000000);
    assert_true(s.timed_out);
    assert_int_equal(s.ends, 0);
    cuzk_engine_unwatch(f.e, w);
    proving_device_hold(&f.device[0], false, false);
    wait_calls(&other, 1);
    assert_false(other.timed_out);
    assert_int_equal(other.last, CUZK_JOB_DONE);
    cuzk_engine_unwatch(f.e, w2);
    assert_int_equal(s.calls, 1);
    fixture_clear(&f);
}

static void a_watch_sees_progress_and_the_end(void **state)
{
    (void)state;
    fixture f;
    seen s = SEEN;
    cuzk_watch *w;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "job", 3, 0, CUZK_PRIORITY_NORMAL);
    assert_int_equal(cuzk_engine_watch(f.e, &w, "job", see, &s, &err), CUZK_OK);
    wait_calls(&s, 1);
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "job");
    pthread_mutex_lock(&s.mu);
    while (s.ends == 0) {
        pthread_cond_wait(&s.cond, &s.mu);
    }
    pthread_mutex_unlock(&s.mu);
    cuzk_engine_unwatch(f.e, w);
    assert_int_equal(s.ends, 1);
    assert_int_equal(s.most_done, 3);
    fixture_clear(&f);
}

static void a_watch_that_was_given_up_is_not_called(void **state)
{
    (void)state;
    fixture f;
    seen s = SEEN;
    cuzk_watch *w;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL);
    assert_int_equal(cuzk_engine_await(f.e, &w, "job", 60000, see, &s, &err), CUZK_OK);
    cuzk_engine_unwatch(f.e, w);
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "job");
    assert_int_equal(s.calls, 0);
    cuzk_engine_unwatch(f.e, NULL);
    fixture_clear(&f);
}

typedef struct listed {
    char ids[512];
    unsigned n;
} listed;

static void list_one(void *ctx, const cuzk_job_view *view)
{
    listed *l = ctx;
    size_t at = strlen(l->ids);
    snprintf(l->ids + at, sizeof l->ids - at, "%s ", view->job_id); /* as far as there is room */
    l->n++;
}

static void jobs_are_listed_by_pages_newest_first(void **state)
{
    (void)state;
    fixture f;
    listed l = {.n = 0};
    cuzk_err err;
    uint64_t next = 0;
    fixture_init(&f);
    fixture_open(&f);
    for (unsigned i = 0; i < 5; i++) {
        char id[4] = {(char)('a' + i), 0};
        fixture_window(&f, id, 1, i, CUZK_PRIORITY_NORMAL);
        fixture_done(&f, id);
    }
    unsigned pages = 0;
    do {
        assert_int_equal(cuzk_engine_list(f.e, &next, -1, next, 2, list_one, &l, &err), CUZK_OK);
        pages++;
    } while (next);
    assert_string_equal(l.ids, "e d c b a ");
    assert_int_equal(pages, 3);
    l = (listed){.n = 0};
    assert_int_equal(cuzk_engine_list(f.e, &next, CUZK_JOB_FAILED, 0, 100, list_one, &l, &err),
                     CUZK_OK);
    assert_int_equal(l.n, 0);
    fixture_clear(&f);
}

static void an_ended_job_is_kept_for_its_time_and_no_longer(void **state)
{
    (void)state;
    fixture f;
    cuzk_err err;
    fixture_init(&f);
    f.config.keep_results_ms = 1500;
    fixture_open(&f);
    fixture_window(&f, "job", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    uint64_t ended = cuzk_clock_ns();
    listed l = {.n = 0};
    assert_int_equal(cuzk_engine_get(f.e, "job", list_one, &l, &err), CUZK_OK);
    while (cuzk_engine_get(f.e, "job", list_one, &l, &err) == CUZK_OK) {
        /* Something to wait for that is no sleep: jobs that take their time. */
        char id[32];
        snprintf(id, sizeof id, "%u", l.n);
        fixture_window(&f, id, 1, l.n, CUZK_PRIORITY_NORMAL);
        fixture_done(&f, id);
        assert_true(cuzk_clock_ns() - ended < 60000000000u);
    }
    assert_true(cuzk_clock_ns() - ended > 1000000000);
    assert_int_equal(err.code, CUZK_E_NOT_FOUND);
    fixture_clear(&f);
}

static void status_shows_what_goes_on(void **state)
{
    (void)state;
    fixture f;
    cuzk_engine_snapshot *s;
    cuzk_err err;
    fixture_init(&f);
    f.config.channel_capacity = 1;
    f.config.max_parallel_synthesis = 1;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "running", 4, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "waiting", 2, 1, CUZK_PRIORITY_LOW);
    proving_device_wait(&f.device[0], 1);
    fixture_wait_events(&f, CUZK_EV_CHAN_SEND, 3);
    assert_int_equal(cuzk_engine_status(f.e, &s, &err), CUZK_OK);
    assert_int_equal(s->n_pipelines, 1);
    assert_string_equal(s->pipelines[0].job_id, "running");
    assert_int_equal(s->pipelines[0].partitions[0].state, CUZK_PARTITION_GPU);
    assert_int_equal(s->pipelines[0].partitions[1].state, CUZK_PARTITION_SYNTH_DONE);
    assert_int_equal(s->pipelines[0].partitions[3].state, CUZK_PARTITION_PENDING);
    assert_int_equal(s->n_waiting, 1);
    assert_string_equal(s->waiting[0].job_id, "waiting");
    assert_int_equal(s->queues[CUZK_JOB_WINDOW - 1].pending, 1);
    assert_int_equal(s->queues[CUZK_JOB_WINDOW - 1].in_progress, 1);
    assert_int_equal(s->n_workers, 1);
    assert_true(s->workers[0].proving);
    assert_string_equal(s->workers[0].job_id, "running");
    assert_int_equal(s->n_keys, 1);
    assert_string_equal(s->keys[0].circuit, "window-2KiB");
    assert_int_equal(s->keys[0].tier, CUZK_KEY_HOT);
    assert_int_equal(s->keys[0].refs, 1);
    assert_false(s->keys[0].evictable);
    assert_int_equal(s->memory[CUZK_MEMORY_DEVICE].used, (16 << 20) + (1 << 20));
    assert_int_equal(s->buffers.channel, 2);
    assert_int_equal(s->buffers.provers_in_flight, 1);
    assert_true(s->buffers.witness_bytes > 0);
    assert_int_equal(s->counters.queue_depth, 1);
    cuzk_engine_status_free(s);
    proving_device_hold(&f.device[0], false, false);
    fixture_done(&f, "waiting");
    assert_int_equal(cuzk_engine_status(f.e, &s, &err), CUZK_OK);
    assert_int_equal(s->counters.completed_by_kind[CUZK_JOB_WINDOW], 2);
    assert_int_equal(s->n_pipelines, 2);
    assert_int_equal(s->devices[0].partitions, 6);
    assert_true(s->devices[0].utilisation > 0 && s->devices[0].utilisation <= 1);
    assert_int_equal(s->memory[CUZK_MEMORY_DEVICE].used, 16 << 20);
    cuzk_engine_status_free(s);
    fixture_clear(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_unknown_job_is_not_found),
    cmocka_unit_test(a_job_is_cancelled_in_every_state),
    cmocka_unit_test(a_wait_ends_when_its_time_is_over_and_the_job_goes_on),
    cmocka_unit_test(a_watch_sees_progress_and_the_end),
    cmocka_unit_test(a_watch_that_was_given_up_is_not_called),
    cmocka_unit_test(jobs_are_listed_by_pages_newest_first),
    cmocka_unit_test(an_ended_job_is_kept_for_its_time_and_no_longer),
    cmocka_unit_test(status_shows_what_goes_on),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
