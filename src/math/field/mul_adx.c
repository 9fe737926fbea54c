#include "math/field/fp.h"
#include "math/field/fr.h"

/* Compiled with BMI2 and ADX, so that the compiler may use MULX. */

void fp_mul_adx(fp *r, const fp *a, const fp *b)
{
    mont_mul(r->l, a->l, b->l, fp_modulus.l, FP_INV, FP_LIMBS);
}

void fr_mul_adx(fr *r, const fr *a, const fr *b)
{
    mont_mul(r->l, a->l, b->l, fr_modulus.l, FR_INV, FR_LIMBS);
}
