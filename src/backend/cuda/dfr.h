#ifndef CUZK_BACKEND_CUDA_DFR_H
#define CUZK_BACKEND_CUDA_DFR_H

#include "backend/cuda/hd.h"
#include "math/field/constants.h"

/*
 * Fr on the device: the same bits in memory as the host's fr (little-endian limbs, Montgomery form,
 * R = 2^256). Canonical means in [0, r), lazy in [0, 2r). R is only 2.2 r, so a general product has
 * one canonical operand; every function says what it takes and gives.
 *
 * With r = 1 mod 2^32 and r = 1 - 2^32 mod 2^64, the two low limbs of a multiple of r are made by
 * additions, and the factor that clears a limb is its negative.
 */

enum { DFR_LIMBS = 8 };

/** An element of Fr in Montgomery form, canonical or lazy. */
typedef struct dfr {
    uint32_t l[DFR_LIMBS];
} dfr;

/** A fixed factor w: the integer w in [0, r), not in Montgomery form, and floor(w 2^256 / r). */
typedef struct dfr_shoup {
    dfr w, q;
} dfr_shoup;

/** Limb i of r, of 2r. */
CUZK_HD uint32_t dfr_r(int i)
{
    const uint64_t r[] = FR_MODULUS;
    return limb_of(r, i);
}

CUZK_HD uint32_t dfr_2r(int i)
{
    const uint64_t r[] = FR_MODULUS;
    return limb_of_double(r, i);
}

CUZK_HD dfr dfr_zero(void)
{
    dfr r;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        r.l[i] = 0;
    }
    return r;
}

CUZK_HD dfr dfr_one(void)
{
    const uint64_t one[] = FR_R;
    dfr r;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        r.l[i] = limb_of(one, i);
    }
    return r;
}

/* R^2 mod r: a product with it takes an integer to Montgomery form. */
CUZK_HD dfr dfr_const_r2(void)
{
    const uint64_t r2[] = FR_R2;
    dfr r;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        r.l[i] = limb_of(r2, i);
    }
    return r;
}

CUZK_HD dfr dfr_const_r(void)
{
    dfr r;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        r.l[i] = dfr_r(i);
    }
    return r;
}

CUZK_HD dfr dfr_const_2r(void)
{
    dfr r;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        r.l[i] = dfr_2r(i);
    }
    return r;
}

/** a where mask is all ones, b where it is 0. */
CUZK_HD dfr dfr_select(uint32_t mask, dfr a, dfr b)
{
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        a.l[i] = mask ? a.l[i] : b.l[i];
    }
    return a;
}

/** Lazy to canonical: the bits of the host's fr. */
CUZK_HD dfr dfr_reduce(dfr a)
{
    dfr t;
    uint32_t c = 0;
    t.l[0] = limb_sub(a.l[0], dfr_r(0), &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS; i++) {
        t.l[i] = limb_subc(a.l[i], dfr_r(i), &c);
    }
    return dfr_select(limb_subc(0, 0, &c), a, t);
}

/** a + b, lazy, for lazy a and b; canonical operands may as well be added by dfr_add_canonical. */
CUZK_HD dfr dfr_add(dfr a, dfr b)
{
    dfr t;
    uint32_t c = 0;
    a.l[0] = limb_add(a.l[0], b.l[0], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS; i++) {
        a.l[i] = limb_addc(a.l[i], b.l[i], &c);
    }
    uint32_t top = limb_addc(0, 0, &c);
    t.l[0] = limb_sub(a.l[0], dfr_2r(0), &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS; i++) {
        t.l[i] = limb_subc(a.l[i], dfr_2r(i), &c);
    }
    /* a + b < 4r, so a top limb of 1 leaves less than 2r in the others: it is 0 after the borrow.
     */
    return dfr_select(limb_subc(top, 0, &c), a, t);
}

/** a + b, canonical, for canonical a and b. */
CUZK_HD dfr dfr_add_canonical(dfr a, dfr b)
{
    uint32_t c = 0; /* 2r < 2^256 */
    a.l[0] = limb_add(a.l[0], b.l[0], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS; i++) {
        a.l[i] = limb_addc(a.l[i], b.l[i], &c);
    }
    return dfr_reduce(a);
}

/** a - b, lazy, for lazy a and b. */
CUZK_HD dfr dfr_sub(dfr a, dfr b)
{
    uint32_t c = 0;
    a.l[0] = limb_sub(a.l[0], b.l[0], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS; i++) {
        a.l[i] = limb_subc(a.l[i], b.l[i], &c);
    }
    uint32_t borrow = limb_subc(0, 0, &c);
    dfr m = dfr_const_2r();
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i += 4) {
        limb_add4_if(borrow, a.l + i, m.l + i, i == 0, &c);
    }
    return a;
}

/** a - b, canonical, for canonical a and b. */
CUZK_HD dfr dfr_sub_canonical(dfr a, dfr b)
{
    uint32_t c = 0;
    a.l[0] = limb_sub(a.l[0], b.l[0], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS; i++) {
        a.l[i] = limb_subc(a.l[i], b.l[i], &c);
    }
    uint32_t borrow = limb_subc(0, 0, &c);
    dfr m = dfr_const_r();
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i += 4) {
        limb_add4_if(borrow, a.l + i, m.l + i, i == 0, &c);
    }
    return a;
}

/** True when a, lazy, is 0 mod r. */
CUZK_HD bool dfr_is_zero(dfr a)
{
    uint32_t any = 0, not_r = 0;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        any |= a.l[i];
        not_r |= a.l[i] ^ dfr_r(i);
    }
    return any == 0 || not_r == 0;
}

/** True when a = b mod r, both lazy. */
CUZK_HD bool dfr_eq(dfr a, dfr b) { return dfr_is_zero(dfr_sub(a, b)); }

/* Products: rows over an (even, odd) accumulator, as in dfp.h. */

/* Divides by 2^32 (even is the old odd, odd the old even) and adds a b. */
CUZK_HD void dfr_row_shift(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b)
{
    uint32_t c = 0;
    even[0] = limb_add(even[0], odd[1], &c);
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS - 2; i += 2) {
        limb_madc(&odd[i], &odd[i + 1], a[i + 1], b, odd[i + 2], odd[i + 3], &c);
    }
    limb_madc(&odd[DFR_LIMBS - 2], &odd[DFR_LIMBS - 1], a[DFR_LIMBS - 1], b, 0, 0, &c);
    limb_mad(&even[0], &even[1], a[0], b, even[0], even[1], &c);
    CUZK_UNROLL
    for (int i = 2; i < DFR_LIMBS; i += 2) {
        limb_madc(&even[i], &even[i + 1], a[i], b, even[i], even[i + 1], &c);
    }
    odd[DFR_LIMBS - 1] = limb_addc(odd[DFR_LIMBS - 1], 0, &c);
}

/* Adds the multiple m r that clears even[0]. m r_0 = m, m r_1 = m 2^32 - m. */
CUZK_HD void dfr_row_reduce(uint32_t *even, uint32_t *odd)
{
    uint32_t c = 0, t = even[0], m = limb_opaque_zero() - t;
    (void)limb_sub(0, m, &c);
    uint32_t high = limb_subc(m, 0, &c);
    odd[0] = limb_add(odd[0], t, &c);
    odd[1] = limb_addc(odd[1], high, &c);
    CUZK_UNROLL
    for (int i = 2; i < DFR_LIMBS; i += 2) {
        limb_madc(&odd[i], &odd[i + 1], dfr_r(i + 1), m, odd[i], odd[i + 1], &c);
    }
    even[0] = limb_add(even[0], m, &c);
    even[1] = limb_addc(even[1], 0, &c);
    CUZK_UNROLL
    for (int i = 2; i < DFR_LIMBS; i += 2) {
        limb_madc(&even[i], &even[i + 1], dfr_r(i), m, even[i], even[i + 1], &c);
    }
    odd[DFR_LIMBS - 1] = limb_addc(odd[DFR_LIMBS - 1], 0, &c);
}

CUZK_HD dfr dfr_merge(const uint32_t *even, const uint32_t *odd)
{
    dfr r;
    uint32_t c = 0;
    r.l[0] = limb_add(odd[0], even[1], &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS - 1; i++) {
        r.l[i] = limb_addc(odd[i], even[i + 1], &c);
    }
    r.l[DFR_LIMBS - 1] = limb_addc(odd[DFR_LIMBS - 1], 0, &c);
    return r;
}

/** a b, lazy, for canonical a and any b below 2^256 - 2^224 (lazy, for instance): the accumulator
 *  stays below a + r, the product below a b / R + r < 2r. */
CUZK_HD dfr dfr_mul(dfr a, dfr b)
{
    uint32_t x[DFR_LIMBS], y[DFR_LIMBS];
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i += 2) {
        limb_mul(&x[i], &x[i + 1], a.l[i], b.l[0]);
        limb_mul(&y[i], &y[i + 1], a.l[i + 1], b.l[0]);
    }
    dfr_row_reduce(x, y);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS - 1; i += 2) {
        dfr_row_shift(y, x, a.l, b.l[i]);
        dfr_row_reduce(y, x);
        dfr_row_shift(x, y, a.l, b.l[i + 1]);
        dfr_row_reduce(x, y);
    }
    dfr_row_shift(y, x, a.l, b.l[DFR_LIMBS - 1]);
    dfr_row_reduce(y, x);
    return dfr_merge(y, x);
}

/** a b, canonical, for canonical a and lazy b. */
CUZK_HD dfr dfr_mul_canonical(dfr a, dfr b) { return dfr_reduce(dfr_mul(a, b)); }

/** Montgomery form, lazy, to the integer in [0, r), and an integer below r to canonical Montgomery
 *  form. */
CUZK_HD dfr dfr_to_integer(dfr a)
{
    dfr one = dfr_zero();
    one.l[0] = 1;
    return dfr_reduce(dfr_mul(one, a));
}

CUZK_HD dfr dfr_from_integer(dfr a) { return dfr_reduce(dfr_mul(dfr_const_r2(), a)); }

/** The fixed factor a, in canonical Montgomery form. With w = a / R: w R - a = q r exactly, and q
 *  is the factor of r that Montgomery's reduction of a adds; slow, for tables. */
CUZK_HD dfr_shoup dfr_shoup_of(dfr a)
{
    dfr_shoup s;
    s.w = dfr_to_integer(a);
    dfr t = a;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) { /* t = (t + q_i r) / 2^32 */
        uint32_t q = 0u - t.l[0];
        s.q.l[i] = q;
        uint64_t carry = t.l[0] != 0; /* t_0 + q r_0 */
        CUZK_UNROLL
        for (int j = 1; j < DFR_LIMBS; j++) {
            carry += (uint64_t)q * dfr_r(j) + t.l[j];
            t.l[j - 1] = (uint32_t)carry;
            carry >>= 32;
        }
        t.l[DFR_LIMBS - 1] = (uint32_t)carry;
    }
    return s;
}

/* floor((a b - d) / 2^256) for some d < 2^228: the products of limbs i + j < 6 are left out. */
CUZK_HD dfr dfr_mul_high(dfr a, dfr b)
{
    /* Limb i of even has the weight 2^(32 (i + 6)), of odd 2^(32 (i + 7)). */
    uint32_t even[10], odd[9];
    CUZK_UNROLL
    for (int i = 0; i < 10; i++) {
        even[i] = 0;
        if (i < 9) {
            odd[i] = 0;
        }
    }
    CUZK_UNROLL
    for (int j = 0; j < DFR_LIMBS; j++) {
        uint32_t c = 0;
        int first = j < 6 ? 6 - j : j % 2; /* the least i with i + j even and at least 6 */
        int k = first + j - 6;
        limb_mad(&even[k], &even[k + 1], a.l[first], b.l[j], even[k], even[k + 1], &c);
        CUZK_UNROLL
        for (int i = first + 2; i < DFR_LIMBS; i += 2) {
            k = i + j - 6;
            limb_madc(&even[k], &even[k + 1], a.l[i], b.l[j], even[k], even[k + 1], &c);
        }
        if (j % 2 == 0) { /* else the last pair's high limb was empty */
            even[k + 2] = limb_addc(even[k + 2], 0, &c);
        }
        first = j < 7 ? 7 - j : 0; /* the same with i + j odd */
        k = first + j - 7;
        limb_mad(&odd[k], &odd[k + 1], a.l[first], b.l[j], odd[k], odd[k + 1], &c);
        CUZK_UNROLL
        for (int i = first + 2; i < DFR_LIMBS; i += 2) {
            k = i + j - 7;
            limb_madc(&odd[k], &odd[k + 1], a.l[i], b.l[j], odd[k], odd[k + 1], &c);
        }
        if (j % 2 == 1) {
            odd[k + 2] = limb_addc(odd[k + 2], 0, &c);
        }
    }
    dfr r;
    uint32_t c = 0;
    (void)limb_add(even[1], odd[0], &c);
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS - 1; i++) {
        r.l[i] = limb_addc(even[i + 2], odd[i + 1], &c);
    }
    r.l[DFR_LIMBS - 1] = limb_addc(even[9], odd[8], &c);
    return r;
}

/* Limb i of -(r - 1 + 2^32) / 2^64 mod 2^192. */
CUZK_HD uint32_t dfr_minus_high(int i) { return i ? ~dfr_r(i + 2) : 0u - (dfr_r(2) + 1); }

/* (even, odd) += a b 2^(32 s) mod 2^256; odd[i] has the weight 2^(32 (i + 1)). */
CUZK_HD void dfr_row_low(uint32_t *even, uint32_t *odd, const uint32_t *a, uint32_t b, int s)
{
    uint32_t c = 0;
    CUZK_UNROLL
    for (int i = s % 2; i + s < DFR_LIMBS; i += 2) {
        int k = i + s;
        if (i < 2) {
            limb_mad(&even[k], &even[k + 1], a[i], b, even[k], even[k + 1], &c);
        } else {
            limb_madc(&even[k], &even[k + 1], a[i], b, even[k], even[k + 1], &c);
        }
    }
    CUZK_UNROLL
    for (int i = 1 - s % 2; i + s < DFR_LIMBS - 1; i += 2) {
        int k = i + s - 1;
        if (i < 2) {
            limb_mad(&odd[k], &odd[k + 1], a[i], b, odd[k], odd[k + 1], &c);
        } else {
            limb_madc(&odd[k], &odd[k + 1], a[i], b, odd[k], odd[k + 1], &c);
        }
    }
    if (s < DFR_LIMBS - 2) {
        odd[DFR_LIMBS - 2] = limb_madc_low(a[DFR_LIMBS - 1 - s], b, odd[DFR_LIMBS - 2], &c);
    } else {
        odd[DFR_LIMBS - 2] += a[DFR_LIMBS - 1 - s] * b;
    }
}

/** a w, lazy, for a fixed factor and any a below 2^256 - 2^232 (lazy, for instance). The quotient
 *  is at most a/2^256 + 1 + 2^-28 below a w / r, so the result is below 1.91 r for lazy a. */
CUZK_HD dfr dfr_shoup_mul(dfr a, dfr w, dfr wq)
{
    dfr q = dfr_mul_high(a, wq);
    /* a w - q r mod 2^256, where -r is 2^32 - 1 + 2^64 (dfr_minus_high): starts at 2^32 q - q - 1.
     */
    uint32_t even[DFR_LIMBS], odd[DFR_LIMBS - 1];
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i++) {
        even[i] = ~q.l[i];
        if (i < DFR_LIMBS - 1) {
            odd[i] = q.l[i];
        }
    }
    CUZK_UNROLL
    for (int j = 0; j < DFR_LIMBS; j++) {
        dfr_row_low(even, odd, a.l, w.l[j], j);
    }
    CUZK_UNROLL
    for (int j = 0; j < DFR_LIMBS - 2; j++) {
        dfr_row_low(even, odd, q.l, dfr_minus_high(j), j + 2);
    }
    dfr r;
    uint32_t c = 0;
    r.l[0] = limb_add(even[0], 1, &c);
    CUZK_UNROLL
    for (int i = 1; i < DFR_LIMBS; i++) {
        r.l[i] = limb_addc(even[i], odd[i - 1], &c);
    }
    return r;
}

#endif
