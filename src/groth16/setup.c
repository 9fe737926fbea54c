#include "groth16/qap.h"

#include <stdlib.h>

/*
 * A key is made in two steps: the scalars of every query as a function of the trapdoor (qap.c gives
 * the polynomials at tau), then those scalars times the generators, a chunk at a time, so that
 * besides the key only the polynomials (96 bytes a variable) and one chunk are in memory.
 */

enum {
    CHUNK = 1 << 16, /* points made between two reports of progress */
    SPAN = 1024,     /* scalars that one thread makes at a time */
};

/* The scalars of one query, made on demand for any range of it. */
typedef struct query {
    const char *phase;
    uint64_t n;
    enum {
        FROM_POLYNOMIALS, /* scale values[var[i]], or scale values[i] when var is NULL */
        POWERS,           /* scale tau^i */
        ODD_LAGRANGE,     /* L^(2m)_(2i+1)(tau) / delta; scale has the constant factor */
    } kind;
    const fr *values;
    const uint32_t *var;
    fr scale;
} query;

typedef struct setup {
    const cuzk_r1cs *r1cs;
    const cuzk_trapdoor *t;
    cuzk_pool *pool;
    const cuzk_progress *progress;
    cuzk_pk *pk;
    cuzk_qap q; /* q.c becomes beta A + alpha B + C */
    fr gamma_inv, delta_inv;
    msm_fixed_g1 *g1;
    msm_fixed_g2 *g2;
    fr_repr *k; /* CHUNK scalars */
} setup;

static void report(const setup *s, const char *phase, uint64_t done, uint64_t total)
{
    if (s->progress && s->progress->fn) {
        s->progress->fn(s->progress->ctx, phase, done, total);
    }
}

static void query_scalars(const setup *s, const query *q, uint64_t begin, size_t n, fr *ret)
{
    fr x, step;
    switch (q->kind) {
    case FROM_POLYNOMIALS:
        for (size_t i = 0; i < n; i++) {
            fr_mul(&ret[i], &q->values[q->var ? q->var[begin + i] : begin + i], &q->scale);
        }
        break;
    case POWERS:
        fr_pow(&x, &s->t->tau, &begin, 1);
        fr_mul(&x, &x, &q->scale);
        for (size_t i = 0; i < n; i++) {
            ret[i] = x;
            fr_mul(&x, &x, &s->t->tau);
        }
        cuzk_wipe(&x, sizeof x);
        break;
    case ODD_LAGRANGE:
        step = fr_root_of_unity(s->pk->root, s->pk->lg_domain);
        fr_pow(&x, &step, &begin, 1);
        fr w_2m = fr_root_of_unity(s->pk->root, s->pk->lg_domain + 1);
        fr_mul(&x, &x, &w_2m);
        cuzk_lagrange_run(ret, n, &x, &step, &s->t->tau, &q->scale);
        break;
    }
}

typedef struct chunk {
    const setup *s;
    const query *q;
    uint64_t begin;
    size_t n;
} chunk;

static void chunk_span(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    const chunk *c = ctx;
    size_t begin = index * SPAN;
    size_t n = c->n - begin < SPAN ? c->n - begin : SPAN;
    fr span[SPAN];
    query_scalars(c->s, c->q, c->begin + begin, n, span);
    for (size_t i = 0; i < n; i++) {
        fr_to_repr(&c->s->k[begin + i], &span[i]);
    }
    cuzk_wipe(span, sizeof span);
}

/* Makes all points of a query in one of the groups or, where both ask, in both. */
static cuzk_code query_points(const setup *s, const query *q, g1_affine *ret_g1, g2_affine *ret_g2,
                              cuzk_err *err)
{
    for (uint64_t begin = 0; begin < q->n; begin += CHUNK) {
        chunk c = {s, q, begin, q->n - begin < CHUNK ? (size_t)(q->n - begin) : CHUNK};
        report(s, q->phase, begin, q->n);
        cuzk_pool_run(s->pool, (c.n + SPAN - 1) / SPAN, chunk_span, &c);
        if (ret_g1) {
            CUZK_TRY(msm_fixed_g1_mul(s->g1, ret_g1 + begin, s->k, c.n, s->pool, err));
        }
        if (ret_g2) {
            CUZK_TRY(msm_fixed_g2_mul(s->g2, ret_g2 + begin, s->k, c.n, s->pool, err));
        }
    }
    report(s, q->phase, q->n, q->n);
    return CUZK_OK;
}

/* Lists the variables that occur in a matrix (or are inputs, when inputs is set: the added rows
 * give each input a place in A). A polynomial that is zero at tau although its column is not would
 * be a point at infinity where the prover expects a point. */
static cuzk_code list_vars(const cuzk_r1cs *r1cs, cuzk_matrix m, bool inputs, const fr *values,
                           uint32_t **ret_var, uint32_t *ret_n, cuzk_err *err)
{
    uint64_t n_vars = (uint64_t)r1cs->n_inputs + r1cs->n_aux;
    uint64_t *dense = calloc(n_vars / 64 + 1, sizeof *dense);
    uint32_t *var = malloc((n_vars + 1) * sizeof *var), n = 0;
    cuzk_code code = CUZK_OK;
    if (!dense || !var) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a list of %llu variables",
                         (unsigned long long)n_vars);
        goto out;
    }
    cuzk_r1cs_density(r1cs, m, dense);
    for (uint32_t v = 0; v < n_vars; v++) {
        if (!(dense[v / 64] >> (v % 64) & 1) && !(inputs && v < r1cs->n_inputs)) {
            continue;
        }
        if (fr_is_zero(&values[v])) {
            code = cuzk_setup_refuse_root(v, err);
            goto out;
        }
        var[n++] = v;
    }
    *ret_var = var;
    *ret_n = n;
    var = NULL;
out:
    free(dense);
    free(var);
    return code;
}

/* q.c = beta A + alpha B + C, for the inputs over gamma, for the others over delta. */
typedef struct combine {
    setup *s;
    size_t n;
} combine;

static void combine_span(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    setup *s = ((combine *)ctx)->s;
    size_t begin = index * SPAN;
    size_t end = s->q.n_vars - begin < SPAN ? s->q.n_vars : begin + SPAN;
    for (size_t v = begin; v < end; v++) {
        fr t;
        fr_mul(&t, &s->q.a[v], &s->t->beta);
        fr_add(&s->q.c[v], &s->q.c[v], &t);
        fr_mul(&t, &s->q.b[v], &s->t->alpha);
        fr_add(&s->q.c[v], &s->q.c[v], &t);
        fr_mul(&s->q.c[v], &s->q.c[v], v < s->r1cs->n_inputs ? &s->gamma_inv : &s->delta_inv);
        cuzk_wipe(&t, sizeof t);
    }
}

static cuzk_code check_combined(const setup *s, cuzk_err *err)
{
    uint32_t n_inputs = s->r1cs->n_inputs;
    for (size_t v = 0; v < s->q.n_vars; v++) {
        if (!fr_is_zero(&s->q.c[v])) {
            continue;
        }
        if (v < n_inputs || s->pk->h_basis == CUZK_H_POWERS) {
            return cuzk_setup_refuse_zero(v, n_inputs, err);
        }
    }
    return CUZK_OK;
}

static cuzk_code make_vk(setup *s, cuzk_err *err)
{
    cuzk_vk *vk = &s->pk->vk;
    const fr *const in_g1[] = {&s->t->alpha, &s->t->beta, &s->t->delta};
    g1_affine *const g1_points[] = {&vk->alpha_g1, &vk->beta_g1, &vk->delta_g1};
    const fr *const in_g2[] = {&s->t->beta, &s->t->gamma, &s->t->delta};
    g2_affine *const g2_points[] = {&vk->beta_g2, &vk->gamma_g2, &vk->delta_g2};
    for (int i = 0; i < 3; i++) {
        fr_to_repr(s->k, in_g1[i]);
        CUZK_TRY(msm_fixed_g1_mul(s->g1, g1_points[i], s->k, 1, s->pool, err));
        fr_to_repr(s->k, in_g2[i]);
        CUZK_TRY(msm_fixed_g2_mul(s->g2, g2_points[i], s->k, 1, s->pool, err));
    }
    vk->n_ic = s->r1cs->n_inputs;
    query ic = {"verifying key", vk->n_ic, FROM_POLYNOMIALS, s->q.c, NULL, fr_one};
    return query_points(s, &ic, vk->ic, NULL, err);
}

/* The query of H: powers of tau times Z(tau) / delta, or half the Lagrange basis of the domain of
 * twice the size: x^(2m) - 1 over 2m (x - x_i), x_i an odd power of its root. */
static cuzk_code h_query(const setup *s, query *ret, cuzk_err *err)
{
    const cuzk_pk *pk = s->pk;
    fr z = s->t->tau;
    unsigned doublings = pk->lg_domain + (pk->h_basis == CUZK_H_ODD_LAGRANGE);
    for (unsigned i = 0; i < doublings; i++) {
        fr_sqr(&z, &z);
    }
    fr_sub(&z, &z, &fr_one);
    if (fr_is_zero(&z)) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the trapdoor's tau is a root of unity of order 2^%u: draw another",
                         doublings);
    }
    *ret = (query){"h query", pk->n_h, POWERS, NULL, NULL, z};
    fr_mul(&ret->scale, &ret->scale, &s->delta_inv);
    if (pk->h_basis == CUZK_H_ODD_LAGRANGE) {
        fr n_inv = fr_from_u64((uint64_t)1 << doublings);
        fr_inv(&n_inv, &n_inv);
        fr_mul(&ret->scale, &ret->scale, &n_inv);
        ret->kind = ODD_LAGRANGE;
    }
    cuzk_wipe(&z, sizeof z);
    return CUZK_OK;
}

static cuzk_code make_queries(setup *s, cuzk_err *err)
{
    cuzk_pk *pk = s->pk;
    query h;
    query l = {"l query", pk->n_aux, FROM_POLYNOMIALS, s->q.c + pk->n_inputs, NULL, fr_one};
    query a = {"a query", pk->n_a, FROM_POLYNOMIALS, s->q.a, pk->a_var, fr_one};
    query b = {"b query", pk->n_b, FROM_POLYNOMIALS, s->q.b, pk->b_var, fr_one};
    CUZK_TRY(h_query(s, &h, err));
    cuzk_code code = query_points(s, &h, pk->h, NULL, err);
    cuzk_wipe(&h, sizeof h);
    CUZK_TRY(code);
    CUZK_TRY(query_points(s, &l, pk->l, NULL, err));
    CUZK_TRY(query_points(s, &a, pk->a, NULL, err));
    return query_points(s, &b, pk->b_g1, pk->b_g2, err);
}

/* The shape of the key: everything but the points. */
static cuzk_code shape(cuzk_pk *pk, const cuzk_r1cs *r1cs, fr_root root, cuzk_h_basis h_basis,
                       cuzk_err *err)
{
    uint64_t rows = cuzk_r1cs_rows_with_inputs(r1cs);
    if (!r1cs->has_c) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the system has no matrix C: it was taken from a key");
    }
    if (rows > (uint64_t)1 << NTT_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the system has %llu rows with those of its inputs; the limit is 2^%d",
                         (unsigned long long)rows, NTT_MAX_LG);
    }
    pk->root = root;
    pk->h_basis = h_basis;
    pk->lg_domain = cuzk_groth16_lg_domain(rows);
    pk->n_inputs = r1cs->n_inputs;
    pk->n_aux = r1cs->n_aux;
    pk->n_h = ((uint64_t)1 << pk->lg_domain) - (h_basis == CUZK_H_POWERS);
    return CUZK_OK;
}

/* Room for the points. */
static cuzk_code allocate_points(cuzk_pk *pk, cuzk_err *err)
{
    pk->vk.ic = malloc(pk->n_inputs * sizeof *pk->vk.ic);
    pk->h = cuzk_alloc_large(pk->n_h, sizeof *pk->h);
    pk->l = cuzk_alloc_large(pk->n_aux, sizeof *pk->l);
    pk->a = cuzk_alloc_large(pk->n_a, sizeof *pk->a);
    pk->b_g1 = cuzk_alloc_large(pk->n_b, sizeof *pk->b_g1);
    pk->b_g2 = cuzk_alloc_large(pk->n_b, sizeof *pk->b_g2);
    if (!pk->vk.ic || !pk->h || !pk->l || !pk->a || !pk->b_g1 || !pk->b_g2) {
        return CUZK_FAIL(err, CUZK_E_MEMORY,
                         "no memory for a key of %llu + %u + %u + 3 * %u points",
                         (unsigned long long)pk->n_h, pk->n_aux, pk->n_a, pk->n_b);
    }
    return CUZK_OK;
}

static cuzk_code make_polynomials(setup *s, cuzk_err *err)
{
    cuzk_pk *pk = s->pk;
    report(s, "polynomials", 0, 1);
    CUZK_TRY(cuzk_qap_at(&s->q, s->r1cs, pk->lg_domain, pk->root, &s->t->tau, s->pool, err));
    CUZK_TRY(list_vars(s->r1cs, CUZK_MATRIX_A, true, s->q.a, &pk->a_var, &pk->n_a, err));
    CUZK_TRY(list_vars(s->r1cs, CUZK_MATRIX_B, false, s->q.b, &pk->b_var, &pk->n_b, err));
    combine c = {s, s->q.n_vars};
    cuzk_pool_run(s->pool, (c.n + SPAN - 1) / SPAN, combine_span, &c);
    report(s, "polynomials", 1, 1);
    return check_combined(s, err);
}

static cuzk_code make_tables(setup *s, cuzk_err *err)
{
    const cuzk_pk *pk = s->pk;
    size_t in_g1 = (size_t)pk->n_h + pk->n_aux + pk->n_a + pk->n_b + pk->n_inputs + 3;
    report(s, "tables", 0, 1);
    CUZK_TRY(msm_fixed_g1_new(&s->g1, &g1_generator, in_g1, s->pool, err));
    CUZK_TRY(msm_fixed_g2_new(&s->g2, &g2_generator, (size_t)pk->n_b + 3, s->pool, err));
    report(s, "tables", 1, 1);
    return CUZK_OK;
}

static cuzk_code run(setup *s, fr_root root, cuzk_h_basis h_basis, cuzk_err *err)
{
    CUZK_TRY(shape(s->pk, s->r1cs, root, h_basis, err));
    CUZK_TRY(cuzk_trapdoor_check(s->t, err));
    fr_inv(&s->gamma_inv, &s->t->gamma);
    fr_inv(&s->delta_inv, &s->t->delta);
    CUZK_TRY(make_polynomials(s, err));
    CUZK_TRY(allocate_points(s->pk, err));
    CUZK_TRY(make_tables(s, err));
    CUZK_TRY(make_vk(s, err));
    return make_queries(s, err);
}

cuzk_code cuzk_groth16_setup(cuzk_pk **ret, const cuzk_r1cs *r1cs, const cuzk_trapdoor *trapdoor,
                             fr_root root, cuzk_h_basis h_basis, cuzk_pool *pool,
                             const cuzk_progress *progress, cuzk_err *err)
{
    setup s = {.r1cs = r1cs, .t = trapdoor, .pool = pool, .progress = progress};
    cuzk_code code;
    s.pk = calloc(1, sizeof *s.pk);
    s.k = malloc(CHUNK * sizeof *s.k);
    if (!s.pk || !s.k) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a key");
    } else {
        code = run(&s, root, h_basis, err);
    }
    if (code == CUZK_OK) {
        *ret = s.pk;
        s.pk = NULL;
    }
    cuzk_pk_free(s.pk);
    if (s.k) {
        cuzk_wipe(s.k, CHUNK * sizeof *s.k);
    }
    free(s.k);
    msm_fixed_g1_free(s.g1);
    msm_fixed_g2_free(s.g2);
    cuzk_qap_clear(&s.q);
    cuzk_wipe(&s, sizeof s);
    return code;
}
