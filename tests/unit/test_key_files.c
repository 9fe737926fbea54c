#include "groth16/formats/formats.h"
#include "support/gen_circuit.h"
#include "support/small_circuit.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

/* A key that setup made must be the same after it was written and read, and prove the same. */

typedef struct key_file {
    const char *name;
    fr_root root;
    cuzk_h_basis basis;
} key_file;

static const key_file params = {"key.params", FR_ROOT_BELLMAN, CUZK_H_POWERS};
static const key_file zkey = {"key.zkey", FR_ROOT_SNARKJS, CUZK_H_ODD_LAGRANGE};

static const char *path_of(const key_file *f)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_tmpdir(), f->name);
    return path;
}

static cuzk_pk *new_key(const cuzk_r1cs *r1cs, const key_file *f)
{
    cuzk_trapdoor t;
    cuzk_pk *pk;
    assert_int_equal(cuzk_trapdoor_random(&t, NULL), CUZK_OK);
    assert_int_equal(cuzk_groth16_setup(&pk, r1cs, &t, f->root, f->basis, NULL, NULL, NULL),
                     CUZK_OK);
    return pk;
}

static void assert_ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

/* *ret_r1cs is what the file holds of the system: NULL for params. */
static cuzk_pk *written_and_read(const cuzk_pk *pk, const cuzk_r1cs *r1cs, const key_file *f,
                                 cuzk_r1cs **ret_r1cs)
{
    cuzk_err err = {0};
    cuzk_pk *got = NULL;
    *ret_r1cs = NULL;
    if (f == &params) {
        assert_ok(cuzk_params_write(pk, path_of(f), &err), &err);
        assert_ok(cuzk_params_read(&got, path_of(f), r1cs, POINT_CHECK_SUBGROUP, NULL, &err), &err);
    } else {
        assert_ok(cuzk_zkey_write(pk, r1cs, path_of(f), &err), &err);
        assert_ok(cuzk_zkey_read(&got, ret_r1cs, path_of(f), POINT_CHECK_SUBGROUP, NULL, &err),
                  &err);
    }
    return got;
}

static void assert_same_key(const cuzk_pk *a, const cuzk_pk *b)
{
    assert_true(g1_affine_eq(&a->vk.alpha_g1, &b->vk.alpha_g1));
    assert_true(g1_affine_eq(&a->vk.beta_g1, &b->vk.beta_g1));
    assert_true(g1_affine_eq(&a->vk.delta_g1, &b->vk.delta_g1));
    assert_true(g2_affine_eq(&a->vk.beta_g2, &b->vk.beta_g2));
    assert_true(g2_affine_eq(&a->vk.gamma_g2, &b->vk.gamma_g2));
    assert_true(g2_affine_eq(&a->vk.delta_g2, &b->vk.delta_g2));
    assert_int_equal(a->vk.n_ic, b->vk.n_ic);
    assert_memory_equal(a->vk.ic, b->vk.ic, a->vk.n_ic * sizeof *a->vk.ic);
    assert_int_equal(a->root, b->root);
    assert_int_equal(a->h_basis, b->h_basis);
    assert_int_equal(a->lg_domain, b->lg_domain);
    assert_int_equal(a->n_inputs, b->n_inputs);
    assert_int_equal(a->n_aux, b->n_aux);
    assert_int_equal(a->n_h, b->n_h);
    assert_int_equal(a->n_a, b->n_a);
    assert_int_equal(a->n_b, b->n_b);
    assert_true(a->n_h == 0 || memcmp(a->h, b->h, a->n_h * sizeof *a->h) == 0);
    assert_true(a->n_aux == 0 || memcmp(a->l, b->l, a->n_aux * sizeof *a->l) == 0);
    assert_true(memcmp(a->a, b->a, a->n_a * sizeof *a->a) == 0);
    assert_true(memcmp(a->a_var, b->a_var, a->n_a * sizeof *a->a_var) == 0);
    assert_true(a->n_b == 0 || memcmp(a->b_g1, b->b_g1, a->n_b * sizeof *a->b_g1) == 0);
    assert_true(a->n_b == 0 || memcmp(a->b_g2, b->b_g2, a->n_b * sizeof *a->b_g2) == 0);
    assert_true(a->n_b == 0 || memcmp(a->b_var, b->b_var, a->n_b * sizeof *a->b_var) == 0);
}

static cuzk_proof proof_of(const cuzk_pk *pk, const cuzk_r1cs *r1cs, const fr_repr *z, size_t n_z)
{
    cuzk_proof proof;
    cuzk_err err = {0};
    fr r = fr_from_u64(77), s = fr_from_u64(78);
    assert_ok(cuzk_groth16_prove(&proof, pk, r1cs, z, n_z, &r, &s, NULL, NULL, NULL, &err), &err);
    return proof;
}

static void assert_round_trip(const key_file *f, const cuzk_r1cs *r1cs, const fr_repr *z,
                              size_t n_z)
{
    cuzk_pk *pk = new_key(r1cs, f);
    cuzk_r1cs *own;
    cuzk_pk *got = written_and_read(pk, r1cs, f, &own);
    assert_same_key(pk, got);
    cuzk_proof a = proof_of(pk, r1cs, z, n_z);
    cuzk_proof b = proof_of(got, own ? own : r1cs, z, n_z);
    uint8_t a_bytes[CUZK_PROOF_BYTES], b_bytes[CUZK_PROOF_BYTES];
    cuzk_proof_encode(a_bytes, &a);
    cuzk_proof_encode(b_bytes, &b);
    assert_memory_equal(a_bytes, b_bytes, sizeof a_bytes);
    cuzk_r1cs_free(own);
    cuzk_pk_free(got);
    cuzk_pk_free(pk);
}

static void a_key_of_each_edge_circuit_survives_its_file(void **state)
{
    (void)state;
    for (int shape = 0; shape < SMALL_SHAPES; shape++) {
        small_circuit c = small_circuit_new((small_shape)shape);
        assert_round_trip(&params, c.r1cs, c.z, c.n_z);
        assert_round_trip(&zkey, c.r1cs, c.z, c.n_z);
        small_circuit_clear(&c);
    }
}

static void a_key_of_a_generated_circuit_survives_its_file(void **state)
{
    (void)state;
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = 500, .n_inputs = 7, .seed = 5});
    size_t n_z = (size_t)c.r1cs->n_inputs + c.r1cs->n_aux;
    assert_round_trip(&params, c.r1cs, c.z, n_z);
    assert_round_trip(&zkey, c.r1cs, c.z, n_z);
    gen_circuit_clear(&c);
}

static void a_zkey_keeps_a_variable_that_is_in_no_row(void **state)
{
    (void)state;
    small_circuit c = small_circuit_with_a_loose_variable();
    assert_round_trip(&zkey, c.r1cs, c.z, c.n_z);
    small_circuit_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_of_each_edge_circuit_survives_its_file),
        cmocka_unit_test(a_key_of_a_generated_circuit_survives_its_file),
        cmocka_unit_test(a_zkey_keeps_a_variable_that_is_in_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
