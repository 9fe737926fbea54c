#ifndef CUZK_OBSERVE_ANALYSIS_PASS_H
#define CUZK_OBSERVE_ANALYSIS_PASS_H

#include "observe/analysis.h"

#include <stdlib.h>
#include <string.h>

/* What the files of the analysis share; nobody else needs this. */

typedef enum part_state {
    PART_NONE, /* not begun, begun again, or dropped */
    PART_SYNTH,
    PART_HELD,
    PART_CHANNEL,
    PART_PICKED,
    PART_GPU,
    PART_PROVED,
    PART_FINISH,
    PART_STATES
} part_state;

typedef struct part {
    uint64_t job;
    int32_t partition;
    part_state state;
    int16_t worker, device; /* of the state */
    bool cut;               /* it was in its state before the record */
    bool seen;              /* first pass: an event of it was looked at */
    bool begun, proved;
    uint64_t since_us;
} part;

typedef struct job {
    cuzk_job_summary sum;
    bool queued_seen, started, over, waiting;
    uint32_t begun; /* partitions */
} job;

typedef struct load {
    cuzk_phase phase;
    int16_t worker, device;
    uint64_t since_us, job;
    bool cut;
    const char *detail;
} load;

typedef struct device {
    cuzk_device_summary sum;
    uint32_t open; /* partitions on it */
    bool down;
    cuzk_gap gap;
} device;

typedef struct pass {
    const cuzk_record *r;
    cuzk_analysis *a;
    const cuzk_event **events; /* by time, then seq */
    part *parts;               /* by job, then partition */
    size_t n_parts;
    job *jobs; /* by number */
    size_t n_jobs;
    load *loads; /* open ones */
    size_t n_loads;
    device *devices;
    size_t n_devices;
    size_t cap_intervals, cap_gaps;
    uint32_t count[PART_STATES]; /* partitions in each state */
    uint32_t waiting;            /* jobs with partitions that were not begun */
    uint64_t now_us;
    bool out_of_memory;
} pass;

/** The pass itself: from the states that are seeded to the results in p->a. */
void cuzk_pass_run(pass *p);

/** Puts a partition that is in no interval into a state. */
void cuzk_pass_enter(pass *p, part *x, part_state state, const cuzk_event *e, uint64_t t_us);

/** Gives each interval its row. */
cuzk_code cuzk_analysis_rows(cuzk_analysis *a, cuzk_err *err);

static inline bool in_window(const cuzk_analysis *a, uint64_t t_us)
{
    return t_us >= a->from_us && t_us <= a->to_us;
}

static inline device *find_device(pass *p, int16_t number)
{
    for (size_t i = 0; i < p->n_devices; i++) {
        if (p->devices[i].sum.device == number) {
            return &p->devices[i];
        }
    }
    return NULL;
}

static inline job *find_job(const pass *p, uint64_t number)
{
    size_t low = 0, high = p->n_jobs;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->jobs[mid].sum.number < number) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < p->n_jobs && p->jobs[low].sum.number == number ? &p->jobs[low] : NULL;
}

static inline int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->job != y->job) {
        return x->job < y->job ? -1 : 1;
    }
    return (x->partition > y->partition) - (x->partition < y->partition);
}

static inline part *find_part(const pass *p, const cuzk_event *e)
{
    part key = {.job = e->job, .partition = e->partition};
    return bsearch(&key, p->parts, p->n_parts, sizeof key, compare_parts);
}

/* The first partition of a job, or where it would be. */
static inline part *first_part(const pass *p, uint64_t number)
{
    size_t low = 0, high = p->n_parts;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (p->parts[mid].job < number) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return &p->parts[low];
}

static inline void begin_load(pass *p, const cuzk_event *e, cuzk_phase phase, uint64_t since_us,
                              bool cut)
{
    p->loads[p->n_loads++] = (load){phase, e->worker, e->device, since_us, e->job, cut, e->detail};
}

static inline bool is_load(const load *l, const cuzk_event *e, cuzk_phase phase)
{
    return l->phase == phase && l->device == e->device && strcmp(l->detail, e->detail) == 0;
}

#endif
