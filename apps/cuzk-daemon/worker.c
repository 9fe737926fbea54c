#include "worker.h"

#include "devices.h"

#include "backend/worker/worker.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The arguments are the daemon's own, not a user's: what is wrong in them is a bug, told all the
 * same. */
enum { CPUS_MAX = CPU_SETSIZE };

static cuzk_code number(uint64_t *ret, const char *text, cuzk_err *err)
{
    char *end;
    *ret = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_ARG, "worker: \"%s\" is not a number", text);
}

static cuzk_code read_cpus(uint32_t cpus[CPUS_MAX], size_t *ret_n, const char *text, cuzk_err *err)
{
    size_t n = 0;
    while (*text) {
        char *end;
        unsigned long v = strtoul(text, &end, 10);
        if (end == text || (*end && *end != ',') || v >= CPUS_MAX || n == CPUS_MAX) {
            return CUZK_FAIL(err, CUZK_E_ARG, "worker: \"%s\" is no list of processors", text);
        }
        cpus[n++] = (uint32_t)v;
        text = *end ? end + 1 : end;
    }
    *ret_n = n;
    return CUZK_OK;
}

static cuzk_code read_option(device_spec *spec, uint32_t cpus[CPUS_MAX], const char *name,
                             const char *value, cuzk_err *err)
{
    uint64_t v;
    if (strcmp(name, "--threads") == 0) {
        CUZK_TRY(number(&v, value, err));
        spec->threads = (unsigned)v;
        return CUZK_OK;
    }
    if (strcmp(name, "--budget") == 0) {
        return number(&spec->budget, value, err);
    }
    if (strcmp(name, "--cpus") == 0) {
        return read_cpus(cpus, &spec->n_cpus, value, err);
    }
    if (strcmp(name, "--backend") == 0) {
        spec->cuda = strcmp(value, "cuda") == 0;
        return spec->cuda || strcmp(value, "cpu") == 0
                   ? CUZK_OK
                   : CUZK_FAIL(err, CUZK_E_ARG, "worker: no backend is named \"%s\"", value);
    }
    if (strcmp(name, "--device") == 0) {
        CUZK_TRY(number(&v, value, err));
        spec->ordinal = v <= INT_MAX ? (int)v : INT_MAX;
        return CUZK_OK;
    }
    if (strcmp(name, "--library") == 0) {
        spec->library = value;
        return CUZK_OK;
    }
    if (strcmp(name, "--fault") == 0) {
        spec->fault = value;
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "worker: unknown option %s", name);
}

/* Threads that serve a card inherit this; those of the CPU backend go to its processors by
 * themselves. */
static cuzk_code stay_on(const device_spec *spec, cuzk_err *err)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < spec->n_cpus; i++) {
        CPU_SET(spec->cpus[i], &set);
    }
    return spec->n_cpus == 0 || sched_setaffinity(0, sizeof set, &set) == 0
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_ARG, "worker: none of its processors is there: %s",
                           strerror(errno));
}

/* This process cannot use its device any more; the daemon starts another. */
static void on_lost(void *ctx, const char *why)
{
    (void)ctx;
    fprintf(stderr, "cuzk-daemon: the CUDA device is lost: %s\n", why);
    _exit(cuzk_code_exit_status(CUZK_E_UNAVAILABLE));
}

cuzk_code daemon_worker(int argc, char **argv, cuzk_err *err)
{
    static uint32_t cpus[CPUS_MAX];
    device_spec spec = {.cpus = cpus, .lost = on_lost};
    cuzk_backend *b;
    for (int i = 2; i < argc; i += 2) {
        if (i + 1 == argc) {
            return CUZK_FAIL(err, CUZK_E_ARG, "worker: %s wants a value", argv[i]);
        }
        CUZK_TRY(read_option(&spec, cpus, argv[i], argv[i + 1], err));
    }
    /* The daemon decides when a worker ends; a terminal's interrupt goes to the daemon alone. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    CUZK_TRY(spec.cuda ? stay_on(&spec, err) : CUZK_OK);
    CUZK_TRY(device_open(&b, &spec, err));
    int status = cuzk_worker_main(CUZK_WORKER_FD, b);
    b->ops->close(b);
    return status == 0 ? CUZK_OK : CUZK_FAIL(err, CUZK_E_INTERNAL, "worker: status %d", status);
}
