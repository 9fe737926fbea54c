#ifndef CUZK_MATH_MSM_SCALARS_H
#define CUZK_MATH_MSM_SCALARS_H

#include "base/threads.h"
#include "math/field/fr.h"

/*
 * Inside of msm only: what is done with scalars before any point is touched. An entry is
 * 2 index + 1 when the scalar's negative r - k is meant, else 2 index.
 */

/** Most scalars that are classified at a time; entries fit 32 bits. */
#define MSM_PART ((size_t)1 << 22)

/** Entries by class. A scalar of zero is in none. */
typedef struct msm_classes {
    uint32_t *ones;  /* +-1 */
    uint32_t *small; /* +-v, v below 2^64 */
    uint32_t *full;
    size_t nones, nsmall, nfull;
    unsigned small_bits; /* length of the longest small value */
} msm_classes;

/** Fills *c, whose arrays hold n entries each; n <= MSM_PART. */
void msm_classify(msm_classes *c, const fr_repr *k, size_t n, cuzk_pool *pool);

/** How scalars of `bits` bits are cut: `count` windows over bits + 1 bits, the highest always 0. */
typedef struct msm_windows {
    unsigned bits, count;
} msm_windows;

/** The cut that needs the fewest additions for n points, no window wider than max_width. */
msm_windows msm_windows_for(size_t n, unsigned bits, unsigned max_width);

/** Window w covers the bits [*ret_lo, *ret_hi). Its digits lie in [-2^(c-1), 2^(c-1)], c the
 *  width. */
static inline void msm_window(msm_windows s, unsigned w, unsigned *ret_lo, unsigned *ret_hi)
{
    size_t lo, hi;
    cuzk_split(s.bits + 1, s.count, w, &lo, &hi);
    *ret_lo = (unsigned)lo;
    *ret_hi = (unsigned)hi;
}

/** The digit's absolute value, from the window's bits and the bit below them, v < 2^(c+1) (Booth's
 *  recoding: no carry from one window into the next); *ret_negative is 0 or 1. */
static inline uint32_t msm_digit(uint64_t v, unsigned width, uint32_t *ret_negative)
{
    uint32_t d = (uint32_t)((v >> 1) + (v & 1));
    uint32_t negative = (uint32_t)(v >> width) & 1;
    *ret_negative = negative;
    /* 2^width - d if negative; nobody can predict a branch on that */
    return ((d ^ (0 - negative)) + negative) + (negative << width);
}

/** Bits [lo - 1, hi) of a full scalar, bit -1 being 0; hi - lo < 48. */
static inline uint64_t msm_full_bits(const fr_repr *k, unsigned lo, unsigned hi)
{
    uint64_t mask = ((uint64_t)2 << (hi - lo)) - 1;
    if (lo == 0) {
        return k->l[0] << 1 & mask;
    }
    unsigned limb = (lo - 1) / 64;
    unsigned shift = (lo - 1) % 64;
    uint64_t v = k->l[limb] >> shift;
    if (shift && limb + 1 < FR_LIMBS) {
        v |= k->l[limb + 1] << (64 - shift);
    }
    return v & mask;
}

/** The same of the value, below 2^64, that an entry of class small stands for. */
static inline uint64_t msm_small_bits(const fr_repr *k, uint32_t entry, unsigned lo, unsigned hi)
{
    uint64_t mask = ((uint64_t)2 << (hi - lo)) - 1;
    uint64_t v = entry & 1 ? fr_modulus.l[0] - k->l[0] : k->l[0];
    return (lo == 0 ? v << 1 : v >> (lo - 1)) & mask;
}

#endif
