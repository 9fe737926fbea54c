#include "groth16/groth16.h"
#include "support/gen_circuit.h"
#include "support/oracle.h"
#include "support/small_circuit.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

/* The four kinds of key. */
typedef struct kind {
    fr_root root;
    cuzk_h_basis basis;
} kind;

static const kind kinds[] = {
    {FR_ROOT_BELLMAN, CUZK_H_POWERS},
    {FR_ROOT_SNARKJS, CUZK_H_ODD_LAGRANGE},
    {FR_ROOT_SNARKJS, CUZK_H_POWERS},
    {FR_ROOT_BELLMAN, CUZK_H_ODD_LAGRANGE},
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static cuzk_pk *new_key(const cuzk_r1cs *r1cs, const cuzk_trapdoor *t, kind k, cuzk_pool *pool)
{
    cuzk_pk *pk = NULL;
    cuzk_err err = {0};
    if (cuzk_groth16_setup(&pk, r1cs, t, k.root, k.basis, pool, NULL, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return pk;
}

static cuzk_trapdoor named_trapdoor(void)
{
    cuzk_trapdoor t;
    assert_int_equal(cuzk_trapdoor_named(&t, "test", NULL), CUZK_OK);
    return t;
}

static void assert_same_proof(const cuzk_proof *got, const cuzk_proof *want, const char *circuit,
                              int kind_index)
{
    if (!g1_affine_eq(&got->a, &want->a)) {
        fail_msg("A differs: %s, kind %d", circuit, kind_index);
    }
    if (!g2_affine_eq(&got->b, &want->b)) {
        fail_msg("B differs: %s, kind %d", circuit, kind_index);
    }
    if (!g1_affine_eq(&got->c, &want->c)) {
        fail_msg("C differs: %s, kind %d", circuit, kind_index);
    }
}

/* Sets up each kind of key, proves with given r and s, and compares with the oracle. */
static void assert_oracle(const char *name, const cuzk_r1cs *r1cs, const fr_repr *z, size_t n_z,
                          cuzk_pool *pool)
{
    cuzk_trapdoor t = named_trapdoor();
    fr r, s;
    assert_int_equal(cuzk_scalar_named(&r, "test-r", NULL), CUZK_OK);
    assert_int_equal(cuzk_scalar_named(&s, "test-s", NULL), CUZK_OK);
    for (int i = 0; i < N_KINDS; i++) {
        cuzk_pk *pk = new_key(r1cs, &t, kinds[i], pool);
        cuzk_proof proof;
        cuzk_err err = {0};
        if (cuzk_groth16_prove(&proof, pk, r1cs, z, n_z, &r, &s, pool, NULL, NULL, &err) !=
            CUZK_OK) {
            fail_msg("%s, kind %d: %s", name, i, err.msg);
        }
        oracle o = oracle_new(r1cs, &t, kinds[i].root);
        cuzk_proof want = oracle_proof(&o, z, &r, &s);
        assert_same_proof(&proof, &want, name, i);
        oracle_clear(&o);
        cuzk_pk_free(pk);
    }
}

static void proofs_of_edge_circuits_equal_the_oracle_for_every_kind_of_key(void **state)
{
    (void)state;
    for (int shape = 0; shape < SMALL_SHAPES; shape++) {
        small_circuit c = small_circuit_new((small_shape)shape);
        assert_oracle(c.name, c.r1cs, c.z, c.n_z, NULL);
        small_circuit_clear(&c);
    }
    small_circuit loose = small_circuit_with_a_loose_variable();
    cuzk_trapdoor t = named_trapdoor();
    cuzk_pk *pk = new_key(loose.r1cs, &t, kinds[1], NULL);
    cuzk_proof proof;
    assert_int_equal(cuzk_groth16_prove(&proof, pk, loose.r1cs, loose.z, loose.n_z, NULL, NULL,
                                        NULL, NULL, NULL, NULL),
                     CUZK_OK);
    cuzk_pk_free(pk);
    small_circuit_clear(&loose);
}

static void proofs_of_generated_circuits_equal_the_oracle_for_every_kind_of_key(void **state)
{
    (void)state;
    static const gen_wish wishes[] = {
        {.n_rows = 20, .n_inputs = 2, .seed = 1},
        {.n_rows = 124, .n_inputs = 4, .seed = 2}, /* 128 with the inputs' rows */
        {.n_rows = 125, .n_inputs = 4, .seed = 3},
        {.n_rows = 300, .n_inputs = 9, .bit_permil = 400, .seed = 4},
    };
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_new(&pool, 3, NULL), CUZK_OK);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        gen_circuit c = gen_circuit_new(&wishes[i]);
        assert_oracle("generated", c.r1cs, c.z, (size_t)c.r1cs->n_inputs + c.r1cs->n_aux, pool);
        gen_circuit_clear(&c);
    }
    cuzk_pool_free(pool);
}

/* A key, a circuit and its witness, as most tests need them. */
typedef struct fixture {
    gen_circuit c;
    size_t n_z;
    cuzk_pk *pk;
} fixture;

static fixture fixture_of_rows(kind k, uint64_t n_rows)
{
    fixture f = {.c = gen_circuit_new(&(gen_wish){.n_rows = n_rows, .n_inputs = 4, .seed = 11})};
    cuzk_trapdoor t;
    assert_int_equal(cuzk_trapdoor_random(&t, NULL), CUZK_OK);
    f.n_z = (size_t)f.c.r1cs->n_inputs + f.c.r1cs->n_aux;
    f.pk = new_key(f.c.r1cs, &t, k, NULL);
    return f;
}

static fixture fixture_new(kind k) { return fixture_of_rows(k, 60); }

static void fixture_clear(fixture *f)
{
    cuzk_pk_free(f->pk);
    gen_circuit_clear(&f->c);
}

static cuzk_code prove(const fixture *f, cuzk_proof *ret, cuzk_err *err)
{
    return cuzk_groth16_prove(ret, f->pk, f->c.r1cs, f->c.z, f->n_z, NULL, NULL, NULL, NULL, NULL,
                              err);
}

static void assert_refused(const fixture *f, cuzk_code code, const char *why)
{
    cuzk_proof proof, before;
    cuzk_err err = {0};
    memset(&proof, 0x5a, sizeof proof);
    before = proof;
    assert_int_equal(prove(f, &proof, &err), code);
    assert_int_equal(err.code, code);
    if (!strstr(err.msg, why)) {
        fail_msg("\"%s\" is not in \"%s\"", why, err.msg);
    }
    assert_memory_equal(&proof, &before, sizeof proof);
}

static void a_proof_with_fresh_blinding_verifies_and_differs_each_time(void **state)
{
    (void)state;
    for (int i = 0; i < N_KINDS; i++) {
        fixture f = fixture_new(kinds[i]);
        cuzk_proof one, two;
        cuzk_verifier *v;
        assert_int_equal(prove(&f, &one, NULL), CUZK_OK);
        assert_int_equal(prove(&f, &two, NULL), CUZK_OK);
        assert_false(g1_affine_eq(&one.a, &two.a));
        assert_false(g2_affine_eq(&one.b, &two.b));
        assert_false(g1_affine_eq(&one.c, &two.c));
        assert_int_equal(cuzk_verifier_new(&v, &f.pk->vk, NULL), CUZK_OK);
        size_t n = f.pk->n_inputs - 1;
        assert_int_equal(cuzk_verify(v, &one, f.c.z + 1, n, NULL, NULL), CUZK_OK);
        assert_int_equal(cuzk_verify(v, &two, f.c.z + 1, n, NULL, NULL), CUZK_OK);
        f.c.z[1].l[0] ^= 1;
        assert_int_equal(cuzk_verify(v, &one, f.c.z + 1, n, NULL, NULL), CUZK_E_INVALID);
        cuzk_verifier_free(v);
        fixture_clear(&f);
    }
}

static void circuits_longer_than_what_a_thread_takes_at_a_time_are_proved(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture f = fixture_of_rows(kinds[i], 4200);
        cuzk_proof proof; /* a valid one, or the prover would have kept it */
        cuzk_err err = {0};
        if (prove(&f, &proof, &err) != CUZK_OK) {
            fail_msg("%s", err.msg);
        }
        fixture_clear(&f);
    }
}

static void a_witness_that_breaks_a_row_is_refused_with_its_number(void **state)
{
    (void)state;
    fixture f = fixture_new(kinds[0]);
    /* The last aux variable: the first row that it is in is the first to fail. */
    uint32_t v = (uint32_t)f.n_z - 1;
    const cuzk_r1cs *r = f.c.r1cs;
    const cuzk_csr *matrices[] = {&r->a, &r->b, &r->c};
    uint64_t row = r->n_rows;
    for (int k = 0; k < 3; k++) {
        for (uint64_t j = 0; j < row; j++) {
            for (uint64_t i = matrices[k]->row[j]; i < matrices[k]->row[j + 1]; i++) {
                row = matrices[k]->var[i] == v ? j : row;
            }
        }
    }
    f.c.z[v] = (fr_repr){{12345}};
    char why[64];
    snprintf(why, sizeof why, "constraint %llu of", (unsigned long long)row);
    assert_refused(&f, CUZK_E_INPUT, why);
    fixture_clear(&f);
}

static void a_key_without_c_finds_a_wrong_witness_by_verifying(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fixture f = fixture_new(kinds[i]);
        cuzk_proof proof;
        f.c.r1cs->has_c = false;
        assert_int_equal(prove(&f, &proof, NULL), CUZK_OK);
        f.c.z[f.n_z - 1] = (fr_repr){{12345}};
        assert_refused(&f, CUZK_E_INPUT, "does not satisfy the system");
        fixture_clear(&f);
    }
}

static void a_corrupt_key_yields_no_proof(void **state)
{
    (void)state;
    fixture f = fixture_new(kinds[0]);
    g1_affine_neg(&f.pk->h[3], &f.pk->h[3]);
    assert_refused(&f, CUZK_E_INTERNAL, "the key is corrupt");
    fixture_clear(&f);
}

static void a_value_that_is_not_reduced_is_refused_with_its_index(void **state)
{
    (void)state;
    fixture f = fixture_new(kinds[0]);
    memcpy(f.c.z[17].l, fr_modulus.l, sizeof fr_modulus.l);
    memset(f.c.z[30].l, 0xff, sizeof f.c.z[30].l);
    assert_refused(&f, CUZK_E_INPUT, "value 17 of the witness");
    fixture_clear(&f);
}

static void the_first_value_must_be_one(void **state)
{
    (void)state;
    fixture f = fixture_new(kinds[0]);
    f.c.z[0].l[0] = 2;
    assert_refused(&f, CUZK_E_INPUT, "value 0 of the witness is not 1");
    fixture_clear(&f);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    fixture f = fixture_new(kinds[0]);
    f.n_z -= 1;
    assert_refused(&f, CUZK_E_INPUT, "the key wants");
    f.n_z += 2;
    assert_refused(&f, CUZK_E_INPUT, "the key wants");
    f.n_z -= 1;
    f.pk->lg_domain -= 1;
    assert_refused(&f, CUZK_E_INPUT, "the key's domain is 2^");
    f.pk->lg_domain += 2;
    assert_refused(&f, CUZK_E_INPUT, "h query");
    f.pk->lg_domain = 63;
    assert_refused(&f, CUZK_E_INPUT, "the key's domain is 2^63");
    fixture_clear(&f);

    f = fixture_new(kinds[0]);
    gen_circuit other = gen_circuit_new(&(gen_wish){.n_rows = 61, .n_inputs = 5, .seed = 11});
    gen_circuit own = f.c;
    f.c = other;
    assert_refused(&f, CUZK_E_INPUT, "5 inputs");
    f.c = own;
    f.c.r1cs->n_inputs += 1; /* as many variables in all */
    f.c.r1cs->n_aux -= 1;
    assert_refused(&f, CUZK_E_INPUT, "the system has 5 inputs");
    f.c.r1cs->n_inputs -= 1;
    f.c.r1cs->n_aux += 1;
    gen_circuit_clear(&other);
    fixture_clear(&f);
}

static void r_without_s_is_refused(void **state)
{
    (void)state;
    fixture f = fixture_new(kinds[0]);
    cuzk_proof proof;
    assert_int_equal(cuzk_groth16_prove(&proof, f.pk, f.c.r1cs, f.c.z, f.n_z, &fr_one, NULL, NULL,
                                        NULL, NULL, NULL),
                     CUZK_E_ARG);
    fixture_clear(&f);
}

static void the_times_of_the_phases_add_up(void **state)
{
    (void)state;
    fixture f = fixture_new(kinds[1]);
    cuzk_proof proof;
    cuzk_prove_times t = {0};
    uint64_t sum = 0;
    assert_int_equal(
        cuzk_groth16_prove(&proof, f.pk, f.c.r1cs, f.c.z, f.n_z, NULL, NULL, NULL, NULL, &t, NULL),
        CUZK_OK);
#define X(phase)                                                                                   \
    assert_true(t.phase##_ns > 0);                                                                 \
    sum += t.phase##_ns;
    CUZK_PROVE_PHASES(X)
#undef X
    assert_true(sum <= t.total_ns);
    fixture_clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_of_edge_circuits_equal_the_oracle_for_every_kind_of_key),
        cmocka_unit_test(proofs_of_generated_circuits_equal_the_oracle_for_every_kind_of_key),
        cmocka_unit_test(a_proof_with_fresh_blinding_verifies_and_differs_each_time),
        cmocka_unit_test(circuits_longer_than_what_a_thread_takes_at_a_time_are_proved),
        cmocka_unit_test(a_witness_that_breaks_a_row_is_refused_with_its_number),
        cmocka_unit_test(a_key_without_c_finds_a_wrong_witness_by_verifying),
        cmocka_unit_test(a_corrupt_key_yields_no_proof),
        cmocka_unit_test(a_value_that_is_not_reduced_is_refused_with_its_index),
        cmocka_unit_test(the_first_value_must_be_one),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(r_without_s_is_refused),
        cmocka_unit_test(the_times_of_the_phases_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
