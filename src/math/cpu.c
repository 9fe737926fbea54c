#include "math/cpu.h"

#include <stdlib.h>
#include <string.h>

#ifdef CUZK_X86_64
#include <cpuid.h>
#include <stdint.h>
#endif

math_isa math_isa_level = MATH_ISA_PORTABLE;

static math_isa detect(void)
{
#ifdef CUZK_X86_64
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        return MATH_ISA_PORTABLE;
    }
    unsigned adx = 1u << 8 | 1u << 19;                                    /* BMI2, ADX */
    unsigned ifma = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 30 | 1u << 31; /* F DQ IFMA BW VL */
    if ((b & adx) != adx) {
        return MATH_ISA_PORTABLE;
    }
    if ((b & ifma) != ifma || !__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 27)) {
        return MATH_ISA_ADX;
    }
    /* XCR0 says whether the operating system saves the mask and 512-bit registers. */
    uint32_t lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (lo & 0xe6) == 0xe6 ? MATH_ISA_IFMA : MATH_ISA_ADX;
#else
    return MATH_ISA_PORTABLE;
#endif
}

const char *math_isa_name(math_isa isa)
{
    static const char *const names[] = {"portable", "adx", "ifma"};
    return names[isa];
}

math_isa math_isa_limit(math_isa ceiling)
{
    math_isa have = detect();
    math_isa_level = have < ceiling ? have : ceiling;
    return math_isa_level;
}

__attribute__((constructor)) static void choose(void)
{
    math_isa ceiling = MATH_ISA_IFMA;
    const char *wish = getenv("CUZK_ISA");
    for (math_isa isa = MATH_ISA_PORTABLE; wish && isa <= MATH_ISA_IFMA; isa++) {
        if (strcmp(wish, math_isa_name(isa)) == 0) {
            ceiling = isa;
        }
    }
    math_isa_limit(ceiling);
}
