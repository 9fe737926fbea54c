#include "math/field/fp.h"

#include "base/bytes.h"
#include "math/field/inverse.h"

void fp_mul_portable(fp *r, const fp *a, const fp *b)
{
    mont_mul(r->l, a->l, b->l, fp_modulus.l, FP_INV, FP_LIMBS);
}

void fp_pow(fp *r, const fp *a, const uint64_t *e, size_t n)
{
    fp base = *a;
    fp acc = fp_one;
    for (size_t i = 64 * n; i-- > 0;) {
        fp_sqr(&acc, &acc);
        if (e[i / 64] >> (i % 64) & 1) {
            fp_mul(&acc, &acc, &base);
        }
    }
    *r = acc;
}

void fp_inv(fp *r, const fp *a)
{
    fp_verify(a);
    fp r3, t; /* a R to a^-1 R^-1, and that times R^2 */
    fp_mul(&r3, &fp_r2, &fp_r2);
    inverse_mod(t.l, a->l, fp_modulus.l, 0 - FP_INV, FP_LIMBS);
    fp_mul(r, &t, &r3);
}

/* Montgomery's trick: prefix products, one inversion, then back. */
void fp_batch_inv(fp *a, size_t n, fp *scratch)
{
    fp local[64];
    fp *prefix = scratch ? scratch : local;
    assert(scratch || n <= 64);
    fp acc = fp_one;
    for (size_t i = 0; i < n; i++) {
        prefix[i] = acc;
        if (!fp_is_zero(&a[i])) {
            fp_mul(&acc, &acc, &a[i]);
        }
    }
    fp_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (!fp_is_zero(&a[i])) {
            fp inverse;
            fp_mul(&inverse, &acc, &prefix[i]);
            fp_mul(&acc, &acc, &a[i]);
            a[i] = inverse;
        }
    }
}

/* The integer in [0, p) that a stands for. */
static fp canonical(const fp *a)
{
    static const fp one = {{1}};
    fp t;
    fp_mul(&t, a, &one);
    return t;
}

bool fp_from_be_bytes(fp *r, const uint8_t bytes[48])
{
    fp t;
    for (int i = 0; i < FP_LIMBS; i++) {
        t.l[i] = cuzk_load_u64be(bytes + 40 - 8 * i);
    }
    if (!fp_is_reduced(&t)) {
        return false;
    }
    fp_mul(r, &t, &fp_r2);
    return true;
}

void fp_to_be_bytes(uint8_t bytes[48], const fp *a)
{
    fp t = canonical(a);
    for (int i = 0; i < FP_LIMBS; i++) {
        cuzk_store_u64be(bytes + 40 - 8 * i, t.l[i]);
    }
}

bool fp_sqrt(fp *r, const fp *a)
{
    uint64_t e[FP_LIMBS]; /* p = 3 mod 4, so a^((p + 1) / 4) is a root if there is one */
    for (int i = 0; i < FP_LIMBS; i++) {
        uint64_t up = i + 1 < FP_LIMBS ? fp_modulus.l[i + 1] : 0;
        e[i] = fp_modulus.l[i] >> 2 | up << 62;
    }
    e[0] += 1; /* floor(p / 4) + 1 */
    fp root, square;
    fp_pow(&root, a, e, FP_LIMBS);
    fp_sqr(&square, &root);
    if (!fp_eq(&square, a)) {
        return false;
    }
    *r = root;
    return true;
}

bool fp_is_large(const fp *a)
{
    fp t = canonical(a);
    uint64_t d[FP_LIMBS];
    mont_add_raw(t.l, t.l, t.l, FP_LIMBS); /* 2a > p - 1, p odd, iff 2a > p iff not 2a < p */
    return mont_sub_raw(d, t.l, fp_modulus.l, FP_LIMBS) == 0;
}
