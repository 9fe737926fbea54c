/* Sums of the device by the host's; the kernels' own twin is test_cuda_msm.c. A sum is left as that
 * of the first window, the others are infinity. */
#include "twin.h"

#include "backend/cuda/each.h"
#include "backend/cuda/msm.h"
#include "backend/cuda/msm_finish.h"
#include "base/threads.h"
#include "math/msm/msm.h"

#include <stdlib.h>
#include <string.h>

atomic_bool cuzk_cuda_twin_adds_wrongly;

static void spoil_g1(g1 *sum)
{
    if (atomic_load(&cuzk_cuda_twin_adds_wrongly)) {
        g1_add_affine(sum, sum, &g1_generator);
    }
}

static void spoil_g2(g2 *sum) { (void)sum; }

#define TWIN(G, F)                                                                                 \
    static void leave_##G(const msm_plan *plan, void *scratch, const G *sum)                       \
    {                                                                                              \
        msm_##G##_sum *sums = scratch;                                                             \
        G##_affine a;                                                                              \
        memset(sums, 0, plan->windows * sizeof *sums);                                             \
        G##_to_affine(&a, sum);                                                                    \
        if (!G##_affine_is_inf(&a)) {                                                              \
            sums[0] = (msm_##G##_sum){a.x, a.y, F##_one, F##_one};                                 \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static cuzk_code sum_##G(const msm_plan *plan, const G##_affine *p, const fr_repr *k,          \
                             void *scratch, cuzk_err *err)                                         \
    {                                                                                              \
        G sum;                                                                                     \
        cuzk_pool *pool;                                                                           \
        CUZK_TRY(cuzk_pool_new(&pool, 0, err));                                                    \
        cuzk_code code = msm_##G(&sum, p, k, plan->n, pool, err);                                  \
        cuzk_pool_free(pool);                                                                      \
        CUZK_TRY(code);                                                                            \
        spoil_##G(&sum);                                                                           \
        leave_##G(plan, scratch, &sum);                                                            \
        return CUZK_OK;                                                                            \
    }                                                                                              \
                                                                                                   \
    cuzk_code cuzk_cuda_msm_##G##_start(                                                           \
        const msm_plan *plan, const void *points, const uint32_t *which, const void *scalars,      \
        msm_scalars form, void *scratch, struct CUstream_st *stream, cuzk_err *err)                \
    {                                                                                              \
        (void)stream;                                                                              \
        const G##_affine *from = points;                                                           \
        G##_affine *p = malloc(plan->n * sizeof *p);                                               \
        fr_repr *k = malloc(plan->n * sizeof *k);                                                  \
        cuzk_code code = CUZK_E_MEMORY;                                                            \
        cuzk_cuda_twin_enter();                                                                    \
        if (p && k) {                                                                              \
            for (uint32_t i = 0; i < plan->n; i++) {                                               \
                p[i] = from[which ? which[i] : i];                                                 \
                if (form == MSM_MONTGOMERY) {                                                      \
                    fr_to_repr(&k[i], (const fr *)scalars + i);                                    \
                } else {                                                                           \
                    k[i] = ((const fr_repr *)scalars)[i];                                          \
                }                                                                                  \
            }                                                                                      \
            code = sum_##G(plan, p, k, scratch, err);                                              \
        }                                                                                          \
        cuzk_cuda_twin_leave();                                                                    \
        free(p);                                                                                   \
        free(k);                                                                                   \
        return code;                                                                               \
    }                                                                                              \
                                                                                                   \
    cuzk_code cuzk_cuda_ones_##G##_start(const msm_plan *plan, const void *points,                 \
                                         const uint32_t *bits, void *scratch,                      \
                                         struct CUstream_st *stream, cuzk_err *err)                \
    {                                                                                              \
        (void)stream;                                                                              \
        fr_repr *k = calloc(plan->n, sizeof *k);                                                   \
        if (!k) {                                                                                  \
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u scalars", plan->n);             \
        }                                                                                          \
        cuzk_cuda_twin_enter();                                                                    \
        for (uint32_t i = 0; i < plan->n; i++) {                                                   \
            k[i].l[0] = bits[i / 32] >> i % 32 & 1;                                                \
        }                                                                                          \
        cuzk_code code = sum_##G(plan, points, k, scratch, err);                                   \
        cuzk_cuda_twin_leave();                                                                    \
        free(k);                                                                                   \
        return code;                                                                               \
    }                                                                                              \
                                                                                                   \
    cuzk_code cuzk_cuda_msm_##G##_limits(msm_limits *ret, cuzk_err *err)                           \
    {                                                                                              \
        (void)err;                                                                                 \
        *ret = (msm_limits){MSM_BLOCK, 4};                                                         \
        return CUZK_OK;                                                                            \
    }

TWIN(g1, fp)
TWIN(g2, fp2)
