#ifndef CUZK_BACKEND_CUDA_SORT_H
#define CUZK_BACKEND_CUDA_SORT_H

#include "cuzk/err.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/**
 * Sorts n pairs by the low `bits` bits of their keys, stably, on a stream. keys[i] and values[i]
 * are two pairs of device arrays; the pairs are in number 0 and end up in number *ret_where. temp:
 * device memory of `bytes` bytes; CUZK_E_INTERNAL when it is too small or a launch fails.
 */
cuzk_code cuzk_cuda_sort_pairs(int *ret_where, uint32_t *keys[2], uint32_t *values[2], uint32_t n,
                               unsigned bits, void *temp, uint64_t bytes,
                               struct CUstream_st *stream, cuzk_err *err);

#ifdef __cplusplus
}
#endif

#endif
