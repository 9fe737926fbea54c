#include "engine/engine_internal.h"

#include <stdlib.h>

/* Metrics: the reference's names, and what it has not. */

static const char *const phase_names[CUZK_TIMES] = {"queue", "synthesis", "gpu", "finish"};
static const char *const kind_names[CUZK_JOB_KIND_MAX + 1] = {
#define X(name, number, metric, label) [number] = metric,
    CUZK_JOB_KINDS(X)
#undef X
};

struct cuzk_engine_metrics_set {
    cuzk_series *completed_total, *failed_total, *cancelled_total, *uptime, *queue_depth, *running;
    cuzk_series *gpu_workers, *channel, *pipeline_bytes, *draining;
    cuzk_series *completed[CUZK_JOB_KIND_MAX + 1], *failed[CUZK_JOB_KIND_MAX + 1];
    cuzk_series *duration[CUZK_JOB_KIND_MAX + 1];
    cuzk_series *phase[CUZK_JOB_KIND_MAX + 1][CUZK_TIMES];
    cuzk_series *retries[CUZK_BUDGET_DEVICES_MAX][2]; /* error, wrong proof */
    cuzk_series *utilisation[CUZK_BUDGET_DEVICES_MAX], *quarantined[CUZK_BUDGET_DEVICES_MAX];
    cuzk_metric *memory_used, *memory_total;
};

static const double seconds[] = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1,   2,   5,
                                 10,    20,    30,   45,   60,  90,  120, 300, 900};
enum { N_SECONDS = sizeof seconds / sizeof *seconds };

static cuzk_code family(cuzk_engine *e, cuzk_metric **ret, cuzk_metric_type type, const char *name,
                        const char *label, const char *label2, const char *help, cuzk_err *err)
{
    cuzk_metric_spec spec = {.type = type, .name = name, .help = help, .labels = {label, label2}};
    if (type == CUZK_HISTOGRAM) {
        spec.buckets = seconds;
        spec.n_buckets = N_SECONDS;
    }
    return cuzk_metrics_add(e->metrics, ret, &spec, err);
}

static cuzk_code single(cuzk_engine *e, cuzk_series **ret, cuzk_metric_type type, const char *name,
                        const char *help, cuzk_err *err)
{
    cuzk_metric *f;
    CUZK_TRY(family(e, &f, type, name, NULL, NULL, help, err));
    return cuzk_metric_series(f, ret, NULL, err);
}

static cuzk_code by_kind(cuzk_engine *e, cuzk_series *ret[CUZK_JOB_KIND_MAX + 1],
                         cuzk_metric_type type, const char *name, const char *help, cuzk_err *err)
{
    cuzk_metric *f;
    CUZK_TRY(family(e, &f, type, name, "proof_kind", NULL, help, err));
    for (unsigned k = 1; k <= CUZK_JOB_KIND_MAX; k++) {
        CUZK_TRY(cuzk_metric_series(f, &ret[k], &kind_names[k], err));
    }
    return CUZK_OK;
}

static cuzk_code init_phases(cuzk_engine *e, cuzk_err *err)
{
    cuzk_metric *f;
    CUZK_TRY(family(e, &f, CUZK_HISTOGRAM, "cuzk_phase_seconds", "proof_kind", "phase",
                    "Time of a partition in each phase; of a job in the queue", err));
    for (unsigned k = 1; k <= CUZK_JOB_KIND_MAX; k++) {
        for (unsigned p = 0; p < CUZK_TIMES; p++) {
            const char *const values[] = {kind_names[k], phase_names[p]};
            CUZK_TRY(cuzk_metric_series(f, &e->metric->phase[k][p], values, err));
        }
    }
    return CUZK_OK;
}

static cuzk_code init_devices(cuzk_engine *e, cuzk_err *err)
{
    cuzk_metric *retries, *utilisation, *quarantined;
    CUZK_TRY(family(e, &retries, CUZK_COUNTER, "cuzk_partition_retries_total", "device", "reason",
                    "Attempts on a device that failed and were repeated", err));
    CUZK_TRY(family(e, &utilisation, CUZK_GAUGE, "cuzk_device_utilisation", "device", NULL,
                    "Share of the last minute in which a device was proving", err));
    CUZK_TRY(family(e, &quarantined, CUZK_GAUGE, "cuzk_device_quarantined", "device", NULL,
                    "1 when a device is given no more work", err));
    for (unsigned d = 0; d < e->n_devices; d++) {
        char number[8] = {(char)('0' + d / 10), (char)('0' + d % 10), 0};
        const char *value = d < 10 ? number + 1 : number;
        const char *const error[] = {value, "error"}, *const wrong[] = {value, "wrong_proof"};
        CUZK_TRY(cuzk_metric_series(retries, &e->metric->retries[d][0], error, err));
        CUZK_TRY(cuzk_metric_series(retries, &e->metric->retries[d][1], wrong, err));
        CUZK_TRY(cuzk_metric_series(utilisation, &e->metric->utilisation[d], &value, err));
        CUZK_TRY(cuzk_metric_series(quarantined, &e->metric->quarantined[d], &value, err));
    }
    return CUZK_OK;
}

static cuzk_code init_singles(cuzk_engine *e, cuzk_err *err)
{
    cuzk_engine_metrics_set *m = e->metric;
    const struct {
        cuzk_series **ret;
        cuzk_metric_type type;
        const char *name, *help;
    } all[] = {
        {&m->completed_total, CUZK_COUNTER, "cuzk_proofs_completed_total", "Proofs made"},
        {&m->failed_total, CUZK_COUNTER, "cuzk_proofs_failed_total", "Jobs that failed"},
        {&m->cancelled_total, CUZK_COUNTER, "cuzk_proofs_cancelled_total", "Jobs cancelled"},
        {&m->uptime, CUZK_GAUGE, "cuzk_uptime_seconds", "Since the engine was started"},
        {&m->queue_depth, CUZK_GAUGE, "cuzk_queue_depth", "Jobs that have not begun"},
        {&m->running, CUZK_GAUGE, "cuzk_running_jobs", "Jobs that have begun"},
        {&m->gpu_workers, CUZK_GAUGE, "cuzk_gpu_workers", "Workers of all devices"},
        {&m->channel, CUZK_GAUGE, "cuzk_channel_partitions", "Partitions that wait for a device"},
        {&m->pipeline_bytes, CUZK_GAUGE, "cuzk_pipeline_bytes",
         "Memory of inputs and witnesses on their way"},
        {&m->draining, CUZK_GAUGE, "cuzk_draining", "1 while no more jobs are taken"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        CUZK_TRY(single(e, all[i].ret, all[i].type, all[i].name, all[i].help, err));
    }
    CUZK_TRY(family(e, &m->memory_used, CUZK_GAUGE, "cuzk_memory_used_bytes", "account", NULL,
                    "Memory that keys and work have reserved", err));
    return family(e, &m->memory_total, CUZK_GAUGE, "cuzk_memory_total_bytes", "account", NULL,
                  "Memory that may be reserved", err);
}

/* ---- set before each exposition ---- */

static void collect_accounts(const cuzk_engine *e)
{
    cuzk_budget_state b;
    cuzk_budget_snapshot(e->budget, &b);
    for (unsigned i = 0; i < b.n_accounts; i++) {
        const char *name = b.accounts[i].name;
        cuzk_series *used, *total;
        if (cuzk_metric_series(e->metric->memory_used, &used, &name, NULL) == CUZK_OK &&
            cuzk_metric_series(e->metric->memory_total, &total, &name, NULL) == CUZK_OK) {
            cuzk_series_set(used, (double)b.accounts[i].used);
            cuzk_series_set(total, (double)b.accounts[i].total);
        }
    }
}

static void collect(void *engine)
{
    cuzk_engine *e = engine;
    cuzk_engine_metrics_set *m = e->metric;
    uint64_t now = cuzk_clock_ns();
    size_t waiting = 0;
    pthread_mutex_lock(&e->mu);
    for (unsigned p = 0; p <= CUZK_PRIORITY_CRITICAL; p++) {
        waiting += e->waiting[p];
    }
    cuzk_series_set(m->uptime, (double)(now - e->start_ns) / 1e9);
    cuzk_series_set(m->queue_depth, (double)waiting);
    cuzk_series_set(m->running, (double)(e->unended - waiting));
    cuzk_series_set(m->gpu_workers, e->n_workers);
    cuzk_series_set(m->channel, e->channel_n);
    cuzk_series_set(m->pipeline_bytes, (double)e->pipeline_used);
    cuzk_series_set(m->draining, e->draining);
    for (unsigned d = 0; d < e->n_devices; d++) {
        const cuzk_engine_device *dev = &e->devices[d];
        cuzk_series_set(m->utilisation[d], (double)cuzk_device_busy_minute_locked(dev, now) / 60e9);
        cuzk_series_set(m->quarantined[d], dev->quarantined);
    }
    pthread_mutex_unlock(&e->mu);
    collect_accounts(e);
}

cuzk_code cuzk_engine_metrics_init(cuzk_engine *e, cuzk_err *err)
{
    e->metric = calloc(1, sizeof *e->metric);
    if (!e->metric) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for metrics");
    }
    cuzk_engine_metrics_set *m = e->metric;
    CUZK_TRY(init_singles(e, err));
    /* These names lack the _total that a counter's has to end with, and stand beside those that
     * have it: clients of the reference know them so. */
    CUZK_TRY(by_kind(e, m->completed, CUZK_GAUGE, "cuzk_proofs_completed", "Proofs made", err));
    CUZK_TRY(by_kind(e, m->failed, CUZK_GAUGE, "cuzk_proofs_failed", "Jobs that failed", err));
    CUZK_TRY(by_kind(e, m->duration, CUZK_HISTOGRAM, "cuzk_proof_duration_seconds",
                     "From acceptance to the proof", err));
    CUZK_TRY(init_phases(e, err));
    CUZK_TRY(init_devices(e, err));
    return cuzk_metrics_on_collect(e->metrics, collect, e, err);
}

void cuzk_engine_metrics_free(cuzk_engine *e) { free(e->metric); }

/* ---- counted as it happens ---- */

void cuzk_metrics_phase(cuzk_engine *e, cuzk_job_kind kind, cuzk_engine_phase phase, uint64_t ns)
{
    cuzk_series_observe(e->metric->phase[kind][phase], (double)ns / 1e9);
}

void cuzk_metrics_ended(cuzk_engine *e, const cuzk_job *job)
{
    cuzk_engine_metrics_set *m = e->metric;
    if (job->state == CUZK_JOB_DONE) {
        cuzk_series_add(m->completed_total, 1);
        cuzk_series_add(m->completed[job->kind], 1);
        cuzk_series_observe(m->duration[job->kind],
                            (double)(job->ended_ns - job->created_ns) / 1e9);
    } else if (job->state == CUZK_JOB_FAILED) {
        cuzk_series_add(m->failed_total, 1);
        cuzk_series_add(m->failed[job->kind], 1);
    } else {
        cuzk_series_add(m->cancelled_total, 1);
    }
}

void cuzk_metrics_retry(cuzk_engine *e, unsigned device, bool wrong)
{
    cuzk_series_add(e->metric->retries[device][wrong], 1);
}
