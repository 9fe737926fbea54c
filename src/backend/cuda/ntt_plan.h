#ifndef CUZK_BACKEND_CUDA_NTT_PLAN_H
#define CUZK_BACKEND_CUDA_NTT_PLAN_H

#include "backend/cuda/ntt_core.h"

#include <stddef.h>

/*
 * A plan for transforms of one size, direction and coset: its passes and the layout of its tables.
 * Whoever runs it allocates `quads` limb_quads, binds the plan to them and makes the entries of
 * each table (ntt_make_entry): kernels on the card, loops in the tests.
 */

enum { NTT_PLAN_MAX_LG = 27, NTT_MAX_PASSES = 3, NTT_MAX_TABLES = 12, NTT_TINY_LG = 3 };

typedef struct ntt_plan {
    uint32_t lg, passes, backwards, coset;
    uint64_t quads;
    uint32_t tables;
    ntt_table table[NTT_MAX_TABLES];
    ntt_pass pass[NTT_MAX_PASSES]; /* from the top digit; backwards the last runs first */
} ntt_plan;

/** What a plan is asked for. */
typedef struct ntt_request {
    uint32_t lg;     /* 1 to 27 */
    bool backwards;  /* from reversed to natural places, else from natural to reversed */
    ntt_coset coset; /* which end has the factors g^i */
    dfr root, g;     /* w of order 2^lg; g, unless coset is NONE */
    bool scaled;     /* the results have the factor scale */
    dfr scale;
    size_t table_limit; /* bytes that one twist table may have if it is over 16 MiB */
} ntt_request;

/** Which end has g^i for a transform from coefficients c_i to values on the coset, or its inverse.
 */
CUZK_HD ntt_coset ntt_coset_side(bool coset, bool backwards, bool inverse)
{
    return !coset ? NTT_COSET_NONE : backwards == inverse ? NTT_COSET_NATURAL : NTT_COSET_REVERSED;
}

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
    const ntt_table empty = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    *t = empty;
    t->offset = p->quads;
    t->count = count;
    p->quads += 4 * count;
    return t;
}

/* The inner tables of a pass; above: how many bits the digits above have. */
CUZK_HD void ntt_plan_inner(ntt_plan *p, const ntt_pass *pass, uint32_t above, bool scaled)
{
    for (uint32_t step = 0; ntt_step_shift(pass->digit_lg, step) > 0; step++) {
        uint32_t s = ntt_step_shift(pass->digit_lg, step);
        ntt_table *t = ntt_plan_add(p, (uint64_t)8 << s);
        t->s = s;
        t->natural = pass->coset == NTT_COSET_NATURAL && step == 0;
        t->reversed = pass->coset == NTT_COSET_REVERSED;
        t->g_lg = t->reversed ? above + 3 * step : pass->low_lg;
        t->scaled = scaled && t->natural;
    }
}

/* The twists of a pass. With two, the first is of the upper low bits and has the other factors. */
CUZK_HD void ntt_plan_twist(ntt_plan *p, ntt_pass *pass, const ntt_request *want, uint32_t above,
                            bool scaled)
{
    uint32_t all = pass->digit_lg + pass->low_lg;
    bool one = all <= 18 || (uint64_t)64 << all <= want->table_limit;
    pass->twist = one ? NTT_TWIST_ONE : NTT_TWIST_TWO;
    pass->split_lg = one ? 0 : pass->low_lg / 2;
    for (uint32_t part = 0; part < pass->twist; part++) {
        uint32_t j_lg = part ? pass->split_lg : pass->low_lg - pass->split_lg;
        ntt_table *t = ntt_plan_add(p, (uint64_t)1 << (pass->digit_lg + j_lg));
        t->is_twist = 1;
        t->row_lg = pass->digit_lg;
        t->low_lg = pass->low_lg;
        t->j_lg = j_lg;
        t->j_shift = part ? 0 : pass->split_lg;
        t->natural = want->coset == NTT_COSET_NATURAL && above == 0;
        t->reversed = want->coset == NTT_COSET_REVERSED && part == 0;
        t->g_lg = t->reversed ? above : 0;
        t->scaled = scaled && part == 0;
    }
}

/* The outer factors: g^(t 2^(s+m)) for the first step's bits t at the natural end, and for the last
 * step's bits at the other end, where they are reversed and the highest of the index. */
CUZK_HD void ntt_plan_outer(ntt_pass *pass, const ntt_request *want)
{
    uint32_t last = ntt_steps(pass->digit_lg) - 1, bits = ntt_step_bits(pass->digit_lg, last);
    bool natural = pass->coset == NTT_COSET_NATURAL;
    if (natural) {
        bits = pass->digit_lg < 3 ? pass->digit_lg : 3;
    }
    uint32_t unit_lg = natural ? pass->digit_lg - bits + pass->low_lg : want->lg - bits;
    dfr unit = want->coset == NTT_COSET_NONE ? dfr_one() : ntt_pow(want->g, (uint64_t)1 << unit_lg);
    dfr power[8];
    power[0] = pass->outer_all ? want->scale : dfr_one();
    for (uint32_t t = 1; t < 8; t++) {
        power[t] = dfr_mul_canonical(power[t - 1], unit);
    }
    for (uint32_t t = 0; t < 8; t++) {
        uint32_t low = t & ((1u << bits) - 1);
        pass->outer[t] = dfr_shoup_of(power[natural ? low : hd_reverse(low, bits)]);
    }
}

/* w_8, w_8^2, w_8^3, or of the sizes below 8 what ntt_radix8 uses. */
CUZK_HD void ntt_plan_w8(ntt_pass *pass, const ntt_request *want)
{
    for (uint32_t k = 0; k < 3; k++) {
        uint64_t e = want->lg >= 3   ? (uint64_t)(k + 1) << (want->lg - 3)
                     : want->lg == 2 ? k /* w_4 is w_8^2 */
                                     : 0;
        pass->w8[k] = dfr_shoup_of(ntt_pow(want->root, e));
    }
}

/** Lays out the passes and tables of a transform. */
CUZK_HD void ntt_plan_make(ntt_plan *p, const ntt_request *want)
{
    uint32_t digits[NTT_MAX_PASSES], above = 0;
    p->lg = want->lg;
    p->passes = ntt_split(want->lg, digits);
    p->backwards = want->backwards;
    p->coset = want->coset;
    if (want->scaled && p->passes == 1 && want->coset == NTT_COSET_NONE) {
        p->coset = NTT_COSET_REVERSED; /* of g = 1: the scale needs a place */
    }
    p->quads = 0;
    p->tables = 0;
    for (uint32_t i = 0; i < p->passes; i++) {
        ntt_pass *pass = &p->pass[i];
        bool first = i == 0, last = i + 1 == p->passes;
        bool scaled = want->scaled && (p->passes == 1 || i + 2 == p->passes);
        pass->digit_lg = digits[i];
        pass->low_lg = want->lg - above - digits[i];
        pass->tile_lg = ntt_clamp((int)want->lg, 0, first ? NTT_TILE_LG : NTT_SMALL_TILE_LG);
        pass->total_lg = want->lg;
        pass->backwards = want->backwards;
        pass->coset =
            (first && p->coset == NTT_COSET_NATURAL) || (last && p->coset == NTT_COSET_REVERSED)
                ? p->coset
                : (uint32_t)NTT_COSET_NONE;
        pass->outer_all =
            scaled && p->passes == 1 && (p->coset == NTT_COSET_REVERSED || want->lg <= NTT_TINY_LG);
        pass->reduce = want->backwards ? first : last;
        pass->twist = NTT_TWIST_NONE;
        pass->split_lg = 0;
        ntt_plan_w8(pass, want);
        ntt_plan_outer(pass, want);
        if (want->lg > NTT_TINY_LG) {
            ntt_plan_inner(p, pass, above, scaled && last);
        }
        if (!last) {
            ntt_plan_twist(p, pass, want, above, scaled);
        }
        above += digits[i];
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

/** The whole transform of 2^lg <= 8 elements. */
CUZK_HD void ntt_tiny(limb_quad *a, const ntt_pass *p)
{
    /* The factors belong to the side of the input or of the output. */
    bool natural = p->coset == NTT_COSET_NATURAL, reversed = p->coset == NTT_COSET_REVERSED;
    dfr x[8];
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        x[t] = dfr_zero();
        if (t < 1u << p->digit_lg) {
            x[t] = ntt_join(ntt_load(a + 2 * t), ntt_load(a + 2 * t + 1));
        }
    }
    if (p->backwards ? reversed : natural) {
        ntt_mul_outer(x, p);
    }
    if (p->backwards) {
        ntt_radix8_back(x, p->w8, p->digit_lg);
    } else {
        ntt_radix8(x, p->w8, p->digit_lg);
    }
    if (p->backwards ? natural : reversed) {
        ntt_mul_outer(x, p);
    }
    ntt_reduce(x);
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        if (t < 1u << p->digit_lg) {
            ntt_store(a + 2 * t, ntt_half(x[t], 0));
            ntt_store(a + 2 * t + 1, ntt_half(x[t], 1));
        }
    }
}

#endif
