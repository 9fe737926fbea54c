#include "service/status_json.h"

#include <jansson.h>
#include <stdlib.h>

#include "observe/live.h"

/* A failed json_pack is NULL, which makes the object that takes it NULL as well: one check at the
 * end is enough. "o" takes over a reference. */

static json_t *number(uint64_t v) { return json_integer((json_int_t)v); }

static double seconds(uint64_t ms) { return (double)ms / 1000; }

/* [f(s, 0), …, f(s, n - 1)] */
static json_t *list(const cuzk_engine_snapshot *s, size_t n,
                    json_t *(*f)(const cuzk_engine_snapshot *, size_t))
{
    json_t *a = json_array();
    for (size_t i = 0; a && i < n; i++) {
        if (json_array_append_new(a, f(s, i)) != 0) {
            json_decref(a);
            return NULL;
        }
    }
    return a;
}

static json_t *partition(const cuzk_snapshot_partition *p)
{
    return json_pack("{s:i, s:s, s:o, s:o, s:i, s:i}", "index", (int)p->index, "state",
                     cuzk_partition_state_name(p->state), "synth_ms", number(p->synth_ms), "gpu_ms",
                     number(p->gpu_ms), "attempts", (int)p->attempts, "device", p->device);
}

static json_t *pipeline(const cuzk_engine_snapshot *s, size_t i)
{
    const cuzk_snapshot_pipeline *p = &s->pipelines[i];
    json_t *partitions = json_array();
    for (uint32_t k = 0; k < p->n_partitions; k++) {
        json_array_append_new(partitions, partition(&p->partitions[k]));
    }
    return json_pack("{s:s, s:s, s:f, s:i, s:i, s:o, s:s, s:s, s:s}", "job_id", p->job_id,
                     "proof_kind", cuzk_job_kind_name(p->kind), "started_secs_ago",
                     seconds(p->started_ms_ago), "total_partitions", (int)p->n_partitions,
                     "partitions_done", (int)p->partitions_done, "partitions", partitions, "state",
                     cuzk_job_state_name(p->state), "circuit", p->circuit, "error", p->error);
}

static json_t *worker(const cuzk_engine_snapshot *s, size_t i)
{
    const cuzk_snapshot_worker *w = &s->workers[i];
    json_t *job = w->proving ? json_string(w->job_id) : json_null();
    json_t *part = w->proving ? number(w->partition) : json_null();
    return json_pack("{s:i, s:i, s:s, s:o, s:o, s:f}", "worker_id", (int)w->id, "gpu_ordinal",
                     (int)w->device, "state", w->proving ? "proving" : "idle", "current_job", job,
                     "current_partition", part, "busy_secs", seconds(w->busy_ms));
}

/* As the reference lists keys. Compressed circuits are megabytes and counted with their keys, so
 * the reference's other list, `pce`, is empty. */
static json_t *allocation(const cuzk_engine_snapshot *s, size_t i)
{
    const cuzk_snapshot_key *k = &s->keys[i];
    return json_pack("{s:s, s:o, s:f, s:b}", "circuit_id",
                     k->reference[0] ? k->reference : k->circuit, "bytes", number(k->bytes),
                     "last_used_secs_ago", seconds(k->idle_ms), "evictable", k->evictable);
}

static json_t *residency(const cuzk_engine_snapshot *s, size_t i)
{
    static const char *const tiers[] = {"hot", "warm", "cold"};
    const cuzk_snapshot_key *k = &s->keys[i];
    return json_pack("{s:s, s:s, s:o, s:i, s:i, s:f}", "circuit_id", k->circuit, "tier",
                     tiers[k->tier], "bytes", number(k->bytes), "ref_count", (int)k->refs, "device",
                     (int)k->device, "idle_secs", seconds(k->idle_ms));
}

static const char *priority(cuzk_priority p)
{
    static const char *const names[] = {"normal", "low", "normal", "high", "critical"};
    return names[p];
}

/* Jobs in work, then those that wait: the order in which they begin. */
static json_t *queue(const cuzk_engine_snapshot *s)
{
    json_t *a = json_array();
    for (size_t i = 0; i < s->n_pipelines; i++) {
        const cuzk_snapshot_pipeline *p = &s->pipelines[i];
        if (p->state == CUZK_JOB_RUNNING) {
            json_array_append_new(a, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:o}", "job_id",
                                               p->job_id, "proof_kind", cuzk_job_kind_name(p->kind),
                                               "priority", priority(p->priority), "state",
                                               "running", "partitions_total", (int)p->n_partitions,
                                               "partitions_done", (int)p->partitions_done,
                                               "waiting_ms", number(0)));
        }
    }
    for (size_t i = 0; i < s->n_waiting; i++) {
        const cuzk_snapshot_waiting *w = &s->waiting[i];
        json_array_append_new(
            a, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:o}", "job_id", w->job_id, "proof_kind",
                         cuzk_job_kind_name(w->kind), "priority", priority(w->priority), "state",
                         "queued", "partitions_total", (int)w->n_partitions, "partitions_done", 0,
                         "waiting_ms", number(w->waiting_ms)));
    }
    return a;
}

static json_t *failure(const cuzk_engine_snapshot *s, size_t i)
{
    const cuzk_snapshot_failure *f = &s->failures[i];
    return json_pack("{s:s, s:s, s:i, s:s, s:s, s:f}", "job_id", f->job_id, "proof_kind",
                     cuzk_job_kind_name(f->kind), "partition", (int)f->partition, "phase", f->phase,
                     "reason", f->error, "secs_ago",
                     s->unix_ms > f->unix_ms ? seconds(s->unix_ms - f->unix_ms) : 0.0);
}

static const char *device_state(const cuzk_snapshot_device *d)
{
    return d->quarantined ? "quarantined" : "ready";
}

static json_t *device(const cuzk_engine_snapshot *s, size_t i)
{
    const cuzk_snapshot_device *d = &s->devices[i];
    const cuzk_device_info *info = &d->info;
    uint64_t used =
        info->memory_total > info->memory_free ? info->memory_total - info->memory_free : 0;
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "device", (int)i,
                     "backend", info->backend, "name", info->name, "state", device_state(d),
                     "memory_total_bytes", number(info->memory_total), "memory_used_bytes",
                     number(used), "partitions", number(d->partitions), "wrong_proofs",
                     number(d->wrong_proofs), "errors", number(d->errors), "losses",
                     number(info->losses), "busy_secs", seconds(d->busy_ms));
}

static json_t *budget(const cuzk_engine_snapshot *s, size_t i)
{
    static const char *const names[CUZK_MEMORIES] = {"host", "pinned", "device"};
    return json_pack("{s:s, s:o, s:o, s:o}", "name", names[i], "total", number(s->memory[i].total),
                     "used", number(s->memory[i].used), "waiting", number(s->memory[i].waiting));
}

static json_t *kind_queue(const cuzk_engine_snapshot *s, size_t i)
{
    return json_pack("{s:s, s:i, s:i}", "proof_kind", cuzk_job_kind_name(s->queues[i].kind),
                     "pending", (int)s->queues[i].pending, "in_progress",
                     (int)s->queues[i].in_progress);
}

static json_t *by_kind(const uint64_t count[CUZK_JOB_KIND_MAX + 1])
{
    json_t *o = json_object();
    for (unsigned kind = 1; kind <= CUZK_JOB_KIND_MAX; kind++) {
        json_object_set_new(o, cuzk_job_kind_name(kind), number(count[kind]));
    }
    return o;
}

static json_t *counters(const cuzk_snapshot_counters *c)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total_completed",
                     number(c->completed), "total_failed", number(c->failed), "total_cancelled",
                     number(c->cancelled), "completed_by_kind", by_kind(c->completed_by_kind),
                     "failed_by_kind", by_kind(c->failed_by_kind), "queue_depth",
                     number(c->queue_depth), "retries", number(c->retries), "wrong_proofs",
                     number(c->wrong_proofs));
}

/* The reference's names: what it calls shells and handles does not exist here. */
static json_t *buffers(const cuzk_snapshot_buffers *b)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o}", "synth_in_flight",
                     (int)b->synth_in_flight, "provers_in_flight", (int)b->provers_in_flight,
                     "aux_in_flight", (int)(b->held + b->channel), "shells_in_flight", 0,
                     "pending_handles", (int)b->finishing, "channel", (int)b->channel,
                     "statement_bytes", number(b->statement_bytes), "witness_bytes",
                     number(b->witness_bytes));
}

static json_t *memory(const cuzk_engine_snapshot *s)
{
    const cuzk_snapshot_memory *m = &s->memory[CUZK_MEMORY_HOST];
    return json_pack("{s:o, s:o, s:o}", "total_bytes", number(m->total), "used_bytes",
                     number(m->used), "available_bytes",
                     number(m->total > m->used ? m->total - m->used : 0));
}

/* `utilisation` comes as text from the library that analyses timelines. */
static json_t *utilisation(cuzk_timeline *t, cuzk_err *err)
{
    char *text;
    size_t n;
    if (cuzk_live_utilisation(&text, &n, t, err) != CUZK_OK) {
        return NULL;
    }
    json_t *value = json_loadb(text, n, 0, NULL);
    free(text);
    return value;
}

static json_t *whole(const cuzk_engine_snapshot *s, json_t *use)
{
    return json_pack(
        "{s:s, s:f, s:b, s:o, s:{s:i, s:i}, s:o, s:o, s:{s:o, s:[]}, s:o, s:o,"
        " s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "version", CUZK_VERSION, "uptime_secs", seconds(s->uptime_ms), "draining", s->draining,
        "memory", memory(s), "synthesis", "max_concurrent", (int)s->synthesis_max, "active",
        (int)s->synthesis_active, "pipelines", list(s, s->n_pipelines, pipeline), "gpu_workers",
        list(s, s->n_workers, worker), "allocations", "srs", list(s, s->n_keys, allocation), "pce",
        "counters", counters(&s->counters), "buffers", buffers(&s->buffers), "queue", queue(s),
        "queues", list(s, CUZK_JOB_KIND_MAX, kind_queue), "residency",
        list(s, s->n_keys, residency), "budgets", list(s, CUZK_MEMORIES, budget), "utilisation",
        use, "failures", list(s, s->n_failures, failure), "devices", list(s, s->n_devices, device));
}

cuzk_code cuzk_status_json(char **ret, const cuzk_engine_snapshot *s, cuzk_timeline *t,
                           cuzk_err *err)
{
    json_t *use = utilisation(t, err);
    json_t *root = use ? whole(s, use) : NULL; /* takes over `use` */
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(root);
    if (!text) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the status");
    }
    *ret = text;
    return CUZK_OK;
}
