#ifndef CUZK_BASE_NOTIFY_H
#define CUZK_BASE_NOTIFY_H

#include "cuzk/err.h"

#include <stdint.h>
#include <sys/un.h>

/*
 * What a service tells systemd (sd_notify(3), "Notes": the protocol is stable): datagrams of lines
 * NAME=VALUE to the socket that NOTIFY_SOCKET names. Outside systemd nothing is sent.
 */
typedef struct cuzk_notifier {
    int fd; /* -1: nobody listens */
    struct sockaddr_un to;
    uint32_t to_bytes;
    uint64_t watchdog_us; /* send WATCHDOG=1 at least this often; 0: nobody waits for it */
} cuzk_notifier;

/** Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. CUZK_E_INPUT when they make no sense. */
cuzk_code cuzk_notifier_open(cuzk_notifier *ret, cuzk_err *err);

/** Accepts one that is all zero but for fd = -1, and one that was closed. */
void cuzk_notifier_close(cuzk_notifier *n);

/** Sends lines, e.g. "READY=1\nSTATUS=serving", "STOPPING=1", "WATCHDOG=1". Any thread. */
cuzk_code cuzk_notify(const cuzk_notifier *n, const char *lines, cuzk_err *err);

#endif
