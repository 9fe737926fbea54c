#include "observe/live.h"
#include "support/support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_timeline *new_timeline(void)
{
    cuzk_timeline *t;
    cuzk_err err;
    cuzk_timeline_options o = {.ring_log2 = 12};
    assert_int_equal(cuzk_timeline_new(&t, &o, &err), CUZK_OK);
    return t;
}

static json_t *parse(char *text, size_t n)
{
    json_error_t why;
    assert_int_equal(strlen(text), n);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!json) {
        fail_msg("%s in %s", why.text, text);
    }
    free(text);
    return json;
}

static json_t *timeline(cuzk_timeline *t, uint64_t cursor)
{
    char *text;
    size_t n;
    cuzk_err err;
    assert_int_equal(cuzk_live_timeline(&text, &n, t, cursor, &err), CUZK_OK);
    return parse(text, n);
}

static json_int_t number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

static void record_many(cuzk_timeline *t, int n)
{
    for (int i = 0; i < n; i++) {
        cuzk_timeline_record(t, CUZK_EV_EVICT, 0, -1, -1, -1, i, "c");
    }
}

static void following_the_cursor_gives_every_event_once(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline();
    cuzk_timeline_job(t, 1, "an \"id\"", "porep-c2");
    cuzk_timeline_record(t, CUZK_EV_QUEUED, 1, -1, -1, -1, 10, NULL);
    record_many(t, 2499);
    uint64_t cursor = 0, seen = 0;
    for (int answer = 0; answer < 3; answer++) {
        json_t *j = timeline(t, cursor);
        const json_t *e;
        size_t i;
        json_array_foreach(json_object_get(j, "events"), i, e)
        {
            assert_int_equal(number(e, "seq"), seen++);
        }
        if (answer == 0) {
            const json_t *first = json_array_get(json_object_get(j, "events"), 0);
            assert_string_equal(json_string_value(json_object_get(first, "job_id")), "an \"id\"");
        }
        assert_int_equal(number(j, "end"), 2500);
        assert_int_equal(number(j, "lost"), 0);
        assert_true(number(j, "now_us") > 0);
        assert_int_equal(number(j, "epoch_wall_us"), cuzk_timeline_epoch_wall_us(t));
        cursor = (uint64_t)number(j, "next");
        assert_int_equal(cursor, answer == 0 ? 2000 : 2500);
        json_decref(j);
    }
    assert_int_equal(seen, 2500);
    cuzk_timeline_free(t);
}

static void without_a_cursor_the_newest_come(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline();
    json_t *j = timeline(t, CUZK_LIVE_NEWEST);
    assert_int_equal(json_array_size(json_object_get(j, "events")), 0);
    assert_int_equal(number(j, "next"), 0);
    json_decref(j);
    record_many(t, 10000);
    j = timeline(t, CUZK_LIVE_NEWEST);
    assert_int_equal(json_array_size(json_object_get(j, "events")), 2000);
    assert_int_equal(number(j, "next"), 10000);
    json_decref(j);
    j = timeline(t, 1000); /* the ring has 4096 */
    assert_int_equal(number(j, "lost"), 10000 - 4096 - 1000);
    json_decref(j);
    j = timeline(t, 20000); /* of another run */
    assert_int_equal(json_array_size(json_object_get(j, "events")), 0);
    json_decref(j);
    cuzk_timeline_free(t);
}

static void gaps_and_utilisation_come_from_the_one_analysis(void **state)
{
    (void)state;
    cuzk_timeline *t = new_timeline();
    /* Device 0 began 5 ms after the epoch and goes on; device 1 never did anything. */
    uint64_t epoch = cuzk_timeline_epoch_ns(t);
    cuzk_timeline_record_at(t, epoch, CUZK_EV_WORKER_START, 0, -1, 0, 1, 1, NULL);
    cuzk_timeline_record_at(t, epoch, CUZK_EV_QUEUED, 1, -1, -1, -1, 1, NULL);
    cuzk_timeline_record_at(t, epoch, CUZK_EV_SYNTH_START, 1, 0, 0, -1, 0, NULL);
    cuzk_timeline_record_at(t, epoch + 5000000, CUZK_EV_SYNTH_END, 1, 0, 0, -1, 0, NULL);
    cuzk_timeline_record_at(t, epoch + 5000000, CUZK_EV_GPU_START, 1, 0, 0, 0, 0, NULL);
    while (cuzk_timeline_now_us(t) < 10000) {
    }
    json_t *j = timeline(t, 0);
    const json_t *gaps = json_object_get(j, "gaps"), *gap = json_array_get(gaps, 0);
    assert_int_equal(json_array_size(gaps), 2);
    assert_int_equal(number(gap, "device"), 0);
    assert_int_equal(number(gap, "end_us"), 5000);
    assert_string_equal(json_string_value(json_object_get(gap, "cause")), "synthesis");
    json_decref(j);

    char *text;
    size_t n;
    cuzk_err err;
    assert_int_equal(cuzk_live_utilisation(&text, &n, t, &err), CUZK_OK);
    j = parse(text, n);
    const json_t *gpu = json_object_get(j, "gpu"), *first = json_array_get(gpu, 0);
    assert_int_equal(json_array_size(gpu), 2);
    double busy = json_number_value(json_object_get(first, "busy_1m"));
    double idle =
        json_number_value(json_object_get(json_object_get(first, "idle_1m"), "synthesis"));
    assert_true(busy >= 0.45 && busy < 1);
    assert_true(busy + idle > 0.999 && busy + idle < 1.001);
    assert_true(json_number_value(json_object_get(json_array_get(gpu, 1), "busy_10m")) == 0);
    assert_true(json_is_string(json_object_get(j, "verdict")));
    json_decref(j);
    cuzk_timeline_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(following_the_cursor_gives_every_event_once),
        cmocka_unit_test(without_a_cursor_the_newest_come),
        cmocka_unit_test(gaps_and_utilisation_come_from_the_one_analysis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
