#ifndef CUZK_MATH_FIELD_FP12_H
#define CUZK_MATH_FIELD_FP12_H

#include "math/field/fp6.h"

/**
 * c0 + c1 w in Fp12 = Fp6[w] / (w^2 - v); over Fp2 its basis is 1, w, …, w^5 with w^6 = xi = 1 + i.
 * Operands and results may overlap.
 */
typedef struct fp12 {
    fp6 c0, c1;
} fp12;

static const fp12 fp12_one = {{{{FP_R}, {{0}}}, {{{0}}, {{0}}}, {{{0}}, {{0}}}},
                              {{{{0}}, {{0}}}, {{{0}}, {{0}}}, {{{0}}, {{0}}}}};

static inline bool fp12_eq(const fp12 *a, const fp12 *b)
{
    return fp6_eq(&a->c0, &b->c0) && fp6_eq(&a->c1, &b->c1);
}

static inline bool fp12_is_one(const fp12 *a) { return fp12_eq(a, &fp12_one); }

static inline void fp12_add(fp12 *r, const fp12 *a, const fp12 *b)
{
    fp6_add(&r->c0, &a->c0, &b->c0);
    fp6_add(&r->c1, &a->c1, &b->c1);
}

/** r = c0 - c1 w = a^(p^6), which is a^-1 in the cyclotomic subgroup. */
static inline void fp12_conj(fp12 *r, const fp12 *a)
{
    r->c0 = a->c0;
    fp6_neg(&r->c1, &a->c1);
}

/** r = a b: 18 multiplications in Fp2. */
void fp12_mul(fp12 *r, const fp12 *a, const fp12 *b);

/** r = a^2: 12 multiplications in Fp2. */
void fp12_sqr(fp12 *r, const fp12 *a);

/** r = a^-1, and 0 for 0. */
void fp12_inv(fp12 *r, const fp12 *a);

/** r = a (l0 + l2 w^2 + l3 w^3): 13 multiplications in Fp2. Lines of the Miller loop look so. */
void fp12_mul_line(fp12 *r, const fp12 *a, const fp2 *l0, const fp2 *l2, const fp2 *l3);

/** The same for l3 in Fp: 10 multiplications in Fp2 and 6 in Fp. */
void fp12_mul_line_fp(fp12 *r, const fp12 *a, const fp2 *l0, const fp2 *l2, const fp *l3);

/** r = a^p. */
void fp12_frobenius(fp12 *r, const fp12 *a);

/** r = a^(p^2). */
void fp12_frobenius2(fp12 *r, const fp12 *a);

/** r = a^2 for a in the cyclotomic subgroup, a^(p^4 - p^2 + 1) = 1: nine squarings in Fp2 (Granger,
 *  Scott, eprint 2009/565). */
void fp12_cyclotomic_sqr(fp12 *r, const fp12 *a);

/** r = a^e for a in the cyclotomic subgroup. Variable time in e. */
void fp12_cyclotomic_pow(fp12 *r, const fp12 *a, uint64_t e);

#endif
