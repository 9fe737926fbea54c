#include "math/field/fp8.h"
#include "math/field/fp8_ifma.h"

void fp8_mul_many(fp8_lanes *r, const fp8_lanes *a, const fp8_lanes *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fp8_put(r[i].limb[0], fp8_mul(fp8_get(a[i].limb[0]), fp8_get(b[i].limb[0])));
    }
}

void fp8_sqr_many(fp8_lanes *r, const fp8_lanes *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fp8_put(r[i].limb[0], fp8_sqr(fp8_get(a[i].limb[0])));
    }
}

void fp8_shift_many(fp8_lanes *r, const fp8_lanes *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fp8_put(r[i].limb[0], fp8_shift(fp8_get(a[i].limb[0])));
    }
}

void fp8_sub_many(fp8_lanes *r, const fp8_lanes *a, const fp8_lanes *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fp8_put(r[i].limb[0], fp8_sub(fp8_get(a[i].limb[0]), fp8_get(b[i].limb[0]), 2));
    }
}

void fp8_reduce_many(fp8_lanes *r, const fp8_lanes *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fp8_put(r[i].limb[0], fp8_reduce(fp8_get(a[i].limb[0])));
    }
}

void fp8_load(fp8_lanes *r, const fp a[8])
{
    const void *at[8];
    for (int i = 0; i < 8; i++) {
        at[i] = &a[i];
    }
    fp8_put(r->limb[0], fp8_from_words(fp8_gather(at, 0)));
}

void fp8_store(fp r[8], const fp8_lanes *a)
{
    fp8_scatter(r, sizeof *r, fp8_to_words(fp8_get(a->limb[0])), 8);
}
