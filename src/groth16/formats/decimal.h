#ifndef CUZK_GROTH16_DECIMAL_H
#define CUZK_GROTH16_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Parses a decimal integer below 2^64n into limbs[n], least significant first. False, with the
 *  limbs in any state, for anything but digits without leading zeros, and for larger numbers. */
bool cuzk_decimal_parse(const char *text, uint64_t *limbs, size_t n);

/** Bytes that the decimal digits of n limbs and a NUL can take. */
#define CUZK_DECIMAL_SIZE(n) (20 * (n) + 1)

/** Writes the integer of limbs[n], n <= 6, and a NUL to text[CUZK_DECIMAL_SIZE(n)]. */
void cuzk_decimal_format(char *text, const uint64_t *limbs, size_t n);

#endif
