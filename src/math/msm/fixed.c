#include "math/msm/msm.h"

#include <stdlib.h>

#define NAIVE(G)                                                                                   \
    struct msm_fixed_##G {                                                                         \
        G base;                                                                                    \
    };                                                                                             \
    cuzk_code msm_fixed_##G##_new(msm_fixed_##G **ret, const G##_affine *base, size_t uses,        \
                                  cuzk_pool *pool, cuzk_err *err)                                  \
    {                                                                                              \
        (void)uses;                                                                                \
        (void)pool;                                                                                \
        msm_fixed_##G *t = malloc(sizeof *t);                                                      \
        if (!t) {                                                                                  \
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a table");                         \
        }                                                                                          \
        G##_from_affine(&t->base, base);                                                           \
        *ret = t;                                                                                  \
        return CUZK_OK;                                                                            \
    }                                                                                              \
    void msm_fixed_##G##_free(msm_fixed_##G *t) { free(t); }                                       \
    cuzk_code msm_fixed_##G##_mul(const msm_fixed_##G *t, G##_affine *ret, const fr_repr *k,       \
                                  size_t n, cuzk_pool *pool, cuzk_err *err)                        \
    {                                                                                              \
        (void)pool;                                                                                \
        (void)err;                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                           \
            G m;                                                                                   \
            G##_mul(&m, &t->base, &k[i]);                                                          \
            G##_to_affine(&ret[i], &m);                                                            \
        }                                                                                          \
        return CUZK_OK;                                                                            \
    }

NAIVE(g1)
NAIVE(g2)
