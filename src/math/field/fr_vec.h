#ifndef CUZK_MATH_FIELD_FR_VEC_H
#define CUZK_MATH_FIELD_FR_VEC_H

#include "base/threads.h"
#include "math/field/fr.h"

/*
 * Loops over arrays of Fr on all threads of a pool (NULL: the caller alone), with AVX-512 IFMA
 * where the processor has it. Arrays may be the same but must not overlap otherwise.
 */

/** r_i = a_i b_i. */
void fr_vec_mul(fr *r, const fr *a, const fr *b, size_t n, cuzk_pool *pool);

/** a_i = a_i b_i - c_i. */
void fr_vec_mul_sub(fr *a, const fr *b, const fr *c, size_t n, cuzk_pool *pool);

/** a_i = (a_i - c_i) k. */
void fr_vec_sub_scale(fr *a, const fr *c, const fr *k, size_t n, cuzk_pool *pool);

/** r_i = a_i k. */
void fr_vec_scale(fr *r, const fr *a, const fr *k, size_t n, cuzk_pool *pool);

/** r_i = the canonical form of a_i. r may be the same memory as a. */
void fr_vec_to_repr(fr_repr *r, const fr *a, size_t n, cuzk_pool *pool);

/** The inverse of fr_vec_to_repr; every a_i must be below the modulus. */
void fr_vec_from_repr(fr *r, const fr_repr *a, size_t n, cuzk_pool *pool);

/** The operations of this file over one range; inside of fr_vec.c. b (or k, for a factor) and c may
 *  be NULL where the operation has none. */
typedef enum fr_vec_op {
    FR_VEC_MUL,       /* r = a b */
    FR_VEC_MUL_SUB,   /* r = a b - c */
    FR_VEC_SCALE,     /* r = a b[0] */
    FR_VEC_SUB_SCALE, /* r = (a - c) b[0] */
} fr_vec_op;

#ifdef CUZK_X86_64
/** n elements with AVX-512 IFMA, n a multiple of 8. b[0] alone may be any integer below the
 * modulus.
 */
void fr_vec_run_ifma(fr_vec_op op, fr *r, const fr *a, const fr *b, const fr *c, size_t n);
#endif

#endif
