#include "backend/cuda/each_expand.h"
#include "backend/cuda/expand_core.h"
#include "backend/cuda/expand_poseidon_core.h"

CUZK_EACH(cuzk_cuda_expand_copy, cuzk_cuda_copy_job, expand_copy, 256)
CUZK_EACH(cuzk_cuda_expand_words, cuzk_cuda_words_job, expand_words, 256)
CUZK_EACH(cuzk_cuda_expand_sha256, cuzk_cuda_sha256_job, expand_sha256, 32)
CUZK_EACH(cuzk_cuda_expand_hash2, cuzk_cuda_hash_job, expand_hash2, 128)
CUZK_EACH(cuzk_cuda_expand_hash4, cuzk_cuda_hash_job, expand_hash4, 128)
CUZK_EACH(cuzk_cuda_expand_hash8, cuzk_cuda_hash_job, expand_hash8, 128)
CUZK_EACH(cuzk_cuda_expand_hash11, cuzk_cuda_hash_job, expand_hash11, 128)
