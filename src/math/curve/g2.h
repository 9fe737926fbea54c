#ifndef CUZK_MATH_CURVE_G2_H
#define CUZK_MATH_CURVE_G2_H

#include "math/field/fp2.h"
#include "math/field/fr.h"

#define GROUP g2
#define FIELD fp2
#include "math/curve/group_decl.inc.h"
#undef GROUP
#undef FIELD

#endif
