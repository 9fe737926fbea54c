#ifndef CUZK_BACKEND_CUDA_POLY_CORE_H
#define CUZK_BACKEND_CUDA_POLY_CORE_H

#include "backend/cuda/dfr_io.h"
#include "backend/cuda/poly.h"

CUZK_HD void poly_mul_one(const cuzk_cuda_poly_mul_job *j, uint64_t i)
{
    dfr_store(j->a + i, dfr_mul_canonical(dfr_load(j->a + i), dfr_load(j->b + i)));
}

CUZK_HD void poly_sub_scale_one(const cuzk_cuda_poly_sub_scale_job *j, uint64_t i)
{
    dfr difference = dfr_sub(dfr_load(j->a + i), dfr_load(j->c + i));
    dfr_store(j->a + i, dfr_mul_canonical(j->k, difference));
}

#endif
