#ifndef CUZK_R1CS_DIGEST_H
#define CUZK_R1CS_DIGEST_H

#include "r1cs/template.h"

/**
 * Digest of the constraint system, by which two implementations of a circuit compare all their
 * matrices. BLAKE2s-256 over three 64-bit big-endian counts (inputs, aux, constraints), then for
 * each row, for A, B, C: the number of terms (64 bits) and the terms, inputs before aux and by
 * index: byte 'I' or 'A', index (64 bits), coefficient (32 bytes), all big-endian. Streams from the
 * compressed form, at the speed of BLAKE2s over 41 bytes a term. CUZK_E_MEMORY, CUZK_E_INTERNAL
 * (the digest is not available).
 */
cuzk_code cuzk_shape_digest(const cuzk_shape *s, uint8_t ret[32], cuzk_err *err);

#endif
