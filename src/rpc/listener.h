#ifndef CUZK_RPC_LISTENER_H
#define CUZK_RPC_LISTENER_H

#include "cuzk/err.h"

#include <stdbool.h>
#include <sys/types.h>

/** A socket that takes connections. */
typedef struct cuzk_rpc_listener {
    int fd;
    int lock_fd; /* unix: the locked file beside the path; else -1 */
    bool is_unix;
    char bound[160]; /* as cuzk_rpc_server_bound says it */
    char path[108];  /* unix */
    dev_t dev;       /* unix: which file is ours to remove */
    ino_t ino;
} cuzk_rpc_listener;

/** Binds and listens, non-blocking. Plain TCP that others can reach needs `secure` (TLS is on) or
 *  allow_insecure. Errors as of cuzk_rpc_server_start. */
cuzk_code cuzk_rpc_listener_open(cuzk_rpc_listener *ret, const char *address, bool secure,
                                 bool allow_insecure, cuzk_err *err);

/** Closes, and removes the socket's file if it still is ours. */
void cuzk_rpc_listener_close(cuzk_rpc_listener *l);

#endif
