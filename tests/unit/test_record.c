#include "observe/record.h"
#include "support/support.h"
#include "support/timelines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_span span_of(const char *s) { return (cuzk_span){(const uint8_t *)s, strlen(s)}; }

static cuzk_record parse(const char *text)
{
    cuzk_record r;
    cuzk_err err;
    cuzk_code code = cuzk_record_parse(&r, span_of(text), "log", &err);
    if (code != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return r;
}

static void assert_same_events(const cuzk_record *a, const cuzk_record *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        const cuzk_event *x = &a->events[i], *y = &b->events[i];
        assert_true(x->seq == y->seq && x->t_us == y->t_us && x->job == y->job);
        assert_true(x->partition == y->partition && x->worker == y->worker);
        assert_true(x->device == y->device && x->kind == y->kind && x->value == y->value);
        assert_string_equal(x->detail, y->detail);
    }
    assert_int_equal(a->n_jobs, b->n_jobs);
    for (size_t i = 0; i < a->n_jobs; i++) {
        assert_true(a->jobs[i].number == b->jobs[i].number);
        assert_string_equal(a->jobs[i].id, b->jobs[i].id);
        assert_string_equal(a->jobs[i].kind, b->jobs[i].kind);
    }
    assert_true(a->lost == b->lost && a->epoch_wall_us == b->epoch_wall_us);
}

static void a_record_that_was_written_reads_back_the_same(void **state)
{
    (void)state;
    pipeline p = {.jobs = 5, .partitions = 3, .synth_ms = 10, .gpu_ms = 7, .slot = 2};
    cuzk_record r = run_pipeline(&p);
    r.lost = 17;
    cuzk_job_name odd = {9, "an id with \"quotes\", \\, \n and \xc3\xa9", "kind\t"};
    assert_int_equal(cuzk_record_name(&r, &odd, NULL), CUZK_OK);
    at(&r, 999, CUZK_EV_FAILED, 9, 2, 3, 4, INT64_MIN, "</script>\x01 \xe2\x82\xac");
    at(&r, 1000, CUZK_EV_RETRY, INT64_MAX, INT32_MAX, INT16_MAX, INT16_MAX, INT64_MAX, "");
    char *text;
    size_t n;
    cuzk_err err;
    assert_int_equal(cuzk_record_format(&r, &text, &n, &err), CUZK_OK);
    assert_int_equal(strlen(text), n);
    cuzk_record back = parse(text);
    assert_same_events(&r, &back);
    /* Each line is what another reader of JSON takes, too. */
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_error_t why;
        json_t *json = json_loads(line, JSON_REJECT_DUPLICATES, &why);
        assert_non_null(json);
        assert_string_equal(json_string_value(json_object_get(json, "target")), "TIMELINE");
        json_decref(json);
    }
    free(text);
    cuzk_record_clear(&back);
    cuzk_record_clear(&r);
}

static void a_running_timeline_gives_the_same_record_as_its_log(void **state)
{
    (void)state;
    cuzk_timeline *t;
    cuzk_err err;
    assert_int_equal(cuzk_timeline_new(&t, NULL, &err), CUZK_OK);
    for (uint64_t job = 3; job > 0; job--) { /* names are sorted, whatever their order */
        cuzk_timeline_job(t, job, job == 2 ? "two" : "another", "snap-update");
        cuzk_timeline_record(t, CUZK_EV_QUEUED, job, -1, -1, -1, 1, NULL);
    }
    cuzk_record r, back;
    assert_int_equal(cuzk_record_take(&r, t, 0, &err), CUZK_OK);
    assert_int_equal(r.n, 3);
    assert_string_equal(cuzk_record_job(&r, 2)->id, "two");
    assert_null(cuzk_record_job(&r, 4));
    char *text;
    size_t n;
    assert_int_equal(cuzk_record_format(&r, &text, &n, &err), CUZK_OK);
    back = parse(text);
    assert_same_events(&r, &back);
    free(text);
    cuzk_record_clear(&back);
    cuzk_record_clear(&r);
    assert_int_equal(cuzk_record_take(&r, t, 2, &err), CUZK_OK);
    assert_int_equal(r.n, 1);
    cuzk_record_clear(&r);
    cuzk_timeline_free(t);
}

static void what_the_ring_has_lost_is_counted_from_the_cursor(void **state)
{
    (void)state;
    cuzk_timeline *t;
    cuzk_err err;
    cuzk_timeline_options o = {.ring_log2 = 4};
    assert_int_equal(cuzk_timeline_new(&t, &o, &err), CUZK_OK);
    for (int i = 0; i < 100; i++) {
        cuzk_timeline_record(t, CUZK_EV_EVICT, 0, -1, -1, -1, i, NULL);
    }
    static const struct {
        uint64_t cursor, n, lost;
    } cases[] = {{0, 16, 0}, {10, 16, 74}, {84, 16, 0}, {95, 5, 0}, {100, 0, 0}, {200, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_record r;
        assert_int_equal(cuzk_record_take(&r, t, cases[i].cursor, &err), CUZK_OK);
        assert_int_equal(r.n, cases[i].n);
        assert_int_equal(r.lost, cases[i].lost);
        cuzk_record_clear(&r);
    }
    cuzk_timeline_free(t);
}

static void other_lines_of_a_log_are_passed_over(void **state)
{
    (void)state;
    cuzk_record r = parse(
        "cuzk-daemon 0.1.0\n"
        "{\"t\":\"2026\",\"level\":\"info\",\"target\":\"engine\",\"msg\":\"TIMELINE\"}\n"
        "{\"target\":7}\n[1,2]\n{broken\n\n{}\n"
        "Nov 30 host cuzk[1]: {\"level\":\"info\",\"target\":\"TIMELINE\",\"t_us\":5,\"seq\":1,"
        "\"event\":\"DONE\",\"job\":3,\"more\":{\"a\":[1]}}\r\n"
        "{\"target\":\"TIMELINE\",\"t_us\":9,\"seq\":2,\"event\":\"SOMETHING_NEW\"}\n"
        "{\"target\":\"TIMELINE\",\"t_us\":4,\"seq\":0,\"event\":\"QUEUED\",\"job\":3,"
        "\"partition\":-1}\n"
        "{\"target\":\"TIMELINE\",\"lost\":4}\n"
        "{\"target\":\"TIMELINE\",\"lost\":5}\n"
        "{\"target\":\"TIMELINE\",\"seq\":3,\"t_us\":12,\"event\":\"DO");
    assert_int_equal(r.n, 2);
    assert_int_equal(r.events[0].kind, CUZK_EV_QUEUED); /* by seq */
    assert_int_equal(r.events[1].kind, CUZK_EV_DONE);
    assert_int_equal(r.events[1].t_us, 5);
    assert_int_equal(r.events[1].worker, -1);
    assert_int_equal(r.lost, 9);
    assert_int_equal(r.epoch_wall_us, 0);
    cuzk_record_clear(&r);
}

static void the_latest_run_in_a_log_counts(void **state)
{
    (void)state;
    cuzk_record r = parse("{\"target\":\"TIMELINE\",\"epoch_wall_us\":100}\n"
                          "{\"target\":\"TIMELINE\",\"seq\":0,\"t_us\":1,\"event\":\"QUEUED\","
                          "\"job\":1,\"job_id\":\"old\",\"proof_kind\":\"k\"}\n"
                          "{\"target\":\"TIMELINE\",\"epoch_wall_us\":200}\n"
                          "{\"target\":\"TIMELINE\",\"seq\":0,\"t_us\":2,\"event\":\"QUEUED\","
                          "\"job\":1,\"job_id\":\"new\",\"proof_kind\":\"k\"}\n");
    assert_int_equal(r.n, 1);
    assert_int_equal(r.epoch_wall_us, 200);
    assert_string_equal(cuzk_record_job(&r, 1)->id, "new");
    cuzk_record_clear(&r);
}

static void malformed_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *member, *want;
    } cases[] = {
        {"\"t_us\":-1", "offset 28"},
        {"\"t_us\":1.5", "offset"},
        {"\"partition\":2147483648", "expected -1 to 2147483647, found 2147483648"},
        {"\"partition\":-2", "expected -1 to 2147483647, found -2"},
        {"\"worker\":40000", "expected -1 to 32767, found 40000"},
        {"\"device\":1e3", "expected an integer, found 1e3"},
        {"\"value\":9223372036854775808", "found 9223372036854775808"},
        {"\"value\":\"9\"", "offset"},
        {"\"job_id\":7", "offset"},
        {"\"event\":null", "offset"},
        {"\"seq\":18446744073709551616", "offset"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[300];
        snprintf(text, sizeof text, "first\n{\"target\":\"TIMELINE\",%s}\n", cases[i].member);
        cuzk_record r = {.n = 77};
        cuzk_err err;
        assert_int_equal(cuzk_record_parse(&r, span_of(text), "a.log", &err), CUZK_E_INPUT);
        assert_non_null(strstr(err.msg, "a.log: line 2: offset"));
        if (!strstr(err.msg, cases[i].want)) {
            fail_msg("%s: %s", cases[i].member, err.msg);
        }
        assert_int_equal(r.n, 77);
    }
}

static void a_text_without_events_says_so(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n", "hello\nworld", "{\"target\":\"TIMELINE\"}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cuzk_record r;
        cuzk_err err;
        assert_int_equal(cuzk_record_parse(&r, span_of(texts[i]), "x.log", &err), CUZK_E_INPUT);
        assert_string_equal(err.msg, "x.log: no line in it is an event of a timeline");
    }
}

static void long_strings_are_cut(void **state)
{
    (void)state;
    char text[2000], id[600];
    memset(id, 'i', sizeof id - 1);
    id[sizeof id - 1] = 0;
    snprintf(text, sizeof text,
             "{\"target\":\"TIMELINE\",\"seq\":1,\"t_us\":2,\"event\":\"DONE\",\"job\":5,"
             "\"job_id\":\"%s\",\"proof_kind\":\"%s\",\"detail\":\"%s\"}\n",
             id, id, id);
    cuzk_record r = parse(text);
    assert_int_equal(strlen(r.jobs[0].id), CUZK_JOB_ID - 1);
    assert_int_equal(strlen(r.jobs[0].kind), CUZK_JOB_KIND - 1);
    assert_int_equal(strlen(r.events[0].detail), CUZK_EVENT_DETAIL - 1);
    cuzk_record_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_that_was_written_reads_back_the_same),
        cmocka_unit_test(a_running_timeline_gives_the_same_record_as_its_log),
        cmocka_unit_test(what_the_ring_has_lost_is_counted_from_the_cursor),
        cmocka_unit_test(other_lines_of_a_log_are_passed_over),
        cmocka_unit_test(the_latest_run_in_a_log_counts),
        cmocka_unit_test(malformed_lines_are_named),
        cmocka_unit_test(a_text_without_events_says_so),
        cmocka_unit_test(long_strings_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
