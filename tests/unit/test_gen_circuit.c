#include "support/gen_circuit.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static fr *to_fr(const gen_circuit *c)
{
    size_t n = (size_t)c->r1cs->n_inputs + c->r1cs->n_aux;
    fr *z = malloc(n * sizeof *z);
    assert_non_null(z);
    for (size_t i = 0; i < n; i++) {
        assert_true(fr_repr_is_canonical(&c->z[i]));
        fr_from_repr(&z[i], &c->z[i]);
    }
    return z;
}

static void a_generated_circuit_is_satisfied_and_uses_each_aux_variable(void **state)
{
    (void)state;
    for (uint64_t n_rows = 11; n_rows < 40000; n_rows = n_rows * 3 + 1) {
        gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = n_rows, .seed = n_rows});
        assert_int_equal(c.r1cs->n_rows, n_rows);
        assert_int_equal(c.r1cs->n_inputs, 3);
        fr *z = to_fr(&c);
        assert_int_equal(cuzk_r1cs_check(c.r1cs, z, NULL, NULL, NULL, NULL), CUZK_OK);
        size_t n = (size_t)c.r1cs->n_inputs + c.r1cs->n_aux;
        uint64_t *used = calloc(n / 64 + 1, sizeof *used);
        assert_non_null(used);
        for (cuzk_matrix m = CUZK_MATRIX_A; m <= CUZK_MATRIX_C; m++) {
            cuzk_r1cs_density(c.r1cs, m, used);
        }
        for (size_t v = 0; v < n; v++) {
            assert_true(used[v / 64] >> v % 64 & 1);
        }
        free(used);
        free(z);
        gen_circuit_clear(&c);
    }
}

static void a_changed_witness_no_longer_satisfies(void **state)
{
    (void)state;
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = 500, .n_inputs = 5, .seed = 7});
    fr *z = to_fr(&c);
    size_t n = (size_t)c.r1cs->n_inputs + c.r1cs->n_aux;
    for (size_t v = 1; v < n; v++) {
        fr kept = z[v];
        fr_add(&z[v], &z[v], &fr_one);
        fr_add(&z[v], &z[v], &fr_one); /* never a bit's other value */
        assert_int_equal(cuzk_r1cs_check(c.r1cs, z, NULL, NULL, NULL, NULL), CUZK_E_INPUT);
        z[v] = kept;
    }
    free(z);
    gen_circuit_clear(&c);
}

static void the_share_of_bits_is_as_wished(void **state)
{
    (void)state;
    for (uint32_t permil = 100; permil <= 1000; permil += 300) {
        gen_wish wish = {.n_rows = 20000, .bit_permil = permil, .seed = permil};
        gen_circuit c = gen_circuit_new(&wish);
        uint64_t bits = 0;
        for (uint32_t v = 0; v < c.r1cs->n_aux; v++) {
            const uint64_t *l = c.z[c.r1cs->n_inputs + v].l;
            bits += l[0] <= 1 && !(l[1] | l[2] | l[3]);
        }
        assert_true(bits * 1000 >= (uint64_t)c.r1cs->n_aux * (permil - 1));
        assert_true(bits * 1000 <= (uint64_t)c.r1cs->n_aux * (permil + 1));
        gen_circuit_clear(&c);
    }
}

static void the_same_wish_gives_the_same_circuit(void **state)
{
    (void)state;
    gen_wish wish = {.n_rows = 1000, .seed = 9};
    gen_circuit a = gen_circuit_new(&wish);
    gen_circuit b = gen_circuit_new(&wish);
    size_t n = (size_t)a.r1cs->n_inputs + a.r1cs->n_aux;
    assert_memory_equal(a.z, b.z, n * sizeof *a.z);
    size_t terms = a.r1cs->a.row[a.r1cs->n_rows];
    assert_int_equal(terms, b.r1cs->a.row[b.r1cs->n_rows]);
    assert_memory_equal(a.r1cs->a.var, b.r1cs->a.var, terms * sizeof *a.r1cs->a.var);
    gen_circuit_clear(&a);
    gen_circuit_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_generated_circuit_is_satisfied_and_uses_each_aux_variable),
        cmocka_unit_test(a_changed_witness_no_longer_satisfies),
        cmocka_unit_test(the_share_of_bits_is_as_wished),
        cmocka_unit_test(the_same_wish_gives_the_same_circuit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
