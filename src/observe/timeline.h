#ifndef CUZK_OBSERVE_TIMELINE_H
#define CUZK_OBSERVE_TIMELINE_H

#include "cuzk/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The timeline: what happened when, on one clock. Every stage records events into a fixed ring in
 * memory; recording takes no lock and never waits. Readers follow with a cursor of their own and
 * are told what they missed. One thread drains the ring into a sink, as JSON lines.
 */

/**
 * Every kind of event: constant, name, what `worker` is, what `value` is. A device of -1 is the
 * host, a partition of -1 the whole job, a worker of -1 nobody in particular; a value without a
 * meaning is 0.
 */
#define CUZK_EVENT_MAP(X)                                                                          \
    X(CUZK_EV_QUEUED, "QUEUED", "", "partitions of the job")                                       \
    X(CUZK_EV_SYNTH_START, "SYNTH_START", "synthesis worker", "")                                  \
    X(CUZK_EV_SYNTH_END, "SYNTH_END", "synthesis worker", "bytes made for the device")             \
    X(CUZK_EV_CHAN_SEND, "CHAN_SEND", "synthesis worker", "partitions in the channel, this too")   \
    X(CUZK_EV_GPU_PICKUP, "GPU_PICKUP", "device worker", "partitions left in the channel")         \
    X(CUZK_EV_GPU_START, "GPU_START", "device worker", "")                                         \
    X(CUZK_EV_GPU_END, "GPU_END", "device worker", "microseconds that the device says it took")    \
    X(CUZK_EV_FINISH_START, "FINISH_START", "finish worker", "")                                   \
    X(CUZK_EV_FINISH_END, "FINISH_END", "finish worker", "1: the proof verified, 0: it did not")   \
    X(CUZK_EV_DONE, "DONE", "", "partitions of the job")                                           \
    X(CUZK_EV_FAILED, "FAILED", "", "partitions that were done; detail is the reason")             \
    X(CUZK_EV_SRS_LOAD_START, "SRS_LOAD_START", "device worker", "detail is the circuit")          \
    X(CUZK_EV_SRS_LOAD_END, "SRS_LOAD_END", "device worker", "bytes; detail is the circuit")       \
    X(CUZK_EV_PCE_LOAD_START, "PCE_LOAD_START", "device worker", "detail is the circuit")          \
    X(CUZK_EV_PCE_LOAD_END, "PCE_LOAD_END", "device worker", "bytes; detail is the circuit")       \
    X(CUZK_EV_EVICT, "EVICT", "", "bytes; detail is the circuit")                                  \
    X(CUZK_EV_RETRY, "RETRY", "", "number of the attempt that follows; detail is the reason")      \
    X(CUZK_EV_CANCEL, "CANCEL", "", "1: the job was running")                                      \
    X(CUZK_EV_BATCH, "BATCH", "", "jobs in the batch that this job is in")                         \
    X(CUZK_EV_WORKER_START, "WORKER_START", "device worker", "process id")                         \
    X(CUZK_EV_WORKER_DEATH, "WORKER_DEATH", "device worker", "process id; detail is the reason")

typedef enum cuzk_event_kind {
#define X(kind, name, worker, value) kind,
    CUZK_EVENT_MAP(X)
#undef X
        CUZK_EV_COUNT
} cuzk_event_kind;

enum { CUZK_EVENT_DETAIL = 40, CUZK_JOB_ID = 192, CUZK_JOB_KIND = 24 };

typedef struct cuzk_event {
    uint64_t seq;      /* 0, 1, 2, … in the order in which the events were recorded */
    uint64_t t_us;     /* since the epoch; may run a little against seq between threads */
    uint64_t job;      /* its number; 0: none */
    int32_t partition; /* -1: none */
    int16_t worker;    /* -1: none */
    int16_t device;    /* -1: none */
    uint8_t kind;      /* cuzk_event_kind */
    int64_t value;
    char detail[CUZK_EVENT_DETAIL]; /* NUL-terminated, cut when too long */
} cuzk_event;

/** What a job's number stands for. */
typedef struct cuzk_job_name {
    uint64_t number;
    char id[CUZK_JOB_ID];     /* NUL-terminated, cut when too long */
    char kind[CUZK_JOB_KIND]; /* e.g. "porep-c2" */
} cuzk_job_name;

/** Name of a kind of event, e.g. "GPU_START"; "?" for none. */
const char *cuzk_event_name(unsigned kind);

/** Takes one JSON object json[n] (no newline, NUL-terminated); called by the drain thread alone. */
typedef void cuzk_timeline_sink(void *ctx, const char *json, size_t n);

typedef struct cuzk_timeline_options {
    unsigned ring_log2; /* the ring holds 2^ring_log2 events of 128 bytes; 0: 16; at most 24 */
    size_t max_jobs;    /* names kept, the latest numbers; 0: 4096 */
    cuzk_timeline_sink *sink; /* NULL: events are only kept in memory */
    void *sink_ctx;           /* borrowed */
} cuzk_timeline_options;

typedef struct cuzk_timeline cuzk_timeline;

/** Takes the epoch and starts the drain thread. `options` may be NULL. The caller owns *ret. */
cuzk_code cuzk_timeline_new(cuzk_timeline **ret, const cuzk_timeline_options *options,
                            cuzk_err *err);

/** Drains what was recorded, joins the thread, frees; accepts NULL. Nobody may record or read any
 *  more. */
void cuzk_timeline_free(cuzk_timeline *t);

/** Microseconds since the epoch. */
uint64_t cuzk_timeline_now_us(const cuzk_timeline *t);

/** The epoch: nanoseconds of CLOCK_MONOTONIC. */
uint64_t cuzk_timeline_epoch_ns(const cuzk_timeline *t);

/** The epoch: microseconds since 1970. */
uint64_t cuzk_timeline_epoch_wall_us(const cuzk_timeline *t);

/** Appends an event that happens now. From any thread, wait-free; detail may be NULL. Does nothing
 *  when t is NULL. */
void cuzk_timeline_record(cuzk_timeline *t, cuzk_event_kind kind, uint64_t job, int32_t partition,
                          int16_t worker, int16_t device, int64_t value, const char *detail);

/** Appends an event that happened at mono_ns of CLOCK_MONOTONIC, e.g. in another process; its place
 *  in the order is that of this call. */
void cuzk_timeline_record_at(cuzk_timeline *t, uint64_t mono_ns, cuzk_event_kind kind, uint64_t job,
                             int32_t partition, int16_t worker, int16_t device, int64_t value,
                             const char *detail);

/** Gives a job's number its id and kind; before its first event, so that the log has them. Takes a
 *  lock. */
void cuzk_timeline_job(cuzk_timeline *t, uint64_t number, const char *id, const char *kind_name);

/** Finds the name of a job; false when it is unknown or forgotten. */
bool cuzk_timeline_job_name(cuzk_timeline *t, uint64_t number, cuzk_job_name *ret);

/** Number of events recorded so far: the cursor of the next one. */
uint64_t cuzk_timeline_next(const cuzk_timeline *t);

/** The cursor of the oldest event that the ring may still have. */
uint64_t cuzk_timeline_oldest(const cuzk_timeline *t);

/**
 * Copies events from *cursor (0: the oldest) on, in order, at most cap of them, to ret; of one job,
 * or of all when job is 0. Moves *cursor past what was looked at, adds to *lost how many of these
 * were gone, and returns how many were copied. An event that is just being written ends the call.
 */
size_t cuzk_timeline_read(cuzk_timeline *t, uint64_t *cursor, uint64_t job, cuzk_event *ret,
                          size_t cap, uint64_t *lost);

/** Waits until there is an event at the cursor or timeout_ms have passed; true when there is one.
 *  Wakes at most some milliseconds after the event. */
bool cuzk_timeline_wait(cuzk_timeline *t, uint64_t cursor, unsigned timeout_ms);

/** Returns when everything recorded before this call has gone to the sink. */
void cuzk_timeline_flush(cuzk_timeline *t);

/** Longest JSON object of an event. */
enum { CUZK_EVENT_JSON_MAX = 2048 };

/**
 * One event as a JSON object on one line, without newline:
 * {"target":"TIMELINE","seq":7,"t_us":1500,"event":"GPU_START","job":3,"job_id":"…",
 * "proof_kind":"porep-c2","partition":0,"worker":1,"device":0,"value":9,"detail":"…"}; what an
 * event does not have is left out. `name` may be NULL. Returns the length; a NUL follows.
 */
size_t cuzk_event_json(char buf[CUZK_EVENT_JSON_MAX], const cuzk_event *e,
                       const cuzk_job_name *name);

/** The line that a log begins with: {"target":"TIMELINE","epoch_wall_us":…}. */
size_t cuzk_epoch_json(char buf[CUZK_EVENT_JSON_MAX], uint64_t epoch_wall_us);

#endif
