#ifndef CUZK_MATH_FIELD_INVERSE_H
#define CUZK_MATH_FIELD_INVERSE_H

#include "math/field/mont.h"

/*
 * Modular inversion by division steps (Bernstein, Yang: Fast constant-time gcd computation and
 * modular inversion, 2019), 62 steps at a time on the low words, in variable time. Integers of up
 * to 8 words of 62 bits, two's complement: all words but the top one are in [0, 2^62).
 */

enum { INVERSE_WORD_BITS = 62, INVERSE_MAX_WORDS = 8 };

#define INVERSE_WORD_MASK (UINT64_MAX >> 2)

__extension__ typedef __int128 inverse_i128;

typedef struct inverse_int {
    int64_t w[INVERSE_MAX_WORDS];
} inverse_int;

/* 62 steps map (f, g) to (u f + v g, q f + r g) / 2^62. */
typedef struct inverse_matrix {
    int64_t u, v, q, r;
} inverse_matrix;

MONT_INLINE inverse_int inverse_from_limbs(const uint64_t *a, int limbs, int words)
{
    inverse_int r = {{0}};
    for (int i = 0; i < words; i++) {
        int bit = INVERSE_WORD_BITS * i;
        int at = bit / 64, shift = bit % 64;
        uint64_t w = at < limbs ? a[at] >> shift : 0;
        if (shift && at + 1 < limbs) {
            w |= a[at + 1] << (64 - shift);
        }
        r.w[i] = (int64_t)(w & INVERSE_WORD_MASK);
    }
    return r;
}

/* a must be in [0, 2^(64 limbs)). */
MONT_INLINE void inverse_to_limbs(uint64_t *r, const inverse_int *a, int limbs, int words)
{
    for (int i = 0; i < limbs; i++) {
        int at = 64 * i / INVERSE_WORD_BITS, shift = 64 * i % INVERSE_WORD_BITS;
        uint64_t w = (uint64_t)a->w[at] >> shift;
        if (at + 1 < words) {
            w |= (uint64_t)a->w[at + 1] << (INVERSE_WORD_BITS - shift);
        }
        r[i] = w;
    }
}

/*
 * One step: if delta > 0 and g is odd, (delta, f, g) becomes (1 - delta, g, (g - f) / 2), else
 * (1 + delta, f, (g + (g mod 2) f) / 2). eta = -delta. Runs of steps that only halve g are taken at
 * once, and while eta >= 0 up to six steps are taken at once by adding a multiple of f to g.
 */
static inline int64_t inverse_steps(int64_t eta, uint64_t f, uint64_t g, inverse_matrix *ret)
{
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = INVERSE_WORD_BITS;
    for (;;) {
        int zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) {
            break;
        }
        if (eta < 0) {
            uint64_t t = f;
            f = g;
            g = 0 - t;
            t = u;
            u = q;
            q = 0 - t;
            t = v;
            v = r;
            r = 0 - t;
            eta = -eta;
        }
        /* f (2 - f^2) inverts the odd f modulo 2^6. */
        int64_t steps = eta + 1 < left ? eta + 1 : left;
        uint64_t mask = steps < 6 ? ((uint64_t)1 << steps) - 1 : 63;
        uint64_t w = (g * f * (f * f - 2)) & mask;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    *ret = (inverse_matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

/* (f, g) = (u f + v g, q f + r g) / 2^62, exactly. */
MONT_INLINE void inverse_update_fg(inverse_int *f, inverse_int *g, const inverse_matrix *t,
                                   int words)
{
    inverse_i128 cf = (inverse_i128)t->u * f->w[0] + (inverse_i128)t->v * g->w[0];
    inverse_i128 cg = (inverse_i128)t->q * f->w[0] + (inverse_i128)t->r * g->w[0];
    cf >>= INVERSE_WORD_BITS;
    cg >>= INVERSE_WORD_BITS;
    for (int i = 1; i < words; i++) {
        cf += (inverse_i128)t->u * f->w[i] + (inverse_i128)t->v * g->w[i];
        cg += (inverse_i128)t->q * f->w[i] + (inverse_i128)t->r * g->w[i];
        f->w[i - 1] = (int64_t)((uint64_t)cf & INVERSE_WORD_MASK);
        g->w[i - 1] = (int64_t)((uint64_t)cg & INVERSE_WORD_MASK);
        cf >>= INVERSE_WORD_BITS;
        cg >>= INVERSE_WORD_BITS;
    }
    f->w[words - 1] = (int64_t)cf;
    g->w[words - 1] = (int64_t)cg;
}

/* The multiple of m, in [-2^61, 2^61), that makes c + k m divisible by 2^62. */
MONT_INLINE int64_t inverse_multiple(inverse_i128 c, int64_t k, uint64_t m_inv)
{
    uint64_t wrong = ((uint64_t)c * m_inv + (uint64_t)k) & INVERSE_WORD_MASK;
    return k - (int64_t)wrong;
}

/*
 * (d, e) = (u d + v e, q d + r e) / 2^62 mod m, all in (-2m, m): a row's absolute sum is at most
 * 2^62, so with m added once for each negative operand the sum is in (-2^62 m, 2^62 m), and the
 * correction takes less than 2^62 m away.
 */
MONT_INLINE void inverse_update_de(inverse_int *d, inverse_int *e, const inverse_matrix *t,
                                   const inverse_int *m, uint64_t m_inv, int words)
{
    int64_t d_neg = d->w[words - 1] >> 63, e_neg = e->w[words - 1] >> 63;
    int64_t kd = (t->u & d_neg) + (t->v & e_neg);
    int64_t ke = (t->q & d_neg) + (t->r & e_neg);
    inverse_i128 cd = (inverse_i128)t->u * d->w[0] + (inverse_i128)t->v * e->w[0];
    inverse_i128 ce = (inverse_i128)t->q * d->w[0] + (inverse_i128)t->r * e->w[0];
    kd = inverse_multiple(cd, kd, m_inv);
    ke = inverse_multiple(ce, ke, m_inv);
    cd = (cd + (inverse_i128)m->w[0] * kd) >> INVERSE_WORD_BITS;
    ce = (ce + (inverse_i128)m->w[0] * ke) >> INVERSE_WORD_BITS;
    for (int i = 1; i < words; i++) {
        cd += (inverse_i128)t->u * d->w[i] + (inverse_i128)t->v * e->w[i];
        ce += (inverse_i128)t->q * d->w[i] + (inverse_i128)t->r * e->w[i];
        cd += (inverse_i128)m->w[i] * kd;
        ce += (inverse_i128)m->w[i] * ke;
        d->w[i - 1] = (int64_t)((uint64_t)cd & INVERSE_WORD_MASK);
        e->w[i - 1] = (int64_t)((uint64_t)ce & INVERSE_WORD_MASK);
        cd >>= INVERSE_WORD_BITS;
        ce >>= INVERSE_WORD_BITS;
    }
    d->w[words - 1] = (int64_t)cd;
    e->w[words - 1] = (int64_t)ce;
}

/* a = sign a + k m with sign 1 or -1, carried. */
MONT_INLINE void inverse_adjust(inverse_int *a, int64_t sign, int64_t k, const inverse_int *m,
                                int words)
{
    int64_t carry = 0;
    for (int i = 0; i < words; i++) {
        int64_t s = sign * a->w[i] + (k ? m->w[i] : 0) + carry;
        bool top = i == words - 1;
        a->w[i] = top ? s : (int64_t)((uint64_t)s & INVERSE_WORD_MASK);
        carry = s >> INVERSE_WORD_BITS;
    }
}

MONT_INLINE bool inverse_is_zero(const inverse_int *a, int words)
{
    int64_t any = 0;
    for (int i = 0; i < words; i++) {
        any |= a->w[i];
    }
    return any == 0;
}

/**
 * r = a^-1 mod m as integers, 0 for a = 0. a in [0, m), m an odd prime of n limbs (n <= 6), m_inv =
 * m^-1 mod 2^64. The time depends on a.
 */
MONT_INLINE void inverse_mod(uint64_t *r, const uint64_t *a, const uint64_t *m, uint64_t m_inv,
                             int n)
{
    const int words = (64 * n + INVERSE_WORD_BITS) / INVERSE_WORD_BITS;
    const inverse_int mod = inverse_from_limbs(m, n, words);
    inverse_int f = mod, g = inverse_from_limbs(a, n, words);
    inverse_int d = {{0}}, e = {{1}};
    int64_t eta = -1;
    while (!inverse_is_zero(&g, words)) {
        inverse_matrix t;
        eta = inverse_steps(eta, (uint64_t)f.w[0], (uint64_t)g.w[0], &t);
        inverse_update_de(&d, &e, &t, &mod, m_inv, words);
        inverse_update_fg(&f, &g, &t, words);
    }
    /* Now f = 1 or -1 and d a = f, or f = m and d = 0 when a is 0. */
    bool negative = f.w[words - 1] < 0;
    inverse_adjust(&d, 1, d.w[words - 1] < 0, &mod, words); /* to (-m, m) */
    inverse_adjust(&d, negative ? -1 : 1, 0, &mod, words);
    inverse_adjust(&d, 1, d.w[words - 1] < 0, &mod, words);
    inverse_to_limbs(r, &d, n, words);
}

#endif
