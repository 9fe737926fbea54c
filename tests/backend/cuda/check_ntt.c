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

/* A transform of one kind. */
typedef struct kind {
    unsigned lg;
    cuzk_cuda_ntt_order order;
    bool inverse;
    const fr *coset; /* NULL for none */
    size_t limit;
} kind;

static const char *name_of(const kind *k, char name[80])
{
    snprintf(name, 80, "2^%u, %s %s%s", k->lg, k->inverse ? "inverse" : "forward",
             k->order == CUZK_CUDA_NTT_TO_REVERSED ? "to reversed" : "from reversed",
             k->coset ? ", coset" : "");
    return name;
}

/* Runs one transform on a device array with tables of its own. */
static bool run_once(check_ctx *c, const kind *k, dfr *a)
{
    fr root = fr_root_of_unity(FR_ROOT_BELLMAN, k->lg);
    dfr w = device(&root), g = device(k->coset ? k->coset : &root);
    cuzk_err err;
    cuzk_cuda_ntt *t;
    CHECK_OK(c,
             cuzk_cuda_ntt_new(&t, k->lg, k->order, k->inverse, &w, k->coset ? &g : NULL, k->limit,
                               &err),
             err);
    CHECK_OK(c, cuzk_cuda_ntt_run(t, a, NULL, &err), err);
    CHECK_CUDA(c, cudaDeviceSynchronize());
    cuzk_cuda_ntt_free(t);
    return true;
}

/* One transform of the host's input against the host's output. */
static bool agrees(check_ctx *c, const kind *k, const fr *input, const fr *want)
{
    size_t n = (size_t)1 << k->lg, bytes = n * sizeof(fr);
    bool from = k->order == CUZK_CUDA_NTT_FROM_REVERSED;
    fr *a = malloc(bytes);
    dfr *d;
    char name[80];
    CHECK_CUDA(c, cudaMalloc((void **)&d, bytes));
    if (!a) {
        return CHECK_FAIL(c, "no memory");
    }
    for (size_t i = 0; i < n; i++) {
        a[from ? reversed(i, k->lg) : i] = input[i];
    }
    CHECK_CUDA(c, cudaMemcpy(d, a, bytes, cudaMemcpyHostToDevice));
    if (!run_once(c, k, d)) {
        return false;
    }
    CHECK_CUDA(c, cudaMemcpy(a, d, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&a[from ? i : reversed(i, k->lg)], &want[i], sizeof *a) != 0) {
            return CHECK_FAIL(c, "%s: element %zu differs", name_of(k, name), i);
        }
    }
    cudaFree(d);
    free(a);
    return true;
}

/* The four transforms of one size and coset against the host. */
static bool against_host(check_ctx *c, unsigned lg, const fr *coset, size_t limit, cuzk_pool *pool)
{
    size_t n = (size_t)1 << lg, bytes = n * sizeof(fr);
    fr *a = malloc(bytes), *values = malloc(bytes);
    if (!a || !values) {
        return CHECK_FAIL(c, "no memory");
    }
    check_fr_array(c, a, n);
    memcpy(values, a, bytes);
    ntt_domain *domain;
    cuzk_err err;
    CHECK_OK(c, ntt_domain_new(&domain, lg, FR_ROOT_BELLMAN, &err), err);
    if (coset) {
        ntt_coset_forward(domain, values, coset, pool);
    } else {
        ntt_forward(domain, values, pool);
    }
    ntt_domain_free(domain);
    bool ok = true;
    for (unsigned i = 0; i < 4 && ok; i++) {
        kind k = {lg, i & 1 ? CUZK_CUDA_NTT_FROM_REVERSED : CUZK_CUDA_NTT_TO_REVERSED, i & 2, coset,
                  limit};
        ok = agrees(c, &k, k.inverse ? values : a, k.inverse ? a : values);
    }
    free(a);
    free(values);
    return ok;
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

/* Whether 1000 random values of the polynomial u x^i are where they should be in d. */
static bool values_fit(check_ctx *c, const kind *k, const dfr *d, fr u, fr x)
{
    size_t n = (size_t)1 << k->lg;
    fr root = fr_root_of_unity(FR_ROOT_BELLMAN, k->lg);
    char name[80];
    for (int i = 0; i < 1000; i++) {
        uint64_t e = i < 2 ? (uint64_t)i * (n - 1) : check_u64(c) % n;
        size_t at = k->order == CUZK_CUDA_NTT_TO_REVERSED ? reversed(e, k->lg) : e;
        fr y, got;
        fr_pow(&y, &root, &e, 1);
        if (k->coset) {
            fr_mul(&y, &y, k->coset);
        }
        fr want = geometric_sum(u, x, y, n);
        CHECK_CUDA(c, cudaMemcpy(&got, d + at, sizeof got, cudaMemcpyDeviceToHost));
        if (memcmp(&got, &want, sizeof got) != 0) {
            return CHECK_FAIL(c, "%s: the value at place %zu is wrong", name_of(k, name), at);
        }
    }
    return true;
}

/* An array whose transform is known at every place, forward, and back by the inverse. */
static bool geometric(check_ctx *c, unsigned lg, cuzk_cuda_ntt_order order, const fr *coset,
                      size_t limit)
{
    size_t n = (size_t)1 << lg, bytes = n * sizeof(fr);
    kind forward = {lg, order, false, coset, limit}, inverse = {lg, 1 - order, true, coset, limit};
    fr *a = malloc(bytes), *back = malloc(bytes), r[6];
    dfr *d;
    CHECK_CUDA(c, cudaMalloc((void **)&d, bytes));
    if (!a || !back) {
        return CHECK_FAIL(c, "no memory");
    }
    check_fr_array(c, r, 6);
    fr u = r[4], x = r[5], term = u;
    for (size_t i = 0; i < n; i++) {
        a[order == CUZK_CUDA_NTT_TO_REVERSED ? i : reversed(i, lg)] = term;
        fr_mul(&term, &term, &x);
    }
    CHECK_CUDA(c, cudaMemcpy(d, a, bytes, cudaMemcpyHostToDevice));
    if (!run_once(c, &forward, d) || !values_fit(c, &forward, d, u, x) ||
        !run_once(c, &inverse, d)) {
        return false;
    }
    CHECK_CUDA(c, cudaMemcpy(back, d, bytes, cudaMemcpyDeviceToHost));
    if (memcmp(back, a, bytes) != 0) {
        return CHECK_FAIL(c, "2^%u: the inverse does not lead back", lg);
    }
    cudaFree(d);
    free(a);
    free(back);
    return true;
}

bool check_ntt_large(check_ctx *c)
{
    fr g[8];
    check_fr_array(c, g, 8);
    const cuzk_cuda_ntt_order to = CUZK_CUDA_NTT_TO_REVERSED, from = CUZK_CUDA_NTT_FROM_REVERSED;
    if (c->small) {
        return geometric(c, 13, to, &g[7], SIZE_MAX);
    }
    return geometric(c, 24, to, NULL, SIZE_MAX) && geometric(c, 25, from, &g[7], 0) &&
           geometric(c, 26, to, NULL, 0) && geometric(c, 27, to, &g[7], SIZE_MAX) &&
           geometric(c, 27, from, &g[7], SIZE_MAX);
}
