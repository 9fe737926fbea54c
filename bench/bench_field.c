#include "bench.h"

#include "math/field/fp2.h"
#include "math/field/fr.h"

#include <stdio.h>

/*
 * Each line: the kernel, its time, the field multiplications in it, and its time over the limit,
 * which is that number times the time of one multiplication on the same path.
 */

enum { LANES = 8, ROUNDS = 2000, REPEATS = 40 };

#define KERNEL(NAME, F, statement)                                                                 \
    static void NAME(void *ctx)                                                                    \
    {                                                                                              \
        F *x = ctx;                                                                                \
        for (int i = 0; i < ROUNDS; i++) {                                                         \
            for (int j = 0; j < LANES; j++) {                                                      \
                statement;                                                                         \
            }                                                                                      \
        }                                                                                          \
        bench_touch(x);                                                                            \
    }

#define CHAIN(NAME, F, statement)                                                                  \
    static void NAME(void *ctx)                                                                    \
    {                                                                                              \
        F *x = ctx;                                                                                \
        for (int i = 0; i < ROUNDS * LANES; i++) {                                                 \
            statement;                                                                             \
        }                                                                                          \
        bench_touch(x);                                                                            \
    }

KERNEL(run_fp_mul, fp, fp_mul(&x[j], &x[j], &x[LANES]))
CHAIN(run_fp_chain, fp, fp_mul(&x[0], &x[0], &x[LANES]))
KERNEL(run_fp_sqr, fp, fp_sqr(&x[j], &x[j]))
KERNEL(run_fp_add, fp, fp_add(&x[j], &x[j], &x[LANES]))
KERNEL(run_fp_sub, fp, fp_sub(&x[j], &x[j], &x[LANES]))
KERNEL(run_fp2_mul, fp2, fp2_mul(&x[j], &x[j], &x[LANES]))
KERNEL(run_fp2_sqr, fp2, fp2_sqr(&x[j], &x[j]))
KERNEL(run_fr_mul, fr, fr_mul(&x[j], &x[j], &x[LANES]))
CHAIN(run_fr_chain, fr, fr_mul(&x[0], &x[0], &x[LANES]))
KERNEL(run_fr_add, fr, fr_add(&x[j], &x[j], &x[LANES]))

static void run_fp_inv(void *ctx) { fp_inv(ctx, ctx); }

static void run_fr_inv(void *ctx) { fr_inv(ctx, ctx); }

/* Prints a kernel of `operations` operations with `muls` multiplications each (0: no limit). */
static void line(const char *name, bench_fn *fn, void *ctx, double operations, double muls,
                 double mul_ns)
{
    double ns = bench_min_ns(fn, ctx, REPEATS) / operations;
    printf("%-12s %-9s %9.2f ns", name, math_isa_name(math_isa_level), ns);
    if (muls > 0) {
        printf("  %2.0f mul, %5.2f of the limit", muls, ns / (muls * mul_ns));
    } else {
        printf("  = %5.2f mul", ns / mul_ns);
    }
    printf("\n");
}

static void bench_level(void)
{
    fp a[LANES + 1];
    fp2 b[LANES + 1];
    fr c[LANES + 1];
    for (uint64_t i = 0; i <= LANES; i++) {
        a[i] = fp_from_u64(i + 2);
        fp_inv(&a[i], &a[i]);
        b[i] = (fp2){a[i], a[0]};
        c[i] = fr_from_u64(i + 2);
        fr_inv(&c[i], &c[i]);
    }
    const double ops = ROUNDS * LANES;
    double fp_ns = bench_min_ns(run_fp_mul, a, REPEATS) / ops;
    double fr_ns = bench_min_ns(run_fr_mul, c, REPEATS) / ops;
    line("fp_mul", run_fp_mul, a, ops, 1, fp_ns);
    line("fp_mul chain", run_fp_chain, a, ops, 1, fp_ns);
    line("fp_sqr", run_fp_sqr, a, ops, 1, fp_ns);
    line("fp_add", run_fp_add, a, ops, 0, fp_ns);
    line("fp_sub", run_fp_sub, a, ops, 0, fp_ns);
    line("fp_inv", run_fp_inv, a, 1, 0, fp_ns);
    line("fp2_mul", run_fp2_mul, b, ops, 3, fp_ns);
    line("fp2_sqr", run_fp2_sqr, b, ops, 2, fp_ns);
    line("fr_mul", run_fr_mul, c, ops, 1, fr_ns);
    line("fr_mul chain", run_fr_chain, c, ops, 1, fr_ns);
    line("fr_add", run_fr_add, c, ops, 0, fr_ns);
    line("fr_inv", run_fr_inv, c, 1, 0, fr_ns);
}

int main(void)
{
    math_isa top = math_isa_level;
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top && isa <= MATH_ISA_ADX; isa++) {
        math_isa_limit(isa);
        bench_level();
    }
    return 0;
}
