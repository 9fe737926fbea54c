#include "math/ntt/ntt_pass.h"

/* The strip: row by row, the lanes of a row side by side. */
typedef struct row {
    fr lane[NTT_LANES];
} row;

/* Rows [first, first + count) of the scratch, which hold the strip's rows in bit-reversed order. */
static void take_in(const ntt_pass *p, const fr *strip, row *s, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        size_t from = ntt_bit_reverse(i, p->lg);
        for (size_t c = 0; c < NTT_LANES; c++) {
            const fr *x = &strip[from * p->row_stride + c * p->lane_stride];
            if (p->in_scale) {
                fr_mul(&s[i].lane[c], x, &p->in_scale[from]);
            } else {
                s[i].lane[c] = *x;
            }
        }
    }
}

/* Combines pairs of transforms of h rows into transforms of 2h rows. */
static void level(const fr *w, row *s, size_t count, size_t h)
{
    for (size_t k = 0; k < count; k += 2 * h) {
        for (size_t j = 0; j < h; j++) {
            row *a = &s[k + j], *b = &s[k + j + h];
            for (size_t c = 0; c < NTT_LANES; c++) {
                fr u = a->lane[c], v = b->lane[c];
                if (j > 0) {
                    fr_mul(&v, &v, &w[h + j]);
                }
                fr_add(&a->lane[c], &u, &v);
                fr_sub(&b->lane[c], &u, &v);
            }
        }
    }
}

static void put_back(const ntt_pass *p, fr *strip, row *s, const ntt_twist *twist)
{
    fr t[NTT_LANES];
    if (p->twist) {
        memcpy(t, twist->start, sizeof t);
    }
    for (size_t k = 0; k < (size_t)1 << p->lg; k++) {
        fr *out = &strip[ntt_out_row(p, k) * p->row_stride];
        for (size_t c = 0; c < NTT_LANES; c++) {
            fr *x = &out[c * p->lane_stride];
            if (p->twist) {
                fr_mul(x, &s[k].lane[c], &t[c]);
                fr_mul(&t[c], &t[c], &twist->step[c]);
            } else if (p->out_scale) {
                fr_mul(x, &s[k].lane[c], &p->out_scale[k]);
            } else {
                *x = s[k].lane[c];
            }
        }
    }
}

void ntt_pass_scalar(const ntt_pass *p, fr *strip, const fr *next, const ntt_twist *twist)
{
    (void)next;
    row s[NTT_PASS_MAX];
    const size_t rows = (size_t)1 << p->lg;
    const size_t block = p->lg < NTT_BLOCK_LG ? rows : (size_t)1 << NTT_BLOCK_LG;
    for (size_t i = 0; i < rows; i += block) {
        take_in(p, strip, s, i, block);
        for (size_t h = 1; h < block; h *= 2) {
            level(p->twiddles.scalar, s + i, block, h);
        }
    }
    for (size_t h = block; h < rows; h *= 2) {
        level(p->twiddles.scalar, s, rows, h);
    }
    put_back(p, strip, s, twist);
}
