#include "checks.h"
#include "field_kernels.h"

#include <stdlib.h>
#include <string.h>

/* Device memory for n elements of `size` bytes, with a copy of a unless that is NULL. */
static void *upload(const void *a, size_t n, size_t size)
{
    void *d = NULL;
    if (cudaMalloc(&d, n * size) == cudaSuccess && a) {
        cudaMemcpy(d, a, n * size, cudaMemcpyHostToDevice);
    }
    return d;
}

static bool same(const void *got, const void *want, size_t size)
{
    return memcmp(got, want, size) == 0;
}

static const char *wrong_fp(const fp_results *got, const fp *a, const fp *b)
{
    fp mul, sqr, dot2, add, sub, neg;
    fp_mul(&mul, a, b);
    fp_sqr(&sqr, a);
    fp_sqr(&dot2, b);
    fp_add(&dot2, &dot2, &mul);
    fp_add(&add, a, b);
    fp_sub(&sub, a, b);
    fp_neg(&neg, a);
    return !same(&got->mul, &mul, sizeof mul)     ? "a b"
           : !same(&got->sqr, &sqr, sizeof mul)   ? "a^2"
           : !same(&got->dot2, &dot2, sizeof mul) ? "a b + b^2"
           : !same(&got->add, &add, sizeof mul)   ? "a + b"
           : !same(&got->sub, &sub, sizeof mul)   ? "a - b"
           : !same(&got->neg, &neg, sizeof mul)   ? "-a"
                                                  : NULL;
}

static const char *wrong_fr(const fr_results *got, const fr *a, const fr *b)
{
    fr mul, add, sub;
    fr_repr integer;
    fr_mul(&mul, a, b);
    fr_add(&add, a, b);
    fr_sub(&sub, a, b);
    fr_to_repr(&integer, a);
    return !same(&got->mul, &mul, sizeof mul)           ? "a b"
           : !same(&got->shoup, &mul, sizeof mul)       ? "a b, b fixed"
           : !same(&got->add, &add, sizeof mul)         ? "a + b"
           : !same(&got->sub, &sub, sizeof mul)         ? "a - b"
           : !same(&got->integer, &integer, sizeof mul) ? "a out of Montgomery form"
                                                        : NULL;
}

static bool check_fp_pairs(check_ctx *c, size_t n)
{
    fp *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    fp_results *r = malloc(n * sizeof *r);
    if (!a || !b || !r) {
        return CHECK_FAIL(c, "no memory");
    }
    check_fp_array(c, a, n);
    check_fp_array(c, b, n);
    const fp edges[] = {a[0], a[1], a[2], a[3]};
    for (size_t i = 0; i < 32; i++) { /* each edge with each, as either representative */
        a[i] = edges[i / 2 % 4];
        b[i] = edges[i / 8];
    }
    void *da = upload(a, n, sizeof *a), *db = upload(b, n, sizeof *b),
         *dr = upload(NULL, n, sizeof *r);
    field_fp_results(dr, da, db, n);
    CHECK_CUDA(c, cudaMemcpy(r, dr, n * sizeof *r, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        const char *wrong = wrong_fp(&r[i], &a[i], &b[i]);
        if (wrong) {
            return CHECK_FAIL(c, "Fp, pair %zu of %zu: %s", i, n, wrong);
        }
    }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dr);
    free(a);
    free(b);
    free(r);
    return true;
}

static bool check_fr_pairs(check_ctx *c, size_t n)
{
    fr *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    fr_results *r = malloc(n * sizeof *r);
    if (!a || !b || !r) {
        return CHECK_FAIL(c, "no memory");
    }
    check_fr_array(c, a, n);
    check_fr_array(c, b, n);
    const fr edges[] = {a[0], a[1], a[2], a[3]};
    for (size_t i = 0; i < 32; i++) {
        a[i] = edges[i / 2 % 4];
        b[i] = edges[i / 8];
    }
    void *da = upload(a, n, sizeof *a), *db = upload(b, n, sizeof *b),
         *dr = upload(NULL, n, sizeof *r);
    field_fr_results(dr, da, db, n);
    CHECK_CUDA(c, cudaMemcpy(r, dr, n * sizeof *r, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        const char *wrong = wrong_fr(&r[i], &a[i], &b[i]);
        if (wrong) {
            return CHECK_FAIL(c, "Fr, pair %zu of %zu: %s", i, n, wrong);
        }
    }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dr);
    free(a);
    free(b);
    free(r);
    return true;
}

bool check_field(check_ctx *c)
{
    size_t n = c->small ? 4096 : 1 << 18;
    return check_fp_pairs(c, n) && check_fr_pairs(c, n);
}

bool check_inversions(check_ctx *c)
{
    size_t n = c->small ? 256 : 1 << 14;
    fp *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    fr *s = malloc(n * sizeof *s), *t = malloc(n * sizeof *t);
    if (!a || !b || !s || !t) {
        return CHECK_FAIL(c, "no memory");
    }
    check_fp_array(c, a, n);
    check_fr_array(c, s, n);
    void *da = upload(a, n, sizeof *a), *ds = upload(s, n, sizeof *s);
    field_fp_inverses(da, n);
    field_fr_inverses(ds, n);
    CHECK_CUDA(c, cudaMemcpy(b, da, n * sizeof *b, cudaMemcpyDeviceToHost));
    CHECK_CUDA(c, cudaMemcpy(t, ds, n * sizeof *t, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        fp_inv(&a[i], &a[i]);
        fr_inv(&s[i], &s[i]);
        if (!fp_eq(&a[i], &b[i]) || !fr_eq(&s[i], &t[i])) {
            return CHECK_FAIL(c, "element %zu of %zu", i, n);
        }
    }
    cudaFree(da);
    cudaFree(ds);
    free(a);
    free(b);
    free(s);
    free(t);
    return true;
}
