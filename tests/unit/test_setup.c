#include "base/bytes.h"
#include "groth16/groth16.h"
#include "support/gen_circuit.h"
#include "support/oracle.h"
#include "support/small_circuit.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

static const fr_root roots[] = {FR_ROOT_BELLMAN, FR_ROOT_SNARKJS};
static const cuzk_h_basis bases[] = {CUZK_H_POWERS, CUZK_H_ODD_LAGRANGE};

static cuzk_trapdoor ref_trapdoor(void)
{
    cuzk_trapdoor t;
    assert_int_equal(cuzk_trapdoor_named(&t, "ref", NULL), CUZK_OK);
    return t;
}

static void assert_g1(const g1_affine *p, const fr *k)
{
    g1_affine want = oracle_g1(k);
    assert_true(g1_affine_eq(p, &want));
}

static void assert_g2(const g2_affine *p, const fr *k)
{
    g2_affine want = oracle_g2(k);
    assert_true(g2_affine_eq(p, &want));
}

static void assert_vk(const cuzk_vk *vk, const oracle *o)
{
    assert_g1(&vk->alpha_g1, &o->t->alpha);
    assert_g1(&vk->beta_g1, &o->t->beta);
    assert_g1(&vk->delta_g1, &o->t->delta);
    assert_g2(&vk->beta_g2, &o->t->beta);
    assert_g2(&vk->gamma_g2, &o->t->gamma);
    assert_g2(&vk->delta_g2, &o->t->delta);
    fr gamma_inv;
    fr_inv(&gamma_inv, &o->t->gamma);
    assert_int_equal(vk->n_ic, o->r1cs->n_inputs);
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        fr k = oracle_combined(o, i);
        fr_mul(&k, &k, &gamma_inv);
        assert_g1(&vk->ic[i], &k);
    }
}

static void assert_h(const cuzk_pk *pk, const oracle *o)
{
    size_t m = (size_t)1 << o->lg_domain;
    fr *want = malloc(m * sizeof *want), delta_inv;
    assert_non_null(want);
    if (pk->h_basis == CUZK_H_ODD_LAGRANGE) {
        assert_int_equal(pk->n_h, m);
        oracle_odd_lagrange(want, o->lg_domain, o->t, pk->root);
    } else {
        assert_int_equal(pk->n_h, m - 1);
        fr_inv(&delta_inv, &o->t->delta);
        fr_mul(&want[0], &o->z, &delta_inv);
        for (size_t i = 1; i < m; i++) {
            fr_mul(&want[i], &want[i - 1], &o->t->tau);
        }
    }
    for (size_t i = 0; i < pk->n_h; i++) {
        assert_g1(&pk->h[i], &want[i]);
    }
    free(want);
}

static void assert_queries(const cuzk_pk *pk, const oracle *o)
{
    uint32_t n_a = 0, n_b = 0;
    fr delta_inv;
    fr_inv(&delta_inv, &o->t->delta);
    for (uint32_t v = 0; v < o->n_vars; v++) {
        if (!fr_is_zero(&o->a[v])) {
            assert_int_equal(pk->a_var[n_a], v);
            assert_g1(&pk->a[n_a++], &o->a[v]);
        }
        if (!fr_is_zero(&o->b[v])) {
            assert_int_equal(pk->b_var[n_b], v);
            assert_g1(&pk->b_g1[n_b], &o->b[v]);
            assert_g2(&pk->b_g2[n_b++], &o->b[v]);
        }
        if (v >= pk->n_inputs) {
            fr k = oracle_combined(o, v);
            fr_mul(&k, &k, &delta_inv);
            assert_g1(&pk->l[v - pk->n_inputs], &k);
        }
    }
    assert_int_equal(pk->n_a, n_a);
    assert_int_equal(pk->n_b, n_b);
}

static void assert_key(const cuzk_r1cs *r1cs, const cuzk_trapdoor *t, fr_root root,
                       cuzk_h_basis basis, cuzk_pool *pool)
{
    cuzk_pk *pk = NULL;
    cuzk_err err = {0};
    if (cuzk_groth16_setup(&pk, r1cs, t, root, basis, pool, NULL, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    oracle o = oracle_new(r1cs, t, root);
    assert_int_equal(pk->root, root);
    assert_int_equal(pk->h_basis, basis);
    assert_int_equal(pk->lg_domain, o.lg_domain);
    assert_int_equal(pk->n_inputs, r1cs->n_inputs);
    assert_int_equal(pk->n_aux, r1cs->n_aux);
    assert_vk(&pk->vk, &o);
    assert_h(pk, &o);
    assert_queries(pk, &o);
    oracle_clear(&o);
    cuzk_pk_free(pk);
}

static void every_point_of_a_key_is_what_its_definition_says(void **state)
{
    (void)state;
    cuzk_trapdoor t = ref_trapdoor();
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_new(&pool, 3, NULL), CUZK_OK);
    for (int shape = 0; shape < SMALL_SHAPES; shape++) {
        small_circuit c = small_circuit_new((small_shape)shape);
        for (int i = 0; i < 4; i++) {
            assert_key(c.r1cs, &t, roots[i % 2], bases[i / 2], i % 2 ? pool : NULL);
        }
        small_circuit_clear(&c);
    }
    cuzk_pool_free(pool);
}

static void a_generated_circuit_gets_the_right_key_on_any_number_of_threads(void **state)
{
    (void)state;
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = 100, .n_inputs = 5, .seed = 7});
    cuzk_trapdoor t;
    assert_int_equal(cuzk_trapdoor_random(&t, NULL), CUZK_OK);
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_new(&pool, 4, NULL), CUZK_OK);
    assert_key(c.r1cs, &t, FR_ROOT_BELLMAN, CUZK_H_POWERS, pool);
    assert_key(c.r1cs, &t, FR_ROOT_SNARKJS, CUZK_H_ODD_LAGRANGE, NULL);
    cuzk_pool_free(pool);
    gen_circuit_clear(&c);
}

static void assert_named(const char *name, const char *hex)
{
    uint8_t want[32], got[32];
    fr k;
    assert_true(cuzk_hex_parse(hex, want, 32));
    assert_int_equal(cuzk_scalar_named(&k, name, NULL), CUZK_OK);
    fr_to_bytes(got, &k);
    assert_memory_equal(got, want, 32);
}

static void named_scalars_are_the_published_ones(void **state)
{
    (void)state;
    /* sha256sum of the name, the last byte masked with 0x3f */
    assert_named("ref-alpha", "b7b6f154061dae53a58e2bdd9c5ab155693ce5146c67c4514045777b0f22a606");
    assert_named("ref-tau", "8dd14709d1b2f329d88e80f07d4548acc4a6c17d75dacb3edb627f8f4c080a33");
    assert_named("ref-r-0", "015ef3ad342e33689954f1a837f6e5664924f6a84abe2564211f2a302a4a0e11");
    cuzk_trapdoor t = ref_trapdoor();
    uint8_t want[32], got[32];
    assert_true(cuzk_hex_parse("a9f82ba1adc6d25b2a8a62ffca81c623d90df1eed7b05c8bb8c82753ad79d81a",
                               want, 32));
    fr_to_bytes(got, &t.delta);
    assert_memory_equal(got, want, 32);
}

static void random_trapdoors_differ_in_every_part(void **state)
{
    (void)state;
    cuzk_trapdoor a, b;
    assert_int_equal(cuzk_trapdoor_random(&a, NULL), CUZK_OK);
    assert_int_equal(cuzk_trapdoor_random(&b, NULL), CUZK_OK);
    const fr *parts[] = {&a.alpha, &a.beta, &a.gamma, &a.delta, &a.tau,
                         &b.alpha, &b.beta, &b.gamma, &b.delta, &b.tau};
    for (size_t i = 0; i < 10; i++) {
        assert_true(fr_is_reduced(parts[i]));
        for (size_t j = 0; j < i; j++) {
            assert_false(fr_eq(parts[i], parts[j]));
        }
    }
}

/* Setup must refuse, with that code, and say `why`. */
static void assert_refused(const cuzk_r1cs *r1cs, const cuzk_trapdoor *t, cuzk_h_basis basis,
                           cuzk_code code, const char *why)
{
    cuzk_pk *pk = NULL;
    cuzk_err err = {0};
    assert_int_equal(cuzk_groth16_setup(&pk, r1cs, t, FR_ROOT_BELLMAN, basis, NULL, NULL, &err),
                     code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.msg, why));
    assert_null(pk);
}

static void a_trapdoor_with_a_zero_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"alpha", "beta", "gamma", "delta", "tau"};
    small_circuit c = small_circuit_new(SMALL_ONE_ROW);
    for (int i = 0; i < 5; i++) {
        cuzk_trapdoor t = ref_trapdoor();
        fr *parts[] = {&t.alpha, &t.beta, &t.gamma, &t.delta, &t.tau};
        *parts[i] = fr_zero;
        assert_refused(c.r1cs, &t, CUZK_H_POWERS, CUZK_E_INPUT, names[i]);
    }
    small_circuit_clear(&c);
}

static void a_tau_in_the_domain_is_refused(void **state)
{
    (void)state;
    small_circuit c = small_circuit_new(SMALL_EXACT_POWER);
    cuzk_trapdoor t = ref_trapdoor();
    t.tau = fr_root_of_unity(FR_ROOT_BELLMAN, 4);
    assert_refused(c.r1cs, &t, CUZK_H_POWERS, CUZK_E_INPUT, "tau is in the domain");
    assert_refused(c.r1cs, &t, CUZK_H_ODD_LAGRANGE, CUZK_E_INPUT, "tau is in the domain");
    t.tau = fr_root_of_unity(FR_ROOT_BELLMAN, 5); /* on the odd coset only */
    assert_refused(c.r1cs, &t, CUZK_H_ODD_LAGRANGE, CUZK_E_INPUT, "order 2^5");
    assert_key(c.r1cs, &t, FR_ROOT_BELLMAN, CUZK_H_POWERS, NULL);
    small_circuit_clear(&c);
}

static void a_variable_in_no_row_has_no_place_in_a_bellman_key(void **state)
{
    (void)state;
    small_circuit c = small_circuit_with_a_loose_variable();
    cuzk_trapdoor t = ref_trapdoor();
    assert_refused(c.r1cs, &t, CUZK_H_POWERS, CUZK_E_INPUT,
                   "auxiliary variable 1 occurs in no row");
    cuzk_pk *pk;
    assert_int_equal(
        cuzk_groth16_setup(&pk, c.r1cs, &t, FR_ROOT_SNARKJS, CUZK_H_ODD_LAGRANGE, NULL, NULL, NULL),
        CUZK_OK);
    assert_false(g1_affine_is_inf(&pk->l[0]));
    assert_true(g1_affine_is_inf(&pk->l[1]));
    cuzk_pk_free(pk);
    small_circuit_clear(&c);
}

static void a_system_without_its_matrix_c_is_refused(void **state)
{
    (void)state;
    small_circuit c = small_circuit_new(SMALL_ONE_ROW);
    cuzk_trapdoor t = ref_trapdoor();
    c.r1cs->has_c = false;
    assert_refused(c.r1cs, &t, CUZK_H_POWERS, CUZK_E_ARG, "no matrix C");
    small_circuit_clear(&c);
}

typedef struct seen {
    char phases[16][32];
    size_t n_phases;
    uint64_t last;
    bool ended; /* the latest phase has reached its total */
} seen;

static void note(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    seen *s = ctx;
    if (s->n_phases == 0 || strcmp(s->phases[s->n_phases - 1], phase) != 0) {
        assert_true(s->n_phases == 0 || s->ended);
        assert_true(s->n_phases < 16);
        snprintf(s->phases[s->n_phases++], sizeof s->phases[0], "%s", phase);
        s->last = 0;
    }
    assert_true(done >= s->last && done <= total);
    s->last = done;
    s->ended = done == total;
}

static void progress_is_reported_to_the_end_of_each_phase(void **state)
{
    (void)state;
    small_circuit c = small_circuit_new(SMALL_ABOVE_POWER);
    cuzk_trapdoor t = ref_trapdoor();
    seen s = {.n_phases = 0};
    cuzk_progress progress = {note, &s};
    cuzk_pk *pk;
    assert_int_equal(
        cuzk_groth16_setup(&pk, c.r1cs, &t, FR_ROOT_BELLMAN, CUZK_H_POWERS, NULL, &progress, NULL),
        CUZK_OK);
    assert_true(s.ended);
    assert_true(s.n_phases >= 6);
    assert_string_equal(s.phases[0], "polynomials");
    assert_string_equal(s.phases[s.n_phases - 1], "b query");
    cuzk_pk_free(pk);
    small_circuit_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_of_a_key_is_what_its_definition_says),
        cmocka_unit_test(a_generated_circuit_gets_the_right_key_on_any_number_of_threads),
        cmocka_unit_test(named_scalars_are_the_published_ones),
        cmocka_unit_test(random_trapdoors_differ_in_every_part),
        cmocka_unit_test(a_trapdoor_with_a_zero_is_refused_by_name),
        cmocka_unit_test(a_tau_in_the_domain_is_refused),
        cmocka_unit_test(a_variable_in_no_row_has_no_place_in_a_bellman_key),
        cmocka_unit_test(a_system_without_its_matrix_c_is_refused),
        cmocka_unit_test(progress_is_reported_to_the_end_of_each_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
