#ifndef CUZK_BACKEND_CUDA_NTT_PLAN_H
#define CUZK_BACKEND_CUDA_NTT_PLAN_H

#include "backend/cuda/ntt_core.h"

#include <stddef.h>

/*
 * A plan for transforms of one size, direction and coset: its passes and the layout of its tables.
 * Whoever runs it allocates `quads` limb_quads, binds the plan to them and makes the entries of
 * each table: kernels on the card, loops in the tests.
 */

enum { NTT_PLAN_MAX_LG = 27, NTT_MAX_PASSES = 3, NTT_MAX_TABLES = 12, NTT_TINY_LG = 3 };

/** One table: entry i < count comes from ntt_plan_entry. */
typedef struct ntt_table {
    size_t offset; /* quads from the start of the tables */
    uint64_t count;
    uint32_t is_twist, s, coset, g_lg;             /* inner */
    uint32_t row_lg, low_lg, j_lg, j_shift, scale; /* twist: scale by 1 / n */
} ntt_table;

typedef struct ntt_plan {
    uint32_t lg, passes, inverse, coset;
    size_t quads;
    uint32_t tables;
    ntt_table table[NTT_MAX_TABLES];
    ntt_pass pass[NTT_MAX_PASSES]; /* from the top digit; the inverse runs the last first */
} ntt_plan;

CUZK_HD uint32_t ntt_clamp(int a, int low, int high)
{
    return (uint32_t)(a < low ? low : a > high ? high : a);
}

/* Digits: as many full ones as fit, and multiples of three bits before others. */
CUZK_HD uint32_t ntt_split(uint32_t lg, uint32_t *digits)
{
    int n = (int)lg;
    if (lg <= NTT_MAX_DIGIT_LG) {
        digits[0] = lg;
        return 1;
    }
    if (lg <= 2 * NTT_MAX_DIGIT_LG) {
        digits[1] = ntt_clamp(n - 9, 6, 9);
        digits[0] = lg - digits[1];
        return 2;
    }
    digits[2] = ntt_clamp(n - 18, 6, 9);
    digits[1] = ntt_clamp(n - 9 - (int)digits[2], 6, 9);
    digits[0] = lg - digits[2] - digits[1];
    return 3;
}

/* A number's power by squaring, for the few that a plan itself holds. */
CUZK_HD dfr ntt_pow(dfr g, uint64_t e)
{
    dfr r = dfr_one();
    for (int bit = 63; bit >= 0; bit--) {
        r = dfr_mul_canonical(r, r);
        if (e >> bit & 1) {
            r = dfr_mul_canonical(r, g);
        }
    }
    return r;
}

CUZK_HD ntt_table *ntt_plan_add(ntt_plan *p, uint64_t count)
{
    ntt_table *t = &p->table[p->tables++];
    const ntt_table empty = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    *t = empty;
    t->offset = p->quads;
    t->count = count;
    p->quads += (size_t)(4 * count);
    return t;
}

CUZK_HD void ntt_plan_twist(ntt_plan *p, ntt_pass *pass, bool first, bool scale, size_t limit_bytes)
{
    uint32_t all = pass->digit_lg + pass->low_lg;
    if (all <= 18 || (uint64_t)64 << all <= limit_bytes) {
        pass->twist = NTT_TWIST_ONE;
        pass->split_lg = 0;
    } else {
        pass->twist = NTT_TWIST_TWO;
        pass->split_lg = pass->low_lg / 2;
    }
    for (uint32_t part = 0; part < pass->twist; part++) {
        uint32_t j_lg = part ? pass->split_lg : pass->low_lg - pass->split_lg;
        ntt_table *t = ntt_plan_add(p, (uint64_t)1 << (pass->digit_lg + j_lg));
        t->is_twist = 1;
        t->coset = first && p->coset;
        t->row_lg = pass->digit_lg;
        t->low_lg = pass->low_lg;
        t->j_lg = j_lg;
        t->j_shift = part ? 0 : pass->split_lg;
        t->scale = scale && part == 0;
    }
}

/**
 * Lays out a transform of 2^lg, 1 <= lg <= 27. root: w of order 2^lg for forward, its inverse for
 * inverse; coset: g, its inverse for inverse, or NULL for the subgroup itself; scale: 1 for
 * forward, 1 / 2^lg for inverse. A twist table of more than 16 MiB is made only when it is at most
 * limit_bytes; else two small ones are, for one more multiplication an element.
 */
CUZK_HD void ntt_plan_make(ntt_plan *p, uint32_t lg, bool inverse, const dfr *root,
                           const dfr *coset, const dfr *scale, size_t limit_bytes)
{
    uint32_t digits[NTT_MAX_PASSES];
    p->lg = lg;
    p->passes = ntt_split(lg, digits);
    p->inverse = inverse;
    /* 1 / n needs a place: a twist, or for lack of one the coset's tables. */
    p->coset = coset || (inverse && p->passes == 1);
    p->quads = 0;
    p->tables = 0;
    dfr g = coset ? *coset : dfr_one();
    uint32_t low = lg;
    for (uint32_t i = 0; i < p->passes; i++) {
        ntt_pass *pass = &p->pass[i];
        low -= digits[i];
        pass->digit_lg = digits[i];
        pass->low_lg = low;
        pass->tile_lg = ntt_clamp((int)lg, 0, NTT_TILE_LG);
        pass->total_lg = lg;
        pass->inverse = inverse;
        pass->coset = i == 0 && p->coset;
        pass->reduce = inverse ? i == 0 : low == 0;
        pass->twist = NTT_TWIST_NONE;
        pass->split_lg = 0;
        for (uint32_t k = 0; k < 3; k++) {
            dfr w = lg >= 3 ? ntt_pow(*root, (uint64_t)(k + 1) << (lg - 3))
                            : ntt_pow(*root, k == 1 && lg == 2); /* of order 4 there */
            pass->w8[k] = dfr_shoup_of(w);
        }
        uint32_t s = digits[i] > 3 ? digits[i] - 3 : 0;
        dfr outer = dfr_one(), ratio = ntt_pow(g, (uint64_t)1 << (s + low));
        if (lg <= NTT_TINY_LG) {
            outer = *scale;
        }
        for (uint32_t t = 0; t < 8; t++) {
            pass->outer[t] = dfr_shoup_of(outer);
            outer = dfr_mul_canonical(outer, ratio);
        }
        if (lg <= NTT_TINY_LG) {
            continue;
        }
        for (uint32_t step = 0; ntt_step_shift(digits[i], step) > 0; step++) {
            s = ntt_step_shift(digits[i], step);
            ntt_table *t = ntt_plan_add(p, (uint64_t)8 << s);
            t->s = s;
            t->coset = pass->coset && step == 0;
            t->g_lg = low;
            t->scale = p->passes == 1;
        }
        if (low > 0) {
            ntt_plan_twist(p, pass, i == 0, i + 2 == p->passes, limit_bytes);
        }
    }
}

/** Sets the passes' pointers to the tables at base. */
CUZK_HD void ntt_plan_bind(ntt_plan *p, limb_quad *base)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->passes && p->lg > NTT_TINY_LG; i++) {
        ntt_pass *pass = &p->pass[i];
        for (uint32_t step = 0; ntt_step_shift(pass->digit_lg, step) > 0; step++) {
            pass->inner[step] = base + p->table[k++].offset;
        }
        for (uint32_t part = 0; part < pass->twist; part++) {
            pass->twists[part] = base + p->table[k++].offset;
        }
    }
}

/** Makes entry i of a table at base; from->scale is the plan's. */
CUZK_HD void ntt_plan_entry(limb_quad *base, const ntt_table *t, const ntt_source *from, uint64_t i)
{
    ntt_source source = *from;
    if (!t->scale) {
        source.scale = dfr_one();
    }
    if (t->is_twist) {
        ntt_make_twist(base + t->offset, &source, t->row_lg, t->low_lg, t->j_lg, t->j_shift,
                       t->coset, i);
    } else {
        ntt_make_inner(base + t->offset, &source, t->s, t->coset, t->g_lg, (uint32_t)i);
    }
}

/** The whole transform of 2^lg <= 8 elements. */
CUZK_HD void ntt_tiny(limb_quad *a, const ntt_pass *p, bool inverse, bool coset)
{
    dfr x[8];
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        x[t] = dfr_zero();
        if (t < 1u << p->digit_lg) {
            x[t] = ntt_join(ntt_load(a + 2 * t), ntt_load(a + 2 * t + 1));
        }
        if (coset && !inverse) {
            x[t] = ntt_mul_fixed(x[t], &p->outer[t]);
        }
    }
    if (inverse) {
        ntt_radix8_inverse(x, p->w8, p->digit_lg);
    } else {
        ntt_radix8(x, p->w8, p->digit_lg);
    }
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        if (coset && inverse) {
            x[t] = ntt_mul_fixed(x[t], &p->outer[t]);
        }
        x[t] = dfr_reduce(x[t]);
        if (t < 1u << p->digit_lg) {
            ntt_store(a + 2 * t, ntt_half(x[t], 0));
            ntt_store(a + 2 * t + 1, ntt_half(x[t], 1));
        }
    }
}

#endif
