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
    __m512i w[6];
    for (int i = 0; i < FP_LIMBS; i++) {
        w[i] = _mm512_set_epi64((long long)a[7].l[i], (long long)a[6].l[i], (long long)a[5].l[i],
                                (long long)a[4].l[i], (long long)a[3].l[i], (long long)a[2].l[i],
                                (long long)a[1].l[i], (long long)a[0].l[i]);
    }
    fp8_put(r->limb[0], fp8_from_words(w));
}

void fp8_store(fp r[8], const fp8_lanes *a)
{
    __m512i w[6];
    fp8_to_words(w, fp8_get(a->limb[0]));
    for (int i = 0; i < FP_LIMBS; i++) {
        uint64_t word[8];
        _mm512_storeu_si512(word, w[i]);
        for (int lane = 0; lane < 8; lane++) {
            r[lane].l[i] = word[lane];
        }
    }
}
