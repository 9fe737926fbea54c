#ifndef TESTS_BACKEND_CUDA_KNOWN_H
#define TESTS_BACKEND_CUDA_KNOWN_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Points with known discrete logarithms and scalars, made on the device: point i is h(i) G, h(i) 64
 * hashed bits, so that a sum of multiples is (sum k[i] h(i)) G. Every function returns what the
 * runtime says, a cudaError_t.
 */

enum { KNOWN_TABLE = 8 * 256 };

/** table[256 j + v] = v 256^j G, affine, KNOWN_TABLE points of group 1 or 2 in device memory. */
cudaError_t known_table(int group, void *table);

/** Point i of n, affine, of group 1 or 2, with that group's table. */
cudaError_t known_points(int group, void *points, const void *table, uint32_t n);

/** How scalars are drawn: */
enum known_kind {
    KNOWN_UNIFORM, /* below 2^254 */
    KNOWN_BITS,    /* 0 or 1 */
    KNOWN_SKEWED,  /* one value for seven of eight, the others uniform */
    KNOWN_SMALL,   /* below 2^16 */
};

/** n canonical integers, 32 bytes each. */
cudaError_t known_scalars(void *scalars, uint32_t n, enum known_kind kind, uint64_t seed);

/** Scalars in Montgomery form, in place. */
cudaError_t known_to_montgomery(void *scalars, uint32_t n);

/** ret[4]: sum scalars[i] h(i) mod r, canonical. */
cudaError_t known_log(uint64_t *ret, const void *scalars, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
