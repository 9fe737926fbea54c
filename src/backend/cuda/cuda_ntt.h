#ifndef CUZK_BACKEND_CUDA_CUDA_NTT_H
#define CUZK_BACKEND_CUDA_CUDA_NTT_H

#include "backend/cuda/dfr.h"
#include "cuzk/err.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A transform of 2^lg elements of Fr in place in device memory, in one direction and on one coset,
 * with its tables on the device that was current when it was made. Immutable: several streams may
 * run it at once.
 *
 * The forward transform takes coefficients in natural order and leaves the value at g w^k at the
 * place whose number is k with its lg bits reversed; the inverse takes that order and leaves
 * coefficients in natural order, 1 / 2^lg included. Both take and leave canonical Montgomery form.
 */
typedef struct cuzk_cuda_ntt cuzk_cuda_ntt;

/**
 * Makes the tables for 1 <= lg <= 27. root: w, of order 2^lg; coset: g, or NULL for g = 1; both are
 * the forward transform's also when inverse. Sizes over 2^18 want a table of 64 bytes an element,
 * which they get if that is at most table_limit bytes; else they make do with 34 MiB and are slower
 * (by 5 % of the multiplications). The caller owns *ret.
 * CUZK_E_ARG for a size out of range, CUZK_E_MEMORY without device memory, CUZK_E_INTERNAL for any
 * other error of the device.
 */
cuzk_code cuzk_cuda_ntt_new(cuzk_cuda_ntt **ret, unsigned lg, bool inverse, const dfr *root,
                            const dfr *coset, size_t table_limit, cuzk_err *err);
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
