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

static bool row(const char *name, unsigned lg, bool inverse, const dfr *coset, size_t limit, dfr *a)
{
    fr root = fr_root_of_unity(FR_ROOT_BELLMAN, lg);
    dfr w;
    memcpy(&w, &root, sizeof w);
    job j = {.a = a};
    cuzk_err err;
    if (cuzk_cuda_ntt_new(&j.t, lg, inverse, &w, coset, limit, &err) != CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.msg);
        return false;
    }
    double ms = bench_time(run, &j, REPEATS);
    char size[16];
    snprintf(size, sizeof size, "2^%u", lg);
    bench_row(name, size, ms, limit_ms(lg));
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
    bool ok = true;
    static const unsigned sizes[] = {16, 18, 20, 22, 24, 25, 26, 27};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && ok; i++) {
        ok = row("ntt forward", sizes[i], false, NULL, SIZE_MAX, a);
    }
    for (unsigned lg = 24; lg <= MAX_LG && ok; lg += 3) {
        ok = row("ntt inverse", lg, true, NULL, SIZE_MAX, a) &&
             row("ntt coset forward", lg, false, &g, SIZE_MAX, a) &&
             row("ntt coset inverse", lg, true, &g, SIZE_MAX, a) &&
             row("ntt forward, small tables", lg, false, NULL, 0, a) &&
             row("ntt inverse, small tables", lg, true, NULL, 0, a);
    }
    cudaFree(a);
    return ok;
}
