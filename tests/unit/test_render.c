#include "observe/render.h"
#include "support/files.h"
#include "support/support.h"
#include "support/timelines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cuzk_code render_fn(char **ret, size_t *ret_n, const cuzk_analysis *a,
                            const cuzk_render_options *options, cuzk_err *err);

static char *render(render_fn *fn, const cuzk_record *r, const cuzk_render_options *o)
{
    cuzk_analysis a;
    cuzk_err err;
    char *text;
    size_t n;
    assert_int_equal(cuzk_analyse(&a, r, 0, 0, &err), CUZK_OK);
    assert_int_equal(fn(&text, &n, &a, o, &err), CUZK_OK);
    assert_int_equal(strlen(text), n);
    cuzk_analysis_clear(&a);
    return text;
}

/* Two jobs on one device, each partition sent when it is ready or all of them together. */
static cuzk_record two_jobs(int slot)
{
    pipeline p = {.jobs = 2, .partitions = 2, .synth_ms = 1000, .gpu_ms = 500, .slot = slot};
    return run_pipeline(&p);
}

static void assert_begins(const char *text, const char *want)
{
    size_t n = strlen(want);
    char *begin = strndup(text, n);
    assert_non_null(begin);
    assert_string_equal(begin, want);
    free(begin);
}

static void the_text_waterfall_names_the_cause_of_each_gap(void **state)
{
    (void)state;
    static const char *const want[] = {
        /* All of a job together: the device waits while finished partitions are kept back. */
        "cuzk waterfall\n\n"
        "         |0               |2.00 s           |4.00 s   \n"
        " synth 0|A0======A1=======B0=======B1=======          |\n"
        " channel|                 111111            111111    |\n"
        "device 0|cccccccccccccccccA0###A1##cccccccccB0###B1##.|\n"
        "finish 0|                      A   A             B   B|\n\n",
        /* Each when it is ready: what is left is synthesis' own time. */
        "cuzk waterfall\n\n"
        "         |0                 |2.00 s                   \n"
        " synth 0|A0=======A1========B0========B1========      |\n"
        " channel|                                             |\n"
        "device 0|sssssssssA0###sssssA1###sssssB0###sssssB1###.|\n"
        "finish 0|              A         A         B         B|\n\n"};
    for (int slot = 0; slot < 2; slot++) {
        cuzk_record r = two_jobs(slot);
        char *text = render(cuzk_render_text, &r, &(cuzk_render_options){.columns = 55});
        assert_begins(text, want[slot]);
        assert_non_null(strstr(text, "  A  porep-1000-1  porep-c2  done "));
        assert_non_null(strstr(text, slot ? "\nsynthesis-bound: " : "\nchannel-bound: "));
        assert_non_null(
            strstr(text, slot ? "  device 0 at 0 s for 1.00 s: synthesis 1.00 s\n"
                              : "  device 0 at 0 s for 2.00 s: channel 1.00 s synthesis 1.00 s\n"));
        free(text);
        cuzk_record_clear(&r);
    }
}

static void no_line_of_the_waterfall_is_wider_than_the_terminal(void **state)
{
    (void)state;
    static const unsigned widths[] = {1, 40, 80, 100, 203};
    cuzk_record r = two_jobs(1);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        char *text = render(cuzk_render_text, &r, &(cuzk_render_options){.columns = widths[i]});
        char *legend = strstr(text, "\n\n= synthesis");
        assert_non_null(legend);
        *legend = 0;
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            assert_true(strlen(line) <= (widths[i] < 40 ? 40 : widths[i]));
        }
        free(text);
    }
    char *colour = render(cuzk_render_text, &r, &(cuzk_render_options){.colour = true});
    char *plain = render(cuzk_render_text, &r, NULL);
    assert_non_null(strstr(colour, "\x1b[1;31mA0"));
    assert_null(strchr(plain, '\x1b'));
    char *to = colour; /* without its colours it is the same */
    for (const char *from = colour; *from; from++) {
        if (*from == '\x1b') {
            from = strchr(from, 'm');
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
    assert_string_equal(colour, plain);
    free(colour);
    free(plain);
    cuzk_record_clear(&r);
}

/* A record whose strings try to get out of every format. */
static cuzk_record hostile(void)
{
    cuzk_record r = two_jobs(1);
    cuzk_job_name name = {
        3, "\"/><script>alert('1')</script>&\\\x1b[31m\n\xff\xed\xa0\x80 \xef\xbf\xbf",
        "</title>\""};
    assert_int_equal(cuzk_record_name(&r, &name, NULL), CUZK_OK);
    at(&r, 4600, CUZK_EV_QUEUED, 3, -1, -1, -1, 1, "");
    at(&r, 4600, CUZK_EV_SRS_LOAD_START, 3, -1, 0, 0, 0, "<b>\"\x07\xfe");
    at(&r, 4650, CUZK_EV_SRS_LOAD_END, 3, -1, 0, 0, 0, "<b>\"\x07\xfe");
    at(&r, 4650, CUZK_EV_GPU_START, 3, 0, 0, 0, 0, "");
    at(&r, 4700, CUZK_EV_GPU_END, 3, 0, 0, 0, 0, "");
    at(&r, 4800, CUZK_EV_FAILED, 3, 0, -1, -1, 0, "<i>it's & \x01</i>");
    return r;
}

static void ids_cannot_get_out_of_where_they_stand(void **state)
{
    (void)state;
    cuzk_record r = hostile();
    cuzk_render_options o = {.title = "a <title> & \"more\""};
    char *text = render(cuzk_render_text, &r, &o);
    assert_null(strchr(text, '\x1b'));
    assert_null(strchr(text, '\xff'));
    assert_non_null(strstr(text, "\"/><script>alert('1')</script>&\\?[31m??"));
    free(text);
    render_fn *const fns[] = {cuzk_render_svg, cuzk_render_html, cuzk_render_trace};
    for (size_t i = 0; i < 3; i++) {
        text = render(fns[i], &r, &o);
        assert_null(strstr(text, "<script"));
        assert_null(strstr(text, "<b>"));
        assert_null(strstr(text, "<i>"));
        assert_null(strstr(text, "a <title>"));
        assert_null(strchr(text, '\xff'));
        assert_null(strchr(text, '\x1b'));
        assert_null(strchr(text, '\x07'));
        free(text);
    }
    cuzk_record_clear(&r);
}

static void the_svg_is_well_formed(void **state)
{
    (void)state;
    if (system("command -v xmllint >/dev/null") != 0) {
        print_message("skipped: xmllint is not here\n");
        skip();
    }
    cuzk_record records[] = {two_jobs(0), hostile(), {0}};
    for (size_t i = 0; i < 3; i++) {
        char *text = render(cuzk_render_svg, &records[i], NULL), command[4096];
        const char *path = test_file_save("picture.svg", text, strlen(text));
        snprintf(command, sizeof command, "xmllint --noout --nonet %s", path);
        assert_int_equal(system(command), 0);
        free(text);
        cuzk_record_clear(&records[i]);
    }
}

static size_t count_of(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text++) {
        n++;
    }
    return n;
}

static void the_pictures_show_each_interval_and_need_nothing_from_outside(void **state)
{
    (void)state;
    cuzk_record r = two_jobs(1);
    char *svg = render(cuzk_render_svg, &r, NULL), *html = render(cuzk_render_html, &r, NULL);
    assert_int_equal(count_of(svg, "<title>synthesis, porep-1000-1, partition "), 2);
    assert_int_equal(count_of(svg, "<title>device, porep-1000-2, partition "), 2);
    assert_int_equal(count_of(svg, "<title>idle, synthesis "), 4);
    assert_non_null(strstr(html, svg));
    assert_non_null(strstr(html, "<!doctype html>"));
    assert_non_null(strstr(html, "prefers-color-scheme:dark"));
    assert_non_null(
        strstr(html, "<dt>throughput in steady state</dt><dd>30 proofs/min (2 s/proof)"));
    /* The only address is the name of the format. */
    assert_int_equal(count_of(html, "://"), 1);
    assert_non_null(strstr(html, "xmlns=\"http://www.w3.org/2000/svg\""));
    assert_int_equal(count_of(html, "src="), 0);
    assert_int_equal(count_of(html, "href="), 0);
    assert_int_equal(count_of(html, "url("), 0);
    free(svg);
    free(html);
    cuzk_record_clear(&r);
}

/* Number of a member, which must be there. */
static json_int_t number(const json_t *e, const char *key)
{
    const json_t *v = json_object_get(e, key);
    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

static void the_trace_is_what_perfetto_reads(void **state)
{
    (void)state;
    cuzk_record r = hostile();
    char *text = render(cuzk_render_trace, &r, NULL);
    json_error_t why;
    json_t *trace = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!trace) {
        fail_msg("line %d: %s", why.line, why.text);
    }
    json_t *events = json_object_get(trace, "traceEvents");
    size_t i, complete = 0, idle = 0, starts = 0, ends = 0, counters = 0, names = 0;
    const json_t *e;
    json_array_foreach(events, i, e)
    {
        const char *ph = json_string_value(json_object_get(e, "ph"));
        assert_true(number(e, "pid") > 0 && number(e, "tid") >= 0);
        if (strcmp(ph, "X") == 0) {
            assert_true(number(e, "ts") >= 0 && number(e, "dur") >= 0);
            bool is_idle = strncmp(json_string_value(json_object_get(e, "name")), "idle", 4) == 0;
            complete += !is_idle;
            idle += is_idle;
        }
        starts += strcmp(ph, "s") == 0;
        ends += strcmp(ph, "f") == 0;
        counters += strcmp(ph, "C") == 0;
        names += strcmp(json_string_value(json_object_get(e, "name")), "thread_name") == 0;
    }
    /* 4 partitions in synthesis, on the device, in finish; one load; one on the device. */
    assert_int_equal(complete, 12 + 2);
    assert_int_equal(idle, 6);
    assert_int_equal(starts, 4);
    assert_int_equal(ends, 4);
    assert_true(counters > 4);
    assert_int_equal(names, 5); /* key, synth, channel, device, finish */
    json_decref(trace);
    free(text);
    cuzk_record_clear(&r);
}

static void an_empty_record_is_drawn_too(void **state)
{
    (void)state;
    cuzk_record r = {0};
    render_fn *const fns[] = {cuzk_render_text, cuzk_render_svg, cuzk_render_html,
                              cuzk_render_trace};
    for (size_t i = 0; i < 4; i++) {
        char *text = render(fns[i], &r, NULL);
        assert_non_null(strstr(text, "cuzk waterfall"));
        free(text);
    }
}

static void many_jobs_make_a_picture_of_bounded_size(void **state)
{
    (void)state;
    pipeline p = {.jobs = test_is_slow() ? 300 : 2000,
                  .partitions = 4,
                  .synth_ms = 3,
                  .gpu_ms = 2,
                  .slot = 1};
    cuzk_record r = run_pipeline(&p);
    char *svg = render(cuzk_render_svg, &r, NULL);
    assert_true(strlen(svg) < 4u << 20);
    assert_non_null(strstr(svg, " more jobs</text>"));
    free(svg);
    cuzk_record_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_waterfall_names_the_cause_of_each_gap),
        cmocka_unit_test(no_line_of_the_waterfall_is_wider_than_the_terminal),
        cmocka_unit_test(ids_cannot_get_out_of_where_they_stand),
        cmocka_unit_test(the_svg_is_well_formed),
        cmocka_unit_test(the_pictures_show_each_interval_and_need_nothing_from_outside),
        cmocka_unit_test(the_trace_is_what_perfetto_reads),
        cmocka_unit_test(an_empty_record_is_drawn_too),
        cmocka_unit_test(many_jobs_make_a_picture_of_bounded_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
