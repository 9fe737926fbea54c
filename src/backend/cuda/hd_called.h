#ifndef CUZK_BACKEND_CUDA_HD_CALLED_H
#define CUZK_BACKEND_CUDA_HD_CALLED_H

#include "backend/cuda/dinv.h"

/*
 * Functions that stay out of their callers on the device. A product in Fp takes some 600
 * instructions of 16 bytes and the instruction cache holds about 8 000 of them.
 */
#ifdef __CUDACC__
#define CUZK_HD_CALLED static inline __host__ __device__ __noinline__
#else
#define CUZK_HD_CALLED static inline
#endif

CUZK_HD_CALLED dfp dfp_mul_called(dfp a, dfp b) { return dfp_mul(a, b); }
CUZK_HD_CALLED dfp dfp_sqr_called(dfp a) { return dfp_sqr(a); }
CUZK_HD_CALLED dfp dfp_inv_called(dfp a) { return dfp_inv(a); }

#endif
