#ifndef CUZK_BASE_SYSTEM_H
#define CUZK_BASE_SYSTEM_H

#include "cuzk/err.h"

#include <stddef.h>
#include <stdint.h>

/** Nanoseconds of CLOCK_MONOTONIC. */
uint64_t cuzk_clock_ns(void);

/** Largest resident set of this process so far, in bytes. */
uint64_t cuzk_peak_rss_bytes(void);

/** Fills bytes[n] from the operating system's generator (getrandom). CUZK_E_IO if it fails. */
cuzk_code cuzk_random_bytes(void *bytes, size_t n, cuzk_err *err);

/** Overwrites a secret in a way that the compiler cannot drop. */
void cuzk_wipe(void *bytes, size_t n);

/** Memory for n elements of `size` bytes, to be freed with free; NULL when there is none. Large
 *  arrays get huge pages where the kernel has them: touching memory for the first time is most of
 *  what such an array costs. Never NULL for n = 0 alone. */
void *cuzk_alloc_large(size_t n, size_t size);

/** SHA-256 of bytes[n] (libcrypto); for small inputs outside any hot path. */
cuzk_code cuzk_sha256(uint8_t ret[32], const void *bytes, size_t n, cuzk_err *err);

#endif
