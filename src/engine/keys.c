#include "engine/engine_internal.h"

#include <stdlib.h>

/* Circuits loaded and unloaded by request. */

static cuzk_code named(cuzk_engine *e, cuzk_engine_circuit **ret, const char *name, cuzk_err *err)
{
    char own[CUZK_CIRCUIT_NAME_MAX];
    CUZK_TRY(cuzk_engine_circuit_name(own, name, err));
    *ret = cuzk_circuits_named(e, own);
    return CUZK_OK;
}

/* Loads on one device; a lease that nothing is done with. */
static cuzk_code load_on(cuzk_engine *e, unsigned device, const cuzk_engine_circuit *c,
                         int priority, uint64_t *bytes_waited_ns, cuzk_err *err)
{
    const cuzk_lease_request request = {
        .device = device,
        .files = &c->files,
        .order = {.priority = priority, .job = UINT64_MAX},
        .cancelled = &e->stop_flag,
    };
    cuzk_lease *lease;
    CUZK_TRY(cuzk_residency_acquire(e->residency, &lease, &request, err));
    *bytes_waited_ns += cuzk_lease_load_ns(lease);
    cuzk_residency_release(e->residency, lease);
    return CUZK_OK;
}

/* The circuit's rows and verifying key on the host; returns when that is over, well or not. */
static void ready_circuit(cuzk_engine *e, cuzk_engine_circuit *c)
{
    pthread_mutex_lock(&e->mu);
    bool ready = cuzk_circuit_want_locked(e, c);
    while (!ready && c->state == CUZK_CIRCUIT_LOADING && !e->stopping) {
        pthread_cond_wait(&e->accepted_cv, &e->mu);
        ready = c->state == CUZK_CIRCUIT_READY;
    }
    pthread_mutex_unlock(&e->mu);
}

static cuzk_code load_everywhere(cuzk_engine *e, bool *ret_already, uint64_t *ret_ms,
                                 cuzk_engine_circuit *c, int priority, cuzk_err *err)
{
    uint64_t start = cuzk_clock_ns(), waited = 0;
    bool already = true, any = false;
    cuzk_code code = CUZK_OK;
    CUZK_TRY(cuzk_circuit_require(c, err));
    for (unsigned d = 0; d < e->n_devices; d++) {
        cuzk_err why = {0};
        bool hot = cuzk_residency_is_hot(e->residency, d, c->name);
        cuzk_code one = hot ? CUZK_OK : load_on(e, d, c, priority, &waited, &why);
        already = already && hot;
        any = any || one == CUZK_OK;
        if (one != CUZK_OK && code == CUZK_OK) {
            code = CUZK_FAIL(err, one, "%s", why.msg);
        }
    }
    ready_circuit(e, c);
    if (!any) {
        return code;
    }
    *ret_already = already;
    *ret_ms = already ? 0 : (cuzk_clock_ns() - start) / 1000000;
    return CUZK_OK;
}

cuzk_code cuzk_engine_preload(cuzk_engine *e, bool *ret_already, uint64_t *ret_ms,
                              const char *circuit, cuzk_err *err)
{
    cuzk_engine_circuit *c;
    CUZK_TRY(named(e, &c, circuit, err));
    return load_everywhere(e, ret_already, ret_ms, c, CUZK_PRIORITY_NORMAL, err);
}

cuzk_code cuzk_engine_evict(cuzk_engine *e, bool *ret_was_loaded, uint64_t *ret_freed,
                            const char *circuit, cuzk_err *err)
{
    cuzk_engine_circuit *c;
    bool any = false;
    uint64_t sum = 0;
    CUZK_TRY(named(e, &c, circuit, err));
    for (unsigned d = 0; d < e->n_devices; d++) {
        bool was;
        uint64_t freed;
        CUZK_TRY(cuzk_residency_evict(e->residency, &was, &freed, d, c->name, 0, err));
        any = any || was;
        sum += freed;
    }
    pthread_mutex_lock(&e->mu);
    for (unsigned d = 0; d < e->n_devices; d++) {
        e->devices[d].wanted[0] = 0;
    }
    pthread_mutex_unlock(&e->mu);
    *ret_was_loaded = any;
    *ret_freed = sum;
    return CUZK_OK;
}

void *cuzk_preload_main(void *arg)
{
    cuzk_engine *e = arg;
    for (size_t i = 0; i < e->n_preload; i++) {
        cuzk_engine_circuit *c = &e->circuits[e->preload[i]];
        cuzk_err err = {0};
        bool already;
        uint64_t ms;
        if (atomic_load_explicit(&e->stop_flag, memory_order_acquire)) {
            break;
        }
        if (load_everywhere(e, &already, &ms, c, CUZK_PRIORITY_LOW, &err) == CUZK_OK) {
            cuzk_engine_say(e, CUZK_ENGINE_INFO, "", "%s is loaded, in %llu ms", c->name,
                            (unsigned long long)ms);
        } else {
            cuzk_engine_say(e, CUZK_ENGINE_WARN, "", "%s was not loaded: %s", c->name, err.msg);
        }
    }
    return NULL;
}
