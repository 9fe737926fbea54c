#include "math/msm/batch.h"
#include "math/msm/msm.h"
#include "math/msm/scalars.h"

#include <stdlib.h>

#define GROUP g1
#define FIELD fp
#include "math/msm/sums.inc.h"

#include "math/msm/fixed_impl.inc.h"
