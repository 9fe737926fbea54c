#include "benches.h"

#include "backend/cuda/cuda_ntt.h"
#include "math/ntt/ntt.h"

#include <stdio.h>
#include <string.h>

enum { MAX_LG = 27, REPEATS = 7 };

/* 12.9 multiplications an element at 2^27, 84.8 G/s. */
static double limit_ms(unsigned lg) { return 20.4 / 27 * lg / (double)(1u << (MAX_LG - lg)); }

typedef struct job {
    cuzk_cuda_ntt *t;
    dfr *a;
} job;

static void run(void *ctx)
{
    job *j = ctx;
    cuzk_err err;
    if (cuzk_cuda_ntt_run(j->t, j->a, NULL, &err) != CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.msg);
    }
}

typedef struct kind {
    const char *name;
    cuzk_cuda_ntt_order order;
    bool inverse, coset;
    size_t limit;
} kind;

static bool row(const kind *k, unsigned lg, const dfr *coset, dfr *a)
{
    fr root = fr_root_of_unity(FR_ROOT_BELLMAN, lg);
    dfr w;
    memcpy(&w, &root, sizeof w);
    job j = {.a = a};
    cuzk_err err;
    if (cuzk_cuda_ntt_new(&j.t, lg, k->order, k->inverse, &w, k->coset ? coset : NULL, k->limit,
                          &err) != CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.msg);
        return false;
    }
    double ms = bench_time(run, &j, REPEATS);
    char size[16];
    snprintf(size, sizeof size, "2^%u", lg);
    bench_row(k->name, size, ms, limit_ms(lg));
    cuzk_cuda_ntt_free(j.t);
    return ms >= 0;
}

bool bench_ntt(void)
{
    enum { BLOCK = 1 << 16 };
    static fr values[BLOCK];
    uint64_t z = 1;
    for (size_t i = 0; i < BLOCK; i++) {
        for (int k = 0; k < FR_LIMBS; k++) {
            z = z * 0x5851f42d4c957f2du + 0x14057b7ef767814fu;
            values[i].l[k] = z;
        }
        values[i].l[FR_LIMBS - 1] >>= 2; /* below r */
    }
    dfr *a;
    if (cudaMalloc((void **)&a, sizeof(fr) << MAX_LG) != cudaSuccess) {
        fprintf(stderr, "bench_cuda: no memory for 2^%d elements\n", MAX_LG);
        return false;
    }
    for (size_t i = 0; i < (size_t)1 << MAX_LG; i += BLOCK) {
        cudaMemcpy(a + i, values, sizeof values, cudaMemcpyHostToDevice);
    }
    fr seven = ntt_coset_bellman();
    dfr g;
    memcpy(&g, &seven, sizeof g);
    static const kind kinds[] = {
        {"ntt forward", CUZK_CUDA_NTT_TO_REVERSED, false, false, SIZE_MAX},
        {"ntt inverse", CUZK_CUDA_NTT_TO_REVERSED, true, false, SIZE_MAX},
        {"ntt coset forward", CUZK_CUDA_NTT_FROM_REVERSED, false, true, SIZE_MAX},
        {"ntt coset inverse", CUZK_CUDA_NTT_TO_REVERSED, true, true, SIZE_MAX},
        {"ntt inverse, from reversed", CUZK_CUDA_NTT_FROM_REVERSED, true, false, SIZE_MAX},
        {"ntt inverse, small tables", CUZK_CUDA_NTT_TO_REVERSED, true, false, 0},
        {"ntt coset forward, small t.", CUZK_CUDA_NTT_FROM_REVERSED, false, true, 0},
    };
    static const unsigned sizes[] = {16, 18, 20, 22, 24, 25, 26, 27};
    bool ok = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && ok; i++) {
        ok = row(&kinds[0], sizes[i], &g, a);
    }
    for (unsigned lg = 24; lg <= MAX_LG && ok; lg += 3) {
        for (size_t k = 1; k < sizeof kinds / sizeof *kinds && ok; k++) {
            ok = row(&kinds[k], lg, &g, a);
        }
    }
    cudaFree(a);
    return ok;
}
