#include "math/ntt/ntt.h"

#include <stdlib.h>

struct ntt_domain {
    unsigned lg;
    fr_root root;
};

fr fr_root_of_unity(fr_root root, unsigned lg)
{
    static const fr roots[] = {{FR_ROOT_7}, {FR_ROOT_5}};
    fr w = roots[root];
    for (unsigned i = lg; i < FR_TWO_ADICITY; i++) {
        fr_sqr(&w, &w);
    }
    return w;
}

cuzk_code ntt_domain_new(ntt_domain **ret, unsigned lg, fr_root root, cuzk_err *err)
{
    if (lg > NTT_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a transform of 2^%u points; the limit is 2^%d", lg,
                         NTT_MAX_LG);
    }
    ntt_domain *d = malloc(sizeof *d);
    if (!d) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the tables of a 2^%u transform", lg);
    }
    *d = (ntt_domain){lg, root};
    *ret = d;
    return CUZK_OK;
}

void ntt_domain_free(ntt_domain *d) { free(d); }

static void transform(fr *a, unsigned lg, const fr *w)
{
    size_t n = (size_t)1 << lg;
    for (size_t i = 0, j = 0; i < n; i++) {
        if (i < j) {
            fr t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
        size_t bit = n >> 1;
        for (; bit && (j & bit); bit >>= 1) {
            j ^= bit;
        }
        j |= bit;
    }
    for (unsigned s = 1; s <= lg; s++) {
        fr step = *w;
        for (unsigned i = s; i < lg; i++) {
            fr_sqr(&step, &step);
        }
        size_t half = (size_t)1 << (s - 1);
        for (size_t k = 0; k < n; k += 2 * half) {
            fr t = fr_one;
            for (size_t j = 0; j < half; j++) {
                fr u = a[k + j], v;
                fr_mul(&v, &a[k + j + half], &t);
                fr_add(&a[k + j], &u, &v);
                fr_sub(&a[k + j + half], &u, &v);
                fr_mul(&t, &t, &step);
            }
        }
    }
}

static void scale_powers(fr *a, size_t n, const fr *first, const fr *g)
{
    fr t = *first;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&a[i], &a[i], &t);
        fr_mul(&t, &t, g);
    }
}

void ntt_forward(const ntt_domain *d, fr *a, cuzk_pool *pool)
{
    (void)pool;
    fr w = fr_root_of_unity(d->root, d->lg);
    transform(a, d->lg, &w);
}

void ntt_inverse(const ntt_domain *d, fr *a, cuzk_pool *pool)
{
    fr g = fr_one;
    ntt_coset_inverse(d, a, &g, pool);
}

void ntt_coset_forward(const ntt_domain *d, fr *a, const fr *g, cuzk_pool *pool)
{
    scale_powers(a, (size_t)1 << d->lg, &fr_one, g);
    ntt_forward(d, a, pool);
}

void ntt_coset_inverse(const ntt_domain *d, fr *a, const fr *g, cuzk_pool *pool)
{
    (void)pool;
    size_t n = (size_t)1 << d->lg;
    fr w = fr_root_of_unity(d->root, d->lg), g_inv, n_inv = fr_from_u64(n);
    fr_inv(&w, &w);
    fr_inv(&g_inv, g);
    fr_inv(&n_inv, &n_inv);
    transform(a, d->lg, &w);
    scale_powers(a, n, &n_inv, &g_inv);
}

fr ntt_coset_bellman(void) { return fr_from_u64(7); }

fr ntt_coset_odd(const ntt_domain *d) { return fr_root_of_unity(d->root, d->lg + 1); }
