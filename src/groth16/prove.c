#include "groth16/groth16.h"
#include "math/field/fr_vec.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SPAN = 4096 }; /* elements that one thread takes at a time */

/* One proof in the making. Everything but the borrowed arguments is secret. */
typedef struct prover {
    const cuzk_pk *pk;
    const cuzk_rows *rows;
    const fr_repr *z;
    size_t n_vars;
    cuzk_pool *pool;
    const cuzk_progress *progress;
    cuzk_prove_times *times;
    uint64_t phase_start_ns;
    size_t m, capacity; /* the domain; elements in each of a, b, c: max(m, n_vars) */
    fr *a, *b, *c;
    fr r, s;
    cuzk_query_sums sums;
} prover;

/* The phases of CUZK_PROVE_PHASES in order, each begun by phase_begin and ended by phase_end. */
typedef enum phase {
#define X(name) PHASE_##name,
    CUZK_PROVE_PHASES(X)
#undef X
        N_PHASES
} phase;

static void phase_begin(prover *p, phase which)
{
    static const char *const names[] = {
#define X(name) #name,
        CUZK_PROVE_PHASES(X)
#undef X
    };
    if (p->progress && p->progress->fn) {
        p->progress->fn(p->progress->ctx, names[which], which, N_PHASES);
    }
    p->phase_start_ns = cuzk_clock_ns();
}

static void phase_end(const prover *p, uint64_t *ret_ns)
{
    *ret_ns = cuzk_clock_ns() - p->phase_start_ns;
}

static size_t spans(size_t n) { return (n + SPAN - 1) / SPAN; }

static size_t span_end(size_t n, size_t index)
{
    return n - index * SPAN < SPAN ? n : (index + 1) * SPAN;
}

static cuzk_code check_fit(const prover *p, cuzk_err *err)
{
    const cuzk_pk *pk = p->pk;
    const cuzk_rows *r = p->rows;
    if (r->n_inputs != pk->n_inputs || r->n_aux != pk->n_aux) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the system has %u inputs (with ONE) and %u auxiliary variables, the key "
                         "%u and %u",
                         r->n_inputs, r->n_aux, pk->n_inputs, pk->n_aux);
    }
    if (p->n_vars != (size_t)pk->n_inputs + pk->n_aux) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "the witness has %zu values, the key wants %zu",
                         p->n_vars, (size_t)pk->n_inputs + pk->n_aux);
    }
    if (pk->lg_domain > NTT_MAX_LG || r->n_rows + r->n_inputs > (uint64_t)p->m) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the system has %" PRIu64
                         " rows with those of its inputs, the key's domain is 2^%u",
                         r->n_rows + r->n_inputs, pk->lg_domain);
    }
    if (pk->n_h != p->m - (pk->h_basis == CUZK_H_POWERS)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "the key's h query has %" PRIu64 " points, not %zu",
                         pk->n_h, p->m - (pk->h_basis == CUZK_H_POWERS));
    }
    if (pk->vk.n_ic != pk->n_inputs) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "the key's verifying key is for %u inputs, not %u",
                         pk->vk.n_ic, pk->n_inputs);
    }
    return CUZK_OK;
}

/* Fills a and b with A z and B z on the domain, c with their product. */
static cuzk_code evaluate(prover *p, cuzk_err *err)
{
    const cuzk_rows *r = p->rows;
    size_t n_rows = (size_t)r->n_rows;
    CUZK_TRY(r->eval(r->ctx, p->a, p->b, p->c, p->pool, err));
    for (uint32_t i = 0; i < r->n_inputs; i++) { /* the row that a key adds for each input */
        fr_from_repr(&p->a[n_rows + i], &p->z[i]);
    }
    memset(p->a + n_rows + r->n_inputs, 0, (p->m - n_rows - r->n_inputs) * sizeof(fr));
    memset(p->b + n_rows, 0, (p->m - n_rows) * sizeof(fr));
    fr_vec_mul(p->c, p->a, p->b, p->m, p->pool); /* what C z is there when every row holds */
    return CUZK_OK;
}

/* 1 / (g^m - 1): of Z on the coset g D. */
static fr inverse_on_coset(fr g, unsigned lg_domain)
{
    for (unsigned i = 0; i < lg_domain; i++) {
        fr_sqr(&g, &g);
    }
    fr_sub(&g, &g, &fr_one);
    fr_inv(&g, &g);
    return g;
}

/* With A B - C of degree below 2m - 1, zero on the domain: the coefficients of its quotient by Z,
 * which on the coset 7 D is a constant. C, of degree below m, is divided as coefficients. */
static void divide_powers(prover *p, const ntt_domain *d)
{
    fr g = ntt_coset_bellman(), z_inv = inverse_on_coset(g, p->pk->lg_domain);
    ntt_inverse(d, p->a, p->pool);
    ntt_coset_forward(d, p->a, &g, p->pool);
    ntt_inverse(d, p->b, p->pool);
    ntt_coset_forward(d, p->b, &g, p->pool);
    fr_vec_mul(p->a, p->a, p->b, p->m, p->pool);
    ntt_coset_inverse(d, p->a, &g, p->pool);
    ntt_inverse(d, p->c, p->pool);
    fr_vec_sub_scale(p->a, p->c, &z_inv, p->m, p->pool);
}

/* The values of A B - C on the odd coset; the division is part of the key. */
static void values_on_odd_coset(prover *p, const ntt_domain *d)
{
    fr g = ntt_coset_odd(d);
    fr *const vectors[] = {p->a, p->b, p->c};
    for (int i = 0; i < 3; i++) {
        ntt_inverse(d, vectors[i], p->pool);
        ntt_coset_forward(d, vectors[i], &g, p->pool);
    }
    fr_vec_mul_sub(p->a, p->b, p->c, p->m, p->pool);
}

/* Leaves in a the scalars of the h query, as integers. */
static cuzk_code transform(prover *p, cuzk_err *err)
{
    ntt_domain *d;
    CUZK_TRY(ntt_domain_new(&d, p->pk->lg_domain, p->pk->root, err));
    if (p->pk->h_basis == CUZK_H_POWERS) {
        divide_powers(p, d);
    } else {
        values_on_odd_coset(p, d);
    }
    fr_vec_to_repr((fr_repr *)p->a, p->a, p->m, p->pool);
    ntt_domain_free(d);
    return CUZK_OK;
}

static void drop(prover *p, fr **vector)
{
    if (*vector) {
        cuzk_wipe(*vector, p->capacity * sizeof **vector);
        free(*vector);
    }
    *vector = NULL;
}

/* ret[i] = z[var[i]]: the scalars of a query that leaves out variables. */
typedef struct gather {
    const fr_repr *z;
    const uint32_t *var;
    size_t n;
    fr_repr *ret;
} gather;

static void gather_span(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    const gather *g = ctx;
    for (size_t i = index * SPAN; i < span_end(g->n, index); i++) {
        g->ret[i] = g->z[g->var[i]];
    }
}

static const fr_repr *gathered(prover *p, const uint32_t *var, size_t n)
{
    gather g = {p->z, var, n, (fr_repr *)p->a};
    cuzk_pool_run(p->pool, spans(n), gather_span, &g);
    return g.ret;
}

static cuzk_code sum_queries(prover *p, cuzk_err *err)
{
    const cuzk_pk *pk = p->pk;
    cuzk_pool *pool = p->pool;
    drop(p, &p->b);
    drop(p, &p->c);
    const fr_repr *k = (const fr_repr *)p->a;
    phase_begin(p, PHASE_h_msm);
    CUZK_TRY(msm_g1(&p->sums.h, pk->h, k, (size_t)pk->n_h, pool, err));
    phase_end(p, &p->times->h_msm_ns);
    phase_begin(p, PHASE_l_msm);
    CUZK_TRY(msm_g1(&p->sums.l, pk->l, p->z + pk->n_inputs, pk->n_aux, pool, err));
    phase_end(p, &p->times->l_msm_ns);
    phase_begin(p, PHASE_a_msm);
    k = gathered(p, pk->a_var, pk->n_a);
    CUZK_TRY(msm_g1(&p->sums.a, pk->a, k, pk->n_a, pool, err));
    phase_end(p, &p->times->a_msm_ns);
    phase_begin(p, PHASE_b1_msm);
    k = gathered(p, pk->b_var, pk->n_b);
    CUZK_TRY(msm_g1(&p->sums.b_g1, pk->b_g1, k, pk->n_b, pool, err));
    phase_end(p, &p->times->b1_msm_ns);
    phase_begin(p, PHASE_b2_msm);
    CUZK_TRY(msm_g2(&p->sums.b_g2, pk->b_g2, k, pk->n_b, pool, err));
    phase_end(p, &p->times->b2_msm_ns);
    drop(p, &p->a);
    return CUZK_OK;
}

static void add_multiple(g1 *sum, const g1 *point, const fr *k)
{
    fr_repr repr;
    g1 t;
    fr_to_repr(&repr, k);
    g1_mul(&t, point, &repr);
    g1_add(sum, sum, &t);
    cuzk_wipe(&repr, sizeof repr);
    cuzk_wipe(&t, sizeof t);
}

/*
 * A = alpha + a + r delta;  B = beta + b + s delta;
 * C = s a + r b + r s delta + s alpha + r beta + h + l.
 */
void cuzk_groth16_assemble(cuzk_proof *ret, const cuzk_vk *vk, const cuzk_query_sums *sums,
                           const fr *blind_r, const fr *blind_s)
{
    g1 alpha, beta, delta, a = sums->a, c = sums->h;
    g2 delta_g2, b = sums->b_g2;
    fr_repr s;
    fr rs;
    g1_from_affine(&alpha, &vk->alpha_g1);
    g1_from_affine(&beta, &vk->beta_g1);
    g1_from_affine(&delta, &vk->delta_g1);
    g2_from_affine(&delta_g2, &vk->delta_g2);

    g1_add(&a, &a, &alpha);
    add_multiple(&a, &delta, blind_r);

    fr_to_repr(&s, blind_s);
    g2_mul(&delta_g2, &delta_g2, &s);
    g2_add(&b, &b, &delta_g2);
    g2_add_affine(&b, &b, &vk->beta_g2);

    fr_mul(&rs, blind_r, blind_s);
    g1_add(&c, &c, &sums->l);
    add_multiple(&c, &sums->a, blind_s);
    add_multiple(&c, &sums->b_g1, blind_r);
    add_multiple(&c, &delta, &rs);
    add_multiple(&c, &alpha, blind_s);
    add_multiple(&c, &beta, blind_r);

    g1_to_affine(&ret->a, &a);
    g2_to_affine(&ret->b, &b);
    g1_to_affine(&ret->c, &c);
    cuzk_wipe(&s, sizeof s);
    cuzk_wipe(&rs, sizeof rs);
    cuzk_wipe(&delta_g2, sizeof delta_g2);
}

/* Nothing leaves unverified: a fault of the key, the witness or the machine ends here. */
static cuzk_code self_verify(const prover *p, const cuzk_proof *proof, cuzk_err *err)
{
    cuzk_verifier *v;
    CUZK_TRY(cuzk_verifier_new(&v, &p->pk->vk, err));
    cuzk_code code = cuzk_verify(v, proof, p->z + 1, p->pk->n_inputs - 1, p->pool, err);
    cuzk_verifier_free(v);
    if (code != CUZK_E_INVALID) {
        return code;
    }
    if (!p->rows->has_c) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the proof is not valid under the key: the witness does not satisfy the "
                         "system (the key has no matrix C to tell which row), or the key is "
                         "corrupt");
    }
    return CUZK_FAIL(err, CUZK_E_INTERNAL,
                     "the proof is not valid under the key, although the witness satisfies every "
                     "row: the key is corrupt or of another system, or the machine made an error");
}

static cuzk_code run(prover *p, cuzk_proof *ret, cuzk_err *err)
{
    CUZK_TRY(check_fit(p, err));
    phase_begin(p, PHASE_eval);
    size_t bytes = p->capacity * sizeof(fr);
    p->a = cuzk_alloc_large(p->capacity, sizeof(fr));
    p->b = cuzk_alloc_large(p->capacity, sizeof(fr));
    p->c = cuzk_alloc_large(p->capacity, sizeof(fr));
    if (!p->a || !p->b || !p->c) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for three vectors of %zu bytes", bytes);
    }
    CUZK_TRY(evaluate(p, err));
    phase_end(p, &p->times->eval_ns);
    phase_begin(p, PHASE_ntt);
    CUZK_TRY(transform(p, err));
    phase_end(p, &p->times->ntt_ns);
    CUZK_TRY(sum_queries(p, err));
    cuzk_proof proof;
    cuzk_groth16_assemble(&proof, &p->pk->vk, &p->sums, &p->r, &p->s);
    phase_begin(p, PHASE_verify);
    CUZK_TRY(self_verify(p, &proof, err));
    phase_end(p, &p->times->verify_ns);
    if (p->progress && p->progress->fn) {
        p->progress->fn(p->progress->ctx, "done", N_PHASES, N_PHASES);
    }
    *ret = proof;
    return CUZK_OK;
}

static cuzk_code blind(prover *p, const fr *r, const fr *s, cuzk_err *err)
{
    if (!r != !s) {
        return CUZK_FAIL(err, CUZK_E_ARG, "r and s are given together or not at all");
    }
    if (r) {
        p->r = *r;
        p->s = *s;
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_scalar_random(&p->r, err));
    return cuzk_scalar_random(&p->s, err);
}

cuzk_code cuzk_groth16_prove_rows(cuzk_proof *ret, const cuzk_pk *pk, const cuzk_rows *rows,
                                  const fr_repr *z, size_t n_z, const fr *r, const fr *s,
                                  cuzk_pool *pool, const cuzk_progress *progress,
                                  cuzk_prove_times *times, cuzk_err *err)
{
    cuzk_prove_times t = {0};
    uint64_t start = cuzk_clock_ns();
    prover p = {.pk = pk,
                .rows = rows,
                .z = z,
                .n_vars = n_z,
                .pool = pool,
                .progress = progress,
                .times = &t,
                .m = (size_t)1 << (pk->lg_domain & 63)};
    p.capacity = p.m > n_z ? p.m : n_z;
    cuzk_code code = blind(&p, r, s, err);
    if (code == CUZK_OK) {
        code = run(&p, ret, err);
    }
    drop(&p, &p.a);
    drop(&p, &p.b);
    drop(&p, &p.c);
    cuzk_wipe(&p, sizeof p);
    t.total_ns = cuzk_clock_ns() - start;
    if (times) {
        *times = t;
    }
    return code;
}

/* ---- a system of plain matrices ---- */

typedef struct matrices {
    const cuzk_r1cs *r1cs;
    const fr_repr *z;
} matrices;

/* Takes the witness to Montgomery form and notes the first value that is not below r. */
typedef struct lift {
    const fr_repr *z;
    size_t n;
    fr *ret;
    _Atomic size_t first_bad; /* n when there is none */
} lift;

static void lift_span(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    lift *l = ctx;
    for (size_t i = index * SPAN; i < span_end(l->n, index); i++) {
        if (fr_repr_is_canonical(&l->z[i])) {
            fr_from_repr(&l->ret[i], &l->z[i]);
            continue;
        }
        size_t seen = atomic_load(&l->first_bad);
        while (i < seen && !atomic_compare_exchange_weak(&l->first_bad, &seen, i)) {
        }
        return;
    }
}

static cuzk_code lift_witness(const matrices *m, fr *ret, cuzk_pool *pool, cuzk_err *err)
{
    size_t n = (size_t)m->r1cs->n_inputs + m->r1cs->n_aux;
    lift l = {m->z, n, ret, n};
    cuzk_pool_run(pool, spans(n), lift_span, &l);
    size_t bad = atomic_load(&l.first_bad);
    if (bad < l.n) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "value %zu of the witness is not below r", bad);
    }
    if (!fr_eq(&ret[0], &fr_one)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "value 0 of the witness is not 1");
    }
    return CUZK_OK;
}

static cuzk_code eval_matrices(void *ctx, fr *a, fr *b, fr *z, cuzk_pool *pool, cuzk_err *err)
{
    const matrices *m = ctx;
    CUZK_TRY(lift_witness(m, z, pool, err));
    if (m->r1cs->has_c) {
        return cuzk_r1cs_check(m->r1cs, z, a, b, pool, err);
    }
    cuzk_r1cs_eval(m->r1cs, CUZK_MATRIX_A, z, a, pool);
    cuzk_r1cs_eval(m->r1cs, CUZK_MATRIX_B, z, b, pool);
    return CUZK_OK;
}

cuzk_code cuzk_groth16_prove(cuzk_proof *ret, const cuzk_pk *pk, const cuzk_r1cs *r1cs,
                             const fr_repr *z, size_t n_z, const fr *r, const fr *s,
                             cuzk_pool *pool, const cuzk_progress *progress,
                             cuzk_prove_times *times, cuzk_err *err)
{
    matrices m = {r1cs, z};
    cuzk_rows rows = {r1cs->n_inputs, r1cs->n_aux, r1cs->n_rows, r1cs->has_c, eval_matrices, &m};
    return cuzk_groth16_prove_rows(ret, pk, &rows, z, n_z, r, s, pool, progress, times, err);
}
