#include "bench.h"

#include "math/ntt/ntt.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Transforms of 2^lg points on one thread against the limit: n/2 lg n multiplications at the rate
 * of this path's multiplication in this run. Usage: bench_ntt [largest lg] [threads]
 */

typedef struct work {
    const ntt_domain *d;
    fr *a;
    cuzk_pool *pool;
    fr g;
} work;

static void run_forward(void *ctx)
{
    work *w = ctx;
    ntt_forward(w->d, w->a, w->pool);
}

static void run_coset_inverse(void *ctx)
{
    work *w = ctx;
    ntt_coset_inverse(w->d, w->a, &w->g, w->pool);
}

int main(int argc, char **argv)
{
    unsigned top = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    cuzk_err err;
    work w = {.g = ntt_coset_bellman()};
    size_t n = (size_t)1 << top;
    w.a = malloc(n * sizeof *w.a);
    if (top > NTT_MAX_LG || !w.a || cuzk_pool_new(&w.pool, threads, &err) != CUZK_OK) {
        fprintf(stderr, "cannot start\n");
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        w.a[i] = fr_from_u64(i);
    }
    for (unsigned lg = 8; lg <= top; lg += lg < 16 ? 4 : 1) {
        ntt_domain *d;
        if (ntt_domain_new(&d, lg, FR_ROOT_BELLMAN, &err) != CUZK_OK) {
            return 1;
        }
        w.d = d;
        int repeats = lg < 16 ? 200 : lg < 22 ? 10 : 2;
        double f = bench_min_ns(run_forward, &w, repeats);
        double c = bench_min_ns(run_coset_inverse, &w, repeats);
        double muls = (double)((size_t)1 << lg) / 2 * lg;
        printf("2^%u forward %.3f ms (%.3f ns a multiplication) coset inverse %.3f ms (%.3f)\n", lg,
               f / 1e6, f / muls, c / 1e6, c / muls);
        ntt_domain_free(d);
    }
    cuzk_pool_free(w.pool);
    free(w.a);
    return 0;
}
