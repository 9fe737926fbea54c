#ifndef CUZK_BASE_BLAKE2B_H
#define CUZK_BASE_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

/**
 * BLAKE2b (RFC 7693) of bytes[n], for short messages: n_ret bytes (1 .. 64) of digest, keyed when
 * n_key is not 0 (at most 64).
 */
void cuzk_blake2b(uint8_t *ret, size_t n_ret, const void *key, size_t n_key, const void *bytes,
                  size_t n);

#endif
