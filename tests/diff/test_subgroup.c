#include "support/support.h"

#include <gmp.h>

/*
 * The checks of order by endomorphism against multiplication by r: points of order r, points of the
 * curve as they come, points of each small order that divides the cofactor, and sums of both.
 */

/* Cofactors (draft-irtf-cfrg-pairing-friendly-curves, section 4.2.1): (x - 1)^2 / 3 for G1 and
 * (x^8 - 4 x^7 + 5 x^6 - 4 x^4 + 6 x^3 - 4 x^2 - 4 x + 13) / 9 for G2. */
static void cofactors(mpz_t h1, mpz_t h2)
{
    static const int coefficients[] = {1, -4, 5, 0, -4, 6, -4, -4, 13};
    mpz_t x;
    mpz_init_set_ui(x, BLS12_381_X_ABS);
    mpz_neg(x, x);
    mpz_sub_ui(h1, x, 1);
    mpz_mul(h1, h1, h1);
    mpz_divexact_ui(h1, h1, 3);
    mpz_set_ui(h2, 0);
    for (size_t i = 0; i < sizeof coefficients / sizeof *coefficients; i++) {
        mpz_mul(h2, h2, x);
        if (coefficients[i] < 0) {
            mpz_sub_ui(h2, h2, (unsigned long)-coefficients[i]);
        } else {
            mpz_add_ui(h2, h2, (unsigned long)coefficients[i]);
        }
    }
    mpz_divexact_ui(h2, h2, 9);
    mpz_clear(x);
}

/* k as limbs; returns how many. */
static size_t limbs_of(uint64_t limbs[16], const mpz_t k)
{
    size_t n;
    assert_true(mpz_sizeinbase(k, 2) <= 16 * 64);
    mpz_export(limbs, &n, -1, 8, 0, 0, k);
    return n;
}

static fp b_g1(void) { return fp_from_u64(4); }
static fp2 b_g2(void) { return (fp2){fp_from_u64(4), fp_from_u64(4)}; }

static const unsigned long primes_g1[] = {3, 11, 10177, 859267, 52437899};
static const unsigned long primes_g2[] = {13, 23, 2713, 11953, 262069};

#define CHECKS(G, F, H)                                                                            \
    /* The first point of the curve at or after a random x: of order r only by a miracle. */       \
    static void G##_any_point(test_rng *rng, G##_affine *a)                                        \
    {                                                                                              \
        F b = b_##G(), t;                                                                          \
        do {                                                                                       \
            a->x = test_##F(rng);                                                                  \
            F##_sqr(&t, &a->x);                                                                    \
            F##_mul(&t, &t, &a->x);                                                                \
            F##_add(&t, &t, &b);                                                                   \
        } while (!F##_sqrt(&a->y, &t));                                                            \
        assert_true(G##_affine_is_on_curve(a));                                                    \
    }                                                                                              \
    static bool G##_slow_check(const G##_affine *a)                                                \
    {                                                                                              \
        G p;                                                                                       \
        G##_from_affine(&p, a);                                                                    \
        G##_mul_limbs(&p, &p, fr_modulus.l, FR_LIMBS);                                             \
        return G##_is_inf(&p);                                                                     \
    }                                                                                              \
    static void G##_points_of_order_r_and_infinity_are_accepted(void **state)                      \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_accepted");                                               \
        G##_affine p[8], inf = {0};                                                                \
        test_##G##_points(&rng, p, 8);                                                             \
        for (int i = 0; i < 8; i++) {                                                              \
            assert_true(G##_slow_check(&p[i]));                                                    \
            assert_true(G##_affine_in_subgroup(&p[i]));                                            \
        }                                                                                          \
        assert_true(G##_affine_in_subgroup(&inf));                                                 \
        assert_true(G##_affine_in_subgroup(&G##_generator));                                       \
    }                                                                                              \
    static void G##_points_of_the_curve_outside_the_subgroup_are_refused(void **state)             \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_refused");                                                \
        for (int i = 0; i < 16; i++) {                                                             \
            G##_affine a;                                                                          \
            G##_any_point(&rng, &a);                                                               \
            assert_false(G##_slow_check(&a));                                                      \
            assert_false(G##_affine_in_subgroup(&a));                                              \
        }                                                                                          \
    }                                                                                              \
    static void G##_points_with_a_small_order_component_are_refused(void **state)                  \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_small");                                                  \
        mpz_t h1, h2, r, k;                                                                        \
        mpz_inits(h1, h2, r, k, NULL);                                                             \
        cofactors(h1, h2);                                                                         \
        mpz_import(r, FR_LIMBS, -1, 8, 0, 0, fr_modulus.l);                                        \
        for (size_t i = 0; i < sizeof primes_##G / sizeof *primes_##G; i++) {                      \
            const uint64_t prime[1] = {primes_##G[i]};                                             \
            uint64_t limbs[16];                                                                    \
            assert_true(mpz_divisible_ui_p(H, prime[0]));                                          \
            mpz_mul(k, H, r);                                                                      \
            while (mpz_divisible_ui_p(k, prime[0])) {                                              \
                mpz_divexact_ui(k, k, prime[0]);                                                   \
            }                                                                                      \
            size_t n = limbs_of(limbs, k);                                                         \
            G p, t, sum;                                                                           \
            G##_affine a, good;                                                                    \
            do { /* to a point whose order is a power of the prime */                              \
                G##_any_point(&rng, &a);                                                           \
                G##_from_affine(&p, &a);                                                           \
                G##_mul_limbs(&p, &p, limbs, n);                                                   \
            } while (G##_is_inf(&p));                                                              \
            for (t = p; !G##_is_inf(&t);) { /* to one of that order itself */                      \
                p = t;                                                                             \
                G##_mul_limbs(&t, &p, prime, 1);                                                   \
            }                                                                                      \
            G##_to_affine(&a, &p);                                                                 \
            assert_false(G##_affine_is_inf(&a));                                                   \
            assert_false(G##_slow_check(&a));                                                      \
            assert_false(G##_affine_in_subgroup(&a));                                              \
            test_##G##_points(&rng, &good, 1);                                                     \
            G##_add_affine(&sum, &p, &good);                                                       \
            G##_to_affine(&a, &sum);                                                               \
            assert_false(G##_slow_check(&a));                                                      \
            assert_false(G##_affine_in_subgroup(&a));                                              \
        }                                                                                          \
        mpz_clears(h1, h2, r, k, NULL);                                                            \
    }

CHECKS(g1, fp, h1)
CHECKS(g2, fp2, h2)

/* What the check on G2 rests on, beside the endomorphism's equation. */
static void the_cofactors_are_coprime(void **state)
{
    (void)state;
    mpz_t h1, h2;
    mpz_inits(h1, h2, NULL);
    cofactors(h1, h2);
    mpz_gcd(h1, h1, h2);
    assert_int_equal(mpz_cmp_ui(h1, 1), 0);
    mpz_clears(h1, h2, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_points_of_order_r_and_infinity_are_accepted),
        cmocka_unit_test(g1_points_of_the_curve_outside_the_subgroup_are_refused),
        cmocka_unit_test(g1_points_with_a_small_order_component_are_refused),
        cmocka_unit_test(g2_points_of_order_r_and_infinity_are_accepted),
        cmocka_unit_test(g2_points_of_the_curve_outside_the_subgroup_are_refused),
        cmocka_unit_test(g2_points_with_a_small_order_component_are_refused),
        cmocka_unit_test(the_cofactors_are_coprime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
