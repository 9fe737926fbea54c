#include "observe/render_common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Trace Event Format (Google, "Trace Event Format", 2016). One process for each group of lanes, one
 * thread for each lane: complete events "X", flows "s" and "f" from synthesis to the device,
 * counters "C", metadata "M". Times are microseconds.
 */

/* The groups as processes. */
static int process_of(const lane *l)
{
    switch (l->phase) {
    case CUZK_PHASE_SYNTH:
        return 1;
    case CUZK_PHASE_CHANNEL:
        return 2;
    case CUZK_PHASE_FINISH:
        return 3;
    case CUZK_PHASE_KEY_LOAD:
    case CUZK_PHASE_CIRCUIT_LOAD:
        return 4;
    default:
        return 10 + l->device + 1;
    }
}

static void put_process_name(char ret[32], const lane *l)
{
    static const char *const names[] = {"", "synthesis", "channel", "finish", "loads"};
    int pid = process_of(l);
    if (pid < 10) {
        snprintf(ret, 32, "%s", names[pid]);
    } else {
        snprintf(ret, 32, l->device < 0 ? "prover" : "device %d", l->device);
    }
}

static void put_metadata(cuzk_text *t, const lanes *all)
{
    for (size_t i = 0; i < all->n; i++) {
        char name[32];
        put_process_name(name, &all->p[i]);
        int pid = process_of(&all->p[i]);
        cuzk_text_printf(t,
                         "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,"
                         "\"args\":{\"name\":\"%s\"}},\n"
                         "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"tid\":0,"
                         "\"args\":{\"sort_index\":%d}},\n"
                         "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%zu,"
                         "\"args\":{\"name\":\"%s\"}},\n",
                         pid, name, pid, pid, pid, i + 1, all->p[i].label);
    }
}

static void put_args(cuzk_text *t, const cuzk_analysis *a, const cuzk_interval *i)
{
    cuzk_text_str(t, "\"args\":{\"phase\":");
    cuzk_text_json(t, cuzk_phase_name(i->phase));
    long at = cuzk_summary_index(a, i->job);
    if (at >= 0) {
        char id[32];
        cuzk_text_str(t, ",\"job_id\":");
        cuzk_text_json(t, cuzk_summary_id(&a->jobs[at], id));
        cuzk_text_str(t, ",\"proof_kind\":");
        cuzk_text_json(t, cuzk_summary_kind(&a->jobs[at]));
    }
    if (i->partition >= 0) {
        cuzk_text_printf(t, ",\"partition\":%" PRId32, i->partition);
    }
    if (i->detail[0]) {
        cuzk_text_str(t, ",\"detail\":");
        cuzk_text_json(t, i->detail);
    }
    cuzk_text_printf(t, ",\"cut\":%s,\"failed\":%s}", i->cut ? "true" : "false",
                     i->failed ? "true" : "false");
}

/* A time inside an interval at one of its ends, where a flow's arrow holds on. */
static void put_flow(cuzk_text *t, const char *ph, size_t id, uint64_t ts, int pid, size_t tid)
{
    cuzk_text_printf(t,
                     "{\"ph\":\"%s\",\"name\":\"partition\",\"cat\":\"flow\",\"id\":%zu,"
                     "\"ts\":%" PRIu64 ",\"pid\":%d,\"tid\":%zu%s},\n",
                     ph, id, ts, pid, tid, ph[0] == 'f' ? ",\"bp\":\"e\"" : "");
}

static int by_part(const void *a, const void *b)
{
    const cuzk_interval *x = *(const cuzk_interval *const *)a,
                        *y = *(const cuzk_interval *const *)b;
    if (x->job != y->job) {
        return x->job < y->job ? -1 : 1;
    }
    if (x->partition != y->partition) {
        return x->partition < y->partition ? -1 : 1;
    }
    if (x->start_us != y->start_us) {
        return x->start_us < y->start_us ? -1 : 1;
    }
    return (x->phase > y->phase) - (x->phase < y->phase);
}

/* An arrow from each synthesis to the device work of the same partition that follows it. */
static void put_flows(cuzk_text *t, const cuzk_analysis *a, const lanes *all)
{
    const cuzk_interval **sorted = calloc(a->n_intervals + 1, sizeof *sorted);
    if (!sorted) {
        t->failed = true;
        return;
    }
    size_t n = 0;
    for (size_t i = 0; i < a->n_intervals; i++) {
        const cuzk_interval *x = &a->intervals[i];
        if (x->phase == CUZK_PHASE_SYNTH || x->phase == CUZK_PHASE_GPU) {
            sorted[n++] = x;
        }
    }
    qsort(sorted, n, sizeof *sorted, by_part);
    for (size_t i = 0; i + 1 < n; i++) {
        const cuzk_interval *x = sorted[i], *y = sorted[i + 1];
        long from = cuzk_lane_of(all, x), to = cuzk_lane_of(all, y);
        bool flows = x->phase == CUZK_PHASE_SYNTH && y->phase == CUZK_PHASE_GPU &&
                     x->job == y->job && x->partition == y->partition && from >= 0 && to >= 0;
        if (flows) {
            uint64_t last = x->end_us > x->start_us ? x->end_us - 1 : x->start_us;
            put_flow(t, "s", i + 1, last, process_of(&all->p[from]), (size_t)from + 1);
            put_flow(t, "f", i + 1, y->start_us, process_of(&all->p[to]), (size_t)to + 1);
        }
    }
    free(sorted);
}

static void put_intervals(cuzk_text *t, const cuzk_analysis *a, const lanes *all)
{
    for (size_t i = 0; i < a->n_intervals; i++) {
        const cuzk_interval *x = &a->intervals[i];
        long at = cuzk_lane_of(all, x);
        if (at < 0) {
            continue;
        }
        char label[CUZK_EVENT_DETAIL];
        cuzk_interval_label(label, a, x);
        cuzk_text_str(t, "{\"ph\":\"X\",\"name\":");
        cuzk_text_json(t, label);
        cuzk_text_printf(t, ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"pid\":%d,\"tid\":%ld,",
                         x->start_us, x->end_us - x->start_us, process_of(&all->p[at]), at + 1);
        put_args(t, a, x);
        cuzk_text_str(t, "},\n");
    }
}

static void put_gaps(cuzk_text *t, const cuzk_analysis *a, const lanes *all)
{
    for (size_t i = 0; i < a->n_gaps; i++) {
        const cuzk_gap *g = &a->gaps[i];
        cuzk_interval as_interval = {.phase = CUZK_PHASE_GPU, .device = g->device};
        long at = cuzk_lane_of(all, &as_interval);
        if (at >= 0) {
            cuzk_text_printf(t,
                             "{\"ph\":\"X\",\"name\":\"idle: %s\",\"cat\":\"idle\",\"ts\":%" PRIu64
                             ",\"dur\":%" PRIu64 ",\"pid\":%d,\"tid\":%ld},\n",
                             cuzk_idle_name(g->cause), g->start_us, g->end_us - g->start_us,
                             process_of(&all->p[at]), at + 1);
        }
    }
}

static void put_counter(cuzk_text *t, const char *name, int pid, const cuzk_step *steps, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cuzk_text_printf(t,
                         "{\"ph\":\"C\",\"name\":\"%s\",\"ts\":%" PRIu64 ",\"pid\":%d,\"tid\":0,"
                         "\"args\":{\"partitions\":%" PRIu32 "}},\n",
                         name, steps[i].t_us, pid, steps[i].n);
    }
}

cuzk_code cuzk_render_trace(char **ret, size_t *ret_n, const cuzk_analysis *a,
                            const cuzk_render_options *options, cuzk_err *err)
{
    lanes all;
    CUZK_TRY(cuzk_lanes_make(&all, a, err));
    cuzk_text t = {0};
    cuzk_text_str(&t, "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":");
    cuzk_text_json(&t, options && options->title ? options->title : "cuzk waterfall");
    cuzk_text_printf(&t, ",\"epoch_wall_us\":%" PRIu64 "},\"traceEvents\":[\n",
                     a->record->epoch_wall_us);
    put_intervals(&t, a, &all);
    put_gaps(&t, a, &all);
    put_flows(&t, a, &all);
    put_counter(&t, "channel", 2, a->channel, a->n_channel);
    put_counter(&t, "in synthesis", 1, a->synth, a->n_synth);
    put_metadata(&t, &all); /* at least the channel's, which ends in a comma */
    if (!t.failed && t.n >= 2) {
        t.n -= 2;
    }
    cuzk_text_str(&t, "\n]}\n");
    free(all.p);
    return cuzk_text_take(&t, ret, ret_n, err);
}
