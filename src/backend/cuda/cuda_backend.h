#ifndef CUZK_BACKEND_CUDA_BACKEND_H
#define CUZK_BACKEND_CUDA_BACKEND_H

#include "cuzk/backend.h"

/*
 * One CUDA device behind cuzk/backend.h, and what a program and the shared object with this backend
 * know of each other: a symbol whose first member says what the rest is. No header of CUDA.
 */

typedef struct cuzk_cuda_options {
    int ordinal;     /* of the device, from 0 */
    uint64_t budget; /* bytes of device memory for all; 0: what is free, less a reserve */
    /** Told once when the device is lost to this process, by the call that found out, before that
     *  call returns. It may end the process. NULL: nobody. */
    void (*lost)(void *ctx, const char *why);
    void *ctx;
} cuzk_cuda_options;

/**
 * Makes a device ready, which has to prove a small circuit with a known answer first. The caller
 * owns *ret. CUZK_E_UNAVAILABLE when the device does not answer, CUZK_E_MEMORY when the budget does
 * not suffice for that proof.
 *
 * After an error that leaves the device unusable for the process all that was loaded is gone; the
 * next call waits for those in work and starts the device anew, proof included. On a card that
 * seldom helps: only another process does (backend/worker).
 */
cuzk_code cuzk_backend_cuda_open(cuzk_backend **ret, const cuzk_cuda_options *options,
                                 cuzk_err *err);

/** A key to be made on a device. Strings are borrowed for the call. */
typedef struct cuzk_cuda_setup_options {
    int ordinal;
    uint64_t budget;     /* as above */
    const char *circuit; /* e.g. "porep-32GiB" */
    const char *seed;    /* for tests: secrets that anybody can recompute (cuzk_trapdoor_named);
                            NULL: fresh ones, which are wiped */
    const char *params;  /* to be written */
} cuzk_cuda_setup_options;

/**
 * Makes the proving key of a circuit on a device, with the verifying key at its head, and writes it
 * as .params. ret_ns, if not NULL, gets the time without the writing. CUZK_E_MEMORY when the device
 * cannot hold the key and what makes it, 128 bytes a variable and 32 a row.
 */
cuzk_code cuzk_cuda_setup_file(const cuzk_cuda_setup_options *options, uint64_t *ret_ns,
                               cuzk_err *err);

enum {
    /* Counts the changes of this struct, of its functions' and of the structs in cuzk/. */
    CUZK_CUDA_ABI = 1,
};

/** What the shared object offers. */
typedef struct cuzk_cuda_entry {
    uint32_t abi;        /* CUZK_CUDA_ABI */
    const char *version; /* of cuzk */
    int (*count)(void);  /* devices that answer: 0 without a driver */
    cuzk_code (*open)(cuzk_backend **ret, const cuzk_cuda_options *options, cuzk_err *err);
    cuzk_code (*setup)(const cuzk_cuda_setup_options *options, uint64_t *ret_ns, cuzk_err *err);
} cuzk_cuda_entry;

/** Its symbol. */
extern const cuzk_cuda_entry cuzk_cuda_library;
#define CUZK_CUDA_SYMBOL "cuzk_cuda_library"

#endif
