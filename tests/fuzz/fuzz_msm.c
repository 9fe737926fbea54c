#include "math/msm/msm.h"

#include <stdlib.h>
#include <string.h>

/*
 * A few points (small multiples of the generator, so that they are often equal, opposite or
 * infinity) with scalars of every class, from bytes; every instruction set must give the sum that
 * double-and-add gives.
 */

#define MOST 48

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fr_repr scalar_of(uint8_t kind, uint8_t v)
{
    fr_repr k = {{v}};
    if (kind & 1) { /* a limb full of v */
        k.l[kind >> 1 & 3] = v * 0x0101010101010101u;
    }
    k.l[3] &= 0x3fffffffffffffff;
    if (kind & 8 && (k.l[0] | k.l[1] | k.l[2] | k.l[3])) {
        mont_sub_raw(k.l, fr_modulus.l, k.l, FR_LIMBS);
    }
    return k;
}

#define CHECK(G)                                                                                   \
    static void check_##G(const uint8_t *data, size_t n)                                           \
    {                                                                                              \
        G##_affine p[MOST];                                                                        \
        fr_repr k[MOST];                                                                           \
        G sum, t;                                                                                  \
        G##_set_inf(&sum);                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint8_t *d = data + 3 * i;                                                       \
            fr_repr log = {{d[0] & 15}};                                                           \
            G##_from_affine(&t, &G##_generator);                                                   \
            G##_mul(&t, &t, &log);                                                                 \
            if (d[0] & 16) {                                                                       \
                G##_neg(&t, &t);                                                                   \
            }                                                                                      \
            G##_to_affine(&p[i], &t);                                                              \
            k[i] = scalar_of(d[1], d[2]);                                                          \
            G##_mul(&t, &t, &k[i]);                                                                \
            G##_add(&sum, &sum, &t);                                                               \
        }                                                                                          \
        for (math_isa isa = MATH_ISA_PORTABLE; isa <= MATH_ISA_IFMA; isa++) {                      \
            cuzk_err err;                                                                          \
            math_isa_limit(isa);                                                                   \
            if (msm_##G(&t, p, k, n, NULL, &err) != CUZK_OK || !G##_eq(&t, &sum)) {                \
                abort();                                                                           \
            }                                                                                      \
        }                                                                                          \
    }

CHECK(g1)
CHECK(g2)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) {
        return 0;
    }
    size_t n = (size - 1) / 3 < MOST ? (size - 1) / 3 : MOST;
    if (data[0] & 1) {
        check_g2(data + 1, n);
    } else {
        check_g1(data + 1, n);
    }
    return 0;
}
