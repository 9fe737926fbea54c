#include "filecoin/circuits/circuit_porep.h"
#include "filecoin/circuits/circuit_post.h"
#include "support/circuits.h"
#include "support/support.h"

static void small_circuits_have_the_sizes_and_digests_of_the_reference(void **state)
{
    (void)state;
    for (int i = 0; i < CIRCUIT_ROWS; i++) {
        const circuit_row *row = &circuit_table[i];
        if (row->rows < 150000 && row->nnz[0] < 1000000) {
            test_circuit_row(row, true);
        }
    }
}

/* A tree of `base` levels of one arity, then a sub and a top tree of one level each (0: none). */
static cuzk_tree tree(unsigned lg, unsigned base, unsigned lg_sub, unsigned lg_top)
{
    cuzk_tree t = {0};
    for (unsigned i = 0; i < base; i++) {
        t.lg_arity[t.levels++] = (uint8_t)lg;
    }
    if (lg_sub) {
        t.lg_arity[t.levels++] = (uint8_t)lg_sub;
    }
    if (lg_top) {
        t.lg_arity[t.levels++] = (uint8_t)lg_top;
    }
    for (unsigned i = 0; i < t.levels; i++) {
        t.siblings = (uint16_t)(t.siblings + (1U << t.lg_arity[i]) - 1);
    }
    return t;
}

static void finish(cuzk_cs *cs, const char *digest)
{
    cuzk_shape *s = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_cs_finish_shape(cs, &s, &err), CUZK_OK);
    cuzk_cs_free(cs);
    test_circuit_digest(s, digest);
    cuzk_shape_free(s);
}

static void posts_over_sub_and_top_trees_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    const struct {
        unsigned lg_sub, lg_top;
        const char *digest;
    } cases[] = {
        {0, 0, "aabc663ba989f3613ad4d3f9a623ea354ad306dc951d848e57e4bdcd9096675c"},
        {2, 0, "07af760cb42b557f0a8db088081c672c6bc40d091804130de322a982d2d0ddcc"},
        {2, 1, "1eb841edd9d456958e19edc409325f3851824527ca2153594ff6e3eda5a64800"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_post_config c = {3, 5, tree(3, 2, cases[i].lg_sub, cases[i].lg_top)};
        cuzk_cs *cs = NULL;
        assert_int_equal(cuzk_cs_new_shape(&cs, "post", NULL), CUZK_OK);
        cuzk_circuit_post(cs, &c, NULL, 0);
        finish(cs, cases[i].digest);
    }
}

static void a_porep_of_one_challenge_has_the_digest_of_the_reference(void **state)
{
    (void)state;
    cuzk_porep_config c = {2, 1, tree(1, 3, 0, 0), tree(3, 1, 0, 0)};
    cuzk_cs *cs = NULL;
    assert_int_equal(cuzk_cs_new_shape(&cs, "porep", NULL), CUZK_OK);
    cuzk_circuit_porep(cs, &c, NULL, 0);
    finish(cs, "b9e22ee377bc73c4e08f679252c4f87948f5812be8c95358a6bf87a7279a785f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_circuits_have_the_sizes_and_digests_of_the_reference),
        cmocka_unit_test(posts_over_sub_and_top_trees_have_the_digests_of_the_reference),
        cmocka_unit_test(a_porep_of_one_challenge_has_the_digest_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
