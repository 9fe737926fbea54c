#include "math/curve/g2.h"

#define GROUP   g2
#define FIELD   fp2
#define CURVE_B g2_b

static const fp2 g2_b = {{FP_FOUR}, {FP_FOUR}};

const g2_affine g2_generator = {{{G2_GENERATOR_X_C0}, {G2_GENERATOR_X_C1}},
                                {{G2_GENERATOR_Y_C0}, {G2_GENERATOR_Y_C1}}};

#include "math/curve/group_impl.inc.h"

bool g2_affine_in_subgroup(const g2_affine *a)
{
    g2 p;
    g2_from_affine(&p, a);
    g2_mul_limbs(&p, &p, fr_modulus.l, FR_LIMBS);
    return g2_is_inf(&p);
}
