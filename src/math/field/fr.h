#ifndef CUZK_MATH_FIELD_FR_H
#define CUZK_MATH_FIELD_FR_H

#include "math/cpu.h"
#include "math/field/constants.h"
#include "math/field/mont.h"

#include <assert.h>
#include <stddef.h>

/** An element of Fr, the scalar field, in Montgomery form (times 2^256), always reduced to [0,
 * modulus). */
typedef struct fr {
    uint64_t l[FR_LIMBS];
} fr;

static const fr fr_modulus = {FR_MODULUS}; /* as an integer, not in Montgomery form */
static const fr fr_zero = {{0}};
static const fr fr_one = {FR_R};
static const fr fr_r2 = {FR_R2};

/** fr_mul without a look at the processor; the reference for every other path. */
void fr_mul_portable(fr *r, const fr *a, const fr *b);
#ifdef CUZK_X86_64
/** fr_mul with BMI2 and ADX. */
void fr_mul_adx(fr *r, const fr *a, const fr *b);
#endif

/** True when a is reduced, as every fr must be. */
static inline bool fr_is_reduced(const fr *a)
{
    return mont_in_range(a->l, fr_modulus.l, FR_LIMBS);
}

/* In a CUZK_VERIFY build, stops at the first operand that breaks the representation. */
static inline void fr_verify(const fr *a)
{
#ifdef CUZK_VERIFY
    assert(fr_is_reduced(a));
#else
    (void)a;
#endif
}

static inline bool fr_is_zero(const fr *a) { return mont_is_zero(a->l, FR_LIMBS); }

static inline bool fr_eq(const fr *a, const fr *b) { return mont_eq(a->l, b->l, FR_LIMBS); }

static inline void fr_add(fr *r, const fr *a, const fr *b)
{
    fr_verify(a);
    fr_verify(b);
    mont_add(r->l, a->l, b->l, fr_modulus.l, FR_LIMBS);
}

static inline void fr_sub(fr *r, const fr *a, const fr *b)
{
    fr_verify(a);
    fr_verify(b);
    mont_sub(r->l, a->l, b->l, fr_modulus.l, FR_LIMBS);
}

static inline void fr_dbl(fr *r, const fr *a) { fr_add(r, a, a); }

static inline void fr_neg(fr *r, const fr *a) { fr_sub(r, &fr_zero, a); }

static inline void fr_mul(fr *r, const fr *a, const fr *b)
{
    fr_verify(a);
    fr_verify(b);
#ifdef CUZK_X86_64
    if (math_isa_level >= MATH_ISA_ADX) {
        fr_mul_adx(r, a, b);
        return;
    }
#endif
    fr_mul_portable(r, a, b);
}

static inline void fr_sqr(fr *r, const fr *a) { fr_mul(r, a, a); }

/** The small integer v. */
static inline fr fr_from_u64(uint64_t v)
{
    fr r = {{v}};
    fr_mul(&r, &r, &fr_r2);
    return r;
}

/** r = a^e, e an integer of n limbs, least significant first. Variable time in e. */
void fr_pow(fr *r, const fr *a, const uint64_t *e, size_t n);

/** r = a^-1, and 0 for 0. Variable time in a. */
void fr_inv(fr *r, const fr *a);

/** Replaces each a[i] by its inverse (0 stays 0) with one inversion, in variable time. scratch: n
 *  elements, or NULL
 *  when n <= 64. */
void fr_batch_inv(fr *a, size_t n, fr *scratch);

/** An integer in [0, r), the canonical form of an fr: what files and scalar multiplication use. */
typedef struct fr_repr {
    uint64_t l[FR_LIMBS];
} fr_repr;

static inline void fr_to_repr(fr_repr *r, const fr *a)
{
    static const fr one = {{1}};
    fr t;
    fr_mul(&t, a, &one);
    memcpy(r->l, t.l, sizeof r->l);
}

/** a must be below the modulus. */
static inline void fr_from_repr(fr *r, const fr_repr *a)
{
    fr t;
    memcpy(t.l, a->l, sizeof t.l);
    fr_mul(r, &t, &fr_r2);
}

static inline bool fr_repr_is_canonical(const fr_repr *a)
{
    return mont_in_range(a->l, fr_modulus.l, FR_LIMBS);
}

/** 32 little-endian bytes to an integer; false, with *r untouched, when it is not below r. */
bool fr_repr_from_bytes(fr_repr *r, const uint8_t bytes[32]);
void fr_repr_to_bytes(uint8_t bytes[32], const fr_repr *a);

/** The same for a field element. */
bool fr_from_bytes(fr *r, const uint8_t bytes[32]);
void fr_to_bytes(uint8_t bytes[32], const fr *a);

#endif
