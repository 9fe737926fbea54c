#ifndef CUZK_STORE_STORE_H
#define CUZK_STORE_STORE_H

#include "base/bytes.h"
#include "cuzk/job.h"

/*
 * The durable memory of a daemon: jobs, the partitions proved so far, results. A store is a folder
 *
 *     jobs.db            SQLite, write-ahead log, every commit on disk before it is acknowledged
 *     payload/<sha-256>  what a job proves, as it came; jobs of the same payload share the file
 *     lock               held while the store is open: one process at a time
 *
 * A call that changes something returns when the change is on disk. Calls of several threads that
 * come at the same time share one transaction, hence one flush: the first to come commits for all
 * that wait. After a crash at any point the store holds everything that was acknowledged, and no
 * job in part.
 *
 * All functions may be called from any thread. Times are microseconds since 1970 (UTC); where one
 * is 0 on the way in, it is the present. States and their numbers are cuzk/job.h's. Errors:
 * CUZK_E_IO when the disk or SQLite refuses, CUZK_E_INPUT when what is on disk is damaged or not a
 * store, CUZK_E_UNSUPPORTED when a newer version wrote it, CUZK_E_UNAVAILABLE when another process
 * has it open.
 */

enum {
    CUZK_STORE_ID_MAX = 256,            /* bytes of a job's id */
    CUZK_STORE_META_MAX = 1 << 20,      /* bytes of metadata */
    CUZK_STORE_ERROR_MAX = 1024,        /* bytes of a failure's text; more is cut */
    CUZK_STORE_PHASE_MAX = 64,          /* bytes of a phase's name; more is cut */
    CUZK_STORE_PROOF_MAX = 1 << 20,     /* bytes of a result */
    CUZK_STORE_PARTITION_MAX = 1 << 16, /* partitions of a job */
    CUZK_STORE_PARTITION_BYTES = 192,   /* a partition's proof */
    CUZK_STORE_PAYLOAD_MAX = 256 << 20, /* bytes of a payload */
    CUZK_STORE_PAGE_MAX = 1000,         /* jobs of one page */
};

/** How long the parts of a job took, in milliseconds. */
typedef struct cuzk_job_timings {
    uint64_t queue_ms, srs_ms, synthesis_ms, gpu_ms, total_ms;
} cuzk_job_timings;

/** A job as it is accepted. Borrows everything. */
typedef struct cuzk_store_new_job {
    const char *id;           /* 1 .. CUZK_STORE_ID_MAX bytes */
    uint8_t identity[32];     /* hash of what it proves */
    uint32_t kind;            /* the proof kind's number on the wire */
    uint64_t sector_size;     /* bytes; 0 when there is no sector */
    int32_t priority;         /* higher first */
    int64_t created_us;       /* 0: now */
    cuzk_span meta;           /* the caller's own: what it needs to prove besides the payload */
    uint8_t payload_hash[32]; /* SHA-256 of payload */
    cuzk_span payload;        /* up to CUZK_STORE_PAYLOAD_MAX bytes */
} cuzk_store_new_job;

/** A job as it is kept. What it points to belongs to it; cuzk_store_job_free frees all. */
typedef struct cuzk_store_job {
    int64_t seq; /* > 0, never used twice: by this a job is meant in the calls that change it */
    char id[CUZK_STORE_ID_MAX + 1];
    uint8_t identity[32];
    uint32_t kind;
    uint64_t sector_size;
    int32_t priority;
    cuzk_job_state state;
    int64_t created_us, started_us, ended_us; /* 0 when it has not come to that */
    cuzk_span meta;
    uint8_t payload_hash[32];
    uint64_t payload_bytes;
    char error[CUZK_STORE_ERROR_MAX + 1]; /* of a failed job, else empty */
    int32_t error_partition;              /* the partition that failed; -1 when none did */
    char phase[CUZK_STORE_PHASE_MAX + 1]; /* what it does, or was doing when it failed */
    cuzk_job_timings timings;
    cuzk_span proof; /* of a job that is done */
} cuzk_store_job;

/** Several jobs; cuzk_store_jobs_free frees all. */
typedef struct cuzk_store_jobs {
    cuzk_store_job **v;
    size_t n;
} cuzk_store_jobs;

typedef struct cuzk_store cuzk_store;

/** Opens the store in a folder, which is made when it is not there; brings an older version's
 *  database up to date; removes what a crash left half written. The caller owns *ret. */
cuzk_code cuzk_store_open(cuzk_store **ret, const char *folder, cuzk_err *err);

/** Closes and frees; no other call may be under way. Accepts NULL. */
void cuzk_store_close(cuzk_store *s);

/** What became of an insertion. */
typedef enum cuzk_store_outcome {
    CUZK_STORE_NEW,    /* the job is in the store, queued */
    CUZK_STORE_JOINED, /* a job of this id that proves the same was there, not failed or cancelled
                        */
} cuzk_store_outcome;

/**
 * Accepts a job: payload and job are on disk on return. *ret_seq is the new job, or the one that
 * was there. A failed job of the same id and identity is replaced, and a cancelled one of the same
 * id whatever it proved. CUZK_E_EXISTS when the id belongs to a job that proves something else.
 */
cuzk_code cuzk_store_insert(cuzk_store *s, cuzk_store_outcome *ret, int64_t *ret_seq,
                            const cuzk_store_new_job *job, cuzk_err *err);

/** The job of an id. CUZK_E_NOT_FOUND when there is none. */
cuzk_code cuzk_store_find(cuzk_store *s, cuzk_store_job **ret, const char *id, cuzk_err *err);

/** The job of a number. CUZK_E_NOT_FOUND when there is none. */
cuzk_code cuzk_store_get(cuzk_store *s, cuzk_store_job **ret, int64_t seq, cuzk_err *err);

/** Of the jobs that prove this, a done one, else one under way, else the newest.
 *  CUZK_E_NOT_FOUND when there is none. */
cuzk_code cuzk_store_find_identity(cuzk_store *s, cuzk_store_job **ret, const uint8_t identity[32],
                                   cuzk_err *err);

void cuzk_store_job_free(cuzk_store_job *job);
void cuzk_store_jobs_free(cuzk_store_jobs *jobs);

/** Reads a job's payload into buf[n], n its payload_bytes, and checks it against its hash.
 *  CUZK_E_NOT_FOUND when the file is not there, CUZK_E_INPUT when it is not what came. */
cuzk_code cuzk_store_read_payload(cuzk_store *s, uint8_t *buf, size_t n,
                                  const uint8_t payload_hash[32], cuzk_err *err);

/* Changes of a job. CUZK_E_NOT_FOUND when it is no longer there. A job that has ended stays as it
 * is: CUZK_E_CANCELLED when it was cancelled, else CUZK_E_EXISTS. The payload of a job that is done
 * or cancelled is dropped; that of a failed one is kept with it. */

/** Says that a job runs (the first time sets started_us), and what it is doing. */
cuzk_code cuzk_store_set_running(cuzk_store *s, int64_t seq, const char *phase, cuzk_err *err);

/** Puts a job back into the queue, partitions proved so far kept. */
cuzk_code cuzk_store_set_queued(cuzk_store *s, int64_t seq, cuzk_err *err);

/** Keeps the proof of partition k; a second one for the same k replaces the first. */
cuzk_code cuzk_store_put_partition(cuzk_store *s, int64_t seq, uint32_t k,
                                   const uint8_t proof[CUZK_STORE_PARTITION_BYTES], cuzk_err *err);

/** Ends a job with its proof. */
cuzk_code cuzk_store_set_done(cuzk_store *s, int64_t seq, cuzk_span proof,
                              const cuzk_job_timings *timings, int64_t ended_us, cuzk_err *err);

/** Ends a job with a failure: its text, the phase, and the partition or -1. */
cuzk_code cuzk_store_set_failed(cuzk_store *s, int64_t seq, const char *error, const char *phase,
                                int32_t partition, const cuzk_job_timings *timings,
                                int64_t ended_us, cuzk_err *err);

/** Ends a job because it is no longer wanted. */
cuzk_code cuzk_store_set_cancelled(cuzk_store *s, int64_t seq, int64_t ended_us, cuzk_err *err);

/** One partition that was proved. */
typedef struct cuzk_store_partition {
    uint32_t k;
    uint8_t proof[CUZK_STORE_PARTITION_BYTES];
} cuzk_store_partition;

/** The partitions of a job proved so far, by k. The caller frees *ret with free; it is NULL for
 *  none. */
cuzk_code cuzk_store_partitions(cuzk_store *s, cuzk_store_partition **ret, size_t *ret_n,
                                int64_t seq, cuzk_err *err);

/**
 * One page of jobs, the last accepted first, without meta and proof: up to `limit` (at most
 * CUZK_STORE_PAGE_MAX) of those in a state, or with state < 0 of all, whose seq is below `after`
 * (0: from the last on). *ret_next is what to pass as `after` for the next page, 0 when this is the
 * last. The cost is that of the page.
 */
cuzk_code cuzk_store_list(cuzk_store *s, cuzk_store_jobs *ret, int64_t *ret_next, int state,
                          int64_t after, size_t limit, cuzk_err *err);

/** All jobs that have not ended, by priority, then age: the order to resume them in. */
cuzk_code cuzk_store_unfinished(cuzk_store *s, cuzk_store_jobs *ret, cuzk_err *err);

/** Deletes jobs that ended before a time, with their partitions, results and payloads. */
cuzk_code cuzk_store_purge(cuzk_store *s, size_t *ret_n, int64_t ended_before_us, cuzk_err *err);

/** How many jobs of a kind are in each state, and how often one came into it since the store was
 *  made. */
typedef struct cuzk_store_counts {
    uint32_t kind;
    uint64_t now[CUZK_JOB_STATES];
    uint64_t ever[CUZK_JOB_STATES];
} cuzk_store_counts;

/** The counts of all kinds there were, by kind. Does not depend on how many jobs there are. The
 *  caller frees *ret with free; it is NULL for none. */
cuzk_code cuzk_store_count(cuzk_store *s, cuzk_store_counts **ret, size_t *ret_n, cuzk_err *err);

/** Transactions so far; fewer than changes when threads share them. */
uint64_t cuzk_store_commits(cuzk_store *s);

#endif
