#ifndef CUZK_BACKEND_CUDA_EACH_H
#define CUZK_BACKEND_CUDA_EACH_H

#include "backend/cuda/hd.h"
#include "cuzk/err.h"

/*
 * Kernels whose threads do not share memory: a function of a job and a number, called once for each
 * number below n, in any order, at the same time. A file FAMILY.cu consists of such functions (in
 * FAMILY_core.h) and a CUZK_EACH for each; nvcc makes kernels and their launches of it, a C
 * compiler loops, which is how the backend runs in tests on machines without a card.
 */

struct CUstream_st;
typedef struct CUstream_st *cuzk_cuda_stream;

#ifdef __cplusplus
#define CUZK_CUDA_C extern "C"
#else
#define CUZK_CUDA_C
#endif

/** Starts one(job, i) for all i < n on a stream (NULL: the default one). The job is copied; what it
 *  points to is device memory. CUZK_E_INTERNAL when the device refuses. */
#define CUZK_EACH_DECLARE(name, job_type)                                                          \
    CUZK_CUDA_C cuzk_code name(const job_type *job, uint64_t n, cuzk_cuda_stream stream,           \
                               cuzk_err *err)

#ifdef __CUDACC__

#include "backend/cuda/cuda_err.h"

#define CUZK_EACH(name, job_type, one, block)                                                      \
    static __global__ void __launch_bounds__(block)                                                \
        one##_kernel(const __grid_constant__ job_type job, uint64_t n)                             \
    {                                                                                              \
        uint64_t i = (uint64_t)blockIdx.x * (block) + threadIdx.x;                                 \
        if (i < n) {                                                                               \
            one(&job, i);                                                                          \
        }                                                                                          \
    }                                                                                              \
    CUZK_EACH_DECLARE(name, job_type)                                                              \
    {                                                                                              \
        uint64_t blocks = (n + (block)-1) / (block);                                               \
        if (blocks > 0x7fffffff) {                                                                 \
            return CUZK_FAIL(err, CUZK_E_ARG, #name ": %llu threads are too many",                 \
                             (unsigned long long)n);                                               \
        }                                                                                          \
        if (n > 0) {                                                                               \
            one##_kernel<<<(unsigned)blocks, block, 0, stream>>>(*job, n);                         \
            CUZK_CUDA_TRY(err, cudaGetLastError());                                                \
        }                                                                                          \
        return CUZK_OK;                                                                            \
    }

#else

/** Around what the device does: only there its memory can be read and written. */
void cuzk_cuda_twin_enter(void);
void cuzk_cuda_twin_leave(void);

#define CUZK_EACH(name, job_type, one, block)                                                      \
    CUZK_EACH_DECLARE(name, job_type)                                                              \
    {                                                                                              \
        (void)stream;                                                                              \
        (void)err;                                                                                 \
        cuzk_cuda_twin_enter();                                                                    \
        for (uint64_t i = 0; i < n; i++) {                                                         \
            one(job, i);                                                                           \
        }                                                                                          \
        cuzk_cuda_twin_leave();                                                                    \
        return CUZK_OK;                                                                            \
    }

#endif

#endif
