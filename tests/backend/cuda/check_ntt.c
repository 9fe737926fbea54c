#include "checks.h"

#include "backend/cuda/cuda_ntt.h"
#include "base/threads.h"
#include "math/ntt/ntt.h"

#include <stdlib.h>
#include <string.h>

static dfr device(const fr *a)
{
    dfr r;
    memcpy(&r, a, sizeof r);
    return r;
}

static size_t reversed(size_t i, unsigned lg)
{
    size_t r = 0;
    for (unsigned k = 0; k < lg; k++) {
        r |= (i >> k & 1) << (lg - 1 - k);
    }
    return r;
}

/* Runs one transform on a device array with tables of its own. */
static bool run_once(check_ctx *c, dfr *a, unsigned lg, bool inverse, const fr *coset, size_t limit)
{
    fr root = fr_root_of_unity(FR_ROOT_BELLMAN, lg);
    dfr w = device(&root), g = device(coset ? coset : &root);
    cuzk_err err;
    cuzk_cuda_ntt *t;
    CHECK_OK(c, cuzk_cuda_ntt_new(&t, lg, inverse, &w, coset ? &g : NULL, limit, &err), err);
    CHECK_OK(c, cuzk_cuda_ntt_run(t, a, NULL, &err), err);
    CHECK_CUDA(c, cudaDeviceSynchronize());
    cuzk_cuda_ntt_free(t);
    return true;
}

/* The inverse leads from d back to a. */
static bool leads_back(check_ctx *c, dfr *d, const fr *a, unsigned lg, const fr *coset,
                       size_t limit)
{
    size_t bytes = sizeof(fr) << lg;
    fr *got = malloc(bytes);
    if (!got) {
        return CHECK_FAIL(c, "no memory");
    }
    if (!run_once(c, d, lg, true, coset, limit)) {
        return false;
    }
    CHECK_CUDA(c, cudaMemcpy(got, d, bytes, cudaMemcpyDeviceToHost));
    if (memcmp(got, a, bytes) != 0) {
        return CHECK_FAIL(c, "2^%u%s: the inverse does not lead back", lg,
                          coset ? " on a coset" : "");
    }
    free(got);
    return true;
}

/* One size: forward against the host, then the inverse back to the start. */
static bool against_host(check_ctx *c, unsigned lg, const fr *coset, size_t limit, cuzk_pool *pool)
{
    size_t n = (size_t)1 << lg, bytes = n * sizeof(fr);
    fr *a = malloc(bytes), *want = malloc(bytes), *got = malloc(bytes);
    dfr *d;
    CHECK_CUDA(c, cudaMalloc((void **)&d, bytes));
    if (!a || !want || !got) {
        return CHECK_FAIL(c, "no memory");
    }
    check_fr_array(c, a, n);
    memcpy(want, a, bytes);
    ntt_domain *domain;
    cuzk_err err;
    CHECK_OK(c, ntt_domain_new(&domain, lg, FR_ROOT_BELLMAN, &err), err);
    if (coset) {
        ntt_coset_forward(domain, want, coset, pool);
    } else {
        ntt_forward(domain, want, pool);
    }
    ntt_domain_free(domain);
    CHECK_CUDA(c, cudaMemcpy(d, a, bytes, cudaMemcpyHostToDevice));
    if (!run_once(c, d, lg, false, coset, limit)) {
        return false;
    }
    CHECK_CUDA(c, cudaMemcpy(got, d, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&got[i], &want[reversed(i, lg)], sizeof *got) != 0) {
            return CHECK_FAIL(c, "2^%u%s: place %zu differs", lg, coset ? " on a coset" : "", i);
        }
    }
    if (!leads_back(c, d, a, lg, coset, limit)) {
        return false;
    }
    cudaFree(d);
    free(a);
    free(want);
    free(got);
    return true;
}

bool check_ntt_sizes(check_ctx *c)
{
    cuzk_pool *pool;
    cuzk_err err;
    CHECK_OK(c, cuzk_pool_new(&pool, 0, &err), err);
    bool ok = true;
    for (unsigned lg = 1; lg <= (c->small ? 12 : 22) && ok; lg++) {
        fr g[8];
        check_fr_array(c, g, 8);
        ok = against_host(c, lg, NULL, SIZE_MAX, pool) &&
             against_host(c, lg, &g[7], lg % 2 ? 0 : SIZE_MAX, pool);
    }
    if (ok && c->small) { /* the smallest with three passes */
        ok = against_host(c, 19, NULL, 0, pool);
    }
    cuzk_pool_free(pool);
    return ok;
}

/* The value at y of the polynomial with coefficients u x^i, i < n: u ((x y)^n - 1) / (x y - 1). */
static fr geometric_sum(fr u, fr x, fr y, uint64_t n)
{
    fr t;
    fr_mul(&y, &y, &x);
    fr_pow(&t, &y, &n, 1);
    fr_sub(&t, &t, &fr_one);
    fr_sub(&y, &y, &fr_one);
    fr_inv(&y, &y);
    fr_mul(&t, &t, &y);
    fr_mul(&t, &t, &u);
    return t;
}

/* An array whose transform is known at every place; checked at random places, and back. */
static bool geometric(check_ctx *c, unsigned lg, const fr *coset, size_t limit)
{
    size_t n = (size_t)1 << lg, bytes = n * sizeof(fr);
    fr *a = malloc(bytes);
    dfr *d;
    CHECK_CUDA(c, cudaMalloc((void **)&d, bytes));
    if (!a) {
        return CHECK_FAIL(c, "no memory");
    }
    fr r[6];
    check_fr_array(c, r, 6);
    fr u = r[4], x = r[5], root = fr_root_of_unity(FR_ROOT_BELLMAN, lg);
    a[0] = u;
    for (size_t i = 1; i < n; i++) {
        fr_mul(&a[i], &a[i - 1], &x);
    }
    CHECK_CUDA(c, cudaMemcpy(d, a, bytes, cudaMemcpyHostToDevice));
    if (!run_once(c, d, lg, false, coset, limit)) {
        return false;
    }
    for (int i = 0; i < 1000; i++) {
        uint64_t k = i < 2 ? (uint64_t)i * (n - 1) : check_u64(c) % n;
        fr y, got;
        fr_pow(&y, &root, &k, 1);
        if (coset) {
            fr_mul(&y, &y, coset);
        }
        fr want = geometric_sum(u, x, y, n);
        CHECK_CUDA(c, cudaMemcpy(&got, d + reversed(k, lg), sizeof got, cudaMemcpyDeviceToHost));
        if (memcmp(&got, &want, sizeof got) != 0) {
            return CHECK_FAIL(c, "2^%u%s: the value at place %zu is wrong", lg,
                              coset ? " on a coset" : "", reversed(k, lg));
        }
    }
    if (!leads_back(c, d, a, lg, coset, limit)) {
        return false;
    }
    cudaFree(d);
    free(a);
    return true;
}

bool check_ntt_large(check_ctx *c)
{
    fr g[8];
    check_fr_array(c, g, 8);
    if (c->small) {
        return geometric(c, 13, &g[7], SIZE_MAX);
    }
    return geometric(c, 24, NULL, SIZE_MAX) && geometric(c, 25, &g[7], 0) &&
           geometric(c, 26, NULL, 0) && geometric(c, 27, &g[7], SIZE_MAX);
}
