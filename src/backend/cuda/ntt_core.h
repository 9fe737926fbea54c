#ifndef CUZK_BACKEND_CUDA_NTT_CORE_H
#define CUZK_BACKEND_CUDA_NTT_CORE_H

#include "backend/cuda/dfr.h"

/*
 * What one thread of the transform's kernels does between two barriers, and how their tables are
 * made; see ntt_plan.h for the plan that puts passes together.
 *
 * The index i is cut into digits i = (i_1, .., i_n) from the top, n <= 3, the index of the result
 * into k = (k_n, .., k_1). A pass transforms along one digit of D bits, with m bits below it, in
 * place: digit p of i becomes k_p with its bits reversed, so after all passes place j holds the
 * result at the bit reversal of j. Backwards, the passes run in the opposite order and each undoes
 * that. Between two passes every element has its factor, the twist, w^(k_p (i_{p+1}, ..)).
 *
 * In a pass a block holds a tile of 2^L elements: 2^D rows by 2^(L-D) adjacent columns, element
 * (row << (L - D) | column) (the last digit has m = 0: rows are contiguous, element (column << D |
 * row)). A step combines three bits of the row, the same three for all 8 elements of a thread: the
 * top three, then the next, the last step what is left (one to three bits). A step with s bits of
 * the row below it has factors w_(2^(s+3))^(k q), q those s bits, from the inner tables.
 *
 * A coset is a factor g^i of the element of index i, at the end where indices are in natural order
 * or at the other. For i = i_1 2^m + j in natural order g^j is part of the first twist, and of
 * g^(i_1 2^m) the part of the bits q belongs to the first step's inner table and the part of the
 * step's own three bits is a factor of its own, the outer one. At the other end each digit's factor
 * is part of the twist after it, the last digit's part of its steps' inner tables, and its last
 * step's the outer one.
 */

enum { NTT_MAX_DIGIT_LG = 9, NTT_MIN_DIGIT_LG = 4, NTT_MAX_STEPS = 3 };

/* Small tiles are faster, as more blocks share a processor. But the first pass's rows lie far
 * apart, and pieces of 64 bytes from there cost more than that. */
enum { NTT_TILE_LG = 11, NTT_SMALL_TILE_LG = 10 };

typedef struct __attribute__((aligned(16))) limb_quad {
    uint32_t v[4];
} limb_quad;

/** Where elements have the factor g^i. */
typedef enum ntt_coset {
    NTT_COSET_NONE,
    NTT_COSET_NATURAL,  /* where indices are in natural order: in the pass over the first digit */
    NTT_COSET_REVERSED, /* at the other end: in the pass over the last digit */
} ntt_coset;

/** How many multiplications an element's twist takes. */
typedef enum ntt_twist {
    NTT_TWIST_NONE, /* the pass over the last digit */
    NTT_TWIST_ONE,  /* a factor for each (row, low bits): 64 * 2^(D+m) bytes, read once */
    NTT_TWIST_TWO,  /* the product of a factor for the upper and one for the lower low bits */
} ntt_twist;

/** One pass. Pointers are to the memory of whoever runs it. */
typedef struct ntt_pass {
    uint32_t digit_lg, low_lg, tile_lg; /* D, m, L */
    uint32_t total_lg;
    uint32_t backwards;                    /* from reversed to natural places */
    uint32_t coset;                        /* ntt_coset, if this pass has the outer factors */
    uint32_t outer_all;                    /* outer[0] is not 1 either */
    uint32_t reduce;                       /* store canonical results */
    uint32_t twist, split_lg;              /* ntt_twist; how many low bits the second factor has */
    const limb_quad *inner[NTT_MAX_STEPS]; /* for each step but the one with s = 0 */
    const limb_quad *twists[2];
    dfr_shoup w8[3];    /* w_8, w_8^2, w_8^3 */
    dfr_shoup outer[8]; /* for the bits t of the first (NATURAL) or the last step */
} ntt_pass;

CUZK_HD limb_quad ntt_load(const limb_quad *p)
{
#ifdef __CUDA_ARCH__
    uint4 t = __ldcg((const uint4 *)p);
    limb_quad r = {{t.x, t.y, t.z, t.w}};
    return r;
#else
    return *p;
#endif
}

/* From a table that many threads read: through the first-level cache. */
CUZK_HD limb_quad ntt_load_shared_table(const limb_quad *p)
{
#ifdef __CUDA_ARCH__
    uint4 t = __ldg((const uint4 *)p);
    limb_quad r = {{t.x, t.y, t.z, t.w}};
    return r;
#else
    return *p;
#endif
}

CUZK_HD void ntt_store(limb_quad *p, limb_quad a)
{
#ifdef __CUDA_ARCH__
    *(uint4 *)p = make_uint4(a.v[0], a.v[1], a.v[2], a.v[3]);
#else
    *p = a;
#endif
}

CUZK_HD dfr ntt_join(limb_quad low, limb_quad high)
{
    dfr r;
    CUZK_UNROLL
    for (int i = 0; i < 4; i++) {
        r.l[i] = low.v[i];
        r.l[i + 4] = high.v[i];
    }
    return r;
}

CUZK_HD limb_quad ntt_half(dfr a, int half)
{
    limb_quad r;
    CUZK_UNROLL
    for (int i = 0; i < 4; i++) {
        r.v[i] = a.l[4 * half + i];
    }
    return r;
}

/** A factor times a; its quads lie `stride` apart. Reads through the cache of the processor when
 *  `near`. */
CUZK_HD dfr ntt_mul_table(dfr a, const limb_quad *p, uint32_t stride, bool near)
{
    limb_quad t[4];
    CUZK_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        t[i] = near ? ntt_load_shared_table(p + i * stride) : ntt_load(p + i * stride);
    }
    return dfr_shoup_mul(a, ntt_join(t[0], t[1]), ntt_join(t[2], t[3]));
}

/** Where the quads of entry i of a twist table begin (stride 4): four neighbours share 256 bytes.
 */
CUZK_HD uint64_t ntt_twist_at(uint64_t i) { return (i >> 2) * 16 + (i & 3); }

/* The order of tile elements in shared memory: eight threads in a row use different banks in every
 * step. */
CUZK_HD uint32_t ntt_swizzle(uint32_t e) { return e ^ ((e >> 3) & 7); }

/** The lowest row bit of a step, counted from the top. */
CUZK_HD uint32_t ntt_step_shift(uint32_t digit_lg, uint32_t step)
{
    return digit_lg > 3 * (step + 1) ? digit_lg - 3 * (step + 1) : 0;
}

/** How many row bits a step combines. */
CUZK_HD uint32_t ntt_step_bits(uint32_t digit_lg, uint32_t step)
{
    return digit_lg >= 3 * (step + 1) ? 3 : digit_lg - 3 * step;
}

CUZK_HD uint32_t ntt_steps(uint32_t digit_lg) { return (digit_lg + 2) / 3; }

/** A thread's 8 elements in a step: tile elements first + t << bit, at global index + t << lg. */
typedef struct ntt_place {
    uint32_t first, bit, q, row;
    uint64_t global;
    uint32_t global_lg;
    uint32_t low; /* the low bits of the index, below the digit */
} ntt_place;

CUZK_HD ntt_place ntt_place_of(const ntt_pass *p, uint32_t block, uint32_t thread, uint32_t s)
{
    ntt_place r;
    uint32_t column_lg = p->tile_lg - p->digit_lg;
    r.bit = p->low_lg ? s + column_lg : s;
    r.first = (thread >> r.bit) << (r.bit + 3) | (thread & ((1u << r.bit) - 1));
    if (p->low_lg) {
        uint32_t tiles_lg = p->low_lg - column_lg;
        r.low = (block & ((1u << tiles_lg) - 1)) << column_lg | (r.first & ((1u << column_lg) - 1));
        r.row = r.first >> column_lg;
        r.global = (uint64_t)(block >> tiles_lg) << (p->digit_lg + p->low_lg) |
                   (uint64_t)r.row << p->low_lg | r.low;
    } else {
        r.low = 0;
        r.row = r.first & ((1u << p->digit_lg) - 1);
        r.global = (uint64_t)block << p->tile_lg | r.first;
    }
    r.global_lg = s + p->low_lg;
    r.q = r.row & ((1u << s) - 1);
    return r;
}

CUZK_HD void ntt_read_global(dfr *x, const limb_quad *a, const ntt_place *at)
{
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        const limb_quad *p = a + 2 * (at->global + ((uint64_t)t << at->global_lg));
        x[t] = ntt_join(ntt_load(p), ntt_load(p + 1));
    }
}

CUZK_HD void ntt_write_global(limb_quad *a, const dfr *x, const ntt_place *at)
{
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        limb_quad *p = a + 2 * (at->global + ((uint64_t)t << at->global_lg));
        ntt_store(p, ntt_half(x[t], 0));
        ntt_store(p + 1, ntt_half(x[t], 1));
    }
}

/* The tile keeps the lower halves of all elements, then the upper. */
CUZK_HD void ntt_read_tile(dfr *x, const limb_quad *tile, uint32_t tile_lg, const ntt_place *at)
{
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        uint32_t e = ntt_swizzle(at->first + (t << at->bit));
        x[t] = ntt_join(tile[e], tile[e + (1u << tile_lg)]);
    }
}

CUZK_HD void ntt_write_tile(limb_quad *tile, uint32_t tile_lg, const dfr *x, const ntt_place *at)
{
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        uint32_t e = ntt_swizzle(at->first + (t << at->bit));
        tile[e] = ntt_half(x[t], 0);
        tile[e + (1u << tile_lg)] = ntt_half(x[t], 1);
    }
}

/** Copies quad `i` of a tile of contiguous rows, of 2^(L+1): in before the first step backwards,
 * out after the last step of the other direction, so that neighbours go by neighbours. */
CUZK_HD void ntt_copy_in(limb_quad *tile, const limb_quad *a, const ntt_pass *p, uint32_t block,
                         uint32_t i)
{
    uint32_t e = ntt_swizzle(i >> 1) + ((i & 1) << p->tile_lg);
    tile[e] = ntt_load(a + ((uint64_t)block << (p->tile_lg + 1)) + i);
}

CUZK_HD void ntt_copy_out(limb_quad *a, const limb_quad *tile, const ntt_pass *p, uint32_t block,
                          uint32_t i)
{
    uint32_t e = ntt_swizzle(i >> 1) + ((i & 1) << p->tile_lg);
    ntt_store(a + ((uint64_t)block << (p->tile_lg + 1)) + i, tile[e]);
}

CUZK_HD void ntt_butterfly(dfr *a, dfr *b)
{
    dfr t = dfr_sub(*a, *b);
    *a = dfr_add(*a, *b);
    *b = t;
}

CUZK_HD dfr ntt_mul_fixed(dfr a, const dfr_shoup *w) { return dfr_shoup_mul(a, w->w, w->q); }

/** x_t = sum_u x_u w_8^(u t') over the low `bits` bits of t, t' the reversal of t. */
CUZK_HD void ntt_radix8(dfr *x, const dfr_shoup *w8, uint32_t bits)
{
    if (bits == 3) {
        CUZK_UNROLL
        for (int k = 0; k < 4; k++) {
            ntt_butterfly(&x[k], &x[k + 4]);
            if (k > 0) {
                x[k + 4] = ntt_mul_fixed(x[k + 4], &w8[k - 1]);
            }
        }
    }
    if (bits >= 2) {
        CUZK_UNROLL
        for (int h = 0; h < 8; h += 4) {
            ntt_butterfly(&x[h], &x[h + 2]);
            ntt_butterfly(&x[h + 1], &x[h + 3]);
            x[h + 3] = ntt_mul_fixed(x[h + 3], &w8[1]);
        }
    }
    CUZK_UNROLL
    for (int h = 0; h < 8; h += 2) {
        ntt_butterfly(&x[h], &x[h + 1]);
    }
}

/** The same from reversed to natural places. */
CUZK_HD void ntt_radix8_back(dfr *x, const dfr_shoup *w8, uint32_t bits)
{
    CUZK_UNROLL
    for (int h = 0; h < 8; h += 2) {
        ntt_butterfly(&x[h], &x[h + 1]);
    }
    if (bits >= 2) {
        CUZK_UNROLL
        for (int h = 0; h < 8; h += 4) {
            x[h + 3] = ntt_mul_fixed(x[h + 3], &w8[1]);
            ntt_butterfly(&x[h], &x[h + 2]);
            ntt_butterfly(&x[h + 1], &x[h + 3]);
        }
    }
    if (bits == 3) {
        CUZK_UNROLL
        for (int k = 0; k < 4; k++) {
            if (k > 0) {
                x[k + 4] = ntt_mul_fixed(x[k + 4], &w8[k - 1]);
            }
            ntt_butterfly(&x[k], &x[k + 4]);
        }
    }
}

/* Multiplies by the step's inner factors. */
CUZK_HD void ntt_mul_inner(dfr *x, const ntt_pass *p, uint32_t step, uint32_t s, uint32_t q,
                           bool all)
{
    const limb_quad *table = p->inner[step] + q;
    if (all) {
        x[0] = ntt_mul_table(x[0], table, 1u << s, true);
    }
    CUZK_UNROLL
    for (uint32_t t = 1; t < 8; t++) {
        x[t] = ntt_mul_table(x[t], table + (4 * t << s), 1u << s, true);
    }
}

/* Multiplies by the twists of a step with s = 0: rows row + t. */
CUZK_HD void ntt_mul_twist(dfr *x, const ntt_pass *p, const ntt_place *at)
{
    if (p->twist == NTT_TWIST_TWO) {
        const limb_quad *table = p->twists[1];
        uint32_t low = at->low & ((1u << p->split_lg) - 1);
        CUZK_UNROLL
        for (uint32_t t = 0; t < 8; t++) {
            uint64_t i = (uint64_t)(at->row + t) << p->split_lg | low;
            x[t] = ntt_mul_table(x[t], table + ntt_twist_at(i), 4, true);
        }
    }
    const limb_quad *table = p->twists[0];
    uint32_t shift = p->twist == NTT_TWIST_TWO ? p->split_lg : 0;
    CUZK_UNROLL
    for (uint32_t t = 0; t < 8; t++) {
        uint64_t i = (uint64_t)(at->row + t) << (p->low_lg - shift) | at->low >> shift;
        x[t] = ntt_mul_table(x[t], table + ntt_twist_at(i), 4, false);
    }
}

/* Multiplies by the outer factors. */
CUZK_HD void ntt_mul_outer(dfr *x, const ntt_pass *p)
{
    if (p->outer_all) {
        x[0] = ntt_mul_fixed(x[0], &p->outer[0]);
    }
    CUZK_UNROLL
    for (int t = 1; t < 8; t++) {
        x[t] = ntt_mul_fixed(x[t], &p->outer[t]);
    }
}

CUZK_HD void ntt_reduce(dfr *x)
{
    CUZK_UNROLL
    for (int t = 0; t < 8; t++) {
        x[t] = dfr_reduce(x[t]);
    }
}

/** Step `step` of a pass to reversed places on x, a thread's 8 elements. */
CUZK_HD void ntt_step(dfr *x, const ntt_pass *p, const ntt_place *at, uint32_t step, uint32_t s,
                      ntt_coset coset)
{
    if (coset == NTT_COSET_NATURAL && step == 0) {
        ntt_mul_outer(x, p);
    }
    ntt_radix8(x, p->w8, ntt_step_bits(p->digit_lg, step));
    if (s > 0) {
        ntt_mul_inner(x, p, step, s, at->q, coset == NTT_COSET_NATURAL && step == 0);
        return;
    }
    if (coset == NTT_COSET_REVERSED) {
        ntt_mul_outer(x, p);
    } else if (p->twist != NTT_TWIST_NONE) {
        ntt_mul_twist(x, p, at);
    }
    if (p->reduce) {
        ntt_reduce(x);
    }
}

/** The same step of a pass backwards, which takes the steps from the last to the first. */
CUZK_HD void ntt_step_back(dfr *x, const ntt_pass *p, const ntt_place *at, uint32_t step,
                           uint32_t s, ntt_coset coset)
{
    if (s > 0) {
        ntt_mul_inner(x, p, step, s, at->q, coset == NTT_COSET_NATURAL && step == 0);
    } else if (coset == NTT_COSET_REVERSED) {
        ntt_mul_outer(x, p);
    } else if (p->twist != NTT_TWIST_NONE) {
        ntt_mul_twist(x, p, at);
    }
    ntt_radix8_back(x, p->w8, ntt_step_bits(p->digit_lg, step));
    if (step > 0) {
        return;
    }
    if (coset == NTT_COSET_NATURAL) {
        ntt_mul_outer(x, p);
    }
    if (p->reduce) {
        ntt_reduce(x);
    }
}

/* Tables. */

enum { NTT_POWER_LOW_LG = 14 };

/** g^e for e < 2^28 as low[e mod 2^14] high[e / 2^14], all canonical. */
typedef struct ntt_powers {
    const dfr *low, *high;
} ntt_powers;

/** Entry i of low (step 1) and high (step 2^14). */
CUZK_HD dfr ntt_power_entry(dfr g, uint32_t i)
{
    dfr r = dfr_one();
    for (int bit = NTT_POWER_LOW_LG; bit-- > 0;) {
        r = dfr_mul_canonical(r, r);
        if (i >> bit & 1) {
            r = dfr_mul_canonical(r, g);
        }
    }
    return r;
}

CUZK_HD dfr ntt_power(const ntt_powers *g, uint32_t e)
{
    return dfr_mul_canonical(g->high[e >> NTT_POWER_LOW_LG],
                             g->low[e & ((1u << NTT_POWER_LOW_LG) - 1)]);
}

/** What tables are made of: powers of the root w_(2^lg) (or its inverse) and of the coset's g (or
 *  its inverse), and a factor for all. */
typedef struct ntt_source {
    ntt_powers root, coset;
    uint32_t lg;
    dfr scale;
} ntt_source;

/** One table: its entries i < count come from ntt_make_entry. */
typedef struct ntt_table {
    uint64_t offset; /* quads from the start of all tables */
    uint64_t count;
    uint32_t is_twist;
    uint32_t s;      /* inner: i = t 2^s + q */
    uint32_t row_lg; /* twist: i = row 2^j_lg + j, of the low bits j 2^j_shift .. */
    uint32_t low_lg; /* .. of low_lg */
    uint32_t j_lg, j_shift;
    uint32_t natural;  /* has a factor g^(q 2^g_lg), g^(low bits) */
    uint32_t reversed; /* has a factor g^(k 2^g_lg), k the reversed bits t or row */
    uint32_t g_lg;
    uint32_t scaled; /* has the factor for all */
} ntt_table;

/** Makes entry i of a table at base. */
CUZK_HD void ntt_make_entry(limb_quad *base, const ntt_table *table, const ntt_source *from,
                            uint64_t i)
{
    uint32_t low, k, w_lg; /* the root's power: w^(k low 2^w_lg) */
    limb_quad *at = base + table->offset;
    if (table->is_twist) {
        low = ((uint32_t)i & ((1u << table->j_lg) - 1)) << table->j_shift;
        k = hd_reverse((uint32_t)(i >> table->j_lg), table->row_lg);
        w_lg = from->lg - table->row_lg - table->low_lg;
        at += ntt_twist_at(i);
    } else {
        low = (uint32_t)i & ((1u << table->s) - 1);
        k = hd_reverse((uint32_t)(i >> table->s), 3);
        w_lg = from->lg - table->s - 3;
        at += (i >> table->s << (table->s + 2)) + low;
    }
    dfr r = ntt_power(&from->root, (k * low) << w_lg);
    if (table->natural) {
        r = dfr_mul_canonical(r, ntt_power(&from->coset, low << table->g_lg));
    }
    if (table->reversed) {
        r = dfr_mul_canonical(r, ntt_power(&from->coset, k << table->g_lg));
    }
    if (table->scaled) {
        r = dfr_mul_canonical(r, from->scale);
    }
    uint32_t stride = table->is_twist ? 4 : 1u << table->s;
    dfr_shoup w = dfr_shoup_of(r);
    ntt_store(at, ntt_half(w.w, 0));
    ntt_store(at + stride, ntt_half(w.w, 1));
    ntt_store(at + 2 * stride, ntt_half(w.q, 0));
    ntt_store(at + 3 * stride, ntt_half(w.q, 1));
}

#endif
