#include "math/field/fp8_ifma.h"
#include "math/msm/batch.h"

#define AFFINE  g2_affine
#define X_WORDS 16 /* of 64 bits, for one element of fe in scratch memory, a lane */

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

FP8_INLINE fe fe_get(const uint64_t *limbs) { return (fe){fp8_get(limbs), fp8_get(limbs + 64)}; }

FP8_INLINE void fe_put(uint64_t *limbs, fe a)
{
    fp8_put(limbs, a.c0);
    fp8_put(limbs + 64, a.c1);
}

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

FP8_INLINE fe fe_reduce(fe a) { return (fe){fp8_reduce(a.c0), fp8_reduce(a.c1)}; }

FP8_INLINE fe fe_one(void) { return (fe){fp8_one(), fp8_zero()}; }

FP8_INLINE fe fe_zero(void) { return (fe){fp8_zero(), fp8_zero()}; }

FP8_INLINE __mmask8 fe_is_zero(fe a) { return fp8_is_zero(a.c0) & fp8_is_zero(a.c1); }

FP8_INLINE __mmask8 fe_eq(fe a, fe b) { return fp8_eq(a.c0, b.c0) & fp8_eq(a.c1, b.c1); }

/* Both parts as sums of two products with one reduction each; parts of a and b below 8p. */
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

FP8_INLINE fe fe_gather(const void *const at[8], size_t offset)
{
    return (fe){fp8_from_words(fp8_gather(at, offset + offsetof(fp2, c0))),
                fp8_from_words(fp8_gather(at, offset + offsetof(fp2, c1)))};
}

FP8_INLINE void fe_scatter(fp2 *ret, fe a, size_t n)
{
    fp8_scatter(&ret->c0, sizeof(AFFINE), fp8_to_words(a.c0), n);
    fp8_scatter(&ret->c1, sizeof(AFFINE), fp8_to_words(a.c1), n);
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

FP8_INLINE void fe_mul_two(fe ret[2], const fe a[2], const fe b[2])
{
    ret[0] = fe_mul(a[0], b[0]);
    ret[1] = fe_mul(a[1], b[1]);
}

FP8_INLINE void fe_scale_two(fe ret[2], const fe a[2], const fp8 b[2])
{
    for (int i = 0; i < 2; i++) {
        fp8 parts[2] = {a[i].c0, a[i].c1}, both[2] = {b[i], b[i]};
        fp8_mul_two(parts, parts, both);
        ret[i] = (fe){parts[0], parts[1]};
    }
}

FP8_INLINE fe fe_dx_again(fp8 divisor, fe xa, const void *const b[8])
{
    (void)divisor;
    return fe_sub(fe_gather(b, offsetof(AFFINE, x)), xa, 2);
}

#include "math/msm/batch_lanes.inc.h"

void msm_g2_add_pairs_ifma(g2_affine *ret, const msm_pair *pair, size_t n, msm_batch *scratch)
{
    add_pairs(ret, pair, n, scratch);
}
