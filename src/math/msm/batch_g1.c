#include "math/msm/batch.h"

#define GROUP          g1
#define FIELD          fp
#define ADD_PAIRS_IFMA msm_g1_add_pairs_ifma

static void divisor_of(fp *d, const fp *dx) { *d = *dx; }

static void divide(fp *q, const fp *dy, const fp *dx, const fp *inverse)
{
    (void)dx;
    fp_mul(q, dy, inverse);
}

#include "math/msm/batch_impl.inc.h"
