#ifndef CUZK_MATH_FIELD_MONT_H
#define CUZK_MATH_FIELD_MONT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(CUZK_X86_64) && defined(__x86_64__)
#include <immintrin.h> /* _addcarry_u64 and _subborrow_u64, which every x86-64 has */
#define MONT_CARRY_INTRINSICS 1
#endif

/*
 * Montgomery arithmetic on n 64-bit limbs, n a compile-time constant at every call, for an odd
 * modulus m whose top bit is clear. Unless a function says otherwise, operands and results are in
 * [0, m) and may overlap. This is the portable path and the definition that the others are tested
 * against.
 */

#if defined(__GNUC__)
#define MONT_INLINE static inline __attribute__((always_inline))
#endif

__extension__ typedef unsigned __int128 mont_u128;

/* *r = a + b + carry, returns the carry out. Compilers make poor chains of the 128-bit form. */
MONT_INLINE unsigned char mont_adc(unsigned char carry, uint64_t a, uint64_t b, uint64_t *r)
{
#ifdef MONT_CARRY_INTRINSICS
    unsigned long long s;
    carry = _addcarry_u64(carry, a, b, &s);
    *r = s;
    return carry;
#else
    mont_u128 s = (mont_u128)a + b + carry;
    *r = (uint64_t)s;
    return (unsigned char)(s >> 64);
#endif
}

/* *r = a - b - borrow, returns the borrow out. */
MONT_INLINE unsigned char mont_sbb(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *r)
{
#ifdef MONT_CARRY_INTRINSICS
    unsigned long long d;
    borrow = _subborrow_u64(borrow, a, b, &d);
    *r = d;
    return borrow;
#else
    mont_u128 d = (mont_u128)a - b - borrow;
    *r = (uint64_t)d;
    return (unsigned char)(d >> 64 & 1);
#endif
}

/* a - b over n limbs, returns the borrow (0 or 1). */
MONT_INLINE uint64_t mont_sub_raw(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    unsigned char borrow = 0;
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        borrow = mont_sbb(borrow, a[i], b[i], &r[i]);
    }
    return borrow;
}

/* a + b over n limbs, returns the carry. */
MONT_INLINE uint64_t mont_add_raw(uint64_t *r, const uint64_t *a, const uint64_t *b, int n)
{
    unsigned char carry = 0;
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        carry = mont_adc(carry, a[i], b[i], &r[i]);
    }
    return carry;
}

/* r = mask ? a : b, mask all ones or zero. */
MONT_INLINE void mont_select(uint64_t *r, const uint64_t *a, const uint64_t *b, uint64_t mask,
                             int n)
{
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        r[i] = (a[i] & mask) | (b[i] & ~mask);
    }
}

/* a in [0, 2m) to [0, m). */
MONT_INLINE void mont_reduce_once(uint64_t *r, const uint64_t *a, const uint64_t *m, int n)
{
    uint64_t t[8];
    uint64_t borrow = mont_sub_raw(t, a, m, n);
    mont_select(r, a, t, 0 - borrow, n);
}

MONT_INLINE void mont_add(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                          int n)
{
    uint64_t t[8];
    mont_add_raw(t, a, b, n); /* no carry: the top bit of m is clear */
    mont_reduce_once(r, t, m, n);
}

MONT_INLINE void mont_sub(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                          int n)
{
    uint64_t t[8], back[8];
    uint64_t mask = 0 - mont_sub_raw(t, a, b, n);
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        back[i] = m[i] & mask;
        __asm__("" : "+r"(back[i])); /* keeps the AND, which clears the carry, out of the chain */
    }
    mont_add_raw(r, t, back, n);
}

/* a b 2^-64n mod m, inv = -m^-1 mod 2^64: coarsely integrated operand scanning (Koc, Acar, Kaliski
 * 1996). a and b in [0, 2^64n) with a b < m 2^64n suffice. */
MONT_INLINE void mont_mul(uint64_t *r, const uint64_t *a, const uint64_t *b, const uint64_t *m,
                          uint64_t inv, int n)
{
    uint64_t t[9] = {0};
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) {
            mont_u128 s = (mont_u128)a[j] * b[i] + t[j] + carry;
            t[j] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        t[n] = carry;
        uint64_t q = t[0] * inv;
        mont_u128 s = (mont_u128)q * m[0] + t[0];
        carry = (uint64_t)(s >> 64);
#pragma GCC unroll 8
        for (int j = 1; j < n; j++) {
            s = (mont_u128)q * m[j] + t[j] + carry;
            t[j - 1] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        t[n - 1] = t[n] + carry; /* no carry out: the top bit of m is clear */
    }
    mont_reduce_once(r, t, m, n);
}

MONT_INLINE bool mont_is_zero(const uint64_t *a, int n)
{
    uint64_t any = 0;
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        any |= a[i];
    }
    return any == 0;
}

MONT_INLINE bool mont_eq(const uint64_t *a, const uint64_t *b, int n)
{
    uint64_t any = 0;
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) {
        any |= a[i] ^ b[i];
    }
    return any == 0;
}

/* a < m as integers. */
MONT_INLINE bool mont_in_range(const uint64_t *a, const uint64_t *m, int n)
{
    uint64_t t[8];
    return mont_sub_raw(t, a, m, n) != 0;
}

#endif
