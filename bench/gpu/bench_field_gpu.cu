/* Rates of the field functions on the whole card: chains of dependent operations, two a thread. */
#include "benches.h"

#include "backend/cuda/dinv.h"

enum { THREADS = 256, BLOCKS = 132 * 12, LENGTH = 512, CHAINS = 2 };

enum op { OP_MUL, OP_SQR, OP_DOT2, OP_INV, OP_FR_MUL, OP_FR_SHOUP, OP_FR_ADD, OP_FR_SUB };

template <op OP> static __device__ dfp step(dfp x, dfp a)
{
    return OP == OP_MUL   ? dfp_mul(x, a)
           : OP == OP_SQR ? dfp_sqr(x)
           : OP == OP_INV ? dfp_inv(x)
                          : dfp_dot2(x, a, a, x);
}

template <op OP> static __global__ void __launch_bounds__(THREADS) fp_chain(dfp *a, int length)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    dfp x = a[2 * i], y = a[2 * i + 1], z = x;
#pragma unroll 1
    for (int k = 0; k < length; k++) {
        x = step<OP>(x, z);
        y = step<OP>(y, z);
    }
    a[2 * i] = x;
    a[2 * i + 1] = y;
}

template <op OP> static __device__ dfr step(dfr x, const dfr_shoup &w)
{
    return OP == OP_FR_MUL     ? dfr_mul(w.w, x)
           : OP == OP_FR_SHOUP ? dfr_shoup_mul(x, w.w, w.q)
           : OP == OP_FR_ADD   ? dfr_add(x, w.w)
                               : dfr_sub(x, w.w);
}

template <op OP>
static __global__ void __launch_bounds__(THREADS)
    fr_chain(dfr *a, int length, const dfr_shoup *factor)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    dfr x = a[2 * i], y = a[2 * i + 1];
    dfr_shoup w = *factor;
#pragma unroll 1
    for (int k = 0; k < length; k++) {
        x = step<OP>(x, w);
        y = step<OP>(y, w);
    }
    a[2 * i] = x;
    a[2 * i + 1] = y;
}

typedef struct field_bench {
    void (*fp)(dfp *a, int length);
    void (*fr)(dfr *a, int length, const dfr_shoup *factor);
    int length;
    void *a;
    const dfr_shoup *factor;
} field_bench;

static void run(void *ctx)
{
    field_bench *b = (field_bench *)ctx;
    if (b->fp) {
        b->fp<<<BLOCKS, THREADS>>>((dfp *)b->a, b->length);
    } else {
        b->fr<<<BLOCKS, THREADS>>>((dfr *)b->a, b->length, b->factor);
    }
}

extern "C" bool bench_field(void)
{
    const size_t bytes = (size_t)BLOCKS * THREADS * CHAINS * sizeof(dfp);
    void *a;
    if (cudaMalloc(&a, bytes + sizeof(dfr_shoup)) != cudaSuccess) {
        return false;
    }
    /* G/s at the rate of the multiplier's pipe, or as the fastest known codes have it. */
    const struct {
        const char *name;
        double limit;
        field_bench what;
    } rows[] = {
        {"Fp a b", 27.9, {fp_chain<OP_MUL>, NULL, LENGTH, a, NULL}},
        {"Fp a^2", 36.0, {fp_chain<OP_SQR>, NULL, LENGTH, a, NULL}},
        {"Fp a b + c d", 18.6, {fp_chain<OP_DOT2>, NULL, LENGTH, a, NULL}},
        {"Fp 1 / a", 0.875, {fp_chain<OP_INV>, NULL, LENGTH / 64, a, NULL}},
        {"Fr a b", 72.0, {NULL, fr_chain<OP_FR_MUL>, LENGTH, a, NULL}},
        {"Fr a b, b fixed", 89.0, {NULL, fr_chain<OP_FR_SHOUP>, LENGTH, a, NULL}},
        {"Fr a + b", 603.0, {NULL, fr_chain<OP_FR_ADD>, LENGTH, a, NULL}},
        {"Fr a - b", 645.0, {NULL, fr_chain<OP_FR_SUB>, LENGTH, a, NULL}},
    };
    bool ok = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && ok; i++) {
        cudaMemset(a, 0x11, bytes); /* numbers below the modulus, no edges */
        dfr_shoup factor = dfr_shoup_of(dfr_const_r2());
        field_bench b = rows[i].what;
        b.factor = (const dfr_shoup *)((char *)a + bytes);
        cudaMemcpy((char *)a + bytes, &factor, sizeof factor, cudaMemcpyHostToDevice);
        double ms = bench_time(run, &b, 5);
        double scale = 1073741824.0 / ((double)BLOCKS * THREADS * CHAINS * b.length);
        bench_row(rows[i].name, "2^30", ms * scale, 1073.741824 / rows[i].limit);
        ok = ms >= 0;
    }
    cudaFree(a);
    return ok;
}
