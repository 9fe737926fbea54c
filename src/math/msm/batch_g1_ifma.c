#include "math/field/fp8_ifma.h"
#include "math/msm/batch.h"

#define AFFINE  g1_affine
#define DIVISOR dx
#define MORE_MEMBERS

typedef fp8 fe;

#define fe_normalize  fp8_normalize
#define fe_raw_negate fp8_raw_negate
#define fe_raw_add    fp8_raw_add
#define fe_raw_sub    fp8_raw_sub
#define fe_settle     fp8_settle
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
#define fe_scale      fp8_mul
#define fe_up_16      fp8_up_16

FP8_INLINE void fe_gather(fe *ret_x, fe *ret_y, const void *const at[8])
{
    __m512i w[12];
    fp8_gather_8_words(w, at, 0);
    fp8_gather_4_words(w + 8, at, 64);
    *ret_x = fp8_from_words(w);
    *ret_y = fp8_from_words(w + 6);
}

FP8_INLINE void fe_scatter(g1_affine *ret, fe x, fe y, size_t n)
{
    __m512i w[12];
    fp8_to_words(w, x);
    fp8_to_words(w + 6, y);
    fp8_scatter_8_words(ret, sizeof *ret, w, n);
    fp8_scatter_4_words((char *)ret + 64, sizeof *ret, w + 8, n);
}

FP8_INLINE fe fe_triple(fe a) { return fp8_normalize(fp8_raw_add(fp8_raw_add(a, a), a)); }

FP8_INLINE fp8 fe_divisor(fe dx) { return dx; }

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
