#ifndef CUZK_MATH_CPU_H
#define CUZK_MATH_CPU_H

#include <stdbool.h>

/** Instruction sets that the arithmetic has code for; each level includes those before it. */
typedef enum math_isa {
    MATH_ISA_PORTABLE, /* C with 64-bit limbs and unsigned __int128 */
    MATH_ISA_ADX,      /* x86-64 with BMI2 and ADX */
    MATH_ISA_IFMA,     /* AVX-512 F, DQ, BW, VL and IFMA: eight field elements at once */
} math_isa;

/**
 * The level in use, set once before main from CPUID and from the environment variable CUZK_ISA
 * (portable, adx or ifma: a ceiling, for tests and benchmarks). Read-only for everyone but
 * math_isa_limit.
 */
extern math_isa math_isa_level;

/** Lowers the level to at most `ceiling`, or raises it again up to what the processor has, and
 *  returns the level now in use. For tests and benchmarks; no other thread may be computing. */
math_isa math_isa_limit(math_isa ceiling);

/** "portable", "adx" or "ifma". */
const char *math_isa_name(math_isa isa);

#endif
