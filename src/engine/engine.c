#include "engine/engine_internal.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- small things ---- */

void cuzk_engine_say(const cuzk_engine *e, cuzk_engine_level level, const char *job_id,
                     const char *fmt, ...)
{
    char text[CUZK_STORE_ERROR_MAX];
    va_list args;
    if (!e->config.log) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    e->config.log(e->config.log_ctx, level, job_id, text);
}

uint64_t cuzk_wall_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void cuzk_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

bool cuzk_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mu, uint64_t deadline_ns)
{
    if (deadline_ns == 0) {
        pthread_cond_wait(cond, mu);
        return true;
    }
    struct timespec t = {(time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000)};
    return pthread_cond_timedwait(cond, mu, &t) == 0;
}

cuzk_code cuzk_thread_start(pthread_t *ret, void *(*fn)(void *), void *arg, const char *name,
                            cuzk_err *err)
{
    if (pthread_create(ret, NULL, fn, arg) != 0) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "cannot start the thread %s", name);
    }
    pthread_setname_np(*ret, name);
    return CUZK_OK;
}

void cuzk_engine_wake_locked(cuzk_engine *e)
{
    pthread_cond_broadcast(&e->synth_cv);
    pthread_cond_broadcast(&e->device_cv);
    pthread_cond_broadcast(&e->finish_cv);
    pthread_cond_broadcast(&e->ready_cv);
    pthread_cond_broadcast(&e->timer_cv);
    pthread_cond_broadcast(&e->accepted_cv);
    pthread_cond_broadcast(&e->quiet_cv);
}

struct cuzk_timeline *cuzk_engine_timeline(cuzk_engine *e) { return e->timeline; }
struct cuzk_metrics *cuzk_engine_metrics(cuzk_engine *e) { return e->metrics; }

/* ---- settings ---- */

void cuzk_engine_config_init(cuzk_engine_config *ret)
{
    *ret = (cuzk_engine_config){
        .gpu_workers_per_device = 1,
        .synthesis_concurrency = 1,
        .slot_size = 1,
        .lookahead = 1,
        .max_batch_size = 1,
        .max_batch_wait_ms = 10000,
        .partition_retries = 3,
        .quarantine_after = 3,
        .safety_margin = (uint64_t)5 << 30,
        .eviction_min_idle_ms = 300000,
        .max_queued_jobs = 10000,
        .keep_results_ms = (uint64_t)24 * 3600 * 1000,
    };
}

enum { MAX_PARALLEL = 18, MAX_WORKERS = 64 };

static cuzk_code check_config(const cuzk_engine_config *c, cuzk_err *err)
{
    if (!c->param_cache || !c->store) {
        return CUZK_FAIL(err, CUZK_E_ARG, "param_cache and store are needed");
    }
    if (c->n_devices == 0 || c->n_devices > CUZK_BUDGET_DEVICES_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "devices: expected 1 to %d, found %zu",
                         CUZK_BUDGET_DEVICES_MAX, c->n_devices);
    }
    if (c->gpu_workers_per_device == 0 || c->gpu_workers_per_device > MAX_WORKERS) {
        return CUZK_FAIL(err, CUZK_E_ARG, "gpu_workers_per_device: expected 1 to %d, found %u",
                         MAX_WORKERS, c->gpu_workers_per_device);
    }
    if (c->synthesis_concurrency == 0 || c->max_queued_jobs == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "synthesis_concurrency and max_queued_jobs must be 1 or more");
    }
    if (c->max_parallel_synthesis > 1024) {
        return CUZK_FAIL(err, CUZK_E_ARG, "max_parallel_synthesis: at most 1024, found %u",
                         c->max_parallel_synthesis);
    }
    return CUZK_OK;
}

/* Bytes of host memory that this process may use: what the machine has, or its control group. */
static uint64_t host_memory(void)
{
    uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), limit;
    FILE *f = fopen("/sys/fs/cgroup/memory.max", "re");
    if (f) {
        if (fscanf(f, "%" SCNu64, &limit) == 1 && limit < total) {
            total = limit;
        }
        fclose(f);
    }
    return total;
}

static cuzk_code init_budget(cuzk_engine *e, const cuzk_engine_config *c, cuzk_err *err)
{
    uint64_t all = host_memory();
    uint64_t host = c->budget[CUZK_MEMORY_HOST];
    if (host == 0) {
        host = all > 2 * c->safety_margin ? all - c->safety_margin : all / 2;
    }
    cuzk_amounts totals = {.bytes = {[CUZK_ACCOUNT_HOST] = host}};
    uint64_t pinned = c->budget[CUZK_MEMORY_PINNED];
    totals.bytes[CUZK_ACCOUNT_PINNED] = pinned ? pinned : host / 2;
    for (unsigned d = 0; d < e->n_devices; d++) {
        uint64_t own = c->budget[CUZK_MEMORY_DEVICE];
        totals.bytes[CUZK_ACCOUNT_DEVICE + d] = own ? own : e->devices[d].info.memory_total;
    }
    CUZK_TRY(cuzk_budget_new(&e->budget, &totals, err));
    e->pipeline_max = c->pipeline_bytes ? c->pipeline_bytes : host / 4;
    if (!c->pipeline_bytes && e->pipeline_max > (uint64_t)4 << 30) {
        e->pipeline_max = (uint64_t)4 << 30;
    }
    const cuzk_amounts pipeline = {.bytes = {[CUZK_ACCOUNT_HOST] = e->pipeline_max}};
    return cuzk_budget_fix(e->budget, &pipeline, err);
}

/* ---- opening ---- */

static cuzk_code init_devices(cuzk_engine *e, const cuzk_engine_config *c, cuzk_err *err)
{
    e->devices = calloc(c->n_devices, sizeof *e->devices);
    e->n_workers = (unsigned)c->n_devices * c->gpu_workers_per_device;
    e->workers = calloc(e->n_workers, sizeof *e->workers);
    if (!e->devices || !e->workers) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu devices", c->n_devices);
    }
    for (unsigned d = 0; d < c->n_devices; d++) {
        cuzk_engine_device *dev = &e->devices[d];
        dev->number = d;
        dev->backend = c->devices[d];
        e->n_devices++;
    }
    for (unsigned d = 0; d < c->n_devices; d++) {
        cuzk_backend *b = e->devices[d].backend;
        CUZK_TRY(b->ops->info(b, &e->devices[d].info, err));
        for (unsigned i = 0; i < c->gpu_workers_per_device; i++) {
            cuzk_device_worker *w = &e->workers[d * c->gpu_workers_per_device + i];
            w->e = e;
            w->device = &e->devices[d];
            w->id = d * c->gpu_workers_per_device + i;
            w->critical_only = c->critical_lane && c->gpu_workers_per_device > 1 && i == 0;
        }
    }
    return CUZK_OK;
}

static cuzk_code init_preload(cuzk_engine *e, const cuzk_engine_config *c, cuzk_err *err)
{
    e->preload = calloc(c->n_preload ? c->n_preload : 1, sizeof *e->preload);
    if (!e->preload) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the list of circuits to load");
    }
    for (size_t i = 0; i < c->n_preload; i++) {
        char name[CUZK_CIRCUIT_NAME_MAX];
        CUZK_TRY(cuzk_engine_circuit_name(name, c->preload[i], err));
        e->preload[e->n_preload++] = (size_t)(cuzk_circuits_named(e, name) - e->circuits);
    }
    return CUZK_OK;
}

static void event_sink(void *ctx, const char *json, size_t n)
{
    const cuzk_engine *e = ctx;
    e->config.on_event(e->config.event_ctx, json, n);
}

static cuzk_code init_parts(cuzk_engine *e, const cuzk_engine_config *c, cuzk_err *err)
{
    const cuzk_timeline_options timeline = {.sink = c->on_event ? event_sink : NULL, .sink_ctx = e};
    const cuzk_residency_config residency = {
        .event = cuzk_device_note,
        .ctx = e,
        .min_idle_ns = c->eviction_min_idle_ms * 1000000,
        .warm_max_bytes = host_memory() / 4,
    };
    CUZK_TRY(cuzk_timeline_new(&e->timeline, &timeline, err));
    CUZK_TRY(cuzk_metrics_new(&e->metrics, err));
    CUZK_TRY(init_devices(e, c, err));
    CUZK_TRY(cuzk_engine_metrics_init(e, err));
    CUZK_TRY(cuzk_circuits_init(e, c, err));
    CUZK_TRY(init_preload(e, c, err));
    e->failures = calloc(CUZK_FAILURES_KEPT, sizeof *e->failures);
    if (!e->failures) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the last failures");
    }
    CUZK_TRY(init_budget(e, c, err));
    CUZK_TRY(
        cuzk_residency_new(&e->residency, e->budget, c->devices, e->n_devices, &residency, err));
    return cuzk_store_open(&e->store, c->store, err);
}

static void init_waits(cuzk_engine *e)
{
    pthread_cond_t *const all[] = {&e->accepted_cv, &e->synth_cv, &e->device_cv, &e->finish_cv,
                                   &e->quiet_cv,    &e->ready_cv, &e->called_cv, &e->timer_cv};
    pthread_mutex_init(&e->mu, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cuzk_cond_init(all[i]);
    }
}

/* Threads inherit the processors of the one that starts them. */
static cuzk_code start_synthesis(cuzk_engine *e, const cuzk_engine_config *c, cuzk_err *err)
{
    cpu_set_t before, pinned;
    CPU_ZERO(&pinned);
    for (size_t i = 0; i < c->n_synthesis_cpus; i++) {
        if (c->synthesis_cpus[i] >= CPU_SETSIZE) {
            return CUZK_FAIL(err, CUZK_E_ARG, "synthesis_cpus: no processor %u",
                             c->synthesis_cpus[i]);
        }
        CPU_SET(c->synthesis_cpus[i], &pinned);
    }
    pthread_getaffinity_np(pthread_self(), sizeof before, &before);
    if (c->n_synthesis_cpus &&
        pthread_setaffinity_np(pthread_self(), sizeof pinned, &pinned) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "synthesis_cpus: not processors of this machine");
    }
    cuzk_code code = cuzk_pool_new(&e->pool, c->synthesis_threads, err);
    if (code == CUZK_OK) {
        unsigned threads = cuzk_pool_size(e->pool);
        e->n_synth = c->max_parallel_synthesis ? c->max_parallel_synthesis
                     : threads < MAX_PARALLEL  ? threads
                                               : MAX_PARALLEL;
        e->slot_limit = e->n_synth + (c->channel_capacity ? c->channel_capacity : 2 * e->n_workers);
        e->synth_threads = calloc(e->n_synth, sizeof *e->synth_threads);
        code = e->synth_threads ? CUZK_OK : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for threads");
    }
    /* Each waits for mu, which is held until synth_threads is filled. */
    pthread_mutex_lock(&e->mu);
    for (unsigned i = 0; code == CUZK_OK && i < e->n_synth; i++) {
        code = cuzk_thread_start(&e->synth_threads[i], cuzk_synthesis_main, e, "cuzk-synth", err);
        e->synth_started += code == CUZK_OK;
    }
    pthread_mutex_unlock(&e->mu);
    if (c->n_synthesis_cpus) {
        pthread_setaffinity_np(pthread_self(), sizeof before, &before);
    }
    return code;
}

static cuzk_code start_threads(cuzk_engine *e, const cuzk_engine_config *c, cuzk_err *err)
{
    CUZK_TRY(cuzk_thread_start(&e->notifier, cuzk_notifier_main, e, "cuzk-notify", err));
    e->notifier_started = true;
    CUZK_TRY(cuzk_thread_start(&e->timer, cuzk_timer_main, e, "cuzk-timer", err));
    e->timer_started = true;
    for (; e->finish_started < CUZK_FINISH_WORKERS; e->finish_started++) {
        CUZK_TRY(cuzk_thread_start(&e->finish_threads[e->finish_started], cuzk_finish_main, e,
                                   "cuzk-finish", err));
    }
    for (; e->workers_started < e->n_workers; e->workers_started++) {
        cuzk_device_worker *w = &e->workers[e->workers_started];
        CUZK_TRY(cuzk_thread_start(&w->thread, cuzk_device_main, w, "cuzk-device", err));
    }
    CUZK_TRY(start_synthesis(e, c, err));
    if (e->n_preload) {
        CUZK_TRY(cuzk_thread_start(&e->preloader, cuzk_preload_main, e, "cuzk-preload", err));
        e->preloader_started = true;
    }
    return CUZK_OK;
}

cuzk_code cuzk_engine_open(cuzk_engine **ret, const cuzk_engine_config *config, cuzk_err *err)
{
    cuzk_code code = check_config(config, err);
    cuzk_engine *e = code == CUZK_OK ? calloc(1, sizeof *e) : NULL;
    if (!e) {
        for (size_t d = 0; d < config->n_devices; d++) {
            config->devices[d]->ops->close(config->devices[d]);
        }
        CUZK_TRY(code);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for an engine");
    }
    cuzk_engine_config c = *config;
    c.circuit_cache = c.circuit_cache ? c.circuit_cache : c.param_cache;
    e->config = c;
    e->start_ns = cuzk_clock_ns();
    e->next_purge_ns = e->start_ns;
    init_waits(e);
    code = init_parts(e, &c, err);
    if (code == CUZK_OK) {
        code = cuzk_engine_resume(e, err);
    }
    if (code == CUZK_OK) {
        code = start_threads(e, &c, err);
    }
    if (code != CUZK_OK) {
        for (size_t d = e->n_devices; d < config->n_devices; d++) {
            config->devices[d]->ops->close(config->devices[d]);
        }
        cuzk_engine_close(e);
        return code;
    }
    /* What is borrowed until now. */
    e->config.param_cache = e->config.circuit_cache = e->config.store = NULL;
    e->config.devices = NULL;
    e->config.synthesis_cpus = NULL;
    e->config.preload = NULL;
    *ret = e;
    return CUZK_OK;
}

/* ---- ending ---- */

/* Partitions on a device or being finished, and ends of jobs that are being told. */
static bool is_busy_locked(const cuzk_engine *e)
{
    bool busy = e->finishing > 0 || e->task_first || e->synth_active > 0;
    for (unsigned i = 0; i < e->n_workers; i++) {
        busy = busy || e->workers[i].unit;
    }
    for (size_t i = 0; !busy && i < e->table_size; i++) {
        for (const cuzk_job *job = e->table[i]; job; job = job->hash_next) {
            busy = busy || job->accepting || (job->ending && !cuzk_job_ended(job->state));
        }
    }
    return busy;
}

static void wake_leases_locked(cuzk_engine *e)
{
    for (unsigned i = 0; i < e->n_workers; i++) {
        if (e->workers[i].leasing) {
            atomic_store_explicit(&e->workers[i].yield, true, memory_order_release);
        }
    }
    cuzk_residency_wake(e->residency);
}

/* The number of a job that was begun and not ended, after `after`; 0 when there is none. */
static uint64_t next_running_locked(const cuzk_engine *e, uint64_t after)
{
    uint64_t next = 0;
    for (size_t i = 0; i < e->table_size; i++) {
        for (const cuzk_job *job = e->table[i]; job; job = job->hash_next) {
            if (job->state == CUZK_JOB_RUNNING && job->number > after &&
                (next == 0 || job->number < next)) {
                next = job->number;
            }
        }
    }
    return next;
}

/* The store is to say that what was begun waits again. */
static void put_back(cuzk_engine *e)
{
    uint64_t number = 0;
    for (;;) {
        pthread_mutex_lock(&e->mu);
        number = next_running_locked(e, number);
        pthread_mutex_unlock(&e->mu);
        if (number == 0) {
            return;
        }
        cuzk_store_set_queued(e->store, (int64_t)number, NULL);
    }
}

cuzk_code cuzk_engine_drain(cuzk_engine *e, uint64_t timeout_ms, cuzk_err *err)
{
    uint64_t longest = UINT64_MAX / 4000000;
    uint64_t deadline =
        cuzk_clock_ns() + (timeout_ms < longest ? timeout_ms : longest) * 1000000 + 1;
    pthread_mutex_lock(&e->mu);
    e->draining = true;
    cuzk_engine_wake_locked(e);
    wake_leases_locked(e);
    bool busy = is_busy_locked(e);
    while (busy && cuzk_cond_wait(&e->quiet_cv, &e->mu, deadline)) {
        busy = is_busy_locked(e);
    }
    busy = is_busy_locked(e);
    pthread_mutex_unlock(&e->mu);
    put_back(e);
    return busy ? CUZK_FAIL(err, CUZK_E_TIMEOUT, "partitions still run after %" PRIu64 " ms",
                            timeout_ms)
                : CUZK_OK;
}

static void stop_threads(cuzk_engine *e)
{
    pthread_mutex_lock(&e->mu);
    e->draining = e->stopping = true;
    atomic_store_explicit(&e->stop_flag, true, memory_order_release);
    cuzk_engine_wake_locked(e);
    if (e->residency) {
        wake_leases_locked(e);
    }
    pthread_mutex_unlock(&e->mu);
    if (e->preloader_started) {
        pthread_join(e->preloader, NULL);
    }
    for (unsigned i = 0; i < e->synth_started; i++) {
        pthread_join(e->synth_threads[i], NULL);
    }
    for (unsigned i = 0; i < e->workers_started; i++) {
        pthread_join(e->workers[i].thread, NULL);
    }
    pthread_mutex_lock(&e->mu);
    e->devices_ended = true; /* finish workers leave when nothing is left */
    cuzk_engine_wake_locked(e);
    pthread_mutex_unlock(&e->mu);
    for (unsigned i = 0; i < e->finish_started; i++) {
        pthread_join(e->finish_threads[i], NULL);
    }
    if (e->notifier_started) {
        pthread_join(e->notifier, NULL);
    }
    if (e->timer_started) {
        pthread_join(e->timer, NULL);
    }
}

static void free_jobs(cuzk_engine *e)
{
    for (size_t i = 0; i < e->table_size; i++) {
        while (e->table[i]) {
            cuzk_table_remove_locked(e, e->table[i]);
        }
    }
    free(e->table);
}

void cuzk_engine_close(cuzk_engine *e)
{
    if (!e) {
        return;
    }
    stop_threads(e);
    cuzk_circuits_clear(e); /* joins what loads */
    cuzk_residency_free(e->residency);
    free_jobs(e);
    cuzk_budget_free(e->budget);
    for (unsigned d = 0; d < e->n_devices; d++) {
        e->devices[d].backend->ops->close(e->devices[d].backend);
    }
    cuzk_store_close(e->store);
    cuzk_pool_free(e->pool);
    cuzk_metrics_free(e->metrics);
    cuzk_engine_metrics_free(e);
    cuzk_timeline_free(e->timeline);
    free(e->devices);
    free(e->workers);
    free(e->synth_threads);
    free(e->preload);
    free(e->failures);
    free(e->heap);
    pthread_mutex_destroy(&e->mu);
    free(e);
}
