#ifndef CUZK_MATH_FIELD_FP8_IFMA_H
#define CUZK_MATH_FIELD_FP8_IFMA_H

#include <immintrin.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * Fp eight elements at a time with AVX-512 IFMA; only for files named *_ifma.c. An fp8 is eight
 * vectors of 52-bit limbs, lane j being element j, in Montgomery form with radix 2^416. That leaves
 * 35 bits above p, so operands of a product need no reduction: the product of a, b < 8p is below
 * p + 2^-29 p.
 *
 * Limbs are "normal" when they are below 2^52. Multiplication takes normal limbs only (the
 * instruction ignores higher bits) and yields them; "raw" sums and differences are signed 64-bit
 * limbs that fp8_normalize carries through.
 */

typedef struct fp8 {
    __m512i l[8];
} fp8;

/* Column sums of products, column k weighing 2^(52 k), each below 2^63. */
typedef struct fp8_wide {
    __m512i c[16];
} fp8_wide;

#define FP8_INLINE static inline __attribute__((always_inline))
#define FP8_UNROLL _Pragma("GCC unroll 16")

/* p, -p^-1 mod 2^52, 2^-52 mod p and 2^416 mod p. */
#define FP8_P                                                                                      \
    {                                                                                              \
        0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f, 0x764774b84f385,       \
            0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x1a011                                              \
    }
#define FP8_P_INV 0x3fffcfffcfffd
#define FP8_FOLD                                                                                   \
    {                                                                                              \
        0x4be07d2027cb, 0xd7786e39002d4, 0xf51047083c4dd, 0x96079a7670223, 0x4ca513044b79,         \
            0x6615d3780ea11, 0xf9a5623d6a279, 0x6803                                               \
    }
#define FP8_ONE                                                                                    \
    {                                                                                              \
        0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422, 0xa6723e5f0ade5,       \
            0xff6eb6fdd4230, 0xe06ef23c24a25, 0x14c8e                                              \
    }

static const uint64_t fp8_p_limbs[8] = FP8_P;
static const uint64_t fp8_fold_limbs[8] = FP8_FOLD;
static const uint64_t fp8_one_limbs[8] = FP8_ONE;

FP8_INLINE __m512i fp8_all(uint64_t v) { return _mm512_set1_epi64((long long)v); }

FP8_INLINE __m512i fp8_low(__m512i v)
{
    return _mm512_and_si512(v, fp8_all(((uint64_t)1 << 52) - 1));
}

FP8_INLINE fp8 fp8_one(void)
{
    fp8 r;
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        r.l[i] = fp8_all(fp8_one_limbs[i]);
    }
    return r;
}

FP8_INLINE fp8 fp8_zero(void)
{
    fp8 r;
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        r.l[i] = _mm512_setzero_si512();
    }
    return r;
}

/* Lanes whose normal limbs are all zero, or all equal. */
FP8_INLINE __mmask8 fp8_is_zero(fp8 a)
{
    __m512i any = a.l[0];
    FP8_UNROLL
    for (int i = 1; i < 8; i++) {
        any = _mm512_or_si512(any, a.l[i]);
    }
    return _mm512_testn_epi64_mask(any, any);
}

FP8_INLINE __mmask8 fp8_eq(fp8 a, fp8 b)
{
    __m512i any = _mm512_setzero_si512();
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        any = _mm512_or_si512(any, _mm512_xor_si512(a.l[i], b.l[i]));
    }
    return _mm512_testn_epi64_mask(any, any);
}

/* Carries raw limbs of a value in [0, 2^416) into normal ones. */
FP8_INLINE fp8 fp8_normalize(fp8 a)
{
    FP8_UNROLL
    for (int i = 0; i < 7; i++) {
        a.l[i + 1] = _mm512_add_epi64(a.l[i + 1], _mm512_srai_epi64(a.l[i], 52));
        a.l[i] = fp8_low(a.l[i]);
    }
    return a;
}

FP8_INLINE fp8 fp8_raw_add(fp8 a, fp8 b)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        a.l[i] = _mm512_add_epi64(a.l[i], b.l[i]);
    }
    return a;
}

FP8_INLINE fp8 fp8_raw_sub(fp8 a, fp8 b)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        a.l[i] = _mm512_sub_epi64(a.l[i], b.l[i]);
    }
    return a;
}

/* a + n p */
FP8_INLINE fp8 fp8_raw_add_p(fp8 a, uint64_t n)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        a.l[i] = _mm512_add_epi64(a.l[i], fp8_all(n * fp8_p_limbs[i]));
    }
    return a;
}

/* a - b + n p, normal; b <= n p. */
FP8_INLINE fp8 fp8_sub(fp8 a, fp8 b, uint64_t n)
{
    return fp8_normalize(fp8_raw_add_p(fp8_raw_sub(a, b), n));
}

FP8_INLINE fp8 fp8_add(fp8 a, fp8 b) { return fp8_normalize(fp8_raw_add(a, b)); }

/* Lanes of a where the mask is set, of b elsewhere. */
FP8_INLINE fp8 fp8_select(__mmask8 mask, fp8 a, fp8 b)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        a.l[i] = _mm512_mask_mov_epi64(b.l[i], mask, a.l[i]);
    }
    return a;
}

/* Raw n p - a in the lanes of the mask, a elsewhere. */
FP8_INLINE fp8 fp8_raw_negate(__mmask8 mask, fp8 a, uint64_t n)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        a.l[i] = _mm512_mask_sub_epi64(a.l[i], mask, fp8_all(n * fp8_p_limbs[i]), a.l[i]);
    }
    return a;
}

/* a - n p where that is not negative, else a; normal. */
FP8_INLINE fp8 fp8_reduce_step(fp8 a, uint64_t n)
{
    fp8 d = a;
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        d.l[i] = _mm512_sub_epi64(d.l[i], fp8_all(n * fp8_p_limbs[i]));
    }
    d = fp8_normalize(d);
    return fp8_select(_mm512_movepi64_mask(d.l[7]), a, d);
}

/* Normal a < 4p to [0, p). */
FP8_INLINE fp8 fp8_reduce(fp8 a) { return fp8_reduce_step(fp8_reduce_step(a, 2), 1); }

/*
 * a + n p, raw with limbs in (-3 2^52, 2 2^52) and the whole in [p / 2, 7p), to a normal value
 * below p (1 + 2^-12) that is the same modulo p. The quotient is taken from the top limb as if it
 * were at most 3 smaller, what the limbs below can owe it, and divided by a little more than p's:
 * so it is never too large, and too small only when the rest is within some 2^368 of p.
 */
FP8_INLINE fp8 fp8_settle(fp8 a, uint64_t n)
{
    const uint64_t top = fp8_p_limbs[7];
    __m512i head = _mm512_add_epi64(a.l[7], fp8_all(n * top - 3));
    __m512i q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), head,
                                      fp8_all(((uint64_t)1 << 52) / (top + 1)));
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        uint64_t p = fp8_p_limbs[i];
        __m512i rest = _mm512_set_epi64((long long)(n * p - 7 * p), (long long)(n * p - 6 * p),
                                        (long long)(n * p - 5 * p), (long long)(n * p - 4 * p),
                                        (long long)(n * p - 3 * p), (long long)(n * p - 2 * p),
                                        (long long)(n * p - p), (long long)(n * p));
        a.l[i] = _mm512_add_epi64(a.l[i], _mm512_permutexvar_epi64(q, rest));
    }
    return fp8_normalize(a);
}

/* t[k] += m limb[k], and the high halves one column up; t has 9 columns. */
FP8_INLINE void fp8_add_multiple(__m512i *t, __m512i m, const uint64_t limb[8])
{
    FP8_UNROLL
    for (int j = 0; j < 8; j++) {
        t[j] = _mm512_madd52lo_epu64(t[j], m, fp8_all(limb[j]));
        t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], m, fp8_all(limb[j]));
    }
}

/*
 * Two ways to take the lowest column off t, dividing by 2^52 modulo p; t[0] is done with.
 *
 * Folding: t[0] 2^-52 is its carry and its low 52 bits times 2^-52 mod p. Nothing has to be
 * computed first, so the next column is ready 5 cycles later, but the multiple is as large as
 * 2^52 p: ten columns from t[0] on.
 *
 * Clearing is Montgomery's step: adds the multiple of p that makes t[0] divisible by 2^52, so that
 * the rest is smaller than p plus what it was; nine columns. Where the low bits are not zero, their
 * sum with those of the multiple is 2^52, a carry; it needs no product. Takes 13 cycles.
 *
 * Of a product's eight steps, FP8_FOLDS fold: the two last ones clear what the folding has left.
 */
#define FP8_FOLDS 6

FP8_INLINE void fp8_fold(__m512i *t)
{
    t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64(t[0], 52));
    fp8_add_multiple(t + 1, t[0], fp8_fold_limbs);
}

FP8_INLINE void fp8_clear(__m512i *t)
{
    __m512i m = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[0], fp8_all(FP8_P_INV));
    __m512i up = _mm512_add_epi64(t[0], fp8_all(((uint64_t)1 << 52) - 1));
    t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64(up, 52));
    t[1] = _mm512_madd52hi_epu64(t[1], m, fp8_all(fp8_p_limbs[0]));
    FP8_UNROLL
    for (int j = 1; j < 8; j++) {
        t[j] = _mm512_madd52lo_epu64(t[j], m, fp8_all(fp8_p_limbs[j]));
        t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], m, fp8_all(fp8_p_limbs[j]));
    }
}

/* Columns times 2^-416 mod p, a limb at a time. */
FP8_INLINE fp8 fp8_redc(fp8_wide w)
{
    fp8 r;
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        if (i < FP8_FOLDS) {
            fp8_fold(&w.c[i]);
        } else {
            fp8_clear(&w.c[i]);
        }
    }
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        r.l[i] = w.c[8 + i];
    }
    return fp8_normalize(r);
}

FP8_INLINE fp8_wide fp8_wide_zero(void)
{
    fp8_wide w;
    FP8_UNROLL
    for (int i = 0; i < 16; i++) {
        w.c[i] = _mm512_setzero_si512();
    }
    return w;
}

/* w + a b */
FP8_INLINE fp8_wide fp8_wide_mul(fp8_wide w, fp8 a, fp8 b)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        FP8_UNROLL
        for (int j = 0; j < 8; j++) {
            w.c[i + j] = _mm512_madd52lo_epu64(w.c[i + j], a.l[j], b.l[i]);
            w.c[i + j + 1] = _mm512_madd52hi_epu64(w.c[i + j + 1], a.l[j], b.l[i]);
        }
    }
    return w;
}

FP8_INLINE fp8_wide fp8_wide_add(fp8_wide a, fp8_wide b)
{
    FP8_UNROLL
    for (int i = 0; i < 16; i++) {
        a.c[i] = _mm512_add_epi64(a.c[i], b.c[i]);
    }
    return a;
}

/* a^2: each mixed product once, doubled, and the squares. */
FP8_INLINE fp8_wide fp8_wide_sqr(fp8 a)
{
    fp8_wide w = fp8_wide_zero();
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        FP8_UNROLL
        for (int j = i + 1; j < 8; j++) {
            w.c[i + j] = _mm512_madd52lo_epu64(w.c[i + j], a.l[j], a.l[i]);
            w.c[i + j + 1] = _mm512_madd52hi_epu64(w.c[i + j + 1], a.l[j], a.l[i]);
        }
    }
    FP8_UNROLL
    for (int i = 0; i < 16; i++) {
        w.c[i] = _mm512_add_epi64(w.c[i], w.c[i]);
    }
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        w.c[2 * i] = _mm512_madd52lo_epu64(w.c[2 * i], a.l[i], a.l[i]);
        w.c[2 * i + 1] = _mm512_madd52hi_epu64(w.c[2 * i + 1], a.l[i], a.l[i]);
    }
    return w;
}

FP8_INLINE fp8 fp8_sqr(fp8 a) { return fp8_redc(fp8_wide_sqr(a)); }

/* Step i of fp8_mul: adds a times limb i of b to t and takes the lowest limb off. */
FP8_INLINE void fp8_mul_step(__m512i t[10], int i, const fp8 *a, const fp8 *b)
{
    FP8_UNROLL
    for (int j = 0; j < 8; j++) {
        t[j] = _mm512_madd52lo_epu64(t[j], a->l[j], b->l[i]);
        t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], a->l[j], b->l[i]);
    }
    if (i < FP8_FOLDS) {
        fp8_fold(t);
    } else {
        fp8_clear(t);
    }
    FP8_UNROLL
    for (int j = 0; j < 9; j++) {
        t[j] = t[j + 1];
    }
    t[9] = _mm512_setzero_si512();
}

FP8_INLINE void fp8_mul_begin(__m512i t[10])
{
    FP8_UNROLL
    for (int i = 0; i < 10; i++) {
        t[i] = _mm512_setzero_si512();
    }
}

FP8_INLINE fp8 fp8_mul_end(const __m512i t[10])
{
    fp8 r;
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        r.l[i] = t[i];
    }
    return fp8_normalize(r);
}

/* a b 2^-416 mod p; product and reduction a limb of b at a time, so that everything stays in
 * registers. */
FP8_INLINE fp8 fp8_mul(fp8 a, fp8 b)
{
    __m512i t[10];
    fp8_mul_begin(t);
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        fp8_mul_step(t, i, &a, &b);
    }
    return fp8_mul_end(t);
}

/* a 2^16 for normal a < 2^400, as a factor: its limbs have bits above the 52 that a product takes.
 */
FP8_INLINE fp8 fp8_up_16(fp8 a)
{
    FP8_UNROLL
    for (int i = 7; i > 0; i--) {
        a.l[i] = _mm512_or_si512(_mm512_slli_epi64(a.l[i], 16), _mm512_srli_epi64(a.l[i - 1], 36));
    }
    a.l[0] = _mm512_slli_epi64(a.l[0], 16);
    return a;
}

/* a 2^-32 mod p for normal a < 2^384: from the radix 2^416 of a product of two values with radix
 * 2^384 to the latter. */
FP8_INLINE fp8 fp8_shift(fp8 a)
{
    __m512i t[9];
    t[0] = fp8_low(_mm512_slli_epi64(a.l[0], 20));
    FP8_UNROLL
    for (int i = 1; i < 8; i++) {
        t[i] = fp8_low(
            _mm512_or_si512(_mm512_slli_epi64(a.l[i], 20), _mm512_srli_epi64(a.l[i - 1], 32)));
    }
    t[8] = _mm512_setzero_si512();
    fp8_clear(t);
    fp8 r;
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        r.l[i] = t[i + 1];
    }
    return fp8_normalize(r);
}

/* Eight rows of eight words to a vector for each word, and back. */
FP8_INLINE void fp8_transpose(__m512i r[8])
{
    __m512i t[8], u[8];
    FP8_UNROLL
    for (int i = 0; i < 4; i++) {
        t[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    FP8_UNROLL
    for (int i = 0; i < 2; i++) {
        FP8_UNROLL
        for (int j = 0; j < 2; j++) {
            u[4 * i + j] = _mm512_shuffle_i64x2(t[4 * i + j], t[4 * i + j + 2], 0x88);
            u[4 * i + j + 2] = _mm512_shuffle_i64x2(t[4 * i + j], t[4 * i + j + 2], 0xdd);
        }
    }
    FP8_UNROLL
    for (int j = 0; j < 4; j++) {
        r[j] = _mm512_shuffle_i64x2(u[j], u[j + 4], 0x88);
        r[j + 4] = _mm512_shuffle_i64x2(u[j], u[j + 4], 0xdd);
    }
}

/* w[i] = word i, for i < 8, of the eight words from `offset` bytes after each of at[8] on. */
FP8_INLINE void fp8_gather_8_words(__m512i w[8], const void *const at[8], size_t offset)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        w[i] = _mm512_loadu_si512((const char *)at[i] + offset);
    }
    fp8_transpose(w);
}

/* The same for i < 4. */
FP8_INLINE void fp8_gather_4_words(__m512i w[4], const void *const at[8], size_t offset)
{
    __m512i r[4], t[4]; /* two rows each: 0 2, 1 3, 4 6, 5 7 */
    FP8_UNROLL
    for (int i = 0; i < 4; i++) {
        const char *row = (const char *)at[i / 2 * 4 + i % 2] + offset;
        const char *other = (const char *)at[i / 2 * 4 + i % 2 + 2] + offset;
        r[i] = _mm512_castsi256_si512(_mm256_loadu_si256((const void *)row));
        r[i] = _mm512_inserti64x4(r[i], _mm256_loadu_si256((const void *)other), 1);
    }
    FP8_UNROLL
    for (int i = 0; i < 2; i++) {
        t[2 * i] = _mm512_unpacklo_epi64(r[2 * i], r[2 * i + 1]);
        t[2 * i + 1] = _mm512_unpackhi_epi64(r[2 * i], r[2 * i + 1]);
    }
    FP8_UNROLL
    for (int i = 0; i < 2; i++) {
        w[i] = _mm512_shuffle_i64x2(t[i], t[i + 2], 0x88);
        w[i + 2] = _mm512_shuffle_i64x2(t[i], t[i + 2], 0xdd);
    }
}

/* The first n lanes of eight words back, `stride` bytes apart. */
FP8_INLINE void fp8_scatter_8_words(void *first, size_t stride, __m512i w[8], size_t n)
{
    fp8_transpose(w);
    FP8_UNROLL
    for (size_t i = 0; i < 8; i++) {
        if (i < n) {
            _mm512_storeu_si512((char *)first + i * stride, w[i]);
        }
    }
}

/* The same for four words. */
FP8_INLINE void fp8_scatter_4_words(void *first, size_t stride, const __m512i w[4], size_t n)
{
    const __m512i low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    __m512i even[2], odd[2];
    FP8_UNROLL
    for (int i = 0; i < 2; i++) {
        even[i] = _mm512_unpacklo_epi64(w[2 * i], w[2 * i + 1]);
        odd[i] = _mm512_unpackhi_epi64(w[2 * i], w[2 * i + 1]);
    }
    __m512i r[4]; /* two rows each: 0 2, 1 3, 4 6, 5 7 */
    r[0] = _mm512_permutex2var_epi64(even[0], low, even[1]);
    r[1] = _mm512_permutex2var_epi64(odd[0], low, odd[1]);
    r[2] = _mm512_permutex2var_epi64(even[0], high, even[1]);
    r[3] = _mm512_permutex2var_epi64(odd[0], high, odd[1]);
    FP8_UNROLL
    for (size_t i = 0; i < 4; i++) {
        size_t row = i / 2 * 4 + i % 2;
        char *to = (char *)first + row * stride;
        if (row < n) {
            _mm256_storeu_si256((void *)to, _mm512_castsi512_si256(r[i]));
        }
        if (row + 2 < n) {
            _mm256_storeu_si256((void *)(to + 2 * stride), _mm512_extracti64x4_epi64(r[i], 1));
        }
    }
}

/* From eight fp, a vector for each word, and back. */
FP8_INLINE fp8 fp8_from_words(const __m512i w[6])
{
    fp8 r;
    r.l[0] = fp8_low(w[0]);
    r.l[7] = _mm512_srli_epi64(w[5], 44);
    FP8_UNROLL
    for (int i = 1; i < 7; i++) {
        unsigned word = (unsigned)(52 * i) / 64;
        unsigned shift = (unsigned)(52 * i) % 64;
        __m512i x = _mm512_srli_epi64(w[word], shift);
        if (shift > 12) {
            x = _mm512_or_si512(x, _mm512_slli_epi64(w[word + 1], 64 - shift));
        }
        r.l[i] = fp8_low(x);
    }
    return r;
}

FP8_INLINE void fp8_to_words(__m512i w[6], fp8 a)
{
    FP8_UNROLL
    for (int i = 0; i < 6; i++) {
        unsigned limb = (unsigned)(64 * i) / 52;
        unsigned shift = (unsigned)(64 * i) % 52;
        __m512i x = _mm512_srli_epi64(a.l[limb], shift);
        x = _mm512_or_si512(x, _mm512_slli_epi64(a.l[limb + 1], 52 - shift));
        if (104 - shift < 64 && limb + 2 < 8) {
            x = _mm512_or_si512(x, _mm512_slli_epi64(a.l[limb + 2], 104 - shift));
        }
        w[i] = x;
    }
}

FP8_INLINE fp8 fp8_get(const uint64_t *limbs)
{
    fp8 r;
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        r.l[i] = _mm512_load_si512(limbs + 8 * i);
    }
    return r;
}

FP8_INLINE void fp8_put(uint64_t *limbs, fp8 a)
{
    FP8_UNROLL
    for (int i = 0; i < 8; i++) {
        _mm512_store_si512(limbs + 8 * i, a.l[i]);
    }
}

#endif
