#ifndef CUZK_CONFIG_CONFIG_H
#define CUZK_CONFIG_CONFIG_H

#include "base/bytes.h"
#include "base/log.h"

/*
 * The daemon's configuration: a TOML file, then the environment, then the command line, over
 * defaults. packaging/cuzk.example.toml documents each key. Keys of the reference daemon are
 * accepted: honoured, or explained by a warning. A key that nobody knows, or a value of the wrong
 * type or range, is an error with line and column and, where one is near, the key that was meant.
 */

/** A size that the program chooses. */
#define CUZK_CONFIG_AUTO UINT64_MAX

enum { CUZK_CONFIG_CPUS_MAX = 1024 };

typedef struct cuzk_config_strings {
    const char **v;
    size_t n;
} cuzk_config_strings;

typedef struct cuzk_config_numbers {
    uint32_t *v;
    size_t n;
} cuzk_config_numbers;

typedef enum cuzk_config_backend {
    CUZK_CONFIG_BACKEND_AUTO, /* CUDA where a device answers, else the CPU */
    CUZK_CONFIG_BACKEND_CPU,
    CUZK_CONFIG_BACKEND_CUDA,
} cuzk_config_backend;

typedef enum cuzk_config_log_format {
    CUZK_CONFIG_LOG_AUTO, /* text on a terminal, else JSON */
    CUZK_CONFIG_LOG_JSON,
    CUZK_CONFIG_LOG_TEXT,
} cuzk_config_log_format;

/** All keys, by section. Sizes are bytes, CUZK_CONFIG_AUTO where a key allows "auto"; times are
 *  milliseconds; a string that is not set is "". Everything belongs to the configuration. */
typedef struct cuzk_config {
    struct {
        cuzk_config_strings listen; /* unix:///PATH or HOST:PORT each */
        const char *status_listen;  /* HOST:PORT */
        bool allow_insecure;
        uint64_t drain_timeout_ms;
        uint64_t max_message;
        uint32_t max_queued_jobs;
        const char *tls_cert, *tls_key, *tls_client_ca, *token_file;
    } daemon;
    struct {
        uint64_t total_budget, safety_margin, pinned_budget, vram_budget;
        uint64_t eviction_min_idle_ms;
    } memory;
    struct {
        cuzk_config_numbers devices; /* none: all */
        cuzk_config_backend backend;
        const char *cuda_library; /* "": by its usual name */
        uint32_t gpu_threads;     /* 0: all processors */
        uint32_t gpu_workers_per_device;
        uint64_t partition_timeout_ms; /* 0: none */
        uint32_t quarantine_after;     /* 0: never */
        bool isolate;
        cuzk_config_numbers cpus; /* rising; none: threads run anywhere */
    } gpus;
    struct {
        uint32_t max_batch_size, max_batch_wait_ms;
        bool reserved_critical_lane;
        uint32_t lookahead;
        uint32_t partition_retries;
    } scheduler;
    struct {
        uint32_t threads;         /* 0: all processors */
        cuzk_config_numbers cpus; /* rising; none: threads run anywhere */
    } synthesis;
    struct {
        uint32_t slot_size; /* 0: all partitions of a proof at once */
        uint32_t synthesis_concurrency;
        uint32_t max_parallel_synthesis; /* 0: as threads, at most 18 */
        uint32_t channel_capacity;       /* 0: 2 for each device worker */
    } pipeline;
    struct {
        const char *param_cache, *circuit_cache; /* the latter "": the former */
        cuzk_config_strings preload;
    } srs;
    struct {
        const char *path;
        uint64_t keep_results_ms;
    } store;
    struct {
        cuzk_log_level level;
        cuzk_config_log_format format;
    } logging;
    cuzk_config_strings warnings; /* about keys without effect, in the order of the file */
    struct config_memory *owned;
} cuzk_config;

/** The defaults. The caller owns *ret. */
cuzk_code cuzk_config_new(cuzk_config **ret, cuzk_err *err);

/** Frees a configuration and all that belongs to it; accepts NULL. */
void cuzk_config_free(cuzk_config *c);

/** Applies a TOML text over what is set. After an error c is of no use but to be freed. */
cuzk_code cuzk_config_apply(cuzk_config *c, cuzk_span text, const char *name, cuzk_err *err);

/** cuzk_config_apply of a file. CUZK_E_NOT_FOUND when it is not there. */
cuzk_code cuzk_config_apply_file(cuzk_config *c, const char *path, cuzk_err *err);

/** Applies CUZK_SYNTH_THREADS, CUZK_GPU_THREADS and FIL_PROOFS_PARAMETER_CACHE where they are set
 *  and not empty. Reads the environment: before other threads change it. */
cuzk_code cuzk_config_apply_environment(cuzk_config *c, cuzk_err *err);

/** Sets one key, e.g. "logging.level", from text as it would stand in the file or, for strings,
 *  without the quotes; `source` names where it came from, for messages. */
cuzk_code cuzk_config_set(cuzk_config *c, const char *key, const char *text, const char *source,
                          cuzk_err *err);

/** Checks what concerns several keys; call it when all is applied. */
cuzk_code cuzk_config_check(const cuzk_config *c, cuzk_err *err);

/** All keys with their values as TOML that reads back as the same; the caller frees *ret. */
cuzk_code cuzk_config_format(const cuzk_config *c, char **ret, cuzk_err *err);

#endif
