#include "math/field/fp2.h"

void fp2_inv(fp2 *r, const fp2 *a)
{
    fp norm, t;
    fp_sqr(&norm, &a->c0);
    fp_sqr(&t, &a->c1);
    fp_add(&norm, &norm, &t);
    fp_inv(&norm, &norm);
    fp_mul(&r->c0, &a->c0, &norm);
    fp_mul(&t, &a->c1, &norm);
    fp_neg(&r->c1, &t);
}

void fp2_batch_inv(fp2 *a, size_t n, fp2 *scratch)
{
    fp2 local[64];
    fp2 *prefix = scratch ? scratch : local;
    assert(scratch || n <= 64);
    fp2 acc = fp2_one;
    for (size_t i = 0; i < n; i++) {
        prefix[i] = acc;
        if (!fp2_is_zero(&a[i])) {
            fp2_mul(&acc, &acc, &a[i]);
        }
    }
    fp2_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (!fp2_is_zero(&a[i])) {
            fp2 inverse;
            fp2_mul(&inverse, &acc, &prefix[i]);
            fp2_mul(&acc, &acc, &a[i]);
            a[i] = inverse;
        }
    }
}

/* The complex method: with n = sqrt(c0^2 + c1^2), c0 of the root is sqrt((c0 + n) / 2) or
 * sqrt((c0 - n) / 2), and its c1 is c1 / (2 c0). */
bool fp2_sqrt(fp2 *r, const fp2 *a)
{
    static const fp zero = {{0}};
    fp2 root, square;
    if (fp_is_zero(&a->c1)) {
        if (fp_sqrt(&root.c0, &a->c0)) {
            root.c1 = zero;
        } else {
            fp t; /* -1 is no square, so exactly one of c0 and -c0 is */
            fp_neg(&t, &a->c0);
            if (!fp_sqrt(&root.c1, &t)) {
                return false;
            }
            root.c0 = zero;
        }
        *r = root;
        return true;
    }
    fp norm, t, half = fp_from_u64(2);
    fp_inv(&half, &half);
    fp_sqr(&norm, &a->c0);
    fp_sqr(&t, &a->c1);
    fp_add(&norm, &norm, &t);
    if (!fp_sqrt(&norm, &norm)) {
        return false;
    }
    fp_add(&t, &a->c0, &norm);
    fp_mul(&t, &t, &half);
    if (!fp_sqrt(&root.c0, &t)) {
        fp_sub(&t, &a->c0, &norm);
        fp_mul(&t, &t, &half);
        if (!fp_sqrt(&root.c0, &t)) {
            return false;
        }
    }
    fp_dbl(&t, &root.c0);
    fp_inv(&t, &t);
    fp_mul(&root.c1, &a->c1, &t);
    fp2_sqr(&square, &root);
    if (!fp2_eq(&square, a)) {
        return false;
    }
    *r = root;
    return true;
}

bool fp2_is_large(const fp2 *a)
{
    return fp_is_zero(&a->c1) ? fp_is_large(&a->c0) : fp_is_large(&a->c1);
}
