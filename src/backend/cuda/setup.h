#ifndef CUZK_BACKEND_CUDA_SETUP_H
#define CUZK_BACKEND_CUDA_SETUP_H

#include "backend/cuda/dshape.h"
#include "backend/cuda/key.h"

/**
 * Makes the key that cuzk_groth16_setup makes for the same system with bellperson's conventions
 * (FR_ROOT_BELLMAN, CUZK_H_POWERS), in device memory: s on the host, d the same system there. The
 * caller owns *ret. Waits for the stream. Besides the key it takes, at most, 128 bytes a variable,
 * 32 a row, the tables and a chunk; what depends on the trapdoor is wiped.
 *
 * CUZK_E_INPUT as from cuzk_groth16_setup: an aux variable is in no row, the system has more than
 * 2^NTT_MAX_LG rows, or the trapdoor does not work for it (a zero, tau in the domain, a polynomial
 * that is zero at tau). CUZK_E_MEMORY with little memory; else the device's errors.
 */
cuzk_code cuzk_cuda_setup(cuzk_cuda_key **ret, const cuzk_shape *s, const dshape *d,
                          const cuzk_trapdoor *t, cuzk_cuda_memory *m, cuzk_cuda_stream stream,
                          cuzk_err *err);

/** How a setup's products are made. */
typedef struct cuzk_cuda_setup_plan {
    uint64_t chunk;              /* products at a time; a multiple of 64 */
    unsigned g1_width, g2_width; /* bits of a digit, 1 to 16 */
} cuzk_cuda_setup_plan;

/** The plan for so many products in G1 and in G2. */
cuzk_cuda_setup_plan cuzk_cuda_setup_plan_for(uint64_t in_g1, uint64_t in_g2);

/** cuzk_cuda_setup with another plan than its own. */
cuzk_code cuzk_cuda_setup_with(cuzk_cuda_key **ret, const cuzk_shape *s, const dshape *d,
                               const cuzk_trapdoor *t, const cuzk_cuda_setup_plan *plan,
                               cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err);

/** Writes a key as .params: the bytes that cuzk_params_write writes of the same key on the host.
 *  Encodes on the device, a chunk at a time. CUZK_E_ARG when a point is infinity, which the format
 *  cannot hold. */
cuzk_code cuzk_cuda_key_write(const cuzk_cuda_key *key, const char *file, cuzk_cuda_stream stream,
                              cuzk_err *err);

#endif
