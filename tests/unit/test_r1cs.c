#include "r1cs/r1cs.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3, AUX = 97, VARS = INPUTS + AUX, ROWS = 5000 };

/* The terms as they were given, evaluated one multiplication at a time: the oracle. */
typedef struct given {
    cuzk_matrix m;
    uint64_t row;
    uint32_t var;
    fr coeff;
} given;

static given *terms;
static size_t n_terms;

static fr signed_small(int64_t v)
{
    fr r = fr_from_u64((uint64_t)(v < 0 ? -v : v));
    if (v < 0) {
        fr_neg(&r, &r);
    }
    return r;
}

static fr some_coeff(test_rng *g)
{
    switch (test_below(g, 5)) {
    case 0:
        return fr_one;
    case 1:
        return signed_small(-1);
    case 2:
        return fr_from_u64(UINT64_C(1) << test_below(g, 64));
    case 3:
        return test_fr(g);
    default:
        return signed_small((int64_t)test_below(g, 7) - 3); /* zero among them */
    }
}

static cuzk_r1cs *random_system(test_rng *g)
{
    cuzk_r1cs_builder *b;
    assert_int_equal(cuzk_r1cs_builder_new(&b, INPUTS, AUX, NULL), CUZK_OK);
    terms = malloc(sizeof *terms * ROWS * 3 * 12);
    assert_non_null(terms);
    n_terms = 0;
    for (uint64_t row = 0; row < ROWS; row++) {
        for (cuzk_matrix m = CUZK_MATRIX_A; m <= CUZK_MATRIX_C; m++) {
            uint64_t n = test_below(g, 12);
            for (uint64_t i = 0; i < n; i++) {
                given t = {m, row, (uint32_t)test_below(g, VARS), some_coeff(g)};
                if (i > 0 && test_below(g, 4) == 0) { /* the same variable again, or cancelled */
                    t.var = terms[n_terms - 1].var;
                    fr_neg(&t.coeff, &terms[n_terms - 1].coeff);
                }
                assert_int_equal(cuzk_r1cs_builder_term(b, m, t.var, &t.coeff, NULL), CUZK_OK);
                terms[n_terms++] = t;
            }
        }
        assert_int_equal(cuzk_r1cs_builder_end_row(b, NULL), CUZK_OK);
    }
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(b);
    return r;
}

static void check_shape(const cuzk_r1cs *r, const cuzk_csr *m)
{
    assert_int_equal(m->row[0], 0);
    for (uint64_t row = 0; row < r->n_rows; row++) {
        assert_true(m->row[row] <= m->row[row + 1]);
        for (uint64_t t = m->row[row]; t < m->row[row + 1]; t++) {
            assert_true(m->var[t] < r->n_inputs + r->n_aux);
            assert_true(t == m->row[row] || m->var[t - 1] < m->var[t]);
            assert_true(m->coeff[t] < r->n_coeffs);
            assert_false(fr_is_zero(&r->dictionary[m->coeff[t]]));
        }
    }
}

static void rows_hold_each_variable_once_in_order_and_no_zero(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    cuzk_r1cs *r = random_system(&g);
    assert_int_equal(r->n_rows, ROWS);
    assert_int_equal(cuzk_r1cs_rows_with_inputs(r), ROWS + INPUTS);
    assert_true(r->has_c);
    check_shape(r, &r->a);
    check_shape(r, &r->b);
    check_shape(r, &r->c);
    cuzk_r1cs_free(r);
    free(terms);
}

static void the_dictionary_holds_each_coefficient_once_and_one_first(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    cuzk_r1cs *r = random_system(&g);
    fr minus_one = signed_small(-1);
    assert_true(fr_eq(&r->dictionary[CUZK_R1CS_COEFF_ONE], &fr_one));
    assert_true(fr_eq(&r->dictionary[CUZK_R1CS_COEFF_MINUS_ONE], &minus_one));
    assert_true(r->n_coeffs > 1000);
    for (uint32_t i = 0; i < r->n_coeffs; i += 7) {
        for (uint32_t j = 0; j < i; j++) {
            assert_false(fr_eq(&r->dictionary[i], &r->dictionary[j]));
        }
    }
    cuzk_r1cs_free(r);
    free(terms);
}

static void random_assignment(test_rng *g, fr z[VARS])
{
    z[0] = fr_one;
    for (uint32_t v = 1; v < VARS; v++) {
        uint64_t kind = test_below(g, 4);
        z[v] = kind == 0 ? fr_zero : kind == 1 ? fr_one : test_fr(g);
    }
}

/* Enough of them to meet in the slots of the builder's table. */
static void coefficients_that_differ_in_one_limb_are_kept_apart(void **state)
{
    (void)state;
    enum { N = 600 };
    for (size_t limb = 0; limb < FR_LIMBS; limb++) {
        cuzk_r1cs_builder *b;
        cuzk_r1cs *r = NULL;
        assert_int_equal(cuzk_r1cs_builder_new(&b, 1, N, NULL), CUZK_OK);
        for (uint32_t i = 0; i < N; i++) {
            fr coeff = {{7, 7, 7, 7}};
            coeff.l[limb] = 100 + i;
            assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_A, i, &coeff, NULL), CUZK_OK);
        }
        assert_int_equal(cuzk_r1cs_builder_end_row(b, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
        assert_int_equal(r->n_coeffs, N + 2);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(r->dictionary[r->a.coeff[i]].l[limb], 100 + i);
        }
        cuzk_r1cs_builder_free(b);
        cuzk_r1cs_free(r);
    }
}

static void evaluation_is_the_sum_of_the_given_terms_on_any_number_of_threads(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    cuzk_r1cs *r = random_system(&g);
    fr z[VARS];
    random_assignment(&g, z);
    fr *want = calloc(3 * (size_t)ROWS, sizeof *want);
    fr *got = malloc(ROWS * sizeof *got);
    assert_true(want && got);
    for (size_t i = 0; i < n_terms; i++) {
        fr t;
        fr_mul(&t, &terms[i].coeff, &z[terms[i].var]);
        fr *sum = &want[(size_t)terms[i].m * ROWS + terms[i].row];
        fr_add(sum, sum, &t);
    }
    for (unsigned threads = 0; threads <= 3; threads++) {
        cuzk_pool *pool = NULL;
        if (threads > 0) {
            assert_int_equal(cuzk_pool_new(&pool, threads, NULL), CUZK_OK);
        }
        for (cuzk_matrix m = CUZK_MATRIX_A; m <= CUZK_MATRIX_C; m++) {
            cuzk_r1cs_eval(r, m, z, got, pool);
            assert_memory_equal(got, want + (size_t)m * ROWS, ROWS * sizeof *got);
        }
        cuzk_pool_free(pool);
    }
    free(got);
    free(want);
    cuzk_r1cs_free(r);
    free(terms);
}

static void density_marks_exactly_the_variables_that_occur(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    cuzk_r1cs_builder *b;
    assert_int_equal(cuzk_r1cs_builder_new(&b, 2, 200, NULL), CUZK_OK);
    bool occurs[202] = {false};
    for (int row = 0; row < 20; row++) {
        uint32_t v = (uint32_t)test_below(&g, 201); /* 201 only in terms that cancel */
        occurs[v] = true;
        fr c = fr_from_u64(5), minus;
        fr_neg(&minus, &c);
        assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_B, v, &c, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_B, 201, &c, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_B, 201, &minus, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_end_row(b, NULL), CUZK_OK);
    }
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(b);
    uint64_t a[4] = {0}, bits[4] = {0};
    cuzk_r1cs_density(r, CUZK_MATRIX_A, a);
    cuzk_r1cs_density(r, CUZK_MATRIX_B, bits);
    for (uint32_t v = 0; v < 202; v++) {
        assert_int_equal(bits[v / 64] >> v % 64 & 1, occurs[v]);
        assert_int_equal(a[v / 64], 0);
    }
    cuzk_r1cs_free(r);
}

/* x_i+1 = x_i^2 + 1 for 10 000 rows: variable 1 is the last value. */
static cuzk_r1cs *squares(fr **ret_z)
{
    enum { N = 10000 };
    cuzk_r1cs_builder *b;
    assert_int_equal(cuzk_r1cs_builder_new(&b, 1, N + 1, NULL), CUZK_OK);
    fr *z = malloc((N + 2) * sizeof *z);
    assert_non_null(z);
    z[0] = fr_one;
    z[1] = fr_from_u64(3);
    fr minus_one = signed_small(-1);
    for (uint32_t i = 1; i <= N; i++) {
        fr_sqr(&z[i + 1], &z[i]);
        fr_add(&z[i + 1], &z[i + 1], &fr_one);
        assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_A, i, &fr_one, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_B, i, &fr_one, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_C, i + 1, &fr_one, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_C, 0, &minus_one, NULL), CUZK_OK);
        assert_int_equal(cuzk_r1cs_builder_end_row(b, NULL), CUZK_OK);
    }
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(b);
    *ret_z = z;
    return r;
}

static void a_check_names_the_first_row_that_fails(void **state)
{
    (void)state;
    fr *z;
    cuzk_r1cs *r = squares(&z);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        cuzk_pool *pool;
        assert_int_equal(cuzk_pool_new(&pool, threads, NULL), CUZK_OK);
        cuzk_err err = {0};
        assert_int_equal(cuzk_r1cs_check(r, z, NULL, NULL, pool, &err), CUZK_OK);
        fr kept[2] = {z[4321], z[9000]};
        fr_add(&z[4321], &z[4321], &fr_one);
        fr_add(&z[9000], &z[9000], &fr_one);
        assert_int_equal(cuzk_r1cs_check(r, z, NULL, NULL, pool, &err), CUZK_E_INPUT);
        assert_non_null(strstr(err.msg, "constraint 4319 of 10000"));
        z[4321] = kept[0];
        z[9000] = kept[1];
        z[0] = fr_zero;
        assert_int_equal(cuzk_r1cs_check(r, z, NULL, NULL, pool, &err), CUZK_E_INPUT);
        assert_non_null(strstr(err.msg, "constant 1"));
        z[0] = fr_one;
        cuzk_pool_free(pool);
    }
    r->has_c = false;
    assert_int_equal(cuzk_r1cs_check(r, z, NULL, NULL, NULL, NULL), CUZK_E_ARG);
    free(z);
    cuzk_r1cs_free(r);
}

static void a_system_without_rows_is_a_system(void **state)
{
    (void)state;
    cuzk_r1cs_builder *b;
    assert_int_equal(cuzk_r1cs_builder_new(&b, 1, 0, NULL), CUZK_OK);
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_E_ARG);
    cuzk_r1cs_builder_free(b);
    assert_int_equal(r->n_rows, 0);
    fr z = fr_one;
    cuzk_r1cs_eval(r, CUZK_MATRIX_C, &z, NULL, NULL);
    assert_int_equal(cuzk_r1cs_check(r, &z, NULL, NULL, NULL, NULL), CUZK_OK);
    cuzk_r1cs_free(r);
    cuzk_r1cs_free(NULL);
    cuzk_r1cs_builder_free(NULL);
}

static void wrong_use_of_the_builder_is_refused(void **state)
{
    (void)state;
    cuzk_r1cs_builder *b = NULL;
    cuzk_err err = {0};
    assert_int_equal(cuzk_r1cs_builder_new(&b, 0, 1, &err), CUZK_E_ARG);
    assert_int_equal(cuzk_r1cs_builder_new(&b, 2, UINT32_MAX - 1, &err), CUZK_E_ARG);
    assert_null(b);
    assert_int_equal(cuzk_r1cs_builder_new(&b, 2, 3, &err), CUZK_OK);
    assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_A, 5, &fr_one, &err), CUZK_E_ARG);
    assert_non_null(strstr(err.msg, "variable 5"));
    assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_A, 4, &fr_one, &err), CUZK_OK);
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, &err), CUZK_E_ARG);
    assert_non_null(strstr(err.msg, "not ended"));
    assert_null(r);
    cuzk_r1cs_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_each_variable_once_in_order_and_no_zero),
        cmocka_unit_test(the_dictionary_holds_each_coefficient_once_and_one_first),
        cmocka_unit_test(coefficients_that_differ_in_one_limb_are_kept_apart),
        cmocka_unit_test(evaluation_is_the_sum_of_the_given_terms_on_any_number_of_threads),
        cmocka_unit_test(density_marks_exactly_the_variables_that_occur),
        cmocka_unit_test(a_check_names_the_first_row_that_fails),
        cmocka_unit_test(a_system_without_rows_is_a_system),
        cmocka_unit_test(wrong_use_of_the_builder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
