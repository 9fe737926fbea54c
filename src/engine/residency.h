#ifndef CUZK_ENGINE_RESIDENCY_H
#define CUZK_ENGINE_RESIDENCY_H

#include "engine/budget.h"

/*
 * Which circuits (with their keys) are loaded on which device.
 *
 *     cold ──acquire, prefetch──▶ queued ──▶ loading ──▶ hot ──evict──▶ evicting ──▶ cold
 *       └──prefetch without room──▶ warm (the key file is in the page cache)
 *
 * Each device has a thread that loads, one circuit at a time, the most urgent first, and one that
 * unloads, so callers never run a device's slow calls themselves. What a circuit takes is in the
 * budget from the moment its load is queued until its unload has ended. A circuit in use is never
 * evicted. Idle ones stay until a waiting request needs their room; the least recently used goes
 * first, and none goes that a request further ahead wants.
 *
 * All state is guarded by the budget's mutex. Every call may come from any thread.
 */
typedef struct cuzk_residency cuzk_residency;

typedef enum cuzk_heat {
    CUZK_COLD,
    CUZK_WARM,
    CUZK_LOAD_QUEUED,
    CUZK_LOADING,
    CUZK_HOT,
    CUZK_EVICTING,
} cuzk_heat;

/** "cold", "warm", "queued", "loading", "hot", "evicting". */
const char *cuzk_heat_name(cuzk_heat heat);

/** What happened to a circuit on a device. */
typedef enum cuzk_residency_event {
    CUZK_RESIDENCY_LOAD_START, /* bytes: what it will take */
    CUZK_RESIDENCY_LOAD_END,   /* times and code are set */
    CUZK_RESIDENCY_EVICT,      /* bytes: what came back */
} cuzk_residency_event;

typedef struct cuzk_residency_note {
    cuzk_residency_event event;
    unsigned device;
    const char *circuit;
    uint64_t bytes;        /* in all accounts */
    cuzk_load_times times; /* of CUZK_RESIDENCY_LOAD_END */
    cuzk_code code;        /* of CUZK_RESIDENCY_LOAD_END */
} cuzk_residency_note;

typedef struct cuzk_residency_config {
    /** Told of each event, by a thread of the residency and without a lock; NULL for none. */
    void (*event)(void *ctx, const cuzk_residency_note *note);
    void *ctx;
    uint64_t min_idle_ns;    /* a prefetch evicts nothing that was used more recently */
    uint64_t warm_max_bytes; /* of a key file that a prefetch asks into the page cache; 0: none */
} cuzk_residency_config;

/**
 * Starts the threads. devices[n_devices]: borrowed, as is the budget, whose evictor this becomes;
 * device k has account CUZK_ACCOUNT_DEVICE + k. The caller owns *ret.
 */
cuzk_code cuzk_residency_new(cuzk_residency **ret, cuzk_budget *budget,
                             cuzk_backend *const *devices, unsigned n_devices,
                             const cuzk_residency_config *config, cuzk_err *err);

/** Ends the threads after what they are doing, unloads nothing; accepts NULL. Nobody may hold a
 *  lease or wait. */
void cuzk_residency_free(cuzk_residency *r);

/* A circuit's files are those of the first call that names it. */

/** A loaded circuit in use, with the memory for what is done with it. */
typedef struct cuzk_lease cuzk_lease;

/** What is wanted. Borrowed until the call returns. */
typedef struct cuzk_lease_request {
    unsigned device;
    const cuzk_circuit_files *files;
    unsigned partitions; /* that many times the backend's working set is reserved; may be 0 */
    cuzk_amounts extra;  /* and this: what the caller itself needs */
    cuzk_order order;
    const atomic_bool *cancelled; /* NULL, or ends the wait; set it, then cuzk_residency_wake */
    uint64_t deadline_ns;         /* of CLOCK_MONOTONIC; 0: none */
} cuzk_lease_request;

/**
 * Waits until the circuit is loaded on the device and all memory is reserved, in one reservation:
 * key and circuit if they are not loaded, working set, extra. A load under way is joined; a queued
 * one takes the order of its most urgent user. CUZK_E_FULL at once when that can never fit;
 * CUZK_E_CANCELLED; CUZK_E_TIMEOUT; what the backend said when cost or load failed, for all that
 * waited for that load (the next acquire tries again). The caller owns *ret.
 */
cuzk_code cuzk_residency_acquire(cuzk_residency *r, cuzk_lease **ret,
                                 const cuzk_lease_request *request, cuzk_err *err);

/** Every acquire that waits looks at its `cancelled` flag; calls cuzk_budget_wake too. */
void cuzk_residency_wake(cuzk_residency *r);

/** CUZK_E_FULL or what cost said when the request can never be granted on that device. Reads files
 *  the first time, waits for nothing. */
cuzk_code cuzk_residency_can_fit(cuzk_residency *r, const cuzk_lease_request *request,
                                 cuzk_err *err);

/** Nanoseconds that the acquire of this lease spent waiting for a load (0 when it was hot). */
uint64_t cuzk_lease_load_ns(const cuzk_lease *lease);

/** Gives a part of the extra memory back early; `part` may be what was asked as extra. */
void cuzk_lease_release_part(cuzk_residency *r, cuzk_lease *lease, const cuzk_amounts *part);

/** Ends the use and gives the memory back; accepts NULL. */
void cuzk_residency_release(cuzk_residency *r, cuzk_lease *lease);

/**
 * The device was lost (CUZK_E_UNAVAILABLE or CUZK_E_TIMEOUT from it) while this lease was held: all
 * that was loaded there is cold. Several leases of one loss count once, and what was loaded since
 * stays. The leases are still to be released.
 */
void cuzk_residency_lost(cuzk_residency *r, const cuzk_lease *lease);

/** The same for a device as a whole, when its owner saw it go. */
void cuzk_residency_forget(cuzk_residency *r, unsigned device);

/**
 * Look-ahead: circuits that queued jobs will need on a device, soonest first; replaces what was
 * said before. Loads them in that order while there is room beside all that waits; idle circuits
 * not in the list, or later in it, may go for it. The first that has no room is made warm. Returns
 * at once; failures only show in the snapshot.
 */
void cuzk_residency_prefetch(cuzk_residency *r, unsigned device, const cuzk_circuit_files *files,
                             size_t n);

/** Unloads a circuit from a device after its users, and takes it out of the look-ahead; acquires
 *  made meanwhile wait for it and load again. Blocks; *ret_freed: bytes, 0 when it was not loaded.
 *  CUZK_E_TIMEOUT after deadline_ns (0: none): it then still goes as soon as its users let it. */
cuzk_code cuzk_residency_evict(cuzk_residency *r, bool *ret_was_loaded, uint64_t *ret_freed,
                               unsigned device, const char *circuit, uint64_t deadline_ns,
                               cuzk_err *err);

/** True when an acquire would not have to load. */
bool cuzk_residency_is_hot(cuzk_residency *r, unsigned device, const char *circuit);

typedef struct cuzk_resident {
    unsigned device;
    char circuit[64];
    cuzk_heat heat;
    unsigned users;        /* leases, waiting for the load ones included */
    uint64_t bytes;        /* that it takes, or would, in all accounts */
    uint64_t last_used_ns; /* of CLOCK_MONOTONIC; 0: never */
    cuzk_load_times times; /* of the last load */
    uint64_t loads;        /* how often it was loaded */
    char last_error[128];  /* of the last load, "" when it went well */
} cuzk_resident;

/** Fills up to max entries, by device and name of the circuit; returns how many there are. */
size_t cuzk_residency_snapshot(cuzk_residency *r, cuzk_resident *ret, size_t max);

#endif
