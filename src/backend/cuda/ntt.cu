/* The transform's kernels and what runs them; the algorithm is in ntt_core.h and ntt_plan.h. */
#include "backend/cuda/cuda_err.h"
#include "backend/cuda/cuda_ntt.h"
#include "backend/cuda/dinv.h"
#include "backend/cuda/ntt_plan.h"

#include <new>

#define PASS_THREADS (1 << (NTT_TILE_LG - 3))

struct cuzk_cuda_ntt {
    ntt_plan plan;
    limb_quad *tables;
};

template <ntt_coset COSET>
static __global__ void __launch_bounds__(PASS_THREADS, 2)
    pass_kernel(limb_quad *a, const __grid_constant__ ntt_pass p)
{
    extern __shared__ limb_quad tile[];
    const uint32_t steps = ntt_steps(p.digit_lg);
    dfr x[8];
#pragma unroll 1
    for (uint32_t step = 0; step < steps; step++) {
        const uint32_t s = ntt_step_shift(p.digit_lg, step);
        const ntt_place at = ntt_place_of(&p, blockIdx.x, threadIdx.x, s);
        if (step == 0) {
            ntt_read_global(x, a, &at);
        } else {
            __syncthreads();
            ntt_read_tile(x, tile, p.tile_lg, &at);
        }
        ntt_step(x, &p, &at, step, s, COSET);
        if (step == steps - 1 && p.low_lg) {
            ntt_write_global(a, x, &at);
        } else {
            ntt_write_tile(tile, p.tile_lg, x, &at);
        }
    }
    if (p.low_lg == 0) {
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < 2u << p.tile_lg; i += blockDim.x) {
            ntt_copy_out(a, tile, &p, blockIdx.x, i);
        }
    }
}

template <ntt_coset COSET>
static __global__ void __launch_bounds__(PASS_THREADS, 2)
    pass_back_kernel(limb_quad *a, const __grid_constant__ ntt_pass p)
{
    extern __shared__ limb_quad tile[];
    const uint32_t steps = ntt_steps(p.digit_lg);
    dfr x[8];
    if (p.low_lg == 0) {
        for (uint32_t i = threadIdx.x; i < 2u << p.tile_lg; i += blockDim.x) {
            ntt_copy_in(tile, a, &p, blockIdx.x, i);
        }
    }
#pragma unroll 1
    for (uint32_t step = steps; step-- > 0;) {
        const uint32_t s = ntt_step_shift(p.digit_lg, step);
        const ntt_place at = ntt_place_of(&p, blockIdx.x, threadIdx.x, s);
        if (step == steps - 1 && p.low_lg) {
            ntt_read_global(x, a, &at);
        } else {
            __syncthreads();
            ntt_read_tile(x, tile, p.tile_lg, &at);
        }
        ntt_step_back(x, &p, &at, step, s, COSET);
        if (step == 0) {
            ntt_write_global(a, x, &at);
        } else {
            ntt_write_tile(tile, p.tile_lg, x, &at);
        }
    }
}

typedef void pass_fn(limb_quad *a, const ntt_pass p);

/* The kernel for a pass, by the other direction and by where it has outer factors. */
static pass_fn *const kernels[2][3] = {
    {pass_kernel<NTT_COSET_NONE>, pass_kernel<NTT_COSET_NATURAL>, pass_kernel<NTT_COSET_REVERSED>},
    {pass_back_kernel<NTT_COSET_NONE>, pass_back_kernel<NTT_COSET_NATURAL>,
     pass_back_kernel<NTT_COSET_REVERSED>},
};

static __global__ void tiny_kernel(limb_quad *a, const __grid_constant__ ntt_pass p)
{
    ntt_tiny(a, &p);
}

static __global__ void make_powers(dfr *low, dfr *high, dfr g, dfr g_high)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    low[i] = ntt_power_entry(g, i);
    high[i] = ntt_power_entry(g_high, i);
}

static __global__ void make_table(limb_quad *base, const __grid_constant__ ntt_table t,
                                  const __grid_constant__ ntt_source from)
{
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < t.count) {
        ntt_make_entry(base, &t, &from, i);
    }
}

/* Fills the tables; powers is scratch for 4 * 2^14 elements. */
static cuzk_code fill(cuzk_cuda_ntt *t, dfr *powers, const ntt_request *want, cuzk_err *err)
{
    enum { N = 1 << NTT_POWER_LOW_LG, THREADS = 128 };
    ntt_source from;
    from.lg = want->lg;
    from.scale = want->scale;
    from.root.low = powers;
    from.root.high = powers + N;
    from.coset.low = powers + 2 * N;
    from.coset.high = powers + 3 * N;
    make_powers<<<N / THREADS, THREADS>>>(powers, powers + N, want->root, ntt_pow(want->root, N));
    make_powers<<<N / THREADS, THREADS>>>(powers + 2 * N, powers + 3 * N, want->g,
                                          ntt_pow(want->g, N));
    for (uint32_t k = 0; k < t->plan.tables; k++) {
        const ntt_table *table = &t->plan.table[k];
        uint32_t blocks = (uint32_t)((table->count + THREADS - 1) / THREADS);
        make_table<<<blocks, THREADS>>>(t->tables, *table, from);
    }
    CUZK_CUDA_TRY(err, cudaGetLastError());
    CUZK_CUDA_TRY(err, cudaStreamSynchronize(0));
    return CUZK_OK;
}

static cuzk_code make(cuzk_cuda_ntt *t, const ntt_request *want, cuzk_err *err)
{
    const int shared = (int)(sizeof(limb_quad) << (NTT_TILE_LG + 1));
    for (int i = 0; i < 6; i++) {
        CUZK_CUDA_TRY(err,
                      cudaFuncSetAttribute((const void *)kernels[i / 3][i % 3],
                                           cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    }
    ntt_plan_make(&t->plan, want);
    if (t->plan.quads == 0) {
        return CUZK_OK;
    }
    CUZK_CUDA_TRY(err, cudaMalloc(&t->tables, t->plan.quads * sizeof *t->tables));
    ntt_plan_bind(&t->plan, t->tables);
    dfr *powers;
    CUZK_CUDA_TRY(err, cudaMalloc(&powers, (sizeof *powers << NTT_POWER_LOW_LG) * 4));
    cuzk_code code = fill(t, powers, want, err);
    cudaFree(powers);
    return code;
}

extern "C" cuzk_code cuzk_cuda_ntt_new(cuzk_cuda_ntt **ret, unsigned lg, cuzk_cuda_ntt_order order,
                                       bool inverse, const dfr *root, const dfr *coset,
                                       size_t table_limit, cuzk_err *err)
{
    if (lg < 1 || lg > NTT_PLAN_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a transform of 2^%u points; the limits are 2^1 and 2^%d",
                         lg, NTT_PLAN_MAX_LG);
    }
    cuzk_cuda_ntt *t = new (std::nothrow) cuzk_cuda_ntt;
    if (!t) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the plan of a transform");
    }
    t->tables = NULL;
    ntt_request want;
    want.lg = lg;
    want.backwards = order == CUZK_CUDA_NTT_FROM_REVERSED;
    want.coset = ntt_coset_side(coset != NULL, want.backwards, inverse);
    want.root = *root;
    want.g = coset ? *coset : dfr_one();
    want.scaled = inverse;
    want.scale = dfr_one();
    want.table_limit = table_limit;
    if (inverse) {
        dfr n = dfr_zero();
        n.l[0] = 1u << lg;
        want.root = dfr_inv(want.root);
        want.g = dfr_inv(want.g);
        want.scale = dfr_inv(dfr_from_integer(n));
    }
    cuzk_code code = make(t, &want, err);
    if (code != CUZK_OK) {
        cuzk_cuda_ntt_free(t);
        return code;
    }
    *ret = t;
    return CUZK_OK;
}

extern "C" void cuzk_cuda_ntt_free(cuzk_cuda_ntt *t)
{
    if (t) {
        cudaFree(t->tables);
        delete t;
    }
}

extern "C" size_t cuzk_cuda_ntt_bytes(const cuzk_cuda_ntt *t)
{
    return t->plan.quads * sizeof *t->tables;
}

extern "C" cuzk_code cuzk_cuda_ntt_run(const cuzk_cuda_ntt *t, dfr *a, void *stream, cuzk_err *err)
{
    const ntt_plan *plan = &t->plan;
    cudaStream_t on = (cudaStream_t)stream;
    limb_quad *q = (limb_quad *)a;
    if (plan->lg <= NTT_TINY_LG) {
        tiny_kernel<<<1, 1, 0, on>>>(q, plan->pass[0]);
    }
    for (uint32_t i = 0; i < plan->passes && plan->lg > NTT_TINY_LG; i++) {
        const ntt_pass *p = &plan->pass[plan->backwards ? plan->passes - 1 - i : i];
        uint32_t blocks = 1u << (plan->lg - p->tile_lg), threads = 1u << (p->tile_lg - 3);
        size_t shared = sizeof(limb_quad) << (p->tile_lg + 1);
        kernels[p->backwards][p->coset]<<<blocks, threads, shared, on>>>(q, *p);
    }
    CUZK_CUDA_TRY(err, cudaGetLastError());
    return CUZK_OK;
}
