#include "backend/cuda/eval_core.h"

CUZK_EACH(cuzk_cuda_eval_rows, cuzk_cuda_eval_job, eval_row_one, 128)
CUZK_EACH(cuzk_cuda_eval_products, cuzk_cuda_eval_job, eval_product_one, 128)
CUZK_EACH(cuzk_cuda_eval_tail, cuzk_cuda_eval_tail_job, eval_tail_one, 256)
