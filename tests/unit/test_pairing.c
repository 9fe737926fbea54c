#include "support/support.h"

#include "base/bytes.h"
#include "base/system.h"
#include "math/curve/pairing.h"

#include <stdio.h>
#include <string.h>

/* Every test runs at each level of instructions that the processor has. */
static const math_isa levels[] = {MATH_ISA_PORTABLE, MATH_ISA_ADX, MATH_ISA_IFMA};

static void at_each_level(void (*test)(test_rng *), const char *name)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (math_isa_limit(levels[i]) == levels[i]) {
            test_rng rng = test_rng_new(name);
            test(&rng);
        }
    }
    math_isa_limit(MATH_ISA_IFMA);
}

#define AT_EACH_LEVEL(name)                                                                        \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        at_each_level(name##_, #name);                                                             \
    }

static fp6 random_fp6(test_rng *g) { return (fp6){test_fp2(g), test_fp2(g), test_fp2(g)}; }

static fp12 random_fp12(test_rng *g) { return (fp12){random_fp6(g), random_fp6(g)}; }

/* An element of the cyclotomic subgroup: a^((p^6 - 1) (p^2 + 1)). */
static fp12 random_cyclotomic(test_rng *g)
{
    fp12 a = random_fp12(g), b, c;
    fp12_conj(&b, &a);
    fp12_inv(&c, &a);
    fp12_mul(&b, &b, &c);
    fp12_frobenius2(&c, &b);
    fp12_mul(&b, &b, &c);
    return b;
}

/* Square and multiply with nothing but fp12_mul. */
static void plain_pow(fp12 *r, const fp12 *a, const uint64_t *e, size_t n)
{
    fp12 acc = fp12_one;
    for (size_t i = 64 * n; i-- > 0;) {
        fp12_mul(&acc, &acc, &acc);
        if (e[i / 64] >> (i % 64) & 1) {
            fp12_mul(&acc, &acc, a);
        }
    }
    *r = acc;
}

#define RING_LAWS(F)                                                                               \
    static void F##_obeys_the_ring_laws_(test_rng *rng)                                            \
    {                                                                                              \
        for (int i = 0; i < 20; i++) {                                                             \
            F a = random_##F(rng), b = random_##F(rng), c = random_##F(rng), x, y, z;              \
            F##_mul(&x, &a, &b);                                                                   \
            F##_mul(&y, &b, &a);                                                                   \
            assert_true(F##_eq(&x, &y));                                                           \
            F##_mul(&x, &x, &c);                                                                   \
            F##_mul(&y, &b, &c);                                                                   \
            F##_mul(&y, &a, &y);                                                                   \
            assert_true(F##_eq(&x, &y));                                                           \
            F##_add(&x, &a, &b);                                                                   \
            F##_mul(&x, &x, &c);                                                                   \
            F##_mul(&y, &a, &c);                                                                   \
            F##_mul(&z, &b, &c);                                                                   \
            F##_add(&y, &y, &z);                                                                   \
            assert_true(F##_eq(&x, &y));                                                           \
            F##_sqr(&x, &a);                                                                       \
            F##_mul(&y, &a, &a);                                                                   \
            assert_true(F##_eq(&x, &y));                                                           \
            F##_mul(&x, &a, &F##_one);                                                             \
            assert_true(F##_eq(&x, &a));                                                           \
            F##_inv(&x, &a);                                                                       \
            F##_mul(&x, &x, &a);                                                                   \
            assert_true(F##_eq(&x, &F##_one));                                                     \
            F##_inv(&a, &a); /* in place */                                                        \
            F##_inv(&a, &a);                                                                       \
            F##_mul(&b, &a, &b);                                                                   \
            F##_inv(&a, &a);                                                                       \
            F##_mul(&b, &b, &a);                                                                   \
            F##_mul(&c, &c, &b);                                                                   \
            F##_mul(&z, &b, &b);                                                                   \
            F##_sqr(&b, &b);                                                                       \
            assert_true(F##_eq(&z, &b));                                                           \
        }                                                                                          \
    }                                                                                              \
    AT_EACH_LEVEL(F##_obeys_the_ring_laws)

RING_LAWS(fp6)
RING_LAWS(fp12)

static void the_tower_has_the_stated_relations_(test_rng *rng)
{
    fp6 v = {.c1 = fp2_one}, cube, xi = {.c0 = {fp_one, fp_one}}, a = random_fp6(rng), x, y;
    fp6_mul(&cube, &v, &v);
    fp6_mul(&cube, &cube, &v);
    assert_true(fp6_eq(&cube, &xi));
    fp6_mul_v(&x, &a);
    fp6_mul(&y, &a, &v);
    assert_true(fp6_eq(&x, &y));

    fp12 w = {.c1 = fp6_one}, square, v12 = {.c0 = v};
    fp12_mul(&square, &w, &w);
    assert_true(fp12_eq(&square, &v12));

    fp2 i = {fp_zero, fp_one}, minus_one;
    fp2_mul(&i, &i, &i);
    fp2_neg(&minus_one, &fp2_one);
    assert_true(fp2_eq(&i, &minus_one));
}
AT_EACH_LEVEL(the_tower_has_the_stated_relations)

static void sparse_products_are_products_(test_rng *rng)
{
    for (int i = 0; i < 20; i++) {
        fp6 a = random_fp6(rng), x, y;
        fp2 b0 = test_fp2(rng), b1 = test_fp2(rng), b3 = test_fp2(rng);
        fp k = test_fp(rng);
        fp6 sparse = {.c0 = b0, .c1 = b1};
        fp6_mul(&x, &a, &sparse);
        fp6_mul_01(&y, &a, &b0, &b1);
        assert_true(fp6_eq(&x, &y));
        sparse = (fp6){.c0 = b0};
        fp6_mul(&x, &a, &sparse);
        fp6_mul_fp2(&y, &a, &b0);
        assert_true(fp6_eq(&x, &y));
        sparse = (fp6){.c0 = {.c0 = k}};
        fp6_mul(&x, &a, &sparse);
        fp6_mul_fp(&y, &a, &k);
        assert_true(fp6_eq(&x, &y));

        fp12 f = random_fp12(rng), s, t;
        fp12 line = {{.c0 = b0, .c1 = b1}, {.c1 = b3}};
        fp12_mul(&s, &f, &line);
        fp12_mul_line(&t, &f, &b0, &b1, &b3);
        assert_true(fp12_eq(&s, &t));
        line.c1.c1 = (fp2){.c0 = k};
        fp12_mul(&s, &f, &line);
        fp12_mul_line_fp(&f, &f, &b0, &b1, &k);
        assert_true(fp12_eq(&s, &f));
    }
}
AT_EACH_LEVEL(sparse_products_are_products)

static void frobenius_is_the_power_p_(test_rng *rng)
{
    fp12 a = random_fp12(rng), x, y;
    fp12_frobenius(&x, &a);
    plain_pow(&y, &a, fp_modulus.l, FP_LIMBS);
    assert_true(fp12_eq(&x, &y));
    fp12_frobenius(&x, &x);
    fp12_frobenius2(&y, &a);
    assert_true(fp12_eq(&x, &y));
    fp12_frobenius2(&y, &y);
    fp12_frobenius2(&y, &y);
    fp12_conj(&x, &a);
    assert_true(fp12_eq(&x, &y));
    fp12_frobenius(&y, &y);
    for (int i = 0; i < 5; i++) {
        fp12_frobenius(&y, &y);
    }
    assert_true(fp12_eq(&a, &y));
}
AT_EACH_LEVEL(frobenius_is_the_power_p)

static void cyclotomic_squares_are_squares_in_the_cyclotomic_subgroup_(test_rng *rng)
{
    for (int i = 0; i < 10; i++) {
        fp12 a = random_cyclotomic(rng), x, y;
        fp12_cyclotomic_sqr(&x, &a);
        fp12_sqr(&y, &a);
        assert_true(fp12_eq(&x, &y));
        fp12_conj(&x, &a);
        fp12_mul(&x, &x, &a);
        assert_true(fp12_is_one(&x));
    }
    fp12 a = random_cyclotomic(rng), x, y;
    static const uint64_t exponents[] = {0, 1, 2, 3, BLS12_381_X_ABS, UINT64_MAX};
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        fp12_cyclotomic_pow(&x, &a, exponents[i]);
        plain_pow(&y, &a, &exponents[i], 1);
        assert_true(fp12_eq(&x, &y));
    }
    a = random_fp12(rng); /* elsewhere the short formula is wrong: the test above can fail */
    fp12_cyclotomic_sqr(&x, &a);
    fp12_sqr(&y, &a);
    assert_false(fp12_eq(&x, &y));
}
AT_EACH_LEVEL(cyclotomic_squares_are_squares_in_the_cyclotomic_subgroup)

/*
 * e(g1, g2) and e(a g1, b g2), a = 0x123456789abcdef0fedcba9876543210, b =
 * 0xdeadbeefcafebabe0123456789, from @noble/curves 2.4.0 (bls12_381.pairing), which also has the
 * cube of the exact exponent; SHA-256 of the twelve coordinates as 48 big-endian bytes each,
 * c0.c0.c0 first, c1.c2.c1 last.
 */
static void known_pairings_match_an_independent_library_(test_rng *rng)
{
    (void)rng;
    static const char *const known[2] = {
        "06fa588b89fdfb034dbc1c163ecb3dfac228f552b643c7294cc5f2c4dc170b84",
        "2f4cffcab055dcbf1961316f08ff22ce1cabd57951ce5ab7ccdd6965b1b064fb"};
    static const uint64_t scalars[2][2][2] = {
        {{1, 0}, {1, 0}},
        {{0xfedcba9876543210u, 0x123456789abcdef0u}, {0xfebabe0123456789u, 0xdeadbeefcau}},
    };
    for (int i = 0; i < 2; i++) {
        g1 p;
        g2 q;
        g1_affine pa;
        g2_affine qa;
        g1_from_affine(&p, &g1_generator);
        g2_from_affine(&q, &g2_generator);
        g1_mul_limbs(&p, &p, scalars[i][0], 2);
        g2_mul_limbs(&q, &q, scalars[i][1], 2);
        g1_to_affine(&pa, &p);
        g2_to_affine(&qa, &q);
        fp12 f;
        pairing(&f, &pa, &qa);
        const fp6 *half[2] = {&f.c0, &f.c1};
        uint8_t bytes[12][48], digest[32];
        for (int j = 0; j < 2; j++) {
            const fp2 *c[3] = {&half[j]->c0, &half[j]->c1, &half[j]->c2};
            for (int k = 0; k < 3; k++) {
                fp_to_be_bytes(bytes[6 * j + 2 * k], &c[k]->c0);
                fp_to_be_bytes(bytes[6 * j + 2 * k + 1], &c[k]->c1);
            }
        }
        char text[65];
        assert_int_equal(cuzk_sha256(digest, bytes, sizeof bytes, NULL), CUZK_OK);
        cuzk_hex_format(text, digest, sizeof digest);
        assert_string_equal(text, known[i]);
    }
}
AT_EACH_LEVEL(known_pairings_match_an_independent_library)

static void the_pairing_is_bilinear_and_not_degenerate_(test_rng *rng)
{
    g1_affine p, ap;
    g2_affine q, bq;
    test_g1_points(rng, &p, 1);
    test_g2_points(rng, &q, 1);
    fr_repr a = test_fr_repr(rng), b = test_fr_repr(rng);
    g1 t;
    g2 u;
    g1_from_affine(&t, &p);
    g1_mul(&t, &t, &a);
    g1_to_affine(&ap, &t);
    g2_from_affine(&u, &q);
    g2_mul(&u, &u, &b);
    g2_to_affine(&bq, &u);

    fp12 base, x, y;
    pairing(&base, &p, &q);
    assert_false(fp12_is_one(&base));
    plain_pow(&x, &base, fr_modulus.l, FR_LIMBS);
    assert_true(fp12_is_one(&x));
    pairing(&x, &ap, &q);
    plain_pow(&y, &base, a.l, FR_LIMBS);
    assert_true(fp12_eq(&x, &y));
    pairing(&x, &ap, &bq);
    plain_pow(&y, &y, b.l, FR_LIMBS);
    assert_true(fp12_eq(&x, &y));
    g1_affine_neg(&p, &p);
    pairing(&x, &p, &q);
    fp12_mul(&x, &x, &base);
    assert_true(fp12_is_one(&x));
}
AT_EACH_LEVEL(the_pairing_is_bilinear_and_not_degenerate)

static void infinity_pairs_to_one_(test_rng *rng)
{
    g1_affine p, p_inf = {0};
    g2_affine q, q_inf = {0};
    test_g1_points(rng, &p, 1);
    test_g2_points(rng, &q, 1);
    fp12 f;
    pairing(&f, &p_inf, &q);
    assert_true(fp12_is_one(&f));
    pairing(&f, &p, &q_inf);
    assert_true(fp12_is_one(&f));
    pairing(&f, &p_inf, &q_inf);
    assert_true(fp12_is_one(&f));
    g2_prepared prepared;
    g2_prepare(&prepared, &q_inf);
    const pairing_term term = {.p = &p, .prepared = &prepared};
    assert_true(pairing_product_is_one(&term, 1));
    assert_true(pairing_product_is_one(NULL, 0));
}
AT_EACH_LEVEL(infinity_pairs_to_one)

/* 37 terms, more than two groups of the loop, some of them infinity and every third prepared. */
static void a_multi_pairing_is_the_product_of_its_pairings_(test_rng *rng)
{
    enum { N = 37 };
    static g1_affine p[N];
    static g2_affine q[N];
    static g2_prepared prepared[N];
    pairing_term terms[N], plain[N];
    test_g1_points(rng, p, N);
    test_g2_points(rng, q, N);
    p[5] = (g1_affine){0};
    q[7] = (g2_affine){0};
    p[N - 1] = (g1_affine){0};
    fp12 product = fp12_one, f, x, y;
    for (size_t i = 0; i < N; i++) {
        g2_prepare(&prepared[i], &q[i]);
        plain[i] = (pairing_term){.p = &p[i], .q = &q[i]};
        terms[i] = i % 3 ? plain[i] : (pairing_term){.p = &p[i], .prepared = &prepared[i]};
    }
    static const size_t sizes[] = {1, 2, 6, 8, 16, 17, N};
    size_t done = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (; done < sizes[i]; done++) {
            pairing(&f, &p[done], &q[done]);
            fp12_mul(&product, &product, &f);
        }
        pairing_miller(&x, terms, done);
        pairing_final_exp(&x, &x);
        pairing_miller(&y, plain, done);
        pairing_final_exp(&y, &y);
        assert_true(fp12_eq(&x, &product));
        assert_true(fp12_eq(&y, &product));
        assert_false(pairing_product_is_one(terms, done));
    }
}
AT_EACH_LEVEL(a_multi_pairing_is_the_product_of_its_pairings)

static void prepared_points_pair_like_plain_ones_(test_rng *rng)
{
    g1_affine p[3];
    g2_affine q[3];
    test_g1_points(rng, p, 3);
    test_g2_points(rng, q, 3);
    for (int i = 0; i < 3; i++) {
        g2_prepared prepared;
        g2_prepare(&prepared, &q[i]);
        fp12 x, y;
        pairing(&x, &p[i], &q[i]);
        const pairing_term term = {.p = &p[i], .prepared = &prepared};
        pairing_miller(&y, &term, 1);
        pairing_final_exp(&y, &y);
        assert_true(fp12_eq(&x, &y));
        g1_affine minus;
        g1_affine_neg(&minus, &p[i]);
        const pairing_term both[2] = {{.p = &p[i], .prepared = &prepared},
                                      {.p = &minus, .q = &q[i]}};
        assert_true(pairing_product_is_one(both, 2));
        const pairing_term other[2] = {both[0], {.p = &minus, .q = &q[(i + 1) % 3]}};
        assert_false(pairing_product_is_one(other, 2));
    }
}
AT_EACH_LEVEL(prepared_points_pair_like_plain_ones)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp6_obeys_the_ring_laws),
        cmocka_unit_test(fp12_obeys_the_ring_laws),
        cmocka_unit_test(the_tower_has_the_stated_relations),
        cmocka_unit_test(sparse_products_are_products),
        cmocka_unit_test(frobenius_is_the_power_p),
        cmocka_unit_test(cyclotomic_squares_are_squares_in_the_cyclotomic_subgroup),
        cmocka_unit_test(known_pairings_match_an_independent_library),
        cmocka_unit_test(the_pairing_is_bilinear_and_not_degenerate),
        cmocka_unit_test(infinity_pairs_to_one),
        cmocka_unit_test(a_multi_pairing_is_the_product_of_its_pairings),
        cmocka_unit_test(prepared_points_pair_like_plain_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
