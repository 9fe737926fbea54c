#include "engine/residency_internal.h"

#include "base/system.h"

/* Making room: for requests that wait, and for what will be needed soon. */

/* A prefetch does not try again so soon after a load failed. */
static const uint64_t retry_ns = 30000000000ULL;

/* ---- eviction ---- */

bool cuzk_entry_is_idle(const cuzk_entry *e)
{
    return e->users == 0 && (e->heat == CUZK_HOT || e->heat == CUZK_LOAD_QUEUED);
}

static bool helps(const cuzk_entry *e, const cuzk_amounts *shortfall)
{
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        if (shortfall->bytes[i] && e->held.held.bytes[i]) {
            return true;
        }
    }
    return false;
}

/* Whether an idle circuit may go: for a waiting request, or for a prefetch. */
typedef bool may_go_fn(const void *ctx, const cuzk_entry *e);

/* The next circuit to go: of those that help and may, the least recently used. */
static cuzk_entry *next_to_go(const cuzk_residency *r, const cuzk_amounts *shortfall,
                              may_go_fn *may_go, const void *ctx)
{
    cuzk_entry *best = NULL;
    for (unsigned k = 0; k < r->n_devices; k++) {
        for (cuzk_entry *e = r->devices[k].entries; e; e = e->next) {
            if (cuzk_entry_is_idle(e) && helps(e, shortfall) && may_go(ctx, e) &&
                (!best || e->last_used_ns < best->last_used_ns)) {
                best = e;
            }
        }
    }
    return best;
}

/* Evicts until the shortfall is covered with what is already going; nothing when all that may go
 * would not be enough, since the request would have to wait all the same. */
static bool evict_for(cuzk_residency *r, const cuzk_amounts *shortfall, may_go_fn *may_go,
                      const void *ctx)
{
    cuzk_amounts coming = {0}, rest = *shortfall;
    for (unsigned k = 0; k < r->n_devices; k++) {
        for (const cuzk_entry *e = r->devices[k].entries; e; e = e->next) {
            if (e->heat == CUZK_EVICTING) {
                cuzk_amounts_subtract(&rest, &e->held.held);
            } else if (cuzk_entry_is_idle(e) && may_go(ctx, e)) {
                cuzk_amounts_sum(&coming, &e->held.held);
            }
        }
    }
    cuzk_amounts uncovered = rest;
    cuzk_amounts_subtract(&uncovered, &coming);
    if (cuzk_amounts_total(&uncovered) > 0) {
        return false;
    }
    while (cuzk_amounts_total(&rest) > 0) {
        cuzk_entry *e = next_to_go(r, &rest, may_go, ctx);
        if (!e) {
            return false;
        }
        cuzk_amounts_subtract(&rest, &e->held.held);
        cuzk_entry_start_evict(r, e);
    }
    return true;
}

/* A request does not take what one before it in the queue, or itself, is going to use. */
static bool may_go_for_waiter(const void *ctx, const cuzk_entry *e)
{
    return e->wanted_pass != *(const uint64_t *)ctx;
}

void cuzk_residency_make_room(void *ctx, const cuzk_amounts *shortfall, uint64_t pass)
{
    evict_for(ctx, shortfall, may_go_for_waiter, &pass);
}

/* ---- look-ahead ---- */

typedef struct prefetch {
    const cuzk_residency_device *d;
    size_t i; /* place in the list */
    uint64_t now_ns;
} prefetch;

static bool may_go_for_prefetch(const void *ctx, const cuzk_entry *e)
{
    const prefetch *p = ctx;
    if (e->heat != CUZK_HOT || p->now_ns - e->last_used_ns < p->d->r->config.min_idle_ns) {
        return false;
    }
    for (size_t i = 0; i <= p->i; i++) {
        if (p->d->wanted[i] == e) {
            return false;
        }
    }
    return true;
}

/* Begins to load one wanted circuit; false when the rest of the list has to wait. */
static bool prefetch_one(cuzk_residency_device *d, size_t i)
{
    cuzk_entry *e = d->wanted[i];
    prefetch p = {d, i, cuzk_clock_ns()};
    if (e->heat != CUZK_COLD && e->heat != CUZK_WARM) {
        return e->heat != CUZK_EVICTING;
    }
    if (e->failed_ns && p.now_ns - e->failed_ns < retry_ns) {
        return true;
    }
    if (!e->cost_known) {
        e->wants_cost = true;
        pthread_cond_signal(&d->load_work);
        return false;
    }
    cuzk_reservation room;
    if (cuzk_budget_try_locked(d->r->budget, &room, &e->resident)) {
        cuzk_order last = {0, UINT64_MAX, (uint32_t)i};
        cuzk_entry_queue_load(d->r, e, &room, &last);
        return true;
    }
    cuzk_amounts shortfall;
    cuzk_budget_shortfall_locked(d->r->budget, &shortfall, &e->resident);
    if (!evict_for(d->r, &shortfall, may_go_for_prefetch, &p) && e->heat == CUZK_COLD &&
        d->r->config.warm_max_bytes > 0 && !e->warmth_asked) {
        e->wants_warmth = true;
        e->warmth_asked = true;
        pthread_cond_signal(&d->load_work);
    }
    return false;
}

void cuzk_device_prefetch(cuzk_residency_device *d)
{
    for (size_t i = 0; i < d->n_wanted && !d->r->stopping; i++) {
        if (!prefetch_one(d, i)) {
            return;
        }
    }
}
