#ifndef CUZK_MATH_FIELD_FP8_H
#define CUZK_MATH_FIELD_FP8_H

#include "math/field/fp.h"

/*
 * Eight elements of Fp at a time, for tests and benchmarks of the arithmetic in fp8_ifma.h. Call
 * these only when math_isa_level is MATH_ISA_IFMA.
 */

/** limb[i][j] holds bits 52 i … 52 i + 51 of element j, in Montgomery form times 2^416. */
typedef struct fp8_lanes {
    _Alignas(64) uint64_t limb[8][8];
} fp8_lanes;

#ifdef CUZK_X86_64
/** r[i] = a[i] b[i] 2^-416 mod p in [0, 2p), below p + 2^-29 p for a b < 64 p^2; a b < 2^797. */
void fp8_mul_many(fp8_lanes *r, const fp8_lanes *a, const fp8_lanes *b, size_t n);
/** r[i] = a[i]^2 2^-416 mod p, in the same range. */
void fp8_sqr_many(fp8_lanes *r, const fp8_lanes *a, size_t n);
/** r[i] = a[i] 2^-32 mod p, in [0, p + 2^-29 p) for a < 4p. */
void fp8_shift_many(fp8_lanes *r, const fp8_lanes *a, size_t n);
/** r[i] = a[i] - b[i] + 2p, for a < 2^414 and b < 2p. */
void fp8_sub_many(fp8_lanes *r, const fp8_lanes *a, const fp8_lanes *b, size_t n);
/** r[i] = a[i] mod p in [0, p), for a < 4p. */
void fp8_reduce_many(fp8_lanes *r, const fp8_lanes *a, size_t n);
/** The integers of eight fp (which are below 2^384), and back from integers below 2^384. */
void fp8_load(fp8_lanes *r, const fp a[8]);
void fp8_store(fp r[8], const fp8_lanes *a);
#endif

#endif
