#include "groth16/groth16.h"

#include "base/bytes.h"
#include "math/curve/pairing.h"

#include <stdlib.h>

/* The equation is e(A, B) = e(alpha, beta) e(L, gamma) e(C, delta) with L = ic_0 + sum x_i ic_i,
 * checked as e(A, B) e(-alpha, beta) e(-L, gamma) e(-C, delta) = 1. */

struct cuzk_verifier {
    g2_prepared beta, gamma, delta;
    g1_affine minus_alpha;
    fp12 minus_alpha_beta; /* Miller loop of (-alpha, beta) */
    size_t n_inputs;       /* without ONE */
    g1_affine ic[];        /* n_inputs + 1 */
};

static cuzk_code check_key(const cuzk_vk *vk, cuzk_err *err)
{
    const char *point = g1_affine_is_inf(&vk->alpha_g1)   ? "alpha_g1"
                        : g2_affine_is_inf(&vk->beta_g2)  ? "beta_g2"
                        : g2_affine_is_inf(&vk->gamma_g2) ? "gamma_g2"
                        : g2_affine_is_inf(&vk->delta_g2) ? "delta_g2"
                                                          : NULL;
    if (point) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "verifying key: %s: expected a finite point, found the point at infinity",
                         point);
    }
    if (vk->n_ic == 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "verifying key: length of ic: expected at least 1, found 0");
    }
    return CUZK_OK;
}

cuzk_code cuzk_verifier_new(cuzk_verifier **ret, const cuzk_vk *vk, cuzk_err *err)
{
    CUZK_TRY(check_key(vk, err));
    cuzk_verifier *v = malloc(sizeof *v + vk->n_ic * sizeof *vk->ic);
    if (!v) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a key of %u inputs", vk->n_ic);
    }
    g2_prepare(&v->beta, &vk->beta_g2);
    g2_prepare(&v->gamma, &vk->gamma_g2);
    g2_prepare(&v->delta, &vk->delta_g2);
    g1_affine_neg(&v->minus_alpha, &vk->alpha_g1);
    const pairing_term term = {.p = &v->minus_alpha, .prepared = &v->beta};
    pairing_miller(&v->minus_alpha_beta, &term, 1);
    v->n_inputs = vk->n_ic - 1;
    memcpy(v->ic, vk->ic, vk->n_ic * sizeof *vk->ic);
    *ret = v;
    return CUZK_OK;
}

void cuzk_verifier_free(cuzk_verifier *v) { free(v); }

/* That k groups of n inputs are what the key wants. */
static cuzk_code check_inputs(const cuzk_verifier *v, const fr_repr *inputs, size_t n, size_t k,
                              cuzk_err *err)
{
    if (n != v->n_inputs) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "public inputs: expected %zu, found %zu", v->n_inputs,
                         n);
    }
    for (size_t i = 0; i < n * k; i++) {
        if (!fr_repr_is_canonical(&inputs[i])) {
            uint8_t bytes[32];
            char hex[65];
            fr_repr_to_bytes(bytes, &inputs[i]);
            cuzk_hex_format(hex, bytes, sizeof bytes);
            return CUZK_FAIL(
                err, CUZK_E_INPUT,
                "public input %zu of proof %zu: expected a little-endian integer below "
                "r, found the bytes %s",
                i % n, i / n, hex);
        }
    }
    return CUZK_OK;
}

static cuzk_code check_finite(const cuzk_proof *proof, size_t index, cuzk_err *err)
{
    const char *point = g1_affine_is_inf(&proof->a)   ? "A"
                        : g2_affine_is_inf(&proof->b) ? "B"
                        : g1_affine_is_inf(&proof->c) ? "C"
                                                      : NULL;
    if (point) {
        return CUZK_FAIL(err, CUZK_E_INVALID, "proof %zu is not valid: %s is the point at infinity",
                         index, point);
    }
    return CUZK_OK;
}

/* -a in affine coordinates */
static void negated_affine(g1_affine *ret, const g1 *a)
{
    g1 t;
    g1_neg(&t, a);
    g1_to_affine(ret, &t);
}

cuzk_code cuzk_verify(const cuzk_verifier *v, const cuzk_proof *proof, const fr_repr *inputs,
                      size_t n, cuzk_pool *pool, cuzk_err *err)
{
    CUZK_TRY(check_inputs(v, inputs, n, 1, err));
    CUZK_TRY(check_finite(proof, 0, err));
    g1 sum;
    g1_affine l, c;
    CUZK_TRY(msm_g1(&sum, v->ic + 1, inputs, n, pool, err));
    g1_add_affine(&sum, &sum, &v->ic[0]);
    negated_affine(&l, &sum);
    g1_affine_neg(&c, &proof->c);
    const pairing_term terms[] = {
        {.p = &proof->a, .q = &proof->b},
        {.p = &l, .prepared = &v->gamma},
        {.p = &c, .prepared = &v->delta},
    };
    fp12 f;
    pairing_miller(&f, terms, sizeof terms / sizeof *terms);
    fp12_mul(&f, &f, &v->minus_alpha_beta);
    pairing_final_exp(&f, &f);
    if (!fp12_is_one(&f)) {
        return CUZK_FAIL(err, CUZK_E_INVALID,
                         "the proof is not valid for this key and these inputs");
    }
    return CUZK_OK;
}

/*
 * With random z_i, the product over the proofs of their equations to the power z_i:
 * prod e(z_i A_i, B_i) e(-s alpha, beta) e(-(s ic_0 + sum_j y_j ic_j), gamma) e(-sum z_i C_i,
 * delta) = 1, s = sum z_i and y_j = sum_i z_i x_ij. Proofs that are not all valid pass for at most
 * one value of the z_i of a bad proof, given the others: with probability 2^-128.
 */
typedef struct batch {
    const cuzk_verifier *v;
    const cuzk_proof *proofs;
    const fr_repr *inputs;
    size_t n, k;
    fr_repr *z;          /* k, below 2^128 */
    fr_repr *y;          /* n + 1, y[0] = s */
    g1 *za;              /* k: z_i A_i */
    g1_affine *p;        /* k + 3: C_i, then the G1 points of the terms */
    fp *scratch;         /* k */
    pairing_term *terms; /* k + 3 */
    fp12 *loops;         /* one for each part of the terms */
    size_t parts;
} batch;

static void batch_clear(batch *b)
{
    free(b->z);
    free(b->y);
    free(b->za);
    free(b->p);
    free(b->scratch);
    free(b->terms);
    free(b->loops);
}

static cuzk_code batch_alloc(batch *b, cuzk_err *err)
{
    b->z = calloc(b->k, sizeof *b->z);
    b->y = calloc(b->n + 1, sizeof *b->y);
    b->za = calloc(b->k, sizeof *b->za);
    b->p = calloc(b->k + 3, sizeof *b->p);
    b->scratch = calloc(b->k, sizeof *b->scratch);
    b->terms = calloc(b->k + 3, sizeof *b->terms);
    b->loops = calloc(b->parts, sizeof *b->loops);
    if (!b->z || !b->y || !b->za || !b->p || !b->scratch || !b->terms || !b->loops) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to verify %zu proofs of %zu inputs", b->k,
                         b->n);
    }
    return CUZK_OK;
}

static cuzk_code draw(batch *b, cuzk_err *err)
{
    for (size_t i = 0; i < b->k; i++) {
        uint8_t bytes[16];
        CUZK_TRY(cuzk_random_bytes(bytes, sizeof bytes, err));
        b->z[i] = (fr_repr){{cuzk_load_u64le(bytes), cuzk_load_u64le(bytes + 8)}};
    }
    return CUZK_OK;
}

enum { INPUTS_A_TASK = 512 };

/* y_j for a run of j, 0 standing for ONE. The product of one factor in Montgomery form and one that
 * is not, is not. */
static void combine_inputs(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    batch *b = ctx;
    size_t begin = index * INPUTS_A_TASK;
    size_t end = begin + INPUTS_A_TASK < b->n + 1 ? begin + INPUTS_A_TASK : b->n + 1;
    for (size_t i = 0; i < b->k; i++) {
        fr z;
        fr_from_repr(&z, &b->z[i]);
        for (size_t j = begin; j < end; j++) {
            fr x = {{1}}, y;
            if (j > 0) {
                memcpy(x.l, b->inputs[i * b->n + j - 1].l, sizeof x.l);
            }
            fr_mul(&x, &x, &z);
            memcpy(y.l, b->y[j].l, sizeof y.l);
            fr_add(&y, &y, &x);
            memcpy(b->y[j].l, y.l, sizeof y.l);
        }
    }
}

static void scale_a(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    batch *b = ctx;
    g1_from_affine(&b->za[index], &b->proofs[index].a);
    g1_mul_limbs(&b->za[index], &b->za[index], b->z[index].l, 2);
}

static void miller_part(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    batch *b = ctx;
    size_t begin, end;
    cuzk_split(b->k + 3, b->parts, index, &begin, &end);
    pairing_miller(&b->loops[index], b->terms + begin, end - begin);
}

/* Fills b->terms. */
static cuzk_code combine(batch *b, cuzk_pool *pool, cuzk_err *err)
{
    g1 alpha, l, c;
    g1_affine *shared = b->p + b->k;
    cuzk_pool_run(pool, b->n / INPUTS_A_TASK + 1, combine_inputs, b);
    cuzk_pool_run(pool, b->k, scale_a, b);
    g1_from_affine(&alpha, &b->v->minus_alpha);
    g1_mul(&alpha, &alpha, &b->y[0]);
    g1_to_affine(&shared[0], &alpha);
    CUZK_TRY(msm_g1(&l, b->v->ic, b->y, b->n + 1, pool, err));
    negated_affine(&shared[1], &l);
    for (size_t i = 0; i < b->k; i++) {
        b->p[i] = b->proofs[i].c;
    }
    CUZK_TRY(msm_g1(&c, b->p, b->z, b->k, pool, err));
    negated_affine(&shared[2], &c);

    g1_batch_to_affine(b->p, b->za, b->k, b->scratch);
    for (size_t i = 0; i < b->k; i++) {
        b->terms[i] = (pairing_term){.p = &b->p[i], .q = &b->proofs[i].b};
    }
    const g2_prepared *prepared[3] = {&b->v->beta, &b->v->gamma, &b->v->delta};
    for (size_t i = 0; i < 3; i++) {
        b->terms[b->k + i] = (pairing_term){.p = &shared[i], .prepared = prepared[i]};
    }
    return CUZK_OK;
}

static cuzk_code run_batch(batch *b, cuzk_pool *pool, cuzk_err *err)
{
    CUZK_TRY(batch_alloc(b, err));
    CUZK_TRY(draw(b, err));
    CUZK_TRY(combine(b, pool, err));
    cuzk_pool_run(pool, b->parts, miller_part, b);
    fp12 f = b->loops[0];
    for (size_t i = 1; i < b->parts; i++) {
        fp12_mul(&f, &f, &b->loops[i]);
    }
    pairing_final_exp(&f, &f);
    if (!fp12_is_one(&f)) {
        return CUZK_FAIL(err, CUZK_E_INVALID,
                         "one or more of %zu proofs are not valid for this key and these inputs",
                         b->k);
    }
    return CUZK_OK;
}

cuzk_code cuzk_verify_batch(const cuzk_verifier *v, const cuzk_proof *proofs, const fr_repr *inputs,
                            size_t n, size_t k, cuzk_pool *pool, cuzk_err *err)
{
    CUZK_TRY(check_inputs(v, inputs, n, k, err));
    for (size_t i = 0; i < k; i++) {
        CUZK_TRY(check_finite(&proofs[i], i, err));
    }
    if (k == 0) {
        return CUZK_OK;
    }
    size_t threads = cuzk_pool_size(pool);
    batch b = {.v = v, .proofs = proofs, .inputs = inputs, .n = n, .k = k};
    b.parts = threads < k + 3 ? threads : k + 3;
    cuzk_code code = run_batch(&b, pool, err);
    batch_clear(&b);
    return code;
}
