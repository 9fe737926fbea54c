#ifndef CUZK_MATH_FIELD_FP_H
#define CUZK_MATH_FIELD_FP_H

#include "math/cpu.h"
#include "math/field/constants.h"
#include "math/field/mont.h"

#include <assert.h>
#include <stddef.h>

/** An element of Fp, the base field, in Montgomery form (times 2^384), always reduced to [0,
 * modulus). */
typedef struct fp {
    uint64_t l[FP_LIMBS];
} fp;

static const fp fp_modulus = {FP_MODULUS}; /* as an integer, not in Montgomery form */
static const fp fp_zero = {{0}};
static const fp fp_one = {FP_R};
static const fp fp_r2 = {FP_R2};

/** fp_mul without a look at the processor; the reference for every other path. */
void fp_mul_portable(fp *r, const fp *a, const fp *b);
#ifdef CUZK_X86_64
/** fp_mul with BMI2 and ADX. */
void fp_mul_adx(fp *r, const fp *a, const fp *b);
#endif

/** True when a is reduced, as every fp must be. */
static inline bool fp_is_reduced(const fp *a)
{
    return mont_in_range(a->l, fp_modulus.l, FP_LIMBS);
}

/* In a CUZK_VERIFY build, stops at the first operand that breaks the representation. */
static inline void fp_verify(const fp *a)
{
#ifdef CUZK_VERIFY
    assert(fp_is_reduced(a));
#else
    (void)a;
#endif
}

static inline bool fp_is_zero(const fp *a) { return mont_is_zero(a->l, FP_LIMBS); }

static inline bool fp_eq(const fp *a, const fp *b) { return mont_eq(a->l, b->l, FP_LIMBS); }

static inline void fp_add(fp *r, const fp *a, const fp *b)
{
    fp_verify(a);
    fp_verify(b);
    mont_add(r->l, a->l, b->l, fp_modulus.l, FP_LIMBS);
}

static inline void fp_sub(fp *r, const fp *a, const fp *b)
{
    fp_verify(a);
    fp_verify(b);
    mont_sub(r->l, a->l, b->l, fp_modulus.l, FP_LIMBS);
}

static inline void fp_dbl(fp *r, const fp *a) { fp_add(r, a, a); }

static inline void fp_neg(fp *r, const fp *a) { fp_sub(r, &fp_zero, a); }

static inline void fp_mul(fp *r, const fp *a, const fp *b)
{
    fp_verify(a);
    fp_verify(b);
#ifdef CUZK_X86_64
    if (math_isa_level >= MATH_ISA_ADX) {
        fp_mul_adx(r, a, b);
        return;
    }
#endif
    fp_mul_portable(r, a, b);
}

static inline void fp_sqr(fp *r, const fp *a) { fp_mul(r, a, a); }

/** The small integer v. */
static inline fp fp_from_u64(uint64_t v)
{
    fp r = {{v}};
    fp_mul(&r, &r, &fp_r2);
    return r;
}

/** r = a^e, e an integer of n limbs, least significant first. Variable time in e. */
void fp_pow(fp *r, const fp *a, const uint64_t *e, size_t n);

/** r = a^-1, and 0 for 0. Variable time in a. */
void fp_inv(fp *r, const fp *a);

/** Replaces each a[i] by its inverse (0 stays 0) with one inversion, in variable time. scratch: n
 *  elements, or NULL
 *  when n <= 64. */
void fp_batch_inv(fp *a, size_t n, fp *scratch);

/** 48 big-endian bytes to a field element; false, with *r untouched, when it is not below p. */
bool fp_from_be_bytes(fp *r, const uint8_t bytes[48]);
void fp_to_be_bytes(uint8_t bytes[48], const fp *a);

/** r = a square root of a, or false, with *r untouched, when a has none. */
bool fp_sqrt(fp *r, const fp *a);

/** True when a, as an integer, is above (p - 1) / 2: the "larger" of a and -a. */
bool fp_is_large(const fp *a);

#endif
