#include "engine/engine_internal.h"

#include <stdio.h>

/* ---- which partition ---- */

bool cuzk_device_another_locked(const cuzk_engine *e, int but)
{
    for (unsigned d = 0; d < e->n_devices; d++) {
        if ((int)d != but && !e->devices[d].quarantined) {
            return true;
        }
    }
    return false;
}

bool cuzk_device_fits_locked(const cuzk_engine *e, const cuzk_engine_circuit *c)
{
    for (unsigned d = 0; d < e->n_devices; d++) {
        if (!(c->no_room >> d & 1) && !e->devices[d].quarantined) {
            return true;
        }
    }
    return false;
}

/* Whether this worker may have this partition. */
static bool may_take(const cuzk_device_worker *w, const cuzk_unit *u)
{
    const cuzk_engine *e = w->e;
    int own = (int)w->device->number;
    if ((w->critical_only && u->job->priority != CUZK_PRIORITY_CRITICAL) ||
        u->job->circuit->no_room >> own & 1) {
        return false;
    }
    if (w->device->quarantined && cuzk_device_fits_locked(e, u->job->circuit)) {
        return false;
    }
    if (u->prefer >= 0 && u->prefer != own && !e->devices[u->prefer].quarantined) {
        return false;
    }
    return u->avoid != own || !cuzk_device_another_locked(e, own);
}

static cuzk_unit *next_allowed(const cuzk_device_worker *w, cuzk_unit *from)
{
    const cuzk_engine *e = w->e;
    cuzk_unit *u = from ? from->next : e->channel_first[CUZK_PRIORITY_CRITICAL];
    unsigned p = from ? from->job->priority : CUZK_PRIORITY_CRITICAL;
    while (!u || !may_take(w, u)) {
        if (u) {
            u = u->next;
        } else if (--p > CUZK_PRIORITY_DEFAULT) {
            u = e->channel_first[p];
        } else {
            return NULL;
        }
    }
    return u;
}

static cuzk_heat heat_of(const cuzk_device_worker *w, const cuzk_unit *u)
{
    cuzk_resident all[64];
    size_t n = cuzk_residency_snapshot(w->e->residency, all, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        if (all[i].device == w->device->number &&
            strcmp(all[i].circuit, u->job->circuit->name) == 0) {
            return all[i].heat;
        }
    }
    return CUZK_COLD;
}

/* False while another partition is on the device and one of both is to be alone. */
static bool may_join_locked(const cuzk_device_worker *w, const cuzk_unit *u)
{
    for (unsigned i = 0; i < w->e->n_workers; i++) {
        const cuzk_device_worker *other = &w->e->workers[i];
        if (other != w && other->device == w->device && other->unit &&
            (u->alone || other->unit->alone)) {
            return false;
        }
    }
    return true;
}

/* The first partition in order; while its key is on the way already, the first whose key is there,
 * so that a device does not stand still for a load. */
static cuzk_unit *pick_locked(cuzk_device_worker *w)
{
    cuzk_unit *best = next_allowed(w, NULL);
    if (!best || !may_join_locked(w, best)) { /* nobody overtakes one that waits to be alone */
        return NULL;
    }
    cuzk_heat heat = heat_of(w, best);
    if (heat == CUZK_LOAD_QUEUED || heat == CUZK_LOADING) {
        for (cuzk_unit *u = best; (u = next_allowed(w, u));) {
            if (u->job->circuit != best->job->circuit && may_join_locked(w, u) &&
                cuzk_residency_is_hot(w->e->residency, w->device->number, u->job->circuit->name)) {
                return u;
            }
        }
    }
    return best;
}

/* ---- time ---- */

/* Adds [from, to) to the device's seconds. */
static void count_busy(cuzk_engine_device *d, uint64_t from, uint64_t to)
{
    enum { SECOND = 1000000000 };
    d->busy_ns += to - from;
    if (to - from > (uint64_t)60 * SECOND) {
        from = to - (uint64_t)60 * SECOND;
    }
    while (from < to) {
        uint64_t second = from / SECOND, end = (second + 1) * SECOND;
        unsigned at = (unsigned)(second % 64);
        if (d->second_of[at] != second) {
            d->second_of[at] = second;
            d->second[at] = 0;
        }
        d->second[at] += (end < to ? end : to) - from;
        from = end;
    }
}

static void running_locked(cuzk_engine_device *d, int change, uint64_t now)
{
    if (d->running == 0) {
        d->busy_since_ns = now;
    }
    d->running = (unsigned)((int)d->running + change);
    if (d->running == 0) {
        count_busy(d, d->busy_since_ns, now);
    }
}

uint64_t cuzk_device_busy_minute_locked(const cuzk_engine_device *d, uint64_t now)
{
    cuzk_engine_device copy = *d;
    uint64_t sum = 0;
    if (copy.running) {
        count_busy(&copy, copy.busy_since_ns, now);
    }
    for (unsigned i = 0; i < 64; i++) {
        sum += copy.second_of[i] + 60 > now / 1000000000 ? copy.second[i] : 0;
    }
    return sum;
}

/* ---- proving ---- */

static void take_locked(cuzk_device_worker *w, cuzk_unit *u)
{
    cuzk_channel_remove_locked(w->e, u);
    cuzk_job_share_locked(u->job);
    u->job->in_hand++;
    u->state = CUZK_PARTITION_GPU;
    u->device = (int)w->device->number;
    w->unit = u;
    w->since_ns = cuzk_clock_ns();
}

/* Waits for key and memory; without mu. */
static cuzk_code lease(cuzk_device_worker *w, cuzk_unit *u, cuzk_lease **ret, cuzk_err *err)
{
    const cuzk_lease_request request = {
        .device = w->device->number,
        .files = &u->job->circuit->files,
        .partitions = 1,
        .order = cuzk_unit_order(u),
        .cancelled = &w->yield,
    };
    return cuzk_residency_acquire(w->e->residency, ret, &request, err);
}

/* Whether the partition in hand should go back because one of higher priority can run now. */
static bool is_outrun_locked(const cuzk_device_worker *w, const cuzk_unit *u)
{
    const cuzk_unit *first = next_allowed(w, NULL);
    return first && first->job->priority > u->job->priority &&
           cuzk_residency_is_hot(w->e->residency, w->device->number, first->job->circuit->name);
}

static cuzk_code fill_task(cuzk_partition_task *ret, const cuzk_engine *e, const cuzk_unit *u,
                           cuzk_err *err)
{
    const cuzk_engine_circuit *c = u->job->circuit;
    fr r, s;
    CUZK_TRY(cuzk_scalar_random(&r, err));
    CUZK_TRY(cuzk_scalar_random(&s, err));
    *ret = (cuzk_partition_task){
        .circuit = c->name,
        .inputs = {(const uint8_t *)u->ports.inputs, c->shape->n_inputs * sizeof(fr)},
        .records = {u->ports.records, cuzk_shape_record_bytes(c->shape)},
        .deadline_ns = e->config.partition_timeout_ms
                           ? cuzk_clock_ns() + e->config.partition_timeout_ms * 1000000
                           : 0,
    };
    fr_to_bytes(ret->r, &r);
    fr_to_bytes(ret->s, &s);
    cuzk_wipe(&r, sizeof r);
    cuzk_wipe(&s, sizeof s);
    return CUZK_OK;
}

static uint64_t device_us(const cuzk_partition_result *r)
{
    uint64_t sum = 0;
#define X(phase) sum += r->times.phase##_ns;
    CUZK_DEVICE_PHASES(X)
#undef X
    return sum / 1000;
}

/* The least recently used idle circuit makes room after the device ran out of memory. */
static void make_room(const cuzk_device_worker *w, const cuzk_unit *u)
{
    cuzk_resident all[64], *oldest = NULL;
    size_t n = cuzk_residency_snapshot(w->e->residency, all, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        cuzk_resident *r = &all[i];
        if (r->device == w->device->number && r->heat == CUZK_HOT && r->users == 0 &&
            strcmp(r->circuit, u->job->circuit->name) != 0 &&
            (!oldest || r->last_used_ns < oldest->last_used_ns)) {
            oldest = r;
        }
    }
    if (oldest) {
        bool was_loaded;
        uint64_t freed;
        cuzk_residency_evict(w->e->residency, &was_loaded, &freed, w->device->number,
                             oldest->circuit, cuzk_clock_ns() + 1000000000, NULL);
    }
}

/* One attempt; without mu. */
static cuzk_code prove(cuzk_device_worker *w, cuzk_unit *u, cuzk_lease *l, cuzk_err *err)
{
    cuzk_engine *e = w->e;
    cuzk_partition_task task;
    cuzk_partition_result result = {.proof = {0}};
    int16_t worker = (int16_t)w->id, device = (int16_t)w->device->number;
    CUZK_TRY(fill_task(&task, e, u, err));
    cuzk_unit_event(e, CUZK_EV_GPU_START, u, worker, device, 0, NULL);
    uint64_t start = cuzk_clock_ns();
    cuzk_code code = w->device->backend->ops->prove(w->device->backend, &result, &task, err);
    u->gpu_ns = cuzk_clock_ns() - start;
    cuzk_unit_event(e, CUZK_EV_GPU_END, u, worker, device, (int64_t)device_us(&result), NULL);
    cuzk_metrics_phase(e, u->job->kind, CUZK_TIME_GPU, u->gpu_ns);
    cuzk_wipe(&task, sizeof task);
    if (code == CUZK_OK) {
        memcpy(u->proof, result.proof, sizeof u->proof);
    } else if (code == CUZK_E_UNAVAILABLE || code == CUZK_E_TIMEOUT) {
        cuzk_residency_lost(e->residency, l);
    } else if (code == CUZK_E_MEMORY) {
        make_room(w, u);
    }
    return code;
}

/* The worker's hand is empty again. */
static void let_go_locked(cuzk_device_worker *w, cuzk_unit *u)
{
    cuzk_job *job = u->job;
    w->unit = NULL;
    if (w->e->device_idle > 0) { /* some may have waited to be alone */
        pthread_cond_broadcast(&w->e->device_cv);
    }
    cuzk_job_unhand_locked(w->e, job);
    cuzk_job_drop_locked(job);
}

static void give_back_locked(cuzk_device_worker *w, cuzk_unit *u)
{
    u->device = -1;
    if (u->job->ending) {
        u->state = CUZK_PARTITION_PENDING;
        cuzk_unit_release_locked(w->e, u);
    } else {
        u->state = CUZK_PARTITION_SYNTH_DONE;
        cuzk_channel_return_locked(w->e, u);
    }
}

static void leased_locked(cuzk_device_worker *w, cuzk_unit *u, const cuzk_lease *l)
{
    cuzk_engine *e = w->e;
    uint64_t now = cuzk_clock_ns();
    u->attempts++;
    u->load_ns = cuzk_lease_load_ns(l);
    u->job->load_ns += u->load_ns;
    w->proving = true;
    w->since_ns = now;
    running_locked(w->device, 1, now);
    cuzk_slot_taken_locked(e, u);
    cuzk_unit_event(e, CUZK_EV_GPU_PICKUP, u, (int16_t)w->id, (int16_t)w->device->number,
                    e->channel_n, NULL);
}

/* The circuit can never fit this device; perhaps another. */
static void no_room_locked(cuzk_device_worker *w, cuzk_unit *u, const cuzk_err *err)
{
    u->job->circuit->no_room |= 1u << w->device->number;
    if (!cuzk_device_fits_locked(w->e, u->job->circuit)) {
        cuzk_job_fail_locked(w->e, u->job, (int32_t)u->k, "memory", err->msg);
    }
    give_back_locked(w, u);
    pthread_cond_broadcast(&w->e->device_cv);
}

/* A partition in hand, from pickup to finish, failure or back. Called and returns with mu held. */
static void run_locked(cuzk_device_worker *w, cuzk_unit *u)
{
    cuzk_engine *e = w->e;
    cuzk_lease *l = NULL;
    cuzk_err err = {0};
    atomic_store_explicit(&w->yield, false, memory_order_relaxed);
    w->leasing = true;
    pthread_mutex_unlock(&e->mu);
    cuzk_code code = lease(w, u, &l, &err);
    pthread_mutex_lock(&e->mu);
    w->leasing = false;
    if (code == CUZK_E_CANCELLED || u->job->ending || cuzk_engine_is_resting(e) ||
        (code == CUZK_OK && is_outrun_locked(w, u))) {
        pthread_mutex_unlock(&e->mu);
        cuzk_residency_release(e->residency, l);
        pthread_mutex_lock(&e->mu);
        give_back_locked(w, u);
        return;
    }
    if (code == CUZK_E_FULL) {
        no_room_locked(w, u, &err);
        return;
    }
    if (code != CUZK_OK) {
        u->attempts++;
        cuzk_unit_failed_locked(e, u, code, "key", err.msg);
        return;
    }
    leased_locked(w, u, l);
    pthread_mutex_unlock(&e->mu);
    code = prove(w, u, l, &err);
    cuzk_residency_release(e->residency, l);
    pthread_mutex_lock(&e->mu);
    w->proving = false;
    running_locked(w->device, -1, cuzk_clock_ns());
    u->job->gpu_ns += u->gpu_ns;
    if (code == CUZK_OK) {
        w->device->partitions++;
        cuzk_finish_put_locked(e, u);
    } else {
        cuzk_unit_failed_locked(e, u, code, "proving", err.msg);
    }
}

void *cuzk_device_main(void *arg)
{
    cuzk_device_worker *w = arg;
    cuzk_engine *e = w->e;
    pthread_mutex_lock(&e->mu);
    while (!e->stopping) {
        cuzk_unit *u = e->draining ? NULL : pick_locked(w);
        if (!u) {
            e->device_idle++;
            pthread_cond_wait(&e->device_cv, &e->mu);
            e->device_idle--;
            continue;
        }
        take_locked(w, u);
        run_locked(w, u);
        let_go_locked(w, u);
    }
    pthread_mutex_unlock(&e->mu);
    return NULL;
}

/* ---- the residency's news ---- */

void cuzk_device_note(void *engine, const cuzk_residency_note *n)
{
    static const cuzk_event_kind kinds[] = {
        [CUZK_RESIDENCY_LOAD_START] = CUZK_EV_SRS_LOAD_START,
        [CUZK_RESIDENCY_LOAD_END] = CUZK_EV_SRS_LOAD_END,
        [CUZK_RESIDENCY_EVICT] = CUZK_EV_EVICT,
    };
    cuzk_engine *e = engine;
    cuzk_timeline_record(e->timeline, kinds[n->event], 0, -1, -1, (int16_t)n->device,
                         (int64_t)n->bytes, n->circuit);
    if (n->event == CUZK_RESIDENCY_LOAD_END) {
        pthread_mutex_lock(&e->mu);
        e->devices[n->device].wanted[0] = 0; /* said again with the next change */
        pthread_cond_broadcast(&e->device_cv);
        pthread_mutex_unlock(&e->mu);
    }
}
