#include "backend/cuda/setup.h"
#include "base/file.h"
#include "filecoin/circuits/catalog.h"
#include "gadget/num.h"
#include "gadget/poseidon.h"
#include "r1cs/cs.h"
#include "r1cs/shape_csr.h"
#include "support/keys.h"
#include "support/small_circuit.h"
#include "support/support.h"
#include "twin/twin.h"

#include <stdio.h>
#include <stdlib.h>

/* Setup by the device's code against the host's. In the twin, device memory is the host's. */

static cuzk_trapdoor ref_trapdoor(void)
{
    cuzk_trapdoor t;
    assert_int_equal(cuzk_trapdoor_named(&t, "ref", NULL), CUZK_OK);
    return t;
}

static void enforce_row(cuzk_cs *cs, const cuzk_r1cs *r, uint64_t row)
{
    const cuzk_csr *matrices[] = {&r->a, &r->b, &r->c};
    cuzk_lc lc[3] = {{0}};
    for (int m = 0; m < 3; m++) {
        for (uint64_t k = matrices[m]->row[row]; k < matrices[m]->row[row + 1]; k++) {
            uint32_t v = matrices[m]->var[k];
            cuzk_lc_add(cs, &lc[m], v < r->n_inputs ? CUZK_VAR_INPUT | v : v - r->n_inputs,
                        &r->dictionary[matrices[m]->coeff[k]]);
        }
    }
    cuzk_cs_enforce(cs, &lc[0], &lc[1], &lc[2]);
    for (int m = 0; m < 3; m++) {
        cuzk_lc_free(&lc[m]);
    }
}

/* A system whose rows are each an instance that uses its variables by ports. */
static cuzk_shape *shape_of(const cuzk_r1cs *r)
{
    cuzk_cs *cs = NULL;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_cs_new_shape(&cs, "rows", NULL), CUZK_OK);
    for (uint32_t i = 1; i < r->n_inputs; i++) {
        cuzk_cs_input(cs, &fr_zero);
    }
    for (uint32_t i = 0; i < r->n_aux; i++) {
        cuzk_cs_alloc(cs, &fr_zero);
    }
    for (uint64_t row = 0; row < r->n_rows; row++) {
        enforce_row(cs, r, row);
    }
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, NULL), CUZK_OK);
    cuzk_cs_free(cs);
    return s;
}

static void assert_query(const cuzk_cuda_query *q, const void *want, uint64_t n, size_t bytes)
{
    assert_int_equal(q->n, n);
    assert_null(q->pinned);
    cuzk_cuda_twin_enter(); /* reads device memory */
    if (n) {
        assert_memory_equal(q->block.p, want, n * bytes);
    }
    cuzk_cuda_twin_leave();
}

static void assert_h(const cuzk_cuda_key *key, const cuzk_pk *want)
{
    uint64_t n = (uint64_t)1 << want->lg_domain;
    const g1_affine *h = key->query[CUZK_PARAMS_H].block.p;
    assert_int_equal(key->query[CUZK_PARAMS_H].n, n);
    assert_int_equal(want->n_h, n - 1);
    cuzk_cuda_twin_enter(); /* reads device memory */
    assert_true(g1_affine_is_inf(&h[n - 1]));
    for (uint64_t i = 0; i < n - 1; i++) {
        uint64_t place = 0;
        for (unsigned k = 0; k < want->lg_domain; k++) {
            place = place << 1 | (i >> k & 1);
        }
        assert_memory_equal(&h[place], &want->h[i], sizeof *h);
    }
    cuzk_cuda_twin_leave();
}

static void assert_key(const cuzk_cuda_key *key, const cuzk_pk *want)
{
    assert_int_equal(key->lg_domain, want->lg_domain);
    assert_int_equal(key->n_inputs, want->n_inputs);
    assert_int_equal(key->n_aux, want->n_aux);
    test_vk_equal(&key->vk, &want->vk);
    assert_h(key, want);
    assert_query(&key->query[CUZK_PARAMS_L], want->l, want->n_aux, sizeof *want->l);
    assert_query(&key->query[CUZK_PARAMS_A], want->a, want->n_a, sizeof *want->a);
    assert_query(&key->query[CUZK_PARAMS_B_G1], want->b_g1, want->n_b, sizeof *want->b_g1);
    assert_query(&key->query[CUZK_PARAMS_B_G2], want->b_g2, want->n_b, sizeof *want->b_g2);
}

static cuzk_pk *host_key(const cuzk_shape *s, const cuzk_trapdoor *t)
{
    cuzk_r1cs *r1cs = NULL;
    cuzk_pk *pk = NULL;
    assert_int_equal(cuzk_shape_to_r1cs(&r1cs, s, NULL), CUZK_OK);
    assert_int_equal(
        cuzk_groth16_setup(&pk, r1cs, t, FR_ROOT_BELLMAN, CUZK_H_POWERS, NULL, NULL, NULL),
        CUZK_OK);
    cuzk_r1cs_free(r1cs);
    return pk;
}

static void assert_same_file(const char *a, const char *b)
{
    cuzk_file_map x, y;
    assert_int_equal(cuzk_file_map_open(&x, a, NULL), CUZK_OK);
    assert_int_equal(cuzk_file_map_open(&y, b, NULL), CUZK_OK);
    assert_int_equal(x.bytes.n, y.bytes.n);
    assert_memory_equal(x.bytes.p, y.bytes.p, x.bytes.n);
    cuzk_file_map_close(&x);
    cuzk_file_map_close(&y);
}

/* The query's points to pinned memory, as in a key that is larger than the card. */
static void pin(cuzk_cuda_key *key, cuzk_params_part part)
{
    cuzk_cuda_query *q = &key->query[part];
    uint64_t bytes = cuzk_cuda_query_bytes(part, q->n);
    assert_int_equal(cuzk_cuda_alloc_pinned(&q->pinned, bytes, NULL), CUZK_OK);
    assert_int_equal(cuzk_cuda_download(q->pinned, q->block.p, bytes, NULL, NULL), CUZK_OK);
    cuzk_cuda_give(key->memory, &q->block);
}

static void assert_files(cuzk_cuda_key *key, const cuzk_pk *want)
{
    char ours[300], theirs[300];
    snprintf(ours, sizeof ours, "%s/device.params", test_tmpdir());
    snprintf(theirs, sizeof theirs, "%s/host.params", test_tmpdir());
    assert_int_equal(cuzk_params_write(want, theirs, NULL), CUZK_OK);
    assert_int_equal(cuzk_cuda_key_write(key, ours, NULL, NULL), CUZK_OK);
    assert_same_file(ours, theirs);
    pin(key, CUZK_PARAMS_H);
    pin(key, CUZK_PARAMS_L);
    pin(key, CUZK_PARAMS_B_G2);
    assert_int_equal(cuzk_cuda_key_write(key, ours, NULL, NULL), CUZK_OK);
    assert_same_file(ours, theirs);
}

/* plan: NULL for the one that is chosen. */
static void check(const cuzk_shape *s, const cuzk_pk *want, const cuzk_cuda_setup_plan *plan)
{
    cuzk_cuda_memory memory = {.budget = (uint64_t)1 << 32};
    cuzk_trapdoor t = ref_trapdoor();
    dshape d = cuzk_cuda_twin_shape(s);
    cuzk_cuda_key *key = NULL;
    cuzk_err err;
    cuzk_code code = plan ? cuzk_cuda_setup_with(&key, s, &d, &t, plan, &memory, NULL, &err)
                          : cuzk_cuda_setup(&key, s, &d, &t, &memory, NULL, &err);
    if (code != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_key(key, want);
    assert_files(key, want);
    cuzk_cuda_key_free(key);
    assert_int_equal(memory.used, 0);
}

static void every_point_of_a_small_circuits_key_is_the_hosts(void **state)
{
    (void)state;
    const cuzk_cuda_setup_plan plans[] = {{64, 4, 6}, {64, 5, 3}, {128, 1, 7}};
    cuzk_trapdoor t = ref_trapdoor();
    for (int shape = 0; shape < SMALL_SHAPES; shape++) {
        small_circuit c = small_circuit_new((small_shape)shape);
        print_message("  %s\n", c.name);
        cuzk_shape *s = shape_of(c.r1cs);
        cuzk_pk *want = host_key(s, &t);
        check(s, want, NULL);
        check(s, want, &plans[shape % 3]);
        cuzk_pk_free(want);
        cuzk_shape_free(s);
        small_circuit_clear(&c);
    }
}

/* Templates with aux of their own, used several times, and ports that meet in the same variables.
 */
static cuzk_shape *gadgets(void)
{
    cuzk_cs *cs = NULL;
    cuzk_shape *s = NULL;
    cuzk_num x[4], hash[3];
    cuzk_bool bits[CUZK_NUM_BITS];
    assert_int_equal(cuzk_cs_new_shape(&cs, "gadgets", NULL), CUZK_OK);
    x[0] = cuzk_cs_input(cs, &fr_zero);
    x[1] = cuzk_cs_input(cs, &fr_zero);
    x[2] = cuzk_cs_alloc(cs, NULL);
    x[3] = cuzk_num_mul(cs, &x[2], &x[0]);
    hash[0] = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, x);
    hash[1] = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, x + 2);
    cuzk_num_to_bits(cs, bits, &hash[0], CUZK_UNPACK_DIFFERENCE);
    cuzk_num_pick_n(cs, x, &bits[3], x, hash, 2);
    hash[2] = cuzk_poseidon(cs, CUZK_TAG_TREE, 2, x);
    cuzk_num_inputize(cs, &hash[1]);
    cuzk_num_inputize(cs, &hash[2]);
    cuzk_num_pack_inputs(cs, bits, 100);
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, NULL), CUZK_OK);
    cuzk_cs_free(cs);
    return s;
}

static void every_point_of_a_key_for_gadgets_is_the_hosts_in_any_chunks(void **state)
{
    (void)state;
    const cuzk_cuda_setup_plan plan = {192, 7, 8};
    cuzk_shape *s = gadgets();
    cuzk_trapdoor t = ref_trapdoor();
    cuzk_pk *want = host_key(s, &t);
    check(s, want, NULL);
    check(s, want, &plan);
    cuzk_pk_free(want);
    cuzk_shape_free(s);
}

static void every_point_of_a_windowpost_key_is_the_hosts(void **state)
{
    (void)state;
    if (test_is_slow()) { /* no branch of its own, but sizes beyond a chunk of rows */
        skip();
    }
    cuzk_circuit_id id;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_circuit_named(&id, "window-2KiB", NULL), CUZK_OK);
    assert_int_equal(cuzk_circuit_shape(&s, &id, NULL), CUZK_OK);
    cuzk_trapdoor t = ref_trapdoor();
    cuzk_pk *want = host_key(s, &t);
    check(s, want, NULL);
    cuzk_pk_free(want);
    cuzk_shape_free(s);
}

/* The device refuses with the host's code and words, and keeps no memory. */
static void assert_refused(const cuzk_r1cs *r, const cuzk_trapdoor *t, const char *why)
{
    cuzk_shape *s = shape_of(r);
    cuzk_r1cs *plain = NULL;
    cuzk_pk *pk = NULL;
    cuzk_cuda_key *key = NULL;
    cuzk_cuda_memory memory = {.budget = (uint64_t)1 << 32};
    cuzk_err host = {0}, device = {0};
    dshape d = cuzk_cuda_twin_shape(s);
    assert_int_equal(cuzk_shape_to_r1cs(&plain, s, NULL), CUZK_OK);
    assert_int_equal(
        cuzk_groth16_setup(&pk, plain, t, FR_ROOT_BELLMAN, CUZK_H_POWERS, NULL, NULL, &host),
        CUZK_E_INPUT);
    assert_int_equal(cuzk_cuda_setup(&key, s, &d, t, &memory, NULL, &device), CUZK_E_INPUT);
    assert_string_equal(device.msg, host.msg);
    assert_non_null(strstr(device.msg, why));
    assert_null(key);
    assert_int_equal(memory.used, 0);
    cuzk_r1cs_free(plain);
    cuzk_shape_free(s);
}

static void a_trapdoor_with_a_zero_or_in_the_domain_is_refused_as_by_the_host(void **state)
{
    (void)state;
    static const char *const names[] = {"alpha", "beta", "gamma", "delta", "tau"};
    small_circuit c = small_circuit_new(SMALL_EXACT_POWER);
    for (int i = 0; i < 5; i++) {
        cuzk_trapdoor t = ref_trapdoor();
        fr *parts[] = {&t.alpha, &t.beta, &t.gamma, &t.delta, &t.tau};
        *parts[i] = fr_zero;
        assert_refused(c.r1cs, &t, names[i]);
    }
    cuzk_trapdoor t = ref_trapdoor();
    t.tau = fr_root_of_unity(FR_ROOT_BELLMAN, 4);
    assert_refused(c.r1cs, &t, "tau is in the domain of 2^4");
    small_circuit_clear(&c);
}

static void a_variable_in_no_row_is_refused_as_by_the_host(void **state)
{
    (void)state;
    cuzk_trapdoor t = ref_trapdoor();
    small_circuit c = small_circuit_with_a_loose_variable();
    assert_refused(c.r1cs, &t, "auxiliary variable 1 occurs in no row");
    small_circuit_clear(&c);
}

/* w^j / (tau - w^j), the basis up to a factor, over a domain of four points. */
static fr basis_of_four(const cuzk_trapdoor *t, uint64_t j)
{
    fr x = fr_root_of_unity(FR_ROOT_BELLMAN, 2), d;
    fr_pow(&x, &x, &j, 1);
    fr_sub(&d, &t->tau, &x);
    fr_inv(&d, &d);
    fr_mul(&x, &x, &d);
    return x;
}

static void term(cuzk_r1cs_builder *b, cuzk_matrix m, uint32_t var, const fr *coeff)
{
    assert_int_equal(cuzk_r1cs_builder_term(b, m, var, coeff, NULL), CUZK_OK);
}

/* Two inputs, two aux, two rows in which the polynomial of `var` in matrix m is zero at tau, where
 * the added row of the input 1, with beta, counts in C. */
static cuzk_r1cs *with_a_root(const cuzk_trapdoor *t, cuzk_matrix m, uint32_t var)
{
    cuzk_r1cs_builder *b = NULL;
    cuzk_r1cs *r = NULL;
    fr first = basis_of_four(t, 0), second = basis_of_four(t, m == CUZK_MATRIX_C ? 3 : 1), k;
    assert_int_equal(cuzk_r1cs_builder_new(&b, 2, 2, NULL), CUZK_OK);
    fr_inv(&k, &first);
    fr_mul(&k, &k, &second);
    fr_neg(&k, &k); /* k L_0 + L_second = 0 */
    if (m == CUZK_MATRIX_C) {
        fr_mul(&k, &k, &t->beta);
    }
    term(b, CUZK_MATRIX_A, 2, &fr_one);
    term(b, CUZK_MATRIX_B, 3, &fr_one);
    term(b, m, var, &k);
    assert_int_equal(cuzk_r1cs_builder_end_row(b, NULL), CUZK_OK);
    term(b, CUZK_MATRIX_C, 2, &fr_one);
    term(b, CUZK_MATRIX_C, 3, &fr_one);
    if (m != CUZK_MATRIX_C) {
        term(b, m, var, &fr_one);
    }
    assert_int_equal(cuzk_r1cs_builder_end_row(b, NULL), CUZK_OK);
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(b);
    return r;
}

static void a_polynomial_that_is_zero_at_tau_is_refused_as_by_the_host(void **state)
{
    (void)state;
    static const struct {
        cuzk_matrix m;
        uint32_t var;
        const char *why;
    } cases[] = {{CUZK_MATRIX_A, 3, "root of the polynomial of variable 3"},
                 {CUZK_MATRIX_B, 2, "root of the polynomial of variable 2"},
                 {CUZK_MATRIX_B, 0, "root of the polynomial of variable 0"},
                 {CUZK_MATRIX_C, 1, "point of input 1 infinite"}};
    cuzk_trapdoor t = ref_trapdoor();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_r1cs *r = with_a_root(&t, cases[i].m, cases[i].var);
        assert_refused(r, &t, cases[i].why);
        cuzk_r1cs_free(r);
    }
}

static void a_setup_that_runs_out_of_memory_gives_all_of_it_back(void **state)
{
    (void)state;
    small_circuit c = small_circuit_new(SMALL_PUBLIC_IN_B);
    cuzk_shape *s = shape_of(c.r1cs);
    cuzk_trapdoor t = ref_trapdoor();
    dshape d = cuzk_cuda_twin_shape(s);
    cuzk_cuda_memory memory = {.budget = 0};
    cuzk_cuda_key *key = NULL;
    const cuzk_cuda_setup_plan plan = {64, 2, 2};
    unsigned refused = 0;
    cuzk_code code;
    while ((code = cuzk_cuda_setup_with(&key, s, &d, &t, &plan, &memory, NULL, NULL)) ==
           CUZK_E_MEMORY) {
        assert_null(key);
        assert_int_equal(memory.used, 0);
        memory.budget += 1024; /* the least piece is 256 */
        refused++;
    }
    assert_int_equal(code, CUZK_OK);
    assert_true(refused > 20);
    assert_true(memory.peak <= memory.budget && memory.peak > memory.budget - 1024);
    cuzk_cuda_key_free(key);
    assert_int_equal(memory.used, 0);
    cuzk_shape_free(s);
    small_circuit_clear(&c);
}

static void a_key_with_a_point_at_infinity_is_not_written(void **state)
{
    (void)state;
    static const cuzk_params_part parts[] = {CUZK_PARAMS_L, CUZK_PARAMS_B_G2};
    small_circuit c = small_circuit_new(SMALL_PUBLIC_IN_B);
    cuzk_shape *s = shape_of(c.r1cs);
    cuzk_trapdoor t = ref_trapdoor();
    dshape d = cuzk_cuda_twin_shape(s);
    char file[300];
    snprintf(file, sizeof file, "%s/infinite.params", test_tmpdir());
    for (int i = 0; i < 2; i++) {
        cuzk_cuda_memory memory = {.budget = (uint64_t)1 << 32};
        cuzk_cuda_key *key = NULL;
        cuzk_err err;
        assert_int_equal(cuzk_cuda_setup(&key, s, &d, &t, &memory, NULL, NULL), CUZK_OK);
        size_t bytes = (size_t)cuzk_cuda_query_bytes(parts[i], 1);
        uint8_t *point = (uint8_t *)key->query[parts[i]].block.p + bytes;
        assert_int_equal(cuzk_cuda_zero(point, bytes, NULL, NULL), CUZK_OK);
        assert_int_equal(cuzk_cuda_key_write(key, file, NULL, &err), CUZK_E_ARG);
        assert_non_null(strstr(err.msg, "infinity at point 1"));
        pin(key, parts[i]);
        assert_int_equal(cuzk_cuda_key_write(key, file, NULL, &err), CUZK_E_ARG);
        assert_non_null(strstr(err.msg, "infinity at point 1"));
        cuzk_cuda_key_free(key);
        assert_int_equal(memory.used, 0);
    }
    assert_int_equal(remove(file), -1); /* nothing is there */
    cuzk_shape_free(s);
    small_circuit_clear(&c);
}

static void arguments_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const cuzk_cuda_setup_plan plans[] = {{0, 8, 8}, {65, 8, 8}, {64, 0, 8}, {64, 8, 17}};
    small_circuit c = small_circuit_new(SMALL_ONE_ROW);
    cuzk_shape *s = shape_of(c.r1cs);
    cuzk_trapdoor t = ref_trapdoor();
    dshape d = cuzk_cuda_twin_shape(s);
    cuzk_cuda_memory memory = {.budget = (uint64_t)1 << 32};
    cuzk_cuda_key *key = NULL;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        assert_int_equal(cuzk_cuda_setup_with(&key, s, &d, &t, &plans[i], &memory, NULL, NULL),
                         CUZK_E_ARG);
    }
    d.n_aux++;
    assert_int_equal(cuzk_cuda_setup(&key, s, &d, &t, &memory, NULL, NULL), CUZK_E_ARG);
    assert_null(key);
    assert_int_equal(memory.used, 0);
    cuzk_shape_free(s);
    small_circuit_clear(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_point_of_a_small_circuits_key_is_the_hosts),
        cmocka_unit_test(every_point_of_a_key_for_gadgets_is_the_hosts_in_any_chunks),
        cmocka_unit_test(every_point_of_a_windowpost_key_is_the_hosts),
        cmocka_unit_test(a_trapdoor_with_a_zero_or_in_the_domain_is_refused_as_by_the_host),
        cmocka_unit_test(a_variable_in_no_row_is_refused_as_by_the_host),
        cmocka_unit_test(a_polynomial_that_is_zero_at_tau_is_refused_as_by_the_host),
        cmocka_unit_test(a_setup_that_runs_out_of_memory_gives_all_of_it_back),
        cmocka_unit_test(a_key_with_a_point_at_infinity_is_not_written),
        cmocka_unit_test(arguments_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
