#include "engine/budget.h"

#include "base/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A call that waits; on its stack. All guarded by the budget's mu. */
typedef struct waiter {
    const cuzk_budget_request *request;
    cuzk_amounts wants; /* as of the last walk */
    cuzk_reservation *ret;
    bool granted;
    bool hopeless; /* the totals shrank below it */
    pthread_cond_t cond;
    struct waiter *prev, *next;
} waiter;

struct cuzk_budget {
    pthread_mutex_t mu;
    cuzk_amounts total, used; /* guarded by mu */
    waiter *first, *last;     /* guarded by mu: the queue, in order */
    uint64_t pass;            /* guarded by mu: walks so far */
    bool deciding, again;     /* guarded by mu: a walk is under way; another shall follow */
    cuzk_evict_fn *evict;     /* set before use */
    void *evict_ctx;
};

/* ---- amounts ---- */

static uint64_t sum(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

void cuzk_amounts_add(cuzk_amounts *a, const uint64_t bytes[CUZK_MEMORIES], unsigned device)
{
    uint64_t *at[CUZK_MEMORIES] = {
        [CUZK_MEMORY_HOST] = &a->bytes[CUZK_ACCOUNT_HOST],
        [CUZK_MEMORY_PINNED] = &a->bytes[CUZK_ACCOUNT_PINNED],
        [CUZK_MEMORY_DEVICE] = &a->bytes[CUZK_ACCOUNT_DEVICE + device],
    };
    for (int m = 0; m < CUZK_MEMORIES; m++) {
        *at[m] = sum(*at[m], bytes[m]);
    }
}

void cuzk_amounts_sum(cuzk_amounts *a, const cuzk_amounts *b)
{
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        a->bytes[i] = sum(a->bytes[i], b->bytes[i]);
    }
}

void cuzk_amounts_subtract(cuzk_amounts *a, const cuzk_amounts *b)
{
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        a->bytes[i] -= least(a->bytes[i], b->bytes[i]);
    }
}

uint64_t cuzk_amounts_total(const cuzk_amounts *a)
{
    uint64_t total = 0;
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        total = sum(total, a->bytes[i]);
    }
    return total;
}

void cuzk_reservation_move(cuzk_reservation *to, cuzk_reservation *from, const cuzk_amounts *part)
{
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        uint64_t bytes = least(part->bytes[i], from->held.bytes[i]);
        from->held.bytes[i] -= bytes;
        to->held.bytes[i] += bytes;
    }
}

static void account_name(char ret[24], int i)
{
    if (i == CUZK_ACCOUNT_HOST || i == CUZK_ACCOUNT_PINNED) {
        snprintf(ret, 24, "%s", i == CUZK_ACCOUNT_HOST ? "host" : "pinned");
    } else {
        snprintf(ret, 24, "device %d", i - CUZK_ACCOUNT_DEVICE);
    }
}

/* ---- the queue ---- */

int cuzk_order_compare(const cuzk_order *a, const cuzk_order *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->job != b->job) {
        return a->job < b->job ? -1 : 1;
    }
    return (a->partition > b->partition) - (a->partition < b->partition);
}

static void enqueue(cuzk_budget *b, waiter *w)
{
    waiter *before = b->last;
    while (before && cuzk_order_compare(&w->request->order, &before->request->order) < 0) {
        before = before->prev;
    }
    w->prev = before;
    w->next = before ? before->next : b->first;
    *(w->prev ? &w->prev->next : &b->first) = w;
    *(w->next ? &w->next->prev : &b->last) = w;
}

static void dequeue(cuzk_budget *b, waiter *w)
{
    *(w->prev ? &w->prev->next : &b->first) = w->next;
    *(w->next ? &w->next->prev : &b->last) = w->prev;
}

/* Fills *shortfall with what is missing for `need` beside `aside`; false when nothing is. */
static bool is_short(const cuzk_budget *b, const cuzk_amounts *need, const cuzk_amounts *aside,
                     cuzk_amounts *shortfall)
{
    bool any = false;
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        uint64_t free = b->total.bytes[i] - b->used.bytes[i];
        uint64_t want = need->bytes[i] ? sum(need->bytes[i], aside->bytes[i]) : 0;
        shortfall->bytes[i] = want > free ? want - free : 0;
        any |= want > free;
    }
    return any;
}

static void grant(cuzk_budget *b, waiter *w)
{
    cuzk_amounts_sum(&b->used, &w->wants);
    w->ret->held = w->wants;
    w->granted = true;
    dequeue(b, w);
    if (w->request->granted) {
        w->request->granted(w->request->ctx, w->ret);
    }
    pthread_cond_signal(&w->cond);
}

/* One walk through the queue. What earlier requests want is set aside from later ones. */
static void walk(cuzk_budget *b)
{
    cuzk_amounts aside = {0}, shortfall;
    b->pass++;
    for (waiter *w = b->first, *next; w; w = next) {
        const cuzk_budget_request *q = w->request;
        next = w->next;
        w->wants = q->need;
        bool may = !q->recount || q->recount(q->ctx, b->pass, &w->wants);
        bool lacks = is_short(b, &w->wants, &aside, &shortfall);
        if (may && !lacks) {
            grant(b, w);
            continue;
        }
        cuzk_amounts_sum(&aside, &w->wants);
        if (may && b->evict) {
            b->evict(b->evict_ctx, &shortfall, b->pass);
        }
    }
}

void cuzk_budget_decide_locked(cuzk_budget *b)
{
    b->again = true;
    if (b->deciding) { /* called by a hook */
        return;
    }
    b->deciding = true;
    while (b->again) {
        b->again = false;
        walk(b);
    }
    b->deciding = false;
}

/* ---- calls ---- */

cuzk_code cuzk_budget_new(cuzk_budget **ret, const cuzk_amounts *totals, cuzk_err *err)
{
    cuzk_budget *b = calloc(1, sizeof *b);
    if (!b) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the memory budget");
    }
    pthread_mutex_init(&b->mu, NULL);
    b->total = *totals;
    *ret = b;
    return CUZK_OK;
}

void cuzk_budget_free(cuzk_budget *b)
{
    if (b) {
        pthread_mutex_destroy(&b->mu);
        free(b);
    }
}

void cuzk_budget_set_evictor(cuzk_budget *b, cuzk_evict_fn *fn, void *ctx)
{
    b->evict = fn;
    b->evict_ctx = ctx;
}

void cuzk_budget_lock(cuzk_budget *b) { pthread_mutex_lock(&b->mu); }
void cuzk_budget_unlock(cuzk_budget *b) { pthread_mutex_unlock(&b->mu); }

static cuzk_code can_fit(const cuzk_budget *b, const cuzk_amounts *need, cuzk_err *err)
{
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        if (need->bytes[i] > b->total.bytes[i]) {
            char name[24];
            account_name(name, i);
            return CUZK_FAIL(err, CUZK_E_FULL,
                             "%s memory: %" PRIu64
                             " bytes are needed, the whole budget is %" PRIu64,
                             name, need->bytes[i], b->total.bytes[i]);
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_budget_can_fit(cuzk_budget *b, const cuzk_amounts *need, cuzk_err *err)
{
    pthread_mutex_lock(&b->mu);
    cuzk_code code = can_fit(b, need, err);
    pthread_mutex_unlock(&b->mu);
    return code;
}

cuzk_code cuzk_budget_fix(cuzk_budget *b, const cuzk_amounts *bytes, cuzk_err *err)
{
    pthread_mutex_lock(&b->mu);
    cuzk_code code = CUZK_OK;
    for (int i = 0; code == CUZK_OK && i < CUZK_ACCOUNTS_MAX; i++) {
        uint64_t free = b->total.bytes[i] - b->used.bytes[i];
        if (bytes->bytes[i] > free) {
            char name[24];
            account_name(name, i);
            code = CUZK_FAIL(err, CUZK_E_FULL,
                             "%s memory: %" PRIu64 " bytes are needed for good, %" PRIu64
                             " of the budget's %" PRIu64 " are free",
                             name, bytes->bytes[i], free, b->total.bytes[i]);
        }
    }
    for (int i = 0; code == CUZK_OK && i < CUZK_ACCOUNTS_MAX; i++) {
        b->total.bytes[i] -= bytes->bytes[i];
    }
    for (waiter *w = b->first; w; w = w->next) {
        if (can_fit(b, &w->request->need, NULL) != CUZK_OK) {
            w->hopeless = true;
            pthread_cond_signal(&w->cond);
        }
    }
    pthread_mutex_unlock(&b->mu);
    return code;
}

void cuzk_budget_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

bool cuzk_budget_cond_wait(cuzk_budget *b, pthread_cond_t *cond, uint64_t deadline_ns)
{
    if (!deadline_ns) {
        pthread_cond_wait(cond, &b->mu);
        return true;
    }
    if (cuzk_clock_ns() >= deadline_ns) {
        return false;
    }
    struct timespec at = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                          .tv_nsec = (long)(deadline_ns % 1000000000)};
    pthread_cond_timedwait(cond, &b->mu, &at);
    return true;
}

/* Why a wait ends without a grant; CUZK_OK: it goes on. */
static cuzk_code give_up(const cuzk_budget *b, const waiter *w, cuzk_err *err)
{
    const cuzk_budget_request *q = w->request;
    if (w->hopeless) {
        return can_fit(b, &q->need, err);
    }
    /* The flag is set before cuzk_budget_wake takes the mutex that this thread holds. */
    if (q->cancelled && atomic_load_explicit(q->cancelled, memory_order_relaxed)) {
        return CUZK_FAIL(err, CUZK_E_CANCELLED, "cancelled while waiting for memory");
    }
    if (q->deadline_ns && cuzk_clock_ns() >= q->deadline_ns) {
        return CUZK_FAIL(err, CUZK_E_TIMEOUT, "the deadline passed while waiting for memory");
    }
    return CUZK_OK;
}

cuzk_code cuzk_budget_reserve_locked(cuzk_budget *b, cuzk_reservation *ret,
                                     const cuzk_budget_request *request, cuzk_err *err)
{
    CUZK_TRY(can_fit(b, &request->need, err));
    cuzk_reservation granted = {0};
    waiter w = {.request = request, .wants = request->need, .ret = &granted};
    cuzk_budget_cond_init(&w.cond);
    enqueue(b, &w);
    cuzk_budget_decide_locked(b);
    cuzk_code code = CUZK_OK;
    while (!w.granted && code == CUZK_OK) {
        code = give_up(b, &w, err);
        if (code == CUZK_OK) {
            cuzk_budget_cond_wait(b, &w.cond, request->deadline_ns);
        }
    }
    if (w.granted) {
        *ret = granted;
    } else {
        dequeue(b, &w);
        cuzk_budget_decide_locked(b); /* what was set aside for it is free for others */
    }
    pthread_cond_destroy(&w.cond);
    return code;
}

cuzk_code cuzk_budget_reserve(cuzk_budget *b, cuzk_reservation *ret,
                              const cuzk_budget_request *request, cuzk_err *err)
{
    pthread_mutex_lock(&b->mu);
    cuzk_code code = cuzk_budget_reserve_locked(b, ret, request, err);
    pthread_mutex_unlock(&b->mu);
    return code;
}

bool cuzk_budget_shortfall_locked(const cuzk_budget *b, cuzk_amounts *ret, const cuzk_amounts *need)
{
    cuzk_amounts aside = {0};
    for (const waiter *w = b->first; w; w = w->next) {
        cuzk_amounts_sum(&aside, &w->wants);
    }
    return is_short(b, need, &aside, ret);
}

bool cuzk_budget_try_locked(cuzk_budget *b, cuzk_reservation *ret, const cuzk_amounts *need)
{
    cuzk_amounts shortfall;
    if (cuzk_budget_shortfall_locked(b, &shortfall, need)) {
        return false;
    }
    cuzk_amounts_sum(&b->used, need);
    ret->held = *need;
    return true;
}

bool cuzk_budget_try(cuzk_budget *b, cuzk_reservation *ret, const cuzk_amounts *need)
{
    pthread_mutex_lock(&b->mu);
    bool granted = cuzk_budget_try_locked(b, ret, need);
    pthread_mutex_unlock(&b->mu);
    return granted;
}

void cuzk_budget_release_part(cuzk_budget *b, cuzk_reservation *r, const cuzk_amounts *part)
{
    cuzk_reservation gone = {0};
    pthread_mutex_lock(&b->mu);
    cuzk_reservation_move(&gone, r, part);
    cuzk_budget_release_locked(b, &gone);
    pthread_mutex_unlock(&b->mu);
}

void cuzk_budget_release_locked(cuzk_budget *b, cuzk_reservation *r)
{
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        b->used.bytes[i] -= r->held.bytes[i];
    }
    *r = (cuzk_reservation){0};
    cuzk_budget_decide_locked(b);
}

void cuzk_budget_release(cuzk_budget *b, cuzk_reservation *r)
{
    pthread_mutex_lock(&b->mu);
    cuzk_budget_release_locked(b, r);
    pthread_mutex_unlock(&b->mu);
}

void cuzk_budget_wake(cuzk_budget *b)
{
    pthread_mutex_lock(&b->mu);
    for (waiter *w = b->first; w; w = w->next) {
        pthread_cond_signal(&w->cond);
    }
    pthread_mutex_unlock(&b->mu);
}

void cuzk_budget_snapshot(cuzk_budget *b, cuzk_budget_state *ret)
{
    *ret = (cuzk_budget_state){0};
    cuzk_amounts waiting = {0};
    pthread_mutex_lock(&b->mu);
    for (const waiter *w = b->first; w; w = w->next) {
        ret->n_waiting++;
        cuzk_amounts_sum(&waiting, &w->wants);
    }
    for (int i = 0; i < CUZK_ACCOUNTS_MAX; i++) {
        if (b->total.bytes[i] || b->used.bytes[i]) {
            cuzk_account_state *a = &ret->accounts[ret->n_accounts++];
            account_name(a->name, i);
            a->total = b->total.bytes[i];
            a->used = b->used.bytes[i];
            a->waiting = waiting.bytes[i];
        }
    }
    pthread_mutex_unlock(&b->mu);
}
