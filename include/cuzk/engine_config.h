#ifndef CUZK_ENGINE_CONFIG_H
#define CUZK_ENGINE_CONFIG_H

#include "cuzk/backend.h"

/** How grave a message of the engine is. The numbers are those of base/log.h. */
typedef enum cuzk_engine_level {
    CUZK_ENGINE_ERROR,
    CUZK_ENGINE_WARN,
    CUZK_ENGINE_INFO,
    CUZK_ENGINE_DEBUG,
} cuzk_engine_level;

/** Takes one sentence; job_id is "" when it is about none. Must not call the engine. */
typedef void cuzk_engine_log_fn(void *ctx, cuzk_engine_level level, const char *job_id,
                                const char *message);

/** Takes one TIMELINE event, a JSON object json[n] without newline; from one thread. */
typedef void cuzk_engine_event_fn(void *ctx, const char *json, size_t n);

/**
 * All that an engine is started with. cuzk_engine_config_init gives each member its default, which
 * stands in brackets. Strings and arrays are borrowed until cuzk_engine_open returns.
 */
typedef struct cuzk_engine_config {
    /* Places. */
    const char *param_cache;   /* folder of the .params and .vk files [required] */
    const char *circuit_cache; /* folder of compressed circuits [NULL: param_cache] */
    const char *store;         /* folder of the job store [required] */

    /* Devices, taken over: closed with the engine, also when opening it fails. */
    cuzk_backend *const *devices;
    size_t n_devices;                /* at least 1 */
    unsigned gpu_workers_per_device; /* partitions given to a device at once [1] */
    bool critical_lane; /* with 2 or more workers, one of each device is for CRITICAL [false] */

    /* Synthesis. */
    unsigned synthesis_threads;      /* threads that share its loops [0: one a processor] */
    unsigned max_parallel_synthesis; /* partitions in synthesis [0: as threads, at most 18] */
    unsigned synthesis_concurrency;  /* jobs in synthesis at once [1] */
    const unsigned *synthesis_cpus;  /* processors to pin its threads to [NULL: none] */
    size_t n_synthesis_cpus;

    /* Pipeline. */
    unsigned slot_size;        /* partitions handed over together; 0: all of a job [1] */
    unsigned channel_capacity; /* slots that wait for a device, besides one for each partition in
                                  synthesis [0: 2 for each device worker] */
    unsigned lookahead;      /* queued jobs whose input is kept read and whose key is fetched [1] */
    unsigned max_batch_size; /* jobs of one circuit run before others of their priority, so that
                                keys are changed less often [1: no batches] */
    uint64_t max_batch_wait_ms; /* how long after its first job a batch takes in others; nothing is
                                   held back for it [10000] */

    /* Faults. */
    uint64_t partition_timeout_ms; /* of one attempt on a device; 0: none [0] */
    unsigned partition_retries;    /* attempts after the first [3] */
    unsigned quarantine_after;     /* bad attempts of a device in a row; 0: never [3] */

    /* Limits. */
    uint64_t budget[CUZK_MEMORIES]; /* bytes [0: the host's less safety_margin; a device's own] */
    uint64_t safety_margin;         /* bytes left to the rest of the host [5 GiB] */
    uint64_t pipeline_bytes; /* host memory for inputs and witnesses on their way, out of the budget
                                [0: a quarter of it, at most 4 GiB] */
    uint64_t eviction_min_idle_ms; /* keys younger than this go last [300000] */
    size_t max_queued_jobs;        /* that have not ended [10000] */
    uint64_t keep_results_ms;      /* how long ended jobs can be asked for [24 h] */

    /* Circuits to load before anything is proved, in the background. */
    const char *const *preload;
    size_t n_preload;

    /* What is told. */
    cuzk_engine_log_fn *log; /* [NULL] */
    void *log_ctx;
    cuzk_engine_event_fn *on_event; /* [NULL] */
    void *event_ctx;
} cuzk_engine_config;

void cuzk_engine_config_init(cuzk_engine_config *ret);

#endif
