#include "math/curve/g2.h"

#define GROUP   g2
#define FIELD   fp2
#define CURVE_B g2_b

static const fp2 g2_b = {{FP_FOUR}, {FP_FOUR}};

const g2_affine g2_generator = {{{G2_GENERATOR_X_C0}, {G2_GENERATOR_X_C1}},
                                {{G2_GENERATOR_Y_C0}, {G2_GENERATOR_Y_C1}}};

#include "math/curve/group_impl.inc.h"

/*
 * psi is the Frobenius map of the curve over Fp, carried to this twist: (x, y) goes to
 * (x^p / xi^((p - 1) / 3), y^p / xi^((p - 1) / 2)), xi = 1 + i. The divisors are omega^2 i and
 * c (1 + i) with c^2 = -1/2.
 */
static void psi(g2_affine *r, const g2_affine *a)
{
    static const fp minus_omega = {FP_MINUS_OMEGA};
    static const fp c = {FROBENIUS_3_C};
    fp t;
    fp_mul(&t, &a->x.c0, &minus_omega);
    fp_mul(&r->x.c0, &a->x.c1, &minus_omega);
    r->x.c1 = t; /* -omega i (c0 - c1 i) */
    fp_sub(&t, &a->y.c1, &a->y.c0);
    fp_add(&r->y.c1, &a->y.c0, &a->y.c1);
    fp_mul(&r->y.c0, &t, &c);
    fp_mul(&r->y.c1, &r->y.c1, &c); /* -c (1 - i) (c0 - c1 i) */
}

/*
 * psi(P) = x P, x the curve's parameter (Scott, eprint 2021/1130). As psi^2 - (x + 1) psi + p = 0,
 * it gives (p - x) P = h1 r P = 0, h1 = (x - 1)^2 / 3, and h1 is coprime to the cofactor of this
 * curve.
 */
bool g2_affine_in_subgroup(const g2_affine *a)
{
    static const uint64_t x_abs = BLS12_381_X_ABS;
    g2_affine image;
    g2 p, q;
    psi(&image, a);
    g2_from_affine(&q, &image);
    g2_from_affine(&p, a);
    g2_mul_limbs(&p, &p, &x_abs, 1);
    g2_neg(&p, &p);
    return g2_eq(&p, &q);
}
