#include "observe/render_common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plot is a grid of characters; each cell knows its job's colour. */
typedef struct grid {
    const cuzk_analysis *a;
    lanes lanes;
    size_t columns, label; /* widths of the plot and of the labels */
    char *cells;           /* lanes.n rows of `columns` */
    signed char *colours;  /* as cells: -1 none, 0 to 5 */
} grid;

/* Column in which a time falls, rounded down. */
static size_t column(const grid *g, uint64_t t_us)
{
    const cuzk_analysis *a = g->a;
    if (t_us <= a->from_us || a->to_us == a->from_us) {
        return 0;
    }
    double share = (double)(t_us - a->from_us) / (double)(a->to_us - a->from_us);
    size_t c = (size_t)(share * (double)g->columns);
    return c < g->columns ? c : g->columns;
}

static void draw_interval(grid *g, const cuzk_interval *i)
{
    static const char fill[CUZK_PHASE_COUNT] = {[CUZK_PHASE_SYNTH] = '=',
                                                [CUZK_PHASE_GPU] = '#',
                                                [CUZK_PHASE_FINISH] = '-',
                                                [CUZK_PHASE_KEY_LOAD] = '~',
                                                [CUZK_PHASE_CIRCUIT_LOAD] = '~'};
    long at = cuzk_lane_of(&g->lanes, i);
    if (at < 0 || i->start_us > g->a->to_us) {
        return;
    }
    size_t from = column(g, i->start_us), to = column(g, i->end_us);
    from = from < g->columns ? from : g->columns - 1;
    to = to > from ? to : from + 1;
    char label[CUZK_EVENT_DETAIL];
    cuzk_interval_label(label, g->a, i);
    size_t n = strlen(label);
    char *row = g->cells + (size_t)at * g->columns;
    signed char *colour = g->colours + (size_t)at * g->columns;
    for (size_t c = from; c < to; c++) {
        char ch = c - from < n ? label[c - from] : fill[i->phase];
        row[c] = ch > ' ' && ch < 0x7f ? ch : '?';
        colour[c] = (signed char)(i->job ? cuzk_summary_index(g->a, i->job) % 6 : -1);
    }
}

static void draw_gap(grid *g, const cuzk_gap *gap)
{
    cuzk_interval as_interval = {.phase = CUZK_PHASE_GPU, .device = gap->device};
    long at = cuzk_lane_of(&g->lanes, &as_interval);
    if (at >= 0) {
        size_t from = column(g, gap->start_us), to = column(g, gap->end_us);
        memset(g->cells + (size_t)at * g->columns + from, cuzk_idle_letter(gap->cause), to - from);
    }
}

/* The largest depth in each column, in one character. */
static void draw_channel(grid *g, char *row)
{
    const cuzk_analysis *a = g->a;
    uint32_t *depth = calloc(g->columns, sizeof *depth);
    for (size_t i = 0; depth && i < a->n_channel; i++) {
        size_t from = column(g, a->channel[i].t_us);
        size_t to = i + 1 < a->n_channel ? column(g, a->channel[i + 1].t_us) : g->columns - 1;
        for (size_t c = from; c <= to && c < g->columns; c++) {
            depth[c] = a->channel[i].n > depth[c] ? a->channel[i].n : depth[c];
        }
    }
    for (size_t c = 0; depth && c < g->columns; c++) {
        row[c] = depth[c] == 0 ? ' ' : depth[c] > 9 ? '+' : (char)('0' + depth[c]);
    }
    free(depth);
}

static void draw(grid *g)
{
    for (size_t i = 0; i < g->a->n_gaps; i++) {
        draw_gap(g, &g->a->gaps[i]);
    }
    for (size_t i = 0; i < g->a->n_intervals; i++) {
        draw_interval(g, &g->a->intervals[i]);
    }
    for (size_t i = 0; i < g->lanes.n; i++) {
        if (g->lanes.p[i].phase == CUZK_PHASE_CHANNEL) {
            draw_channel(g, g->cells + i * g->columns);
        }
    }
}

static void put_axis(cuzk_text *t, const grid *g)
{
    uint64_t window = g->a->to_us - g->a->from_us;
    uint64_t tick = cuzk_tick_us(window, (unsigned)g->columns / 12 + 1);
    char *line = malloc(g->columns + 1);
    if (!line) {
        t->failed = true;
        return;
    }
    memset(line, ' ', g->columns);
    for (uint64_t at = 0; at <= window; at += tick) {
        char label[CUZK_TIME + 1] = "|";
        cuzk_time(label + 1, at);
        if (at == 0) {
            snprintf(label, sizeof label, "|0");
        }
        size_t c = column(g, g->a->from_us + at), n = strlen(label);
        if (c + n <= g->columns) {
            memcpy(line + c, label, n);
        }
        if (window - at < tick) {
            break;
        }
    }
    line[g->columns] = 0;
    cuzk_text_printf(t, "%*s %s\n", (int)g->label, "", line);
    free(line);
}

static void put_lane(cuzk_text *t, const grid *g, size_t i, bool colour)
{
    cuzk_text_printf(t, "%*s|", (int)g->label, g->lanes.p[i].label);
    const char *row = g->cells + i * g->columns;
    int now = -1;
    for (size_t c = 0; c < g->columns; c++) {
        int want = colour ? g->colours[i * g->columns + c] : -1;
        if (want != now) {
            cuzk_text_printf(t, want < 0 ? "\x1b[0m" : "\x1b[1;3%dm", 1 + want);
            now = want;
        }
        cuzk_text_put(t, row + c, 1);
    }
    cuzk_text_str(t, now >= 0 ? "\x1b[0m|\n" : "|\n");
}

static void put_legend(cuzk_text *t, const grid *g)
{
    const cuzk_analysis *a = g->a;
    cuzk_text_str(t, "\n= synthesis  # device  - finish  ~ load  1-9+ partitions in the channel\n");
    cuzk_text_str(t, "idle device:");
    for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
        cuzk_text_printf(t, "  %c %s", cuzk_idle_letter((cuzk_idle_cause)c),
                         cuzk_idle_name((cuzk_idle_cause)c));
    }
    cuzk_text_str(t, "\n\n");
    enum { SHOWN = 20 };
    for (size_t i = 0; i < a->n_jobs && i < SHOWN; i++) {
        const cuzk_job_summary *j = &a->jobs[i];
        char label[CUZK_JOB_LABEL], id[32], took[CUZK_TIME];
        cuzk_summary_label(label, (long)i);
        cuzk_text_printf(t, "%3s  ", label);
        cuzk_text_plain(t, cuzk_summary_id(j, id), 60);
        cuzk_text_str(t, "  ");
        cuzk_text_plain(t, cuzk_summary_kind(j), 24);
        cuzk_text_printf(t, "  %s %s", cuzk_job_state_name(j->state),
                         cuzk_time(took, j->end_us - j->queued_us));
        if (j->reason) {
            cuzk_text_str(t, ": ");
            cuzk_text_plain(t, j->reason, CUZK_EVENT_DETAIL);
        }
        cuzk_text_str(t, "\n");
    }
    if (a->n_jobs > SHOWN) {
        cuzk_text_printf(t, "     and %zu more jobs\n", a->n_jobs - SHOWN);
    }
}

static void put_gaps(cuzk_text *t, const cuzk_analysis *a)
{
    const cuzk_gap *longest[8];
    size_t n = cuzk_longest_gaps(longest, 8, a);
    if (n == 0) {
        return;
    }
    cuzk_text_printf(t, "\nidle gaps (%zu%s)\n", a->n_gaps, n < a->n_gaps ? ", the longest" : "");
    for (size_t i = 0; i < n; i++) {
        const cuzk_gap *g = longest[i];
        char start[CUZK_TIME], took[CUZK_TIME], part[CUZK_TIME];
        cuzk_text_printf(t, "  device %d at %s for %s:", g->device,
                         cuzk_time(start, g->start_us - a->from_us),
                         cuzk_time(took, g->end_us - g->start_us));
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            if (g->cause_us[c]) {
                cuzk_text_printf(t, " %s %s", cuzk_idle_name((cuzk_idle_cause)c),
                                 cuzk_time(part, g->cause_us[c]));
            }
        }
        cuzk_text_str(t, "\n");
    }
}

static void put_facts(cuzk_text *t, const cuzk_analysis *a)
{
    fact facts[CUZK_FACTS];
    size_t n = cuzk_facts(facts, a);
    cuzk_text_str(t, "\n");
    for (size_t i = 0; i < n; i++) {
        cuzk_text_printf(t, "%-34s %s\n", facts[i].name, facts[i].value);
    }
    char verdict[320];
    cuzk_verdict(a, verdict, sizeof verdict);
    cuzk_text_printf(t, "\n%s\n", verdict);
}

cuzk_code cuzk_render_text(char **ret, size_t *ret_n, const cuzk_analysis *a,
                           const cuzk_render_options *options, cuzk_err *err)
{
    static const cuzk_render_options none = {0};
    const cuzk_render_options *o = options ? options : &none;
    grid g = {.a = a, .label = 8};
    CUZK_TRY(cuzk_lanes_make(&g.lanes, a, err));
    for (size_t i = 0; i < g.lanes.n; i++) {
        size_t n = strlen(g.lanes.p[i].label);
        g.label = n > g.label ? n : g.label;
    }
    size_t width = o->columns ? o->columns : 100;
    width = width < 40 ? 40 : width > 4096 ? 4096 : width;
    g.columns = width - g.label - 2;
    cuzk_text t = {0};
    g.cells = malloc(g.lanes.n * g.columns);
    g.colours = malloc(g.lanes.n * g.columns);
    if (g.cells && g.colours) {
        memset(g.cells, ' ', g.lanes.n * g.columns);
        memset(g.colours, -1, g.lanes.n * g.columns);
        draw(&g);
        cuzk_text_plain(&t, o->title ? o->title : "cuzk waterfall", width);
        cuzk_text_str(&t, "\n\n");
        put_axis(&t, &g);
        for (size_t i = 0; i < g.lanes.n; i++) {
            put_lane(&t, &g, i, o->colour);
        }
        put_legend(&t, &g);
        put_gaps(&t, a);
        put_facts(&t, a);
    } else {
        t.failed = true;
    }
    free(g.cells);
    free(g.colours);
    free(g.lanes.p);
    return cuzk_text_take(&t, ret, ret_n, err);
}
