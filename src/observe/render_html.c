#include "observe/render_common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const head =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

static const char *const style =
    "<style>\n"
    ":root{--bg:#fff;--fg:#24292f;--dim:#656d76;--line:#d5dae1;--card:#f6f8fa}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;"
    "--line:#2b323b;--card:#161b22}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);"
    "font:15px/1.45 system-ui,-apple-system,\"Segoe UI\",sans-serif}\n"
    "main{max-width:1240px;margin:0 auto;padding:16px}\n"
    "h1{font-size:22px;margin:4px 0 4px}h2{font-size:17px;margin:28px 0 8px}\n"
    "p.verdict{margin:0 0 16px;color:var(--dim)}\n"
    ".picture{overflow-x:auto;border:1px solid var(--line);border-radius:8px}\n"
    ".picture svg{display:block;width:100%;min-width:860px;height:auto}\n"
    ".table{overflow-x:auto}table{border-collapse:collapse;width:100%}\n"
    "th,td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:top;white-space:nowrap}\n"
    "th{color:var(--dim);font-weight:500}td.n,th.n{text-align:right;"
    "font-variant-numeric:tabular-nums}td.id{white-space:normal;overflow-wrap:anywhere;"
    "min-width:160px}\n"
    "dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(270px,1fr));gap:8px;margin:0 0 "
    "18px}\n"
    "dl div{background:var(--card);border:1px solid var(--line);border-radius:8px;"
    "padding:8px 12px}dt{color:var(--dim);font-size:13px}dd{margin:2px 0 0}\n"
    "</style>\n</head>\n<body>\n<main>\n";

static void put_facts(cuzk_text *t, const cuzk_analysis *a)
{
    fact facts[CUZK_FACTS];
    size_t n = cuzk_facts(facts, a);
    cuzk_text_str(t, "<dl>\n");
    for (size_t i = 0; i < n; i++) {
        cuzk_text_printf(t, "<div><dt>%s</dt><dd>", facts[i].name);
        cuzk_text_xml(t, facts[i].value);
        cuzk_text_str(t, "</dd></div>\n");
    }
    cuzk_text_str(t, "</dl>\n");
}

static void put_time(cuzk_text *t, uint64_t us)
{
    char s[CUZK_TIME];
    cuzk_text_printf(t, "<td class=\"n\">%s</td>", cuzk_time(s, us));
}

static void put_job(cuzk_text *t, const cuzk_analysis *a, size_t i)
{
    const cuzk_job_summary *j = &a->jobs[i];
    char label[CUZK_JOB_LABEL], id[32];
    cuzk_summary_label(label, (long)i);
    cuzk_text_printf(t, "<tr><td>%s</td><td class=\"id\">", label);
    cuzk_text_xml(t, cuzk_summary_id(j, id));
    cuzk_text_str(t, "</td><td>");
    cuzk_text_xml(t, cuzk_summary_kind(j));
    cuzk_text_printf(t, "</td><td class=\"id\">%s", cuzk_job_state_name(j->state));
    if (j->reason) {
        cuzk_text_str(t, ": ");
        cuzk_text_xml(t, j->reason);
    }
    cuzk_text_printf(t, "</td><td class=\"n\">%" PRIu32 "/%" PRIu32 "</td>", j->proved,
                     j->partitions);
    put_time(t, j->started_us > j->queued_us ? j->started_us - j->queued_us : 0);
    put_time(t, j->synth_us);
    put_time(t, j->gpu_us);
    put_time(t, j->finish_us);
    put_time(t, j->end_us - j->queued_us);
    cuzk_text_printf(t, "<td class=\"n\">%" PRIu32 "</td></tr>\n", j->retries);
}

static void put_jobs(cuzk_text *t, const cuzk_analysis *a)
{
    enum { SHOWN = 500 };
    cuzk_text_str(t, "<h2>Jobs</h2>\n<div class=\"table\"><table>\n<tr><th></th><th>id</th>"
                     "<th>kind</th><th>state</th><th class=\"n\">partitions</th>"
                     "<th class=\"n\">queue</th><th class=\"n\">synthesis</th>"
                     "<th class=\"n\">device</th><th class=\"n\">finish</th>"
                     "<th class=\"n\">total</th><th class=\"n\">retries</th></tr>\n");
    for (size_t i = 0; i < a->n_jobs && i < SHOWN; i++) {
        put_job(t, a, i);
    }
    cuzk_text_str(t, "</table></div>\n");
    if (a->n_jobs > SHOWN) {
        cuzk_text_printf(t, "<p>and %zu more jobs</p>\n", a->n_jobs - SHOWN);
    }
}

static void put_devices(cuzk_text *t, const cuzk_analysis *a)
{
    cuzk_text_str(t, "<h2>Devices</h2>\n<div class=\"table\"><table>\n<tr><th>device</th>"
                     "<th class=\"n\">busy</th><th class=\"n\">of the time</th>"
                     "<th class=\"n\">steady</th><th class=\"n\">partitions</th>");
    for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
        cuzk_text_printf(t, "<th class=\"n\" title=\"%s\">%s</th>",
                         cuzk_idle_text((cuzk_idle_cause)c), cuzk_idle_name((cuzk_idle_cause)c));
    }
    cuzk_text_str(t, "</tr>\n");
    for (size_t i = 0; i < a->n_devices; i++) {
        const cuzk_device_summary *d = &a->devices[i];
        cuzk_text_printf(t, "<tr><td>%d</td>", d->device);
        put_time(t, d->busy_us);
        cuzk_text_printf(t,
                         "<td class=\"n\">%.1f %%</td><td class=\"n\">%.1f %%</td>"
                         "<td class=\"n\">%" PRIu64 "</td>",
                         100 * cuzk_utilisation(a, d, false), 100 * cuzk_utilisation(a, d, true),
                         d->partitions);
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            put_time(t, d->idle_us[c]);
        }
        cuzk_text_str(t, "</tr>\n");
    }
    cuzk_text_str(t, "</table></div>\n");
}

static void put_gaps(cuzk_text *t, const cuzk_analysis *a)
{
    const cuzk_gap *longest[20];
    size_t n = cuzk_longest_gaps(longest, 20, a);
    if (n == 0) {
        return;
    }
    cuzk_text_printf(t,
                     "<h2>Idle gaps</h2>\n<p class=\"verdict\">%zu in all%s.</p>\n"
                     "<div class=\"table\"><table>\n<tr><th>device</th><th class=\"n\">at</th>"
                     "<th class=\"n\">for</th><th>cause</th><th>divided</th></tr>\n",
                     a->n_gaps, n < a->n_gaps ? "; the longest are here" : "");
    for (size_t i = 0; i < n; i++) {
        const cuzk_gap *g = longest[i];
        cuzk_text_printf(t, "<tr><td>%d</td>", g->device);
        put_time(t, g->start_us - a->from_us);
        put_time(t, g->end_us - g->start_us);
        cuzk_text_printf(t, "<td>%s</td><td>", cuzk_idle_name(g->cause));
        const char *comma = "";
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            char part[CUZK_TIME];
            if (g->cause_us[c]) {
                cuzk_text_printf(t, "%s%s %s", comma, cuzk_idle_name((cuzk_idle_cause)c),
                                 cuzk_time(part, g->cause_us[c]));
                comma = ", ";
            }
        }
        cuzk_text_str(t, "</td></tr>\n");
    }
    cuzk_text_str(t, "</table></div>\n");
}

cuzk_code cuzk_render_html(char **ret, size_t *ret_n, const cuzk_analysis *a,
                           const cuzk_render_options *options, cuzk_err *err)
{
    const char *title = options && options->title ? options->title : "cuzk waterfall";
    char *svg;
    size_t svg_n;
    CUZK_TRY(cuzk_render_svg(&svg, &svg_n, a, options, err));
    cuzk_text t = {0};
    char verdict[320];
    cuzk_text_str(&t, head);
    cuzk_text_str(&t, "<title>");
    cuzk_text_xml(&t, title);
    cuzk_text_str(&t, "</title>\n");
    cuzk_text_str(&t, style);
    cuzk_text_str(&t, "<h1>");
    cuzk_text_xml(&t, title);
    cuzk_text_str(&t, "</h1>\n<p class=\"verdict\">");
    cuzk_verdict(a, verdict, sizeof verdict);
    cuzk_text_xml(&t, verdict);
    cuzk_text_str(&t, "</p>\n");
    put_facts(&t, a);
    cuzk_text_str(&t, "<div class=\"picture\">\n");
    cuzk_text_put(&t, svg, svg_n);
    cuzk_text_str(&t, "</div>\n");
    put_jobs(&t, a);
    put_devices(&t, a);
    put_gaps(&t, a);
    cuzk_text_str(&t, "</main>\n</body>\n</html>\n");
    free(svg);
    return cuzk_text_take(&t, ret, ret_n, err);
}
