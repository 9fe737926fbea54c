#ifndef CUZK_MATH_CURVE_G1_H
#define CUZK_MATH_CURVE_G1_H

#include "math/field/fp.h"
#include "math/field/fr.h"

#define GROUP g1
#define FIELD fp
#include "math/curve/group_decl.inc.h"
#undef GROUP
#undef FIELD

#endif
