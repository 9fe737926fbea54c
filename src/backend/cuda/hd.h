#ifndef CUZK_BACKEND_CUDA_HD_H
#define CUZK_BACKEND_CUDA_HD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What lets one source be device code under nvcc and plain C17 everywhere else. A CUZK_HD function
 * is inlined wherever it is called; in plain C it is an ordinary static inline function, so that
 * kernels' inner functions are tested and fuzzed on machines without a GPU.
 */
#ifdef __CUDACC__
#define CUZK_HD     __host__ __device__ __forceinline__
#define CUZK_UNROLL _Pragma("unroll")
#define CUZK_ROLLED _Pragma("unroll 1")
#else
#define CUZK_HD     static inline
#define CUZK_UNROLL _Pragma("GCC unroll 24")
#define CUZK_ROLLED
#endif

/* On the device this zero is data, not a constant, so that 0 - x is not folded into its users as a
 * negated operand: ptxas makes no wide multiplication with a carry out of a negated one. */
#ifdef __CUDACC__
static __constant__ uint32_t limb_device_zero;
#endif

CUZK_HD uint32_t limb_opaque_zero(void)
{
#ifdef __CUDA_ARCH__
    return limb_device_zero;
#else
    return 0;
#endif
}

/** *p |= v, beside other threads that do so. */
CUZK_HD void hd_atomic_or32(uint32_t *p, uint32_t v)
{
#ifdef __CUDA_ARCH__
    atomicOr(p, v);
#else
    __atomic_fetch_or(p, v, __ATOMIC_RELAXED);
#endif
}

/** *p = min(*p, v), whatever other threads do with *p at the same time. */
CUZK_HD void hd_atomic_min32(uint32_t *p, uint32_t v)
{
#ifdef __CUDA_ARCH__
    atomicMin(p, v);
#else
    uint32_t seen = __atomic_load_n(p, __ATOMIC_RELAXED);
    while (v < seen &&
           !__atomic_compare_exchange_n(p, &seen, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
#endif
}

/** How many bits are set. */
CUZK_HD uint32_t hd_count64(uint64_t v)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__popcll(v);
#else
    return (uint32_t)__builtin_popcountll(v);
#endif
}

/** The bytes of a in reversed order. */
CUZK_HD uint32_t hd_swap_bytes(uint32_t a)
{
    return a << 24 | (a & 0xff00u) << 8 | (a >> 8 & 0xff00u) | a >> 24;
}

/** The lowest `bits` bits of a in reversed order, bits from 0 to 32. */
CUZK_HD uint32_t hd_reverse(uint32_t a, uint32_t bits)
{
    if (bits == 0) {
        return 0;
    }
#ifdef __CUDA_ARCH__
    return __brev(a) >> (32 - bits);
#else
    a = (a & 0x55555555u) << 1 | (a >> 1 & 0x55555555u);
    a = (a & 0x33333333u) << 2 | (a >> 2 & 0x33333333u);
    a = (a & 0x0f0f0f0fu) << 4 | (a >> 4 & 0x0f0f0f0fu);
    return hd_swap_bytes(a) >> (32 - bits);
#endif
}

/*
 * Carry chains over 32-bit limbs. A chain is a run of calls with the same carry c: the first is one
 * of limb_add, limb_sub, limb_mad, the others limb_addc, limb_subc, limb_madc. Nothing else that
 * uses a carry may come between. On the device the carry is the condition code of PTX and *c is not
 * used; elsewhere it is *c. A chain of sums and one of differences do not mix.
 */

/** a + b; starts a chain. */
CUZK_HD uint32_t limb_add(uint32_t a, uint32_t b, uint32_t *c)
{
    uint32_t r;
#ifdef __CUDA_ARCH__
    (void)c;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
    uint64_t t = (uint64_t)a + b;
    r = (uint32_t)t;
    *c = (uint32_t)(t >> 32);
#endif
    return r;
}

/** a + b + carry. */
CUZK_HD uint32_t limb_addc(uint32_t a, uint32_t b, uint32_t *c)
{
    uint32_t r;
#ifdef __CUDA_ARCH__
    (void)c;
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
    uint64_t t = (uint64_t)a + b + *c;
    r = (uint32_t)t;
    *c = (uint32_t)(t >> 32);
#endif
    return r;
}

/** a - b; starts a chain. */
CUZK_HD uint32_t limb_sub(uint32_t a, uint32_t b, uint32_t *c)
{
    uint32_t r;
#ifdef __CUDA_ARCH__
    (void)c;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
    uint64_t t = (uint64_t)a - b;
    r = (uint32_t)t;
    *c = (uint32_t)(t >> 63);
#endif
    return r;
}

/** a - b - borrow. limb_subc(0, 0, c) is all ones after a borrow, else 0. */
CUZK_HD uint32_t limb_subc(uint32_t a, uint32_t b, uint32_t *c)
{
    uint32_t r;
#ifdef __CUDA_ARCH__
    (void)c;
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
    uint64_t t = (uint64_t)a - b - *c;
    r = (uint32_t)t;
    *c = (uint32_t)(t >> 63);
#endif
    return r;
}

/** r[4] += b[4] where mask is not 0, as a part of a chain that it starts or continues; all parts of
 *  the chain have the same mask. One statement, for the device adds under a predicate. */
CUZK_HD void limb_add4_if(uint32_t mask, uint32_t *r, const uint32_t *b, bool start, uint32_t *c)
{
#ifdef __CUDA_ARCH__
    (void)c;
    if (start) {
        asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0; @p add.cc.u32 %0, %0, %5; "
                     "@p addc.cc.u32 %1, %1, %6; @p addc.cc.u32 %2, %2, %7; "
                     "@p addc.cc.u32 %3, %3, %8;}"
                     : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])
                     : "r"(mask), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    } else {
        asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0; @p addc.cc.u32 %0, %0, %5; "
                     "@p addc.cc.u32 %1, %1, %6; @p addc.cc.u32 %2, %2, %7; "
                     "@p addc.cc.u32 %3, %3, %8;}"
                     : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3])
                     : "r"(mask), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]));
    }
#else
    *c = start ? 0 : *c;
    for (int i = 0; i < 4; i++) {
        r[i] = limb_addc(r[i], mask ? b[i] : 0, c);
    }
#endif
}

/** (hi, lo) = a b. */
CUZK_HD void limb_mul(uint32_t *lo, uint32_t *hi, uint32_t a, uint32_t b)
{
#ifdef __CUDA_ARCH__
    asm volatile("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;"
                 : "=&r"(*lo), "=r"(*hi)
                 : "r"(a), "r"(b));
#else
    uint64_t t = (uint64_t)a * b;
    *lo = (uint32_t)t;
    *hi = (uint32_t)(t >> 32);
#endif
}

/** (hi, lo) = a b + (chi, clo); starts a chain. This form, on aligned pairs of registers, is what
 *  ptxas turns into a single wide multiplication with carry. */
CUZK_HD void limb_mad(uint32_t *lo, uint32_t *hi, uint32_t a, uint32_t b, uint32_t clo,
                      uint32_t chi, uint32_t *c)
{
#ifdef __CUDA_ARCH__
    (void)c;
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=&r"(*lo), "=r"(*hi)
                 : "r"(a), "r"(b), "r"(clo), "r"(chi));
#else
    uint64_t product = (uint64_t)a * b;
    uint64_t t = product + ((uint64_t)chi << 32 | clo);
    *c = t < product;
    *lo = (uint32_t)t;
    *hi = (uint32_t)(t >> 32);
#endif
}

/** (hi, lo) = a b + (chi, clo) + carry. */
CUZK_HD void limb_madc(uint32_t *lo, uint32_t *hi, uint32_t a, uint32_t b, uint32_t clo,
                       uint32_t chi, uint32_t *c)
{
#ifdef __CUDA_ARCH__
    (void)c;
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=&r"(*lo), "=r"(*hi)
                 : "r"(a), "r"(b), "r"(clo), "r"(chi));
#else
    uint64_t product = (uint64_t)a * b + *c; /* at most (2^32 - 1)^2 + 1 */
    uint64_t t = product + ((uint64_t)chi << 32 | clo);
    *c = t < product;
    *lo = (uint32_t)t;
    *hi = (uint32_t)(t >> 32);
#endif
}

/** a b + add + carry mod 2^32; ends a chain. */
CUZK_HD uint32_t limb_madc_low(uint32_t a, uint32_t b, uint32_t add, const uint32_t *c)
{
#ifdef __CUDA_ARCH__
    uint32_t r;
    (void)c;
    asm volatile("madc.lo.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(add));
    return r;
#else
    return a * b + add + *c;
#endif
}

/** Limb i of an array of 64-bit limbs. */
CUZK_HD uint32_t limb_of(const uint64_t *a, int i)
{
    return (uint32_t)(a[i / 2] >> (32 * (i % 2)));
}

/** Limb i of twice the integer with these 64-bit limbs. */
CUZK_HD uint32_t limb_of_double(const uint64_t *a, int i)
{
    return limb_of(a, i) << 1 | (i ? limb_of(a, i - 1) >> 31 : 0);
}

#endif
