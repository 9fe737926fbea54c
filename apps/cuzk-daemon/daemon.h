#ifndef APPS_CUZK_DAEMON_DAEMON_H
#define APPS_CUZK_DAEMON_DAEMON_H

#include "base/log.h"
#include "config/config.h"
#include "cuzk/engine.h"
#include "observe/timeline.h"

/** What was given on the command line; NULL when not. */
typedef struct daemon_args {
    const char *config; /* the file */
    const char *const *set;
    size_t n_set; /* KEY=VALUE */
    bool config_given;
    const char *fault; /* for tests: what goes wrong on the devices (backend/fault) */
} daemon_args;

/** The configuration as file, environment and command line make it. The caller owns *ret. */
cuzk_code daemon_config(cuzk_config **ret, const daemon_args *args, cuzk_err *err);

/** Tells the log, and once it is there the timeline, of the devices' worker processes. */
typedef struct daemon_workers daemon_workers;

/** The devices that the configuration names, opened: *ret_n of them in a list that the caller
 * frees; each is closed by who takes it. *ret_workers is the caller's, and has to outlive them.
 * fault: a plan of faults for tests, or NULL. */
cuzk_code daemon_devices(cuzk_backend ***ret, size_t *ret_n, daemon_workers **ret_workers,
                         const cuzk_config *config, const char *fault, cuzk_log *log,
                         cuzk_err *err);

/** From now on the timeline (borrowed, as long as the n devices are open) is told, at first of the
 *  processes that run already. */
void daemon_workers_record(daemon_workers *w, cuzk_timeline *timeline, size_t n);

/** Accepts NULL. */
void daemon_workers_free(daemon_workers *w);

/** A running daemon: engine, gRPC server, HTTP port. */
typedef struct cuzkd cuzkd;

/** Starts everything. Borrows the log; the rest only during the call. */
cuzk_code daemon_start(cuzkd **ret, const cuzk_config *config, const daemon_args *args,
                       cuzk_log *log, cuzk_err *err);

/** Takes over what can change at run time: the log's level, the token, the certificates. */
cuzk_code daemon_reload(cuzkd *d, const cuzk_config *config, cuzk_err *err);

/** Takes no more jobs, finishes the partitions that are on a device, keeps the rest in the store.
 *  CUZK_E_TIMEOUT when that took longer than timeout_ms. */
cuzk_code daemon_drain(cuzkd *d, uint64_t timeout_ms, cuzk_err *err);

/** Ends and frees everything; accepts NULL. */
void daemon_free(cuzkd *d);

/** Tells systemd that the daemon lives, when it asked to be told. */
void daemon_watchdog(cuzkd *d);

/** How often daemon_watchdog is to be called, in milliseconds; 0: never. */
uint64_t daemon_watchdog_ms(const cuzkd *d);

#endif
