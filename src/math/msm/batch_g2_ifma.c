#include "math/field/fp8_ifma.h"
#include "math/msm/batch.h"

#define AFFINE       g2_affine
#define DIVISOR      norm
#define MORE_MEMBERS fp8 norm;

/* Eight elements of Fp2. */
typedef struct fe {
    fp8 c0, c1;
} fe;

FP8_INLINE fe fe_normalize(fe a) { return (fe){fp8_normalize(a.c0), fp8_normalize(a.c1)}; }

FP8_INLINE fe fe_raw_negate(__mmask8 mask, fe a, uint64_t n)
{
    return (fe){fp8_raw_negate(mask, a.c0, n), fp8_raw_negate(mask, a.c1, n)};
}

FP8_INLINE fe fe_raw_add(fe a, fe b)
{
    return (fe){fp8_raw_add(a.c0, b.c0), fp8_raw_add(a.c1, b.c1)};
}

FP8_INLINE fe fe_raw_sub(fe a, fe b)
{
    return (fe){fp8_raw_sub(a.c0, b.c0), fp8_raw_sub(a.c1, b.c1)};
}

FP8_INLINE fe fe_settle(fe a, uint64_t n) { return (fe){fp8_settle(a.c0, n), fp8_settle(a.c1, n)}; }

FP8_INLINE fe fe_select(__mmask8 mask, fe a, fe b)
{
    return (fe){fp8_select(mask, a.c0, b.c0), fp8_select(mask, a.c1, b.c1)};
}

FP8_INLINE fe fe_sub(fe a, fe b, uint64_t n)
{
    return (fe){fp8_sub(a.c0, b.c0, n), fp8_sub(a.c1, b.c1, n)};
}

FP8_INLINE fe fe_add(fe a, fe b) { return fe_normalize(fe_raw_add(a, b)); }

FP8_INLINE fe fe_shift(fe a) { return (fe){fp8_shift(a.c0), fp8_shift(a.c1)}; }

FP8_INLINE fe fe_up_16(fe a) { return (fe){fp8_up_16(a.c0), fp8_up_16(a.c1)}; }

FP8_INLINE fe fe_reduce(fe a) { return (fe){fp8_reduce(a.c0), fp8_reduce(a.c1)}; }

FP8_INLINE fe fe_one(void) { return (fe){fp8_one(), fp8_zero()}; }

FP8_INLINE fe fe_zero(void) { return (fe){fp8_zero(), fp8_zero()}; }

FP8_INLINE __mmask8 fe_is_zero(fe a) { return fp8_is_zero(a.c0) & fp8_is_zero(a.c1); }

FP8_INLINE __mmask8 fe_eq(fe a, fe b) { return fp8_eq(a.c0, b.c0) & fp8_eq(a.c1, b.c1); }

/* Both parts as sums of two products with one reduction each; parts of b below 8p, those of a times
 * 8p below 2^796. */
FP8_INLINE fe fe_mul(fe a, fe b)
{
    fe r;
    fp8 minus = fp8_sub(fp8_zero(), b.c1, 8);
    r.c0 = fp8_redc(fp8_wide_mul(fp8_wide_mul(fp8_wide_zero(), a.c0, b.c0), a.c1, minus));
    r.c1 = fp8_redc(fp8_wide_mul(fp8_wide_mul(fp8_wide_zero(), a.c0, b.c1), a.c1, b.c0));
    return r;
}

/* (c0 + c1) (c0 - c1) + 2 c0 c1 i, parts below 8p. */
FP8_INLINE fe fe_sqr(fe a)
{
    fe r;
    r.c0 = fp8_mul(fp8_add(a.c0, a.c1), fp8_sub(a.c0, a.c1, 8));
    r.c1 = fp8_mul(fp8_add(a.c0, a.c0), a.c1);
    return r;
}

FP8_INLINE fe fe_triple(fe a) { return fe_normalize(fe_raw_add(fe_raw_add(a, a), a)); }

FP8_INLINE void fe_gather(fe *ret_x, fe *ret_y, const void *const at[8])
{
    __m512i w[24];
    FP8_UNROLL
    for (size_t i = 0; i < 24; i += 8) {
        fp8_gather_8_words(w + i, at, 8 * i);
    }
    *ret_x = (fe){fp8_from_words(w), fp8_from_words(w + 6)};
    *ret_y = (fe){fp8_from_words(w + 12), fp8_from_words(w + 18)};
}

FP8_INLINE void fe_scatter(g2_affine *ret, fe x, fe y, size_t n)
{
    __m512i w[24];
    fp8_to_words(w, x.c0);
    fp8_to_words(w + 6, x.c1);
    fp8_to_words(w + 12, y.c0);
    fp8_to_words(w + 18, y.c1);
    FP8_UNROLL
    for (size_t i = 0; i < 24; i += 8) {
        fp8_scatter_8_words((char *)ret + 8 * i, sizeof *ret, w + i, n);
    }
}

/* The norm: the chain of products is then one in Fp. */
FP8_INLINE fp8 fe_divisor(fe dx)
{
    return fp8_redc(fp8_wide_add(fp8_wide_sqr(dx.c0), fp8_wide_sqr(dx.c1)));
}

/* 1 / dx is its conjugate over its norm. */
FP8_INLINE fe fe_dividend(fe dy, fe dx)
{
    dx.c1 = fp8_sub(fp8_zero(), dx.c1, 4);
    return fe_mul(dy, dx);
}

FP8_INLINE fe fe_scale(fe a, fp8 b) { return (fe){fp8_mul(a.c0, b), fp8_mul(a.c1, b)}; }

#include "math/msm/batch_lanes.inc.h"

void msm_g2_add_pairs_ifma(g2_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch)
{
    add_pairs(ret, pair, n, scratch);
}
