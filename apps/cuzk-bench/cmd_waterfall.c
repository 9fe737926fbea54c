#include "bench.h"

#include "base/file.h"
#include "observe/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

typedef struct options {
    const char *file, *job, *last, *svg, *html, *trace, *save;
} options;

enum { KEY_JOB = 0x5000, KEY_LAST, KEY_SVG, KEY_HTML, KEY_TRACE, KEY_SAVE };

static const struct argp_option list[] = {
    {"log", 'f', "FILE", 0, "A daemon's log or a saved timeline, instead of a running daemon", 0},
    {"job", KEY_JOB, "ID", 0, "Only this job's events", 0},
    {"last", KEY_LAST, "SECONDS", 0, "Only the end", 0},
    {"svg", KEY_SVG, "FILE", 0, "Write a picture", 1},
    {"html", KEY_HTML, "FILE", 0, "Write a report in one page", 1},
    {"trace", KEY_TRACE, "FILE", 0, "Write a trace for ui.perfetto.dev", 1},
    {"save", KEY_SAVE, "FILE", 0, "Write the events, to look at later", 1},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'f':
        o->file = arg;
        return 0;
    case KEY_JOB:
        o->job = arg;
        return 0;
    case KEY_LAST:
        o->last = arg;
        return 0;
    case KEY_SVG:
        o->svg = arg;
        return 0;
    case KEY_HTML:
        o->html = arg;
        return 0;
    case KEY_TRACE:
        o->trace = arg;
        return 0;
    case KEY_SAVE:
        o->save = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = list,
    .parser = parse,
    .doc = "Shows where the time went: what was made, waited and proved when, and why a device was "
           "idle.",
};

static cuzk_code read_events(cuzk_record *ret, const options *o, const bench_target *target,
                             cuzk_err *err)
{
    if (o->file) {
        cuzk_file_map map;
        CUZK_TRY(cuzk_file_map_open(&map, o->file, err));
        cuzk_code code = cuzk_record_parse(ret, map.bytes, o->file, err);
        cuzk_file_map_close(&map);
        return code;
    }
    cuzk_rpc_client *client;
    uint64_t cursor = 0;
    CUZK_TRY(bench_connect(&client, target, err));
    cuzk_code code = bench_events(client, &cursor, o->job, ret, err);
    cuzk_rpc_client_close(client);
    if (code == CUZK_OK && ret->n == 0) {
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "the daemon has no events%s%s yet",
                         o->job ? " of job " : "", o->job ? o->job : "");
    }
    return code;
}

/* Leaves the events of one job only: those of a file are of all. */
static cuzk_code keep_job(cuzk_record *r, const char *id, cuzk_err *err)
{
    uint64_t number = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->n_jobs; i++) {
        number = strcmp(r->jobs[i].id, id) == 0 ? r->jobs[i].number : number;
    }
    for (size_t i = 0; i < r->n && number; i++) {
        if (r->events[i].job == number) {
            r->events[n++] = r->events[i];
        }
    }
    r->n = n;
    return n ? CUZK_OK : CUZK_FAIL(err, CUZK_E_NOT_FOUND, "there is no job \"%s\" in it", id);
}

typedef cuzk_code render_fn(char **, size_t *, const cuzk_analysis *, const cuzk_render_options *,
                            cuzk_err *);

static cuzk_code write_one(const char *name, render_fn *render, const cuzk_analysis *a,
                           cuzk_err *err)
{
    char *text;
    size_t n;
    if (!name) {
        return CUZK_OK;
    }
    CUZK_TRY(render(&text, &n, a, NULL, err));
    cuzk_code code = cuzk_file_write(name, text, n, err);
    free(text);
    if (code == CUZK_OK) {
        bench_say("wrote %s", name);
    }
    return code;
}

static cuzk_code print_text(const cuzk_analysis *a, cuzk_err *err)
{
    struct winsize size;
    cuzk_render_options view = {0};
    char *text;
    size_t n;
    if (isatty(STDOUT_FILENO)) {
        view.colour = !getenv("NO_COLOR");
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
            view.columns = size.ws_col;
        }
    }
    CUZK_TRY(cuzk_render_text(&text, &n, a, &view, err));
    fwrite(text, 1, n, stdout);
    free(text);
    return CUZK_OK;
}

static cuzk_code save(const cuzk_record *r, const char *name, cuzk_err *err)
{
    char *text;
    size_t n;
    CUZK_TRY(cuzk_record_format(r, &text, &n, err));
    cuzk_code code = cuzk_file_write(name, text, n, err);
    free(text);
    return code;
}

static cuzk_code write_all(const options *o, const cuzk_record *r, cuzk_err *err)
{
    cuzk_analysis a;
    uint64_t from = 0, last = 0;
    if (o->last) {
        CUZK_TRY(bench_number(&last, o->last, "--last", 1, 1000000000, err));
        uint64_t end = r->events[r->n - 1].t_us;
        from = end > last * 1000000 ? end - last * 1000000 : 0;
    }
    CUZK_TRY(cuzk_analyse(&a, r, from, 0, err));
    cuzk_code code = print_text(&a, err);
    code = code == CUZK_OK ? write_one(o->svg, cuzk_render_svg, &a, err) : code;
    code = code == CUZK_OK ? write_one(o->html, cuzk_render_html, &a, err) : code;
    code = code == CUZK_OK ? write_one(o->trace, cuzk_render_trace, &a, err) : code;
    code = code == CUZK_OK && o->save ? save(r, o->save, err) : code;
    cuzk_analysis_clear(&a);
    return code;
}

cuzk_code bench_waterfall(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    bench_target target;
    cuzk_record record = {0};
    CUZK_TRY(bench_parse(&argp, argc, argv, &o, &target, err));
    cuzk_code code = read_events(&record, &o, &target, err);
    if (code == CUZK_OK && o.job && o.file) {
        code = keep_job(&record, o.job, err);
    }
    if (code == CUZK_OK) {
        code = write_all(&o, &record, err);
    }
    cuzk_record_clear(&record);
    return code;
}
