#include "backend/cuda/poly_core.h"

CUZK_EACH(cuzk_cuda_poly_mul, cuzk_cuda_poly_mul_job, poly_mul_one, 256)
CUZK_EACH(cuzk_cuda_poly_sub_scale, cuzk_cuda_poly_sub_scale_job, poly_sub_scale_one, 256)
