#ifndef CUZK_BACKEND_CUDA_DINV_H
#define CUZK_BACKEND_CUDA_DINV_H

#include "backend/cuda/dfp.h"
#include "backend/cuda/dfr.h"

/*
 * Inversion by division steps (Bernstein, Yang: Fast constant-time gcd computation and modular
 * inversion, 2019), 30 at a time on the low words, as math/field/inverse.h does 62: the words are
 * 30 bits, two's complement, all but the top one in [0, 2^30). The time depends on the value; a
 * warp takes as long as its slowest lane, about 60 multiplications' worth for Fp. Use it on a
 * product of many.
 */

enum { DINV_BITS = 30, DINV_FP_WORDS = 13, DINV_FR_WORDS = 9 };

#define DINV_MASK 0x3fffffff

typedef struct dinv_int {
    int32_t w[DINV_FP_WORDS];
} dinv_int;

/* 30 steps map (f, g) to (u f + v g, q f + r g) / 2^30; |u| + |v| and |q| + |r| are at most 2^30.
 */
typedef struct dinv_matrix {
    int32_t u, v, q, r;
} dinv_matrix;

/* Word i of an integer of n limbs. */
CUZK_HD int32_t dinv_word(const uint32_t *a, int n, int i)
{
    int at = DINV_BITS * i / 32, shift = DINV_BITS * i % 32;
    uint32_t w = at < n ? a[at] >> shift : 0;
    if (shift > 32 - DINV_BITS && at + 1 < n) {
        w |= a[at + 1] << (32 - shift);
    }
    return (int32_t)(w & DINV_MASK);
}

/* Limb i of a, in [0, 2^(32 n)), of so many words. */
CUZK_HD uint32_t dinv_limb(const dinv_int *a, int words, int i)
{
    int at = 32 * i / DINV_BITS, shift = 32 * i % DINV_BITS;
    uint32_t r = (uint32_t)a->w[at] >> shift;
    if (at + 1 < words) {
        r |= (uint32_t)a->w[at + 1] << (DINV_BITS - shift);
    }
    if (2 * DINV_BITS - shift < 32 && at + 2 < words) {
        r |= (uint32_t)a->w[at + 2] << (2 * DINV_BITS - shift);
    }
    return r;
}

CUZK_HD int dinv_trailing_zeros(uint32_t a) /* a > 0 */
{
#ifdef __CUDA_ARCH__
    return __ffs((int)a) - 1;
#else
    return __builtin_ctz(a);
#endif
}

/* 30 steps on the low words; see math/field/inverse.h for how several are taken at once. */
CUZK_HD int32_t dinv_steps(int32_t eta, uint32_t f, uint32_t g, dinv_matrix *ret)
{
    uint32_t u = 1, v = 0, q = 0, r = 1;
    int left = DINV_BITS;
    for (;;) {
        int zeros = dinv_trailing_zeros(g | UINT32_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) {
            break;
        }
        bool swap = eta < 0;
        uint32_t old_f = f, old_u = u, old_v = v;
        f = swap ? g : f;
        u = swap ? q : u;
        v = swap ? r : v;
        g = swap ? 0u - old_f : g;
        q = swap ? 0u - old_u : q;
        r = swap ? 0u - old_v : r;
        eta = swap ? -eta : eta;
        int steps = eta + 1 < left ? eta + 1 : left;
        uint32_t mask = steps < 6 ? (1u << steps) - 1 : 63;
        uint32_t w = (g * f * (f * f - 2)) & mask;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    ret->u = (int32_t)u;
    ret->v = (int32_t)v;
    ret->q = (int32_t)q;
    ret->r = (int32_t)r;
    return eta;
}

/* (f, g) = (u f + v g, q f + r g) / 2^30, exactly. */
CUZK_HD void dinv_update_fg(dinv_int *f, dinv_int *g, const dinv_matrix *t, int words)
{
    int64_t cf = (int64_t)t->u * f->w[0] + (int64_t)t->v * g->w[0];
    int64_t cg = (int64_t)t->q * f->w[0] + (int64_t)t->r * g->w[0];
    cf >>= DINV_BITS;
    cg >>= DINV_BITS;
    CUZK_UNROLL
    for (int i = 1; i < words; i++) {
        cf += (int64_t)t->u * f->w[i] + (int64_t)t->v * g->w[i];
        cg += (int64_t)t->q * f->w[i] + (int64_t)t->r * g->w[i];
        f->w[i - 1] = (int32_t)(cf & DINV_MASK);
        g->w[i - 1] = (int32_t)(cg & DINV_MASK);
        cf >>= DINV_BITS;
        cg >>= DINV_BITS;
    }
    f->w[words - 1] = (int32_t)cf;
    g->w[words - 1] = (int32_t)cg;
}

/* The multiple of m, near k, that makes c + (it) m divisible by 2^30. */
CUZK_HD int32_t dinv_multiple(int64_t c, int32_t k, uint32_t m_inv)
{
    uint32_t wrong = ((uint32_t)c * m_inv + (uint32_t)k) & DINV_MASK;
    return k - (int32_t)wrong;
}

/* (d, e) = (u d + v e, q d + r e) / 2^30 mod m, all in (-2m, m). */
CUZK_HD void dinv_update_de(dinv_int *d, dinv_int *e, const dinv_matrix *t, const dinv_int *m,
                            uint32_t m_inv, int words)
{
    int32_t d_neg = d->w[words - 1] >> 31, e_neg = e->w[words - 1] >> 31;
    int64_t cd = (int64_t)t->u * d->w[0] + (int64_t)t->v * e->w[0];
    int64_t ce = (int64_t)t->q * d->w[0] + (int64_t)t->r * e->w[0];
    int32_t kd = dinv_multiple(cd, (t->u & d_neg) + (t->v & e_neg), m_inv);
    int32_t ke = dinv_multiple(ce, (t->q & d_neg) + (t->r & e_neg), m_inv);
    cd = (cd + (int64_t)m->w[0] * kd) >> DINV_BITS;
    ce = (ce + (int64_t)m->w[0] * ke) >> DINV_BITS;
    CUZK_UNROLL
    for (int i = 1; i < words; i++) {
        cd += (int64_t)t->u * d->w[i] + (int64_t)t->v * e->w[i] + (int64_t)m->w[i] * kd;
        ce += (int64_t)t->q * d->w[i] + (int64_t)t->r * e->w[i] + (int64_t)m->w[i] * ke;
        d->w[i - 1] = (int32_t)(cd & DINV_MASK);
        e->w[i - 1] = (int32_t)(ce & DINV_MASK);
        cd >>= DINV_BITS;
        ce >>= DINV_BITS;
    }
    d->w[words - 1] = (int32_t)cd;
    e->w[words - 1] = (int32_t)ce;
}

/* a = sign a + k m, sign 1 or -1, k 0 or 1. */
CUZK_HD void dinv_adjust(dinv_int *a, int32_t sign, int32_t k, const dinv_int *m, int words)
{
    int32_t carry = 0;
    CUZK_UNROLL
    for (int i = 0; i < words; i++) {
        int32_t s = sign * a->w[i] + k * m->w[i] + carry;
        a->w[i] = i == words - 1 ? s : s & DINV_MASK;
        carry = s >> DINV_BITS;
    }
}

/* ret[n] = a^-1 mod m as integers, 0 for a = 0; a below m, m odd and prime. */
CUZK_HD void dinv_mod(uint32_t *ret, const uint32_t *a, const uint32_t *modulus, uint32_t m_inv,
                      int n, int words)
{
    dinv_int m = {{0}}, f, g, d, e; /* gcc warns of words beyond `words` in some builds otherwise */
    CUZK_UNROLL
    for (int i = 0; i < words; i++) {
        f.w[i] = m.w[i] = dinv_word(modulus, n, i);
        g.w[i] = dinv_word(a, n, i);
        d.w[i] = 0;
        e.w[i] = i == 0;
    }
    int32_t eta = -1;
    for (;;) {
        int32_t any = 0;
        CUZK_UNROLL
        for (int i = 0; i < words; i++) {
            any |= g.w[i];
        }
        if (any == 0) {
            break;
        }
        dinv_matrix t;
        eta = dinv_steps(eta, (uint32_t)f.w[0], (uint32_t)g.w[0], &t);
        dinv_update_de(&d, &e, &t, &m, m_inv, words);
        dinv_update_fg(&f, &g, &t, words);
    }
    /* Now f = 1 or -1 and d a = f, or f = m and d = 0 when a is 0. */
    bool negative = f.w[words - 1] < 0;
    dinv_adjust(&d, 1, d.w[words - 1] < 0, &m, words); /* to (-m, m) */
    dinv_adjust(&d, negative ? -1 : 1, 0, &m, words);
    dinv_adjust(&d, 1, d.w[words - 1] < 0, &m, words);
    CUZK_UNROLL
    for (int i = 0; i < n; i++) {
        ret[i] = dinv_limb(&d, words, i);
    }
}

/** a^-1, and 0 for 0. */
CUZK_HD dfp dfp_inv(dfp a)
{
    const uint64_t r2_limbs[] = FP_R2;
    dfp p = dfp_const_p(), r2, t;
    CUZK_UNROLL
    for (int i = 0; i < DFP_LIMBS; i++) {
        r2.l[i] = limb_of(r2_limbs, i);
    }
    a = dfp_reduce(a);
    dinv_mod(t.l, a.l, p.l, (0u - (uint32_t)(FP_INV & 0xffffffffu)) & DINV_MASK, DFP_LIMBS,
             DINV_FP_WORDS);
    return dfp_mul(dfp_mul(t, r2), r2); /* t = 1 / (a R), wanted R / a */
}

/** a^-1, canonical, for lazy a, and 0 for 0. */
CUZK_HD dfr dfr_inv(dfr a)
{
    dfr m = dfr_const_r(), r2 = dfr_const_r2(), t;
    a = dfr_reduce(a);
    dinv_mod(t.l, a.l, m.l, (0u - (uint32_t)(FR_INV & 0xffffffffu)) & DINV_MASK, DFR_LIMBS,
             DINV_FR_WORDS);
    return dfr_reduce(dfr_mul(r2, dfr_mul(r2, t)));
}

/** Replaces the canonical a[0], a[stride], .. a[(n - 1) stride], each a number other than 0, by
 *  their canonical inverses with one inversion. prefix: as many elements at the same places. */
CUZK_HD void dfr_batch_inv(dfr *a, dfr *prefix, int n, int stride)
{
    dfr product = dfr_one();
    for (int i = 0; i < n; i++) {
        prefix[i * stride] = product;
        product = dfr_mul_canonical(product, a[i * stride]);
    }
    dfr inverse = dfr_inv(product);
    for (int i = n; i-- > 0;) {
        dfr t = dfr_mul_canonical(inverse, prefix[i * stride]);
        inverse = dfr_mul_canonical(inverse, a[i * stride]);
        a[i * stride] = t;
    }
}

#endif
