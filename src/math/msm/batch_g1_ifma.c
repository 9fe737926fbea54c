#include "math/field/fp8_ifma.h"
#include "math/msm/batch.h"

#define AFFINE  g1_affine
#define X_WORDS 8 /* of 64 bits, for one element of fe in scratch memory, a lane */

typedef fp8 fe;

#define fe_normalize  fp8_normalize
#define fe_raw_negate fp8_raw_negate
#define fe_raw_add    fp8_raw_add
#define fe_raw_sub    fp8_raw_sub
#define fe_settle     fp8_settle
#define fe_get        fp8_get
#define fe_put        fp8_put
#define fe_select     fp8_select
#define fe_sub        fp8_sub
#define fe_add        fp8_add
#define fe_mul        fp8_mul
#define fe_sqr        fp8_sqr
#define fe_shift      fp8_shift
#define fe_reduce     fp8_reduce
#define fe_one        fp8_one
#define fe_zero       fp8_zero
#define fe_is_zero    fp8_is_zero
#define fe_eq         fp8_eq

FP8_INLINE fe fe_gather(const void *const at[8], size_t offset)
{
    return fp8_from_words(fp8_gather(at, offset));
}

FP8_INLINE void fe_scatter(fp *ret, fe a, size_t n)
{
    fp8_scatter(ret, sizeof(AFFINE), fp8_to_words(a), n);
}

FP8_INLINE fe fe_triple(fe a) { return fp8_normalize(fp8_raw_add(fp8_raw_add(a, a), a)); }

FP8_INLINE fp8 fe_divisor(fe dx) { return dx; }

FP8_INLINE fe fe_dx_again(fp8 divisor, fe xa, const void *const b[8])
{
    (void)xa;
    (void)b;
    return divisor;
}

#define fe_mul_two   fp8_mul_two
#define fe_scale_two fp8_mul_two

FP8_INLINE fe fe_dividend(fe dy, fe dx)
{
    (void)dx;
    return dy;
}

#include "math/msm/batch_lanes.inc.h"

void msm_g1_add_pairs_ifma(g1_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch)
{
    add_pairs(ret, pair, n, scratch);
}
