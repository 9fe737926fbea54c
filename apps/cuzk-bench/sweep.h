#ifndef APPS_CUZK_BENCH_SWEEP_H
#define APPS_CUZK_BENCH_SWEEP_H

#include "bench.h"

/** A daemon to start for one run. */
typedef struct bench_daemon_args {
    const char *program;         /* NULL: cuzk-daemon beside this program */
    const char *config;          /* NULL: none */
    const char *const *settings; /* KEY=VALUE */
    unsigned n_settings;
} bench_daemon_args;

/** Starts a daemon with a socket and a store of its own, proves once to warm it up, measures a
 *  batch, stops the daemon and removes what it left. */
cuzk_code bench_run_daemon(bench_run *ret, const bench_daemon_args *daemon,
                           const bench_proof *proof, const bench_run_args *args, cuzk_err *err);

#endif
