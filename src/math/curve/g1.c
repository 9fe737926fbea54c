#include "math/curve/g1.h"

#define GROUP   g1
#define FIELD   fp
#define CURVE_B g1_b

static const fp g1_b = {FP_FOUR};

const g1_affine g1_generator = {{G1_GENERATOR_X}, {G1_GENERATOR_Y}};

#include "math/curve/group_impl.inc.h"

/*
 * phi(x, y) = (omega x, y) satisfies phi^2 + phi + 1 = 0 on the whole curve and is -x^2 on the
 * points of order r, x the curve's parameter (Scott, eprint 2021/1130). Conversely phi(P) = -x^2 P
 * gives 0 = (phi^2 + phi + 1) P = (x^4 - x^2 + 1) P = r P.
 */
bool g1_affine_in_subgroup(const g1_affine *a)
{
    static const fp omega = {FP_OMEGA};
    static const uint64_t x_abs = BLS12_381_X_ABS;
    g1_affine image = *a;
    g1 p, phi;
    fp_mul(&image.x, &a->x, &omega);
    fp_neg(&image.y, &a->y);
    g1_from_affine(&phi, &image);
    g1_from_affine(&p, a);
    g1_mul_limbs(&p, &p, &x_abs, 1);
    g1_mul_limbs(&p, &p, &x_abs, 1);
    return g1_eq(&p, &phi);
}
