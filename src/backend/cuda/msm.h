#ifndef CUZK_BACKEND_CUDA_MSM_H
#define CUZK_BACKEND_CUDA_MSM_H

#include "backend/cuda/msm_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/** Scalars as fr_repr (canonical integers) or as fr (Montgomery form). */
typedef enum msm_scalars { MSM_INTEGERS, MSM_MONTGOMERY } msm_scalars;

/**
 * Starts sum_i k[i] p[which[i]] over plan->n scalars, all in device memory, on a stream, and
 * returns at once. points: g1_affine (g2_affine), 16-byte aligned, of order r, any of them
 * infinity, equal or opposite; which: indices below 2^30, or NULL for p[i]; scalars: 32 bytes each,
 * 16-byte aligned. scratch: plan->at.total bytes of device memory, 256-byte aligned, in use until
 * the sum is there; its first plan->windows points in XYZZ coordinates are the sums of the windows,
 * for cuzk_cuda_msm_*_finish. Several sums may run at once, each on its stream with its scratch
 * memory. CUZK_E_INTERNAL when the device refuses.
 */
cuzk_code cuzk_cuda_msm_g1_start(const msm_plan *plan, const void *points, const uint32_t *which,
                                 const void *scalars, msm_scalars form, void *scratch,
                                 struct CUstream_st *stream, cuzk_err *err);
cuzk_code cuzk_cuda_msm_g2_start(const msm_plan *plan, const void *points, const uint32_t *which,
                                 const void *scalars, msm_scalars form, void *scratch,
                                 struct CUstream_st *stream, cuzk_err *err);

/** Starts the sum of the points p[i], i < plan->n, whose bit i is set: bit i % 32 of bits[i / 32],
 *  in device memory; a plan of cuzk_cuda_ones_plan. All else as above. */
cuzk_code cuzk_cuda_ones_g1_start(const msm_plan *plan, const void *points, const uint32_t *bits,
                                  void *scratch, struct CUstream_st *stream, cuzk_err *err);
cuzk_code cuzk_cuda_ones_g2_start(const msm_plan *plan, const void *points, const uint32_t *bits,
                                  void *scratch, struct CUstream_st *stream, cuzk_err *err);

/** What the current device allows: as many threads as it runs at once, 64 pairs to an inversion. */
cuzk_code cuzk_cuda_msm_g1_limits(msm_limits *ret, cuzk_err *err);
cuzk_code cuzk_cuda_msm_g2_limits(msm_limits *ret, cuzk_err *err);

#ifdef __cplusplus
}
#endif

#endif
