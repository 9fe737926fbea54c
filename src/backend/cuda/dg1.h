#ifndef CUZK_BACKEND_CUDA_DG1_H
#define CUZK_BACKEND_CUDA_DG1_H

#include "backend/cuda/hd_called.h"

#define GROUP dg1
#define FIELD dfp
#include "backend/cuda/dgroup.inc.h"
#undef GROUP
#undef FIELD

/** x^2 a, x the curve's parameter, for a of order r: (omega x, y) is -x^2 (x, y). */
CUZK_HD dg1_affine dg1_affine_endo(dg1_affine a)
{
    const uint64_t omega_limbs[] = FP_OMEGA;
    dfp omega;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        omega.l[i] = limb_of(omega_limbs, i);
    }
    if (dg1_affine_is_inf(&a)) {
        return a;
    }
    return (dg1_affine){dfp_mul(a.x, omega), dfp_neg(a.y)};
}

#endif
