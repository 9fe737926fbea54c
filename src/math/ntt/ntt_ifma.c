#include "math/field/fr8_ifma.h"
#include "math/ntt/ntt_pass.h"

#include <stdlib.h>

/*
 * Ranges, as multiples of the modulus r: rows come in below 2. The first two levels (one, for an
 * odd number of levels) have trivial factors and, with 11 added, leave rows in (9.9, 19) or [11,
 * 15). Each of the eight (ten) further levels adds or takes a Shoup product in (-1.001, 1.001),
 * which leaves (0, 28); 2^260 holds 35. So no level reduces anything, limbs are only normalised
 * before a multiplication, and all that counts is the sum of the limbs modulo 2^260.
 */

struct fr52_shoup *ntt_twiddles_ifma(const fr *w, size_t n)
{
    struct fr52_shoup *t = aligned_alloc(64, (n * sizeof *t + 63) / 64 * 64);
    for (size_t i = 0; t && i < n; i++) {
        t[i] = fr52_shoup_of(&w[i]);
    }
    return t;
}

enum { PREFETCH_ROWS = 4 };

static inline void prefetch_row(const ntt_pass *p, const fr *row)
{
    if (p->lane_stride == 1) {
        for (size_t i = 0; i < NTT_LANES; i += 2) {
            _mm_prefetch((const char *)(row + i), _MM_HINT_T0);
        }
    }
}

/* The rows in memory order, to their bit-reversed places. */
static void take_in(const ntt_pass *p, const fr *strip, fr8 *s)
{
    const size_t rows = (size_t)1 << p->lg;
    for (size_t i = 0; i < rows; i++) {
        const fr *x = strip + i * p->row_stride;
        prefetch_row(p, x + PREFETCH_ROWS * p->row_stride);
        fr8 v = p->lane_stride == 1 ? fr8_load(x, 1) : fr8_load(x, p->lane_stride);
        if (p->in_scale) {
            fr8 f = fr8_set1_factor(&p->in_scale[i]);
            v = fr8_mul(&v, &f); /* below 2 * 16 / 35 + 1 < 2 */
        }
        s[ntt_bit_reverse(i, p->lg)] = v;
    }
}

/* a, b = a + b, a - b + offset. */
FR8_INLINE void butterfly(fr8 *a, fr8 *b, const fr8 *offset)
{
    fr8 u = fr8_add(a, offset), v = *b;
    *a = fr8_add(a, &v);
    *b = fr8_sub(&u, &v);
}

/* a, b = a + w b, a - w b. */
FR8_INLINE void twiddled(fr8 *a, fr8 *b, const fr52_shoup *w)
{
    fr8 u = *a, v = fr8_normalise_sum(b);
    v = fr8_mul_shoup(&v, w);
    *a = fr8_add(&u, &v);
    *b = fr8_sub(&u, &v);
}

/* The first level alone. */
static void first_level(fr8 *s, size_t count)
{
    fr8 two = fr8_modulus_times(2), eleven = fr8_modulus_times(11);
    for (size_t k = 0; k < count; k += 2) {
        s[k] = fr8_add(&s[k], &eleven);
        butterfly(&s[k], &s[k + 1], &two);
    }
}

/* The first two levels: one factor, the root of order 4. */
static void first_two_levels(const fr52_shoup *w, fr8 *s, size_t count)
{
    fr8 two = fr8_modulus_times(2), four = fr8_modulus_times(4), eleven = fr8_modulus_times(11);
    for (size_t k = 0; k < count; k += 4) {
        fr8 a = fr8_add(&s[k], &eleven), b = s[k + 1], c = s[k + 2], d = s[k + 3];
        butterfly(&a, &b, &two);
        butterfly(&c, &d, &two);
        butterfly(&a, &c, &four);
        twiddled(&b, &d, &w[2 + 1]);
        s[k] = a;
        s[k + 1] = b;
        s[k + 2] = c;
        s[k + 3] = d;
    }
}

/* Column j of transforms of h rows into transforms of 2h rows, and of these into 4h rows. */
FR8_INLINE void inner_column(const fr52_shoup *w, fr8 *x, size_t h, size_t j)
{
    twiddled(&x[j], &x[h + j], &w[h + j]);
    twiddled(&x[2 * h + j], &x[3 * h + j], &w[h + j]);
}

FR8_INLINE void outer_column(const fr52_shoup *w, fr8 *x, size_t h, size_t j)
{
    twiddled(&x[j], &x[2 * h + j], &w[2 * h + j]);
    twiddled(&x[h + j], &x[3 * h + j], &w[3 * h + j]);
}

/* Two levels at once. The outer one is a column behind, so that no butterfly waits for its
 * predecessor: the processor cannot look further ahead than two or three of them. */
static void two_levels(const fr52_shoup *w, fr8 *s, size_t count, size_t h)
{
    for (fr8 *x = s; x < s + count; x += 4 * h) {
        inner_column(w, x, h, 0);
        for (size_t j = 1; j < h; j++) {
            inner_column(w, x, h, j);
            outer_column(w, x, h, j - 1);
        }
        outer_column(w, x, h, h - 1);
    }
}

/* Outputs k and k + 1 to memory, times t[0] and t[1], which then move on by step. */
FR8_INLINE void put_twisted(const ntt_pass *p, fr *strip, const fr8 *s, size_t k, fr8 t[2],
                            const fr8 *step)
{
    for (size_t i = 0; i < 2; i++) {
        fr8 v = fr8_normalise_sum(&s[k + i]);
        v = fr8_mul(&v, &t[i]);
        t[i] = fr8_mul(&t[i], step);
        fr *out = strip + ntt_out_row(p, k + i) * p->row_stride;
        fr8_store(out, 1, &v);
    }
}

static void put_back_twisted(const ntt_pass *p, fr *strip, const fr *next, const fr8 *s,
                             const ntt_twist *twist)
{
    /* Factors times 2^260, below 1.03 r: t[0] for even outputs, t[1] for odd ones. They take values
     * below 28 r to less than 28 * 1.03 / 35 + 1 < 2. */
    fr8 step = fr8_load_factor(twist->step, 1), t[2];
    t[0] = fr8_load_factor(twist->start, 1);
    t[0] = fr8_reduce(&t[0]);
    step = fr8_reduce(&step);
    t[1] = fr8_mul(&t[0], &step);
    step = fr8_mul(&step, &step);
    for (size_t k = 0; k < (size_t)1 << p->lg; k += 2) {
        if (next) {
            prefetch_row(p, next + k * p->row_stride);
            prefetch_row(p, next + (k + 1) * p->row_stride);
        }
        put_twisted(p, strip, s, k, t, &step);
    }
}

static void put_back(const ntt_pass *p, fr *strip, const fr8 *s)
{
    for (size_t k = 0; k < (size_t)1 << p->lg; k++) {
        fr8 v = fr8_normalise_sum(&s[k]);
        if (p->out_scale) {
            fr8 f = fr8_set1_factor(&p->out_scale[k]);
            v = fr8_mul(&v, &f); /* below 28 * 16 / 35 + 1 < 16 */
        }
        v = fr8_reduce(&v);
        fr8_store(strip + ntt_out_row(p, k) * p->row_stride, p->lane_stride, &v);
    }
}

void ntt_pass_ifma(const ntt_pass *p, fr *strip, const fr *next, const ntt_twist *twist)
{
    fr8 s[NTT_PASS_MAX];
    const fr52_shoup *w = p->twiddles.vector;
    take_in(p, strip, s);
    const size_t rows = (size_t)1 << p->lg;
    /* Blocks of an odd (even) number of levels when there is an odd (even) number in all. */
    const unsigned block_lg = p->lg <= NTT_BLOCK_LG ? p->lg : NTT_BLOCK_LG - (p->lg & 1);
    const size_t block = (size_t)1 << block_lg;
    for (size_t i = 0; i < rows; i += block) {
        size_t h = 2;
        if (p->lg & 1) {
            first_level(s + i, block);
        } else {
            first_two_levels(w, s + i, block);
            h = 4;
        }
        for (; h < block; h *= 4) {
            two_levels(w, s + i, block, h);
        }
    }
    for (size_t h = block; h < rows; h *= 4) {
        two_levels(w, s, rows, h);
    }
    if (p->twist) {
        put_back_twisted(p, strip, next, s, twist);
    } else {
        put_back(p, strip, s);
    }
}
