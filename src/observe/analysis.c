#include "observe/analysis_pass.h"

#include <stdio.h>

const char *cuzk_phase_name(cuzk_phase phase)
{
    static const char *const names[CUZK_PHASE_COUNT] = {"queue",   "synthesis", "held",
                                                        "channel", "pickup",    "device",
                                                        "finish",  "key load",  "circuit load"};
    return phase < CUZK_PHASE_COUNT ? names[phase] : "?";
}

const char *cuzk_idle_name(cuzk_idle_cause cause)
{
    switch (cause) {
#define X(c, letter, name, text)                                                                   \
    case c:                                                                                        \
        return name;
        CUZK_IDLE_MAP(X)
#undef X
    default:
        return "?";
    }
}

char cuzk_idle_letter(cuzk_idle_cause cause)
{
    switch (cause) {
#define X(c, letter, name, text)                                                                   \
    case c:                                                                                        \
        return letter;
        CUZK_IDLE_MAP(X)
#undef X
    default:
        return '?';
    }
}

const char *cuzk_idle_text(cuzk_idle_cause cause)
{
    switch (cause) {
#define X(c, letter, name, text)                                                                   \
    case c:                                                                                        \
        return text;
        CUZK_IDLE_MAP(X)
#undef X
    default:
        return "?";
    }
}

void cuzk_analysis_clear(cuzk_analysis *a)
{
    free(a->intervals);
    free(a->gaps);
    free(a->jobs);
    free(a->devices);
    free(a->channel);
    free(a->synth);
    *a = (cuzk_analysis){0};
}

/* Rows ---------------------------------------------------------------------------------------- */

enum { MAX_ROWS = 1024 };

/* A row of one lane. */
typedef struct row {
    uint64_t end_us;
    cuzk_phase phase;
    int16_t device, worker;
    uint16_t index;
} row;

typedef struct rows {
    row *p;
    size_t n;
} rows;

/* Phases whose intervals are drawn one by one; of the others only a count is. */
static bool has_rows(cuzk_phase phase)
{
    return phase == CUZK_PHASE_SYNTH || phase == CUZK_PHASE_GPU || phase == CUZK_PHASE_FINISH ||
           phase == CUZK_PHASE_KEY_LOAD || phase == CUZK_PHASE_CIRCUIT_LOAD;
}

/* The lanes: synthesis and finish are the host's, whatever device an event names. */
static int16_t lane_device(const cuzk_interval *i)
{
    bool host = i->phase == CUZK_PHASE_SYNTH || i->phase == CUZK_PHASE_FINISH;
    return host ? -1 : i->device;
}

/* The row of the same worker that is free, else a new one. */
static uint16_t place(rows *all, const cuzk_interval *i)
{
    uint16_t next = 0;
    int16_t lane = lane_device(i);
    for (size_t k = 0; k < all->n; k++) {
        row *r = &all->p[k];
        if (r->phase != i->phase || r->device != lane) {
            continue;
        }
        next = (uint16_t)(r->index + 1);
        if (r->worker == i->worker && r->end_us <= i->start_us) {
            r->end_us = i->end_us;
            return r->index;
        }
    }
    if (all->n == MAX_ROWS) {
        return next ? (uint16_t)(next - 1) : 0; /* a picture of that many rows helps nobody */
    }
    all->p[all->n++] = (row){i->end_us, i->phase, lane, i->worker, next};
    return next;
}

cuzk_code cuzk_analysis_rows(cuzk_analysis *a, cuzk_err *err)
{
    rows all = {malloc(MAX_ROWS * sizeof(row)), 0};
    if (!all.p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the rows of a timeline");
    }
    for (size_t i = 0; i < a->n_intervals; i++) {
        if (has_rows(a->intervals[i].phase)) {
            a->intervals[i].row = place(&all, &a->intervals[i]);
        }
    }
    free(all.p);
    return CUZK_OK;
}

/* Rates --------------------------------------------------------------------------------------- */

static uint64_t steady_us(const cuzk_analysis *a)
{
    uint64_t whole = a->steady_to_us - a->steady_from_us;
    return whole > a->steady_load_us ? whole - a->steady_load_us : 0;
}

double cuzk_utilisation(const cuzk_analysis *a, const cuzk_device_summary *d, bool steady)
{
    uint64_t busy = steady ? d->steady_busy_us : d->busy_us;
    uint64_t of = steady ? steady_us(a) : a->to_us - a->from_us;
    return of ? (double)busy / (double)of : 0;
}

double cuzk_utilisation_all(const cuzk_analysis *a, bool steady)
{
    double sum = 0;
    for (size_t i = 0; i < a->n_devices; i++) {
        sum += cuzk_utilisation(a, &a->devices[i], steady);
    }
    return a->n_devices ? sum / (double)a->n_devices : 0;
}

double cuzk_proofs_per_minute(const cuzk_analysis *a, bool steady)
{
    uint64_t n = steady ? a->steady_done : a->done;
    uint64_t us = steady ? steady_us(a) : a->to_us - a->from_us;
    return us ? 60e6 * (double)n / (double)us : 0;
}

/* The verdict --------------------------------------------------------------------------------- */

typedef struct sums {
    uint64_t all, busy, bound, idle[CUZK_IDLE_COUNT], stalled;
    cuzk_idle_cause worst; /* of the stalls */
} sums;

/* Over all devices. Having no work is no stall. */
static sums add_up(const cuzk_analysis *a)
{
    sums s = {.all = a->n_devices * (a->to_us - a->from_us)};
    for (size_t i = 0; i < a->n_devices; i++) {
        s.busy += a->devices[i].busy_us;
        s.bound += a->devices[i].bound_us;
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            s.idle[c] += a->devices[i].idle_us[c];
        }
    }
    for (unsigned c = 0; c < CUZK_IDLE_NO_WORK; c++) {
        s.stalled += s.idle[c];
        s.worst = s.idle[c] > s.idle[s.worst] ? (cuzk_idle_cause)c : s.worst;
    }
    return s;
}

static double percent(uint64_t some, uint64_t of)
{
    return of ? 100.0 * (double)some / (double)of : 0;
}

void cuzk_verdict(const cuzk_analysis *a, char *ret, size_t cap)
{
    sums s = add_up(a);
    uint64_t working = s.busy + s.stalled;
    if (working == 0) {
        snprintf(ret, cap, "no work: nothing was proved in this time");
    } else if (s.stalled * 20 > working) {
        snprintf(ret, cap,
                 "%s-bound: with work at hand the devices stood still %.1f %% of the time, %.0f %% "
                 "of that because %s",
                 cuzk_idle_name(s.worst), percent(s.stalled, working),
                 percent(s.idle[s.worst], s.stalled), cuzk_idle_text(s.worst));
    } else {
        snprintf(ret, cap,
                 "device-bound: with work at hand the devices were busy %.1f %% of the time, and "
                 "%.0f %% of that with more waiting in the channel",
                 percent(s.busy, working), percent(s.bound, s.busy));
    }
}
