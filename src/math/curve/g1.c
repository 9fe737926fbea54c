#include "math/curve/g1.h"

#define GROUP   g1
#define FIELD   fp
#define CURVE_B g1_b

static const fp g1_b = {FP_FOUR};

const g1_affine g1_generator = {{G1_GENERATOR_X}, {G1_GENERATOR_Y}};

#include "math/curve/group_impl.inc.h"

bool g1_affine_in_subgroup(const g1_affine *a)
{
    g1 p;
    g1_from_affine(&p, a);
    g1_mul_limbs(&p, &p, fr_modulus.l, FR_LIMBS);
    return g1_is_inf(&p);
}
