#include "known.h"

#include "backend/cuda/dfr.h"
#include "backend/cuda/dg1.h"
#include "backend/cuda/dg2.h"

#define COMMA ,

static __device__ uint64_t hash(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static __device__ uint64_t log_of_point(uint32_t i) { return hash(0x1234567890u + i); }

#define POINTS(D, REDUCE)                                                                          \
    static __global__ void D##_points(D##_affine *points, const D##_affine *table, uint32_t n)     \
    {                                                                                              \
        uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;                                        \
        if (i >= n) {                                                                              \
            return;                                                                                \
        }                                                                                          \
        uint64_t h = log_of_point(i);                                                              \
        D sum = D##_inf();                                                                         \
        for (int j = 0; j < 8; j++) {                                                              \
            D##_affine p = table[256 * j + (h >> (8 * j) & 255)];                                  \
            sum = D##_add_affine(&sum, &p);                                                        \
        }                                                                                          \
        D##_affine a = D##_to_affine(&sum);                                                        \
        points[i].x = REDUCE(a.x);                                                                 \
        points[i].y = REDUCE(a.y);                                                                 \
    }

POINTS(dg1, dfp_reduce)
POINTS(dg2, dfp2_reduce)

static __global__ void draw(uint64_t *scalars, uint32_t n, int kind, uint64_t seed)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    uint64_t k[4];
    for (int j = 0; j < 4; j++) {
        uint64_t at = kind == KNOWN_SKEWED && i % 8 ? 0 : 4 * (uint64_t)i;
        k[j] = hash(hash(seed) + at + j);
    }
    k[3] >>= 2;
    if (kind == KNOWN_BITS || kind == KNOWN_SMALL) {
        k[0] &= kind == KNOWN_BITS ? 1 : 0xffff;
        k[1] = k[2] = k[3] = 0;
    }
    for (int j = 0; j < 4; j++) {
        scalars[4 * (uint64_t)i + j] = k[j];
    }
}

static __global__ void convert(dfr *scalars, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        scalars[i] = dfr_from_integer(scalars[i]);
    }
}

/* Each thread's sum of scalars[i] h(i) / R, i = id mod threads. */
static __global__ void sum_logs(dfr *sums, const dfr *scalars, uint32_t n)
{
    uint32_t threads = gridDim.x * blockDim.x, id = blockIdx.x * blockDim.x + threadIdx.x;
    dfr sum = dfr_zero();
    for (uint32_t i = id; i < n; i += threads) {
        uint64_t h = log_of_point(i);
        dfr log = dfr_zero();
        log.l[0] = (uint32_t)h;
        log.l[1] = (uint32_t)(h >> 32);
        sum = dfr_add_canonical(sum, dfr_mul_canonical(log, scalars[i]));
    }
    sums[id] = sum;
}

static __global__ void sum_sums(dfr *sums, uint32_t n)
{
    dfr sum = dfr_zero();
    for (uint32_t i = 0; i < n; i++) {
        sum = dfr_add_canonical(sum, sums[i]);
    }
    sums[0] = dfr_from_integer(sum);
}

/* One thread for each j. */
#define TABLE(D, CONSTANTS)                                                                        \
    static __global__ void D##_table(D##_affine *table)                                            \
    {                                                                                              \
        const uint64_t limbs[][FP_LIMBS] = {CONSTANTS};                                            \
        D##_affine g;                                                                              \
        for (unsigned i = 0; i < sizeof g / 4; i++) {                                              \
            ((uint32_t *)&g)[i] = limb_of(limbs[0], (int)i);                                       \
        }                                                                                          \
        D base = D##_from_affine(&g), sum = D##_inf();                                             \
        for (unsigned i = 0; i < 8 * threadIdx.x; i++) {                                           \
            base = D##_dbl(&base);                                                                 \
        }                                                                                          \
        for (unsigned v = 0; v < 256; v++) {                                                       \
            table[256 * threadIdx.x + v] = D##_to_affine(&sum);                                    \
            sum = D##_add(&sum, &base);                                                            \
        }                                                                                          \
    }

TABLE(dg1, G1_GENERATOR_X COMMA G1_GENERATOR_Y)
TABLE(dg2,
      G2_GENERATOR_X_C0 COMMA G2_GENERATOR_X_C1 COMMA G2_GENERATOR_Y_C0 COMMA G2_GENERATOR_Y_C1)

extern "C" cudaError_t known_table(int group, void *table)
{
    if (group == 1) {
        dg1_table<<<1, 8>>>((dg1_affine *)table);
    } else {
        dg2_table<<<1, 8>>>((dg2_affine *)table);
    }
    return cudaGetLastError();
}

static unsigned blocks(uint32_t n) { return (n + 255) / 256; }

extern "C" cudaError_t known_points(int group, void *points, const void *table, uint32_t n)
{
    if (group == 1) {
        dg1_points<<<blocks(n), 256>>>((dg1_affine *)points, (const dg1_affine *)table, n);
    } else {
        dg2_points<<<blocks(n), 256>>>((dg2_affine *)points, (const dg2_affine *)table, n);
    }
    return cudaGetLastError();
}

extern "C" cudaError_t known_scalars(void *scalars, uint32_t n, enum known_kind kind, uint64_t seed)
{
    draw<<<blocks(n), 256>>>((uint64_t *)scalars, n, kind, seed);
    return cudaGetLastError();
}

extern "C" cudaError_t known_to_montgomery(void *scalars, uint32_t n)
{
    convert<<<blocks(n), 256>>>((dfr *)scalars, n);
    return cudaGetLastError();
}

extern "C" cudaError_t known_log(uint64_t *ret, const void *scalars, uint32_t n)
{
    const uint32_t threads = 8192;
    dfr *sums;
    cudaError_t e = cudaMalloc(&sums, threads * sizeof *sums);
    if (e == cudaSuccess) {
        sum_logs<<<threads / 256, 256>>>(sums, (const dfr *)scalars, n);
        sum_sums<<<1, 1>>>(sums, threads);
        e = cudaMemcpy(ret, sums, sizeof *sums, cudaMemcpyDeviceToHost);
        cudaFree(sums);
    }
    return e;
}
