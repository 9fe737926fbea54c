#ifndef CUZK_ENGINE_BUDGET_H
#define CUZK_ENGINE_BUDGET_H

#include "cuzk/backend.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Memory accounts: host, pinned, and one for each device. Work reserves all that it will need, in
 * all accounts at once, before it starts; it never waits for memory while it holds some, so waits
 * cannot form a circle.
 *
 * Requests that do not fit wait in order: higher priority first, then the older job, then the lower
 * partition. One is granted as soon as it fits beside all that stands before it in the queue, so a
 * later request goes ahead only where it takes nothing from an earlier one, and nothing starves.
 * While the queue is not empty and something in it does not fit, the evictor is asked to free
 * memory, again after every change.
 *
 * One mutex guards the accounts, the queue and whatever the hooks below decide about memory.
 * Every call may come from any thread; those named `_locked` are made with the mutex held.
 */

enum {
    CUZK_BUDGET_DEVICES_MAX = 16,
    CUZK_ACCOUNT_HOST = 0,
    CUZK_ACCOUNT_PINNED = 1,
    CUZK_ACCOUNT_DEVICE = 2, /* of device k: CUZK_ACCOUNT_DEVICE + k */
    CUZK_ACCOUNTS_MAX = CUZK_ACCOUNT_DEVICE + CUZK_BUDGET_DEVICES_MAX,
};

/** Bytes in each account. */
typedef struct cuzk_amounts {
    uint64_t bytes[CUZK_ACCOUNTS_MAX];
} cuzk_amounts;

/** Adds bytes as a backend states them (cuzk_memory) for device `device`; saturates. */
void cuzk_amounts_add(cuzk_amounts *a, const uint64_t bytes[CUZK_MEMORIES], unsigned device);

/** a += b, saturating; a -= b, not below 0; bytes in all accounts. */
void cuzk_amounts_sum(cuzk_amounts *a, const cuzk_amounts *b);
void cuzk_amounts_subtract(cuzk_amounts *a, const cuzk_amounts *b);
uint64_t cuzk_amounts_total(const cuzk_amounts *a);

/** What was granted; all zero is nothing. Returned by cuzk_budget_release alone. */
typedef struct cuzk_reservation {
    cuzk_amounts held;
} cuzk_reservation;

/** Place in the queue. */
typedef struct cuzk_order {
    int priority;       /* cuzk_priority: higher goes first */
    uint64_t job;       /* number of the job by acceptance: lower goes first */
    uint32_t partition; /* lower goes first */
} cuzk_order;

/** Negative when a goes before b, positive when after, 0 when equal. */
int cuzk_order_compare(const cuzk_order *a, const cuzk_order *b);

/** A wish for memory. Borrowed until cuzk_budget_reserve returns. */
typedef struct cuzk_budget_request {
    cuzk_order order;
    cuzk_amounts need;
    /** NULL, or a flag that ends the wait; whoever sets it calls cuzk_budget_wake afterwards. */
    const atomic_bool *cancelled;
    uint64_t deadline_ns; /* of CLOCK_MONOTONIC; 0: none */
    /**
     * NULL, or called with the mutex held before each decision: sets *need anew; false when it
     * cannot be granted now whatever is free. `pass` numbers the walk through the queue, in whose
     * order the hooks are called. `need` above then is the most that it can be.
     */
    bool (*recount)(void *ctx, uint64_t pass, cuzk_amounts *need);
    /** NULL, or called with the mutex held at the moment of the grant. */
    void (*granted)(void *ctx, cuzk_reservation *r);
    void *ctx;
} cuzk_budget_request;

typedef struct cuzk_budget cuzk_budget;

/** A budget with these totals; accounts with a total of 0 hold nothing. The caller owns *ret. */
cuzk_code cuzk_budget_new(cuzk_budget **ret, const cuzk_amounts *totals, cuzk_err *err);

/** Accepts NULL. Nobody may wait. */
void cuzk_budget_free(cuzk_budget *b);

/** Takes bytes away for good, for what the process always holds: totals shrink by them. CUZK_E_FULL
 *  when that much is not free. */
cuzk_code cuzk_budget_fix(cuzk_budget *b, const cuzk_amounts *bytes, cuzk_err *err);

/** CUZK_E_FULL, naming account and numbers, when a request of that size could never be granted. */
cuzk_code cuzk_budget_can_fit(cuzk_budget *b, const cuzk_amounts *need, cuzk_err *err);

/**
 * Waits for the grant. CUZK_E_FULL at once when it can never fit; CUZK_E_CANCELLED, CUZK_E_TIMEOUT.
 * *ret holds what was granted (all of it, less what a `granted` hook moved elsewhere).
 */
cuzk_code cuzk_budget_reserve(cuzk_budget *b, cuzk_reservation *ret,
                              const cuzk_budget_request *request, cuzk_err *err);
cuzk_code cuzk_budget_reserve_locked(cuzk_budget *b, cuzk_reservation *ret,
                                     const cuzk_budget_request *request, cuzk_err *err);

/** Grants `need` if it fits beside all that waits; never evicts. */
bool cuzk_budget_try(cuzk_budget *b, cuzk_reservation *ret, const cuzk_amounts *need);
bool cuzk_budget_try_locked(cuzk_budget *b, cuzk_reservation *ret, const cuzk_amounts *need);

/** What is missing for such a grant; false when nothing is. */
bool cuzk_budget_shortfall_locked(const cuzk_budget *b, cuzk_amounts *ret,
                                  const cuzk_amounts *need);

/** Gives all of a reservation back and empties it. */
void cuzk_budget_release(cuzk_budget *b, cuzk_reservation *r);
void cuzk_budget_release_locked(cuzk_budget *b, cuzk_reservation *r);

/** Gives a part back; in each account no more than is held. */
void cuzk_budget_release_part(cuzk_budget *b, cuzk_reservation *r, const cuzk_amounts *part);

/** Moves a part of one reservation to another; in each account no more than is held. */
void cuzk_reservation_move(cuzk_reservation *to, cuzk_reservation *from, const cuzk_amounts *part);

/** Every waiting call looks at its `cancelled` flag. */
void cuzk_budget_wake(cuzk_budget *b);

/**
 * What frees memory for those that wait. Called with the mutex held, for a request that is
 * `shortfall` short (beside what stands before it), with the number of the walk; starts what it can
 * and returns at once: the memory comes back by cuzk_budget_release. To be set before use.
 */
typedef void cuzk_evict_fn(void *ctx, const cuzk_amounts *shortfall, uint64_t pass);
void cuzk_budget_set_evictor(cuzk_budget *b, cuzk_evict_fn *fn, void *ctx);

void cuzk_budget_lock(cuzk_budget *b);
void cuzk_budget_unlock(cuzk_budget *b);

/** Decides anew about all that waits: after something became evictable, or a recount's answer
 *  changed. */
void cuzk_budget_decide_locked(cuzk_budget *b);

/** Blocks on a condition with the budget's mutex, until it is signalled or deadline_ns (0: none)
 *  passes; false then. The condition is of CLOCK_MONOTONIC (cuzk_budget_cond_init). */
bool cuzk_budget_cond_wait(cuzk_budget *b, pthread_cond_t *cond, uint64_t deadline_ns);
void cuzk_budget_cond_init(pthread_cond_t *cond);

/** One account as it stands. */
typedef struct cuzk_account_state {
    char name[24]; /* "host", "pinned", "device 0" */
    uint64_t total, used;
    uint64_t waiting; /* bytes that waiting requests want */
} cuzk_account_state;

typedef struct cuzk_budget_state {
    unsigned n_accounts; /* those with a total */
    cuzk_account_state accounts[CUZK_ACCOUNTS_MAX];
    unsigned n_waiting; /* requests */
} cuzk_budget_state;

void cuzk_budget_snapshot(cuzk_budget *b, cuzk_budget_state *ret);

#endif
