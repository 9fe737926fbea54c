#ifndef CUZK_BACKEND_CUDA_DFP2_H
#define CUZK_BACKEND_CUDA_DFP2_H

#include "backend/cuda/hd_called.h"

/** c0 + c1 i in Fp2 = Fp[i] / (i^2 + 1); the host's fp2 but for the range [0, 2p) of a dfp. */
typedef struct dfp2 {
    dfp c0, c1;
} dfp2;

CUZK_HD dfp2 dfp2_zero(void) { return (dfp2){dfp_zero(), dfp_zero()}; }
CUZK_HD dfp2 dfp2_one(void) { return (dfp2){dfp_one(), dfp_zero()}; }

CUZK_HD dfp2 dfp2_add(dfp2 a, dfp2 b) { return (dfp2){dfp_add(a.c0, b.c0), dfp_add(a.c1, b.c1)}; }

CUZK_HD dfp2 dfp2_sub(dfp2 a, dfp2 b) { return (dfp2){dfp_sub(a.c0, b.c0), dfp_sub(a.c1, b.c1)}; }

CUZK_HD dfp2 dfp2_dbl(dfp2 a) { return dfp2_add(a, a); }
CUZK_HD dfp2 dfp2_neg(dfp2 a) { return (dfp2){dfp_neg(a.c0), dfp_neg(a.c1)}; }

/** Three products (Karatsuba). */
CUZK_HD_CALLED dfp2 dfp2_mul(dfp2 a, dfp2 b)
{
    dfp t0 = dfp_mul(a.c0, b.c0), t1 = dfp_mul(a.c1, b.c1);
    dfp t2 = dfp_mul(dfp_add(a.c0, a.c1), dfp_add(b.c0, b.c1));
    return (dfp2){dfp_sub(t0, t1), dfp_sub(dfp_sub(t2, t0), t1)};
}

/** (c0 + c1)(c0 - c1) + 2 c0 c1 i. */
CUZK_HD_CALLED dfp2 dfp2_sqr(dfp2 a)
{
    dfp t = dfp_mul(a.c0, a.c1);
    return (dfp2){dfp_mul(dfp_add(a.c0, a.c1), dfp_sub(a.c0, a.c1)), dfp_dbl(t)};
}

CUZK_HD dfp2 dfp2_mul_called(dfp2 a, dfp2 b) { return dfp2_mul(a, b); }
CUZK_HD dfp2 dfp2_sqr_called(dfp2 a) { return dfp2_sqr(a); }

CUZK_HD bool dfp2_is_zero(dfp2 a) { return dfp_is_zero(a.c0) && dfp_is_zero(a.c1); }
CUZK_HD bool dfp2_eq(dfp2 a, dfp2 b) { return dfp_eq(a.c0, b.c0) && dfp_eq(a.c1, b.c1); }
CUZK_HD dfp2 dfp2_reduce(dfp2 a) { return (dfp2){dfp_reduce(a.c0), dfp_reduce(a.c1)}; }

/** a^-1 = (c0 - c1 i) / (c0^2 + c1^2), and 0 for 0. */
CUZK_HD dfp2 dfp2_inv(dfp2 a)
{
    dfp norm_inv = dfp_inv_called(dfp_dot2(a.c0, a.c0, a.c1, a.c1));
    return (dfp2){dfp_mul(a.c0, norm_inv), dfp_neg(dfp_mul(a.c1, norm_inv))};
}

CUZK_HD dfp2 dfp2_inv_called(dfp2 a) { return dfp2_inv(a); }

#endif
