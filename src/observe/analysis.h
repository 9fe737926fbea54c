#ifndef CUZK_OBSERVE_ANALYSIS_H
#define CUZK_OBSERVE_ANALYSIS_H

#include "cuzk/job.h"
#include "observe/record.h"

/*
 * What a timeline says: intervals, utilisation, idle gaps and their cause, waits, throughput. All
 * times are microseconds since the epoch. A record may begin and end in the middle of jobs.
 */

typedef enum cuzk_phase {
    CUZK_PHASE_QUEUE,        /* QUEUED to the job's first synthesis */
    CUZK_PHASE_SYNTH,        /* SYNTH_START to SYNTH_END */
    CUZK_PHASE_HELD,         /* SYNTH_END to CHAN_SEND: made, but kept back */
    CUZK_PHASE_CHANNEL,      /* CHAN_SEND to GPU_PICKUP */
    CUZK_PHASE_PICKUP,       /* GPU_PICKUP to GPU_START */
    CUZK_PHASE_GPU,          /* GPU_START to GPU_END */
    CUZK_PHASE_FINISH,       /* FINISH_START to FINISH_END */
    CUZK_PHASE_KEY_LOAD,     /* SRS_LOAD_START to SRS_LOAD_END */
    CUZK_PHASE_CIRCUIT_LOAD, /* PCE_LOAD_START to PCE_LOAD_END */
    CUZK_PHASE_COUNT
} cuzk_phase;

/** Name of a phase in plain words, e.g. "key load". */
const char *cuzk_phase_name(cuzk_phase phase);

typedef struct cuzk_interval {
    cuzk_phase phase;
    uint64_t start_us, end_us; /* end >= start */
    uint64_t job;              /* 0: none */
    int32_t partition;         /* -1: none */
    int16_t worker, device;    /* -1: none */
    uint16_t row;              /* lane among those of its phase and device that overlap; from 0 */
    bool cut;                  /* it began before the record or goes on after it */
    bool failed;               /* its job or attempt ended inside it */
    const char *detail;        /* borrowed from the record: of loads, the circuit */
} cuzk_interval;

/** Why a device was idle: constant, letter, name, explanation. In the order in which they are
 *  tried. */
#define CUZK_IDLE_MAP(X)                                                                           \
    X(CUZK_IDLE_WORKER, 'd', "worker down", "the device's worker had died and was not back yet")   \
    X(CUZK_IDLE_LOADING, 'l', "loading",                                                           \
      "a key or circuit was being loaded and a partition waited for it, or nothing was in "        \
      "synthesis")                                                                                 \
    X(CUZK_IDLE_CHANNEL, 'c', "channel",                                                           \
      "partitions were ready but kept back (slot_size), or sent but not started")                  \
    X(CUZK_IDLE_SYNTHESIS, 's', "synthesis", "nothing was ready and synthesis was running")        \
    X(CUZK_IDLE_WAITING, 'w', "waiting",                                                           \
      "jobs were queued but nothing was in synthesis (budget or a limit)")                         \
    X(CUZK_IDLE_NO_WORK, '.', "no work", "no partition was left to prove")

typedef enum cuzk_idle_cause {
#define X(cause, letter, name, text) cause,
    CUZK_IDLE_MAP(X)
#undef X
        CUZK_IDLE_COUNT
} cuzk_idle_cause;

const char *cuzk_idle_name(cuzk_idle_cause cause);
char cuzk_idle_letter(cuzk_idle_cause cause);
const char *cuzk_idle_text(cuzk_idle_cause cause);

/** A time in which no GPU_START..GPU_END was open on a device. */
typedef struct cuzk_gap {
    int16_t device;
    uint64_t start_us, end_us;
    uint64_t cause_us[CUZK_IDLE_COUNT]; /* how the gap divides */
    cuzk_idle_cause cause;              /* that of the largest part */
} cuzk_gap;

/** min, sum and max of n values in microseconds; all 0 for none. */
typedef struct cuzk_stat {
    uint64_t n, min_us, max_us, sum_us;
} cuzk_stat;

static inline double cuzk_stat_avg_us(const cuzk_stat *s)
{
    return s->n ? (double)s->sum_us / (double)s->n : 0;
}

typedef struct cuzk_job_summary {
    uint64_t number;
    const cuzk_job_name *name; /* borrowed from the record; NULL: unknown */
    cuzk_job_state state;
    bool cut;            /* its QUEUED is before the record */
    uint64_t queued_us;  /* or its first event */
    uint64_t started_us; /* its first synthesis or device work; end_us when there is none */
    uint64_t end_us;     /* DONE, FAILED or CANCEL; the record's end while it runs */
    uint64_t synth_us, gpu_us, finish_us; /* sums over its partitions */
    uint32_t partitions;                  /* as QUEUED said, or as seen */
    uint32_t proved;                      /* GPU_END seen, retries aside */
    uint32_t retries;
    const char *reason; /* borrowed: of FAILED; NULL */
} cuzk_job_summary;

typedef struct cuzk_device_summary {
    int16_t device;
    uint64_t busy_us;  /* in the window */
    uint64_t bound_us; /* busy with something in the channel: the device is what is waited for */
    uint64_t idle_us[CUZK_IDLE_COUNT];
    uint64_t steady_busy_us; /* in the steady window */
    uint64_t partitions;     /* GPU_END in the window */
    uint64_t deaths;
} cuzk_device_summary;

/** A step of a count over time. */
typedef struct cuzk_step {
    uint64_t t_us;
    uint32_t n;
} cuzk_step;

typedef struct cuzk_analysis {
    const cuzk_record *record; /* borrowed */
    uint64_t from_us, to_us;   /* the window */
    cuzk_interval *intervals;  /* by start */
    size_t n_intervals;
    cuzk_gap *gaps; /* by device, then start */
    size_t n_gaps;
    cuzk_job_summary *jobs; /* ascending numbers */
    size_t n_jobs;
    cuzk_device_summary *devices; /* ascending */
    size_t n_devices;
    cuzk_step *channel; /* partitions in the channel */
    size_t n_channel;
    cuzk_step *synth; /* partitions in synthesis */
    size_t n_synth;
    cuzk_stat phase[CUZK_PHASE_COUNT]; /* of whole intervals */
    cuzk_stat total;                   /* QUEUED to DONE */
    cuzk_stat prove;                   /* first synthesis to DONE */
    uint64_t done, failed, cancelled, retries, evictions;
    /* Throughput over all: the window. In steady state: from the first DONE to the last one, less
     * the time in which a load ran and no device was busy; steady_done counts the DONE after the
     * first. */
    uint64_t first_us; /* QUEUED to DONE of the first job that was done; 0: none */
    uint64_t steady_from_us, steady_to_us, steady_load_us;
    uint64_t steady_done;
} cuzk_analysis;

/** Analyses a window of a record: [from_us, to_us], or from its first to its last event where these
 *  are 0. The result borrows the record. The caller clears it. */
cuzk_code cuzk_analyse(cuzk_analysis *ret, const cuzk_record *record, uint64_t from_us,
                       uint64_t to_us, cuzk_err *err);

void cuzk_analysis_clear(cuzk_analysis *a);

/** Share of the window in which the device was busy, 0 to 1; steady: of the steady window. */
double cuzk_utilisation(const cuzk_analysis *a, const cuzk_device_summary *d, bool steady);

/** The same over all devices. */
double cuzk_utilisation_all(const cuzk_analysis *a, bool steady);

/** Proofs per minute in the window, or in steady state; 0 when nothing can be said. */
double cuzk_proofs_per_minute(const cuzk_analysis *a, bool steady);

/** What held the devices back most, in one sentence with numbers, e.g. "device-bound: …". Writes at
 *  most cap bytes with a NUL. */
void cuzk_verdict(const cuzk_analysis *a, char *ret, size_t cap);

#endif
