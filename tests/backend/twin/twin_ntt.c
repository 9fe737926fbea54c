/* Transforms of the device by the host's; the kernels' own twin is test_cuda_ntt.c. */
#include "backend/cuda/cuda_ntt.h"
#include "backend/cuda/each.h"
#include "backend/cuda/ntt_plan.h"
#include "math/ntt/ntt.h"

#include <stdlib.h>
#include <string.h>

struct cuzk_cuda_ntt {
    unsigned lg;
    cuzk_cuda_ntt_order order;
    bool inverse, on_coset;
    fr coset;
    ntt_domain *domain;
};

cuzk_code cuzk_cuda_ntt_new(cuzk_cuda_ntt **ret, unsigned lg, cuzk_cuda_ntt_order order,
                            bool inverse, const dfr *root, const dfr *coset, size_t table_limit,
                            cuzk_err *err)
{
    (void)table_limit;
    fr w = fr_root_of_unity(FR_ROOT_BELLMAN, lg);
    if (lg < 1 || lg > NTT_PLAN_MAX_LG || memcmp(&w, root, sizeof w) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a transform of 2^%u points, or of another root", lg);
    }
    cuzk_cuda_ntt *t = calloc(1, sizeof *t);
    if (!t) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the plan of a transform");
    }
    *t = (cuzk_cuda_ntt){.lg = lg, .order = order, .inverse = inverse, .on_coset = coset != NULL};
    if (coset) {
        memcpy(&t->coset, coset, sizeof t->coset);
    }
    cuzk_code code = ntt_domain_new(&t->domain, lg, FR_ROOT_BELLMAN, err);
    if (code != CUZK_OK) {
        free(t);
        return code;
    }
    *ret = t;
    return CUZK_OK;
}

void cuzk_cuda_ntt_free(cuzk_cuda_ntt *t)
{
    if (t) {
        ntt_domain_free(t->domain);
        free(t);
    }
}

size_t cuzk_cuda_ntt_bytes(const cuzk_cuda_ntt *t)
{
    (void)t;
    return 0;
}

static void reverse(fr *a, unsigned lg)
{
    for (uint32_t i = 0; i < 1u << lg; i++) {
        uint32_t j = hd_reverse(i, lg);
        if (i < j) {
            fr t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }
}

cuzk_code cuzk_cuda_ntt_run(const cuzk_cuda_ntt *t, dfr *a, void *stream, cuzk_err *err)
{
    (void)stream;
    (void)err;
    fr *x = (fr *)(void *)a;
    cuzk_cuda_twin_enter();
    if (t->order == CUZK_CUDA_NTT_FROM_REVERSED) {
        reverse(x, t->lg);
    }
    if (t->inverse && t->on_coset) {
        ntt_coset_inverse(t->domain, x, &t->coset, NULL);
    } else if (t->inverse) {
        ntt_inverse(t->domain, x, NULL);
    } else if (t->on_coset) {
        ntt_coset_forward(t->domain, x, &t->coset, NULL);
    } else {
        ntt_forward(t->domain, x, NULL);
    }
    if (t->order == CUZK_CUDA_NTT_TO_REVERSED) {
        reverse(x, t->lg);
    }
    cuzk_cuda_twin_leave();
    return CUZK_OK;
}
