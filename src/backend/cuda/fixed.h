#ifndef CUZK_BACKEND_CUDA_FIXED_H
#define CUZK_BACKEND_CUDA_FIXED_H

#include "backend/cuda/dfr.h"
#include "backend/cuda/memory.h"

/**
 * Many multiples of a group's generator on the device: a table of all digits' multiples in each
 * window of the scalar, and room for the sums of `chunk` products. Owns both; of a stream's work,
 * as the room is used by one product after the other.
 */
typedef struct cuzk_cuda_fixed {
    const struct cuzk_cuda_fixed_group *group;
    cuzk_cuda_memory *memory;
    unsigned width, windows;
    uint64_t chunk;
    cuzk_cuda_block table, sums;
} cuzk_cuda_fixed;

/** The width, up to 16, that takes the fewest additions for the table and so many products. */
unsigned cuzk_cuda_fixed_width(uint64_t products);

/** Starts to fill the table of 96 bytes (G2: 192) for each of the ceil(255 / width) 2^width digits.
 *  CUZK_E_ARG for a width that is not 1 to 16. *ret must be cleared by the caller in any case,
 * after the stream is done. */
cuzk_code cuzk_cuda_fixed_new(cuzk_cuda_fixed *ret, bool in_g2, unsigned width, uint64_t chunk,
                              cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err);
void cuzk_cuda_fixed_clear(cuzk_cuda_fixed *f);

/** Starts ret[i] = k[i] G for i < n <= chunk: k integers below r in device memory, ret affine
 *  points there, canonical, infinity for 0. */
cuzk_code cuzk_cuda_fixed_mul(const cuzk_cuda_fixed *f, void *ret, const dfr *k, uint64_t n,
                              cuzk_cuda_stream stream, cuzk_err *err);

#endif
