#include "support/support.h"

#include "math/field/fp12.h"

#include <gmp.h>

/* Recomputes the constants of the tower and of the endomorphisms from the curve's parameter. */

typedef struct complex {
    mpz_t re, im;
} complex;

static mpz_t p;

static void multiply(complex *r, const complex *a, const complex *b)
{
    mpz_t re, t;
    mpz_inits(re, t, NULL);
    mpz_mul(re, a->re, b->re);
    mpz_mul(t, a->im, b->im);
    mpz_sub(re, re, t);
    mpz_mul(t, a->re, b->im);
    mpz_addmul(t, a->im, b->re);
    mpz_mod(r->re, re, p);
    mpz_mod(r->im, t, p);
    mpz_clears(re, t, NULL);
}

/* r = (1 + i)^e */
static void xi_power(complex *r, const mpz_t e)
{
    complex base;
    mpz_init_set_ui(base.re, 1);
    mpz_init_set_ui(base.im, 1);
    mpz_init_set_ui(r->re, 1);
    mpz_init_set_ui(r->im, 0);
    for (size_t i = mpz_sizeinbase(e, 2); i-- > 0;) {
        multiply(r, r, r);
        if (mpz_tstbit(e, i)) {
            multiply(r, r, &base);
        }
    }
    mpz_clears(base.re, base.im, NULL);
}

static void assert_is(const mpz_t value, const fp *constant)
{
    mpz_t montgomery, c;
    mpz_inits(montgomery, c, NULL);
    mpz_mul_2exp(montgomery, value, 384);
    mpz_mod(montgomery, montgomery, p);
    mpz_import(c, FP_LIMBS, -1, 8, 0, 0, constant->l);
    assert_int_equal(mpz_cmp(montgomery, c), 0);
    mpz_clears(montgomery, c, NULL);
}

/* p = (x - 1)^2 (x^4 - x^2 + 1) / 3 + x */
static int compute_p(void **state)
{
    (void)state;
    mpz_t x, x2, t;
    mpz_inits(p, x, x2, t, NULL);
    mpz_set_ui(x, BLS12_381_X_ABS);
    mpz_neg(x, x);
    mpz_mul(x2, x, x);
    mpz_mul(t, x2, x2);
    mpz_sub(t, t, x2);
    mpz_add_ui(t, t, 1);
    mpz_sub_ui(p, x, 1);
    mpz_mul(p, p, p);
    mpz_mul(p, p, t);
    mpz_divexact_ui(p, p, 3);
    mpz_add(p, p, x);
    mpz_import(t, FP_LIMBS, -1, 8, 0, 0, fp_modulus.l);
    assert_int_equal(mpz_cmp(p, t), 0);
    mpz_clears(x, x2, t, NULL);
    return 0;
}

static int clear_p(void **state)
{
    (void)state;
    mpz_clear(p);
    return 0;
}

static void frobenius_constants_are_powers_of_xi(void **state)
{
    (void)state;
    static const fp constants[6][2] = {
        {{FP_R}, {{0}}},
        {{FROBENIUS_1_C0}, {FROBENIUS_1_C1}},
        {{{0}}, {FP_OMEGA_SQUARED}},
        {{FROBENIUS_3_C}, {FROBENIUS_3_C}},
        {{FP_MINUS_OMEGA}, {{0}}},
        {{FROBENIUS_5_C0}, {FROBENIUS_5_C1}},
    };
    for (unsigned k = 0; k < 6; k++) {
        mpz_t e;
        complex power;
        mpz_init(e);
        mpz_sub_ui(e, p, 1);
        mpz_mul_ui(e, e, k);
        mpz_divexact_ui(e, e, 6);
        xi_power(&power, e);
        assert_is(power.re, &constants[k][0]);
        assert_is(power.im, &constants[k][1]);
        mpz_clears(e, power.re, power.im, NULL);
    }
}

static void omega_is_a_power_of_xi_and_a_primitive_cube_root_of_one(void **state)
{
    (void)state;
    static const fp omega = {FP_OMEGA}, omega2 = {FP_OMEGA_SQUARED}, minus = {FP_MINUS_OMEGA};
    mpz_t e;
    complex power;
    mpz_init(e);
    mpz_mul(e, p, p);
    mpz_sub_ui(e, e, 1);
    mpz_divexact_ui(e, e, 3);
    xi_power(&power, e);
    assert_int_equal(mpz_sgn(power.im), 0);
    assert_is(power.re, &omega);
    mpz_sub(power.im, p, power.re);
    assert_is(power.im, &minus);
    mpz_mul(power.im, power.re, power.re);
    assert_is(power.im, &omega2);
    mpz_add(power.im, power.im, power.re);
    mpz_add_ui(power.im, power.im, 1);
    assert_true(mpz_divisible_p(power.im, p));
    mpz_clears(e, power.re, power.im, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frobenius_constants_are_powers_of_xi),
        cmocka_unit_test(omega_is_a_power_of_xi_and_a_primitive_cube_root_of_one),
    };
    return cmocka_run_group_tests(tests, compute_p, clear_p);
}
