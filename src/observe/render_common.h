#ifndef CUZK_OBSERVE_RENDER_COMMON_H
#define CUZK_OBSERVE_RENDER_COMMON_H

#include "observe/render.h"
#include "observe/text.h"

/* What the renderers share; nobody else needs this. */

/** One line of a picture: the channel, or a row of one phase and device. */
typedef struct lane {
    cuzk_phase phase; /* CUZK_PHASE_CHANNEL: the channel's depth */
    int16_t device;   /* -1: the host */
    uint16_t row;
    int16_t worker; /* -1: none, or not one alone */
    char label[48];
} lane;

typedef struct lanes {
    lane *p; /* owned */
    size_t n;
} lanes;

/** The lanes of an analysis from top to bottom: loads, synthesis, channel, devices, finish. At most
 *  64 of each phase. The caller frees ret->p. */
cuzk_code cuzk_lanes_make(lanes *ret, const cuzk_analysis *a, cuzk_err *err);

/** Index of the lane that an interval is drawn in; -1: in none. */
long cuzk_lane_of(const lanes *all, const cuzk_interval *i);

/** Index of a job in a->jobs; -1 for none. */
long cuzk_summary_index(const cuzk_analysis *a, uint64_t number);

/** A, B, … Z, AA, AB, … for the index of a job; "?" for -1. */
enum { CUZK_JOB_LABEL = 8 };
void cuzk_summary_label(char ret[CUZK_JOB_LABEL], long index);

/** What an interval is called: the job's label with the partition, or a load's circuit. */
void cuzk_interval_label(char ret[CUZK_EVENT_DETAIL], const cuzk_analysis *a,
                         const cuzk_interval *i);

/** Id of a job, or "job 7"; its kind, or "". `buf` lends memory. */
const char *cuzk_summary_id(const cuzk_job_summary *j, char buf[32]);
const char *cuzk_summary_kind(const cuzk_job_summary *j);

/** A time with a fitting unit, e.g. "12.3 s". */
enum { CUZK_TIME = 24 };
const char *cuzk_time(char ret[CUZK_TIME], uint64_t us);

/** The distance of ticks, 1, 2 or 5 times a power of ten microseconds, of which at most n fit. */
uint64_t cuzk_tick_us(uint64_t window_us, unsigned n);

/** A number that the reports show, with its name. */
typedef struct fact {
    char name[48], value[160];
} fact;

enum { CUZK_FACTS = 24 };
/** Throughput, utilisation, waits and counts: up to CUZK_FACTS of them; returns how many. */
size_t cuzk_facts(fact ret[CUZK_FACTS], const cuzk_analysis *a);

/** The gaps of an analysis, longest first, at most n; returns how many. */
size_t cuzk_longest_gaps(const cuzk_gap **ret, size_t n, const cuzk_analysis *a);

#endif
