#include "math/field/fp2.h"
#include "math/field/fr_vec.h"

#include <gmp.h>
#include <stdlib.h>

/*
 * Differential: field operations on the fuzzer's bytes, portable against ADX against IFMA against
 * GMP. Eight operand pairs of Fr and one of Fp are taken from the input, reduced by clearing top
 * bits and, if still too large, subtracting the modulus once.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool ok)
{
    if (!ok) {
        abort();
    }
}

/* a b mod m / 2^(64 n) by GMP, or a^-1 2^(128 n) when b is NULL. */
static void by_gmp(uint64_t *ret, const uint64_t *a, const uint64_t *b, const uint64_t *m, int n)
{
    mpz_t x, y, mod, radix;
    mpz_inits(x, y, mod, radix, NULL);
    mpz_import(mod, (size_t)n, -1, 8, 0, 0, m);
    mpz_import(x, (size_t)n, -1, 8, 0, 0, a);
    mpz_ui_pow_ui(radix, 2, (unsigned long)(64 * n));
    if (b) {
        mpz_import(y, (size_t)n, -1, 8, 0, 0, b);
        mpz_mul(x, x, y);
        mpz_invert(radix, radix, mod);
    } else {
        if (mpz_sgn(x) != 0) {
            mpz_invert(x, x, mod);
        }
        mpz_mul(radix, radix, radix);
    }
    mpz_mul(x, x, radix);
    mpz_mod(x, x, mod);
    memset(ret, 0, (size_t)n * 8);
    mpz_export(ret, NULL, -1, 8, 0, 0, x);
    mpz_clears(x, y, mod, radix, NULL);
}

static void check_fr(const fr a[8], const fr b[8], const fr c[8])
{
    math_isa top = math_isa_limit(MATH_ISA_IFMA);
    fr want[8], inverse, sum;
    for (int i = 0; i < 8; i++) {
        by_gmp(want[i].l, a[i].l, b[i].l, fr_modulus.l, FR_LIMBS);
    }
    by_gmp(inverse.l, a[0].l, NULL, fr_modulus.l, FR_LIMBS);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        fr t, out[8];
        fr_vec_mul(out, a, b, 8, NULL);
        for (int i = 0; i < 8; i++) {
            fr_mul(&t, &a[i], &b[i]);
            need(fr_eq(&t, &want[i]) && fr_eq(&out[i], &want[i]));
        }
        memcpy(out, a, sizeof out);
        fr_vec_mul_sub(out, b, c, 8, NULL);
        for (int i = 0; i < 8; i++) {
            fr_add(&sum, &out[i], &c[i]);
            need(fr_eq(&sum, &want[i]) && fr_is_reduced(&out[i]));
        }
        fr_repr repr[8];
        fr_vec_to_repr(repr, a, 8, NULL);
        fr_vec_from_repr(out, repr, 8, NULL);
        need(memcmp(out, a, sizeof out) == 0);
        fr_inv(&t, &a[0]);
        need(fr_eq(&t, &inverse));
    }
}

static void check_fp(const fp *a, const fp *b)
{
    math_isa top = math_isa_limit(MATH_ISA_ADX);
    fp want, inverse;
    by_gmp(want.l, a->l, b->l, fp_modulus.l, FP_LIMBS);
    by_gmp(inverse.l, a->l, NULL, fp_modulus.l, FP_LIMBS);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        fp t;
        fp_mul(&t, a, b);
        need(fp_eq(&t, &want));
        fp_inv(&t, a);
        need(fp_eq(&t, &inverse));
        fp_sub(&t, a, b);
        fp_add(&t, &t, b);
        need(fp_eq(&t, a));
        fp2 x = {*a, *b}, y = {*b, *a}, xy, x2, y2;
        fp2_mul(&xy, &x, &y);
        fp2_sqr(&xy, &xy);
        fp2_sqr(&x2, &x);
        fp2_sqr(&y2, &y);
        fp2_mul(&x2, &x2, &y2);
        need(fp2_eq(&xy, &x2));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fr a[24] = {{{0}}};
    fp b[2] = {{{0}}};
    memcpy(a, data, size < sizeof a ? size : sizeof a);
    if (size > sizeof a) {
        size -= sizeof a;
        memcpy(b, data + sizeof a, size < sizeof b ? size : sizeof b);
    }
    for (int i = 0; i < 24; i++) {
        a[i].l[FR_LIMBS - 1] &= UINT64_MAX >> 1;
        mont_reduce_once(a[i].l, a[i].l, fr_modulus.l, FR_LIMBS);
    }
    for (int i = 0; i < 2; i++) {
        b[i].l[FP_LIMBS - 1] &= UINT64_MAX >> 3;
        mont_reduce_once(b[i].l, b[i].l, fp_modulus.l, FP_LIMBS);
    }
    check_fr(a, a + 8, a + 16);
    check_fp(&b[0], &b[1]);
    return 0;
}
