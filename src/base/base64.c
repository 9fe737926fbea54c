#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum { NONE = 128 }; /* what no character has a value of, and no value has a bit of */

/* The place of a character in the alphabet, or NONE. */
static const uint8_t value[256] = {
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 62,  128, 128, 128, 63,  52,  53,  54,  55,  56,  57,  58,  59,  60,
    61,  128, 128, 128, 128, 128, 128, 128, 0,   1,   2,   3,   4,   5,   6,   7,   8,   9,   10,
    11,  12,  13,  14,  15,  16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  128, 128, 128, 128,
    128, 128, 26,  27,  28,  29,  30,  31,  32,  33,  34,  35,  36,  37,  38,  39,  40,  41,  42,
    43,  44,  45,  46,  47,  48,  49,  50,  51,  128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128,
    128, 128, 128, 128, 128, 128, 128, 128, 128,
};

/* Whole groups without padding, as far as they go; returns the characters taken. */
static size_t decode_groups(uint8_t *ret, const uint8_t *text, size_t n)
{
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint32_t a = value[text[i]], b = value[text[i + 1]];
        uint32_t c = value[text[i + 2]], d = value[text[i + 3]];
        if ((a | b | c | d) & NONE) {
            break;
        }
        uint32_t v = a << 18 | b << 12 | c << 6 | d;
        *ret++ = (uint8_t)(v >> 16);
        *ret++ = (uint8_t)(v >> 8);
        *ret++ = (uint8_t)v;
    }
    return i;
}

/* Takes one character; returns how many bytes it completes in d->bits' lower part, -1 if it may not
 * stand here. */
static bool step(cuzk_base64 *d, uint8_t *ret, size_t *n, uint8_t character)
{
    unsigned place = (unsigned)(d->total % 4);
    if (character == '=') {
        /* a group has at least two characters, and what they leave over is zero */
        bool ok = place == 3 ? d->padded || (d->bits & 3) == 0 : place == 2 && (d->bits & 15) == 0;
        if (!ok) {
            return false;
        }
        if (place == 2) {
            ret[(*n)++] = (uint8_t)(d->bits >> 4);
        } else if (!d->padded) {
            ret[(*n)++] = (uint8_t)(d->bits >> 10);
            ret[(*n)++] = (uint8_t)(d->bits >> 2);
        }
        d->padded = true;
    } else {
        if (d->padded || value[character] == NONE) {
            return false;
        }
        d->bits = (place == 0 ? 0 : d->bits << 6) | value[character];
        if (place == 3) {
            ret[(*n)++] = (uint8_t)(d->bits >> 16);
            ret[(*n)++] = (uint8_t)(d->bits >> 8);
            ret[(*n)++] = (uint8_t)d->bits;
        }
    }
    d->total++;
    return true;
}

bool cuzk_base64_decode(cuzk_base64 *d, uint8_t *ret, size_t *ret_n, const uint8_t *text, size_t n)
{
    size_t i = 0, out = 0;
    while (i < n) {
        if (d->total % 4 == 0 && !d->padded) {
            size_t k = decode_groups(ret + out, text + i, n - i);
            i += k;
            out += k / 4 * 3;
            d->total += k;
            if (i == n) {
                break;
            }
        }
        if (!step(d, ret, &out, text[i])) {
            return false;
        }
        i++;
    }
    *ret_n = out;
    return true;
}

bool cuzk_base64_done(const cuzk_base64 *d) { return d->total % 4 == 0; }

void cuzk_base64_encode(char *ret, const uint8_t *bytes, size_t n)
{
    for (; n >= 3; n -= 3, bytes += 3) {
        uint32_t v = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
        *ret++ = alphabet[v >> 18];
        *ret++ = alphabet[v >> 12 & 63];
        *ret++ = alphabet[v >> 6 & 63];
        *ret++ = alphabet[v & 63];
    }
    if (n > 0) {
        uint32_t v = (uint32_t)bytes[0] << 16 | (n > 1 ? (uint32_t)bytes[1] << 8 : 0);
        *ret++ = alphabet[v >> 18];
        *ret++ = alphabet[v >> 12 & 63];
        *ret++ = n > 1 ? alphabet[v >> 6 & 63] : '=';
        *ret = '=';
    }
}
