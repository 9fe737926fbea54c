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

/** Working memory of one call of msm_*_add_pairs: one per thread, contents of no interest. Sized so
 *  that an inversion serves some 1000 additions and that everything stays in a 1 MiB cache. */
typedef struct msm_batch {
    _Alignas(64) unsigned char bytes[344064];
} msm_batch;

/**
 * ret[i] = pair[i].a + pair[i].b for i < n, any n; every case (equal, opposite, infinity) is right,
 * for points of the subgroup of order r. ret may not overlap a point that some pair refers to.
 */
void msm_g1_add_pairs(g1_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);
void msm_g2_add_pairs(g2_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);

#ifdef CUZK_X86_64
/** The same, eight additions at a time with AVX-512 IFMA. */
void msm_g1_add_pairs_ifma(g1_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);
void msm_g2_add_pairs_ifma(g2_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch);
#endif

/* The point behind a reference, whatever its sign. */
static inline const void *msm_ref_point(msm_ref r) { return (const void *)(r & ~(msm_ref)1); }

#endif
