#include "support/support.h"

#include "base/bytes.h"
#include "math/field/fp2.h"
#include "math/field/fr_vec.h"

#include <gmp.h>
#include <stdlib.h>

/* Everything about the fields against GMP: first the constants, then each operation on edge values
 * and random values at every level of instructions. */

static math_isa top;
static mpz_t p, r, radix_p, radix_r; /* the moduli and 2^384, 2^256 */

static void import(mpz_t z, const uint64_t *limbs, int n)
{
    mpz_import(z, (size_t)n, -1, sizeof *limbs, 0, 0, limbs);
}

/* Fails unless the limbs are z, naming what. */
static void expect(const char *what, const uint64_t *limbs, int n, const mpz_t z)
{
    mpz_t t;
    mpz_init(t);
    import(t, limbs, n);
    if (mpz_cmp(t, z) != 0) {
        gmp_printf("%s at %s: got %Zx, want %Zx\n", what, math_isa_name(math_isa_level), t, z);
        fail_msg("%s is wrong", what);
    }
    mpz_clear(t);
}

/* The integer that a Montgomery form stands for: t = limbs / radix mod m. */
static void value(mpz_t t, const uint64_t *limbs, int n, const mpz_t m)
{
    mpz_t radix;
    mpz_init(radix);
    mpz_ui_pow_ui(radix, 2, (unsigned long)(64 * n));
    mpz_invert(radix, radix, m);
    import(t, limbs, n);
    mpz_mul(t, t, radix);
    mpz_mod(t, t, m);
    mpz_clear(radix);
}

/* Fails unless the limbs are reduced and the Montgomery form of z. */
static void expect_form(const char *what, const uint64_t *limbs, int n, const mpz_t z,
                        const mpz_t m)
{
    mpz_t t;
    mpz_init(t);
    mpz_mul_2exp(t, z, (mp_bitcnt_t)(64 * n));
    mpz_mod(t, t, m);
    expect(what, limbs, n, t);
    mpz_clear(t);
}

static void setup(void)
{
    mpz_inits(p, r, radix_p, radix_r, NULL);
    mpz_t x, t;
    mpz_inits(x, t, NULL);
    mpz_set_str(x, "-d201000000010000", 16);
    mpz_pow_ui(r, x, 4); /* r = x^4 - x^2 + 1 */
    mpz_pow_ui(t, x, 2);
    mpz_sub(r, r, t);
    mpz_add_ui(r, r, 1);
    mpz_sub_ui(p, x, 1); /* p = (x - 1)^2 r / 3 + x */
    mpz_pow_ui(p, p, 2);
    mpz_mul(p, p, r);
    mpz_divexact_ui(p, p, 3);
    mpz_add(p, p, x);
    mpz_ui_pow_ui(radix_p, 2, 384);
    mpz_ui_pow_ui(radix_r, 2, 256);
    mpz_clears(x, t, NULL);
}

static void expect_inverse(const char *what, uint64_t got, const mpz_t m)
{
    mpz_t t, word;
    mpz_inits(t, word, NULL);
    mpz_ui_pow_ui(word, 2, 64);
    mpz_invert(t, m, word);
    mpz_sub(t, word, t);
    expect(what, &got, 1, t);
    mpz_clears(t, word, NULL);
}

static void the_constants_follow_from_the_parameter_of_the_curve(void **state)
{
    (void)state;
    assert_true(mpz_probab_prime_p(p, 30) && mpz_probab_prime_p(r, 30));
    mpz_t t, e;
    mpz_inits(t, e, NULL);
    uint64_t x_abs = BLS12_381_X_ABS;
    mpz_set_str(t, "d201000000010000", 16);
    expect("x", &x_abs, 1, t);
    expect("p", fp_modulus.l, FP_LIMBS, p);
    expect("r", fr_modulus.l, FR_LIMBS, r);
    mpz_mod(t, radix_p, p);
    expect("2^384 mod p", fp_one.l, FP_LIMBS, t);
    mpz_mul(t, t, t);
    mpz_mod(t, t, p);
    expect("2^768 mod p", fp_r2.l, FP_LIMBS, t);
    mpz_mod(t, radix_r, r);
    expect("2^256 mod r", fr_one.l, FR_LIMBS, t);
    mpz_mul(t, t, t);
    mpz_mod(t, t, r);
    expect("2^512 mod r", fr_r2.l, FR_LIMBS, t);
    expect_inverse("-p^-1", FP_INV, p);
    expect_inverse("-r^-1", FR_INV, r);
    assert_int_equal(mpz_sizeinbase(r, 2), FR_MODULUS_BITS);
    mpz_sub_ui(e, r, 1);
    assert_int_equal(mpz_scan1(e, 0), FR_TWO_ADICITY);
    mpz_tdiv_q_2exp(e, e, FR_TWO_ADICITY); /* t = (r - 1) / 2^32 */
    fr root7 = {FR_ROOT_7}, root5 = {FR_ROOT_5};
    mpz_set_ui(t, 7);
    mpz_powm(t, t, e, r);
    expect_form("7^t", root7.l, FR_LIMBS, t, r);
    mpz_set_ui(t, 5);
    mpz_powm(t, t, e, r);
    expect_form("5^t", root5.l, FR_LIMBS, t, r);
    fp four = {FP_FOUR};
    mpz_set_ui(t, 4);
    expect_form("4", four.l, FP_LIMBS, t, p);
    mpz_clears(t, e, NULL);
}

/* The published generators (draft-irtf-cfrg-pairing-friendly-curves, section 4.2.1). */
static void the_generators_are_the_published_ones(void **state)
{
    (void)state;
    static const struct {
        fp form;
        const char *hex;
    } rows[] = {
        {{G1_GENERATOR_X},
         "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83f"
         "f97a1aeffb3af00adb22c6bb"},
        {{G1_GENERATOR_Y},
         "08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744"
         "a2888ae40caa232946c5e7e1"},
        {{G2_GENERATOR_X_C0},
         "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0"
         "326a805bbefd48056c8c121bdb8"},
        {{G2_GENERATOR_X_C1},
         "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf"
         "11213945d57e5ac7d055d042b7e"},
        {{G2_GENERATOR_Y_C0},
         "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac"
         "9cc3baca289e193548608b82801"},
        {{G2_GENERATOR_Y_C1},
         "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370"
         "d275cec1da1aaa9075ff05f79be"},
    };
    mpz_t t;
    mpz_init(t);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(mpz_set_str(t, rows[i].hex, 16), 0);
        expect_form("a coordinate", rows[i].form.l, FP_LIMBS, t, p);
    }
    mpz_clear(t);
}

/* One of the edge values, or a random one, in turn. */
#define ANY(F)                                                                                     \
    static F any_##F(test_rng *g, size_t i)                                                        \
    {                                                                                              \
        size_t n;                                                                                  \
        const F *edges = test_##F##_edges(&n);                                                     \
        return i < n ? edges[i] : test_##F(g);                                                     \
    }

/* Binary operations on one pair, also with the result over an operand; then the unary ones. */
#define OPERATIONS(F, LIMBS, M)                                                                    \
    ANY(F)                                                                                         \
    static void check_##F##_pair(const F *a, const F *b)                                           \
    {                                                                                              \
        mpz_t x, y, z;                                                                             \
        mpz_inits(x, y, z, NULL);                                                                  \
        value(x, a->l, LIMBS, M);                                                                  \
        value(y, b->l, LIMBS, M);                                                                  \
        F c, over;                                                                                 \
        F##_add(&c, a, b);                                                                         \
        mpz_add(z, x, y);                                                                          \
        expect_form(#F "_add", c.l, LIMBS, z, M);                                                  \
        F##_sub(&c, a, b);                                                                         \
        mpz_sub(z, x, y);                                                                          \
        expect_form(#F "_sub", c.l, LIMBS, z, M);                                                  \
        F##_mul(&c, a, b);                                                                         \
        mpz_mul(z, x, y);                                                                          \
        expect_form(#F "_mul", c.l, LIMBS, z, M);                                                  \
        over = *a;                                                                                 \
        F##_mul(&over, &over, b);                                                                  \
        assert_true(F##_eq(&over, &c));                                                            \
        over = *b;                                                                                 \
        F##_mul(&over, a, &over);                                                                  \
        assert_true(F##_eq(&over, &c));                                                            \
        F##_mul_portable(&over, a, b);                                                             \
        assert_true(F##_eq(&over, &c));                                                            \
        assert_int_equal(F##_eq(a, b), mpz_cmp(x, y) == 0);                                        \
        mpz_clears(x, y, z, NULL);                                                                 \
    }                                                                                              \
    static void check_##F(test_rng *g, const F *a)                                                 \
    {                                                                                              \
        mpz_t x, z, e;                                                                             \
        mpz_inits(x, z, e, NULL);                                                                  \
        value(x, a->l, LIMBS, M);                                                                  \
        F c;                                                                                       \
        F##_sqr(&c, a);                                                                            \
        mpz_mul(z, x, x);                                                                          \
        expect_form(#F "_sqr", c.l, LIMBS, z, M);                                                  \
        F##_neg(&c, a);                                                                            \
        mpz_neg(z, x);                                                                             \
        expect_form(#F "_neg", c.l, LIMBS, z, M);                                                  \
        F##_dbl(&c, a);                                                                            \
        mpz_add(z, x, x);                                                                          \
        expect_form(#F "_dbl", c.l, LIMBS, z, M);                                                  \
        F##_inv(&c, a);                                                                            \
        if (mpz_sgn(x) == 0) {                                                                     \
            mpz_set_ui(z, 0);                                                                      \
        } else {                                                                                   \
            mpz_invert(z, x, M);                                                                   \
        }                                                                                          \
        expect_form(#F "_inv", c.l, LIMBS, z, M);                                                  \
        assert_int_equal(F##_is_zero(a), mpz_sgn(x) == 0);                                         \
        uint64_t k[2] = {test_u64(g), test_u64(g) >> test_below(g, 64)};                           \
        import(e, k, 2);                                                                           \
        F##_pow(&c, a, k, 2);                                                                      \
        mpz_powm(z, x, e, M);                                                                      \
        expect_form(#F "_pow", c.l, LIMBS, z, M);                                                  \
        c = F##_from_u64(k[0]);                                                                    \
        import(z, k, 1);                                                                           \
        expect_form(#F "_from_u64", c.l, LIMBS, z, M);                                             \
        mpz_clears(x, z, e, NULL);                                                                 \
    }                                                                                              \
    static void check_##F##_batch_inv(test_rng *g, size_t n)                                       \
    {                                                                                              \
        F a[200], want[200], scratch[200];                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            a[i] = test_below(g, 5) ? test_##F(g) : F##_zero;                                      \
            F##_inv(&want[i], &a[i]);                                                              \
        }                                                                                          \
        F##_batch_inv(a, n, n <= 64 ? NULL : scratch);                                             \
        for (size_t i = 0; i < n; i++) {                                                           \
            assert_true(F##_eq(&a[i], &want[i]));                                                  \
        }                                                                                          \
    }                                                                                              \
    static void F##_agrees_with_gmp(void **state)                                                  \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng g = test_rng_new(__func__);                                                       \
        size_t n;                                                                                  \
        const F *edges = test_##F##_edges(&n);                                                     \
        for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {                                \
            math_isa_limit(isa);                                                                   \
            for (size_t i = 0; i < n * n; i++) {                                                   \
                check_##F##_pair(&edges[i / n], &edges[i % n]);                                    \
            }                                                                                      \
            for (size_t i = 0; i < 3000; i++) {                                                    \
                F a = test_##F(&g), b = any_##F(&g, test_below(&g, 4 * n));                        \
                check_##F##_pair(&a, &b);                                                          \
            }                                                                                      \
            for (size_t i = 0; i < 1000; i++) {                                                    \
                F a = any_##F(&g, i);                                                              \
                check_##F(&g, &a);                                                                 \
            }                                                                                      \
            for (size_t i = 0; i <= 200; i += i < 4 ? 1 : 49) {                                    \
                check_##F##_batch_inv(&g, i);                                                      \
            }                                                                                      \
        }                                                                                          \
    }

OPERATIONS(fp, FP_LIMBS, p)
OPERATIONS(fr, FR_LIMBS, r)

static void fp2_agrees_with_gmp(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    mpz_t a0, a1, b0, b1, z, t;
    mpz_inits(a0, a1, b0, b1, z, t, NULL);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        for (size_t i = 0; i < 1500; i++) {
            fp2 a = {any_fp(&g, test_below(&g, 36)), any_fp(&g, test_below(&g, 36))};
            fp2 b = {any_fp(&g, test_below(&g, 36)), any_fp(&g, test_below(&g, 36))}, c, d;
            value(a0, a.c0.l, FP_LIMBS, p);
            value(a1, a.c1.l, FP_LIMBS, p);
            value(b0, b.c0.l, FP_LIMBS, p);
            value(b1, b.c1.l, FP_LIMBS, p);
            fp2_mul(&c, &a, &b);
            mpz_mul(z, a0, b0);
            mpz_submul(z, a1, b1);
            expect_form("fp2_mul c0", c.c0.l, FP_LIMBS, z, p);
            mpz_mul(z, a0, b1);
            mpz_addmul(z, a1, b0);
            expect_form("fp2_mul c1", c.c1.l, FP_LIMBS, z, p);
            fp2_mul(&d, &a, &a);
            fp2_sqr(&c, &a);
            assert_true(fp2_eq(&c, &d));
            d = a;
            fp2_sqr(&d, &d);
            assert_true(fp2_eq(&c, &d));
            fp2_inv(&c, &a);
            fp2_mul(&c, &c, &a);
            assert_true(fp2_eq(&c, fp2_is_zero(&a) ? &fp2_zero : &fp2_one));
            fp2_mul_fp(&c, &a, &b.c0);
            mpz_mul(z, a1, b0);
            expect_form("fp2_mul_fp", c.c1.l, FP_LIMBS, z, p);
        }
    }
    mpz_clears(a0, a1, b0, b1, z, t, NULL);
}

static void square_roots_exist_exactly_for_squares(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    mpz_t x;
    mpz_init(x);
    for (size_t i = 0; i < 300; i++) {
        fp a = any_fp(&g, i), root, t;
        value(x, a.l, FP_LIMBS, p);
        bool square = mpz_legendre(x, p) >= 0;
        assert_int_equal(fp_sqrt(&root, &a), square);
        if (square) {
            fp_sqr(&t, &root);
            assert_true(fp_eq(&t, &a));
        }
        fp2 b = {any_fp(&g, test_below(&g, 40)), any_fp(&g, test_below(&g, 40))}, root2, t2;
        fp norm; /* an element of Fp2 is a square exactly when its norm is one in Fp */
        fp_sqr(&norm, &b.c0);
        fp_sqr(&t, &b.c1);
        fp_add(&norm, &norm, &t);
        value(x, norm.l, FP_LIMBS, p);
        square = mpz_legendre(x, p) >= 0;
        assert_int_equal(fp2_sqrt(&root2, &b), square);
        if (square) {
            fp2_sqr(&t2, &root2);
            assert_true(fp2_eq(&t2, &b));
        }
    }
    mpz_clear(x);
}

static void encodings_round_trip_and_refuse_what_is_not_below_the_modulus(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    mpz_t x, half;
    mpz_inits(x, half, NULL);
    mpz_tdiv_q_2exp(half, p, 1);
    for (size_t i = 0; i < 2000; i++) {
        uint8_t bytes[48];
        test_bytes(&g, bytes, sizeof bytes);
        if (i % 2) { /* near the modulus: its own bytes, the last one changed */
            for (int k = 0; k < FP_LIMBS; k++) {
                cuzk_store_u64be(bytes + 40 - 8 * k, fp_modulus.l[k]);
            }
            bytes[47] = (uint8_t)test_u64(&g);
        } else {
            bytes[0] &= 0x1f;
        }
        mpz_import(x, 48, 1, 1, 0, 0, bytes);
        fp a = fp_one;
        bool ok = fp_from_be_bytes(&a, bytes);
        assert_int_equal(ok, mpz_cmp(x, p) < 0);
        if (ok) {
            uint8_t back[48];
            expect_form("fp_from_be_bytes", a.l, FP_LIMBS, x, p);
            fp_to_be_bytes(back, &a);
            assert_memory_equal(back, bytes, 48);
            assert_int_equal(fp_is_large(&a), mpz_cmp(x, half) > 0);
        } else {
            assert_true(fp_eq(&a, &fp_one));
        }
        test_bytes(&g, bytes, 32);
        if (i % 2) {
            for (int k = 0; k < FR_LIMBS; k++) {
                cuzk_store_u64le(bytes + 8 * k, fr_modulus.l[k]);
            }
            bytes[0] = (uint8_t)(test_u64(&g) % 3);
        }
        mpz_import(x, 32, -1, 1, 0, 0, bytes);
        fr b = fr_one;
        ok = fr_from_bytes(&b, bytes);
        assert_int_equal(ok, mpz_cmp(x, r) < 0);
        if (ok) {
            uint8_t back[32];
            expect_form("fr_from_bytes", b.l, FR_LIMBS, x, r);
            fr_to_bytes(back, &b);
            assert_memory_equal(back, bytes, 32);
        } else {
            assert_true(fr_eq(&b, &fr_one));
        }
    }
    mpz_clears(x, half, NULL);
}

static void array_operations_equal_the_single_ones(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    static const size_t sizes[] = {0, 1, 7, 8, 9, 400, 4095, 9001};
    enum { MOST = 9001 };
    fr *a = malloc(3 * MOST * sizeof *a), *out = malloc(MOST * sizeof *out);
    fr_repr *repr = malloc(MOST * sizeof *repr);
    assert_true(a && out && repr);
    fr *b = a + MOST, *c = b + MOST;
    cuzk_pool *pool;
    cuzk_err err;
    assert_int_equal(cuzk_pool_new(&pool, 3, &err), CUZK_OK);
    size_t edges;
    test_fr_edges(&edges);
    for (size_t i = 0; i < 3 * MOST; i++) { /* pairs of edges first, then anything */
        a[i] = any_fr(&g, i < edges * edges          ? i / edges
                          : i - MOST < edges * edges ? (i - MOST) % edges
                                                     : test_below(&g, 3 * edges));
    }
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t n = sizes[s];
            fr t;
            fr_vec_mul(out, a, b, n, pool);
            for (size_t i = 0; i < n; i++) {
                fr_mul_portable(&t, &a[i], &b[i]);
                assert_true(fr_eq(&out[i], &t));
            }
            memcpy(out, a, n * sizeof *a);
            fr_vec_mul_sub(out, b, c, n, pool);
            for (size_t i = 0; i < n; i++) {
                fr_mul_portable(&t, &a[i], &b[i]);
                fr_sub(&t, &t, &c[i]);
                assert_true(fr_eq(&out[i], &t));
            }
            memcpy(out, a, n * sizeof *a);
            fr_vec_sub_scale(out, c, &b[3], n, pool);
            for (size_t i = 0; i < n; i++) {
                fr_sub(&t, &a[i], &c[i]);
                fr_mul_portable(&t, &t, &b[3]);
                assert_true(fr_eq(&out[i], &t));
            }
            fr_vec_scale(out, a, &b[3], n, NULL);
            for (size_t i = 0; i < n; i++) {
                fr_mul_portable(&t, &a[i], &b[3]);
                assert_true(fr_eq(&out[i], &t));
            }
            fr_vec_to_repr(repr, a, n, pool);
            for (size_t i = 0; i < n; i++) {
                fr_repr one;
                fr_to_repr(&one, &a[i]);
                assert_memory_equal(&one, &repr[i], sizeof one);
            }
            fr_vec_from_repr(out, repr, n, pool);
            for (size_t i = 0; i < n; i++) {
                assert_true(fr_eq(&out[i], &a[i]));
            }
        }
    }
    cuzk_pool_free(pool);
    free(repr);
    free(out);
    free(a);
}

int main(void)
{
    top = math_isa_limit(MATH_ISA_IFMA);
    setup();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_constants_follow_from_the_parameter_of_the_curve),
        cmocka_unit_test(the_generators_are_the_published_ones),
        cmocka_unit_test(fp_agrees_with_gmp),
        cmocka_unit_test(fr_agrees_with_gmp),
        cmocka_unit_test(fp2_agrees_with_gmp),
        cmocka_unit_test(square_roots_exist_exactly_for_squares),
        cmocka_unit_test(encodings_round_trip_and_refuse_what_is_not_below_the_modulus),
        cmocka_unit_test(array_operations_equal_the_single_ones),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mpz_clears(p, r, radix_p, radix_r, NULL);
    return failed;
}
