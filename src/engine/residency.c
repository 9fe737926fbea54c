#include "engine/residency_internal.h"

#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuzk_lease {
    cuzk_entry *entry;
    uint64_t generation; /* of the entry */
    uint64_t losses;     /* of the device, when the acquire returned */
    cuzk_reservation reservation;
    uint64_t load_ns;
};

const char *cuzk_heat_name(cuzk_heat heat)
{
    static const char *const names[] = {"cold", "warm", "queued", "loading", "hot", "evicting"};
    return names[heat];
}

/* ---- entries ---- */

static cuzk_entry *find(const cuzk_residency_device *d, const char *circuit)
{
    cuzk_entry *e = d->entries;
    while (e && strcmp(e->files.circuit, circuit) != 0) {
        e = e->next;
    }
    return e;
}

static void entry_free(cuzk_entry *e)
{
    if (e) {
        free((void *)(uintptr_t)e->files.circuit);
        free((void *)(uintptr_t)e->files.shape);
        free((void *)(uintptr_t)e->files.params);
        free(e);
    }
}

/* The entry of a circuit, made when it is new; NULL: no memory. */
static cuzk_entry *entry_for(cuzk_residency_device *d, const cuzk_circuit_files *files)
{
    cuzk_entry *e = find(d, files->circuit);
    if (e || !(e = calloc(1, sizeof *e))) {
        return e;
    }
    e->device = d->number;
    e->files =
        (cuzk_circuit_files){strdup(files->circuit), strdup(files->shape), strdup(files->params)};
    if (!e->files.circuit || !e->files.shape || !e->files.params) {
        entry_free(e);
        return NULL;
    }
    cuzk_entry **end = &d->entries;
    while (*end) {
        end = &(*end)->next;
    }
    *end = e;
    return e;
}

cuzk_code cuzk_entry_learn_cost(cuzk_residency *r, cuzk_entry *e, cuzk_err *err)
{
    cuzk_circuit_cost cost = {0};
    cuzk_backend *backend = r->devices[e->device].backend;
    CUZK_TRY(backend->ops->cost(backend, &cost, &e->files, err));
    cuzk_budget_lock(r->budget);
    if (!e->cost_known) {
        cuzk_amounts_add(&e->resident, cost.resident, e->device);
        cuzk_amounts_add(&e->working, cost.working, e->device);
        e->cost_known = true;
    }
    cuzk_budget_unlock(r->budget);
    return CUZK_OK;
}

void cuzk_entry_queue_load(cuzk_residency *r, cuzk_entry *e, cuzk_reservation *from,
                           const cuzk_order *order)
{
    cuzk_reservation_move(&e->held, from, &e->resident);
    e->heat = CUZK_LOAD_QUEUED;
    e->order = *order;
    pthread_cond_signal(&r->devices[e->device].load_work);
}

void cuzk_entry_make_cold(cuzk_residency *r, cuzk_entry *e)
{
    e->heat = CUZK_COLD;
    e->generation++;
    e->users = 0;
    e->leaving = false;
    e->warmth_asked = false;
    cuzk_budget_release_locked(r->budget, &e->held);
}

void cuzk_entry_start_evict(cuzk_residency *r, cuzk_entry *e)
{
    if (e->heat == CUZK_LOAD_QUEUED) {
        cuzk_entry_make_cold(r, e);
        pthread_cond_broadcast(&r->devices[e->device].changed);
        return;
    }
    e->heat = CUZK_EVICTING;
    pthread_cond_signal(&r->devices[e->device].unload_work);
}

void cuzk_device_forget(cuzk_residency_device *d)
{
    d->losses++;
    for (cuzk_entry *e = d->entries; e; e = e->next) {
        if (e->heat == CUZK_HOT) {
            cuzk_entry_make_cold(d->r, e);
        }
    }
    pthread_cond_broadcast(&d->changed);
}

/* ---- leases ---- */

/* An acquire under way. */
typedef struct acquisition {
    cuzk_residency *r;
    cuzk_entry *e;
    const cuzk_lease_request *request;
    cuzk_amounts need;   /* without what is resident */
    uint64_t generation; /* of the entry at the grant */
} acquisition;

static bool recount(void *ctx, uint64_t pass, cuzk_amounts *need)
{
    const acquisition *a = ctx;
    cuzk_entry *e = a->e;
    e->wanted_pass = pass;
    *need = a->need;
    bool there = e->heat == CUZK_HOT || e->heat == CUZK_LOADING || e->heat == CUZK_LOAD_QUEUED;
    if (there && !e->leaving) {
        return true;
    }
    cuzk_amounts_sum(need, &e->resident);
    return !there && e->heat != CUZK_EVICTING;
}

static void granted(void *ctx, cuzk_reservation *reservation)
{
    acquisition *a = ctx;
    cuzk_entry *e = a->e;
    if (e->heat == CUZK_COLD || e->heat == CUZK_WARM) {
        cuzk_entry_queue_load(a->r, e, reservation, &a->request->order);
    } else if (e->heat == CUZK_LOAD_QUEUED &&
               cuzk_order_compare(&a->request->order, &e->order) < 0) {
        e->order = a->request->order;
    }
    e->users++;
    a->generation = e->generation;
}

static cuzk_code ended(const cuzk_lease_request *q, cuzk_err *err)
{
    /* The flag is set before cuzk_residency_wake takes the mutex that this thread holds. */
    if (q->cancelled && atomic_load_explicit(q->cancelled, memory_order_relaxed)) {
        return CUZK_FAIL(err, CUZK_E_CANCELLED, "cancelled while %s was loading",
                         q->files->circuit);
    }
    if (q->deadline_ns && cuzk_clock_ns() >= q->deadline_ns) {
        return CUZK_FAIL(err, CUZK_E_TIMEOUT, "the deadline passed while %s was loading",
                         q->files->circuit);
    }
    return CUZK_OK;
}

static void end_use(cuzk_residency *r, cuzk_entry *e, uint64_t generation)
{
    if (e->generation != generation) {
        return; /* it was lost */
    }
    e->users--;
    e->last_used_ns = cuzk_clock_ns();
    if (e->users == 0 && (e->heat == CUZK_LOAD_QUEUED || (e->leaving && e->heat == CUZK_HOT))) {
        cuzk_entry_start_evict(r, e);
    }
}

static cuzk_code wait_for_load(acquisition *a, cuzk_err *err)
{
    cuzk_entry *e = a->e;
    cuzk_residency_device *d = &a->r->devices[e->device];
    cuzk_code code = CUZK_OK;
    while (e->generation == a->generation && e->heat != CUZK_HOT && code == CUZK_OK) {
        code = ended(a->request, err);
        if (code == CUZK_OK) {
            cuzk_budget_cond_wait(a->r->budget, &d->changed, a->request->deadline_ns);
        }
    }
    if (code == CUZK_OK && e->generation != a->generation) {
        if (e->error.code != CUZK_OK && e->error_generation >= a->generation) {
            return CUZK_FAIL(err, e->error.code, "%s", e->error.msg);
        }
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "device %u was lost after %s was loaded",
                         e->device, e->files.circuit);
    }
    if (code != CUZK_OK) {
        end_use(a->r, e, a->generation);
    }
    return code;
}

static cuzk_code acquire_locked(acquisition *a, cuzk_lease *lease, cuzk_err *err)
{
    const cuzk_lease_request *q = a->request;
    cuzk_budget_request wish = {.order = q->order,
                                .need = a->need,
                                .cancelled = q->cancelled,
                                .deadline_ns = q->deadline_ns,
                                .recount = recount,
                                .granted = granted,
                                .ctx = a};
    cuzk_amounts_sum(&wish.need, &a->e->resident);
    cuzk_err why = {0};
    cuzk_code code = cuzk_budget_reserve_locked(a->r->budget, &lease->reservation, &wish, &why);
    if (code != CUZK_OK) {
        return CUZK_FAIL(err, code, "%s: %s", a->e->files.circuit, why.msg);
    }
    uint64_t start = cuzk_clock_ns();
    bool hot = a->e->heat == CUZK_HOT && a->e->generation == a->generation;
    code = wait_for_load(a, err);
    if (code != CUZK_OK) {
        cuzk_budget_release_locked(a->r->budget, &lease->reservation);
        return code;
    }
    lease->load_ns = hot ? 0 : cuzk_clock_ns() - start;
    lease->generation = a->generation;
    lease->losses = a->r->devices[a->e->device].losses;
    a->e->last_used_ns = cuzk_clock_ns();
    return CUZK_OK;
}

/* Finds the entry, learns the cost and adds up the need. */
static cuzk_code begin(acquisition *a, cuzk_residency *r, const cuzk_lease_request *q,
                       cuzk_err *err)
{
    if (q->device >= r->n_devices) {
        return CUZK_FAIL(err, CUZK_E_ARG, "there is no device %u", q->device);
    }
    cuzk_budget_lock(r->budget);
    cuzk_entry *e = entry_for(&r->devices[q->device], q->files);
    bool cost_known = e && e->cost_known;
    cuzk_budget_unlock(r->budget);
    if (!e) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for an entry of %s", q->files->circuit);
    }
    if (!cost_known) {
        CUZK_TRY(cuzk_entry_learn_cost(r, e, err));
    }
    *a = (acquisition){.r = r, .e = e, .request = q, .need = q->extra};
    for (unsigned i = 0; i < q->partitions; i++) {
        cuzk_amounts_sum(&a->need, &e->working);
    }
    return CUZK_OK;
}

cuzk_code cuzk_residency_acquire(cuzk_residency *r, cuzk_lease **ret,
                                 const cuzk_lease_request *request, cuzk_err *err)
{
    acquisition a;
    CUZK_TRY(begin(&a, r, request, err));
    cuzk_lease *lease = calloc(1, sizeof *lease);
    if (!lease) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a lease");
    }
    lease->entry = a.e;
    cuzk_budget_lock(r->budget);
    cuzk_code code = acquire_locked(&a, lease, err);
    cuzk_budget_unlock(r->budget);
    if (code != CUZK_OK) {
        free(lease);
        return code;
    }
    *ret = lease;
    return CUZK_OK;
}

cuzk_code cuzk_residency_can_fit(cuzk_residency *r, const cuzk_lease_request *request,
                                 cuzk_err *err)
{
    acquisition a;
    CUZK_TRY(begin(&a, r, request, err));
    cuzk_amounts_sum(&a.need, &a.e->resident);
    cuzk_err why = {0};
    cuzk_code code = cuzk_budget_can_fit(r->budget, &a.need, &why);
    return code == CUZK_OK ? code
                           : CUZK_FAIL(err, code, "%s: %s", request->files->circuit, why.msg);
}

uint64_t cuzk_lease_load_ns(const cuzk_lease *lease) { return lease->load_ns; }

void cuzk_lease_release_part(cuzk_residency *r, cuzk_lease *lease, const cuzk_amounts *part)
{
    cuzk_budget_release_part(r->budget, &lease->reservation, part);
}

void cuzk_residency_release(cuzk_residency *r, cuzk_lease *lease)
{
    if (lease) {
        cuzk_budget_lock(r->budget);
        end_use(r, lease->entry, lease->generation);
        cuzk_budget_release_locked(r->budget, &lease->reservation);
        cuzk_device_prefetch(&r->devices[lease->entry->device]);
        cuzk_budget_unlock(r->budget);
        free(lease);
    }
}

void cuzk_residency_wake(cuzk_residency *r)
{
    cuzk_budget_wake(r->budget);
    cuzk_budget_lock(r->budget);
    for (unsigned k = 0; k < r->n_devices; k++) {
        pthread_cond_broadcast(&r->devices[k].changed);
    }
    cuzk_budget_unlock(r->budget);
}

void cuzk_residency_lost(cuzk_residency *r, const cuzk_lease *lease)
{
    cuzk_residency_device *d = &r->devices[lease->entry->device];
    cuzk_budget_lock(r->budget);
    if (lease->losses == d->losses) {
        cuzk_device_forget(d);
    }
    cuzk_budget_unlock(r->budget);
}

void cuzk_residency_forget(cuzk_residency *r, unsigned device)
{
    cuzk_budget_lock(r->budget);
    cuzk_device_forget(&r->devices[device]);
    cuzk_budget_unlock(r->budget);
}

/* What was said before the circuit was sent away does not bring it back. */
static void unwant(cuzk_residency_device *d, const cuzk_entry *e)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_wanted; i++) {
        if (d->wanted[i] != e) {
            d->wanted[n++] = d->wanted[i];
        }
    }
    d->n_wanted = n;
}

cuzk_code cuzk_residency_evict(cuzk_residency *r, bool *ret_was_loaded, uint64_t *ret_freed,
                               unsigned device, const char *circuit, uint64_t deadline_ns,
                               cuzk_err *err)
{
    cuzk_residency_device *d = &r->devices[device];
    bool there = false;
    uint64_t freed = 0;
    cuzk_code code = CUZK_OK;
    cuzk_budget_lock(r->budget);
    cuzk_entry *e = find(d, circuit);
    if (e && e->heat != CUZK_COLD && e->heat != CUZK_WARM) {
        there = true;
        unwant(d, e);
        freed = cuzk_amounts_total(&e->held.held);
        uint64_t generation = e->generation;
        if (cuzk_entry_is_idle(e)) {
            cuzk_entry_start_evict(r, e);
        } else {
            e->leaving = e->heat != CUZK_EVICTING;
        }
        while (code == CUZK_OK && e->generation == generation) {
            if (!cuzk_budget_cond_wait(r->budget, &d->changed, deadline_ns)) {
                code = CUZK_FAIL(err, CUZK_E_TIMEOUT,
                                 "%s is still in use on device %u; it goes when it is not", circuit,
                                 device);
            }
        }
    }
    cuzk_budget_unlock(r->budget);
    if (code == CUZK_OK) {
        *ret_was_loaded = there;
        *ret_freed = freed;
    }
    return code;
}

void cuzk_residency_prefetch(cuzk_residency *r, unsigned device, const cuzk_circuit_files *files,
                             size_t n)
{
    cuzk_residency_device *d = &r->devices[device];
    cuzk_entry **wanted = calloc(n + 1, sizeof(cuzk_entry *));
    if (!wanted) {
        return;
    }
    cuzk_budget_lock(r->budget);
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        wanted[m] = entry_for(d, &files[i]);
        m += wanted[m] != NULL;
    }
    free(d->wanted);
    d->wanted = wanted;
    d->n_wanted = m;
    cuzk_device_prefetch(d);
    cuzk_budget_unlock(r->budget);
}

/* ---- making, telling ---- */

bool cuzk_residency_is_hot(cuzk_residency *r, unsigned device, const char *circuit)
{
    cuzk_budget_lock(r->budget);
    const cuzk_entry *e = find(&r->devices[device], circuit);
    bool hot = e && e->heat == CUZK_HOT && !e->leaving;
    cuzk_budget_unlock(r->budget);
    return hot;
}

static cuzk_resident describe(const cuzk_entry *e)
{
    cuzk_resident t = {.device = e->device,
                       .heat = e->heat,
                       .users = e->users,
                       .bytes = cuzk_amounts_total(&e->resident),
                       .last_used_ns = e->last_used_ns,
                       .times = e->times,
                       .loads = e->loads};
    snprintf(t.circuit, sizeof t.circuit, "%s", e->files.circuit);
    if (e->failed_ns) {
        snprintf(t.last_error, sizeof t.last_error, "%.127s", e->error.msg);
    }
    return t;
}

static int by_place(const void *a, const void *b)
{
    const cuzk_resident *x = a, *y = b;
    return x->device != y->device ? (x->device > y->device) - (x->device < y->device)
                                  : strcmp(x->circuit, y->circuit);
}

size_t cuzk_residency_snapshot(cuzk_residency *r, cuzk_resident *ret, size_t max)
{
    size_t n = 0;
    cuzk_budget_lock(r->budget);
    for (unsigned k = 0; k < r->n_devices; k++) {
        for (const cuzk_entry *e = r->devices[k].entries; e; e = e->next, n++) {
            if (n < max) {
                ret[n] = describe(e);
            }
        }
    }
    cuzk_budget_unlock(r->budget);
    qsort(ret, n < max ? n : max, sizeof *ret, by_place);
    return n;
}

static void device_init(cuzk_residency *r, unsigned k, cuzk_backend *backend)
{
    cuzk_residency_device *d = &r->devices[k];
    d->r = r;
    d->number = k;
    d->backend = backend;
    cuzk_budget_cond_init(&d->load_work);
    cuzk_budget_cond_init(&d->unload_work);
    cuzk_budget_cond_init(&d->changed);
}

cuzk_code cuzk_residency_new(cuzk_residency **ret, cuzk_budget *budget,
                             cuzk_backend *const *devices, unsigned n_devices,
                             const cuzk_residency_config *config, cuzk_err *err)
{
    if (n_devices > CUZK_BUDGET_DEVICES_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%u devices, at most %d", n_devices,
                         CUZK_BUDGET_DEVICES_MAX);
    }
    cuzk_residency *r = calloc(1, sizeof *r);
    if (!r || !(r->devices = calloc(n_devices + 1, sizeof *r->devices))) {
        free(r);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u devices", n_devices);
    }
    r->budget = budget;
    r->config = *config;
    r->n_devices = n_devices;
    for (unsigned k = 0; k < n_devices; k++) {
        device_init(r, k, devices[k]);
    }
    cuzk_budget_set_evictor(budget, cuzk_residency_make_room, r);
    cuzk_code code = CUZK_OK;
    for (unsigned k = 0; code == CUZK_OK && k < n_devices; k++) {
        code = cuzk_device_start(&r->devices[k], err);
    }
    if (code != CUZK_OK) {
        cuzk_residency_free(r);
        return code;
    }
    *ret = r;
    return CUZK_OK;
}

void cuzk_residency_free(cuzk_residency *r)
{
    if (!r) {
        return;
    }
    for (unsigned k = 0; k < r->n_devices; k++) {
        cuzk_device_stop(&r->devices[k]);
    }
    for (unsigned k = 0; k < r->n_devices; k++) {
        cuzk_residency_device *d = &r->devices[k];
        for (cuzk_entry *e = d->entries, *next; e; e = next) {
            next = e->next;
            entry_free(e);
        }
        free(d->wanted);
        pthread_cond_destroy(&d->load_work);
        pthread_cond_destroy(&d->unload_work);
        pthread_cond_destroy(&d->changed);
    }
    cuzk_budget_set_evictor(r->budget, NULL, NULL);
    free(r->devices);
    free(r);
}
