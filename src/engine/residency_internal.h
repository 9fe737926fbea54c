#ifndef CUZK_ENGINE_RESIDENCY_INTERNAL_H
#define CUZK_ENGINE_RESIDENCY_INTERNAL_H

#include "engine/residency.h"

/* What residency.c (calls), residency_room.c (evictions, look-ahead) and residency_threads.c (the
 * devices' threads) share. */

/** A circuit on a device. Lives as long as the residency. Guarded by the budget's mutex but for
 *  `device`, `files`, and the costs once they are known. */
typedef struct cuzk_entry {
    struct cuzk_entry *next; /* on the same device */
    unsigned device;
    cuzk_circuit_files files; /* owned strings */
    bool cost_known;
    cuzk_amounts resident, working;
    cuzk_heat heat;
    bool leaving;          /* to be evicted after its users */
    bool unloading;        /* CUZK_EVICTING, and the backend was asked */
    bool wants_cost;       /* a prefetch waits for the cost */
    bool warmth_asked;     /* since it was cold */
    bool wants_warmth;     /* a prefetch wants its key file in the page cache */
    unsigned users;        /* leases of this generation */
    uint64_t generation;   /* raised when the users lost it */
    uint64_t wanted_pass;  /* walk of the budget's queue in which a request wants it */
    cuzk_order order;      /* of a queued load */
    cuzk_reservation held; /* from queued to the end of evicting */
    uint64_t last_used_ns;
    uint64_t failed_ns; /* when the last load failed; 0: it did not */
    uint64_t loads;
    cuzk_load_times times;
    cuzk_err error;            /* of the last failed load */
    uint64_t error_generation; /* that it ended; those who waited for it may look later */
} cuzk_entry;

typedef struct cuzk_residency_device {
    cuzk_residency *r;
    unsigned number;
    cuzk_backend *backend;
    cuzk_entry *entries;
    cuzk_entry **wanted; /* what cuzk_residency_prefetch said */
    size_t n_wanted;
    uint64_t losses;          /* how often it was forgotten */
    pthread_cond_t load_work; /* something to load, or to end */
    pthread_cond_t unload_work;
    pthread_cond_t changed; /* a load or an eviction ended */
    pthread_t loader, unloader;
    unsigned n_threads; /* started: loader first */
} cuzk_residency_device;

struct cuzk_residency {
    cuzk_budget *budget;
    cuzk_residency_config config;
    bool stopping; /* guarded by the budget's mutex */
    unsigned n_devices;
    cuzk_residency_device *devices;
};

/** Starts loader and unloader; cuzk_device_stop joins those that started. */
cuzk_code cuzk_device_start(cuzk_residency_device *d, cuzk_err *err);
void cuzk_device_stop(cuzk_residency_device *d);

/** Asks the backend what the circuit costs, once. Without the mutex. */
cuzk_code cuzk_entry_learn_cost(cuzk_residency *r, cuzk_entry *e, cuzk_err *err);

/* With the mutex held: */

/** Takes the resident memory out of *from and queues the load. */
void cuzk_entry_queue_load(cuzk_residency *r, cuzk_entry *e, cuzk_reservation *from,
                           const cuzk_order *order);
/** Hands an idle hot circuit to the unloader; drops a queued load that nobody waits for. */
void cuzk_entry_start_evict(cuzk_residency *r, cuzk_entry *e);
/** The circuit is not loaded: memory comes back, users have lost it. */
void cuzk_entry_make_cold(cuzk_residency *r, cuzk_entry *e);
/** All that is hot on the device is not any more. */
void cuzk_device_forget(cuzk_residency_device *d);
/** Loaded, or about to be, and nobody uses it. */
bool cuzk_entry_is_idle(const cuzk_entry *e);
/** The budget's evictor; ctx: the residency. */
cuzk_evict_fn cuzk_residency_make_room;
/** Starts what the list of wanted circuits and the free memory allow. */
void cuzk_device_prefetch(cuzk_residency_device *d);

#endif
