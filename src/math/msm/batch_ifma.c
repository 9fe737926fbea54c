#include "math/msm/batch.h"
