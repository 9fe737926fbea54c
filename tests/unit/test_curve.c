#include "support/support.h"

#include <string.h>

static void the_generators_are_on_their_curves_and_of_order_r(void **state)
{
    (void)state;
    assert_true(g1_affine_is_on_curve(&g1_generator));
    assert_true(g2_affine_is_on_curve(&g2_generator));
    assert_true(g1_affine_in_subgroup(&g1_generator));
    assert_true(g2_affine_in_subgroup(&g2_generator));
}

#define LAWS(G)                                                                                    \
    static void G##_obeys_the_group_laws(void **state)                                             \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_obeys_the_group_laws");                                   \
        G##_affine p[3], t;                                                                        \
        test_##G##_points(&rng, p, 3);                                                             \
        G a, b, c, inf, x, y;                                                                      \
        G##_from_affine(&a, &p[0]);                                                                \
        G##_from_affine(&b, &p[1]);                                                                \
        G##_dbl(&c, &a);                                                                           \
        G##_set_inf(&inf);                                                                         \
        G##_add(&x, &a, &b);                                                                       \
        G##_add(&y, &b, &a);                                                                       \
        assert_true(G##_eq(&x, &y));                                                               \
        G##_add_affine(&y, &a, &p[1]);                                                             \
        assert_true(G##_eq(&x, &y));                                                               \
        G##_add(&x, &x, &c);                                                                       \
        G##_add(&y, &b, &c);                                                                       \
        G##_add(&y, &a, &y);                                                                       \
        assert_true(G##_eq(&x, &y));                                                               \
        G##_to_affine(&t, &x);                                                                     \
        assert_true(G##_affine_is_on_curve(&t));                                                   \
        G##_add(&x, &a, &a);                                                                       \
        assert_true(G##_eq(&x, &c));                                                               \
        G##_add_affine(&x, &a, &p[0]);                                                             \
        assert_true(G##_eq(&x, &c));                                                               \
        G##_neg(&y, &a);                                                                           \
        G##_add(&x, &a, &y);                                                                       \
        assert_true(G##_is_inf(&x));                                                               \
        G##_add(&x, &a, &inf);                                                                     \
        assert_true(G##_eq(&x, &a));                                                               \
        G##_add(&x, &inf, &a);                                                                     \
        assert_true(G##_eq(&x, &a));                                                               \
        G##_dbl(&x, &inf);                                                                         \
        assert_true(G##_is_inf(&x));                                                               \
        G##_to_affine(&t, &inf);                                                                   \
        assert_true(G##_affine_is_inf(&t));                                                        \
    }

LAWS(g1)
LAWS(g2)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_generators_are_on_their_curves_and_of_order_r),
        cmocka_unit_test(g1_obeys_the_group_laws),
        cmocka_unit_test(g2_obeys_the_group_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
