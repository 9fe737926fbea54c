#ifndef CUZK_BACKEND_CUDA_DFP_H
#define CUZK_BACKEND_CUDA_DFP_H

#include "backend/cuda/hd.h"
#include "math/field/constants.h"

/*
 * Fp on the device: the same bits in memory as the host's fp (little-endian limbs, Montgomery form,
 * R = 2^384), but any representative in [0, 2p) is valid everywhere: R > 9.8 p, so a product of two
 * of them, and a sum of two products, reduces to below 2p without a final subtraction. An fp is a
 * valid dfp; dfp_reduce gives the fp.
 */

enum { DFP_LIMBS = 12 };

/** An element of Fp in Montgomery form, in [0, 2p). */
typedef struct dfp {
    uint32_t l[DFP_LIMBS];
} dfp;

/** Limb i of p, of 2p. */
CUZK_HD uint32_t dfp_p(int i)
{
    const uint64_t p[] = FP_MODULUS;
    return limb_of(p, i);
}

CUZK_HD uint32_t dfp_2p(int i)
{
    const uint64_t p[] = FP_MODULUS;
    return limb_of_double(p, i);
}

CUZK_HD dfp dfp_zero(void)
{
    dfp r;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        r.l[i] = 0;
    }
    return r;
}

CUZK_HD dfp dfp_one(void)
{
    const uint64_t one[] = FP_R;
    dfp r;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        r.l[i] = limb_of(one, i);
    }
    return r;
}

/** a where mask is all ones, b where it is 0. */
CUZK_HD dfp dfp_select(uint32_t mask, dfp a, dfp b)
{
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        a.l[i] = mask ? a.l[i] : b.l[i];
    }
    return a;
}

/*
 * Products. An accumulator T is a pair of arrays, T = sum even[i] 2^(32 i) + sum odd[i] 2^(32 (i +
 * 1)), so that each product of two limbs lands on an aligned pair of one of them and their carries
 * form two chains. A row adds a multiple of a and the multiple of p that clears the lowest limb.
 * Dividing by 2^32 makes odd the new even; the new odd is even two limbs up, and even[1] is left to
 * add to the lowest limb, which the next row does.
 */

/* (even, odd) += a b. The carry out of even's top limb has the weight of odd's. */
CUZK_HD void dfp_row_add(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    uint32_t c = 0;
    limb_mad(&odd[0], &odd[1], a[1], b, odd[0], odd[1], &c);
    CUZK_UNROLL
    for (int i = 2; i < DFP_LIMBS; i += 2) {
        limb_madc(&odd[i], &odd[i + 1], a[i + 1], b, odd[i], odd[i + 1], &c);
    }
    limb_mad(&even[0], &even[1], a[0], b, even[0], even[1], &c);
    CUZK_UNROLL
    for (int i = 2; i < DFP_LIMBS; i += 2) {
        limb_madc(&even[i], &even[i + 1], a[i], b, even[i], even[i + 1], &c);
    }
    odd[DFP_LIMBS - 1] = limb_addc(odd[DFP_LIMBS - 1], 0, &c);
}

/* (even, odd) = a b. */
CUZK_HD void dfp_row_first(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i += 2) {
        limb_mul(&even[i], &even[i + 1], a[i], b);
        limb_mul(&odd[i], &odd[i + 1], a[i + 1], b);
    }
}

/* After a reduction: even is the old odd, odd the old even; divides by 2^32 and adds a b. */
CUZK_HD void dfp_row_shift(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    uint32_t c = 0;
    even[0] = limb_add(even[0], odd[1], &c);
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS - 2; i += 2) {
        limb_madc(&odd[i], &odd[i + 1], a[i + 1], b, odd[i + 2], odd[i + 3], &c);
    }
    limb_madc(&odd[DFP_LIMBS - 2], &odd[DFP_LIMBS - 1], a[DFP_LIMBS - 1], b, 0, 0, &c);
    limb_mad(&even[0], &even[1], a[0], b, even[0], even[1], &c);
    CUZK_UNROLL
    for (int i = 2; i < DFP_LIMBS; i += 2) {
        limb_madc(&even[i], &even[i + 1], a[i], b, even[i], even[i + 1], &c);
    }
    odd[DFP_LIMBS - 1] = limb_addc(odd[DFP_LIMBS - 1], 0, &c);
}

/* Adds the multiple of p that makes even[0] zero. */
CUZK_HD void dfp_row_reduce(uint32_t *even, uint32_t *odd)
{
    const uint64_t p64[] = FP_MODULUS;
    uint32_t p[DFP_LIMBS];
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        p[i] = limb_of(p64, i);
    }
    uint32_t m = even[0] * (uint32_t)(FP_INV & 0xffffffffu);
    dfp_row_add(even, odd, p, m);
}

/* The accumulator over 2^32, after the last row, as one integer. */
CUZK_HD dfp dfp_merge(const uint32_t *even, const uint32_t *odd)
{
    dfp r;
    uint32_t c = 0;
    r.l[0] = limb_add(odd[0], even[1], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS - 1; i++) {
        r.l[i] = limb_addc(odd[i], even[i + 1], &c);
    }
    r.l[DFP_LIMBS - 1] = limb_addc(odd[DFP_LIMBS - 1], 0, &c);
    return r;
}

/** a b. */
CUZK_HD dfp dfp_mul(dfp a, dfp b)
{
    uint32_t x[DFP_LIMBS], y[DFP_LIMBS];
    dfp_row_first(x, y, a.l, b.l[0]);
    dfp_row_reduce(x, y);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS - 1; i += 2) {
        dfp_row_shift(y, x, a.l, b.l[i]);
        dfp_row_reduce(y, x);
        dfp_row_shift(x, y, a.l, b.l[i + 1]);
        dfp_row_reduce(x, y);
    }
    dfp_row_shift(y, x, a.l, b.l[DFP_LIMBS - 1]);
    dfp_row_reduce(y, x);
    return dfp_merge(y, x);
}

/** a b + c d with one reduction: at most 8p^2 / R + p < 2p. */
CUZK_HD dfp dfp_dot2(dfp a, dfp b, dfp c, dfp d)
{
    uint32_t x[DFP_LIMBS], y[DFP_LIMBS];
    dfp_row_first(x, y, a.l, b.l[0]);
    dfp_row_add(x, y, c.l, d.l[0]);
    dfp_row_reduce(x, y);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS - 1; i += 2) {
        dfp_row_shift(y, x, a.l, b.l[i]);
        dfp_row_add(y, x, c.l, d.l[i]);
        dfp_row_reduce(y, x);
        dfp_row_shift(x, y, a.l, b.l[i + 1]);
        dfp_row_add(x, y, c.l, d.l[i + 1]);
        dfp_row_reduce(x, y);
    }
    dfp_row_shift(y, x, a.l, b.l[DFP_LIMBS - 1]);
    dfp_row_add(y, x, c.l, d.l[DFP_LIMBS - 1]);
    dfp_row_reduce(y, x);
    return dfp_merge(y, x);
}

/* t = a^2 as an integer of 24 limbs: the products of different limbs once, doubled, and the
 * squares. Limb 2k of even and limb 2k - 1 of odd have the weight 2^(64 k). */
CUZK_HD void dfp_square_wide(uint32_t *t, const uint32_t *a)
{
    uint32_t even[2 * DFP_LIMBS], odd[2 * DFP_LIMBS];
    CUZK_UNROLL
    for (int i = 0; i < 2 * DFP_LIMBS; i++) {
        even[i] = odd[i] = 0;
    }
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS - 1; i++) {
        uint32_t c = 0;
        limb_mad(&odd[2 * i], &odd[2 * i + 1], a[i], a[i + 1], odd[2 * i], odd[2 * i + 1], &c);
        CUZK_UNROLL
        for (int j = i + 3; j < DFP_LIMBS; j += 2) {
            int k = i + j - 1;
            limb_madc(&odd[k], &odd[k + 1], a[i], a[j], odd[k], odd[k + 1], &c);
        }
        if (i % 2 == 1) { /* else the last pair was empty */
            odd[i + DFP_LIMBS - 1] = limb_addc(odd[i + DFP_LIMBS - 1], 0, &c);
        }
        if (i + 2 < DFP_LIMBS) {
            int k = 2 * i + 2;
            limb_mad(&even[k], &even[k + 1], a[i], a[i + 2], even[k], even[k + 1], &c);
        }
        CUZK_UNROLL
        for (int j = i + 4; j < DFP_LIMBS; j += 2) {
            int k = i + j;
            limb_madc(&even[k], &even[k + 1], a[i], a[j], even[k], even[k + 1], &c);
        }
        if (i % 2 == 0 && i + 2 < DFP_LIMBS) {
            even[i + DFP_LIMBS] = limb_addc(even[i + DFP_LIMBS], 0, &c);
        }
    }
    uint32_t c = 0;
    t[0] = 0;
    t[1] = limb_add(even[1], odd[0], &c);
    CUZK_UNROLL
    for (int i = 2; i < 2 * DFP_LIMBS; i++) {
        t[i] = limb_addc(even[i], odd[i - 1], &c);
    }
    CUZK_UNROLL
    for (int i = 2 * DFP_LIMBS - 1; i > 0; i--) {
        t[i] = t[i] << 1 | t[i - 1] >> 31;
    }
    limb_mad(&t[0], &t[1], a[0], a[0], t[0], t[1], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS; i++) {
        limb_madc(&t[2 * i], &t[2 * i + 1], a[i], a[i], t[2 * i], t[2 * i + 1], &c);
    }
}

/* One step of the reduction alone: divides by 2^32 as dfp_row_shift and clears the next limb. */
CUZK_HD void dfp_row_shift_reduce(uint32_t *even, uint32_t *odd)
{
    uint32_t c = 0;
    even[0] = limb_add(even[0], odd[1], &c);
    uint32_t m = even[0] * (uint32_t)(FP_INV & 0xffffffffu);
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS - 2; i += 2) {
        limb_madc(&odd[i], &odd[i + 1], dfp_p(i + 1), m, odd[i + 2], odd[i + 3], &c);
    }
    limb_madc(&odd[DFP_LIMBS - 2], &odd[DFP_LIMBS - 1], dfp_p(DFP_LIMBS - 1), m, 0, 0, &c);
    limb_mad(&even[0], &even[1], dfp_p(0), m, even[0], even[1], &c);
    CUZK_UNROLL
    for (int i = 2; i < DFP_LIMBS; i += 2) {
        limb_madc(&even[i], &even[i + 1], dfp_p(i), m, even[i], even[i + 1], &c);
    }
    odd[DFP_LIMBS - 1] = limb_addc(odd[DFP_LIMBS - 1], 0, &c);
}

/** (t[0..11] + t[12..23] R) / R mod p: below t[12..23] + p. */
CUZK_HD dfp dfp_reduce_wide(const uint32_t *t)
{
    uint32_t x[DFP_LIMBS], y[DFP_LIMBS];
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        x[i] = t[i];
        y[i] = 0;
    }
    dfp_row_reduce(x, y);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS - 1; i += 2) {
        dfp_row_shift_reduce(y, x);
        dfp_row_shift_reduce(x, y);
    }
    dfp_row_shift_reduce(y, x);
    dfp r = dfp_merge(y, x);
    uint32_t c = 0;
    r.l[0] = limb_add(r.l[0], t[DFP_LIMBS], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS; i++) {
        r.l[i] = limb_addc(r.l[i], t[DFP_LIMBS + i], &c);
    }
    return r;
}

/** a^2. */
CUZK_HD dfp dfp_sqr(dfp a)
{
    uint32_t t[2 * DFP_LIMBS];
    dfp_square_wide(t, a.l);
    return dfp_reduce_wide(t);
}

/* a - m when that is not negative, else a. */
CUZK_HD dfp dfp_sub_if_ge(dfp a, dfp m)
{
    dfp t;
    uint32_t c = 0;
    t.l[0] = limb_sub(a.l[0], m.l[0], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS; i++) {
        t.l[i] = limb_subc(a.l[i], m.l[i], &c);
    }
    return dfp_select(limb_subc(0, 0, &c), a, t);
}

CUZK_HD dfp dfp_const_p(void)
{
    dfp r;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        r.l[i] = dfp_p(i);
    }
    return r;
}

CUZK_HD dfp dfp_const_2p(void)
{
    dfp r;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        r.l[i] = dfp_2p(i);
    }
    return r;
}

/** a + b. */
CUZK_HD dfp dfp_add(dfp a, dfp b)
{
    uint32_t c = 0; /* 4p < 2^383: no carry out */
    a.l[0] = limb_add(a.l[0], b.l[0], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS; i++) {
        a.l[i] = limb_addc(a.l[i], b.l[i], &c);
    }
    return dfp_sub_if_ge(a, dfp_const_2p());
}

CUZK_HD dfp dfp_dbl(dfp a) { return dfp_add(a, a); }

/** a - b. */
CUZK_HD dfp dfp_sub(dfp a, dfp b)
{
    uint32_t c = 0;
    a.l[0] = limb_sub(a.l[0], b.l[0], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFP_LIMBS; i++) {
        a.l[i] = limb_subc(a.l[i], b.l[i], &c);
    }
    uint32_t borrow = limb_subc(0, 0, &c);
    dfp m = dfp_const_2p();
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i += 4) {
        limb_add4_if(borrow, a.l + i, m.l + i, i == 0, &c);
    }
    return a;
}

/** -a, as 2p - a for a > 0. */
CUZK_HD dfp dfp_neg(dfp a) { return dfp_sub(dfp_zero(), a); }

/** The representative in [0, p): the bits of the host's fp. */
CUZK_HD dfp dfp_reduce(dfp a) { return dfp_sub_if_ge(a, dfp_const_p()); }

/** True when a, in [0, 2p), is 0 mod p. */
CUZK_HD bool dfp_is_zero(dfp a)
{
    uint32_t any = 0, not_p = 0;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        any |= a.l[i];
        not_p |= a.l[i] ^ dfp_p(i);
    }
    return any == 0 || not_p == 0;
}

/** True when a = b mod p. */
CUZK_HD bool dfp_eq(dfp a, dfp b) { return dfp_is_zero(dfp_sub(a, b)); }

#endif
