#include "service/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "cuzk/v1/proving.pb-c.h"
#include "observe/metrics.h"
#include "observe/timeline.h"

/* ---- GetStatus ---- */

/* An array of n messages of `size` bytes and the pointers to them that protobuf-c wants. */
static void **array(size_t n, size_t size, cuzk_err *err)
{
    void **p = calloc(1, n * (sizeof(void *) + size) + 1);
    for (size_t i = 0; p && i < n; i++) {
        p[i] = (char *)(p + n) + i * size;
    }
    if (!p) {
        cuzk_err_set(err, CUZK_E_MEMORY, __FILE__, __LINE__, "no memory for the status");
    }
    return p;
}

/* What a device works on now; of several workers, the first that is busy. */
static void current_job(Cuzk__V1__GPUStatus *m, const cuzk_engine_snapshot *s, unsigned device)
{
    for (size_t i = s->n_workers; i-- > 0;) {
        const cuzk_snapshot_worker *w = &s->workers[i];
        if (w->device == device && w->proving) {
            m->current_job_id = cuzk_call_text(w->job_id);
            m->current_proof_kind = cuzk_call_text(cuzk_job_kind_name(w->kind));
        }
    }
}

static cuzk_code fill_devices(Cuzk__V1__GetStatusResponse *m, const cuzk_engine_snapshot *s,
                              cuzk_err *err)
{
    Cuzk__V1__GPUStatus **gpus = (void *)array(s->n_devices, sizeof **gpus, err);
    if (!gpus) {
        return CUZK_E_MEMORY;
    }
    for (size_t i = 0; i < s->n_devices; i++) {
        const cuzk_device_info *info = &s->devices[i].info;
        cuzk__v1__gpustatus__init(gpus[i]);
        gpus[i]->ordinal = (uint32_t)i;
        gpus[i]->name = cuzk_call_text(info->name);
        gpus[i]->vram_total_bytes = info->memory_total;
        gpus[i]->vram_free_bytes = info->memory_free;
        current_job(gpus[i], s, (unsigned)i);
    }
    m->n_gpus = s->n_devices;
    m->gpus = gpus;
    return CUZK_OK;
}

static cuzk_code fill_keys(Cuzk__V1__GetStatusResponse *m, const cuzk_engine_snapshot *s,
                           cuzk_err *err)
{
    Cuzk__V1__SRSStatus **keys = (void *)array(s->n_keys, sizeof **keys, err);
    if (!keys) {
        return CUZK_E_MEMORY;
    }
    for (size_t i = 0; i < s->n_keys; i++) {
        const cuzk_snapshot_key *k = &s->keys[i];
        cuzk__v1__srsstatus__init(keys[i]);
        keys[i]->circuit_id = cuzk_call_text(k->reference[0] ? k->reference : k->circuit);
        keys[i]->tier = (Cuzk__V1__SRSStatus__Tier)k->tier;
        keys[i]->size_bytes = k->bytes;
        keys[i]->ref_count = k->refs;
    }
    m->n_loaded_srs = s->n_keys;
    m->loaded_srs = keys;
    return CUZK_OK;
}

static cuzk_code fill_queues(Cuzk__V1__GetStatusResponse *m, const cuzk_engine_snapshot *s,
                             cuzk_err *err)
{
    Cuzk__V1__QueueStatus **queues = (void *)array(CUZK_JOB_KIND_MAX, sizeof **queues, err);
    if (!queues) {
        return CUZK_E_MEMORY;
    }
    for (size_t i = 0; i < CUZK_JOB_KIND_MAX; i++) {
        cuzk__v1__queue_status__init(queues[i]);
        queues[i]->proof_kind = cuzk_call_text(cuzk_job_kind_name(s->queues[i].kind));
        queues[i]->pending = s->queues[i].pending;
        queues[i]->in_progress = s->queues[i].in_progress;
    }
    m->n_queues = CUZK_JOB_KIND_MAX;
    m->queues = queues;
    return CUZK_OK;
}

static cuzk_code fill_status(Cuzk__V1__GetStatusResponse *m, const cuzk_engine_snapshot *s,
                             cuzk_err *err)
{
    CUZK_TRY(fill_devices(m, s, err));
    CUZK_TRY(fill_keys(m, s, err));
    CUZK_TRY(fill_queues(m, s, err));
    m->total_proofs_completed = s->counters.completed;
    m->total_proofs_failed = s->counters.failed;
    m->uptime_seconds = s->uptime_ms / 1000;
    m->pinned_memory_bytes = s->pinned_bytes;
    m->pinned_memory_limit_bytes = s->pinned_limit;
    return CUZK_OK;
}

void cuzk_call_status(cuzk_inbound *in)
{
    cuzk_err err;
    cuzk_engine_snapshot *s = NULL;
    Cuzk__V1__GetStatusResponse m = CUZK__V1__GET_STATUS_RESPONSE__INIT;
    cuzk_code code = cuzk_engine_status(in->service->engine, &s, &err);
    if (code == CUZK_OK) {
        code = fill_status(&m, s, &err);
    }
    if (code == CUZK_OK) {
        cuzk_call_reply(in->call, &m.base);
    } else {
        cuzk_rpc_call_fail(in->call, &err);
    }
    free(m.gpus);
    free(m.loaded_srs);
    free(m.queues);
    cuzk_engine_status_free(s);
}

/* ---- GetMetrics ---- */

void cuzk_call_metrics(cuzk_inbound *in)
{
    cuzk_err err;
    char *exposition;
    size_t n;
    if (cuzk_metrics_text(cuzk_engine_metrics(in->service->engine), &exposition, &n, &err) !=
        CUZK_OK) {
        cuzk_rpc_call_fail(in->call, &err);
        return;
    }
    Cuzk__V1__GetMetricsResponse m = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    m.prometheus_text = exposition;
    cuzk_call_reply(in->call, &m.base);
    free(exposition);
}

/* ---- keys ---- */

void cuzk_call_preload(cuzk_inbound *in)
{
    Cuzk__V1__PreloadSrsRequest *m =
        (void *)cuzk_call_unpack(in, &cuzk__v1__preload_srs_request__descriptor);
    if (!m) {
        return;
    }
    cuzk_err err;
    bool already;
    uint64_t ms;
    Cuzk__V1__PreloadSrsResponse response = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
    if (cuzk_engine_preload(in->service->engine, &already, &ms, m->circuit_id, &err) == CUZK_OK) {
        response.already_loaded = already;
        response.load_time_ms = ms;
        cuzk_call_reply(in->call, &response.base);
    } else {
        cuzk_rpc_call_fail(in->call, &err);
    }
    CUZK_CALL_FREE(m);
}

void cuzk_call_evict(cuzk_inbound *in)
{
    Cuzk__V1__EvictSrsRequest *m =
        (void *)cuzk_call_unpack(in, &cuzk__v1__evict_srs_request__descriptor);
    if (!m) {
        return;
    }
    cuzk_err err;
    bool was_loaded;
    uint64_t freed;
    Cuzk__V1__EvictSrsResponse response = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
    if (cuzk_engine_evict(in->service->engine, &was_loaded, &freed, m->circuit_id, &err) ==
        CUZK_OK) {
        response.was_loaded = was_loaded;
        response.freed_bytes = freed;
        cuzk_call_reply(in->call, &response.base);
    } else {
        cuzk_rpc_call_fail(in->call, &err);
    }
    CUZK_CALL_FREE(m);
}

/* ---- GetTimeline ---- */

enum { EVENTS_DEFAULT = 10000 };

typedef struct events {
    cuzk_event *raw;
    Cuzk__V1__TimelineEvent **messages;
    cuzk_job_name *names; /* one for each event */
    size_t n;
} events;

static void fill_event(Cuzk__V1__TimelineEvent *m, const cuzk_event *e, const cuzk_job_name *name)
{
    cuzk__v1__timeline_event__init(m);
    m->seq = e->seq;
    m->t_us = e->t_us;
    m->event = cuzk_call_text(cuzk_event_name(e->kind));
    m->job_id = cuzk_call_text(name->id);
    m->proof_kind = cuzk_call_text(name->kind);
    m->partition = e->partition;
    m->worker = e->worker;
    m->device = e->device;
    m->value = (uint64_t)e->value;
    m->detail = cuzk_call_text(e->detail);
}

static void number_of(void *ctx, const cuzk_job_view *v) { *(uint64_t *)ctx = v->number; }

static cuzk_code read_events(cuzk_engine *engine, events *ret, Cuzk__V1__GetTimelineResponse *m,
                             const Cuzk__V1__GetTimelineRequest *request, cuzk_err *err)
{
    cuzk_timeline *t = cuzk_engine_timeline(engine);
    size_t max = request->max && request->max < EVENTS_DEFAULT ? request->max : EVENTS_DEFAULT;
    uint64_t job = 0, lost = 0, cursor = request->cursor;
    if (request->job_id[0]) {
        CUZK_TRY(cuzk_engine_get(engine, request->job_id, number_of, &job, err));
    }
    ret->raw = malloc(max * sizeof *ret->raw);
    ret->names = malloc(max * sizeof *ret->names);
    ret->messages = (void *)array(max, sizeof **ret->messages, err);
    if (!ret->raw || !ret->names || !ret->messages) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu events", max);
    }
    ret->n = cuzk_timeline_read(t, &cursor, job, ret->raw, max, &lost);
    for (size_t i = 0; i < ret->n; i++) {
        const cuzk_event *e = &ret->raw[i];
        if (!e->job || !cuzk_timeline_job_name(t, e->job, &ret->names[i])) {
            ret->names[i] = (cuzk_job_name){0};
        }
        fill_event(ret->messages[i], e, &ret->names[i]);
    }
    m->n_events = ret->n;
    m->events = ret->messages;
    m->next_cursor = cursor;
    m->epoch_unix_us = cuzk_timeline_epoch_wall_us(t);
    m->lost = lost;
    return CUZK_OK;
}

void cuzk_call_timeline(cuzk_inbound *in)
{
    Cuzk__V1__GetTimelineRequest *m =
        (void *)cuzk_call_unpack(in, &cuzk__v1__get_timeline_request__descriptor);
    if (!m) {
        return;
    }
    cuzk_err err;
    events list = {0};
    Cuzk__V1__GetTimelineResponse response = CUZK__V1__GET_TIMELINE_RESPONSE__INIT;
    if (read_events(in->service->engine, &list, &response, m, &err) == CUZK_OK) {
        cuzk_call_reply(in->call, &response.base);
    } else {
        cuzk_rpc_call_fail(in->call, &err);
    }
    free(list.raw);
    free(list.names);
    free(list.messages);
    CUZK_CALL_FREE(m);
}
