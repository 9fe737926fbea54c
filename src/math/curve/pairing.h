#ifndef CUZK_MATH_CURVE_PAIRING_H
#define CUZK_MATH_CURVE_PAIRING_H

#include "cuzk/err.h"
#include "math/curve/g1.h"
#include "math/curve/g2.h"
#include "math/field/fp12.h"

/**
 * The optimal ate pairing of BLS12-381, in the target group's representation Fp12 = Fp2[v, w] of
 * fp12.h, raised to a fixed multiple of the exponent (coprime to r) that makes the final
 * exponentiation cheap: values compare equal among themselves, not with other libraries' values.
 */

/** A point of G2 with the line coefficients of its Miller loop, for a point that is used often. */
typedef struct g2_prepared g2_prepared;

/** Owns nothing but itself. CUZK_E_MEMORY only. */
cuzk_code g2_prepare(g2_prepared **ret, const g2_affine *q, cuzk_err *err);
void g2_prepared_free(g2_prepared *q);

/** ret = the product of the Miller loops of (p[i], q[i]); pairs with infinity contribute one. */
void pairing_miller(fp12 *ret, const g1_affine *p, const g2_affine *q, size_t n);

/** ret *= the Miller loop of (p, q). */
void pairing_miller_prepared(fp12 *ret, const g1_affine *p, const g2_prepared *q);

/** ret = a^((p^12 - 1) / r * k), k fixed and coprime to r. */
void pairing_final_exp(fp12 *ret, const fp12 *a);

/** True when the product of the pairings e(p[i], q[i]) is one: n Miller loops, one final
 *  exponentiation. */
bool pairing_product_is_one(const g1_affine *p, const g2_affine *q, size_t n);

#endif
