#include "bench.h"

#include "math/field/fp8.h"
#include "math/msm/msm.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * Multi-scalar multiplication on one thread: time, additions of points, and time over the limit
 * that the rate of Fp multiplications, measured in the same run, sets: 6 for an addition on G1, 17
 * on G2 (a batch inversion's share, the slope, its square and the ordinate).
 */

#define LOG_SIZES 3
static const unsigned log_sizes[LOG_SIZES] = {12, 16, 18};

typedef struct products {
    fp a[64], b[64], r[64];
    fp8_lanes u[8], v[8], w[8];
} products;

static void multiply(void *ctx)
{
    products *x = ctx;
    for (int round = 0; round < 500; round++) {
#ifdef CUZK_X86_64
        if (math_isa_level >= MATH_ISA_IFMA) {
            fp8_mul_many(x->w, x->u, x->v, 8);
            bench_touch(x);
            continue;
        }
#endif
        for (int i = 0; i < 64; i++) {
            fp_mul(&x->r[i], &x->a[i], &x->b[i]);
        }
        bench_touch(x);
    }
}

/* ns of one product at the current instruction set. */
static double mul_ns(void)
{
    static products x;
    return bench_min_ns(multiply, &x, 10) / (500 * 64);
}

static void fill_scalars(fr_repr *k, size_t n, unsigned bits)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < n; i++) {
        k[i] = (fr_repr){{bench_u64(&seed)}};
        if (bits < 64) {
            k[i].l[0] &= ((uint64_t)1 << bits) - 1;
            continue;
        }
        for (int j = 1; j < FR_LIMBS; j++) {
            k[i].l[j] = bench_u64(&seed);
        }
        k[i].l[FR_LIMBS - 1] >>= 2; /* below r */
    }
}

/* Additions that windows of the best width take for n scalars of 255 bits. */
static double additions(size_t n, unsigned bits)
{
    if (bits == 1) {
        return (double)n / 2;
    }
    double best = 1e300;
    for (unsigned width = 2; width <= 18; width++) {
        double count = (bits + 1.0) / width;
        double cost = count * ((double)n + (double)((size_t)1 << width));
        best = cost < best ? cost : best;
    }
    return best;
}

static void report(const char *what, unsigned log_n, double ns, double adds, double muls_each,
                   double product_ns)
{
    printf("%s-%s 2^%u 1t: %.2f ms, %.0f additions, %.2f of the limit\n", what,
           math_isa_name(math_isa_level), log_n, ns / 1e6, adds,
           ns / (adds * muls_each * product_ns));
    fflush(stdout);
}

#define BENCH(G, F, MULS)                                                                          \
    typedef struct G##_work {                                                                      \
        size_t n;                                                                                  \
        G##_affine *p, *r;                                                                         \
        fr_repr *k;                                                                                \
        msm_fixed_##G *table;                                                                      \
    } G##_work;                                                                                    \
                                                                                                   \
    static void G##_sum(void *ctx)                                                                 \
    {                                                                                              \
        G##_work *x = ctx;                                                                         \
        G ret;                                                                                     \
        cuzk_err err;                                                                              \
        if (msm_##G(&ret, x->p, x->k, x->n, NULL, &err) != CUZK_OK) {                              \
            fprintf(stderr, "%s\n", err.msg);                                                      \
            exit(4);                                                                               \
        }                                                                                          \
        bench_touch(&ret);                                                                         \
    }                                                                                              \
                                                                                                   \
    static void G##_fixed(void *ctx)                                                               \
    {                                                                                              \
        G##_work *x = ctx;                                                                         \
        cuzk_err err;                                                                              \
        if (msm_fixed_##G##_mul(x->table, x->r, x->k, x->n, NULL, &err) != CUZK_OK) {              \
            fprintf(stderr, "%s\n", err.msg);                                                      \
            exit(4);                                                                               \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void G##_bench(void)                                                                    \
    {                                                                                              \
        size_t most = (size_t)1 << log_sizes[LOG_SIZES - 1];                                       \
        G##_work x = {most, malloc(most * sizeof *x.p), malloc(most * sizeof *x.r),                \
                      malloc(most * sizeof *x.k), NULL};                                           \
        cuzk_err err;                                                                              \
        if (!x.p || !x.r || !x.k ||                                                                \
            msm_fixed_##G##_new(&x.table, &G##_generator, 10000000, NULL, &err) != CUZK_OK) {      \
            fprintf(stderr, "no memory for %zu points\n", most);                                   \
            exit(4);                                                                               \
        }                                                                                          \
        double product = mul_ns();                                                                 \
        fill_scalars(x.k, most, 64);                                                               \
        double ns = bench_min_ns(G##_fixed, &x, 1);                                                \
        printf("%s_fixed-%s 2^%u 1t: %.0f ns each\n", #G, math_isa_name(math_isa_level),           \
               log_sizes[LOG_SIZES - 1], ns / (double)most);                                       \
        memcpy(x.p, x.r, most * sizeof *x.p);                                                      \
        for (int i = 0; i < LOG_SIZES; i++) {                                                      \
            x.n = (size_t)1 << log_sizes[i];                                                       \
            int repeats = log_sizes[i] < 16 ? 10 : 2;                                              \
            fill_scalars(x.k, x.n, 64);                                                            \
            report(#G "_msm uniform", log_sizes[i], bench_min_ns(G##_sum, &x, repeats),            \
                   additions(x.n, 255), MULS, product);                                            \
            fill_scalars(x.k, x.n, 1);                                                             \
            report(#G "_msm bits", log_sizes[i], bench_min_ns(G##_sum, &x, 10), additions(x.n, 1), \
                   MULS, product);                                                                 \
        }                                                                                          \
        msm_fixed_##G##_free(x.table);                                                             \
        free(x.p);                                                                                 \
        free(x.r);                                                                                 \
        free(x.k);                                                                                 \
    }

BENCH(g1, fp, 6)
BENCH(g2, fp2, 17)

int main(void)
{
    printf("fp_mul-%s: %.2f ns\n", math_isa_name(math_isa_level), mul_ns());
    g1_bench();
    g2_bench();
    return 0;
}
