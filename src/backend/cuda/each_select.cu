#include "backend/cuda/select_core.h"

CUZK_EACH(cuzk_cuda_select_bits_each, cuzk_cuda_select_bits_job, select_bits_one, 256)
CUZK_EACH(cuzk_cuda_select_full_each, cuzk_cuda_select_full_job, select_full_one, 256)
