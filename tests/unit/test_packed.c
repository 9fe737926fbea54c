#include "filecoin/circuits/catalog.h"
#include "gadget/expand.h"
#include "gadget/num.h"
#include "r1cs/shape_csr.h"
#include "support/support.h"

#include <stdlib.h>

static cuzk_shape *circuit(const char *name)
{
    cuzk_circuit_id id;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_circuit_named(&id, name, NULL), CUZK_OK);
    assert_int_equal(cuzk_circuit_shape(&s, &id, NULL), CUZK_OK);
    return s;
}

/* Random values of each variable's class, that satisfy nothing. */
static cuzk_packed random_packed(const cuzk_shape *s, test_rng *g)
{
    cuzk_packed p;
    fr *inputs = malloc(s->n_inputs * sizeof *inputs);
    assert_non_null(inputs);
    inputs[0] = fr_one;
    for (uint32_t i = 1; i < s->n_inputs; i++) {
        inputs[i] = test_fr(g);
    }
    assert_int_equal(cuzk_packed_new(&p, s, inputs, NULL), CUZK_OK);
    free(inputs);
    for (uint32_t i = 0; i < s->n_instances; i++) {
        const cuzk_template *t = cuzk_shape_template(s, &s->instances[i]);
        cuzk_packed_writer w = cuzk_packed_writer_at(&p, &s->instances[i]);
        for (uint32_t j = 0; j < t->n_aux; j++) {
            if (cuzk_template_is_full(s, t, 1 + t->n_ports + j)) {
                fr v = test_fr(g);
                cuzk_packed_put_full(&w, &v);
            } else {
                cuzk_packed_put_bits(&w, test_u64(g) & 1, 1);
            }
        }
    }
    return p;
}

static void check_against_plain_matrices(const char *name, test_rng *g)
{
    cuzk_shape *s = circuit(name);
    cuzk_packed p = random_packed(s, g);
    cuzk_r1cs *r = NULL;
    cuzk_pool *pool = NULL;
    assert_int_equal(cuzk_shape_to_r1cs(&r, s, NULL), CUZK_OK);
    assert_int_equal(cuzk_pool_new(&pool, 3, NULL), CUZK_OK);
    assert_int_equal(r->n_rows, cuzk_shape_rows(s));
    assert_int_equal(r->n_aux, cuzk_shape_aux(s));
    fr *z = malloc((r->n_inputs + (size_t)r->n_aux) * sizeof *z);
    fr *want = malloc(r->n_rows * sizeof *want);
    fr *got = malloc(r->n_rows * sizeof *got);
    assert_true(z && want && got);
    memcpy(z, p.full, r->n_inputs * sizeof *z);
    cuzk_packed_aux(&p, s, 0, r->n_aux, z + r->n_inputs);
    for (unsigned m = 0; m < 3; m++) {
        cuzk_r1cs_eval(r, (cuzk_matrix)m, z, want, pool);
        assert_int_equal(cuzk_packed_eval(&p, s, m, 0, s->n_instances, got, pool, NULL), CUZK_OK);
        assert_memory_equal(got, want, r->n_rows * sizeof *want);

        size_t words = ((size_t)r->n_inputs + r->n_aux) / 64 + 2;
        uint64_t *plain = calloc(words, 8);
        uint64_t *inputs = calloc(words, 8);
        uint64_t *aux = calloc(words, 8);
        assert_true(plain && inputs && aux);
        cuzk_r1cs_density(r, (cuzk_matrix)m, plain);
        cuzk_shape_density(s, m, inputs, aux);
        for (uint32_t v = 0; v < r->n_inputs + r->n_aux; v++) {
            uint32_t a = v - r->n_inputs;
            uint64_t have = v < r->n_inputs ? inputs[v / 64] >> (v % 64) : aux[a / 64] >> (a % 64);
            assert_int_equal(have & 1, plain[v / 64] >> (v % 64) & 1);
        }
        free(plain);
        free(inputs);
        free(aux);
    }
    free(z);
    free(want);
    free(got);
    cuzk_pool_free(pool);
    cuzk_r1cs_free(r);
    cuzk_packed_clear(&p);
    cuzk_shape_free(s);
}

static void rows_and_densities_from_templates_equal_those_of_plain_matrices(void **state)
{
    (void)state;
    test_rng g = test_rng_new("packed");
    check_against_plain_matrices("window-2KiB", &g);
    check_against_plain_matrices("update-1KiB", &g);
}

static void a_stretch_of_aux_reads_the_same_from_any_start(void **state)
{
    (void)state;
    test_rng g = test_rng_new("stretch");
    cuzk_shape *s = circuit("window-2KiB");
    cuzk_packed p = random_packed(s, &g);
    uint32_t n = cuzk_shape_aux(s);
    fr *all = malloc(n * sizeof *all);
    fr *part = malloc(n * sizeof *part);
    assert_true(all && part);
    cuzk_packed_aux(&p, s, 0, n, all);
    for (int k = 0; k < 100; k++) {
        uint32_t from = (uint32_t)test_below(&g, n);
        uint32_t count = (uint32_t)test_below(&g, n - from + 1);
        cuzk_packed_aux(&p, s, from, count, part);
        assert_memory_equal(part, all + from, count * sizeof *part);
    }
    free(all);
    free(part);
    cuzk_packed_clear(&p);
    cuzk_shape_free(s);
}

static cuzk_shape *one_number(void)
{
    cuzk_cs *cs = NULL;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_cs_new_shape(&cs, "one", NULL), CUZK_OK);
    cuzk_num x = cuzk_cs_alloc(cs, NULL);
    cuzk_num_inputize(cs, &x);
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, NULL), CUZK_OK);
    cuzk_cs_free(cs);
    return s;
}

static void a_witness_that_calls_other_gadgets_than_the_shape_is_refused(void **state)
{
    (void)state;
    cuzk_shape *s = one_number();
    cuzk_ports ports;
    cuzk_bool bit;
    for (int n = 0; n < 3; n++) {
        cuzk_cs *cs = NULL;
        assert_int_equal(cuzk_cs_new_witness(&cs, s, NULL), CUZK_OK);
        fr v = fr_from_u64(7);
        if (n == 0) {
            cuzk_cs_alloc_bits(cs, &bit, 1, 1);
        } else {
            cuzk_num x = cuzk_cs_alloc(cs, &v);
            if (n == 2) {
                cuzk_num_inputize(cs, &x);
                cuzk_cs_alloc(cs, &v);
            }
        }
        assert_int_equal(cuzk_cs_finish_witness(cs, &ports, NULL), CUZK_E_INTERNAL);
        cuzk_cs_free(cs);
    }
    cuzk_shape_free(s);
}

static void a_shape_with_an_unknown_gadget_is_not_expanded(void **state)
{
    (void)state;
    cuzk_cs *cs = NULL;
    cuzk_shape *s = NULL;
    assert_int_equal(cuzk_cs_new_shape(&cs, "unknown", NULL), CUZK_OK);
    cuzk_cs_begin(cs, "mystery", 0, 8);
    if (cuzk_cs_recording(cs)) {
        cuzk_cs_var(cs, true);
    }
    cuzk_cs_end(cs, NULL, 0);
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, NULL), CUZK_OK);
    cuzk_cs_free(cs);
    fr one = fr_one;
    uint8_t record[8] = {0};
    cuzk_ports ports = {&one, record};
    cuzk_packed p;
    cuzk_err err;
    assert_int_equal(cuzk_expand(&p, s, &ports, NULL, &err), CUZK_E_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "mystery"));
    cuzk_shape_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_densities_from_templates_equal_those_of_plain_matrices),
        cmocka_unit_test(a_stretch_of_aux_reads_the_same_from_any_start),
        cmocka_unit_test(a_witness_that_calls_other_gadgets_than_the_shape_is_refused),
        cmocka_unit_test(a_shape_with_an_unknown_gadget_is_not_expanded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
