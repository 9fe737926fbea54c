#include "observe/metrics.h"
#include "support/files.h"
#include "support/support.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_metrics *new_metrics(void)
{
    cuzk_metrics *m;
    cuzk_err err;
    assert_int_equal(cuzk_metrics_new(&m, &err), CUZK_OK);
    return m;
}

static cuzk_metric *add(cuzk_metrics *m, const cuzk_metric_spec *spec)
{
    cuzk_metric *f;
    cuzk_err err;
    assert_int_equal(cuzk_metrics_add(m, &f, spec, &err), CUZK_OK);
    return f;
}

static cuzk_series *series(cuzk_metric *f, const char *a, const char *b)
{
    cuzk_series *s;
    cuzk_err err;
    const char *values[] = {a, b};
    assert_int_equal(cuzk_metric_series(f, &s, values, &err), CUZK_OK);
    return s;
}

static char *text(cuzk_metrics *m)
{
    char *s;
    size_t n;
    cuzk_err err;
    assert_int_equal(cuzk_metrics_text(m, &s, &n, &err), CUZK_OK);
    assert_int_equal(strlen(s), n);
    return s;
}

static const double limits[] = {0.1, 1, 2.5};

/* The reference's names, and one series whose strings need every escape. */
static cuzk_metrics *some_metrics(void)
{
    cuzk_metrics *m = new_metrics();
    cuzk_metric *queue = add(m, &(cuzk_metric_spec){.type = CUZK_GAUGE,
                                                    .name = "cuzk_queue_depth",
                                                    .help = "Jobs that wait, a \\ and\na line."});
    cuzk_metric *done = add(m, &(cuzk_metric_spec){.type = CUZK_COUNTER,
                                                   .name = "cuzk_proofs_completed_total",
                                                   .help = "Proofs that were completed.",
                                                   .labels = {"proof_kind"}});
    cuzk_metric *took = add(m, &(cuzk_metric_spec){.type = CUZK_HISTOGRAM,
                                                   .name = "cuzk_proof_duration_seconds",
                                                   .help = "From acceptance to the proof.",
                                                   .labels = {"proof_kind", "phase"},
                                                   .buckets = limits,
                                                   .n_buckets = 3});
    cuzk_series_set(series(queue, NULL, NULL), -2.75);
    cuzk_series_add(series(done, "window_post", NULL), 3);
    cuzk_series_add(series(done, "porep_c2", NULL), 1e15);
    cuzk_series_add(series(done, "a \"quoted\\\" line\n\xff", NULL), 0.1);
    cuzk_series *s = series(took, "porep_c2", "gpu");
    cuzk_series_observe(s, 0.1);
    cuzk_series_observe(s, 0.2);
    cuzk_series_observe(s, 7);
    return m;
}

static const char *const expected =
    "# HELP cuzk_proof_duration_seconds From acceptance to the proof.\n"
    "# TYPE cuzk_proof_duration_seconds histogram\n"
    "cuzk_proof_duration_seconds_bucket{proof_kind=\"porep_c2\",phase=\"gpu\",le=\"0.1\"} 1\n"
    "cuzk_proof_duration_seconds_bucket{proof_kind=\"porep_c2\",phase=\"gpu\",le=\"1\"} 2\n"
    "cuzk_proof_duration_seconds_bucket{proof_kind=\"porep_c2\",phase=\"gpu\",le=\"2.5\"} 2\n"
    "cuzk_proof_duration_seconds_bucket{proof_kind=\"porep_c2\",phase=\"gpu\",le=\"+Inf\"} 3\n"
    "cuzk_proof_duration_seconds_sum{proof_kind=\"porep_c2\",phase=\"gpu\"} 7.3\n"
    "cuzk_proof_duration_seconds_count{proof_kind=\"porep_c2\",phase=\"gpu\"} 3\n"
    "# HELP cuzk_proofs_completed_total Proofs that were completed.\n"
    "# TYPE cuzk_proofs_completed_total counter\n"
    "cuzk_proofs_completed_total{proof_kind=\"a \\\"quoted\\\\\\\" line\\n\xef\xbf\xbd\"} 0.1\n"
    "cuzk_proofs_completed_total{proof_kind=\"porep_c2\"} 1000000000000000\n"
    "cuzk_proofs_completed_total{proof_kind=\"window_post\"} 3\n"
    "# HELP cuzk_queue_depth Jobs that wait, a \\\\ and\\na line.\n"
    "# TYPE cuzk_queue_depth gauge\n"
    "cuzk_queue_depth -2.75\n";

static void the_exposition_is_what_the_format_says(void **state)
{
    (void)state;
    cuzk_metrics *m = some_metrics();
    char *s = text(m);
    assert_string_equal(s, expected);
    free(s);
    cuzk_metrics_free(m);
}

static void promtool_finds_nothing_to_say(void **state)
{
    (void)state;
    if (system("command -v promtool >/dev/null") != 0) {
        print_message("skipped: promtool is not here\n");
        skip();
    }
    cuzk_metrics *m = some_metrics();
    char *s = text(m), command[4096];
    const char *path = test_file_save("metrics.txt", s, strlen(s));
    snprintf(command, sizeof command, "promtool check metrics <%s >%s.out 2>&1", path, path);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "test ! -s %s.out", path);
    assert_int_equal(system(command), 0);
    /* It does look: a family told twice. */
    snprintf(command, sizeof command, "cat %s %s | promtool check metrics >/dev/null 2>&1", path,
             path);
    assert_int_not_equal(system(command), 0);
    free(s);
    cuzk_metrics_free(m);
}

static void counters_only_rise(void **state)
{
    (void)state;
    cuzk_metrics *m = new_metrics();
    cuzk_metric *f = add(m, &(cuzk_metric_spec){.type = CUZK_COUNTER, .name = "a_total"});
    cuzk_series *s = series(f, NULL, NULL);
    cuzk_series_add(s, 5);
    cuzk_series_add(s, -1);
    cuzk_series_add(s, (double)NAN);
    cuzk_series_set(s, 3);
    cuzk_series_observe(s, 100);
    assert_true(cuzk_series_value(s) == 5.0);
    cuzk_series_set(s, 8.5);
    assert_true(cuzk_series_value(s) == 8.5);
    cuzk_metrics_free(m);
}

static void odd_values_are_written_as_the_format_wants(void **state)
{
    (void)state;
    cuzk_metrics *m = new_metrics();
    cuzk_series *s =
        series(add(m, &(cuzk_metric_spec){.type = CUZK_GAUGE, .name = "g"}), NULL, NULL);
    static const struct {
        double v;
        const char *want;
    } cases[] = {{(double)INFINITY, "+Inf"},
                 {-(double)INFINITY, "-Inf"},
                 {(double)NAN, "NaN"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {1e300, "1e+300"},
                 {-0.0, "0"},
                 {123456789012.5, "123456789012.5"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_series_set(s, cases[i].v);
        char *got = text(m), want[100];
        snprintf(want, sizeof want, "# HELP g \n# TYPE g gauge\ng %s\n", cases[i].want);
        assert_string_equal(got, want);
        free(got);
    }
    cuzk_metrics_free(m);
}

static void a_histogram_drops_what_is_no_number(void **state)
{
    (void)state;
    cuzk_metrics *m = new_metrics();
    cuzk_series *s =
        series(add(m,
                   &(cuzk_metric_spec){
                       .type = CUZK_HISTOGRAM, .name = "h", .buckets = limits, .n_buckets = 3}),
               NULL, NULL);
    cuzk_series_observe(s, (double)NAN);
    cuzk_series_add(s, 5);
    cuzk_series_set(s, 5);
    assert_true(cuzk_series_value(s) == 0.0);
    cuzk_series_observe(s, -1);
    assert_true(cuzk_series_value(s) == 1.0);
    cuzk_metrics_free(m);
}

static void the_same_labels_give_the_same_series_up_to_the_limit(void **state)
{
    (void)state;
    cuzk_metrics *m = new_metrics();
    cuzk_metric *f =
        add(m, &(cuzk_metric_spec){
                   .type = CUZK_GAUGE, .name = "g", .labels = {"a", "b"}, .max_series = 2});
    cuzk_series *xy = series(f, "x", "y"), *yx = series(f, "y", "x"), *none = NULL;
    assert_ptr_not_equal(xy, yx);
    assert_ptr_equal(series(f, "x", "y"), xy);
    cuzk_err err;
    const char *values[] = {"x", "x"};
    assert_int_equal(cuzk_metric_series(f, &none, values, &err), CUZK_E_ARG);
    assert_string_equal(err.msg, "metric g has 2 series already");
    assert_null(none);
    cuzk_metrics_free(m);
}

static void malformed_and_clashing_families_are_refused(void **state)
{
    (void)state;
    static const double down[] = {2, 1}, inf[] = {1, (double)INFINITY};
    static const struct {
        cuzk_metric_spec spec;
        const char *want;
    } cases[] = {
        {{.name = NULL}, "\"\" cannot be the name of a metric"},
        {{.name = ""}, "\"\" cannot be the name of a metric"},
        {{.name = "1a"}, "\"1a\" cannot be the name of a metric"},
        {{.name = "a-b"}, "\"a-b\" cannot be the name of a metric"},
        {{.name = "a", .labels = {"b:c"}}, "metric a: \"b:c\" cannot be a label"},
        {{.name = "a", .labels = {"__b"}}, "metric a: \"__b\" cannot be a label"},
        {{.name = "a", .labels = {"b", "b"}}, "metric a: two labels \"b\""},
        {{.name = "a", .buckets = limits, .n_buckets = 3},
         "metric a has buckets but is no histogram"},
        {{.type = CUZK_HISTOGRAM, .name = "a"}, "metric a: want 1 to 32 buckets, got 0"},
        {{.type = CUZK_HISTOGRAM, .name = "a", .buckets = down, .n_buckets = 2},
         "metric a: bucket 1 does not ascend"},
        {{.type = CUZK_HISTOGRAM, .name = "a", .buckets = inf, .n_buckets = 2},
         "metric a: bucket 1 does not ascend"},
        {{.type = CUZK_HISTOGRAM, .name = "a", .labels = {"le"}, .buckets = limits, .n_buckets = 3},
         "metric a: \"le\" cannot be a label"},
        {{.name = "cuzk_queue_depth"},
         "metric cuzk_queue_depth: the name is that of cuzk_queue_depth"},
        {{.name = "cuzk_proof_duration_seconds_count"},
         "metric cuzk_proof_duration_seconds_count: the name is that of "
         "cuzk_proof_duration_seconds"},
        {{.type = CUZK_HISTOGRAM, .name = "cuzk_proof", .buckets = limits, .n_buckets = 3}, NULL},
    };
    cuzk_metrics *m = some_metrics();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_metric *f = NULL;
        cuzk_err err;
        cuzk_code code = cuzk_metrics_add(m, &f, &cases[i].spec, &err);
        assert_int_equal(code, cases[i].want ? CUZK_E_ARG : CUZK_OK);
        if (cases[i].want) {
            assert_string_equal(err.msg, cases[i].want);
            assert_null(f);
        }
    }
    cuzk_metrics_free(m);
    cuzk_metrics_free(NULL);
}

static void set_uptime(void *ctx) { cuzk_series_set(ctx, 77); }

static void collectors_run_before_the_exposition(void **state)
{
    (void)state;
    cuzk_metrics *m = new_metrics();
    cuzk_series *s = series(
        add(m, &(cuzk_metric_spec){.type = CUZK_GAUGE, .name = "up", .help = "h"}), NULL, NULL);
    cuzk_err err;
    for (int i = 0; i < 16; i++) {
        assert_int_equal(cuzk_metrics_on_collect(m, set_uptime, s, &err), CUZK_OK);
    }
    assert_int_equal(cuzk_metrics_on_collect(m, set_uptime, s, &err), CUZK_E_ARG);
    char *got = text(m);
    assert_string_equal(got, "# HELP up h\n# TYPE up gauge\nup 77\n");
    free(got);
    cuzk_metrics_free(m);
}

typedef struct work {
    cuzk_metric *counter, *histogram;
    int times;
} work;

static void *update(void *arg)
{
    const work *w = arg;
    static const char *const kinds[] = {"a", "b", "c"};
    for (int i = 0; i < w->times; i++) {
        const char *values[] = {kinds[i % 3]};
        cuzk_series *s;
        if (cuzk_metric_series(w->counter, &s, values, NULL) == CUZK_OK) {
            cuzk_series_add(s, 0.5);
        }
        if (cuzk_metric_series(w->histogram, &s, values, NULL) == CUZK_OK) {
            cuzk_series_observe(s, i % 4);
        }
    }
    return NULL;
}

static void updates_from_many_threads_all_count(void **state)
{
    (void)state;
    enum { THREADS = 8, TIMES = 3000 };
    cuzk_metrics *m = new_metrics();
    work w = {add(m, &(cuzk_metric_spec){.name = "c_total", .labels = {"k"}}),
              add(m, &(cuzk_metric_spec){.type = CUZK_HISTOGRAM,
                                         .name = "h",
                                         .labels = {"k"},
                                         .buckets = limits,
                                         .n_buckets = 3}),
              TIMES};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, update, &w), 0);
    }
    for (int i = 0; i < 20; i++) {
        free(text(m));
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    double counted = 0, observed = 0;
    static const char *const kinds[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++) {
        counted += cuzk_series_value(series(w.counter, kinds[k], NULL));
        observed += cuzk_series_value(series(w.histogram, kinds[k], NULL));
    }
    assert_true(counted == 0.5 * THREADS * TIMES);
    assert_true(observed == 1.0 * THREADS * TIMES);
    cuzk_metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exposition_is_what_the_format_says),
        cmocka_unit_test(promtool_finds_nothing_to_say),
        cmocka_unit_test(counters_only_rise),
        cmocka_unit_test(odd_values_are_written_as_the_format_wants),
        cmocka_unit_test(a_histogram_drops_what_is_no_number),
        cmocka_unit_test(the_same_labels_give_the_same_series_up_to_the_limit),
        cmocka_unit_test(malformed_and_clashing_families_are_refused),
        cmocka_unit_test(collectors_run_before_the_exposition),
        cmocka_unit_test(updates_from_many_threads_all_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
