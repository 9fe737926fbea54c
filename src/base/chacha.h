#ifndef CUZK_BASE_CHACHA_H
#define CUZK_BASE_CHACHA_H

#include <stdint.h>

/**
 * One block of ChaCha key stream (RFC 8439, Bernstein 2008) as 16 words: `rounds` is 8 or 20, tail
 * the last four words of the initial state (a 64-bit counter and 64-bit nonce, or 32 and 96 bits).
 * Block by block, so that any place of a stream can be had at once.
 */
void cuzk_chacha_block(uint32_t ret[16], const uint32_t key[8], const uint32_t tail[4],
                       unsigned rounds);

#endif
