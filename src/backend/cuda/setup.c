#include "backend/cuda/setup.h"

#include "backend/cuda/dfr_host.h"
#include "backend/cuda/each_setup.h"
#include "backend/cuda/fixed.h"
#include "backend/cuda/setup_lists.h"

#include <inttypes.h>
#include <stdlib.h>

/*
 * As groth16/setup.c: the polynomials of all variables at tau first, then those and the powers of
 * tau times the generators, a chunk at a time. A variable's polynomials are sums over its columns:
 * of the instance that allocates it, by a thread that writes them, and of the instances that have
 * it as a port (or use ONE), by a thread for each; these are listed in the order of the variables,
 * so that they are summed in pairs, without atomics.
 */

enum {
    CHUNK = 1 << 21,       /* products: 0.4 GB of sums in G1, 0.8 GB in G2 */
    ROWS_TO_A_THREAD = 64, /* an inversion costs as much as 50 products */
    WORD = 64,             /* variables in a word of a subset's bits */
};

_Static_assert((int)CUZK_CUDA_SETUP_MAX_LG == (int)NTT_MAX_LG, "powers for each bit of a row");

/* Some of the inputs or aux variables, on both sides. */
typedef struct subset {
    cuzk_cuda_setup_ranks host;
    cuzk_cuda_block bits, ranks;
} subset;

typedef struct setup {
    const cuzk_shape *s;
    const dshape *d;
    const cuzk_trapdoor *t;
    cuzk_cuda_setup_plan plan;
    cuzk_cuda_memory *m;
    cuzk_cuda_stream stream;
    cuzk_cuda_key *key;
    uint64_t n_rows, n_vars;    /* n_rows with those of the inputs */
    fr z, gamma_inv, delta_inv; /* z: tau^N - 1 */
    cuzk_cuda_setup_lists lists;
    cuzk_cuda_block base, first, terms, uses, bad;
    subset a_aux, b_aux, b_inputs;
    cuzk_cuda_block basis, sums, scalars; /* secret */
    cuzk_cuda_block a, b, c;              /* secret: n_vars elements each, inputs first */
    cuzk_cuda_fixed g1, g2;
} setup;

static void powers_of(cuzk_cuda_setup_powers *ret, const fr *x)
{
    fr p = *x;
    for (unsigned k = 0; k < CUZK_CUDA_SETUP_MAX_LG; k++) {
        ret->x[k] = dfr_of_fr(&p);
        fr_sqr(&p, &p);
    }
    cuzk_wipe(&p, sizeof p);
}

static cuzk_code take(const setup *s, cuzk_cuda_block *ret, uint64_t bytes, cuzk_err *err)
{
    return cuzk_cuda_take(s->m, ret, bytes, "a key's setup", err);
}

static cuzk_code put(const setup *s, cuzk_cuda_block *ret, const void *bytes, uint64_t n,
                     cuzk_err *err)
{
    CUZK_TRY(take(s, ret, n, err));
    return cuzk_cuda_upload(ret->p, bytes, n, s->stream, err);
}

/* Frees what follows from the trapdoor. Errors are those of a device that has forgotten it. */
static void give_secret(const setup *s, cuzk_cuda_block *b)
{
    if (b->p) {
        (void)cuzk_cuda_zero(b->p, b->bytes, s->stream, NULL);
        (void)cuzk_cuda_sync(s->stream, NULL);
    }
    cuzk_cuda_give(s->m, b);
}

/* ---- what does not depend on the trapdoor ---- */

static cuzk_code put_subset(const setup *s, subset *b, cuzk_err *err)
{
    cuzk_cuda_setup_ranks *h = &b->host;
    cuzk_cuda_setup_ranks_count(h);
    CUZK_TRY(put(s, &b->bits, h->bits, h->n_words * sizeof *h->bits, err));
    return put(s, &b->ranks, h->ranks, (h->n_words + 1) * sizeof *h->ranks, err);
}

/* Which variables have a point in A and in B; in A, all inputs have one. */
static cuzk_code make_subsets(setup *s, cuzk_err *err)
{
    uint32_t n_aux = cuzk_shape_aux(s->s);
    CUZK_TRY(cuzk_cuda_setup_ranks_new(&s->a_aux.host, n_aux, err));
    CUZK_TRY(cuzk_cuda_setup_ranks_new(&s->b_aux.host, n_aux, err));
    CUZK_TRY(cuzk_cuda_setup_ranks_new(&s->b_inputs.host, s->s->n_inputs, err));
    cuzk_shape_density(s->s, 0, NULL, s->a_aux.host.bits);
    cuzk_shape_density(s->s, 1, s->b_inputs.host.bits, s->b_aux.host.bits);
    CUZK_TRY(put_subset(s, &s->a_aux, err));
    CUZK_TRY(put_subset(s, &s->b_aux, err));
    return put_subset(s, &s->b_inputs, err);
}

static cuzk_code make_lists(setup *s, cuzk_err *err)
{
    cuzk_cuda_setup_lists *l = &s->lists;
    CUZK_TRY(cuzk_cuda_setup_lists_make(l, s->s, err));
    CUZK_TRY(put(s, &s->base, l->base, (size_t)3 * s->s->n_templates * sizeof *l->base, err));
    CUZK_TRY(put(s, &s->first, l->first, l->n_first * sizeof *l->first, err));
    CUZK_TRY(put(s, &s->terms, l->terms, l->n_terms * sizeof *l->terms, err));
    return put(s, &s->uses, l->uses, l->n_uses * sizeof *l->uses, err);
}

/* ---- the polynomials at tau ---- */

static cuzk_code make_basis(setup *s, cuzk_err *err)
{
    uint64_t n = s->n_rows, stride = (n + ROWS_TO_A_THREAD - 1) / ROWS_TO_A_THREAD;
    fr w = fr_root_of_unity(FR_ROOT_BELLMAN, s->key->lg_domain), step, step_inv;
    fr scale = fr_from_u64((uint64_t)1 << s->key->lg_domain);
    CUZK_TRY(take(s, &s->basis, n * sizeof(dfr), err));
    fr_inv(&scale, &scale);
    fr_mul(&scale, &scale, &s->z);
    fr_pow(&step, &w, &stride, 1);
    fr_inv(&step_inv, &step);
    cuzk_cuda_setup_basis_job job = {.basis = s->basis.p,
                                     .n = n,
                                     .stride = stride,
                                     .tau = dfr_of_fr(&s->t->tau),
                                     .scale = dfr_of_fr(&scale),
                                     .step = dfr_of_fr(&step),
                                     .step_inv = dfr_of_fr(&step_inv)};
    powers_of(&job.powers, &w);
    cuzk_code code = cuzk_cuda_setup_basis(&job, stride, s->stream, err);
    cuzk_wipe(&job, sizeof job);
    cuzk_wipe(&scale, sizeof scale);
    return code;
}

static cuzk_code sum_uses(const setup *s, const cuzk_cuda_setup_columns *columns, cuzk_err *err)
{
    uint64_t n = s->lists.n_uses;
    cuzk_cuda_setup_uses_job uses = {*columns, s->uses.p, s->sums.p};
    CUZK_TRY(cuzk_cuda_setup_uses(&uses, n, s->stream, err));
    for (uint64_t distance = 1; distance < s->lists.most_uses; distance *= 2) {
        cuzk_cuda_setup_fold_job fold = {s->uses.p, s->sums.p, (uint32_t)distance};
        CUZK_TRY(cuzk_cuda_setup_fold(&fold, n, s->stream, err));
    }
    cuzk_cuda_setup_collect_job collect = {s->uses.p, s->sums.p, {s->a.p, s->b.p, s->c.p}};
    return cuzk_cuda_setup_collect(&collect, n, s->stream, err);
}

static cuzk_code sum_columns(setup *s, cuzk_err *err)
{
    const dshape *d = s->d;
    uint32_t n_inputs = s->s->n_inputs;
    cuzk_cuda_setup_columns columns = {d->templates, d->instances, d->dictionary, s->basis.p,
                                       s->base.p,    s->first.p,   s->terms.p,    d->n_instances};
    cuzk_cuda_setup_own_job own = {.columns = columns};
    cuzk_cuda_block *const values[] = {&s->a, &s->b, &s->c};
    for (int m = 0; m < 3; m++) {
        CUZK_TRY(take(s, values[m], s->n_vars * sizeof(dfr), err));
        CUZK_TRY(cuzk_cuda_zero(values[m]->p, n_inputs * sizeof(dfr), s->stream, err));
        own.values[m] = (dfr *)values[m]->p + n_inputs;
    }
    CUZK_TRY(take(s, &s->sums, 3 * s->lists.n_uses * sizeof(dfr), err));
    CUZK_TRY(cuzk_cuda_setup_own(&own, cuzk_shape_aux(s->s), s->stream, err));
    CUZK_TRY(sum_uses(s, &columns, err));
    cuzk_cuda_setup_add_job inputs = {s->a.p, (dfr *)s->basis.p + cuzk_shape_rows(s->s)};
    return cuzk_cuda_setup_add(&inputs, n_inputs, s->stream, err);
}

static cuzk_code check_bad(const setup *s, const uint32_t bad[CUZK_CUDA_SETUP_BADS], cuzk_err *err)
{
    if (bad[CUZK_CUDA_SETUP_BAD_A] != UINT32_MAX) {
        return cuzk_setup_refuse_root(bad[CUZK_CUDA_SETUP_BAD_A], err);
    }
    if (bad[CUZK_CUDA_SETUP_BAD_B] != UINT32_MAX) {
        return cuzk_setup_refuse_root(bad[CUZK_CUDA_SETUP_BAD_B], err);
    }
    uint32_t c = bad[CUZK_CUDA_SETUP_BAD_C];
    if (c == UINT32_MAX) {
        return CUZK_OK;
    }
    return cuzk_setup_refuse_zero(c, s->s->n_inputs, err);
}

/* c becomes beta A + alpha B + C over gamma or delta. */
static cuzk_code combine(setup *s, cuzk_err *err)
{
    uint32_t bad[CUZK_CUDA_SETUP_BADS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    CUZK_TRY(put(s, &s->bad, bad, sizeof bad, err));
    cuzk_cuda_setup_combine_job job = {.a = s->a.p,
                                       .b = s->b.p,
                                       .c = s->c.p,
                                       .a_aux = s->a_aux.bits.p,
                                       .b_aux = s->b_aux.bits.p,
                                       .b_inputs = s->b_inputs.bits.p,
                                       .bad = s->bad.p,
                                       .n_inputs = s->s->n_inputs,
                                       .alpha = dfr_of_fr(&s->t->alpha),
                                       .beta = dfr_of_fr(&s->t->beta),
                                       .gamma_inv = dfr_of_fr(&s->gamma_inv),
                                       .delta_inv = dfr_of_fr(&s->delta_inv)};
    cuzk_code code = cuzk_cuda_setup_combine(&job, s->n_vars, s->stream, err);
    cuzk_wipe(&job, sizeof job);
    CUZK_TRY(code);
    CUZK_TRY(cuzk_cuda_download(bad, s->bad.p, sizeof bad, s->stream, err));
    CUZK_TRY(cuzk_cuda_sync(s->stream, err));
    return check_bad(s, bad, err);
}

static cuzk_code make_polynomials(setup *s, cuzk_err *err)
{
    CUZK_TRY(make_subsets(s, err));
    CUZK_TRY(make_lists(s, err));
    CUZK_TRY(make_basis(s, err));
    CUZK_TRY(sum_columns(s, err));
    CUZK_TRY(combine(s, err));
    give_secret(s, &s->basis);
    give_secret(s, &s->sums);
    return CUZK_OK;
}

/* ---- the points ---- */

/* values[n], or those of a subset. */
typedef struct source {
    const dfr *values;
    uint64_t n;
    const subset *of; /* NULL: all */
} source;

static uint64_t count(const source *q)
{
    return q->of ? cuzk_cuda_setup_ranks_total(&q->of->host) : q->n;
}

/* Makes the points of a source where pointers say, in one of the groups or both. */
static cuzk_code multiply(const setup *s, const source *q, g1_affine *in_g1, g2_affine *in_g2,
                          cuzk_err *err)
{
    uint64_t chunk = s->plan.chunk;
    for (uint64_t begin = 0; begin < q->n; begin += chunk) {
        uint64_t n = q->n - begin < chunk ? q->n - begin : chunk, points = n;
        cuzk_cuda_setup_pick_job pick = {q->values, NULL, NULL, s->scalars.p, begin};
        if (q->of) {
            const uint32_t *ranks = q->of->host.ranks;
            points = ranks[(begin + n + WORD - 1) / WORD] - ranks[begin / WORD];
            pick.bits = q->of->bits.p;
            pick.ranks = q->of->ranks.p;
        }
        CUZK_TRY(cuzk_cuda_setup_pick(&pick, n, s->stream, err));
        if (in_g1) {
            CUZK_TRY(cuzk_cuda_fixed_mul(&s->g1, in_g1, s->scalars.p, points, s->stream, err));
            in_g1 += points;
        }
        if (in_g2) {
            CUZK_TRY(cuzk_cuda_fixed_mul(&s->g2, in_g2, s->scalars.p, points, s->stream, err));
            in_g2 += points;
        }
    }
    return CUZK_OK;
}

static cuzk_code new_query(const setup *s, cuzk_params_part part, uint64_t n, void **ret,
                           cuzk_err *err)
{
    cuzk_cuda_query *q = &s->key->query[part];
    CUZK_TRY(
        cuzk_cuda_take(s->m, &q->block, cuzk_cuda_query_bytes(part, n), "a query of a key", err));
    q->n = n;
    *ret = q->block.p;
    return CUZK_OK;
}

static cuzk_code l_query(setup *s, cuzk_err *err)
{
    source q = {(dfr *)s->c.p + s->s->n_inputs, cuzk_shape_aux(s->s), NULL};
    void *points;
    CUZK_TRY(new_query(s, CUZK_PARAMS_L, q.n, &points, err));
    CUZK_TRY(multiply(s, &q, points, NULL, err));
    give_secret(s, &s->c);
    return CUZK_OK;
}

static cuzk_code a_query(setup *s, cuzk_err *err)
{
    source inputs = {s->a.p, s->s->n_inputs, NULL};
    source aux = {(dfr *)s->a.p + inputs.n, cuzk_shape_aux(s->s), &s->a_aux};
    void *points;
    CUZK_TRY(new_query(s, CUZK_PARAMS_A, inputs.n + count(&aux), &points, err));
    CUZK_TRY(multiply(s, &inputs, points, NULL, err));
    CUZK_TRY(multiply(s, &aux, (g1_affine *)points + inputs.n, NULL, err));
    give_secret(s, &s->a);
    return CUZK_OK;
}

static cuzk_code b_queries(setup *s, cuzk_err *err)
{
    source inputs = {s->b.p, s->s->n_inputs, &s->b_inputs};
    source aux = {(dfr *)s->b.p + inputs.n, cuzk_shape_aux(s->s), &s->b_aux};
    uint64_t first = count(&inputs), n = first + count(&aux);
    void *in_g1, *in_g2;
    CUZK_TRY(new_query(s, CUZK_PARAMS_B_G1, n, &in_g1, err));
    CUZK_TRY(new_query(s, CUZK_PARAMS_B_G2, n, &in_g2, err));
    CUZK_TRY(multiply(s, &inputs, in_g1, in_g2, err));
    CUZK_TRY(multiply(s, &aux, (g1_affine *)in_g1 + first, (g2_affine *)in_g2 + first, err));
    give_secret(s, &s->b);
    return CUZK_OK;
}

/* tau^i Z(tau) / delta. */
static cuzk_code h_query(setup *s, cuzk_err *err)
{
    uint64_t n = (uint64_t)1 << s->key->lg_domain;
    fr scale;
    void *points;
    CUZK_TRY(new_query(s, CUZK_PARAMS_H, n, &points, err));
    fr_mul(&scale, &s->z, &s->delta_inv);
    cuzk_cuda_setup_h_job job = {
        .ret = s->scalars.p, .lg = s->key->lg_domain, .scale = dfr_of_fr(&scale)};
    powers_of(&job.powers, &s->t->tau);
    cuzk_code code = CUZK_OK;
    for (; code == CUZK_OK && job.begin < n; job.begin += s->plan.chunk) {
        uint64_t k = n - job.begin < s->plan.chunk ? n - job.begin : s->plan.chunk;
        code = cuzk_cuda_setup_h(&job, k, s->stream, err);
        if (code == CUZK_OK) {
            code = cuzk_cuda_fixed_mul(&s->g1, (g1_affine *)points + job.begin, s->scalars.p, k,
                                       s->stream, err);
        }
    }
    cuzk_wipe(&job, sizeof job);
    cuzk_wipe(&scale, sizeof scale);
    return code;
}

static void scalar_g1(g1_affine *ret, const fr *k)
{
    g1 p;
    fr_repr e;
    fr_to_repr(&e, k);
    g1_from_affine(&p, &g1_generator);
    g1_mul(&p, &p, &e);
    g1_to_affine(ret, &p);
    cuzk_wipe(&e, sizeof e);
}

static void scalar_g2(g2_affine *ret, const fr *k)
{
    g2 p;
    fr_repr e;
    fr_to_repr(&e, k);
    g2_from_affine(&p, &g2_generator);
    g2_mul(&p, &p, &e);
    g2_to_affine(ret, &p);
    cuzk_wipe(&e, sizeof e);
}

/* The points of the inputs are made on the device: there may be 25 000. */
static cuzk_code make_ic(setup *s, cuzk_cuda_block *points, cuzk_err *err)
{
    cuzk_vk *vk = &s->key->vk;
    source q = {s->c.p, s->s->n_inputs, NULL};
    size_t bytes = q.n * sizeof *vk->ic;
    vk->ic = malloc(bytes);
    if (!vk->ic) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %" PRIu64 " points", q.n);
    }
    vk->n_ic = s->s->n_inputs;
    CUZK_TRY(take(s, points, bytes, err));
    CUZK_TRY(multiply(s, &q, points->p, NULL, err));
    CUZK_TRY(cuzk_cuda_download(vk->ic, points->p, bytes, s->stream, err));
    return cuzk_cuda_sync(s->stream, err);
}

static cuzk_code make_vk(setup *s, cuzk_err *err)
{
    cuzk_vk *vk = &s->key->vk;
    cuzk_cuda_block points = {0};
    scalar_g1(&vk->alpha_g1, &s->t->alpha);
    scalar_g1(&vk->beta_g1, &s->t->beta);
    scalar_g1(&vk->delta_g1, &s->t->delta);
    scalar_g2(&vk->beta_g2, &s->t->beta);
    scalar_g2(&vk->gamma_g2, &s->t->gamma);
    scalar_g2(&vk->delta_g2, &s->t->delta);
    cuzk_code code = make_ic(s, &points, err);
    cuzk_cuda_give(s->m, &points);
    return code;
}

static cuzk_code make_points(setup *s, cuzk_err *err)
{
    const cuzk_cuda_setup_plan *p = &s->plan;
    CUZK_TRY(take(s, &s->scalars, p->chunk * sizeof(dfr), err));
    CUZK_TRY(cuzk_cuda_fixed_new(&s->g1, false, p->g1_width, p->chunk, s->m, s->stream, err));
    CUZK_TRY(cuzk_cuda_fixed_new(&s->g2, true, p->g2_width, p->chunk, s->m, s->stream, err));
    CUZK_TRY(make_vk(s, err));
    CUZK_TRY(l_query(s, err));
    CUZK_TRY(a_query(s, err));
    CUZK_TRY(b_queries(s, err));
    CUZK_TRY(h_query(s, err));
    return cuzk_cuda_sync(s->stream, err);
}

/* ---- the whole ---- */

/* The key's sizes, and what must hold of the arguments. */
static cuzk_code begin(setup *s, cuzk_err *err)
{
    const dshape *d = s->d;
    s->n_rows = (uint64_t)cuzk_shape_rows(s->s) + s->s->n_inputs;
    s->n_vars = (uint64_t)s->s->n_inputs + cuzk_shape_aux(s->s);
    if (d->n_inputs != s->s->n_inputs || d->n_templates != s->s->n_templates ||
        d->n_instances != s->s->n_instances || d->n_aux != cuzk_shape_aux(s->s) ||
        d->n_rows != cuzk_shape_rows(s->s)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the system on the device is another than %s",
                         s->s->name);
    }
    if (s->plan.chunk == 0 || s->plan.chunk % WORD != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "chunks of %" PRIu64 " products, a multiple of %d was "
                         "expected",
                         s->plan.chunk, WORD);
    }
    if (s->n_rows > (uint64_t)1 << NTT_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the system has %" PRIu64 " rows with those of its inputs; the limit is "
                         "2^%d",
                         s->n_rows, NTT_MAX_LG);
    }
    s->key->lg_domain = cuzk_groth16_lg_domain(s->n_rows);
    s->key->n_inputs = s->s->n_inputs;
    s->key->n_aux = cuzk_shape_aux(s->s);
    s->key->memory = s->m;
    CUZK_TRY(cuzk_trapdoor_check(s->t, err));
    fr_inv(&s->gamma_inv, &s->t->gamma);
    fr_inv(&s->delta_inv, &s->t->delta);
    s->z = s->t->tau;
    for (unsigned i = 0; i < s->key->lg_domain; i++) {
        fr_sqr(&s->z, &s->z);
    }
    fr_sub(&s->z, &s->z, &fr_one);
    if (fr_is_zero(&s->z)) {
        return cuzk_setup_refuse_domain(s->key->lg_domain, err);
    }
    return CUZK_OK;
}

static cuzk_code run(setup *s, cuzk_err *err)
{
    CUZK_TRY(begin(s, err));
    CUZK_TRY(make_polynomials(s, err));
    return make_points(s, err);
}

static void clear(setup *s)
{
    cuzk_cuda_block *const secrets[] = {&s->basis, &s->sums, &s->scalars, &s->a,
                                        &s->b,     &s->c,    &s->g1.sums, &s->g2.sums};
    cuzk_cuda_block *const others[] = {&s->base, &s->first, &s->terms, &s->uses, &s->bad};
    subset *const subsets[] = {&s->a_aux, &s->b_aux, &s->b_inputs};
    (void)cuzk_cuda_sync(s->stream, NULL);
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        give_secret(s, secrets[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        cuzk_cuda_give(s->m, others[i]);
    }
    for (size_t i = 0; i < sizeof subsets / sizeof *subsets; i++) {
        cuzk_cuda_give(s->m, &subsets[i]->bits);
        cuzk_cuda_give(s->m, &subsets[i]->ranks);
        cuzk_cuda_setup_ranks_clear(&subsets[i]->host);
    }
    cuzk_cuda_setup_lists_clear(&s->lists);
    cuzk_cuda_fixed_clear(&s->g1);
    cuzk_cuda_fixed_clear(&s->g2);
    cuzk_wipe(s, sizeof *s);
}

cuzk_cuda_setup_plan cuzk_cuda_setup_plan_for(uint64_t in_g1, uint64_t in_g2)
{
    uint64_t chunk = in_g1 < CHUNK ? (in_g1 / WORD + 1) * WORD : CHUNK;
    return (cuzk_cuda_setup_plan){chunk, cuzk_cuda_fixed_width(in_g1),
                                  cuzk_cuda_fixed_width(in_g2)};
}

cuzk_code cuzk_cuda_setup_with(cuzk_cuda_key **ret, const cuzk_shape *s, const dshape *d,
                               const cuzk_trapdoor *t, const cuzk_cuda_setup_plan *plan,
                               cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err)
{
    setup x = {.s = s, .d = d, .t = t, .plan = *plan, .m = m, .stream = stream};
    x.key = calloc(1, sizeof *x.key);
    cuzk_cuda_key *key = x.key;
    cuzk_code code;
    if (key) {
        code = run(&x, err);
    } else {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a key");
    }
    clear(&x);
    if (code != CUZK_OK) {
        cuzk_cuda_key_free(key);
        return code;
    }
    *ret = key;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_setup(cuzk_cuda_key **ret, const cuzk_shape *s, const dshape *d,
                          const cuzk_trapdoor *t, cuzk_cuda_memory *m, cuzk_cuda_stream stream,
                          cuzk_err *err)
{
    uint64_t n_aux = cuzk_shape_aux(s), n_rows = (uint64_t)cuzk_shape_rows(s) + s->n_inputs;
    uint64_t n_h = (uint64_t)1 << cuzk_groth16_lg_domain(n_rows);
    uint64_t n_vars = n_aux + s->n_inputs; /* a bound for A and B */
    cuzk_cuda_setup_plan plan = cuzk_cuda_setup_plan_for(n_h + 3 * n_vars, n_vars);
    return cuzk_cuda_setup_with(ret, s, d, t, &plan, m, stream, err);
}
