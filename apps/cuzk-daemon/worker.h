#ifndef APPS_CUZK_DAEMON_WORKER_H
#define APPS_CUZK_DAEMON_WORKER_H

#include "cuzk/err.h"

/**
 * A worker process, which the daemon starts for each device: `cuzk-daemon --worker …`. Serves the
 * calls that come over its inherited socket (backend/worker/worker.h) and returns when the daemon
 * says goodbye.
 */
cuzk_code daemon_worker(int argc, char **argv, cuzk_err *err);

#endif
