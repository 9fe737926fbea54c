#include "observe/render_common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lanes --------------------------------------------------------------------------------------- */

enum { MAX_ROWS = 64 };

/* Place of a phase from top to bottom; -1: it has no lane. */
static int order(cuzk_phase phase)
{
    static const cuzk_phase from_top[] = {CUZK_PHASE_KEY_LOAD, CUZK_PHASE_CIRCUIT_LOAD,
                                          CUZK_PHASE_SYNTH,    CUZK_PHASE_CHANNEL,
                                          CUZK_PHASE_GPU,      CUZK_PHASE_FINISH};
    for (int i = 0; i < (int)(sizeof from_top / sizeof from_top[0]); i++) {
        if (from_top[i] == phase) {
            return i;
        }
    }
    return -1;
}

static int16_t lane_device(const cuzk_interval *i)
{
    bool host = i->phase == CUZK_PHASE_SYNTH || i->phase == CUZK_PHASE_FINISH;
    return host ? -1 : i->device;
}

static int compare_lanes(const void *a, const void *b)
{
    const lane *x = a, *y = b;
    if (x->phase != y->phase) {
        return order(x->phase) - order(y->phase);
    }
    if (x->device != y->device) {
        return x->device - y->device;
    }
    return x->row - y->row;
}

/* As they are shown: the host's workers by number, a device's rows as they came. */
static int compare_shown(const void *a, const void *b)
{
    const lane *x = a, *y = b;
    bool by_worker = x->phase == y->phase &&
                     (x->phase == CUZK_PHASE_SYNTH || x->phase == CUZK_PHASE_FINISH) &&
                     x->worker != y->worker;
    return by_worker ? x->worker - y->worker : compare_lanes(a, b);
}

long cuzk_lane_of(const lanes *all, const cuzk_interval *i)
{
    lane key = {.phase = i->phase, .device = lane_device(i), .row = i->row};
    if (order(i->phase) < 0 || i->phase == CUZK_PHASE_CHANNEL) {
        return -1;
    }
    for (size_t k = 0; k < all->n; k++) {
        if (compare_lanes(&all->p[k], &key) == 0) {
            return (long)k;
        }
    }
    return -1;
}

static void add_lane(lanes *all, size_t cap, cuzk_phase phase, int16_t device, uint16_t row,
                     int16_t worker)
{
    lane key = {.phase = phase, .device = device, .row = row, .worker = worker};
    for (size_t k = 0; k < all->n; k++) {
        if (compare_lanes(&all->p[k], &key) == 0) {
            return;
        }
    }
    if (all->n < cap && row < MAX_ROWS) {
        all->p[all->n++] = key;
    }
}

static void name_lane(lane *l)
{
    char device[16] = "", worker[16] = "";
    if (l->device >= 0) {
        snprintf(device, sizeof device, " %d", l->device);
    }
    if (l->worker >= 0) {
        snprintf(worker, sizeof worker, " %d", l->worker);
    }
    switch (l->phase) {
    case CUZK_PHASE_KEY_LOAD:
        snprintf(l->label, sizeof l->label, "key%s", device);
        break;
    case CUZK_PHASE_CIRCUIT_LOAD:
        snprintf(l->label, sizeof l->label, "circuit%s", device);
        break;
    case CUZK_PHASE_SYNTH:
        snprintf(l->label, sizeof l->label, "synth%s", worker);
        break;
    case CUZK_PHASE_GPU:
        snprintf(l->label, sizeof l->label, "device%s%s%s", device, l->row ? " w" : "",
                 l->row ? worker : "");
        break;
    case CUZK_PHASE_FINISH:
        snprintf(l->label, sizeof l->label, "finish%s", worker);
        break;
    default:
        snprintf(l->label, sizeof l->label, "channel");
    }
}

cuzk_code cuzk_lanes_make(lanes *ret, const cuzk_analysis *a, cuzk_err *err)
{
    enum { CAP = 512 };
    lanes all = {calloc(CAP, sizeof(lane)), 0};
    if (!all.p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the lanes of a timeline");
    }
    add_lane(&all, CAP, CUZK_PHASE_CHANNEL, -1, 0, -1);
    for (size_t i = 0; i < a->n_intervals; i++) {
        const cuzk_interval *x = &a->intervals[i];
        if (order(x->phase) >= 0 && x->phase != CUZK_PHASE_CHANNEL) {
            add_lane(&all, CAP, x->phase, lane_device(x), x->row, x->worker);
        }
    }
    for (size_t i = 0; i < a->n_devices; i++) { /* those that did nothing, too */
        add_lane(&all, CAP, CUZK_PHASE_GPU, a->devices[i].device, 0, -1);
    }
    qsort(all.p, all.n, sizeof *all.p, compare_shown);
    for (size_t i = 0; i < all.n; i++) {
        name_lane(&all.p[i]);
    }
    *ret = all;
    return CUZK_OK;
}

/* Names --------------------------------------------------------------------------------------- */

long cuzk_summary_index(const cuzk_analysis *a, uint64_t number)
{
    size_t low = 0, high = a->n_jobs;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (a->jobs[mid].number < number) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < a->n_jobs && a->jobs[low].number == number ? (long)low : -1;
}

void cuzk_summary_label(char ret[CUZK_JOB_LABEL], long index)
{
    char backwards[CUZK_JOB_LABEL];
    size_t n = 0;
    for (long i = index; i >= 0 && n < CUZK_JOB_LABEL - 1; i = i / 26 - 1) {
        backwards[n++] = (char)('A' + i % 26);
    }
    if (n == 0) {
        backwards[n++] = '?';
    }
    for (size_t i = 0; i < n; i++) {
        ret[i] = backwards[n - 1 - i];
    }
    ret[n] = 0;
}

void cuzk_interval_label(char ret[CUZK_EVENT_DETAIL], const cuzk_analysis *a,
                         const cuzk_interval *i)
{
    char job[CUZK_JOB_LABEL];
    cuzk_summary_label(job, cuzk_summary_index(a, i->job));
    if (i->phase == CUZK_PHASE_KEY_LOAD || i->phase == CUZK_PHASE_CIRCUIT_LOAD) {
        snprintf(ret, CUZK_EVENT_DETAIL, "%s", i->detail);
    } else if (i->partition >= 0) {
        snprintf(ret, CUZK_EVENT_DETAIL, "%s%" PRId32, job, i->partition);
    } else {
        snprintf(ret, CUZK_EVENT_DETAIL, "%s", job);
    }
}

const char *cuzk_summary_id(const cuzk_job_summary *j, char buf[32])
{
    if (j->name && j->name->id[0]) {
        return j->name->id;
    }
    snprintf(buf, 32, "job %" PRIu64, j->number);
    return buf;
}

const char *cuzk_summary_kind(const cuzk_job_summary *j) { return j->name ? j->name->kind : ""; }

const char *cuzk_time(char ret[CUZK_TIME], uint64_t us)
{
    if (us == 0) {
        snprintf(ret, CUZK_TIME, "0 s");
    } else if (us < 1000) {
        snprintf(ret, CUZK_TIME, "%" PRIu64 " us", us);
    } else if (us < 9995) {
        snprintf(ret, CUZK_TIME, "%.2f ms", (double)us / 1e3);
    } else if (us < 999500) {
        snprintf(ret, CUZK_TIME, "%.0f ms", (double)us / 1e3);
    } else if (us < 9995000) {
        snprintf(ret, CUZK_TIME, "%.2f s", (double)us / 1e6);
    } else {
        snprintf(ret, CUZK_TIME, "%.1f s", (double)us / 1e6);
    }
    return ret;
}

uint64_t cuzk_tick_us(uint64_t window_us, unsigned n)
{
    uint64_t step = 1;
    for (unsigned k = 0; window_us / step >= n && step < UINT64_MAX / 10; k++) {
        step = k % 3 == 1 ? step / 2 * 5 : step * 2; /* 1, 2, 5, 10, … */
    }
    return step;
}

/* Facts --------------------------------------------------------------------------------------- */

static fact *put(fact *f, const char *name) /* the value is for the caller to write */
{
    snprintf(f->name, sizeof f->name, "%s", name);
    f->value[0] = 0;
    return f;
}

static void put_stat(fact *f, const char *name, const cuzk_stat *s)
{
    char min[CUZK_TIME], avg[CUZK_TIME], max[CUZK_TIME];
    put(f, name);
    snprintf(f->value, sizeof f->value, "%s / %s / %s (%" PRIu64 ")", cuzk_time(min, s->min_us),
             cuzk_time(avg, (uint64_t)cuzk_stat_avg_us(s)), cuzk_time(max, s->max_us), s->n);
}

static size_t put_rates(fact *f, const cuzk_analysis *a)
{
    char t[CUZK_TIME];
    fact *start = f;
    put(f, "time shown");
    snprintf(f++->value, sizeof f->value, "%s", cuzk_time(t, a->to_us - a->from_us));
    put(f, "jobs");
    snprintf(f++->value, sizeof f->value,
             "%" PRIu64 " done, %" PRIu64 " failed, %" PRIu64 " cancelled; %" PRIu64 " retries",
             a->done, a->failed, a->cancelled, a->retries);
    double all = cuzk_proofs_per_minute(a, false), steady = cuzk_proofs_per_minute(a, true);
    if (all > 0) {
        put(f, "throughput overall");
        snprintf(f++->value, sizeof f->value, "%.3g proofs/min (%.4g s/proof)", all, 60 / all);
    }
    if (steady > 0) {
        put(f, "throughput in steady state");
        snprintf(f++->value, sizeof f->value, "%.3g proofs/min (%.4g s/proof)", steady,
                 60 / steady);
    }
    if (a->first_us) {
        put(f, "first proof, with loads");
        snprintf(f++->value, sizeof f->value, "%s", cuzk_time(t, a->first_us));
    }
    if (a->n_devices) {
        put(f, "device utilisation");
        int n =
            snprintf(f->value, sizeof f->value, "%.1f %%", 100 * cuzk_utilisation_all(a, false));
        if (steady > 0 && n > 0) {
            snprintf(f->value + n, sizeof f->value - (size_t)n, ", %.1f %% in steady state",
                     100 * cuzk_utilisation_all(a, true));
        }
        f++;
    }
    return (size_t)(f - start);
}

static size_t put_idle(fact *f, const cuzk_analysis *a)
{
    uint64_t idle[CUZK_IDLE_COUNT] = {0}, sum = 0;
    for (size_t d = 0; d < a->n_devices; d++) {
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            idle[c] += a->devices[d].idle_us[c];
            sum += a->devices[d].idle_us[c];
        }
    }
    if (sum == 0) {
        return 0;
    }
    put(f, "device idle");
    size_t n = 0;
    for (unsigned c = 0; c < CUZK_IDLE_COUNT && n < sizeof f->value; c++) {
        char t[CUZK_TIME];
        if (idle[c] > 0) {
            int k = snprintf(f->value + n, sizeof f->value - n, "%s%s %s", n ? ", " : "",
                             cuzk_idle_name((cuzk_idle_cause)c), cuzk_time(t, idle[c]));
            n += k > 0 ? (size_t)k : 0;
        }
    }
    return 1;
}

size_t cuzk_facts(fact ret[CUZK_FACTS], const cuzk_analysis *a)
{
    size_t n = put_rates(ret, a);
    n += put_idle(&ret[n], a);
    if (a->total.n) {
        put_stat(&ret[n++], "job, min / avg / max", &a->total);
    }
    for (unsigned p = 0; p < CUZK_PHASE_COUNT; p++) {
        if (a->phase[p].n) {
            char name[48];
            snprintf(name, sizeof name, "%s, min / avg / max", cuzk_phase_name((cuzk_phase)p));
            put_stat(&ret[n++], name, &a->phase[p]);
        }
    }
    if (a->record->lost) {
        put(&ret[n], "events lost");
        snprintf(ret[n++].value, sizeof ret->value, "%" PRIu64, a->record->lost);
    }
    return n;
}

size_t cuzk_longest_gaps(const cuzk_gap **ret, size_t n, const cuzk_analysis *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->n_gaps; i++) {
        const cuzk_gap *g = &a->gaps[i];
        uint64_t us = g->end_us - g->start_us;
        size_t at = kept < n ? kept++ : n;
        while (at > 0 && ret[at - 1]->end_us - ret[at - 1]->start_us < us) {
            if (at < n) {
                ret[at] = ret[at - 1];
            }
            at--;
        }
        if (at < n) {
            ret[at] = g;
        }
    }
    return kept;
}
