#ifndef CUZK_GADGET_SHA256_NATIVE_H
#define CUZK_GADGET_SHA256_NATIVE_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4) by blocks, for values of the circuit: the circuit's ports are chaining
 * values, which a library's interface hides. */

/** The 64 round constants and the initial chaining value. */
extern const uint32_t sha256_k[64];
extern const uint32_t sha256_iv[8];

/** Absorbs n blocks of 64 bytes into a chaining value; with the SHA instructions when the processor
 *  has them. */
void sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t n);

/** sha256_compress without a look at the processor; the reference for the other path. */
void sha256_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t n);
#ifdef CUZK_X86_64
/** sha256_compress with the SHA instructions. */
void sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t n);
#endif

/** Digest of a chaining value: eight words, big-endian. */
void sha256_digest(uint8_t ret[32], const uint32_t state[8]);

/** Hash of two 32-byte nodes of a SHA-256 tree whose nodes are field elements: the digest with the
 * two top bits of its last byte cleared. ret may be one of the operands. */
void sha256_node(uint8_t ret[32], const uint8_t left[32], const uint8_t right[32]);

#endif
