#ifndef CUZK_MATH_FIELD_FP2_H
#define CUZK_MATH_FIELD_FP2_H

#include "math/field/fp.h"

/** c0 + c1 i in Fp2 = Fp[i] / (i^2 + 1). */
typedef struct fp2 {
    fp c0, c1;
} fp2;

static const fp2 fp2_zero = {{{0}}, {{0}}};
static const fp2 fp2_one = {{FP_R}, {{0}}};

static inline bool fp2_is_zero(const fp2 *a) { return fp_is_zero(&a->c0) && fp_is_zero(&a->c1); }

static inline bool fp2_eq(const fp2 *a, const fp2 *b)
{
    return fp_eq(&a->c0, &b->c0) && fp_eq(&a->c1, &b->c1);
}

static inline void fp2_add(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp_add(&r->c0, &a->c0, &b->c0);
    fp_add(&r->c1, &a->c1, &b->c1);
}

static inline void fp2_sub(fp2 *r, const fp2 *a, const fp2 *b)
{
    fp_sub(&r->c0, &a->c0, &b->c0);
    fp_sub(&r->c1, &a->c1, &b->c1);
}

static inline void fp2_dbl(fp2 *r, const fp2 *a) { fp2_add(r, a, a); }

static inline void fp2_neg(fp2 *r, const fp2 *a)
{
    fp_neg(&r->c0, &a->c0);
    fp_neg(&r->c1, &a->c1);
}

/** r = c0 - c1 i, which is also a^p. */
static inline void fp2_conj(fp2 *r, const fp2 *a)
{
    r->c0 = a->c0;
    fp_neg(&r->c1, &a->c1);
}

#ifdef CUZK_X86_64
/** fp2_mul with BMI2 and ADX: two sums of two products, each reduced once. */
void fp2_mul_adx(fp2 *r, const fp2 *a, const fp2 *b);
#endif

/** Three multiplications in Fp (Karatsuba), or the work of about as many. */
static inline void fp2_mul(fp2 *r, const fp2 *a, const fp2 *b)
{
#ifdef CUZK_X86_64
    if (math_isa_level >= MATH_ISA_ADX) {
        fp_verify(&a->c0);
        fp_verify(&a->c1);
        fp_verify(&b->c0);
        fp_verify(&b->c1);
        fp2_mul_adx(r, a, b);
        return;
    }
#endif
    fp t0, t1, sa, sb;
    fp_add(&sa, &a->c0, &a->c1);
    fp_add(&sb, &b->c0, &b->c1);
    fp_mul(&t0, &a->c0, &b->c0);
    fp_mul(&t1, &a->c1, &b->c1);
    fp_mul(&sa, &sa, &sb);
    fp_sub(&r->c0, &t0, &t1);
    fp_sub(&sa, &sa, &t0);
    fp_sub(&r->c1, &sa, &t1);
}

/** (c0 + c1)(c0 - c1) + 2 c0 c1 i: two multiplications in Fp. */
static inline void fp2_sqr(fp2 *r, const fp2 *a)
{
    fp sum, difference, product;
    fp_add(&sum, &a->c0, &a->c1);
    fp_sub(&difference, &a->c0, &a->c1);
    fp_mul(&product, &a->c0, &a->c1);
    fp_mul(&r->c0, &sum, &difference);
    fp_dbl(&r->c1, &product);
}

static inline void fp2_mul_fp(fp2 *r, const fp2 *a, const fp *b)
{
    fp_mul(&r->c0, &a->c0, b);
    fp_mul(&r->c1, &a->c1, b);
}

/** r = a^-1, and 0 for 0. */
void fp2_inv(fp2 *r, const fp2 *a);

/** Replaces each a[i] by its inverse (0 stays 0) with one inversion. scratch: n elements, or NULL
 *  when n <= 64. */
void fp2_batch_inv(fp2 *a, size_t n, fp2 *scratch);

/** r = a square root of a, or false, with *r untouched, when a has none. */
bool fp2_sqrt(fp2 *r, const fp2 *a);

/** True when a is the larger of a and -a: c1 decides, c0 when c1 is 0. */
bool fp2_is_large(const fp2 *a);

#endif
