#ifndef CUZK_BACKEND_WORKER_CHILD_H
#define CUZK_BACKEND_WORKER_CHILD_H

#include "backend/worker/worker_wire.h"

#include <sys/types.h>

/** A child process and the two ways to hear of it. Used by one thread, but for `socket`, on which
 *  others send. */
typedef struct cuzk_child {
    pid_t pid;      /* 0: none */
    int socket;     /* -1: none; does not block */
    int errors;     /* its standard error; -1 after its end; does not block */
    char last[200]; /* its last whole line on standard error */
    char line[200]; /* what of the next has come */
    size_t n_line;
} cuzk_child;

/** Starts argv[0] with CUZK_WORKER_FD as its end of the socket pair, /dev/null as its input, and in
 *  a process group of its own; no other descriptor goes along. CUZK_E_UNAVAILABLE. */
cuzk_code cuzk_child_start(cuzk_child *c, char *const *argv, cuzk_err *err);

/** Reads what there is of its standard error, passes it on to that of this process, and keeps the
 *  last line. */
void cuzk_child_hear_errors(cuzk_child *c);

/** The next message. *ret_empty: there is none yet. False when the child has closed its end or
 *  sends what is no message; `why` (200 bytes) then says so. */
bool cuzk_child_hear(cuzk_child *c, cuzk_wire_reply *ret, bool *ret_empty, char why[200]);

/** Kills the child's process group, reaps the child, closes. `how` (200 bytes) says how it ended,
 *  with its last line. */
void cuzk_child_end(cuzk_child *c, char how[200]);

/** Waits until the child has closed its end, at most `ms`. */
void cuzk_child_await(cuzk_child *c, uint64_t ms);

#endif
