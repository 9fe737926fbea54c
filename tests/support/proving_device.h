#ifndef TESTS_PROVING_DEVICE_H
#define TESTS_PROVING_DEVICE_H

#include "cuzk/backend.h"

#include <pthread.h>

/*
 * A device for tests of the engine: it makes real proofs, once for each statement in a process and
 * from then on out of memory, and fails, stops or loses everything when a test wants it to.
 */

typedef enum device_fault {
    FAULT_NONE,
    FAULT_WRONG,  /* a proof of the right form that does not verify */
    FAULT_JUNK,   /* bytes that are no proof */
    FAULT_ERROR,  /* CUZK_E_INTERNAL */
    FAULT_INPUT,  /* CUZK_E_INPUT */
    FAULT_MEMORY, /* CUZK_E_MEMORY */
    FAULT_LOST,   /* CUZK_E_UNAVAILABLE; nothing is loaded any more */
    FAULT_HANG,   /* until the deadline: CUZK_E_TIMEOUT; nothing is loaded any more */
} device_fault;

enum { DEVICE_CIRCUITS = 8, DEVICE_SCRIPT = 32 };

typedef struct proving_device {
    cuzk_backend base;
    pthread_mutex_t mu;
    pthread_cond_t changed;
    /* All below is guarded by mu. */
    bool hold;       /* proofs stop before they are made, until this is false */
    bool hold_loads; /* and loads */
    unsigned in_prove, most_in_prove, proofs, in_load;
    device_fault script[DEVICE_SCRIPT],
        always; /* the next proofs go by the script, then by always */
    unsigned n_script, at_script;
    uint64_t resident, working; /* what each circuit takes of the device's memory */
    uint64_t memory;            /* what it says it has */
    struct {
        char name[64];
        bool loaded;
        unsigned loads, unloads;
    } circuits[DEVICE_CIRCUITS];
    unsigned n_circuits;
    unsigned losses;
    unsigned unloaded_uses; /* proofs asked of circuits that were not loaded, before any loss */
    bool closed;
} proving_device;

/** A device with 1 GiB, of which each circuit takes 16 MiB. The engine's close does not free it. */
void proving_device_init(proving_device *d);
void proving_device_clear(proving_device *d);

/** The next n proofs go wrong like this. */
void proving_device_fail(proving_device *d, const device_fault *faults, unsigned n);
/** Every proof that no script covers goes like this. */
void proving_device_always(proving_device *d, device_fault fault);

/** Stops proofs, or lets them go. */
void proving_device_hold(proving_device *d, bool proofs, bool loads);

/** Waits until so many proofs, or loads, are under way. */
void proving_device_wait(proving_device *d, unsigned proofs);
void proving_device_wait_load(proving_device *d, unsigned loads);

unsigned proving_device_proofs(proving_device *d);
unsigned proving_device_loads(proving_device *d, const char *circuit);

#endif
