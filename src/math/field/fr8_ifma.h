#ifndef CUZK_MATH_FIELD_FR8_IFMA_H
#define CUZK_MATH_FIELD_FR8_IFMA_H

#include "math/field/fr.h"

#include <immintrin.h>

/*
 * Eight elements of Fr at once with AVX-512 IFMA; only for files named *_ifma.c, entered after a
 * look at math_isa_level. A vector holds integers of five limbs of 52 bits, one element a lane, in
 * some range below 2^260 > 35 r that each function states as a multiple of the modulus r.
 * *Normalised* limbs are in [0, 2^52); others are any signed 64-bit values with the right sum.
 *
 * Data stay in the Montgomery form of fr (times 2^256). A multiplication divides by 2^260, so one
 * factor comes in times 2^260: fr8_load_factor, or fr8_shoup with its precomputed quotient.
 */

typedef struct fr8 {
    __m512i l[5];
} fr8;

/** A constant factor w and floor(w 2^260 / r), both in limbs of 52 bits (Shoup's trick). */
typedef struct fr52_shoup {
    uint64_t w[5], q[5];
} fr52_shoup;

#define FR8_INLINE static inline __attribute__((always_inline))

/* The loops over limbs must unroll for the limbs to stay in registers. */
#define FR8_UNROLL _Pragma("GCC unroll 16")

enum { FR8_BITS = 52 };

static const uint64_t fr8_limb_mask = UINT64_MAX >> (64 - FR8_BITS);

/** Limb i of a 2^up, up < 12, in radix 2^52. */
FR8_INLINE uint64_t fr52_limb(const uint64_t *a, int i, int up)
{
    int bit = FR8_BITS * i - up;
    if (bit < 0) {
        return a[0] << -bit & fr8_limb_mask;
    }
    int at = bit / 64, shift = bit % 64;
    uint64_t w = at < FR_LIMBS ? a[at] >> shift : 0;
    if (shift && at + 1 < FR_LIMBS) {
        w |= a[at + 1] << (64 - shift);
    }
    return w & fr8_limb_mask;
}

FR8_INLINE __m512i fr8_set1(uint64_t v) { return _mm512_set1_epi64((long long)v); }

FR8_INLINE __m512i fr8_low(__m512i acc, __m512i a, __m512i b)
{
    return _mm512_madd52lo_epu64(acc, a, b);
}

FR8_INLINE __m512i fr8_high(__m512i acc, __m512i a, __m512i b)
{
    return _mm512_madd52hi_epu64(acc, a, b);
}

/** k r, k < 16. */
FR8_INLINE fr8 fr8_modulus_times(uint64_t k)
{
    fr8 r;
    uint64_t carry = 0;
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        uint64_t s = fr52_limb(fr_modulus.l, i, 0) * k + carry;
        carry = s >> FR8_BITS;
        r.l[i] = fr8_set1(s & fr8_limb_mask);
    }
    return r;
}

/** 2^260 - r. */
FR8_INLINE fr8 fr8_minus_modulus(void)
{
    fr8 r;
    uint64_t carry = 1;
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        uint64_t s = (~fr52_limb(fr_modulus.l, i, 0) & fr8_limb_mask) + carry;
        carry = s >> FR8_BITS;
        r.l[i] = fr8_set1(s & fr8_limb_mask);
    }
    return r;
}

/* The 64-bit limbs of the elements at p, p + stride, ... Lanes hold the elements in the order 0, 2,
 * 1, 3, 4, 6, 5, 7, which costs the fewest shuffles and which fr8_store undoes. */
FR8_INLINE void fr8_transpose_in(__m512i a[4], const fr *p, size_t stride)
{
    __m512i z[4];
    FR8_UNROLL
    for (int i = 0; i < 4; i++) {
        const fr *even = p + (size_t)(2 * i) * stride, *odd = even + stride;
        if (stride == 1) {
            z[i] = _mm512_loadu_si512(even);
        } else {
            z[i] = _mm512_inserti64x4(
                _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)even)),
                _mm256_loadu_si256((const __m256i *)odd), 1);
        }
    }
    __m512i even01 = _mm512_unpacklo_epi64(z[0], z[1]), odd01 = _mm512_unpackhi_epi64(z[0], z[1]);
    __m512i even23 = _mm512_unpacklo_epi64(z[2], z[3]), odd23 = _mm512_unpackhi_epi64(z[2], z[3]);
    a[0] = _mm512_shuffle_i64x2(even01, even23, 0x88);
    a[1] = _mm512_shuffle_i64x2(odd01, odd23, 0x88);
    a[2] = _mm512_shuffle_i64x2(even01, even23, 0xdd);
    a[3] = _mm512_shuffle_i64x2(odd01, odd23, 0xdd);
}

FR8_INLINE fr8 fr8_split(const __m512i a[4], int up)
{
    __m512i mask = fr8_set1(fr8_limb_mask);
    fr8 r;
    r.l[0] = _mm512_and_si512(_mm512_slli_epi64(a[0], (unsigned)up), mask);
    FR8_UNROLL
    for (int i = 1; i < 4; i++) {
        unsigned shift = (unsigned)(FR8_BITS * i - 64 * (i - 1) - up); /* 52, 40, 28 less up */
        __m512i w = _mm512_or_si512(_mm512_srli_epi64(a[i - 1], shift),
                                    _mm512_slli_epi64(a[i], 64 - shift));
        r.l[i] = _mm512_and_si512(w, mask);
    }
    r.l[4] = _mm512_srli_epi64(a[3], (unsigned)(16 - up));
    return r;
}

/** Eight integers of [0, 2^256), stride elements apart; normalised. */
FR8_INLINE fr8 fr8_load(const fr *p, size_t stride)
{
    __m512i a[4];
    fr8_transpose_in(a, p, stride);
    return fr8_split(a, 0);
}

/** The same times 16: with data in [0, r) a factor for fr8_mul, in [0, 16 r). */
FR8_INLINE fr8 fr8_load_factor(const fr *p, size_t stride)
{
    __m512i a[4];
    fr8_transpose_in(a, p, stride);
    return fr8_split(a, 4);
}

/** One element of [0, r) times 16 in all lanes: a factor for fr8_mul. */
FR8_INLINE fr8 fr8_set1_factor(const fr *p)
{
    fr8 r;
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        r.l[i] = fr8_set1(fr52_limb(p->l, i, 4));
    }
    return r;
}

/** Stores values of [0, 2^256), normalised. */
FR8_INLINE void fr8_store(fr *p, size_t stride, const fr8 *v)
{
    __m512i a[4], z[4];
    FR8_UNROLL
    for (int i = 0; i < 4; i++) {
        unsigned shift = (unsigned)(12 * i);
        a[i] = _mm512_or_si512(_mm512_srli_epi64(v->l[i], shift),
                               _mm512_slli_epi64(v->l[i + 1], (unsigned)FR8_BITS - shift));
    }
    /* The inverse of fr8_transpose_in: pairs of limbs, then 128-bit halves to their elements. */
    __m512i low_a = _mm512_unpacklo_epi64(a[0], a[1]), low_b = _mm512_unpackhi_epi64(a[0], a[1]);
    __m512i high_a = _mm512_unpacklo_epi64(a[2], a[3]), high_b = _mm512_unpackhi_epi64(a[2], a[3]);
    /* low_a: limbs 0, 1 of elements 0, 1, 4, 5; low_b: of 2, 3, 6, 7. */
    const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    z[0] = _mm512_permutex2var_epi64(low_a, lower, high_a);
    z[1] = _mm512_permutex2var_epi64(low_b, lower, high_b);
    z[2] = _mm512_permutex2var_epi64(low_a, upper, high_a);
    z[3] = _mm512_permutex2var_epi64(low_b, upper, high_b);
    FR8_UNROLL
    for (int i = 0; i < 4; i++) {
        fr *even = p + (size_t)(2 * i) * stride, *odd = even + stride;
        if (stride == 1) {
            _mm512_storeu_si512(even, z[i]);
        } else {
            _mm256_storeu_si256((__m256i *)even, _mm512_castsi512_si256(z[i]));
            _mm256_storeu_si256((__m256i *)odd, _mm512_extracti64x4_epi64(z[i], 1));
        }
    }
}

/** a + b, limb by limb. */
FR8_INLINE fr8 fr8_add(const fr8 *a, const fr8 *b)
{
    fr8 r;
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        r.l[i] = _mm512_add_epi64(a->l[i], b->l[i]);
    }
    return r;
}

/** a - b, limb by limb; add a multiple of the modulus to keep it positive. */
FR8_INLINE fr8 fr8_sub(const fr8 *a, const fr8 *b)
{
    fr8 r;
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        r.l[i] = _mm512_sub_epi64(a->l[i], b->l[i]);
    }
    return r;
}

/** Normalises a value of [0, 2^260). */
FR8_INLINE fr8 fr8_normalise(const fr8 *a)
{
    __m512i mask = fr8_set1(fr8_limb_mask);
    fr8 r;
    __m512i t = a->l[0];
    FR8_UNROLL
    for (int i = 0; i < 4; i++) {
        r.l[i] = _mm512_and_si512(t, mask);
        t = _mm512_add_epi64(a->l[i + 1], _mm512_srai_epi64(t, FR8_BITS));
    }
    r.l[4] = t;
    return r;
}

/** Normalises a value that is in [0, 2^260) modulo 2^260. */
FR8_INLINE fr8 fr8_normalise_sum(const fr8 *a)
{
    fr8 r = fr8_normalise(a);
    r.l[4] = _mm512_and_si512(r.l[4], fr8_set1(fr8_limb_mask));
    return r;
}

/** a in [0, 2 r), normalised, to [0, r), normalised. */
FR8_INLINE fr8 fr8_reduce_once(const fr8 *a)
{
    fr8 modulus = fr8_modulus_times(1);
    fr8 d = fr8_sub(a, &modulus);
    d = fr8_normalise(&d);
    __mmask8 negative = _mm512_movepi64_mask(d.l[4]);
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        d.l[i] = _mm512_mask_mov_epi64(d.l[i], negative, a->l[i]);
    }
    return d;
}

/** a in [0, 2^260), normalised, to [0, r), normalised. */
FR8_INLINE fr8 fr8_reduce(const fr8 *a)
{
    /* floor(2^276 / r) = 2315529: the top limb gives the quotient or one less. */
    __m512i k = fr8_high(_mm512_setzero_si512(), a->l[4], fr8_set1(2315529));
    k = _mm512_srli_epi64(k, 16);
    fr8 minus = fr8_minus_modulus(), r = *a;
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        r.l[i] = fr8_low(r.l[i], k, minus.l[i]);
        if (i < 4) {
            r.l[i + 1] = fr8_high(r.l[i + 1], k, minus.l[i]);
        }
    }
    r = fr8_normalise_sum(&r);
    return fr8_reduce_once(&r);
}

/** a b / 2^260 mod r, a and b normalised: in [0, a b / 2^260 + r), normalised. */
FR8_INLINE fr8 fr8_mul(const fr8 *a, const fr8 *b)
{
    const fr8 modulus = fr8_modulus_times(1);
    const __m512i inv = fr8_set1(FR_INV & fr8_limb_mask);
    const __m512i zero = _mm512_setzero_si512();
    __m512i c[10];
    FR8_UNROLL
    for (int i = 0; i < 10; i++) {
        c[i] = zero;
    }
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        FR8_UNROLL
        for (int j = 0; j < 5; j++) {
            c[i + j] = fr8_low(c[i + j], a->l[j], b->l[i]);
            c[i + j + 1] = fr8_high(c[i + j + 1], a->l[j], b->l[i]);
        }
    }
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        __m512i q = fr8_low(zero, c[i], inv);
        FR8_UNROLL
        for (int j = 0; j < 5; j++) {
            c[i + j] = fr8_low(c[i + j], q, modulus.l[j]);
            c[i + j + 1] = fr8_high(c[i + j + 1], q, modulus.l[j]);
        }
        c[i + 1] = _mm512_add_epi64(c[i + 1], _mm512_srli_epi64(c[i], FR8_BITS));
    }
    fr8 r = {{c[5], c[6], c[7], c[8], c[9]}};
    return fr8_normalise(&r);
}

/**
 * x w mod r, x in [0, 2^260 - r) and normalised: modulo 2^260, in (-1.001 r, 1.001 r), not
 * normalised; limbs in [0, 2^57). fr8_normalise_sum makes sense of sums of such products. The
 * quotient is floor(x q / 2^260) + 1 from the columns of x q at 2^208 and up; what the columns
 * below would add is under 2^-48.
 */
FR8_INLINE fr8 fr8_mul_shoup(const fr8 *x, const fr52_shoup *f)
{
    const fr8 minus = fr8_minus_modulus();
    const __m512i zero = _mm512_setzero_si512();
    __m512i c[6]; /* c[i]: the column at 2^(52 (i + 4)) of x q, then the quotient */
    FR8_UNROLL
    for (int i = 0; i < 6; i++) {
        c[i] = i == 1 ? fr8_set1(1) : zero;
    }
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        __m512i q = fr8_set1(f->q[i]);
        FR8_UNROLL
        for (int j = 0; j < 5; j++) {
            if (i + j >= 4) {
                c[i + j - 4] = fr8_low(c[i + j - 4], x->l[j], q);
            }
            if (i + j >= 3) {
                c[i + j - 3] = fr8_high(c[i + j - 3], x->l[j], q);
            }
        }
    }
    fr8 t = {{zero, zero, zero, zero, zero}};
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        __m512i w = fr8_set1(f->w[i]);
        FR8_UNROLL
        for (int j = 0; i + j < 5; j++) {
            t.l[i + j] = fr8_low(t.l[i + j], x->l[j], w);
            if (i + j < 4) {
                t.l[i + j + 1] = fr8_high(t.l[i + j + 1], x->l[j], w);
            }
        }
    }
    FR8_UNROLL
    for (int i = 0; i < 5; i++) {
        c[i + 1] = _mm512_add_epi64(c[i + 1], _mm512_srli_epi64(c[i], FR8_BITS));
        FR8_UNROLL
        for (int j = 0; i + j < 5; j++) { /* IFMA takes the low 52 bits of c[i + 1] */
            t.l[i + j] = fr8_low(t.l[i + j], c[i + 1], minus.l[j]);
            if (i + j < 4) {
                t.l[i + j + 1] = fr8_high(t.l[i + j + 1], c[i + 1], minus.l[j]);
            }
        }
    }
    return t;
}

/** w 2^260 / r for a canonical w: the quotient that fr8_mul_shoup wants. */
static inline fr52_shoup fr52_shoup_of(const fr *factor)
{
    fr_repr w;
    fr_to_repr(&w, factor);
    /* z = w 2^260 mod r is 16 times the Montgomery form; then q = -z / r mod 2^260, digit by digit.
     */
    fr z = *factor;
    for (int i = 0; i < 4; i++) {
        fr_dbl(&z, &z);
    }
    fr52_shoup f;
    uint64_t rest[5];
    for (int i = 0; i < 5; i++) {
        f.w[i] = fr52_limb(w.l, i, 0);
        rest[i] = fr52_limb(z.l, i, 0);
    }
    for (int i = 0; i < 5; i++) {
        uint64_t q = rest[i] * FR_INV & fr8_limb_mask;
        f.q[i] = q;
        mont_u128 carry = 0;
        for (int j = 0; i + j < 5; j++) {
            carry += (mont_u128)q * fr52_limb(fr_modulus.l, j, 0) + rest[i + j];
            rest[i + j] = (uint64_t)carry & fr8_limb_mask;
            carry >>= FR8_BITS;
        }
    }
    return f;
}

#endif
