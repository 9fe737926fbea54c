#ifndef CUZK_BACKEND_CUDA_POLY_H
#define CUZK_BACKEND_CUDA_POLY_H

#include "backend/cuda/dfr.h"
#include "backend/cuda/each.h"

/* Pointwise steps on vectors of canonical elements; the results are canonical. Memory bounds them:
 * 96 bytes an element. */

/** a[i] *= b[i]. */
typedef struct cuzk_cuda_poly_mul_job {
    dfr *a;
    const dfr *b;
} cuzk_cuda_poly_mul_job;

CUZK_EACH_DECLARE(cuzk_cuda_poly_mul, cuzk_cuda_poly_mul_job);

/** a[i] = (a[i] - c[i]) k, k canonical. */
typedef struct cuzk_cuda_poly_sub_scale_job {
    dfr *a;
    const dfr *c;
    dfr k;
} cuzk_cuda_poly_sub_scale_job;

CUZK_EACH_DECLARE(cuzk_cuda_poly_sub_scale, cuzk_cuda_poly_sub_scale_job);

#endif
