#ifndef CUZK_JOB_H
#define CUZK_JOB_H

/*
 * Words for jobs that the engine, the store and the service share.
 */

/** Kinds of proofs as the wire numbers them: constant, number, name in metrics, in the status
 *  page. */
#define CUZK_JOB_KINDS(X)                                                                          \
    X(CUZK_JOB_POREP, 1, "porep_c2", "porep-c2")                                                   \
    X(CUZK_JOB_SNAP, 2, "snap_update", "snap-update")                                              \
    X(CUZK_JOB_WINDOW, 3, "window_post", "window-post")                                            \
    X(CUZK_JOB_WINNING, 4, "winning_post", "winning-post")

typedef enum cuzk_job_kind {
#define X(name, number, metric, label) name = number,
    CUZK_JOB_KINDS(X)
#undef X
} cuzk_job_kind;

/** Kinds are 1 .. CUZK_JOB_KIND_MAX. */
enum { CUZK_JOB_KIND_MAX = CUZK_JOB_WINNING };

typedef enum cuzk_priority {
    CUZK_PRIORITY_DEFAULT, /* by kind: winning CRITICAL, window HIGH, others NORMAL */
    CUZK_PRIORITY_LOW,
    CUZK_PRIORITY_NORMAL,
    CUZK_PRIORITY_HIGH,
    CUZK_PRIORITY_CRITICAL,
} cuzk_priority;

/** States of a job; the last three are final. The numbers are on disk. */
#define CUZK_JOB_STATE_MAP(X)                                                                      \
    X(CUZK_JOB_QUEUED, "queued")                                                                   \
    X(CUZK_JOB_RUNNING, "running")                                                                 \
    X(CUZK_JOB_DONE, "done")                                                                       \
    X(CUZK_JOB_FAILED, "failed")                                                                   \
    X(CUZK_JOB_CANCELLED, "cancelled")

typedef enum cuzk_job_state {
#define X(name, text) name,
    CUZK_JOB_STATE_MAP(X)
#undef X
        CUZK_JOB_STATES /* how many there are */
} cuzk_job_state;

/** Whether a job in this state has ended. */
static inline int cuzk_job_ended(cuzk_job_state s) { return s >= CUZK_JOB_DONE; }

/** "queued", …; "?" for a number that is no state. */
static inline const char *cuzk_job_state_name(cuzk_job_state state)
{
    switch (state) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        CUZK_JOB_STATE_MAP(X)
#undef X
    case CUZK_JOB_STATES:
        break;
    }
    return "?";
}

/** "porep-c2", …; "" for a number that is no kind. */
static inline const char *cuzk_job_kind_name(unsigned kind)
{
    switch (kind) {
#define X(name, number, metric, label)                                                             \
    case number:                                                                                   \
        return label;
        CUZK_JOB_KINDS(X)
#undef X
    default:
        return "";
    }
}

#endif
