#ifndef CUZK_BASE_BASE64_H
#define CUZK_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Base64 (RFC 4648 section 4) in pieces, strict: the standard alphabet, full padding, no white
 * space, unused bits zero.
 */

/** A decoder under way; start with all zero. */
typedef struct cuzk_base64 {
    uint64_t total; /* characters so far */
    uint32_t bits;  /* of the open group */
    bool padded;    /* a '=' was seen: only the end may follow */
} cuzk_base64;

/** Most bytes that n more characters decode to. */
static inline size_t cuzk_base64_room(size_t n) { return n / 4 * 3 + 3; }

/**
 * Decodes text[n] to ret[cuzk_base64_room(n)] and sets *ret_n. False at the first character that
 * may not stand where it does: then d->total is its offset in the whole text.
 */
bool cuzk_base64_decode(cuzk_base64 *d, uint8_t *ret, size_t *ret_n, const uint8_t *text, size_t n);

/** Whether the text may end here: after a whole group. */
bool cuzk_base64_done(const cuzk_base64 *d);

/** Characters for n bytes, padding included. */
static inline size_t cuzk_base64_length(size_t n) { return (n + 2) / 3 * 4; }

/** Encodes bytes[n] to ret[cuzk_base64_length(n)], no NUL. Pieces of a longer text must be
 * multiples of 3, the last one aside. */
void cuzk_base64_encode(char *ret, const uint8_t *bytes, size_t n);

#endif
