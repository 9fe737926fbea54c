#include "backend/cuda/msm_finish.h"

/* In Jacobian coordinates with Z = zz: X = x zz, Y = y zzz, for y / zzz = y zzz / zz^3. */
#define FINISH(G, F)                                                                               \
    static G G##_jacobian(const msm_##G##_sum *a)                                                  \
    {                                                                                              \
        G r;                                                                                       \
        if (F##_is_zero(&a->zz)) {                                                                 \
            G##_set_inf(&r);                                                                       \
            return r;                                                                              \
        }                                                                                          \
        F##_mul(&r.x, &a->x, &a->zz);                                                              \
        F##_mul(&r.y, &a->y, &a->zzz);                                                             \
        r.z = a->zz;                                                                               \
        return r;                                                                                  \
    }                                                                                              \
                                                                                                   \
    G cuzk_cuda_msm_##G##_finish(const msm_plan *plan, const msm_##G##_sum *sums)                  \
    {                                                                                              \
        G r;                                                                                       \
        G##_set_inf(&r);                                                                           \
        for (unsigned w = plan->windows; w-- > 0;) {                                               \
            unsigned width = msm_window_start(plan->parts, plan->windows, w + 1) -                 \
                             msm_window_start(plan->parts, plan->windows, w);                      \
            for (unsigned i = 0; i < width && w + 1 < plan->windows; i++) {                        \
                G##_dbl(&r, &r);                                                                   \
            }                                                                                      \
            G sum = G##_jacobian(&sums[w]);                                                        \
            G##_add(&r, &r, &sum);                                                                 \
        }                                                                                          \
        return r;                                                                                  \
    }

FINISH(g1, fp)
FINISH(g2, fp2)
