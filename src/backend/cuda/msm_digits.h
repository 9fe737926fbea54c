#ifndef CUZK_BACKEND_CUDA_MSM_DIGITS_H
#define CUZK_BACKEND_CUDA_MSM_DIGITS_H

#include "backend/cuda/hd.h"
#include "math/field/constants.h"

/*
 * Scalars as sums of windows. Both groups have a cheap map that multiplies points of order r by m:
 * m = x^2 on G1, m = |x| on G2, x the curve's parameter. A scalar in base m therefore has parts of
 * 128 or 64 bits, and the parts of all scalars share the windows: two sets of buckets (four on G2)
 * for each of half (a quarter) as many windows, one application of the map for each bucket.
 * Scalars are first replaced by their negatives above r / 2 and parts by those nearest 0.
 */

__extension__ typedef unsigned __int128 msm_u128;

enum { MSM_MAX_PARTS = 4, MSM_PART_BITS_2 = 127, MSM_PART_BITS_4 = 63 };

/** (-1)^negative value, value < 2^127 in halves of a scalar, < 2^63 in quarters. */
typedef struct msm_part {
    msm_u128 value;
    uint32_t negative; /* 0 or 1 */
} msm_part;

/* k, or r - k when that is less; returns 1 in that case. */
CUZK_HD uint32_t msm_least_of_negatives(uint64_t k[4])
{
    const uint64_t r[] = FR_MODULUS;
    uint64_t n[4];
    uint64_t borrow = 0;
    CUZK_UNROLL
    for (int i = 0; i < 4; i++) {
        msm_u128 t = (msm_u128)r[i] - k[i] - borrow;
        n[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    bool less = false, decided = false;
    CUZK_UNROLL
    for (int i = 3; i >= 0; i--) {
        if (!decided && n[i] != k[i]) {
            less = n[i] < k[i];
            decided = true;
        }
    }
    CUZK_UNROLL
    for (int i = 0; i < 4; i++) {
        k[i] = less ? n[i] : k[i];
    }
    return less;
}

/* hi 2^128 + lo = a b. */
CUZK_HD void msm_mul_128(msm_u128 *hi, msm_u128 *lo, msm_u128 a, msm_u128 b)
{
    uint64_t a0 = (uint64_t)a, a1 = (uint64_t)(a >> 64), b0 = (uint64_t)b, b1 = (uint64_t)(b >> 64);
    msm_u128 p00 = (msm_u128)a0 * b0, p01 = (msm_u128)a0 * b1, p10 = (msm_u128)a1 * b0;
    msm_u128 mid = (p00 >> 64) + (uint64_t)p01 + (uint64_t)p10;
    *lo = mid << 64 | (uint64_t)p00;
    *hi = (msm_u128)a1 * b1 + (p01 >> 64) + (p10 >> 64) + (mid >> 64);
}

/* k = q x^2 + rest, k < 2^254. */
CUZK_HD void msm_divide_x2(msm_u128 *q, msm_u128 *rest, const uint64_t k[4])
{
    const msm_u128 m = (msm_u128)BLS12_381_X_ABS * BLS12_381_X_ABS;
    /* floor(2^255 / x^2); with k cut to its top bits the quotient is at most 3 too small */
    const msm_u128 inverse = (msm_u128)0xbe35f678f00fd56eu << 64 | 0xb1fb72917b67f717u;
    msm_u128 top = (msm_u128)(k[3] << 2 | k[2] >> 62) << 64 | (k[2] << 2 | k[1] >> 62);
    msm_u128 hi, lo;
    msm_mul_128(&hi, &lo, top, inverse);
    *q = hi >> 1;
    msm_mul_128(&hi, &lo, *q, m);
    msm_u128 k_lo = (msm_u128)k[1] << 64 | k[0], k_hi = (msm_u128)k[3] << 64 | k[2];
    hi = k_hi - hi - (k_lo < lo);
    lo = k_lo - lo;
    while (hi || lo >= m) {
        hi -= lo < m;
        lo -= m;
        *q += 1;
    }
    *rest = lo;
}

/* a = q |x| + rest, a < x^2 + 2. */
CUZK_HD void msm_divide_x(msm_u128 *q, msm_u128 *rest, msm_u128 a)
{
    const uint64_t m = BLS12_381_X_ABS;
    const uint64_t inverse = 0x381204ca56cd56b5u; /* floor(2^128 / |x|) - 2^64 */
    uint64_t top = (uint64_t)(a >> 64);
    msm_u128 guess = (msm_u128)top + (uint64_t)((msm_u128)top * inverse >> 64);
    a -= guess * m;
    while (a >= m) {
        a -= m;
        guess += 1;
    }
    *q = guess;
    *rest = a;
}

/* Moves a part above m / 2 to m less it, negative, and one into the next part. */
CUZK_HD void msm_centre(msm_part *part, msm_part *next, msm_u128 m)
{
    if (part->value > m / 2) {
        part->value = m - part->value;
        part->negative ^= 1;
        next->value += 1;
    }
}

/** k = parts[0] + parts[1] x^2 mod r, for a canonical k. */
CUZK_HD void msm_split_2(msm_part parts[2], const uint64_t k[4])
{
    uint64_t least[4] = {k[0], k[1], k[2], k[3]};
    uint32_t negative = msm_least_of_negatives(least);
    msm_divide_x2(&parts[1].value, &parts[0].value, least);
    parts[0].negative = parts[1].negative = negative;
    msm_centre(&parts[0], &parts[1], (msm_u128)BLS12_381_X_ABS * BLS12_381_X_ABS);
}

/** k = sum of parts[i] |x|^i mod r, for a canonical k. */
CUZK_HD void msm_split_4(msm_part parts[4], const uint64_t k[4])
{
    uint64_t least[4] = {k[0], k[1], k[2], k[3]};
    uint32_t negative = msm_least_of_negatives(least);
    msm_u128 high, low;
    msm_divide_x2(&high, &low, least);
    msm_divide_x(&parts[1].value, &parts[0].value, low);
    msm_divide_x(&parts[3].value, &parts[2].value, high);
    CUZK_UNROLL
    for (int i = 0; i < 4; i++) {
        parts[i].negative = negative;
    }
    CUZK_UNROLL
    for (int i = 0; i < 3; i++) {
        msm_centre(&parts[i], &parts[i + 1], BLS12_381_X_ABS);
    }
}

/**
 * The digit of a part's window of `width` < 32 bits from bit `lo` on: its absolute value, at most
 * 2^(width - 1), and its sign. Booth's recoding: the digit counts the bit below and borrows by its
 * top bit, so no carry runs from window to window; the top window must reach a bit that is 0.
 */
CUZK_HD uint32_t msm_part_digit(const msm_part *p, unsigned lo, unsigned width, uint32_t *negative)
{
    msm_u128 shifted = lo ? p->value >> (lo - 1) : p->value << 1;
    uint32_t v = (uint32_t)((uint64_t)shifted & (((uint64_t)2 << width) - 1));
    uint32_t d = (v >> 1) + (v & 1);
    uint32_t borrow = v >> width & 1;
    *negative = p->negative ^ borrow;
    return borrow ? ((uint32_t)1 << width) - d : d;
}

#endif
