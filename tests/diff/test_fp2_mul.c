#include "support/support.h"

#include <gmp.h>

/* Products in Fp2 at each level of instructions against integers. */

static mpz_t p;

/* The integer that a stands for in Montgomery form, which GMP can multiply as it is. */
static void import(mpz_t r, const fp *a) { mpz_import(r, FP_LIMBS, -1, 8, 0, 0, a->l); }

/* a = (x y - z w) / 2^384 mod p, or with +. */
static bool is_sum(const fp *a, const fp *x, const fp *y, const fp *z, const fp *w, int sign)
{
    mpz_t want, s, t;
    mpz_inits(want, s, t, NULL);
    import(s, x);
    import(t, y);
    mpz_mul(want, s, t);
    import(s, z);
    import(t, w);
    if (sign < 0) {
        mpz_submul(want, s, t);
    } else {
        mpz_addmul(want, s, t);
    }
    import(s, a);
    bool reduced = mpz_cmp(s, p) < 0;
    mpz_mul_2exp(s, s, 384);
    bool equal = mpz_congruent_p(s, want, p);
    mpz_clears(want, s, t, NULL);
    return reduced && equal;
}

static void check(const fp2 *a, const fp2 *b)
{
    fp2 r, in_place;
    fp2_mul(&r, a, b);
    assert_true(is_sum(&r.c0, &a->c0, &b->c0, &a->c1, &b->c1, -1));
    assert_true(is_sum(&r.c1, &a->c0, &b->c1, &a->c1, &b->c0, 1));
    in_place = *a;
    fp2_mul(&in_place, &in_place, b);
    assert_true(fp2_eq(&r, &in_place));
    in_place = *b;
    fp2_mul(&in_place, a, &in_place);
    assert_true(fp2_eq(&r, &in_place));
    fp2_mul(&r, a, a);
    fp2_sqr(&in_place, a);
    assert_true(fp2_eq(&r, &in_place));
    in_place = *a;
    fp2_mul(&in_place, &in_place, &in_place);
    assert_true(fp2_eq(&r, &in_place));
}

static void products_of_edge_and_random_values_are_those_of_integers(void **state)
{
    (void)state;
    size_t n;
    const fp *edge = test_fp_edges(&n);
    mpz_init(p);
    import(p, &fp_modulus);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= MATH_ISA_IFMA; isa++) {
        if (math_isa_limit(isa) != isa) {
            continue;
        }
        test_rng rng = test_rng_new("fp2_mul");
        for (size_t i = 0; i < n * n; i++) {
            for (size_t j = 0; j < n; j++) {
                fp2 a = {edge[i / n], edge[i % n]};
                fp2 b = {edge[j], edge[test_below(&rng, n)]};
                check(&a, &b);
            }
        }
        for (int i = 0; i < 3000; i++) {
            fp2 a = test_fp2(&rng), b = test_fp2(&rng);
            check(&a, &b);
        }
    }
    math_isa_limit(MATH_ISA_IFMA);
    mpz_clear(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_edge_and_random_values_are_those_of_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
