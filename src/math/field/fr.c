#include "math/field/fr.h"

#include "base/bytes.h"
#include "math/field/inverse.h"

void fr_mul_portable(fr *r, const fr *a, const fr *b)
{
    mont_mul(r->l, a->l, b->l, fr_modulus.l, FR_INV, FR_LIMBS);
}

void fr_pow(fr *r, const fr *a, const uint64_t *e, size_t n)
{
    fr base = *a;
    fr acc = fr_one;
    for (size_t i = 64 * n; i-- > 0;) {
        fr_sqr(&acc, &acc);
        if (e[i / 64] >> (i % 64) & 1) {
            fr_mul(&acc, &acc, &base);
        }
    }
    *r = acc;
}

void fr_inv(fr *r, const fr *a)
{
    fr_verify(a);
    fr r3, t; /* a R to a^-1 R^-1, and that times R^2 */
    fr_mul(&r3, &fr_r2, &fr_r2);
    inverse_mod(t.l, a->l, fr_modulus.l, 0 - FR_INV, FR_LIMBS);
    fr_mul(r, &t, &r3);
}

/* Montgomery's trick: prefix products, one inversion, then back. */
void fr_batch_inv(fr *a, size_t n, fr *scratch)
{
    fr local[64];
    fr *prefix = scratch ? scratch : local;
    assert(scratch || n <= 64);
    fr acc = fr_one;
    for (size_t i = 0; i < n; i++) {
        prefix[i] = acc;
        if (!fr_is_zero(&a[i])) {
            fr_mul(&acc, &acc, &a[i]);
        }
    }
    fr_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (!fr_is_zero(&a[i])) {
            fr inverse;
            fr_mul(&inverse, &acc, &prefix[i]);
            fr_mul(&acc, &acc, &a[i]);
            a[i] = inverse;
        }
    }
}

bool fr_repr_from_bytes(fr_repr *r, const uint8_t bytes[32])
{
    fr_repr t;
    for (int i = 0; i < FR_LIMBS; i++) {
        t.l[i] = cuzk_load_u64le(bytes + 8 * i);
    }
    if (!fr_repr_is_canonical(&t)) {
        return false;
    }
    *r = t;
    return true;
}

void fr_repr_to_bytes(uint8_t bytes[32], const fr_repr *a)
{
    for (int i = 0; i < FR_LIMBS; i++) {
        cuzk_store_u64le(bytes + 8 * i, a->l[i]);
    }
}

bool fr_from_bytes(fr *r, const uint8_t bytes[32])
{
    fr_repr t;
    if (!fr_repr_from_bytes(&t, bytes)) {
        return false;
    }
    fr_from_repr(r, &t);
    return true;
}

void fr_to_bytes(uint8_t bytes[32], const fr *a)
{
    fr_repr t;
    fr_to_repr(&t, a);
    fr_repr_to_bytes(bytes, &t);
}
