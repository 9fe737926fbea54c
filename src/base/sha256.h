#ifndef CUZK_BASE_SHA256_H
#define CUZK_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

/*
 * SHA-256 (FIPS 180-4) for the many short messages of Merkle trees, labels and challenges. It
 * cannot fail and picks SHA-NI when the processor has it. For the digest of a file any library
 * does.
 */

enum { CUZK_SHA256_BLOCK_BYTES = 64 };

/** Initial chaining value, H(0) of section 5.3.3. */
extern const uint32_t cuzk_sha256_iv[8];
/** Round constants, section 4.2.2. */
extern const uint32_t cuzk_sha256_k[64];

/** Applies the compression function to `count` blocks of 64 bytes in order. */
void cuzk_sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t count);

/** cuzk_sha256_compress without a look at the processor; the reference for the other path. */
void cuzk_sha256_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t count);
#ifdef CUZK_X86_64
/** cuzk_sha256_compress with the SHA extensions. */
void cuzk_sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t count);
#endif

/** A message under way. A plain value: copy it to reuse a prefix. */
typedef struct cuzk_sha256_state {
    uint32_t h[8];
    uint64_t n; /* bytes so far */
    uint8_t tail[CUZK_SHA256_BLOCK_BYTES];
} cuzk_sha256_state;

void cuzk_sha256_init(cuzk_sha256_state *s);
void cuzk_sha256_update(cuzk_sha256_state *s, const void *bytes, size_t n);
/** Writes the digest; s is spent. */
void cuzk_sha256_final(cuzk_sha256_state *s, uint8_t ret[32]);

/** Digest of bytes[n]. */
void cuzk_sha256_digest(uint8_t ret[32], const void *bytes, size_t n);

/** Digest of the 64 bytes left || right, each 32 bytes. ret may overlap them. */
void cuzk_sha256_pair(uint8_t ret[32], const uint8_t *left, const uint8_t *right);

#endif
