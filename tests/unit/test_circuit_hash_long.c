#include "filecoin/circuits/circuit_porep.h"
#include "support/circuits.h"
#include "support/support.h"

/* Up to 1.1 thousand million terms, 47 GB of digest input, for a circuit: minutes. */
static void every_circuit_has_the_sizes_and_digest_of_the_reference(void **state)
{
    (void)state;
    for (int i = 0; i < CIRCUIT_ROWS; i++) {
        test_circuit_row(&circuit_table[i], true);
    }
}

static void poreps_over_other_trees_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    const struct {
        uint8_t levels, lg[3], siblings, lg_nodes;
        const char *digest;
    } cases[] = {
        {3, {1, 1, 1}, 3, 3, "e933e8bea2e68a3569205187f61c428770f083c7e7d2113babedb204b9429bc3"},
        {2, {3, 2}, 10, 5, "2bb32fe1d16325b1afe3f67f42148047406233e23eae86605f53247273706615"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_porep_config c = {.layers = 2, .challenges = 1};
        c.data.levels = cases[i].lg_nodes;
        c.data.siblings = cases[i].lg_nodes;
        memset(c.data.lg_arity, 1, cases[i].lg_nodes);
        c.octal.levels = cases[i].levels;
        c.octal.siblings = cases[i].siblings;
        memcpy(c.octal.lg_arity, cases[i].lg, sizeof cases[i].lg);
        cuzk_cs *cs = NULL;
        cuzk_shape *s = NULL;
        assert_int_equal(cuzk_cs_new_shape(&cs, "porep", NULL), CUZK_OK);
        cuzk_circuit_porep(cs, &c, NULL, 0);
        assert_int_equal(cuzk_cs_finish_shape(cs, &s, NULL), CUZK_OK);
        cuzk_cs_free(cs);
        test_circuit_digest(s, cases[i].digest);
        cuzk_shape_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_circuit_has_the_sizes_and_digest_of_the_reference),
        cmocka_unit_test(poreps_over_other_trees_have_the_digests_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
