#include "math/msm/batch.h"
#include "math/msm/msm.h"
#include "math/msm/scalars.h"

#include <stdlib.h>

#define GROUP g2
#define FIELD fp2
#include "math/msm/sums.inc.h"

#include "math/msm/fixed_impl.inc.h"
