#include "backend/cuda/msm.h"

#include "backend/cuda/cuda_err.h"
#include "backend/cuda/dfr.h"
#include "backend/cuda/dg2.h"
#include "backend/cuda/msm_digits.h"
#include "backend/cuda/msm_tree.h"
#include "backend/cuda/sort.h"

#include <cuda_pipeline.h>
#include <string.h>

#define GROUP dg2
#define FIELD dfp2
#define PARTS 4
#define SPLIT msm_split_4
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 2
#endif

#include "backend/cuda/msm_run.inc.cuh"

extern "C" cuzk_code cuzk_cuda_msm_g2_limits(msm_limits *ret, cuzk_err *err)
{
    return device_limits(ret, err);
}

extern "C" cuzk_code cuzk_cuda_msm_g2_start(const msm_plan *plan, const void *points,
                                            const uint32_t *which, const void *scalars,
                                            msm_scalars form, void *scratch,
                                            struct CUstream_st *stream, cuzk_err *err)
{
    return sum_start(plan, points, which, scalars, form, scratch, stream, err);
}

extern "C" cuzk_code cuzk_cuda_ones_g2_start(const msm_plan *plan, const void *points,
                                             const uint32_t *bits, void *scratch,
                                             struct CUstream_st *stream, cuzk_err *err)
{
    return ones_start(plan, points, bits, scratch, stream, err);
}
