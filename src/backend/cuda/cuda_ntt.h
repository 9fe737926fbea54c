#ifndef CUZK_BACKEND_CUDA_CUDA_NTT_H
#define CUZK_BACKEND_CUDA_CUDA_NTT_H

#include "backend/cuda/dfr.h"
#include "cuzk/err.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Orders of an array of 2^lg elements: natural, or reversed: the element of index i at the place
 * whose number is i with its lg bits in reverse order. A transform changes from one to the other.
 */
typedef enum cuzk_cuda_ntt_order {
    CUZK_CUDA_NTT_TO_REVERSED,   /* natural in, reversed out */
    CUZK_CUDA_NTT_FROM_REVERSED, /* reversed in, natural out */
} cuzk_cuda_ntt_order;

/**
 * A transform of 2^lg elements of Fr in place in device memory, in one direction and on one coset,
 * with its tables on the device that was current when it was made. Immutable: several streams may
 * run it at once. It takes and leaves canonical Montgomery form: forward, from coefficients c_i to
 * the values sum c_i (g w^k)^i; inverse, from those values to the coefficients, 1 / 2^lg included.
 */
typedef struct cuzk_cuda_ntt cuzk_cuda_ntt;

/**
 * Makes the tables for 1 <= lg <= 27. root: w, of order 2^lg; coset: g, or NULL for g = 1; both are
 * the forward transform's also when inverse. Sizes over 2^18 want a table of 64 bytes an element,
 * which they get if that is at most table_limit bytes; else they make do with 34 MiB and are slower
 * (by 8 % of the multiplications). The caller owns *ret.
 * CUZK_E_ARG for a size out of range, CUZK_E_MEMORY without device memory, CUZK_E_INTERNAL for any
 * other error of the device.
 */
cuzk_code cuzk_cuda_ntt_new(cuzk_cuda_ntt **ret, unsigned lg, cuzk_cuda_ntt_order order,
                            bool inverse, const dfr *root, const dfr *coset, size_t table_limit,
                            cuzk_err *err);
void cuzk_cuda_ntt_free(cuzk_cuda_ntt *t);

/** How many bytes of device memory the tables take. */
size_t cuzk_cuda_ntt_bytes(const cuzk_cuda_ntt *t);

/** Starts the transform of a[2^lg], device memory aligned to 16 bytes, on a stream (a cudaStream_t;
 *  NULL: the default one). CUZK_E_INTERNAL when a launch fails. */
cuzk_code cuzk_cuda_ntt_run(const cuzk_cuda_ntt *t, dfr *a, void *stream, cuzk_err *err);

#ifdef __cplusplus
}
#endif

#endif
