#ifndef CUZK_BACKEND_LOADED_H
#define CUZK_BACKEND_LOADED_H

#include "cuzk/backend.h"

/*
 * The circuits that a device has loaded, by name, whatever a loaded circuit is to that device. A
 * load of what is being loaded already waits for it and shares its end; what is unloaded while
 * calls use it is freed by the last of them. All calls may come from any thread.
 */
typedef struct cuzk_loaded cuzk_loaded;

/** What a device does. Both are called without a lock, by the thread whose call it is. */
typedef struct cuzk_loaded_ops {
    /** Reads a circuit and its key; the list owns *ret. Not twice at once for one name. */
    cuzk_code (*load)(void *ctx, void **ret, cuzk_load_times *ret_times,
                      const cuzk_circuit_files *files, cuzk_err *err);
    /** Frees what load made, in whichever call ends its last use. */
    void (*free)(void *ctx, void *object);
} cuzk_loaded_ops;

/** One use of a loaded circuit. */
typedef struct cuzk_loaded_circuit cuzk_loaded_circuit;

/** Makes an empty list; ops and ctx are borrowed. The caller owns *ret. */
cuzk_code cuzk_loaded_new(cuzk_loaded **ret, const cuzk_loaded_ops *ops, void *ctx, cuzk_err *err);

/** Frees the list and all that is loaded, which nobody may use any more; accepts NULL. */
void cuzk_loaded_free(cuzk_loaded *l);

/** Loads a circuit; returns at once, with times of 0, when it is there. A load that fails leaves
 *  nothing, and all that waited for it get its error. */
cuzk_code cuzk_loaded_load(cuzk_loaded *l, cuzk_load_times *ret, const cuzk_circuit_files *files,
                           cuzk_err *err);

/** Takes a circuit out of the list; false when it was not loaded. */
bool cuzk_loaded_unload(cuzk_loaded *l, const char *circuit);

/** Unloads all that is loaded. */
void cuzk_loaded_clear(cuzk_loaded *l);

/** Begins a use: *ret_object is what load made, there until cuzk_loaded_end(l, *ret).
 *  CUZK_E_UNAVAILABLE when the circuit is not loaded. */
cuzk_code cuzk_loaded_use(cuzk_loaded *l, cuzk_loaded_circuit **ret, void **ret_object,
                          const char *circuit, cuzk_err *err);
void cuzk_loaded_end(cuzk_loaded *l, cuzk_loaded_circuit *c);

#endif
