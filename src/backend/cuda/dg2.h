#ifndef CUZK_BACKEND_CUDA_DG2_H
#define CUZK_BACKEND_CUDA_DG2_H

#include "backend/cuda/dfp2.h"

#define GROUP dg2
#define FIELD dfp2
#include "backend/cuda/dgroup.inc.h"
#undef GROUP
#undef FIELD

/**
 * |x| a, x the curve's parameter, for a of order r: -psi(a), psi the Frobenius map carried to the
 * twist, which is multiplication by x (math/curve/g2.c). psi divides the conjugates of the
 * coordinates by omega^2 i and c (1 + i), c^2 = -1/2.
 */
CUZK_HD dg2_affine dg2_affine_endo(dg2_affine a)
{
    const uint64_t minus_omega_limbs[] = FP_MINUS_OMEGA, c_limbs[] = FROBENIUS_3_C;
    dfp minus_omega, c;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        minus_omega.l[i] = limb_of(minus_omega_limbs, i);
        c.l[i] = limb_of(c_limbs, i);
    }
    if (dg2_affine_is_inf(&a)) {
        return a;
    }
    dg2_affine r;
    r.x = (dfp2){dfp_mul(a.x.c1, minus_omega), dfp_mul(a.x.c0, minus_omega)};
    r.y.c0 = dfp_mul(dfp_sub(a.y.c0, a.y.c1), c);
    r.y.c1 = dfp_neg(dfp_mul(dfp_add(a.y.c0, a.y.c1), c));
    return r;
}

#endif
