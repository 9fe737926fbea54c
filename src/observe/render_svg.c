#include "observe/render_common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sizes in units of the picture, which scales. */
enum {
    WIDTH = 1200,
    GUTTER = 92, /* for the lanes' labels */
    RIGHT = 14,
    TOP = 62,
    LANE = 22,
    LANE_GAP = 4,
    GROUP_GAP = 10,
    CHANNEL = 44,
    LEGEND_LINE = 20,
    LEGEND_JOBS = 12
};

typedef struct picture {
    const cuzk_analysis *a;
    lanes lanes;
    int *top; /* of each lane */
    int bottom;
} picture;

static int height_of(const lane *l) { return l->phase == CUZK_PHASE_CHANNEL ? CHANNEL : LANE; }

static int group_of(const lane *l)
{
    return l->phase == CUZK_PHASE_CIRCUIT_LOAD ? CUZK_PHASE_KEY_LOAD : (int)l->phase;
}

static void lay_out(picture *p)
{
    int y = TOP;
    for (size_t i = 0; i < p->lanes.n; i++) {
        if (i > 0) {
            bool same = group_of(&p->lanes.p[i]) == group_of(&p->lanes.p[i - 1]);
            y += same ? LANE_GAP : GROUP_GAP;
        }
        p->top[i] = y;
        y += height_of(&p->lanes.p[i]);
    }
    p->bottom = y;
}

static double x_of(const picture *p, uint64_t t_us)
{
    const cuzk_analysis *a = p->a;
    double plot = WIDTH - GUTTER - RIGHT;
    if (t_us <= a->from_us || a->to_us == a->from_us) {
        return GUTTER;
    }
    double share = (double)(t_us - a->from_us) / (double)(a->to_us - a->from_us);
    return GUTTER + plot * (share < 1 ? share : 1);
}

/* Colours: eight hues that jobs take turns with, each readable under dark text; on a dark ground
 * they are dimmed. No custom properties: not every renderer of SVG knows them. */
static const char *const style =
    "<style>\n"
    ".wf{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    ".wf .bg{fill:#fff}.wf text{fill:#24292f}.wf .dim{fill:#656d76}\n"
    ".wf .title{font-size:16px;font-weight:600}.wf .lane{fill:#f3f5f8}\n"
    ".wf .tick{stroke:#d5dae1;stroke-width:1}.wf .num{fill:#656d76;font-size:11px}\n"
    ".wf .in{fill:#10151b;font-size:11px;pointer-events:none}\n"
    ".wf .j0{fill:#7db4f5}.wf .j1{fill:#f7b267}.wf .j2{fill:#7fd1ae}.wf .j3{fill:#d7a6f0}\n"
    ".wf .j4{fill:#f59a9a}.wf .j5{fill:#e3d26f}.wf .j6{fill:#8fd3e8}.wf .j7{fill:#c3cf8a}\n"
    ".wf .jx{fill:#b8c0cc}.wf .synth{opacity:.8}.wf .cut{stroke:#656d76;stroke-dasharray:3 2}\n"
    ".wf .bad{stroke:#cf222e;stroke-width:2}\n"
    ".wf .gap{fill:#fff1e5;stroke:#e0a070;stroke-dasharray:3 2}.wf .g-nowork{fill:none;"
    "stroke:#d5dae1}\n"
    ".wf .cause{fill:#9a4a00;font-size:11px;font-weight:600;pointer-events:none}\n"
    ".wf .depth{fill:#aac4e8;stroke:#5b8bc9}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".wf .bg{fill:#0d1117}.wf text{fill:#e6edf3}.wf .dim,.wf .num{fill:#9198a1}\n"
    ".wf .lane{fill:#161b22}.wf .tick{stroke:#2b323b}.wf .in{fill:#0b0f14}\n"
    ".wf .gap{fill:#33210f;stroke:#8a5a2b}.wf .g-nowork{fill:none;stroke:#2b323b}\n"
    ".wf .cause{fill:#f0a868}.wf .depth{fill:#25406a;stroke:#5b8bc9}\n"
    ".wf .j0{fill:#5f9be0}.wf .j1{fill:#dd9a4e}.wf .j2{fill:#62b793}.wf .j3{fill:#bb8bd6}\n"
    ".wf .j4{fill:#dc8080}.wf .j5{fill:#c7b759}.wf .j6{fill:#73b9ce}.wf .j7{fill:#a8b572}\n"
    ".wf .jx{fill:#7d8794}}\n"
    "</style>\n";

static void put_axis(cuzk_text *t, const picture *p)
{
    uint64_t window = p->a->to_us - p->a->from_us, tick = cuzk_tick_us(window, 11);
    for (uint64_t at = 0; at <= window; at += tick) {
        char label[CUZK_TIME] = "0";
        double x = x_of(p, p->a->from_us + at);
        if (at > 0) {
            cuzk_time(label, at);
        }
        cuzk_text_printf(t, "<line class=\"tick\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>", x,
                         TOP - 8, x, p->bottom);
        if (x < WIDTH - 40) {
            cuzk_text_printf(t, "<text class=\"num\" x=\"%.1f\" y=\"%d\">%s</text>\n", x + 3,
                             TOP - 12, label);
        }
        if (window - at < tick) {
            break;
        }
    }
}

static void put_lanes(cuzk_text *t, const picture *p)
{
    for (size_t i = 0; i < p->lanes.n; i++) {
        int h = height_of(&p->lanes.p[i]);
        cuzk_text_printf(t,
                         "<rect class=\"lane\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                         "rx=\"3\"/><text class=\"dim\" x=\"%d\" y=\"%d\" "
                         "text-anchor=\"end\">%s</text>\n",
                         GUTTER, p->top[i], WIDTH - GUTTER - RIGHT, h, GUTTER - 8,
                         p->top[i] + h / 2 + 4, p->lanes.p[i].label);
    }
}

static void put_tooltip(cuzk_text *t, const cuzk_analysis *a, const cuzk_interval *i)
{
    char start[CUZK_TIME], took[CUZK_TIME], id[32];
    long job = cuzk_summary_index(a, i->job);
    cuzk_text_printf(t, "<title>%s", cuzk_phase_name(i->phase));
    if (job >= 0) {
        cuzk_text_str(t, ", ");
        cuzk_text_xml(t, cuzk_summary_id(&a->jobs[job], id));
    }
    if (i->partition >= 0) {
        cuzk_text_printf(t, ", partition %" PRId32, i->partition);
    }
    if (i->detail[0]) {
        cuzk_text_str(t, ", ");
        cuzk_text_xml(t, i->detail);
    }
    uint64_t from = i->start_us > a->from_us ? i->start_us - a->from_us : 0;
    cuzk_text_printf(t, ": %s from %s%s%s</title>", cuzk_time(took, i->end_us - i->start_us),
                     cuzk_time(start, from), i->cut ? ", not all of it is on record" : "",
                     i->failed ? ", failed" : "");
}

static void put_interval(cuzk_text *t, const picture *p, const cuzk_interval *i, double *drawn_to)
{
    long at = cuzk_lane_of(&p->lanes, i);
    if (at < 0) {
        return;
    }
    double x = x_of(p, i->start_us), w = x_of(p, i->end_us) - x;
    /* Thousands of intervals below a pixel would only make the file large. */
    if (w < 0.25 && x + w < drawn_to[at] + 0.25) {
        return;
    }
    drawn_to[at] = x + w;
    long job = cuzk_summary_index(p->a, i->job);
    char colour[4] = "jx", label[CUZK_EVENT_DETAIL];
    if (job >= 0) {
        colour[1] = (char)('0' + job % 8);
    }
    cuzk_text_printf(t,
                     "<g><rect class=\"%s%s%s%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
                     "height=\"%d\" rx=\"2\"/>",
                     colour, i->phase == CUZK_PHASE_SYNTH ? " synth" : "", i->cut ? " cut" : "",
                     i->failed ? " bad" : "", x, p->top[at] + 2, w > 0.5 ? w : 0.5, LANE - 4);
    put_tooltip(t, p->a, i);
    cuzk_interval_label(label, p->a, i);
    if (w >= 8 + 7.0 * (double)strlen(label)) {
        cuzk_text_printf(t, "<text class=\"in\" x=\"%.1f\" y=\"%d\">", x + 4, p->top[at] + 15);
        cuzk_text_xml(t, label);
        cuzk_text_str(t, "</text>");
    }
    cuzk_text_str(t, "</g>\n");
}

static void put_gap(cuzk_text *t, const picture *p, const cuzk_gap *g)
{
    cuzk_interval as_interval = {.phase = CUZK_PHASE_GPU, .device = g->device};
    long at = cuzk_lane_of(&p->lanes, &as_interval);
    double x = x_of(p, g->start_us), w = x_of(p, g->end_us) - x;
    if (at < 0 || w < 0.5) {
        return;
    }
    cuzk_text_printf(t,
                     "<g><rect class=\"gap%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
                     "height=\"%d\"/><title>idle",
                     g->cause == CUZK_IDLE_NO_WORK ? " g-nowork" : "", x, p->top[at] + 2, w,
                     LANE - 4);
    for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
        char part[CUZK_TIME];
        if (g->cause_us[c]) {
            cuzk_text_printf(t, ", %s %s", cuzk_idle_name((cuzk_idle_cause)c),
                             cuzk_time(part, g->cause_us[c]));
        }
    }
    cuzk_text_str(t, "</title>");
    const char *name = cuzk_idle_name(g->cause);
    if (g->cause != CUZK_IDLE_NO_WORK && w >= 10) {
        bool whole = w >= 8 + 6.5 * (double)strlen(name);
        cuzk_text_printf(t,
                         "<text class=\"cause\" x=\"%.1f\" y=\"%d\" "
                         "text-anchor=\"middle\">%.*s</text>",
                         x + w / 2, p->top[at] + 15, whole ? 40 : 1, name);
    }
    cuzk_text_str(t, "</g>\n");
}

/* The channel's depth as a stepped area. */
static void put_channel(cuzk_text *t, const picture *p, int top)
{
    const cuzk_analysis *a = p->a;
    uint32_t most = 1;
    for (size_t i = 0; i < a->n_channel; i++) {
        most = a->channel[i].n > most ? a->channel[i].n : most;
    }
    int base = top + CHANNEL - 2;
    double unit = (double)(CHANNEL - 6) / most, y = base, last_x = -1;
    cuzk_text_printf(t, "<path class=\"depth\" d=\"M%d %d", GUTTER, base);
    for (size_t i = 0; i < a->n_channel; i++) {
        double x = x_of(p, a->channel[i].t_us);
        bool last = i + 1 == a->n_channel;
        y = base - unit * a->channel[i].n;
        if (x - last_x >= 0.2 || last) { /* finer steps cannot be seen */
            cuzk_text_printf(t, "H%.2fV%.2f", x, y);
            last_x = x;
        }
    }
    cuzk_text_printf(
        t, "H%d V%dZ\"><title>partitions in the channel, at most %" PRIu32 "</title></path>\n",
        WIDTH - RIGHT, base, most);
    cuzk_text_printf(t, "<text class=\"num\" x=\"%d\" y=\"%d\">%" PRIu32 "</text>\n", GUTTER + 3,
                     top + 12, most);
}

static int put_legend(cuzk_text *t, const picture *p)
{
    const cuzk_analysis *a = p->a;
    int y = p->bottom + 26;
    for (size_t i = 0; i < a->n_jobs && i < LEGEND_JOBS; i++) {
        char label[CUZK_JOB_LABEL], id[32];
        int x = GUTTER + (int)(i % 3) * 365;
        cuzk_summary_label(label, (long)i);
        cuzk_text_printf(t,
                         "<rect class=\"j%zu\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" "
                         "rx=\"2\"/><text x=\"%d\" y=\"%d\">%s  ",
                         i % 8, x, y - 10, x + 18, y, label);
        cuzk_text cut = {0};
        cuzk_text_plain(&cut, cuzk_summary_id(&a->jobs[i], id), 44);
        cuzk_text_xml(t, cut.p ? cut.p : "");
        t->failed = t->failed || cut.failed;
        free(cut.p);
        cuzk_text_str(t, "</text>\n");
        if (i % 3 == 2 || i + 1 == a->n_jobs || i + 1 == LEGEND_JOBS) {
            y += LEGEND_LINE;
        }
    }
    if (a->n_jobs > LEGEND_JOBS) {
        cuzk_text_printf(t, "<text class=\"dim\" x=\"%d\" y=\"%d\">and %zu more jobs</text>\n",
                         GUTTER, y, a->n_jobs - LEGEND_JOBS);
        y += LEGEND_LINE;
    }
    char verdict[320];
    cuzk_verdict(a, verdict, sizeof verdict);
    size_t cut = strlen(verdict);
    if (cut > 150) { /* two lines, cut at a space */
        cut = 150;
        while (cut > 0 && verdict[cut] != ' ') {
            cut--;
        }
    }
    cuzk_text_printf(t, "<text class=\"dim\" x=\"%d\" y=\"%d\">", GUTTER, y);
    cuzk_text_put(t, verdict, cut);
    cuzk_text_printf(t, "</text>\n<text class=\"dim\" x=\"%d\" y=\"%d\">%s</text>\n", GUTTER,
                     y + 16, verdict + cut + (verdict[cut] == ' '));
    return y + 28;
}

static void put_picture(cuzk_text *t, const picture *p, double *drawn_to)
{
    put_axis(t, p);
    put_lanes(t, p);
    for (size_t i = 0; i < p->lanes.n; i++) {
        drawn_to[i] = -1;
        if (p->lanes.p[i].phase == CUZK_PHASE_CHANNEL) {
            put_channel(t, p, p->top[i]);
        }
    }
    for (size_t i = 0; i < p->a->n_gaps; i++) {
        put_gap(t, p, &p->a->gaps[i]);
    }
    for (size_t i = 0; i < p->a->n_intervals; i++) {
        put_interval(t, p, &p->a->intervals[i], drawn_to);
    }
}

cuzk_code cuzk_render_svg(char **ret, size_t *ret_n, const cuzk_analysis *a,
                          const cuzk_render_options *options, cuzk_err *err)
{
    const char *title = options && options->title ? options->title : "cuzk waterfall";
    picture p = {.a = a};
    CUZK_TRY(cuzk_lanes_make(&p.lanes, a, err));
    cuzk_text body = {0}, t = {0};
    double *drawn_to = calloc(p.lanes.n, sizeof *drawn_to);
    p.top = calloc(p.lanes.n, sizeof *p.top);
    if (drawn_to && p.top) {
        lay_out(&p);
        put_picture(&body, &p, drawn_to);
        int height = put_legend(&body, &p);
        cuzk_text_printf(&t,
                         "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"wf\" "
                         "viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n%s"
                         "<rect class=\"bg\" width=\"%d\" height=\"%d\"/>\n"
                         "<text class=\"title\" x=\"%d\" y=\"26\">",
                         WIDTH, height, WIDTH, height, style, WIDTH, height, GUTTER);
        cuzk_text_xml(&t, title);
        cuzk_text_str(&t, "</text>\n");
        cuzk_text_put(&t, body.p ? body.p : "", body.n);
        cuzk_text_str(&t, "</svg>\n");
    }
    t.failed = t.failed || body.failed || !drawn_to || !p.top;
    free(body.p);
    free(drawn_to);
    free(p.top);
    free(p.lanes.p);
    return cuzk_text_take(&t, ret, ret_n, err);
}
