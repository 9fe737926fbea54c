#ifndef CUZK_ENGINE_H
#define CUZK_ENGINE_H

#include "cuzk/engine_config.h"
#include "cuzk/job.h"
#include "cuzk/snapshot.h"

/*
 * The proving engine: takes jobs, keeps them in a durable store, makes port values of partitions on
 * its synthesis threads, hands partitions through a bounded channel to the devices' workers,
 * verifies and assembles proofs. All calls may come from any thread. Callbacks come from the
 * engine's threads, hold no lock of it, and must not block.
 */
typedef struct cuzk_engine cuzk_engine;

enum { CUZK_JOB_ID_MAX = 256 }; /* with its NUL */

/** Opens the store, resumes the jobs in it that have not ended, starts all threads. The devices are
 *  the engine's from now on, whatever the outcome. CUZK_E_ARG names a setting that cannot be. */
cuzk_code cuzk_engine_open(cuzk_engine **ret, const cuzk_engine_config *config, cuzk_err *err);

/**
 * Takes no more jobs, lets partitions that are on a device or being finished come to their end and
 * begins no others; jobs that have not ended stay in the store for the next start. CUZK_E_TIMEOUT
 * when partitions still run after timeout_ms.
 */
cuzk_code cuzk_engine_drain(cuzk_engine *e, uint64_t timeout_ms, cuzk_err *err);

/** Ends all threads and frees; accepts NULL. Watches must be gone. Without a drain before it waits
 *  for the partitions that are on a device, whose results are kept, and for nothing else. */
void cuzk_engine_close(cuzk_engine *e);

/** What to prove, as the wire has it. All is borrowed until cuzk_engine_submit returns. A span with
 *  n = 0 is not given. */
typedef struct cuzk_job_request {
    const char *request_id; /* names the job; "" for a new name */
    uint32_t kind;          /* cuzk_job_kind, not yet checked */
    uint64_t sector_size;   /* bytes; 0 where the rest tells */
    uint64_t registered_proof;
    uint32_t priority; /* cuzk_priority; numbers beyond count as NORMAL */
    cuzk_span vanilla_proof;
    const cuzk_span *vanilla_proofs;
    size_t n_vanilla_proofs;
    uint64_t sector_number, miner_id;
    cuzk_span randomness;
    uint32_t partition_index;
    cuzk_span comm_r_old, comm_r_new, comm_d_new;
} cuzk_job_request;

typedef struct cuzk_submitted {
    char job_id[CUZK_JOB_ID_MAX];
    uint32_t queue_position; /* jobs before it */
    bool joined;             /* the same job was there already */
} cuzk_submitted;

/**
 * Takes a job: it is in the store when this returns. The same request id with the same content
 * joins the job, running or done; a job that failed or was cancelled under that id is started anew.
 * CUZK_E_ARG for a field that is wrong in itself, CUZK_E_INPUT for what a vanilla proof holds,
 * CUZK_E_EXISTS for a known id with other content, CUZK_E_FULL when too many jobs wait or the job
 * can never fit the budget, CUZK_E_UNAVAILABLE while the engine drains, CUZK_E_NOT_FOUND when the
 * circuit's key is not there.
 */
cuzk_code cuzk_engine_submit(cuzk_engine *e, cuzk_submitted *ret, const cuzk_job_request *request,
                             cuzk_err *err);

/** A job as it is now. Strings and proof are borrowed: valid during the callback, or until the
 *  cuzk_job_view is cleared. */
typedef struct cuzk_job_view {
    char job_id[CUZK_JOB_ID_MAX];
    uint64_t number; /* of its acceptance: the job in the timeline */
    cuzk_job_kind kind;
    cuzk_job_state state;
    cuzk_priority priority;
    uint32_t partitions, partitions_done;
    uint32_t queue_position;
    uint64_t created_unix_ms, finished_unix_ms; /* the latter 0 before the end */
    cuzk_span proof;                            /* of a job that is done: 192 bytes a partition */
    const char *error;                          /* of one that failed: partition, phase, reason */
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
    bool timed_out; /* this call came because the wait ended, not the job */
} cuzk_job_view;

typedef void cuzk_job_fn(void *ctx, const cuzk_job_view *view);

/** A standing request to be told. Freed by cuzk_engine_unwatch alone. */
typedef struct cuzk_watch cuzk_watch;

/**
 * Calls fn once, when the job ends or timeout_ms have passed (0: no timeout), perhaps before this
 * returns. CUZK_E_NOT_FOUND for an unknown job.
 */
cuzk_code cuzk_engine_await(cuzk_engine *e, cuzk_watch **ret, const char *job_id,
                            uint64_t timeout_ms, cuzk_job_fn *fn, void *ctx, cuzk_err *err);

/** Calls fn with the present state and after each change of it or of partitions_done, the last time
 *  with a final state; changes close to each other may come as one. */
cuzk_code cuzk_engine_watch(cuzk_engine *e, cuzk_watch **ret, const char *job_id, cuzk_job_fn *fn,
                            void *ctx, cuzk_err *err);

/** Ends an await or a watch; when it returns, fn is not running and will not run. Not to be called
 *  from fn. Accepts NULL. */
void cuzk_engine_unwatch(cuzk_engine *e, cuzk_watch *w);

/** Calls fn once, before it returns, with the present state. CUZK_E_NOT_FOUND. */
cuzk_code cuzk_engine_get(cuzk_engine *e, const char *job_id, cuzk_job_fn *fn, void *ctx,
                          cuzk_err *err);

/** Cancels a job at the next boundary of each of its partitions; *ret_was_running is false when it
 *  had ended. CUZK_E_NOT_FOUND for an unknown job. */
cuzk_code cuzk_engine_cancel(cuzk_engine *e, bool *ret_was_running, const char *job_id,
                             cuzk_err *err);

/** Jobs, the last accepted first, before `after` (a job's number; 0: from the last on), of one
 * state or, with state < 0, of all: fn for each of at most `limit`. *ret_next is the next call's
 * `after`, 0 when there are no more. Proofs are left out, and of jobs that ended long ago the
 * number of partitions: cuzk_engine_get has both. */
cuzk_code cuzk_engine_list(cuzk_engine *e, uint64_t *ret_next, int state, uint64_t after,
                           uint32_t limit, cuzk_job_fn *fn, void *ctx, cuzk_err *err);

/** Loads a circuit and key on every device that has room. Blocks. circuit: a catalog name
 *  ("porep-32GiB") or the reference's ("porep-32g"). */
cuzk_code cuzk_engine_preload(cuzk_engine *e, bool *ret_already, uint64_t *ret_ms,
                              const char *circuit, cuzk_err *err);

/** Unloads a circuit and key from all devices, after the partitions that use it. Blocks. */
cuzk_code cuzk_engine_evict(cuzk_engine *e, bool *ret_was_loaded, uint64_t *ret_freed,
                            const char *circuit, cuzk_err *err);

enum { CUZK_CIRCUIT_NAME_MAX = 64 };

/** Catalog name of a circuit by either name; CUZK_E_ARG when there is none that the engine proves.
 */
cuzk_code cuzk_engine_circuit_name(char ret[CUZK_CIRCUIT_NAME_MAX], const char *name,
                                   cuzk_err *err);

/** The engine as it is now. The caller owns *ret. */
cuzk_code cuzk_engine_status(cuzk_engine *e, cuzk_engine_snapshot **ret, cuzk_err *err);
void cuzk_engine_status_free(cuzk_engine_snapshot *s);

/** The events (observe/timeline.h), borrowed; a job's number there is that of its acceptance. */
struct cuzk_timeline *cuzk_engine_timeline(cuzk_engine *e);

/** The metrics (observe/metrics.h), borrowed; others may add theirs. */
struct cuzk_metrics *cuzk_engine_metrics(cuzk_engine *e);

#endif
