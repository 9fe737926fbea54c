#include "math/msm/batch.h"

#define GROUP          g2
#define FIELD          fp2
#define ADD_PAIRS_IFMA msm_g2_add_pairs_ifma

/* The norm: batches of inverses then cost three multiplications in Fp, not in Fp2. */
static void divisor_of(fp *d, const fp2 *dx)
{
    fp t;
    fp_sqr(d, &dx->c0);
    fp_sqr(&t, &dx->c1);
    fp_add(d, d, &t);
}

static void divide(fp2 *q, const fp2 *dy, const fp2 *dx, const fp *inverse)
{
    fp2 conjugate;
    fp2_conj(&conjugate, dx);
    fp2_mul(q, dy, &conjugate);
    fp2_mul_fp(q, q, inverse);
}

#include "math/msm/batch_impl.inc.h"
