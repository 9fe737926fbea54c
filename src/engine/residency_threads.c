#include "engine/residency_internal.h"

#include "base/system.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void tell(const cuzk_residency *r, const cuzk_residency_note *note)
{
    if (r->config.event) {
        r->config.event(r->config.ctx, note);
    }
}

/* ---- loading ---- */

static cuzk_entry *most_urgent(const cuzk_residency_device *d)
{
    cuzk_entry *best = NULL;
    for (cuzk_entry *e = d->entries; e; e = e->next) {
        if (e->heat == CUZK_LOAD_QUEUED &&
            (!best || cuzk_order_compare(&e->order, &best->order) < 0)) {
            best = e;
        }
    }
    return best;
}

static cuzk_code call_load(const cuzk_residency_device *d, const cuzk_entry *e, uint64_t bytes,
                           cuzk_load_times *times, cuzk_err *err)
{
    cuzk_residency_note note = {
        CUZK_RESIDENCY_LOAD_START, d->number, e->files.circuit, bytes, {0, 0}, CUZK_OK};
    tell(d->r, &note);
    note.code = d->backend->ops->load(d->backend, times, &e->files, err);
    note.event = CUZK_RESIDENCY_LOAD_END;
    note.times = *times;
    tell(d->r, &note);
    return note.code;
}

/* Loads with the mutex released. A device that was lost meanwhile is asked again: it answers at
 * once when the circuit is there after all. */
static cuzk_code load_unlocked(cuzk_residency_device *d, const cuzk_entry *e,
                               cuzk_load_times *times, cuzk_err *err)
{
    uint64_t bytes = cuzk_amounts_total(&e->held.held);
    cuzk_code code;
    uint64_t losses;
    do {
        losses = d->losses;
        cuzk_budget_unlock(d->r->budget);
        *times = (cuzk_load_times){0};
        code = call_load(d, e, bytes, times, err);
        cuzk_budget_lock(d->r->budget);
    } while (code == CUZK_OK && d->losses != losses);
    return code;
}

static void load(cuzk_residency_device *d, cuzk_entry *e)
{
    cuzk_load_times times;
    cuzk_err err = {0};
    e->heat = CUZK_LOADING;
    cuzk_code code = load_unlocked(d, e, &times, &err);
    if (code == CUZK_OK) {
        e->heat = CUZK_HOT;
        e->times = times;
        e->loads++;
        e->failed_ns = 0;
        e->last_used_ns = cuzk_clock_ns();
        if (e->leaving && e->users == 0) {
            cuzk_entry_start_evict(d->r, e);
        }
    } else {
        e->error = err;
        e->error.code = code;
        e->error_generation = e->generation;
        e->failed_ns = cuzk_clock_ns();
        cuzk_entry_make_cold(d->r, e);
        if (code == CUZK_E_UNAVAILABLE || code == CUZK_E_TIMEOUT) {
            cuzk_device_forget(d);
        }
    }
    pthread_cond_broadcast(&d->changed);
    cuzk_budget_decide_locked(d->r->budget);
}

/* ---- what a prefetch wants besides ---- */

/* Asks the kernel to read a file; it does so in the background. */
static bool warm(const char *name, uint64_t max_bytes)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    struct stat st;
    bool fits = fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size <= max_bytes;
    bool asked = fits && posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return asked;
}

/* One thing for the sake of a prefetch; false when there is none. */
static bool look_ahead(cuzk_residency_device *d)
{
    for (cuzk_entry *e = d->entries; e; e = e->next) {
        if (e->wants_cost) {
            e->wants_cost = false;
            cuzk_budget_unlock(d->r->budget);
            cuzk_err err = {0};
            cuzk_code code = cuzk_entry_learn_cost(d->r, e, &err);
            cuzk_budget_lock(d->r->budget);
            if (code != CUZK_OK) {
                e->error = err;
                e->error_generation = 0;
                e->failed_ns = cuzk_clock_ns();
            }
            return true;
        }
        if (e->wants_warmth) {
            e->wants_warmth = false;
            cuzk_budget_unlock(d->r->budget);
            bool asked = warm(e->files.params, d->r->config.warm_max_bytes);
            cuzk_budget_lock(d->r->budget);
            if (asked && e->heat == CUZK_COLD) {
                e->heat = CUZK_WARM;
            }
            return true;
        }
    }
    return false;
}

static void *loader_main(void *ctx)
{
    cuzk_residency_device *d = ctx;
    cuzk_budget_lock(d->r->budget);
    while (!d->r->stopping) {
        cuzk_entry *e = most_urgent(d);
        if (e) {
            load(d, e);
        } else if (!look_ahead(d)) {
            cuzk_budget_cond_wait(d->r->budget, &d->load_work, 0);
            continue;
        }
        cuzk_device_prefetch(d);
    }
    cuzk_budget_unlock(d->r->budget);
    return NULL;
}

/* ---- unloading ---- */

static cuzk_entry *to_unload(const cuzk_residency_device *d)
{
    cuzk_entry *e = d->entries;
    while (e && (e->heat != CUZK_EVICTING || e->unloading)) {
        e = e->next;
    }
    return e;
}

static void unload(cuzk_residency_device *d, cuzk_entry *e)
{
    cuzk_residency_note note = {.event = CUZK_RESIDENCY_EVICT,
                                .device = d->number,
                                .circuit = e->files.circuit,
                                .bytes = cuzk_amounts_total(&e->held.held)};
    bool was_loaded;
    e->unloading = true;
    cuzk_budget_unlock(d->r->budget);
    cuzk_code code = d->backend->ops->unload(d->backend, e->files.circuit, &was_loaded, NULL);
    tell(d->r, &note);
    cuzk_budget_lock(d->r->budget);
    e->unloading = false;
    cuzk_entry_make_cold(d->r, e); /* also after a failure: then the device was lost */
    if (code == CUZK_E_UNAVAILABLE || code == CUZK_E_TIMEOUT) {
        cuzk_device_forget(d);
    }
    pthread_cond_broadcast(&d->changed);
    cuzk_device_prefetch(d);
}

static void *unloader_main(void *ctx)
{
    cuzk_residency_device *d = ctx;
    cuzk_budget_lock(d->r->budget);
    while (!d->r->stopping) {
        cuzk_entry *e = to_unload(d);
        if (e) {
            unload(d, e);
        } else {
            cuzk_budget_cond_wait(d->r->budget, &d->unload_work, 0);
        }
    }
    cuzk_budget_unlock(d->r->budget);
    return NULL;
}

/* ---- starting and stopping ---- */

cuzk_code cuzk_device_start(cuzk_residency_device *d, cuzk_err *err)
{
    char name[16];
    void *(*const mains[])(void *) = {loader_main, unloader_main};
    pthread_t *const threads[] = {&d->loader, &d->unloader};
    for (int i = 0; i < 2; i++) {
        int failed = pthread_create(threads[i], NULL, mains[i], d);
        if (failed) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "cannot start a thread for device %u: %s",
                             d->number, strerror(failed));
        }
        d->n_threads++;
        snprintf(name, sizeof name, "%s-%u", i ? "unload" : "load", d->number % 100);
        pthread_setname_np(*threads[i], name);
    }
    return CUZK_OK;
}

void cuzk_device_stop(cuzk_residency_device *d)
{
    cuzk_budget_lock(d->r->budget);
    d->r->stopping = true;
    pthread_cond_broadcast(&d->load_work);
    pthread_cond_broadcast(&d->unload_work);
    cuzk_budget_unlock(d->r->budget);
    pthread_t threads[] = {d->loader, d->unloader};
    for (unsigned i = 0; i < d->n_threads; i++) {
        pthread_join(threads[i], NULL);
    }
}
