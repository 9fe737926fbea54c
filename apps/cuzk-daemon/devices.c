#include "devices.h"

#include "daemon.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/fault/fault_backend.h"
#include "backend/worker/worker.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cuzk_code device_open(cuzk_backend **ret, const device_spec *spec, cuzk_err *err)
{
    cuzk_backend *b;
    int *cpus = calloc(spec->n_cpus + 1, sizeof *cpus);
    if (!cpus) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a list of processors");
    }
    for (size_t i = 0; i < spec->n_cpus; i++) {
        cpus[i] = (int)spec->cpus[i];
    }
    const cuzk_cpu_options options = {spec->threads, spec->n_cpus ? cpus : NULL, spec->n_cpus,
                                      spec->budget};
    cuzk_code code = cuzk_backend_cpu_open(&b, &options, err);
    free(cpus);
    CUZK_TRY(code);
    if (spec->fault) {
        return cuzk_backend_fault_open(ret, b, spec->fault, err);
    }
    *ret = b;
    return CUZK_OK;
}

/* ---- in a process of its own ---- */

enum { ARGS_MAX = 16, PROGRAM_MAX = 4096 };

/* What becomes of one device's worker process. */
typedef struct watched {
    struct daemon_workers *all;
    int16_t device;
    int pid; /* of the process that runs; 0: none. Guarded by all->mu */
} watched;

struct daemon_workers {
    cuzk_log *log;
    pthread_mutex_t mu;
    cuzk_timeline *timeline; /* borrowed, NULL until it is there; guarded by mu */
    watched devices[];
};

/* By the device's thread. */
static void on_worker(void *ctx, int pid, const char *reason)
{
    watched *w = ctx;
    cuzk_log *log = w->all->log;
    pthread_mutex_lock(&w->all->mu);
    w->pid = reason ? 0 : pid;
    cuzk_timeline_record(w->all->timeline, reason ? CUZK_EV_WORKER_DEATH : CUZK_EV_WORKER_START, 0,
                         -1, -1, w->device, pid, reason);
    pthread_mutex_unlock(&w->all->mu);
    if (reason) {
        CUZK_LOG(log, CUZK_LOG_WARN, "worker", "worker process is gone", cuzk_log_int("pid", pid),
                 cuzk_log_str("reason", reason));
    } else {
        CUZK_LOG(log, CUZK_LOG_INFO, "worker", "worker process started", cuzk_log_int("pid", pid));
    }
}

static cuzk_code workers_new(daemon_workers **ret, size_t n, cuzk_log *log, cuzk_err *err)
{
    daemon_workers *w = calloc(1, sizeof *w + n * sizeof *w->devices);
    if (!w) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu devices", n);
    }
    w->log = log;
    pthread_mutex_init(&w->mu, NULL);
    for (size_t i = 0; i < n; i++) {
        w->devices[i] = (watched){w, (int16_t)i, 0};
    }
    *ret = w;
    return CUZK_OK;
}

void daemon_workers_record(daemon_workers *w, cuzk_timeline *timeline, size_t n)
{
    pthread_mutex_lock(&w->mu);
    w->timeline = timeline;
    for (size_t i = 0; i < n; i++) {
        if (w->devices[i].pid) {
            cuzk_timeline_record(timeline, CUZK_EV_WORKER_START, 0, -1, -1, w->devices[i].device,
                                 w->devices[i].pid, NULL);
        }
    }
    pthread_mutex_unlock(&w->mu);
}

void daemon_workers_free(daemon_workers *w)
{
    if (w) {
        pthread_mutex_destroy(&w->mu);
        free(w);
    }
}

/* "0,1,17", or NULL without memory. */
static char *join_numbers(const uint32_t *v, size_t n)
{
    char *text = malloc(12 * n + 1);
    size_t at = 0;
    for (size_t i = 0; text && i < n; i++) {
        at += (size_t)sprintf(text + at, "%s%" PRIu32, i ? "," : "", v[i]);
    }
    if (text) {
        text[at] = '\0';
    }
    return text;
}

static cuzk_code open_worker(cuzk_backend **ret, const device_spec *spec, watched *w, cuzk_err *err)
{
    char program[PROGRAM_MAX], threads[16], budget[32];
    const char *argv[ARGS_MAX];
    unsigned n = 0;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *cpus = join_numbers(spec->cpus, spec->n_cpus);
    if (length <= 0 || !cpus) {
        free(cpus);
        return CUZK_FAIL(err, CUZK_E_IO, "this program's own name cannot be read");
    }
    program[length] = '\0';
    snprintf(threads, sizeof threads, "%u", spec->threads);
    snprintf(budget, sizeof budget, "%" PRIu64, spec->budget);
    argv[n++] = program;
    argv[n++] = "--worker";
    argv[n++] = "--threads";
    argv[n++] = threads;
    argv[n++] = "--budget";
    argv[n++] = budget;
    if (spec->n_cpus) {
        argv[n++] = "--cpus";
        argv[n++] = cpus;
    }
    if (spec->fault) {
        argv[n++] = "--fault";
        argv[n++] = spec->fault;
    }
    argv[n] = NULL;
    const cuzk_worker_options options = {.argv = argv, .event = on_worker, .ctx = w};
    cuzk_code code = cuzk_backend_worker_open(ret, &options, err);
    free(cpus);
    return code;
}

/* ---- all of them ---- */

static cuzk_code choose_backend(const cuzk_config *c, cuzk_log *log, cuzk_err *err)
{
    if (c->gpus.backend == CUZK_CONFIG_BACKEND_CUDA) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "gpus.backend = \"cuda\": this build proves on the processor only");
    }
    if (c->gpus.backend == CUZK_CONFIG_BACKEND_AUTO) {
        CUZK_LOG(log, CUZK_LOG_INFO, "daemon", "no CUDA device: proving on the processor");
    }
    return CUZK_OK;
}

static cuzk_code open_all(cuzk_backend ***ret, daemon_workers *workers, size_t n,
                          const cuzk_config *c, const char *fault, cuzk_err *err)
{
    size_t opened = 0;
    const device_spec spec = {
        .threads = c->gpus.gpu_threads,
        .cpus = c->gpus.cpus.v,
        .n_cpus = c->gpus.cpus.n,
        .budget = c->memory.vram_budget == CUZK_CONFIG_AUTO ? 0 : c->memory.vram_budget,
        .fault = fault,
    };
    cuzk_backend **list = calloc(n, sizeof(cuzk_backend *));
    cuzk_code code = list ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu devices", n);
    for (; opened < n && code == CUZK_OK; opened += code == CUZK_OK) {
        code = c->gpus.isolate ? open_worker(&list[opened], &spec, &workers->devices[opened], err)
                               : device_open(&list[opened], &spec, err);
    }
    if (code != CUZK_OK) {
        while (opened-- > 0) {
            list[opened]->ops->close(list[opened]);
        }
        free(list);
        return code;
    }
    *ret = list;
    return CUZK_OK;
}

cuzk_code daemon_devices(cuzk_backend ***ret, size_t *ret_n, daemon_workers **ret_workers,
                         const cuzk_config *c, const char *fault, cuzk_log *log, cuzk_err *err)
{
    size_t n = c->gpus.devices.n ? c->gpus.devices.n : 1;
    daemon_workers *workers;
    CUZK_TRY(choose_backend(c, log, err));
    CUZK_TRY(workers_new(&workers, n, log, err));
    cuzk_code code = open_all(ret, workers, n, c, fault, err);
    if (code != CUZK_OK) {
        daemon_workers_free(workers);
        return code;
    }
    *ret_n = n;
    *ret_workers = workers;
    return CUZK_OK;
}
