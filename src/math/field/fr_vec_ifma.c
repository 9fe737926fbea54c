#include "math/field/fr8_ifma.h"
#include "math/field/fr_vec.h"

static void scale(fr *r, const fr *a, const fr *k, size_t n)
{
    fr8 f = fr8_set1_factor(k); /* below 16 r, so products are below 16 / 35 r + r */
    for (size_t i = 0; i < n; i += 8) {
        fr8 v = fr8_load(a + i, 1);
        v = fr8_mul(&v, &f);
        v = fr8_reduce_once(&v);
        fr8_store(r + i, 1, &v);
    }
}

static void sub_scale(fr *r, const fr *a, const fr *c, const fr *k, size_t n)
{
    fr8 f = fr8_set1_factor(k), modulus = fr8_modulus_times(1);
    for (size_t i = 0; i < n; i += 8) {
        fr8 v = fr8_load(a + i, 1), w = fr8_load(c + i, 1);
        v = fr8_sub(&v, &w);
        v = fr8_add(&v, &modulus); /* below 2 r */
        v = fr8_normalise(&v);
        v = fr8_mul(&v, &f);
        v = fr8_reduce_once(&v);
        fr8_store(r + i, 1, &v);
    }
}

void fr_vec_run_ifma(fr_vec_op op, fr *r, const fr *a, const fr *b, const fr *c, size_t n)
{
    if (op == FR_VEC_SCALE) {
        scale(r, a, b, n);
        return;
    }
    if (op == FR_VEC_SUB_SCALE) {
        sub_scale(r, a, c, b, n);
        return;
    }
    fr8 modulus = fr8_modulus_times(1);
    for (size_t i = 0; i < n; i += 8) {
        fr8 v = fr8_load(a + i, 1), w = fr8_load_factor(b + i, 1);
        v = fr8_mul(&v, &w);
        if (op == FR_VEC_MUL_SUB) { /* to (-r, 1.5 r), then to (0, 2.5 r) */
            w = fr8_load(c + i, 1);
            v = fr8_sub(&v, &w);
            v = fr8_add(&v, &modulus);
            v = fr8_normalise(&v);
            v = fr8_reduce(&v);
        } else {
            v = fr8_reduce_once(&v);
        }
        fr8_store(r + i, 1, &v);
    }
}
