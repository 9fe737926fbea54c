#include "backend/cuda/points_core.h"

CUZK_EACH(cuzk_cuda_points_g1, points_job, points_g1, 128)
CUZK_EACH(cuzk_cuda_points_g2, points_job, points_g2, 128)
