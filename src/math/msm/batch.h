#ifndef CUZK_MATH_MSM_BATCH_H
#define CUZK_MATH_MSM_BATCH_H

#include "math/curve/g1.h"
#include "math/curve/g2.h"

/*
 * Inside of msm only: many independent affine additions that share one field inversion
 * (Montgomery's trick): lambda = (y2 - y1) / (x2 - x1), x3 = lambda^2 - x1 - x2,
 * y3 = lambda (x1 - x3) - y1; six field multiplications each on G1.
 */

/** A borrowed affine point of either group, by address; bit 0 set means its negative. */
typedef uintptr_t msm_ref;

/** Two points to add. */
typedef struct msm_pair {
    msm_ref a, b;
} msm_pair;

/** Most additions that one inversion serves. */
#define MSM_BATCH 1024

/** Working memory of one call of msm_*_add_pairs: one per thread, contents of no interest. */
typedef struct msm_batch {
    _Alignas(64) uint64_t prefix[MSM_BATCH * 8];
    _Alignas(64) uint64_t divisor[MSM_BATCH * 8];
    _Alignas(64) uint64_t x[MSM_BATCH * 16]; /* of the first point; the eight-lane path only */
    bool odd[MSM_BATCH / 8];                 /* octets with an unusual addition; as x */
} msm_batch;

/**
 * ret[i] = pair[i].a + pair[i].b for i < n, any n; every case (equal, opposite, infinity) is right,
 * for points of the subgroup of order r. ret may not overlap a point that some pair refers to.
 */
void msm_g1_add_pairs(g1_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);
void msm_g2_add_pairs(g2_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);

#ifdef CUZK_X86_64
/** The same for n <= MSM_BATCH, eight additions at a time with AVX-512 IFMA. */
void msm_g1_add_pairs_ifma(g1_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);
void msm_g2_add_pairs_ifma(g2_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);
#endif

/* The point behind a reference, whatever its sign. */
static inline const void *msm_ref_point(msm_ref r) { return (const void *)(r & ~(msm_ref)1); }

#endif
