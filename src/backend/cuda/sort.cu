#include "backend/cuda/sort.h"

#include <cub/device/device_radix_sort.cuh>

extern "C" cuzk_code cuzk_cuda_sort_pairs(int *ret_where, uint32_t *keys[2], uint32_t *values[2],
                                          uint32_t n, unsigned bits, void *temp, uint64_t bytes,
                                          struct CUstream_st *stream, cuzk_err *err)
{
    cub::DoubleBuffer<uint32_t> k(keys[0], keys[1]), v(values[0], values[1]);
    size_t need = 0;
    cudaError_t e = cub::DeviceRadixSort::SortPairs(NULL, need, k, v, n, 0, (int)bits, stream);
    if (e == cudaSuccess && need > bytes) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "sorting %u pairs takes %zu bytes: %llu are there",
                         n, need, (unsigned long long)bytes);
    }
    if (e == cudaSuccess) {
        need = bytes;
        e = cub::DeviceRadixSort::SortPairs(temp, need, k, v, n, 0, (int)bits, stream);
    }
    if (e != cudaSuccess) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "sorting %u pairs: %s", n, cudaGetErrorString(e));
    }
    *ret_where = k.selector;
    if (v.selector != k.selector) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "keys and values were sorted apart");
    }
    return CUZK_OK;
}
