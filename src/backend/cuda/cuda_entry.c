#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/gpu.h"

/* The one symbol that the shared object exports. */
__attribute__((visibility("default"))) const cuzk_cuda_entry cuzk_cuda_library = {
    .abi = CUZK_CUDA_ABI,
    .version = CUZK_VERSION,
    .count = cuzk_cuda_count,
    .open = cuzk_backend_cuda_open,
    .setup = cuzk_cuda_setup_file,
};
