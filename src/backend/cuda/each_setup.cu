#include "backend/cuda/fixed_core.h"
#include "backend/cuda/setup_core.h"

CUZK_EACH(cuzk_cuda_setup_basis, cuzk_cuda_setup_basis_job, setup_basis_one, 128)
CUZK_EACH(cuzk_cuda_setup_own, cuzk_cuda_setup_own_job, setup_own_one, 256)
CUZK_EACH(cuzk_cuda_setup_uses, cuzk_cuda_setup_uses_job, setup_uses_one, 128)
CUZK_EACH(cuzk_cuda_setup_fold, cuzk_cuda_setup_fold_job, setup_fold_one, 256)
CUZK_EACH(cuzk_cuda_setup_collect, cuzk_cuda_setup_collect_job, setup_collect_one, 256)
CUZK_EACH(cuzk_cuda_setup_add, cuzk_cuda_setup_add_job, setup_add_one, 256)
CUZK_EACH(cuzk_cuda_setup_combine, cuzk_cuda_setup_combine_job, setup_combine_one, 256)
CUZK_EACH(cuzk_cuda_setup_pick, cuzk_cuda_setup_pick_job, setup_pick_one, 256)
CUZK_EACH(cuzk_cuda_setup_h, cuzk_cuda_setup_h_job, setup_h_one, 128)
CUZK_EACH(cuzk_cuda_setup_encode, cuzk_cuda_setup_encode_job, setup_encode_one, 256)

CUZK_EACH(cuzk_cuda_fixed_g1_fill, cuzk_cuda_fixed_fill_job, fixed_dg1_fill_one, 128)
CUZK_EACH(cuzk_cuda_fixed_g1_sum, cuzk_cuda_fixed_sum_job, fixed_dg1_sum_one, 128)
CUZK_EACH(cuzk_cuda_fixed_g1_affine, cuzk_cuda_fixed_affine_job, fixed_dg1_affine_one, 128)
CUZK_EACH(cuzk_cuda_fixed_g2_fill, cuzk_cuda_fixed_fill_job, fixed_dg2_fill_one, 128)
CUZK_EACH(cuzk_cuda_fixed_g2_sum, cuzk_cuda_fixed_sum_job, fixed_dg2_sum_one, 128)
CUZK_EACH(cuzk_cuda_fixed_g2_affine, cuzk_cuda_fixed_affine_job, fixed_dg2_affine_one, 128)
