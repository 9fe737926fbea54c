#include "backend/cuda/msm.h"

#include "backend/cuda/cuda_err.h"
#include "backend/cuda/dfr.h"
#include "backend/cuda/dg1.h"
#include "backend/cuda/msm_digits.h"
#include "backend/cuda/msm_tree.h"
#include "backend/cuda/sort.h"

#include <cuda_pipeline.h>
#include <string.h>

#define GROUP dg1
#define FIELD dfp
#define PARTS 2
#define SPLIT msm_split_2
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 4
#endif

#include "backend/cuda/msm_run.inc.cuh"

extern "C" cuzk_code cuzk_cuda_msm_g1_limits(msm_limits *ret, cuzk_err *err)
{
    return device_limits(ret, err);
}

extern "C" cuzk_code cuzk_cuda_msm_g1_start(const msm_plan *plan, const void *points,
                                            const uint32_t *which, const void *scalars,
                                            msm_scalars form, void *scratch,
                                            struct CUstream_st *stream, cuzk_err *err)
{
    return sum_start(plan, points, which, scalars, form, scratch, stream, err);
}

extern "C" cuzk_code cuzk_cuda_ones_g1_start(const msm_plan *plan, const void *points,
                                             const uint32_t *bits, void *scratch,
                                             struct CUstream_st *stream, cuzk_err *err)
{
    return ones_start(plan, points, bits, scratch, stream, err);
}
