#ifndef CUZK_BACKEND_CUDA_EACH_SETUP_H
#define CUZK_BACKEND_CUDA_EACH_SETUP_H

#include "backend/cuda/dfr.h"
#include "backend/cuda/each.h"
#include "r1cs/template_types.h"

/*
 * The kernels of a setup (setup.c) and of multiples of a fixed point (fixed.c). Elements are in
 * canonical Montgomery form unless said otherwise; all pointers are to device memory, aligned to 16
 * bytes.
 */

enum { CUZK_CUDA_SETUP_MAX_LG = 28 };

/** x^(2^k) for k below the number of bits of an exponent. */
typedef struct cuzk_cuda_setup_powers {
    dfr x[CUZK_CUDA_SETUP_MAX_LG];
} cuzk_cuda_setup_powers;

/** basis[j] = scale w^j / (tau - w^j), j < n. Thread t of `stride` makes t, t + stride, … with one
 *  inversion. No w^j is tau. */
typedef struct cuzk_cuda_setup_basis_job {
    dfr *basis;
    uint64_t n, stride;            /* 0 < stride <= n */
    dfr tau, scale;                /* (tau^N - 1) / N */
    dfr step, step_inv;            /* w^stride and its inverse */
    cuzk_cuda_setup_powers powers; /* of w */
} cuzk_cuda_setup_basis_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_basis, cuzk_cuda_setup_basis_job);

/** A term of a template's column. */
typedef struct cuzk_cuda_setup_term {
    uint32_t row, coeff;
} cuzk_cuda_setup_term;

/** The templates' matrices by columns: reference r of template t has in matrix m the terms
 *  [first[at], first[at + 1]) with at = base[3 t + m] + r. */
typedef struct cuzk_cuda_setup_columns {
    const cuzk_template *templates;
    const cuzk_instance *instances; /* n_instances + 1 */
    const dfr *dictionary, *basis;
    const uint32_t *base, *first;
    const cuzk_cuda_setup_term *terms;
    uint32_t n_instances;
} cuzk_cuda_setup_columns;

/** values[m][i] = the sum over column i of matrix m of coefficient times basis, over the rows of
 * the instance that allocates aux i. */
typedef struct cuzk_cuda_setup_own_job {
    cuzk_cuda_setup_columns columns;
    dfr *values[3];
} cuzk_cuda_setup_own_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_own, cuzk_cuda_setup_own_job);

/** A variable that an instance did not allocate, but uses: by ONE or by a port. Uses stand in the
 *  order of the variables; `at` and `left` are how many of the same variable come before and after.
 */
typedef struct cuzk_cuda_setup_use {
    uint32_t instance, ref;
    uint32_t var; /* an input's number, or n_inputs + that of an aux */
    uint32_t at, left;
} cuzk_cuda_setup_use;

/** The use's part of the three columns: sums[3 k + m]. */
typedef struct cuzk_cuda_setup_uses_job {
    cuzk_cuda_setup_columns columns;
    const cuzk_cuda_setup_use *uses;
    dfr *sums;
} cuzk_cuda_setup_uses_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_uses, cuzk_cuda_setup_uses_job);

/** One step of summing the uses of each variable, over pairs of uses that are `distance`, a power
 *  of two, apart: after the steps 1, 2, 4, … the first use has the sum of all. */
typedef struct cuzk_cuda_setup_fold_job {
    const cuzk_cuda_setup_use *uses;
    dfr *sums;
    uint32_t distance;
} cuzk_cuda_setup_fold_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_fold, cuzk_cuda_setup_fold_job);

/** values[m][var] += sums[3 k + m] for the first use k of each variable. */
typedef struct cuzk_cuda_setup_collect_job {
    const cuzk_cuda_setup_use *uses;
    const dfr *sums;
    dfr *values[3]; /* inputs first */
} cuzk_cuda_setup_collect_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_collect, cuzk_cuda_setup_collect_job);

/** a[i] += b[i]. */
typedef struct cuzk_cuda_setup_add_job {
    dfr *a;
    const dfr *b;
} cuzk_cuda_setup_add_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_add, cuzk_cuda_setup_add_job);

/** Places in cuzk_cuda_setup_combine_job.bad. */
enum { CUZK_CUDA_SETUP_BAD_A, CUZK_CUDA_SETUP_BAD_B, CUZK_CUDA_SETUP_BAD_C, CUZK_CUDA_SETUP_BADS };

/** c = (beta a + alpha b + c) / gamma for inputs, / delta for aux; and the least variable whose a
 *  is zero though it is an input or its bit in a is set, whose b is zero though its bit is set, and
 *  whose new c is zero. */
typedef struct cuzk_cuda_setup_combine_job {
    const dfr *a, *b;
    dfr *c;
    const uint64_t *a_aux, *b_aux, *b_inputs; /* bit i of each: input or aux i */
    uint32_t *bad;                            /* CUZK_CUDA_SETUP_BADS, all ones at first */
    uint32_t n_inputs;
    dfr alpha, beta, gamma_inv, delta_inv;
} cuzk_cuda_setup_combine_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_combine, cuzk_cuda_setup_combine_job);

/** values[begin + i] as an integer to ret[i]; with bits, those whose bit begin + i is set, one
 *  after the other. */
typedef struct cuzk_cuda_setup_pick_job {
    const dfr *values;
    const uint64_t *bits;  /* NULL: all */
    const uint32_t *ranks; /* how many bits are set before each word */
    dfr *ret;
    uint64_t begin; /* a multiple of 64 with bits */
} cuzk_cuda_setup_pick_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_pick, cuzk_cuda_setup_pick_job);

/** ret[i] = scale tau^e as an integer, e the number begin + i with its lg bits reversed; 0 where
 *  that is 2^lg - 1. */
typedef struct cuzk_cuda_setup_h_job {
    dfr *ret;
    uint64_t begin;
    uint32_t lg;
    dfr scale;
    cuzk_cuda_setup_powers powers; /* of tau */
} cuzk_cuda_setup_h_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_h, cuzk_cuda_setup_h_job);

/** Point i of `points` in the uncompressed encoding to ret; with lg, the point at the place begin +
 *  i with its lg bits reversed. Thread j makes coordinate j, of 48 bytes; a point has
 *  `coordinates`. *bad: the least begin + i whose point is infinity. */
typedef struct cuzk_cuda_setup_encode_job {
    const void *points;
    uint32_t *ret;
    uint32_t *bad;
    uint64_t begin;
    uint32_t lg;          /* 0: places are as they are */
    uint32_t coordinates; /* 2 in G1, 4 in G2 */
} cuzk_cuda_setup_encode_job;
CUZK_EACH_DECLARE(cuzk_cuda_setup_encode, cuzk_cuda_setup_encode_job);

/*
 * Multiples of a fixed point: `windows` of `width` bits cover a scalar; entry d of window w, at
 * table[(w << width) + d], is d 2^(w width) times the point, and infinity for d = 0.
 */

/** With m = 2^k: entry m + i + 1 as the sum of entries m and i + 1, i < m, where it is in the
 *  table. Thread: w m + i. */
typedef struct cuzk_cuda_fixed_fill_job {
    void *table;
    uint32_t width, k;
} cuzk_cuda_fixed_fill_job;
CUZK_EACH_DECLARE(cuzk_cuda_fixed_g1_fill, cuzk_cuda_fixed_fill_job);
CUZK_EACH_DECLARE(cuzk_cuda_fixed_g2_fill, cuzk_cuda_fixed_fill_job);

/** sums[i] = scalars[i], an integer below 2^255, times the point, in XYZZ coordinates. */
typedef struct cuzk_cuda_fixed_sum_job {
    const void *table;
    const dfr *scalars;
    void *sums;
    uint32_t width, windows;
} cuzk_cuda_fixed_sum_job;
CUZK_EACH_DECLARE(cuzk_cuda_fixed_g1_sum, cuzk_cuda_fixed_sum_job);
CUZK_EACH_DECLARE(cuzk_cuda_fixed_g2_sum, cuzk_cuda_fixed_sum_job);

/** points[i] = sums[i], affine, canonical, i < n. Thread t of `stride` makes t, t + stride, … with
 *  one inversion. */
typedef struct cuzk_cuda_fixed_affine_job {
    const void *sums;
    void *points;
    uint64_t n, stride;
} cuzk_cuda_fixed_affine_job;
CUZK_EACH_DECLARE(cuzk_cuda_fixed_g1_affine, cuzk_cuda_fixed_affine_job);
CUZK_EACH_DECLARE(cuzk_cuda_fixed_g2_affine, cuzk_cuda_fixed_affine_job);

#endif
