#include "groth16/formats/zkey.h"
#include "groth16/formats/formats.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Points given to a thread at a time. */
enum { POINTS_PER_STEP = 256 };

/* What must hold at each point of a list. */
typedef enum finiteness {
    FINITE,     /* no infinity */
    ANY,        /* both */
    BY_DENSITY, /* finite exactly at the variables in the density map */
} finiteness;

/* One list of points. */
typedef struct list {
    const char *name; /* in messages */
    uint32_t section;
    uint64_t n;
    bool is_g2;
    finiteness rule;
    const uint64_t *density; /* bit for each point of the list, for BY_DENSITY */
    cuzk_cursor bytes;
} list;

static size_t point_bytes(const list *l) { return l->is_g2 ? ZKEY_G2_BYTES : ZKEY_G1_BYTES; }

static bool is_dense(const uint64_t *map, uint64_t i) { return map[i / 64] >> i % 64 & 1; }

/* A point of a list's group. */
typedef union any_point {
    g1_affine in_g1;
    g2_affine in_g2;
} any_point;

static point_status decode(any_point *ret, const list *l, uint64_t i, point_check check)
{
    const uint8_t *p = l->bytes.bytes.p + (size_t)i * point_bytes(l);
    return l->is_g2 ? g2_decode_mont(&ret->in_g2, p, check) : g1_decode_mont(&ret->in_g1, p, check);
}

/* "found …" of the message about a point that breaks its list's rule; NULL for one that does not.
 */
static const char *fault(const list *l, uint64_t i, const any_point *point)
{
    bool inf = l->is_g2 ? g2_affine_is_inf(&point->in_g2) : g1_affine_is_inf(&point->in_g1);
    if (l->rule == FINITE && inf) {
        return "infinity";
    }
    if (l->rule == BY_DENSITY && inf && is_dense(l->density, i)) {
        return "infinity, though the variable occurs in the matrix";
    }
    if (l->rule == BY_DENSITY && !inf && !is_dense(l->density, i)) {
        return "a finite one, though the variable does not occur in the matrix";
    }
    return NULL;
}

typedef struct decode_job {
    const list *l;
    point_check check;
    const uint64_t *before;     /* for a compact result: points kept before each step, else NULL */
    uint8_t *ret;               /* the points */
    uint32_t *ret_var;          /* for a compact result: the variable of each, may be NULL */
    _Atomic uint64_t first_bad; /* lowest index seen to be refused, l->n when none */
} decode_job;

static void report(decode_job *job, uint64_t i)
{
    /* Relaxed: the pool's own synchronisation publishes the result. */
    uint64_t bad = atomic_load_explicit(&job->first_bad, memory_order_relaxed);
    while (i < bad && !atomic_compare_exchange_weak_explicit(
                          &job->first_bad, &bad, i, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static void decode_step(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    decode_job *job = ctx;
    const list *l = job->l;
    size_t size = l->is_g2 ? sizeof(g2_affine) : sizeof(g1_affine);
    uint64_t begin = (uint64_t)index * POINTS_PER_STEP;
    uint64_t end = begin + POINTS_PER_STEP < l->n ? begin + POINTS_PER_STEP : l->n;
    uint64_t out = job->before ? job->before[index] : begin;
    for (uint64_t i = begin; i < end; i++) {
        any_point point;
        if (decode(&point, l, i, job->check) != POINT_OK || fault(l, i, &point)) {
            report(job, i);
            return;
        }
        if (job->before && !is_dense(l->density, i)) {
            continue;
        }
        memcpy(job->ret + out * size, &point, size);
        if (job->ret_var) {
            job->ret_var[out] = (uint32_t)i;
        }
        out++;
    }
}

static cuzk_code bad_point(const list *l, uint64_t i, point_check check, cuzk_err *err)
{
    any_point point;
    point_status status = decode(&point, l, i, check);
    const char *found = status == POINT_OK ? fault(l, i, &point) : point_status_text(status);
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "%s: offset %zu: section %u (%s): point %llu: expected a %spoint of the "
                     "curve, found %s",
                     l->bytes.name, l->bytes.base + (size_t)i * point_bytes(l), l->section, l->name,
                     (unsigned long long)i, l->rule == FINITE ? "finite " : "", found);
}

static size_t steps_of(const list *l)
{
    return (size_t)((l->n + POINTS_PER_STEP - 1) / POINTS_PER_STEP);
}

static cuzk_code no_memory(const list *l, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for the %llu points of section %u",
                     l->bytes.name, (unsigned long long)l->n, l->section);
}

static cuzk_code run(decode_job *job, cuzk_pool *pool, cuzk_err *err)
{
    job->first_bad = job->l->n;
    cuzk_pool_run(pool, steps_of(job->l), decode_step, job);
    uint64_t bad = atomic_load(&job->first_bad);
    return bad == job->l->n ? CUZK_OK : bad_point(job->l, bad, job->check, err);
}

/* Allocates and reads all points of a list. */
static cuzk_code read_all(void **ret, const list *l, point_check check, cuzk_pool *pool,
                          cuzk_err *err)
{
    size_t size = l->is_g2 ? sizeof(g2_affine) : sizeof(g1_affine);
    uint8_t *points = malloc((size_t)l->n * size + 1);
    if (!points) {
        return no_memory(l, err);
    }
    decode_job job = {.l = l, .check = check, .ret = points};
    cuzk_code code = run(&job, pool, err);
    if (code != CUZK_OK) {
        free(points);
        return code;
    }
    *ret = points;
    return CUZK_OK;
}

/* Points kept before each step of a list, and the sum after the last. The caller frees. */
static uint64_t *count_before(const list *l)
{
    size_t n_steps = steps_of(l);
    uint64_t *before = malloc((n_steps + 1) * sizeof *before);
    uint64_t n = 0;
    for (size_t s = 0; before && s < n_steps; s++) {
        before[s] = n;
        for (size_t w = s * (POINTS_PER_STEP / 64); w < (s + 1) * (POINTS_PER_STEP / 64); w++) {
            n += w * 64 < l->n ? (uint64_t)__builtin_popcountll(l->density[w]) : 0;
        }
    }
    if (before) {
        before[n_steps] = n;
    }
    return before;
}

/* Allocates and reads the points of a list at the dense variables; ret_var may be NULL. */
static cuzk_code read_dense(void **ret, uint32_t **ret_var, uint32_t *ret_n, const list *l,
                            point_check check, cuzk_pool *pool, cuzk_err *err)
{
    size_t size = l->is_g2 ? sizeof(g2_affine) : sizeof(g1_affine);
    cuzk_code code = CUZK_OK;
    uint64_t *before = count_before(l);
    uint8_t *points = before ? malloc((size_t)before[steps_of(l)] * size + 1) : NULL;
    uint32_t *var = before ? malloc((size_t)before[steps_of(l)] * sizeof *var + 1) : NULL;
    if (!before || !points || !var) {
        code = no_memory(l, err);
        goto out;
    }
    decode_job job = {.l = l, .check = check, .before = before, .ret = points, .ret_var = var};
    code = run(&job, pool, err);
    if (code != CUZK_OK) {
        goto out;
    }
    *ret = points;
    points = NULL;
    *ret_n = (uint32_t)before[steps_of(l)];
    if (ret_var) {
        *ret_var = var;
        var = NULL;
    }
out:
    free(var);
    free(points);
    free(before);
    return code;
}

static cuzk_code read_protocol(const cuzk_iden3 *f, cuzk_err *err)
{
    cuzk_cursor c;
    uint32_t protocol;
    CUZK_TRY(cuzk_iden3_section(f, ZKEY_PROTOCOL, "protocol", &c, err));
    CUZK_TRY(cuzk_cursor_u32le(&c, "protocol", &protocol, err));
    if (protocol != ZKEY_GROTH16) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: protocol: expected 1 (groth16), found %u (%s)", f->name,
                         c.base, protocol,
                         protocol == 2    ? "plonk"
                         : protocol == 10 ? "fflonk"
                                          : "unknown");
    }
    return cuzk_cursor_end(&c, "the protocol section", err);
}

static cuzk_code read_sizes(cuzk_cursor *c, cuzk_zkey_sizes *ret, cuzk_err *err)
{
    uint32_t n_vars, n_public, domain;
    size_t offset = cuzk_cursor_offset(c);
    CUZK_TRY(cuzk_cursor_u32le(c, "number of variables", &n_vars, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "number of public inputs", &n_public, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "domain size", &domain, err));
    if (n_public >= n_vars) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: number of public inputs: expected below %u, the number "
                         "of variables, found %u",
                         c->name, offset + 4, n_vars, n_public);
    }
    if (domain == 0 || (domain & (domain - 1)) != 0 || domain > UINT32_C(1) << NTT_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: domain size: expected a power of two up to 2^%d, found "
                         "%u",
                         c->name, offset + 8, NTT_MAX_LG, domain);
    }
    if (domain < n_public + 1) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: domain size: expected room for the rows of 1 + %u "
                         "inputs, found %u",
                         c->name, offset + 8, n_public, domain);
    }
    *ret = (cuzk_zkey_sizes){n_vars, n_public + 1, (unsigned)__builtin_ctz(domain)};
    return CUZK_OK;
}

/* One of the six points of the header. */
static cuzk_code read_header_point(cuzk_cursor *c, const char *name, void *ret, bool is_g2,
                                   point_check check, cuzk_err *err)
{
    list l = {.name = name, .section = ZKEY_HEADER, .n = 1, .is_g2 = is_g2, .rule = FINITE};
    CUZK_TRY(cuzk_cursor_sub(c, point_bytes(&l), name, &l.bytes, err));
    any_point point;
    if (decode(&point, &l, 0, check) != POINT_OK || fault(&l, 0, &point)) {
        return bad_point(&l, 0, check, err);
    }
    memcpy(ret, &point, is_g2 ? sizeof(g2_affine) : sizeof(g1_affine));
    return CUZK_OK;
}

/* Section 2; the points go to vk. */
static cuzk_code read_header(const cuzk_iden3 *f, cuzk_zkey_sizes *ret, cuzk_vk *vk,
                             point_check check, cuzk_err *err)
{
    cuzk_cursor c;
    CUZK_TRY(cuzk_iden3_section(f, ZKEY_HEADER, "header", &c, err));
    CUZK_TRY(cuzk_iden3_read_fp_prime(&c, err));
    CUZK_TRY(cuzk_iden3_read_fr_prime(&c, err));
    CUZK_TRY(read_sizes(&c, ret, err));
    CUZK_TRY(cuzk_iden3_expect_length(&c, ZKEY_HEADER_BYTES, "section 2 (header)", err));
    CUZK_TRY(read_header_point(&c, "alpha1", &vk->alpha_g1, false, check, err));
    CUZK_TRY(read_header_point(&c, "beta1", &vk->beta_g1, false, check, err));
    CUZK_TRY(read_header_point(&c, "beta2", &vk->beta_g2, true, check, err));
    CUZK_TRY(read_header_point(&c, "gamma2", &vk->gamma_g2, true, check, err));
    CUZK_TRY(read_header_point(&c, "delta1", &vk->delta_g1, false, check, err));
    return read_header_point(&c, "delta2", &vk->delta_g2, true, check, err);
}

enum { IC, A, B1, B2, C, H, N_LISTS };

/* Finds the lists and checks their lengths, before anything is made from them. */
static cuzk_code find_lists(const cuzk_iden3 *f, const cuzk_zkey_sizes *sizes, list l[N_LISTS],
                            cuzk_err *err)
{
    const list all[N_LISTS] = {
        [IC] = {.name = "IC", .section = ZKEY_IC, .n = sizes->n_inputs, .rule = FINITE},
        [A] = {.name = "A", .section = ZKEY_A, .n = sizes->n_vars, .rule = BY_DENSITY},
        [B1] = {.name = "B in G1", .section = ZKEY_B1, .n = sizes->n_vars, .rule = BY_DENSITY},
        [B2] = {.name = "B in G2",
                .section = ZKEY_B2,
                .n = sizes->n_vars,
                .is_g2 = true,
                .rule = BY_DENSITY},
        [C] = {.name = "C", .section = ZKEY_C, .n = sizes->n_vars - sizes->n_inputs, .rule = ANY},
        [H] = {.name = "H",
               .section = ZKEY_H,
               .n = UINT64_C(1) << sizes->lg_domain,
               .rule = FINITE},
    };
    for (size_t i = 0; i < N_LISTS; i++) {
        l[i] = all[i];
        char what[32];
        snprintf(what, sizeof what, "section %u (%s)", l[i].section, l[i].name);
        CUZK_TRY(cuzk_iden3_section(f, l[i].section, l[i].name, &l[i].bytes, err));
        CUZK_TRY(cuzk_iden3_expect_length(&l[i].bytes, l[i].n * point_bytes(&l[i]), what, err));
    }
    return CUZK_OK;
}

/* The variables of A and of B as bit maps: *ret_a and *ret_b, both freed with *ret_a. A key's A
 * query also has the rows of the inputs. */
static cuzk_code densities(const cuzk_r1cs *r, const char *name, uint64_t **ret_a, uint64_t **ret_b,
                           cuzk_err *err)
{
    size_t words = ((size_t)r->n_inputs + r->n_aux + 63) / 64;
    uint64_t *map = calloc(2 * words, sizeof *map);
    if (!map) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for maps of the variables", name);
    }
    cuzk_r1cs_density(r, CUZK_MATRIX_A, map);
    cuzk_r1cs_density(r, CUZK_MATRIX_B, map + words);
    for (uint32_t v = 0; v < r->n_inputs; v++) {
        map[v / 64] |= UINT64_C(1) << v % 64;
    }
    *ret_a = map;
    *ret_b = map + words;
    return CUZK_OK;
}

static cuzk_code read_lists(cuzk_pk *pk, const list l[N_LISTS], point_check check, cuzk_pool *pool,
                            cuzk_err *err)
{
    void *p;
    uint32_t n;
    CUZK_TRY(read_all(&p, &l[IC], check, pool, err));
    pk->vk.ic = p;
    CUZK_TRY(read_all(&p, &l[C], check, pool, err));
    pk->l = p;
    CUZK_TRY(read_all(&p, &l[H], check, pool, err));
    pk->h = p;
    CUZK_TRY(read_dense(&p, &pk->a_var, &pk->n_a, &l[A], check, pool, err));
    pk->a = p;
    CUZK_TRY(read_dense(&p, &pk->b_var, &pk->n_b, &l[B1], check, pool, err));
    pk->b_g1 = p;
    CUZK_TRY(read_dense(&p, NULL, &n, &l[B2], check, pool, err));
    pk->b_g2 = p;
    return CUZK_OK;
}

static cuzk_code parse(cuzk_pk *pk, cuzk_r1cs **r, cuzk_span bytes, const char *name,
                       point_check check, cuzk_pool *pool, cuzk_err *err)
{
    cuzk_iden3 f;
    cuzk_cursor coeffs;
    cuzk_zkey_sizes sizes;
    list lists[N_LISTS];
    CUZK_TRY(cuzk_iden3_open(&f, bytes, name, "zkey", ZKEY_VERSION, ZKEY_HISTORY, err));
    CUZK_TRY(read_protocol(&f, err));
    CUZK_TRY(read_header(&f, &sizes, &pk->vk, check, err));
    CUZK_TRY(find_lists(&f, &sizes, lists, err));
    CUZK_TRY(cuzk_iden3_section(&f, ZKEY_COEFFS, "coefficients", &coeffs, err));
    CUZK_TRY(cuzk_zkey_read_coeffs(r, coeffs, &sizes, err));

    pk->root = FR_ROOT_SNARKJS;
    pk->h_basis = CUZK_H_ODD_LAGRANGE;
    pk->lg_domain = sizes.lg_domain;
    pk->n_inputs = sizes.n_inputs;
    pk->n_aux = sizes.n_vars - sizes.n_inputs;
    pk->vk.n_ic = sizes.n_inputs;
    pk->n_h = lists[H].n;

    uint64_t *a, *b;
    CUZK_TRY(densities(*r, name, &a, &b, err));
    lists[A].density = a;
    lists[B1].density = b;
    lists[B2].density = b;
    cuzk_code code = read_lists(pk, lists, check, pool, err);
    free(a);
    return code;
}

cuzk_code cuzk_zkey_parse(cuzk_pk **ret, cuzk_r1cs **ret_r1cs, cuzk_span bytes, const char *name,
                          point_check check, cuzk_pool *pool, cuzk_err *err)
{
    cuzk_r1cs *r = NULL;
    cuzk_pk *pk = calloc(1, sizeof *pk);
    if (!pk) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a key", name);
    }
    cuzk_code code = parse(pk, &r, bytes, name, check, pool, err);
    if (code != CUZK_OK) {
        cuzk_pk_free(pk);
        cuzk_r1cs_free(r);
        return code;
    }
    *ret = pk;
    *ret_r1cs = r;
    return CUZK_OK;
}

cuzk_code cuzk_zkey_read(cuzk_pk **ret, cuzk_r1cs **ret_r1cs, const char *name, point_check check,
                         cuzk_pool *pool, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_zkey_parse(ret, ret_r1cs, map.bytes, name, check, pool, err);
    cuzk_file_map_close(&map);
    return code;
}
