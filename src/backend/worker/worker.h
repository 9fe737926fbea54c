#ifndef CUZK_BACKEND_WORKER_H
#define CUZK_BACKEND_WORKER_H

#include "cuzk/backend.h"

/*
 * A device behind a process of its own. The parent's backend passes calls on to a child that runs
 * cuzk_worker_main over the real backend; whatever happens there costs the parent no more than a
 * failed call:
 *
 *     parent: calls ──request, memory of the ports──▶ socket pair ──▶ child: a thread for each call
 *             └── one thread starts, hears, kills and reaps the child ◀──reply──┘
 *
 * The child is started by the first call that needs it, and again by the next call after a loss.
 * All that was loaded is gone then: the real backend answers CUZK_E_UNAVAILABLE for a circuit that
 * is not loaded. A start that fails, or a child that dies before it served a call, makes the next
 * start wait (and calls meanwhile fail at once with the reason), longer each time.
 */

enum {
    CUZK_WORKER_FD = 3, /* where the child finds its end of the socket pair */
};

typedef struct cuzk_worker_options {
    const char *const *argv; /* NULL-terminated; argv[0] is the path of the program. Copied. */
    uint64_t start_ms;       /* to the first word of the child; 0: 30 s */
    uint64_t load_ms;        /* of one load; 0: an hour */
    uint64_t call_ms;        /* of one cost, info or unload; 0: 10 minutes */
    uint64_t backoff_ms;     /* wait after the first failed start, doubled up to 64 times; 0: 500 */
    uint64_t farewell_ms;    /* that close leaves the child to end by itself; 0: 5 s */
    /** Told when a child has started (pid, reason NULL) or is gone (with the reason); from the
     *  backend's thread, without a lock. NULL: nobody. */
    void (*event)(void *ctx, int pid, const char *reason);
    void *ctx;
} cuzk_worker_options;

/** Starts the thread, not the child. The caller owns *ret. A task's deadline is kept by killing the
 *  child: CUZK_E_TIMEOUT for that task, CUZK_E_UNAVAILABLE for all others in work. */
cuzk_code cuzk_backend_worker_open(cuzk_backend **ret, const cuzk_worker_options *options,
                                   cuzk_err *err);

/**
 * The child's part: serves calls from fd (CUZK_WORKER_FD) on `backend` (borrowed) until the parent
 * says goodbye; then returns 0, the exit status. When the parent is gone, ends the process at once.
 * The process dies with its parent.
 */
int cuzk_worker_main(int fd, cuzk_backend *backend);

#endif
