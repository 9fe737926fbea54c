#include "math/field/fr8_ifma.h"
#include "math/ntt/ntt_pass.h"

#include <stdlib.h>

/*
 * Ranges, as multiples of the modulus r: rows come in below 2. The first two levels (one, for an
 * odd number of levels) have trivial factors and leave rows below 8 (4); each further level adds at
 * most 3, the range of a Shoup product, so that ten levels stay below 8 + 8 * 3 = 32 < 35, which is
 * what 2^260 holds. No level reduces anything; sums stay unnormalised until they are multiplied.
 */

struct fr52_shoup *ntt_twiddles_ifma(const fr *w, size_t n)
{
    struct fr52_shoup *t = aligned_alloc(64, (n * sizeof *t + 63) / 64 * 64);
    for (size_t i = 0; t && i < n; i++) {
        t[i] = fr52_shoup_of(&w[i]);
    }
    return t;
}

static inline void prefetch_row(const ntt_pass *p, const fr *row)
{
    if (p->lane_stride == 1) {
        for (size_t i = 0; i < NTT_LANES; i += 2) {
            _mm_prefetch((const char *)(row + i), _MM_HINT_T1);
        }
    }
}

static void take_in(const ntt_pass *p, const fr *strip, fr8 *s, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        size_t from = ntt_bit_reverse(i, p->lg);
        const fr *x = strip + from * p->row_stride;
        fr8 v = p->lane_stride == 1 ? fr8_load(x, 1) : fr8_load(x, p->lane_stride);
        if (p->in_scale) {
            fr8 f = fr8_set1_factor(&p->in_scale[from]);
            v = fr8_mul(&v, &f); /* below 2 * 16 / 35 + 1 < 2 */
        }
        s[i] = v;
    }
}

/* a, b = a + b, a - b + offset. */
FR8_INLINE void butterfly(fr8 *a, fr8 *b, const fr8 *offset)
{
    fr8 u = fr8_add(a, offset), v = *b;
    *a = fr8_add(a, &v);
    *b = fr8_sub(&u, &v);
}

/* a, b = a + w b, a - w b + 3 r. */
FR8_INLINE void twiddled(fr8 *a, fr8 *b, const fr52_shoup *w)
{
    fr8 three = fr8_modulus_times(3);
    fr8 v = fr8_normalise(b);
    *b = fr8_mul_shoup(&v, w);
    butterfly(a, b, &three);
}

/* The first level alone. */
static void first_level(fr8 *s, size_t count)
{
    fr8 two = fr8_modulus_times(2);
    for (size_t k = 0; k < count; k += 2) {
        butterfly(&s[k], &s[k + 1], &two);
    }
}

/* The first two levels: one factor, the root of order 4. */
static void first_two_levels(const fr52_shoup *w, fr8 *s, size_t count)
{
    fr8 two = fr8_modulus_times(2), four = fr8_modulus_times(4);
    for (size_t k = 0; k < count; k += 4) {
        fr8 a = s[k], b = s[k + 1], c = s[k + 2], d = s[k + 3];
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

/* Two levels at once: transforms of h rows into transforms of 4h rows. */
static void two_levels(const fr52_shoup *w, fr8 *s, size_t count, size_t h)
{
    for (size_t k = 0; k < count; k += 4 * h) {
        for (size_t j = 0; j < h; j++) {
            fr8 *x = s + k + j;
            fr8 a = x[0], b = x[h], c = x[2 * h], d = x[3 * h];
            twiddled(&a, &b, &w[h + j]);
            twiddled(&c, &d, &w[h + j]);
            twiddled(&a, &c, &w[2 * h + j]);
            twiddled(&b, &d, &w[3 * h + j]);
            x[0] = a;
            x[h] = b;
            x[2 * h] = c;
            x[3 * h] = d;
        }
    }
}

/* Outputs k and k + 1 to memory, times t[0] and t[1], which then move on by step. */
FR8_INLINE void put_twisted(const ntt_pass *p, fr *strip, const fr8 *s, size_t k, fr8 t[2],
                            const fr8 *step)
{
    for (size_t i = 0; i < 2; i++) {
        fr8 v = fr8_normalise(&s[k + i]);
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
     * below 32 r to less than 32 * 1.03 / 35 + 1 < 2. */
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
        fr8 v = fr8_normalise(&s[k]);
        if (p->out_scale) {
            fr8 f = fr8_set1_factor(&p->out_scale[k]);
            v = fr8_mul(&v, &f); /* below 32 * 16 / 35 + 1 < 16 */
        }
        v = fr8_reduce(&v);
        fr8_store(strip + ntt_out_row(p, k) * p->row_stride, p->lane_stride, &v);
    }
}

void ntt_pass_ifma(const ntt_pass *p, fr *strip, const fr *next, const ntt_twist *twist)
{
    fr8 s[NTT_PASS_MAX];
    const fr52_shoup *w = p->twiddles.vector;
    const size_t rows = (size_t)1 << p->lg;
    /* Blocks of an odd (even) number of levels when there is an odd (even) number in all. */
    const unsigned block_lg = p->lg <= NTT_BLOCK_LG ? p->lg : NTT_BLOCK_LG - (p->lg & 1);
    const size_t block = (size_t)1 << block_lg;
    for (size_t i = 0; i < rows; i += block) {
        take_in(p, strip, s, i, block);
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
