#ifndef TESTS_BACKEND_CUDA_FIELD_KERNELS_H
#define TESTS_BACKEND_CUDA_FIELD_KERNELS_H

#include "backend/cuda/dinv.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What the device makes of a pair of elements; all reduced. */
typedef struct fp_results {
    dfp mul, sqr, dot2, add, sub, neg; /* dot2: a b + b b */
} fp_results;

typedef struct fr_results {
    dfr mul, shoup, add, sub, integer;
} fr_results;

/** ret[i] from a[i] and b[i], all device memory, with the upper representative of a[i] where i is
 *  odd. */
void field_fp_results(fp_results *ret, const dfp *a, const dfp *b, size_t n);
void field_fr_results(fr_results *ret, const dfr *a, const dfr *b, size_t n);
/** Replaces a[i] by its inverse. */
void field_fp_inverses(dfp *a, size_t n);
void field_fr_inverses(dfr *a, size_t n);

#ifdef __cplusplus
}
#endif

#endif
