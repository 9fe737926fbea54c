#ifndef CUZK_GADGET_SHA256_GADGET_H
#define CUZK_GADGET_SHA256_GADGET_H

#include "gadget/num.h"

/*
 * SHA-256 (bellpepper gadgets/sha256.rs), one instance for each block of 64 bytes.
 *
 * Bits here stand in the order of Filecoin's field elements: bit 8i + j is bit j, from the lowest,
 * of byte i of the message or digest. So the bits of a number are already in place, and runs of
 * variables stay runs. A chaining value's bit 32i + j is bit j of word i.
 */

enum { CUZK_SHA256_STATE_BITS = 256, CUZK_SHA256_BLOCK_BITS = 512, CUZK_SHA256_DIGEST_BITS = 256 };

/** Absorbs one block. Ports: state, then block. Record: eight 32-bit words of the chaining value,
 *  then the 64 bytes. Plan: a cuzk_word_plan for each word operation, in order. */
void cuzk_gadget_sha256_block(cuzk_cs *cs, cuzk_bool state[CUZK_SHA256_STATE_BITS],
                              const cuzk_bool block[CUZK_SHA256_BLOCK_BITS]);

/** Digest of n bits, a multiple of 8. */
void cuzk_gadget_sha256(cuzk_cs *cs, cuzk_bool ret[CUZK_SHA256_DIGEST_BITS], const cuzk_bool *bits,
                        size_t n);

/** Node of a SHA-256 tree over field elements: the digest of two nodes cut to 254 bits. */
cuzk_num cuzk_gadget_sha256_node(cuzk_cs *cs, const cuzk_num *left, const cuzk_num *right);

/** Appends the 255 bits of x and a zero: 256 bits. */
void cuzk_gadget_sha256_num_bits(cuzk_cs *cs, cuzk_bool ret[256], const cuzk_num *x);

#endif
