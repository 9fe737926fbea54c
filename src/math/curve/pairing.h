#ifndef CUZK_MATH_CURVE_PAIRING_H
#define CUZK_MATH_CURVE_PAIRING_H

#include "math/curve/g1.h"
#include "math/curve/g2.h"
#include "math/field/fp12.h"

/*
 * The optimal ate pairing of BLS12-381 (Vercauteren, eprint 2008/096: the Miller loop runs over the
 * bits of the curve's parameter), in the representation of the target group of fp12.h. The final
 * exponentiation is 3 (p^12 - 1) / r, as in blst: a value is the cube of the one that libraries
 * with the exact exponent give.
 */

/** Lines of a Miller loop: one for each bit of |x| under the top one, one more for each that is
 * set. */
enum { PAIRING_LINES = 68 };

/** A line l0 + l2 x_P w^2 + y_P w^3 through multiples of a point of G2, P = (x_P, y_P) in G1. */
typedef struct pairing_line {
    fp2 l0, l2;
} pairing_line;

/** A point of G2 with its lines, for a point that meets many points of G1. 13 KB. */
typedef struct g2_prepared {
    bool is_inf;
    pairing_line line[PAIRING_LINES];
} g2_prepared;

/** q: of order r, or infinity. One inversion. */
void g2_prepare(g2_prepared *ret, const g2_affine *q);

/** One factor e(p, q) of a product: q or prepared, the other is NULL. Borrows all. The points are
 *  of order r or infinity, which makes the factor one. */
typedef struct pairing_term {
    const g1_affine *p;
    const g2_affine *q;
    const g2_prepared *prepared;
} pairing_term;

/** ret = the product of n Miller loops, which share their squarings. */
void pairing_miller(fp12 *ret, const pairing_term *terms, size_t n);

/** ret = a^(3 (p^12 - 1) / r), for a that is not 0. */
void pairing_final_exp(fp12 *ret, const fp12 *a);

/** ret = e(p, q). */
void pairing(fp12 *ret, const g1_affine *p, const g2_affine *q);

/** True when the product of n pairings is one: n Miller loops, one final exponentiation. */
bool pairing_product_is_one(const pairing_term *terms, size_t n);

#endif
