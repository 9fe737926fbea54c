#ifndef CUZK_SNAPSHOT_H
#define CUZK_SNAPSHOT_H

#include "cuzk/backend.h"
#include "cuzk/job.h"

/*
 * An engine at one moment: what GetStatus, /status and the status page show. All arrays and strings
 * belong to the snapshot.
 */

/** Where a partition is. */
#define CUZK_PARTITION_STATE_MAP(X)                                                                \
    X(CUZK_PARTITION_PENDING, "pending")                                                           \
    X(CUZK_PARTITION_SYNTHESIZING, "synthesizing")                                                 \
    X(CUZK_PARTITION_SYNTH_DONE, "synth_done") /* kept back, or in the channel */                  \
    X(CUZK_PARTITION_GPU, "gpu")                                                                   \
    X(CUZK_PARTITION_FINISHING, "finishing")                                                       \
    X(CUZK_PARTITION_DONE, "done")                                                                 \
    X(CUZK_PARTITION_FAILED, "failed")

typedef enum cuzk_partition_state {
#define X(name, text) name,
    CUZK_PARTITION_STATE_MAP(X)
#undef X
} cuzk_partition_state;

/** "pending", …; "?" for a number that is no state. */
static inline const char *cuzk_partition_state_name(cuzk_partition_state state)
{
    switch (state) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        CUZK_PARTITION_STATE_MAP(X)
#undef X
    }
    return "?";
}

typedef struct cuzk_snapshot_partition {
    uint32_t index;
    cuzk_partition_state state;
    uint32_t attempts; /* on devices, so far */
    int device;        /* that has it or had it last; -1: none */
    uint64_t synth_ms, gpu_ms;
} cuzk_snapshot_partition;

/** A job that runs, or that ended in the last half minute. */
typedef struct cuzk_snapshot_pipeline {
    const char *job_id;
    cuzk_job_kind kind;
    cuzk_job_state state;
    cuzk_priority priority;
    const char *circuit;
    const char *error; /* "" when it did not fail */
    uint64_t started_ms_ago;
    uint32_t partitions_done, n_partitions;
    cuzk_snapshot_partition *partitions;
} cuzk_snapshot_pipeline;

typedef struct cuzk_snapshot_worker {
    unsigned id; /* over all devices, as in the timeline */
    unsigned device;
    bool proving;
    const char *job_id; /* "" when idle */
    cuzk_job_kind kind; /* of that job */
    uint32_t partition;
    uint64_t busy_ms; /* with this partition */
} cuzk_snapshot_worker;

typedef struct cuzk_snapshot_device {
    cuzk_device_info info;
    bool quarantined;
    uint64_t partitions, wrong_proofs, errors; /* since the start */
    uint64_t busy_ms;                          /* time with a partition in work, since the start */
    double utilisation;                        /* of the last minute, 0 .. 1 */
} cuzk_snapshot_device;

/** How near a key is to the device that needs it. */
typedef enum cuzk_key_tier { CUZK_KEY_HOT, CUZK_KEY_WARM, CUZK_KEY_COLD } cuzk_key_tier;

/** A circuit with its key on one device. */
typedef struct cuzk_snapshot_key {
    const char *circuit;   /* catalog name: "porep-32GiB" */
    const char *reference; /* the reference's name: "porep-32g", or "" */
    unsigned device;
    cuzk_key_tier tier;
    uint64_t bytes;   /* that it takes, in all accounts */
    uint32_t refs;    /* partitions that use it */
    uint64_t idle_ms; /* since it was last used */
    bool evictable;
} cuzk_snapshot_key;

typedef struct cuzk_snapshot_queue {
    cuzk_job_kind kind;
    uint32_t pending, in_progress; /* jobs */
} cuzk_snapshot_queue;

/** A job that has not begun, in the order in which they will. */
typedef struct cuzk_snapshot_waiting {
    const char *job_id;
    cuzk_job_kind kind;
    cuzk_priority priority;
    const char *circuit;
    uint32_t n_partitions;
    uint64_t waiting_ms;
} cuzk_snapshot_waiting;

typedef struct cuzk_snapshot_failure {
    const char *job_id;
    cuzk_job_kind kind;
    int32_t partition; /* -1: the whole job */
    const char *phase;
    const char *error;
    uint64_t unix_ms;
} cuzk_snapshot_failure;

typedef struct cuzk_snapshot_memory {
    uint64_t total, used; /* bytes; total 0: not limited */
    uint64_t waiting;     /* bytes that requests wait for */
} cuzk_snapshot_memory;

/** Since the engine was started. */
typedef struct cuzk_snapshot_counters {
    uint64_t completed, failed, cancelled;
    uint64_t completed_by_kind[CUZK_JOB_KIND_MAX + 1], failed_by_kind[CUZK_JOB_KIND_MAX + 1];
    uint64_t retries, wrong_proofs;
    uint64_t queue_depth; /* jobs that have not begun */
} cuzk_snapshot_counters;

/** Partitions at each place of the pipeline. */
typedef struct cuzk_snapshot_buffers {
    uint32_t synth_in_flight, held, channel, provers_in_flight, finishing;
    uint64_t statement_bytes, witness_bytes; /* in memory for them */
} cuzk_snapshot_buffers;

typedef struct cuzk_engine_snapshot {
    uint64_t uptime_ms, unix_ms;
    bool draining;
    cuzk_snapshot_memory memory[CUZK_MEMORIES];
    uint32_t synthesis_max, synthesis_active; /* partitions */
    uint64_t pinned_bytes, pinned_limit;
    cuzk_snapshot_counters counters;
    cuzk_snapshot_buffers buffers;
    cuzk_snapshot_queue queues[CUZK_JOB_KIND_MAX]; /* one for each kind, in order */
    cuzk_snapshot_pipeline *pipelines;
    size_t n_pipelines;
    cuzk_snapshot_worker *workers;
    size_t n_workers;
    cuzk_snapshot_device *devices;
    size_t n_devices;
    cuzk_snapshot_key *keys;
    size_t n_keys;
    cuzk_snapshot_waiting *waiting; /* the first 100 */
    size_t n_waiting;
    cuzk_snapshot_failure *failures; /* the last ones, newest first */
    size_t n_failures;
} cuzk_engine_snapshot;

#endif
