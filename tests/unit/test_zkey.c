#include "groth16/formats/formats.h"
#include "groth16/formats/zkey.h"
#include "support/gen_circuit.h"
#include "support/gen_key.h"
#include "support/spoil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_ROWS = 50, N_INPUTS = 4, DOMAIN = 64, COEFF = ZKEY_COEFF_BYTES };

static gen_circuit circuit;
static cuzk_pk *key;     /* of circuit, with random points */
static iden3_bytes good; /* key, written by cuzk_zkey_write */

static int make_good(void **state)
{
    (void)state;
    circuit = gen_circuit_new(
        &(gen_wish){.n_rows = N_ROWS, .n_inputs = N_INPUTS, .bit_permil = 700, .seed = 1});
    key = gen_key_new(circuit.r1cs, 2);
    assert_int_equal(key->n_h, DOMAIN);
    char path[4096];
    snprintf(path, sizeof path, "%s/good.zkey", test_tmpdir());
    cuzk_err err = {0};
    if (cuzk_zkey_write(key, circuit.r1cs, path, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    good = iden3_bytes_load(path);
    return 0;
}

static int drop_good(void **state)
{
    (void)state;
    iden3_bytes_clear(&good);
    cuzk_pk_free(key);
    gen_circuit_clear(&circuit);
    return 0;
}

static void must_parse(const iden3_bytes *f, point_check check, cuzk_pool *pool, cuzk_pk **ret,
                       cuzk_r1cs **ret_r1cs)
{
    cuzk_err err = {0};
    if (cuzk_zkey_parse(ret, ret_r1cs, iden3_bytes_span(f), "good", check, pool, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
}

static void same_matrix(const cuzk_r1cs *x, const cuzk_csr *a, const cuzk_r1cs *y,
                        const cuzk_csr *b)
{
    assert_memory_equal(a->row, b->row, (x->n_rows + 1) * sizeof *a->row);
    for (uint64_t t = 0; t < a->row[x->n_rows]; t++) {
        assert_int_equal(a->var[t], b->var[t]);
        assert_true(fr_eq(&x->dictionary[a->coeff[t]], &y->dictionary[b->coeff[t]]));
    }
}

static void same_a_and_b(const cuzk_r1cs *x, const cuzk_r1cs *y)
{
    assert_int_equal(x->n_inputs, y->n_inputs);
    assert_int_equal(x->n_aux, y->n_aux);
    assert_int_equal(x->n_rows, y->n_rows);
    same_matrix(x, &x->a, y, &y->a);
    same_matrix(x, &x->b, y, &y->b);
}

static void same_key(const cuzk_pk *x, const cuzk_pk *y)
{
    assert_memory_equal(&x->vk, &y->vk, offsetof(cuzk_vk, n_ic));
    assert_int_equal(x->vk.n_ic, y->vk.n_ic);
    assert_memory_equal(x->vk.ic, y->vk.ic, x->vk.n_ic * sizeof *x->vk.ic);
    assert_int_equal(x->root, y->root);
    assert_int_equal(x->h_basis, y->h_basis);
    assert_int_equal(x->lg_domain, y->lg_domain);
    assert_int_equal(x->n_inputs, y->n_inputs);
    assert_int_equal(x->n_aux, y->n_aux);
    assert_int_equal(x->n_h, y->n_h);
    assert_memory_equal(x->h, y->h, x->n_h * sizeof *x->h);
    if (x->n_aux) {
        assert_memory_equal(x->l, y->l, x->n_aux * sizeof *x->l);
    }
    assert_int_equal(x->n_a, y->n_a);
    assert_memory_equal(x->a, y->a, x->n_a * sizeof *x->a);
    assert_memory_equal(x->a_var, y->a_var, x->n_a * sizeof *x->a_var);
    assert_int_equal(x->n_b, y->n_b);
    if (x->n_b) {
        assert_memory_equal(x->b_g1, y->b_g1, x->n_b * sizeof *x->b_g1);
        assert_memory_equal(x->b_g2, y->b_g2, x->n_b * sizeof *x->b_g2);
        assert_memory_equal(x->b_var, y->b_var, x->n_b * sizeof *x->b_var);
    }
}

static void a_written_key_is_read_back_on_any_number_of_threads(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        cuzk_pool *pool;
        cuzk_pk *pk;
        cuzk_r1cs *r;
        assert_int_equal(cuzk_pool_new(&pool, threads, NULL), CUZK_OK);
        must_parse(&good, POINT_CHECK_SUBGROUP, pool, &pk, &r);
        same_key(pk, key);
        same_a_and_b(r, circuit.r1cs);
        assert_false(r->has_c);
        cuzk_pk_free(pk);
        cuzk_r1cs_free(r);
        cuzk_pool_free(pool);
    }
}

/* More points than one thread takes at a time, in the compact lists too. */
static void a_larger_key_is_read_back(void **state)
{
    (void)state;
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = 1500, .seed = 3});
    cuzk_pk *pk = gen_key_new(c.r1cs, 4);
    char path[4096];
    snprintf(path, sizeof path, "%s/larger.zkey", test_tmpdir());
    assert_int_equal(cuzk_zkey_write(pk, c.r1cs, path, NULL), CUZK_OK);
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_new(&pool, 3, NULL), CUZK_OK);
    cuzk_pk *again = NULL;
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_zkey_read(&again, &r, path, POINT_CHECK_CURVE, pool, NULL), CUZK_OK);
    same_key(again, pk);
    same_a_and_b(r, c.r1cs);
    cuzk_pool_free(pool);
    cuzk_pk_free(again);
    cuzk_r1cs_free(r);
    cuzk_pk_free(pk);
    gen_circuit_clear(&c);
}

static void sections_may_stand_in_any_order_and_without_history(void **state)
{
    (void)state;
    iden3_bytes f = iden3_bytes_copy(&good);
    iden3_remove_section(&f, ZKEY_HISTORY);
    iden3_reverse_sections(&f);
    cuzk_pk *pk;
    cuzk_r1cs *r;
    must_parse(&f, POINT_CHECK_CURVE, NULL, &pk, &r);
    same_key(pk, key);
    same_a_and_b(r, circuit.r1cs);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r);
    iden3_bytes_clear(&f);
}

static void coefficients_may_stand_in_any_order(void **state)
{
    (void)state;
    iden3_bytes f = iden3_bytes_copy(&good);
    uint8_t *list = f.p + iden3_payload(&f, ZKEY_COEFFS, NULL) + 4;
    uint32_t n = cuzk_load_u32le(list - 4);
    for (uint32_t i = 0; i < n / 2; i++) {
        uint8_t t[COEFF];
        memcpy(t, list + (size_t)i * COEFF, COEFF);
        memcpy(list + (size_t)i * COEFF, list + (size_t)(n - 1 - i) * COEFF, COEFF);
        memcpy(list + (size_t)(n - 1 - i) * COEFF, t, COEFF);
    }
    cuzk_pk *pk;
    cuzk_r1cs *r;
    must_parse(&f, POINT_CHECK_NONE, NULL, &pk, &r);
    same_a_and_b(r, circuit.r1cs);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r);
    iden3_bytes_clear(&f);
}

/* The smallest system: no constraint, no aux variable, an empty C query, no point in B. */
static void a_key_without_constraints_and_private_variables_is_read_back(void **state)
{
    (void)state;
    cuzk_r1cs_builder *b;
    cuzk_r1cs *r = NULL, *r_again = NULL;
    assert_int_equal(cuzk_r1cs_builder_new(&b, 1, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(b);
    cuzk_pk *pk = gen_key_new(r, 5), *again = NULL;
    assert_int_equal(pk->n_h, 1);
    char path[4096];
    snprintf(path, sizeof path, "%s/least.zkey", test_tmpdir());
    assert_int_equal(cuzk_zkey_write(pk, r, path, NULL), CUZK_OK);
    assert_int_equal(cuzk_zkey_read(&again, &r_again, path, POINT_CHECK_CURVE, NULL, NULL),
                     CUZK_OK);
    same_key(pk, again);
    same_a_and_b(r, r_again);
    cuzk_pk_free(again);
    cuzk_r1cs_free(r_again);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r);
}

static void a_key_of_another_kind_or_system_is_not_written(void **state)
{
    (void)state;
    key->root = FR_ROOT_BELLMAN;
    assert_int_equal(cuzk_zkey_write(key, circuit.r1cs, "x.zkey", NULL), CUZK_E_ARG);
    key->root = FR_ROOT_SNARKJS;
    key->h_basis = CUZK_H_POWERS;
    assert_int_equal(cuzk_zkey_write(key, circuit.r1cs, "x.zkey", NULL), CUZK_E_ARG);
    key->h_basis = CUZK_H_ODD_LAGRANGE;
    key->n_aux++;
    assert_int_equal(cuzk_zkey_write(key, circuit.r1cs, "x.zkey", NULL), CUZK_E_ARG);
    key->n_aux--;
}

static const char *const real_keys[] = {"snarkjs/chain1k/mul.zkey", "snarkjs/chain1k/mul_d.zkey",
                                        "snarkjs/chain1k/mul_x.zkey"};

static void real_keys_pass_every_check_and_hold_the_matrices_of_their_r1cs(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(r1cs_path, "snarkjs/chain1k/mulchain.r1cs");
    cuzk_r1cs *want = NULL;
    assert_int_equal(cuzk_r1cs_read(&want, r1cs_path, NULL), CUZK_OK);
    for (size_t i = 0; i < sizeof real_keys / sizeof *real_keys; i++) {
        TEST_VECTOR_OR_SKIP(path, real_keys[i]);
        cuzk_pk *pk = NULL;
        cuzk_r1cs *r = NULL;
        cuzk_err err = {0};
        point_check check = i == 0 ? POINT_CHECK_SUBGROUP : POINT_CHECK_CURVE; /* slow */
        if (cuzk_zkey_read(&pk, &r, path, check, NULL, &err) != CUZK_OK) {
            fail_msg("%s", err.msg);
        }
        assert_int_equal(pk->n_inputs, 3);
        assert_int_equal(pk->n_aux, 1000);
        assert_int_equal(pk->lg_domain, 10);
        assert_int_equal(pk->root, FR_ROOT_SNARKJS);
        same_a_and_b(r, want);
        cuzk_pk_free(pk);
        cuzk_r1cs_free(r);
    }
    cuzk_r1cs_free(want);
}

static void real_keys_are_rewritten_byte_for_byte_but_for_their_history(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof real_keys / sizeof *real_keys; i++) {
        TEST_VECTOR_OR_SKIP(path, real_keys[i]);
        cuzk_pk *pk = NULL;
        cuzk_r1cs *r = NULL;
        char copy[4096];
        snprintf(copy, sizeof copy, "%s/again.zkey", test_tmpdir());
        assert_int_equal(cuzk_zkey_read(&pk, &r, path, POINT_CHECK_NONE, NULL, NULL), CUZK_OK);
        assert_int_equal(cuzk_zkey_write(pk, r, copy, NULL), CUZK_OK);
        iden3_bytes real = iden3_bytes_load(path);
        iden3_bytes again = iden3_bytes_load(copy);
        for (uint32_t type = ZKEY_PROTOCOL; type < ZKEY_HISTORY; type++) {
            size_t n, n_again;
            size_t at = iden3_payload(&real, type, &n);
            size_t at_again = iden3_payload(&again, type, &n_again);
            assert_int_equal(n, n_again);
            assert_memory_equal(real.p + at, again.p + at_again, n);
        }
        iden3_bytes_clear(&real);
        iden3_bytes_clear(&again);
        cuzk_pk_free(pk);
        cuzk_r1cs_free(r);
    }
}

static void expect_refused(const iden3_bytes *f, point_check check)
{
    cuzk_pk *pk = NULL;
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_zkey_parse(&pk, &r, iden3_bytes_span(f), "bad", check, NULL, NULL),
                     CUZK_E_INPUT);
    assert_null(pk);
    assert_null(r);
}

/* A point of the curve over Fp whose order is not r. */
static g1_affine outside_the_subgroup(void)
{
    uint8_t bytes[G1_COMPRESSED_BYTES] = {0x80};
    for (bytes[47] = 1; bytes[47] < 200; bytes[47]++) {
        g1_affine p;
        if (g1_decompress(&p, bytes, POINT_CHECK_CURVE) == POINT_OK && !g1_affine_in_subgroup(&p)) {
            return p;
        }
    }
    fail_msg("no such point among the small x");
    return g1_generator;
}

static void a_point_of_another_order_is_refused_when_orders_are_checked(void **state)
{
    (void)state;
    g1_affine p = outside_the_subgroup();
    const uint32_t sections[] = {ZKEY_IC, ZKEY_C, ZKEY_H};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        iden3_bytes f = iden3_bytes_copy(&good);
        g1_encode_mont(f.p + iden3_payload(&f, sections[i], NULL) + ZKEY_G1_BYTES, &p);
        cuzk_pk *pk;
        cuzk_r1cs *r;
        must_parse(&f, POINT_CHECK_CURVE, NULL, &pk, &r);
        cuzk_pk_free(pk);
        cuzk_r1cs_free(r);
        expect_refused(&f, POINT_CHECK_SUBGROUP);
        iden3_bytes_clear(&f);
    }
}

static void points_are_only_ranged_without_a_check(void **state)
{
    (void)state;
    iden3_bytes f = iden3_bytes_copy(&good);
    spoil_flip(&f, ZKEY_A, 50, 8);
    cuzk_pk *pk;
    cuzk_r1cs *r;
    must_parse(&f, POINT_CHECK_NONE, NULL, &pk, &r);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r);
    memset(f.p + iden3_payload(&f, ZKEY_HEADER, NULL) + 100, 0xff, 48); /* x of alpha */
    expect_refused(&f, POINT_CHECK_NONE);
    iden3_bytes_clear(&f);
}

static void the_first_bad_point_is_named_on_any_number_of_threads(void **state)
{
    (void)state;
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = 2000, .seed = 6});
    cuzk_pk *pk = gen_key_new(c.r1cs, 7), *none = NULL;
    cuzk_r1cs *r = NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/many.zkey", test_tmpdir());
    assert_int_equal(cuzk_zkey_write(pk, c.r1cs, path, NULL), CUZK_OK);
    iden3_bytes f = iden3_bytes_load(path);
    spoil_flip(&f, ZKEY_H, 1900 * ZKEY_G1_BYTES, 1);
    spoil_flip(&f, ZKEY_H, 777 * ZKEY_G1_BYTES, 1);
    spoil_flip(&f, ZKEY_H, 1200 * ZKEY_G1_BYTES, 1);
    for (unsigned threads = 1; threads <= 4; threads++) {
        cuzk_pool *pool;
        cuzk_err err = {0};
        assert_int_equal(cuzk_pool_new(&pool, threads, NULL), CUZK_OK);
        assert_int_equal(
            cuzk_zkey_parse(&none, &r, iden3_bytes_span(&f), "bad", POINT_CHECK_CURVE, pool, &err),
            CUZK_E_INPUT);
        assert_non_null(strstr(err.msg, "(H): point 777:"));
        cuzk_pool_free(pool);
    }
    iden3_bytes_clear(&f);
    cuzk_pk_free(pk);
    gen_circuit_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_key_is_read_back_on_any_number_of_threads),
        cmocka_unit_test(a_larger_key_is_read_back),
        cmocka_unit_test(sections_may_stand_in_any_order_and_without_history),
        cmocka_unit_test(coefficients_may_stand_in_any_order),
        cmocka_unit_test(a_key_without_constraints_and_private_variables_is_read_back),
        cmocka_unit_test(a_key_of_another_kind_or_system_is_not_written),
        cmocka_unit_test(real_keys_pass_every_check_and_hold_the_matrices_of_their_r1cs),
        cmocka_unit_test(real_keys_are_rewritten_byte_for_byte_but_for_their_history),
        cmocka_unit_test(a_point_of_another_order_is_refused_when_orders_are_checked),
        cmocka_unit_test(points_are_only_ranged_without_a_check),
        cmocka_unit_test(the_first_bad_point_is_named_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, make_good, drop_good);
}
