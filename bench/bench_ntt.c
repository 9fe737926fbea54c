#include "bench.h"

#include "rates.h"

#include "math/field/fr_vec.h"
#include "math/ntt/ntt.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Transforms of 2^lg points against the limit: n/2 lg n multiplications of two variable factors at
 * the rate that this run measured in registers, on the same path. The share can pass 100 %, because
 * twiddles are constants and the first levels' are trivial. Usage: bench_ntt [largest lg] [threads]
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

static void run_inverse(void *ctx)
{
    work *w = ctx;
    ntt_inverse(w->d, w->a, w->pool);
}

static void run_coset_forward(void *ctx)
{
    work *w = ctx;
    ntt_coset_forward(w->d, w->a, &w->g, w->pool);
}

static void run_coset_inverse(void *ctx)
{
    work *w = ctx;
    ntt_coset_inverse(w->d, w->a, &w->g, w->pool);
}

enum { SCALAR_MULS = 16000 };

static void run_scalar(void *ctx)
{
    work *w = ctx;
    for (size_t i = 0; i < SCALAR_MULS; i++) {
        fr_mul(&w->a[i % 8], &w->a[i % 8], &w->g);
    }
    bench_touch(w->a);
}

static double mul_ns(work *w)
{
#ifdef CUZK_X86_64
    if (math_isa_level == MATH_ISA_IFMA) {
        double mul = bench_fr8_mul_ns(), floor = bench_fr8_floor_ns();
        printf("fr8_mul %.2f ns an element, %.2f of the vpmadd52 limit; fr8_mul_shoup %.2f ns\n",
               mul, mul / floor, bench_fr8_shoup_ns());
        return mul;
    }
#endif
    return bench_min_ns(run_scalar, w, 20) / SCALAR_MULS;
}

static void line(const char *name, bench_fn *fn, work *w, unsigned lg, double limit_ns)
{
    int repeats = lg < 16 ? 100 : lg < 22 ? 8 : 2;
    double ns = bench_min_ns(fn, w, repeats);
    double muls = (double)((size_t)1 << lg) / 2 * lg;
    printf("2^%-2u %-13s %9.3f ms %12.0f mul %5.2f ns each, %3.0f %% of the limit\n", lg, name,
           ns / 1e6, muls, ns / muls, 100 * limit_ns * muls / ns);
}

int main(int argc, char **argv)
{
    unsigned top = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
    unsigned threads = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    cuzk_err err;
    work w = {.g = ntt_coset_bellman()};
    top = top < 8 ? 8 : top > NTT_MAX_LG ? NTT_MAX_LG : top;
    size_t n = (size_t)1 << top;
    w.a = aligned_alloc(64, n * sizeof *w.a);
    if (!w.a || cuzk_pool_new(&w.pool, threads, &err) != CUZK_OK) {
        fprintf(stderr, "no memory for 2^%u elements or %u threads\n", top, threads);
        free(w.a);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        w.a[i] = fr_from_u64(i + 1);
    }
    printf("%s, %u threads, CPU time of all\n", math_isa_name(math_isa_level), threads);
    double limit_ns = mul_ns(&w);
    for (unsigned lg = 8; lg <= top; lg += lg < 16 ? 4 : 2) {
        ntt_domain *d;
        if (ntt_domain_new(&d, lg, FR_ROOT_BELLMAN, &err) != CUZK_OK) {
            break;
        }
        w.d = d;
        line("forward", run_forward, &w, lg, limit_ns);
        line("inverse", run_inverse, &w, lg, limit_ns);
        line("coset forward", run_coset_forward, &w, lg, limit_ns);
        line("coset inverse", run_coset_inverse, &w, lg, limit_ns);
        ntt_domain_free(d);
    }
    cuzk_pool_free(w.pool);
    free(w.a);
    return 0;
}
