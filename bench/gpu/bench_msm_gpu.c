#include "benches.h"

#include "backend/cuda/msm.h"
#include "known.h"

#include <stdio.h>

enum { REPEATS = 5 };

typedef struct job {
    msm_plan plan;
    void *points, *scalars, *scratch;
} job;

static void run(void *ctx)
{
    job *j = ctx;
    cuzk_err err;
    if ((j->plan.group == MSM_G1 ? cuzk_cuda_msm_g1_start : cuzk_cuda_msm_g2_start)(
            &j->plan, j->points, NULL, j->scalars, MSM_INTEGERS, j->scratch, NULL, &err) !=
        CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.msg);
    }
}

/* The additions of pairs, at the rate that the multiplier's pipe allows on an H200 (5 products, a
 * square and a share of an inversion): 4.43 G/s on G1, 1.6 G/s on G2. */
static double limit_ms(const msm_plan *p)
{
    double entries = (double)p->n * p->parts * p->windows;
    double sets = (double)((uint64_t)p->parts * p->windows << (p->width - 1));
    return (entries + sets) / (p->group == MSM_G1 ? 4.43e6 : 1.6e6);
}

static bool row(const char *name, job *j, unsigned lg, unsigned width, enum known_kind kind)
{
    msm_group group = j->plan.group;
    msm_limits limits;
    cuzk_err err;
    if ((group == MSM_G1 ? cuzk_cuda_msm_g1_limits : cuzk_cuda_msm_g2_limits)(&limits, &err) !=
            CUZK_OK ||
        cuzk_cuda_msm_plan(&j->plan, group, (uint64_t)1 << lg, width, limits, (uint64_t)16 << 30,
                           &err) != CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.msg);
        return false;
    }
    if (cudaMalloc(&j->scratch, j->plan.at.total) != cudaSuccess ||
        known_scalars(j->scalars, j->plan.n, kind, lg) != cudaSuccess) {
        fprintf(stderr, "bench_cuda: no memory for 2^%u scalars\n", lg);
        return false;
    }
    double ms = bench_time(run, j, REPEATS);
    char size[24];
    snprintf(size, sizeof size, "2^%u, %u bits", lg, j->plan.width);
    bench_row(name, size, ms, kind == KNOWN_UNIFORM ? limit_ms(&j->plan) : 0);
    cudaFree(j->scratch);
    return ms >= 0;
}

static void run_ones(void *ctx)
{
    job *j = ctx;
    cuzk_err err;
    if ((j->plan.group == MSM_G1 ? cuzk_cuda_ones_g1_start : cuzk_cuda_ones_g2_start)(
            &j->plan, j->points, j->scalars, j->scratch, NULL, &err) != CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.msg);
    }
}

/* The limit counts one addition for two bits: random words serve as the bitmap. */
static bool ones_row(const char *name, job *j, unsigned lg)
{
    msm_group group = j->plan.group;
    msm_limits limits;
    cuzk_err err;
    uint64_t n = (uint64_t)1 << lg;
    if ((group == MSM_G1 ? cuzk_cuda_msm_g1_limits : cuzk_cuda_msm_g2_limits)(&limits, &err) !=
            CUZK_OK ||
        cuzk_cuda_ones_plan(&j->plan, group, n, limits, (uint64_t)16 << 30, &err) != CUZK_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.msg);
        return false;
    }
    if (cudaMalloc(&j->scratch, j->plan.at.total) != cudaSuccess ||
        known_scalars(j->scalars, (uint32_t)(n / 256), KNOWN_UNIFORM, lg) != cudaSuccess) {
        fprintf(stderr, "bench_cuda: no memory for 2^%u bits\n", lg);
        return false;
    }
    double ms = bench_time(run_ones, j, REPEATS);
    char size[24];
    snprintf(size, sizeof size, "2^%u bits", lg);
    bench_row(name, size, ms, (double)n / 2 / (group == MSM_G1 ? 4.43e6 : 1.6e6));
    cudaFree(j->scratch);
    return ms >= 0;
}

static bool points_new(job *j, msm_group group, unsigned lg)
{
    size_t point = group == MSM_G1 ? 96 : 192, n = (size_t)1 << lg;
    void *table;
    *j = (job){.plan.group = group};
    bool ok = cudaMalloc(&table, KNOWN_TABLE * point) == cudaSuccess &&
              cudaMalloc(&j->points, n * point) == cudaSuccess &&
              cudaMalloc(&j->scalars, n * 32) == cudaSuccess &&
              known_table(group == MSM_G1 ? 1 : 2, table) == cudaSuccess &&
              known_points(group == MSM_G1 ? 1 : 2, j->points, table, (uint32_t)n) == cudaSuccess &&
              cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(table);
    if (!ok) {
        fprintf(stderr, "bench_cuda: no memory for 2^%u points\n", lg);
    }
    return ok;
}

bool bench_msm(void)
{
    job j;
    bool ok = points_new(&j, MSM_G1, 27);
    for (unsigned lg = 16; lg <= 26 && ok; lg += 2) {
        ok = row("msm g1", &j, lg, 0, KNOWN_UNIFORM);
    }
    ok = ok && row("msm g1", &j, 27, 0, KNOWN_UNIFORM) &&
         row("msm g1, 7/8 equal", &j, 20, 0, KNOWN_SKEWED) &&
         row("msm g1, 7/8 equal", &j, 24, 0, KNOWN_SKEWED) &&
         row("msm g1, 16-bit scalars", &j, 24, 0, KNOWN_SMALL) && ones_row("ones g1", &j, 22) &&
         ones_row("ones g1", &j, 26);
    cudaFree(j.points);
    cudaFree(j.scalars);
    ok = ok && points_new(&j, MSM_G2, 24);
    for (unsigned lg = 16; lg <= 24 && ok; lg += 2) {
        ok = row("msm g2", &j, lg, 0, KNOWN_UNIFORM);
    }
    ok = ok && ones_row("ones g2", &j, 22) && ones_row("ones g2", &j, 24);
    cudaFree(j.points);
    cudaFree(j.scalars);
    return ok;
}
