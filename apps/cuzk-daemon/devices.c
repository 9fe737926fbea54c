#include "devices.h"

#include "daemon.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda_open.h"
#include "backend/fault/fault_backend.h"
#include "backend/worker/worker.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static cuzk_code open_cuda(cuzk_backend **ret, const device_spec *spec, cuzk_err *err)
{
    const cuzk_cuda_entry *cuda;
    const cuzk_cuda_options options = {
        .ordinal = spec->ordinal, .budget = spec->budget, .lost = spec->lost};
    CUZK_TRY(cuzk_cuda_open(&cuda, NULL, spec->library, err));
    return cuda->open(ret, &options, err);
}

static cuzk_code open_cpu(cuzk_backend **ret, const device_spec *spec, cuzk_err *err)
{
    int *cpus = calloc(spec->n_cpus + 1, sizeof *cpus);
    if (!cpus) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a list of processors");
    }
    for (size_t i = 0; i < spec->n_cpus; i++) {
        cpus[i] = (int)spec->cpus[i];
    }
    const cuzk_cpu_options options = {spec->threads, spec->n_cpus ? cpus : NULL, spec->n_cpus,
                                      spec->budget};
    cuzk_code code = cuzk_backend_cpu_open(ret, &options, err);
    free(cpus);
    return code;
}

cuzk_code device_open(cuzk_backend **ret, const device_spec *spec, cuzk_err *err)
{
    cuzk_backend *b;
    CUZK_TRY(spec->cuda ? open_cuda(&b, spec, err) : open_cpu(&b, spec, err));
    if (spec->fault) {
        return cuzk_backend_fault_open(ret, b, spec->fault, err);
    }
    *ret = b;
    return CUZK_OK;
}

/* ---- in a process of its own ---- */

enum {
    ARGS_MAX = 24,
    PROGRAM_MAX = 4096,
    CUDA_START_MS = 120000, /* of a worker: a driver that wakes up, and the known proof */
};

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
    char program[PROGRAM_MAX], threads[16], budget[32], ordinal[16];
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
    snprintf(ordinal, sizeof ordinal, "%d", spec->ordinal);
    argv[n++] = program;
    argv[n++] = "--worker";
    if (spec->cuda) {
        argv[n++] = "--backend";
        argv[n++] = "cuda";
        argv[n++] = "--device";
        argv[n++] = ordinal;
        argv[n++] = "--library";
        argv[n++] = spec->library;
    }
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
    const cuzk_worker_options options = {
        .argv = argv, .start_ms = spec->cuda ? CUDA_START_MS : 0, .event = on_worker, .ctx = w};
    cuzk_code code = cuzk_backend_worker_open(ret, &options, err);
    free(cpus);
    return code;
}

/* ---- all of them ---- */

/* What the devices are. */
typedef struct selection {
    size_t n;
    bool cuda;                        /* else n times the processor */
    char library[CUZK_CUDA_PATH_MAX]; /* of the CUDA backend */
} selection;

static cuzk_code find_cuda(selection *s, const cuzk_config *c, cuzk_err *err)
{
    const cuzk_cuda_entry *cuda;
    CUZK_TRY(cuzk_cuda_open(&cuda, s->library, c->gpus.cuda_library, err));
    int n = cuda->count();
    if (n <= 0) {
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE,
                         "%.140s is there, but no CUDA device answers (no driver, or no card)",
                         s->library);
    }
    for (size_t i = 0; i < c->gpus.devices.n; i++) {
        if (c->gpus.devices.v[i] >= (uint32_t)n) {
            return CUZK_FAIL(err, CUZK_E_ARG,
                             "gpus.devices: there is no CUDA device %" PRIu32 ", the last is %d",
                             c->gpus.devices.v[i], n - 1);
        }
    }
    s->cuda = true;
    s->n = c->gpus.devices.n ? c->gpus.devices.n : (size_t)n;
    return CUZK_OK;
}

static cuzk_code select_devices(selection *s, const cuzk_config *c, cuzk_log *log, cuzk_err *err)
{
    cuzk_err why = {0};
    *s = (selection){.n = c->gpus.devices.n ? c->gpus.devices.n : 1};
    if (c->gpus.backend == CUZK_CONFIG_BACKEND_CPU) {
        return CUZK_OK;
    }
    cuzk_code code = find_cuda(s, c, &why);
    if (code == CUZK_OK) {
        CUZK_LOG(log, CUZK_LOG_INFO, "daemon", "proving on CUDA devices",
                 cuzk_log_uint("devices", s->n), cuzk_log_str("library", s->library));
        return CUZK_OK;
    }
    if (code == CUZK_E_ARG) {
        return CUZK_FAIL(err, code, "%s", why.msg);
    }
    if (c->gpus.backend == CUZK_CONFIG_BACKEND_CUDA) {
        return CUZK_FAIL(err, code, "gpus.backend = \"cuda\": %s", why.msg);
    }
    CUZK_LOG(log, code == CUZK_E_UNSUPPORTED ? CUZK_LOG_WARN : CUZK_LOG_INFO, "daemon",
             "no CUDA device: proving on the processor", cuzk_log_str("reason", why.msg));
    return CUZK_OK;
}

static cuzk_code open_all(cuzk_backend ***ret, daemon_workers *workers, const selection *s,
                          const cuzk_config *c, const char *fault, cuzk_err *err)
{
    size_t opened = 0, n = s->n;
    device_spec spec = {
        .cuda = s->cuda,
        .library = s->library,
        .threads = c->gpus.gpu_threads,
        .cpus = c->gpus.cpus.v,
        .n_cpus = c->gpus.cpus.n,
        .budget = c->memory.vram_budget == CUZK_CONFIG_AUTO ? 0 : c->memory.vram_budget,
        .fault = fault,
    };
    cuzk_backend **list = calloc(n, sizeof(cuzk_backend *));
    cuzk_code code = list ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu devices", n);
    for (; opened < n && code == CUZK_OK; opened += code == CUZK_OK) {
        spec.ordinal = (int)(c->gpus.devices.n ? c->gpus.devices.v[opened] : opened);
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
    selection s;
    daemon_workers *workers;
    CUZK_TRY(select_devices(&s, c, log, err));
    CUZK_TRY(workers_new(&workers, s.n, log, err));
    cuzk_code code = open_all(ret, workers, &s, c, fault, err);
    if (code != CUZK_OK) {
        daemon_workers_free(workers);
        return code;
    }
    *ret_n = s.n;
    *ret_workers = workers;
    return CUZK_OK;
}
