#include "base/log.h"
#include "support/support.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A log that writes to a file, and what it wrote. */
typedef struct fixture {
    cuzk_log *log;
    int fd;
} fixture;

static fixture start(cuzk_log_format format, cuzk_log_level level)
{
    char path[256];
    snprintf(path, sizeof path, "%s/log", test_tmpdir());
    fixture f = {.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600)};
    assert_true(f.fd >= 0);
    assert_int_equal(cuzk_log_new(&f.log, f.fd, format, level, NULL), CUZK_OK);
    return f;
}

static char *finish(fixture *f)
{
    cuzk_log_free(f->log);
    struct stat st;
    assert_int_equal(fstat(f->fd, &st), 0);
    char *text = calloc(1, (size_t)st.st_size + 1);
    assert_non_null(text);
    assert_int_equal(pread(f->fd, text, (size_t)st.st_size, 0), st.st_size);
    close(f->fd);
    return text;
}

static json_t *parse_line(const char *text)
{
    json_error_t error;
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!o) {
        fail_msg("not JSON: %s: %s", error.text, text);
    }
    return o;
}

static void a_line_is_one_flat_json_object(void **state)
{
    (void)state;
    fixture f = start(CUZK_LOG_JSON, CUZK_LOG_INFO);
    CUZK_LOG(f.log, CUZK_LOG_INFO, "engine", "job done", cuzk_log_str("job", "a\"\\\n\x01\x7f"),
             cuzk_log_int("delta", INT64_MIN), cuzk_log_uint("bytes", 1u << 31),
             cuzk_log_double("seconds", 0.1), cuzk_log_double("bad", NAN),
             cuzk_log_bool("ok", true), cuzk_log_str("none", NULL));
    char *text = finish(&f);
    assert_int_equal(strlen(text), strcspn(text, "\n") + 1);
    json_t *o = parse_line(text);
    assert_string_equal(json_string_value(json_object_get(o, "level")), "info");
    assert_string_equal(json_string_value(json_object_get(o, "target")), "engine");
    assert_string_equal(json_string_value(json_object_get(o, "msg")), "job done");
    assert_string_equal(json_string_value(json_object_get(o, "job")), "a\"\\\n\x01\x7f");
    assert_true(json_integer_value(json_object_get(o, "delta")) == INT64_MIN);
    assert_int_equal(json_integer_value(json_object_get(o, "bytes")), 1u << 31);
    assert_non_null(strstr(text, "\"seconds\":0.1,"));
    assert_true(json_is_null(json_object_get(o, "bad")));
    assert_true(json_is_true(json_object_get(o, "ok")));
    assert_true(json_is_null(json_object_get(o, "none")));
    int y, mo, d, h, mi, s, us, end = 0;
    const char *t = json_string_value(json_object_get(o, "t"));
    assert_int_equal(
        sscanf(t, "%4d-%2d-%2dT%2d:%2d:%2d.%6dZ%n", &y, &mo, &d, &h, &mi, &s, &us, &end), 7);
    assert_int_equal(end, 27);
    assert_int_equal(strlen(t), 27);
    json_decref(o);
    free(text);
}

static void lines_of_text_are_for_people(void **state)
{
    (void)state;
    fixture f = start(CUZK_LOG_TEXT, CUZK_LOG_INFO);
    CUZK_LOG(f.log, CUZK_LOG_WARN, "rpc", "slow\npeer", cuzk_log_str("peer", "a b"),
             cuzk_log_int("ms", 5));
    CUZK_LOG(f.log, CUZK_LOG_ERROR, "rpc", "no fields");
    char *text = finish(&f);
    char *second = strchr(text, '\n') + 1;
    second[-1] = '\0';
    assert_string_equal(text + 27, " WARN  rpc: slow\\npeer peer=\"a b\" ms=5");
    assert_string_equal(second + 27, " ERROR rpc: no fields\n");
    free(text);
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    fixture f = start(CUZK_LOG_JSON, CUZK_LOG_INFO);
    /* a lone continuation, an overlong slash, a surrogate, past the end, cut short; good ones */
    CUZK_LOG(f.log, CUZK_LOG_INFO, "t", "m",
             cuzk_log_str("bad", "\x80|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82"),
             cuzk_log_str("good", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
             cuzk_log_str("c1", "\xc2\x9b"
                                "31m"));
    char *text = finish(&f);
    json_t *o = parse_line(text);
    assert_string_equal(json_string_value(json_object_get(o, "good")),
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
#define R "\xef\xbf\xbd"
    assert_string_equal(json_string_value(json_object_get(o, "bad")),
                        R "|" R R "|" R R R "|" R R R R "|" R R);
#undef R
    assert_non_null(strstr(text, "\\u009b31m"));
    json_decref(o);
    free(text);
}

static int evaluated;

static cuzk_log_field counted(void)
{
    evaluated++;
    return cuzk_log_int("n", evaluated);
}

static void the_level_changes_at_run_time_and_what_it_leaves_out_costs_nothing(void **state)
{
    (void)state;
    fixture f = start(CUZK_LOG_JSON, CUZK_LOG_WARN);
    evaluated = 0;
    CUZK_LOG(f.log, CUZK_LOG_INFO, "t", "left out", counted());
    cuzk_log_write(f.log, CUZK_LOG_INFO, "t", "left out", NULL, 0);
    assert_int_equal(evaluated, 0);
    cuzk_log_set_level(f.log, CUZK_LOG_DEBUG);
    CUZK_LOG(f.log, CUZK_LOG_DEBUG, "t", "in", counted());
    CUZK_LOG(f.log, CUZK_LOG_TRACE, "t", "left out", counted());
    assert_int_equal(evaluated, 1);
    CUZK_LOG(NULL, CUZK_LOG_ERROR, "t", "no log", counted());
    assert_int_equal(evaluated, 1);
    char *text = finish(&f);
    assert_null(strstr(text, "left out"));
    assert_non_null(strstr(text, "\"msg\":\"in\""));
    free(text);

    cuzk_log_level level;
    for (int i = CUZK_LOG_ERROR; i <= CUZK_LOG_TRACE; i++) {
        assert_true(cuzk_log_level_parse(cuzk_log_level_name((cuzk_log_level)i), &level));
        assert_int_equal(level, i);
    }
    assert_true(cuzk_log_level_parse("INFO", &level));
    assert_false(cuzk_log_level_parse("verbose", &level));
}

enum { THREADS = 4, LINES = 200 };

typedef struct writer {
    cuzk_log *log;
    int id;
} writer;

static void *write_lines(void *ctx)
{
    const writer *w = ctx;
    char pad[3000]; /* longer than the buffer on the stack */
    memset(pad, 'x', sizeof pad);
    pad[sizeof pad - 1] = '\0';
    for (int i = 0; i < LINES; i++) {
        CUZK_LOG(w->log, CUZK_LOG_INFO, "t", "m", cuzk_log_int("thread", w->id),
                 cuzk_log_int("line", i), cuzk_log_str("pad", pad + (i * 17) % 2900));
    }
    return NULL;
}

static void lines_of_several_threads_do_not_mix(void **state)
{
    (void)state;
    fixture f = start(CUZK_LOG_JSON, CUZK_LOG_INFO);
    pthread_t threads[THREADS];
    writer writers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        writers[i] = (writer){f.log, i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &writers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(cuzk_log_lost(f.log), 0);
    char *text = finish(&f);
    int next[THREADS] = {0}, lines = 0;
    for (char *p = text, *end; (end = strchr(p, '\n')); p = end + 1) {
        *end = '\0';
        json_t *o = parse_line(p);
        int thread = (int)json_integer_value(json_object_get(o, "thread"));
        assert_int_equal(json_integer_value(json_object_get(o, "line")), next[thread]++);
        json_decref(o);
        lines++;
    }
    assert_int_equal(lines, THREADS * LINES);
    free(text);
}

static void a_line_that_cannot_be_written_is_counted(void **state)
{
    (void)state;
    cuzk_log *log;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(cuzk_log_new(&log, fd, CUZK_LOG_JSON, CUZK_LOG_INFO, NULL), CUZK_OK);
    errno = 123;
    CUZK_LOG(log, CUZK_LOG_INFO, "t", "m");
    assert_int_equal(errno, 123);
    assert_int_equal(cuzk_log_lost(log), 1);
    cuzk_log_free(log);
    cuzk_log_free(NULL);
    close(fd);
}

static void a_line_that_is_made_already_is_written_as_it_is(void **state)
{
    (void)state;
    fixture f = start(CUZK_LOG_TEXT, CUZK_LOG_INFO);
    char *big = malloc(5000);
    assert_non_null(big);
    memset(big, 'x', 5000);
    cuzk_log_raw(f.log, CUZK_LOG_INFO, "{\"a\":1}", 7);
    cuzk_log_raw(f.log, CUZK_LOG_DEBUG, "{\"b\":1}", 7);
    cuzk_log_raw(f.log, CUZK_LOG_INFO, big, 5000);
    char *text = finish(&f);
    assert_memory_equal(text, "{\"a\":1}\nxxx", 11);
    assert_int_equal(strlen(text), 8 + 5001);
    free(big);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_one_flat_json_object),
        cmocka_unit_test(lines_of_text_are_for_people),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(the_level_changes_at_run_time_and_what_it_leaves_out_costs_nothing),
        cmocka_unit_test(lines_of_several_threads_do_not_mix),
        cmocka_unit_test(a_line_that_cannot_be_written_is_counted),
        cmocka_unit_test(a_line_that_is_made_already_is_written_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
