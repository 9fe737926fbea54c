#ifndef CUZK_BACKEND_CUDA_MSM_FINISH_H
#define CUZK_BACKEND_CUDA_MSM_FINISH_H

#include "backend/cuda/msm_plan.h"
#include "math/curve/g1.h"
#include "math/curve/g2.h"

/** A point as the device leaves it: x / zz, y / zzz with zz^3 = zzz^2; infinity has zz = 0. */
typedef struct msm_g1_sum {
    fp x, y, zz, zzz;
} msm_g1_sum;

typedef struct msm_g2_sum {
    fp2 x, y, zz, zzz;
} msm_g2_sum;

/** The sum from those of its windows, plan->windows of them, on the host: some 130 doublings on G1,
 *  66 on G2, and an addition for each window. */
g1 cuzk_cuda_msm_g1_finish(const msm_plan *plan, const msm_g1_sum *sums);
g2 cuzk_cuda_msm_g2_finish(const msm_plan *plan, const msm_g2_sum *sums);

#endif
