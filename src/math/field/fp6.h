#ifndef CUZK_MATH_FIELD_FP6_H
#define CUZK_MATH_FIELD_FP6_H

#include "math/field/fp2.h"

/** c0 + c1 v + c2 v^2 in Fp6 = Fp2[v] / (v^3 - xi), xi = 1 + i. Operands and results may overlap.
 */
typedef struct fp6 {
    fp2 c0, c1, c2;
} fp6;

static const fp6 fp6_zero = {{{{0}}, {{0}}}, {{{0}}, {{0}}}, {{{0}}, {{0}}}};
static const fp6 fp6_one = {{{FP_R}, {{0}}}, {{{0}}, {{0}}}, {{{0}}, {{0}}}};

/** r = xi a = (c0 - c1) + (c0 + c1) i. */
static inline void fp2_mul_xi(fp2 *r, const fp2 *a)
{
    fp t;
    fp_sub(&t, &a->c0, &a->c1);
    fp_add(&r->c1, &a->c0, &a->c1);
    r->c0 = t;
}

static inline bool fp6_is_zero(const fp6 *a)
{
    return fp2_is_zero(&a->c0) && fp2_is_zero(&a->c1) && fp2_is_zero(&a->c2);
}

static inline bool fp6_eq(const fp6 *a, const fp6 *b)
{
    return fp2_eq(&a->c0, &b->c0) && fp2_eq(&a->c1, &b->c1) && fp2_eq(&a->c2, &b->c2);
}

static inline void fp6_add(fp6 *r, const fp6 *a, const fp6 *b)
{
    fp2_add(&r->c0, &a->c0, &b->c0);
    fp2_add(&r->c1, &a->c1, &b->c1);
    fp2_add(&r->c2, &a->c2, &b->c2);
}

static inline void fp6_sub(fp6 *r, const fp6 *a, const fp6 *b)
{
    fp2_sub(&r->c0, &a->c0, &b->c0);
    fp2_sub(&r->c1, &a->c1, &b->c1);
    fp2_sub(&r->c2, &a->c2, &b->c2);
}

static inline void fp6_neg(fp6 *r, const fp6 *a)
{
    fp2_neg(&r->c0, &a->c0);
    fp2_neg(&r->c1, &a->c1);
    fp2_neg(&r->c2, &a->c2);
}

/** r = v a. */
static inline void fp6_mul_v(fp6 *r, const fp6 *a)
{
    fp2 t;
    fp2_mul_xi(&t, &a->c2);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

/** r = a b: six multiplications in Fp2. */
void fp6_mul(fp6 *r, const fp6 *a, const fp6 *b);

/** r = a (b0 + b1 v): five multiplications in Fp2. */
void fp6_mul_01(fp6 *r, const fp6 *a, const fp2 *b0, const fp2 *b1);

/** r = a b: three multiplications in Fp2. */
void fp6_mul_fp2(fp6 *r, const fp6 *a, const fp2 *b);

/** r = a b: six multiplications in Fp. */
void fp6_mul_fp(fp6 *r, const fp6 *a, const fp *b);

/** r = a^2: two multiplications and three squarings in Fp2 (Chung, Hasan 2007, SQR2). */
void fp6_sqr(fp6 *r, const fp6 *a);

/** r = a^-1, and 0 for 0. */
void fp6_inv(fp6 *r, const fp6 *a);

#endif
