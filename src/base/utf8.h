#ifndef CUZK_BASE_UTF8_H
#define CUZK_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/** Length of the well-formed UTF-8 sequence (Unicode 15, table 3-7) at the start of p[n]: 1 to 4,
 *  or 0 when there is none. */
static inline size_t cuzk_utf8_length(const uint8_t *p, size_t n)
{
    if (n == 0) {
        return 0;
    }
    if (p[0] < 0x80) {
        return 1;
    }
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len) {
        return 0;
    }
    /* the second byte excludes overlong forms, surrogates and what is past U+10FFFF */
    uint8_t low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return len;
}

#endif
