#ifndef CUZK_MATH_MSM_H
#define CUZK_MATH_MSM_H

#include "base/threads.h"
#include "math/curve/g1.h"
#include "math/curve/g2.h"

/*
 * Multi-scalar multiplication, ret = sum_i k[i] p[i] over n points of the subgroup of order r (any
 * of them may be infinity, equal or opposite). Scalars are canonical integers and are sorted by
 * class first: zeros cost nothing, +-1 one addition, small ones (up to 64 bits, or r less so many)
 * few windows, full ones go through signed-digit buckets with batch-affine additions. Variable
 * time. CUZK_E_MEMORY when scratch memory cannot be had.
 */
cuzk_code msm_g1(g1 *ret, const g1_affine *p, const fr_repr *k, size_t n, cuzk_pool *pool,
                 cuzk_err *err);
cuzk_code msm_g2(g2 *ret, const g2_affine *p, const fr_repr *k, size_t n, cuzk_pool *pool,
                 cuzk_err *err);

/** An upper bound of the scratch memory of msm_g1 or msm_g2 for n points on so many threads. It
 *  stops growing at n = 2^22. */
size_t msm_g1_scratch_bytes(size_t n, unsigned threads);
size_t msm_g2_scratch_bytes(size_t n, unsigned threads);

/**
 * A table of multiples of one point for many multiplications by it (fixed-base windows with signed
 * digits): 2^(w-1) points for each window of w bits. Immutable; may be shared by threads.
 */
typedef struct msm_fixed_g1 msm_fixed_g1;
typedef struct msm_fixed_g2 msm_fixed_g2;

/** `uses` is how many multiplications are expected: it sets the window. The caller owns *ret. */
cuzk_code msm_fixed_g1_new(msm_fixed_g1 **ret, const g1_affine *base, size_t uses, cuzk_pool *pool,
                           cuzk_err *err);
cuzk_code msm_fixed_g2_new(msm_fixed_g2 **ret, const g2_affine *base, size_t uses, cuzk_pool *pool,
                           cuzk_err *err);
void msm_fixed_g1_free(msm_fixed_g1 *t);
void msm_fixed_g2_free(msm_fixed_g2 *t);

/** ret[i] = k[i] base, affine, for i < n; batch-affine additions across the n products. */
cuzk_code msm_fixed_g1_mul(const msm_fixed_g1 *t, g1_affine *ret, const fr_repr *k, size_t n,
                           cuzk_pool *pool, cuzk_err *err);
cuzk_code msm_fixed_g2_mul(const msm_fixed_g2 *t, g2_affine *ret, const fr_repr *k, size_t n,
                           cuzk_pool *pool, cuzk_err *err);

#endif
