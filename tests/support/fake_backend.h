#ifndef TESTS_FAKE_BACKEND_H
#define TESTS_FAKE_BACKEND_H

#include "cuzk/backend.h"

#include <pthread.h>

/* A device for tests of what is loaded when: it holds names, and stops where a test wants it to. */

enum { FAKE_CIRCUITS = 16 };

typedef struct fake_circuit {
    const char *name;
    cuzk_circuit_cost cost;
    bool loaded;
    unsigned loads, unloads, fail_loads; /* the next so many loads fail */
    cuzk_code fail_code;
} fake_circuit;

typedef struct fake_backend {
    cuzk_backend base;
    pthread_mutex_t mu;
    pthread_cond_t changed;
    bool hold_loads, hold_unloads;        /* guarded by mu: such calls stop until this is false */
    unsigned in_load, in_unload;          /* guarded by mu: calls under way */
    unsigned most_in_load;                /* guarded by mu */
    fake_circuit circuits[FAKE_CIRCUITS]; /* guarded by mu */
    unsigned n_circuits;
    char loaded[256]; /* guarded by mu: names in the order of their loads, a space after each */
} fake_backend;

/** Circuits are added with fake_add before use. */
void fake_init(fake_backend *f);
void fake_clear(fake_backend *f);

/** A circuit that takes these bytes of device memory. */
fake_circuit *fake_add(fake_backend *f, const char *name, uint64_t resident, uint64_t working);

/** Stops or lets go calls of load and unload. */
void fake_hold(fake_backend *f, bool loads, bool unloads);

/** Waits until so many loads are under way. */
void fake_wait_loading(fake_backend *f, unsigned n);
void fake_wait_unloading(fake_backend *f, unsigned n);

bool fake_is_loaded(fake_backend *f, const char *name);

/** Forgets all that is loaded, as a device does that was lost. */
void fake_lose(fake_backend *f);

#endif
