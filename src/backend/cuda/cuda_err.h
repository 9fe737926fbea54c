#ifndef CUZK_BACKEND_CUDA_CUDA_ERR_H
#define CUZK_BACKEND_CUDA_CUDA_ERR_H

#include "cuzk/err.h"

#include <cuda_runtime_api.h>

/** Returns from the caller, with what the runtime says, unless the call succeeds. */
#define CUZK_CUDA_TRY(err, call)                                                                   \
    do {                                                                                           \
        cudaError_t cuda_status_ = (call);                                                         \
        if (cuda_status_ != cudaSuccess) {                                                         \
            return CUZK_FAIL((err),                                                                \
                             cuda_status_ == cudaErrorMemoryAllocation ? CUZK_E_MEMORY             \
                                                                       : CUZK_E_INTERNAL,          \
                             "%s: %s", #call, cudaGetErrorString(cuda_status_));                   \
        }                                                                                          \
    } while (0)

#endif
