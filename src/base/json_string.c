#include "base/json_scan.h"

#include <string.h>

/* Length of the run of bytes at p that stand for themselves in a string: no quote, backslash,
 * control character or byte from 0x80 on. Eight at a time; n is the most to look at. */
static size_t plain_run(const uint8_t *p, size_t n)
{
    const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v = cuzk_load_u64le(p + i);
        uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\';
        uint64_t special = (v - ones * 0x20) | (quote - ones) | (slash - ones) | v;
        if (special & high) {
            break;
        }
    }
    while (i < n && p[i] >= 0x20 && p[i] < 0x80 && p[i] != '"' && p[i] != '\\') {
        i++;
    }
    return i;
}

/* Bytes of the UTF-8 sequence at p[n] (RFC 3629: shortest form, no surrogates), 0 if there is none.
 */
static unsigned utf8_length(const uint8_t *p, size_t n)
{
    unsigned len = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
                   : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                   : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                 : 0;
    if (len == 0 || n < len) {
        return 0;
    }
    uint8_t low = 0x80, high = 0xbf; /* what the second byte may be */
    low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : low;
    high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : high;
    for (unsigned i = 1; i < len; i++) {
        if (p[i] < low || p[i] > high) {
            return 0;
        }
        low = 0x80;
        high = 0xbf;
    }
    return len;
}

/* The four hexadecimal digits at p, or -1. */
static int hex4(const uint8_t *p)
{
    char text[5] = {(char)p[0], (char)p[1], (char)p[2], (char)p[3], '\0'};
    uint8_t v[2];
    return cuzk_hex_parse(text, v, 2) ? v[0] << 8 | v[1] : -1;
}

static unsigned encode_utf8(uint8_t *ret, uint32_t c)
{
    if (c < 0x80) {
        ret[0] = (uint8_t)c;
        return 1;
    }
    unsigned len = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (unsigned i = len - 1; i > 0; i--) {
        ret[i] = (uint8_t)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    ret[0] = (uint8_t)(0xf00u >> len | c);
    return len;
}

/* A \uXXXX escape, two of them for a character past U+FFFF. */
static cuzk_code unicode_escape(cuzk_json *j, uint8_t *ret, size_t *n, cuzk_err *err)
{
    int first = left(j) >= 6 ? hex4(j->p + 2) : -1;
    if (first < 0) {
        return cuzk_json_fail(j, err, "expected four hexadecimal digits after \\u");
    }
    uint32_t c = (uint32_t)first;
    size_t used = 6;
    if (c >= 0xd800 && c < 0xe000) {
        int second = left(j) >= 12 && j->p[6] == '\\' && j->p[7] == 'u' ? hex4(j->p + 8) : -1;
        if (c >= 0xdc00 || second < 0xdc00 || second >= 0xe000) {
            return cuzk_json_fail(j, err, "expected a pair of surrogates, found one alone");
        }
        c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)second - 0xdc00);
        used = 12;
    }
    j->p += used;
    *n += encode_utf8(ret + *n, c);
    return CUZK_OK;
}

static cuzk_code escape(cuzk_json *j, uint8_t *ret, size_t *n, cuzk_err *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    want(j, 12);
    if (left(j) >= 2 && j->p[1] == 'u') {
        return unicode_escape(j, ret, n, err);
    }
    const char *at = left(j) >= 2 && j->p[1] ? strchr(from, j->p[1]) : NULL;
    if (!at) {
        return cuzk_json_fail(j, err, "expected an escape of JSON after '\\'");
    }
    ret[(*n)++] = (uint8_t)to[at - from];
    j->p += 2;
    return CUZK_OK;
}

cuzk_code cuzk_json_string_begin(cuzk_json *j, cuzk_err *err)
{
    if (look_past_space(j) != '"') {
        return cuzk_json_expected(j, "a string", err);
    }
    j->p++;
    return CUZK_OK;
}

cuzk_code cuzk_json_string_part(cuzk_json *j, uint8_t *buf, size_t cap, size_t *ret_n,
                                bool *ret_end, cuzk_err *err)
{
    size_t n = 0;
    bool end = false;
    while (!end && cap - n >= 4) { /* the longest step writes four bytes */
        int c = look(j);
        size_t room = cap - n, run = plain_run(j->p, left(j) < room ? left(j) : room);
        if (run > 0) {
            memcpy(buf + n, j->p, run);
            n += run;
            j->p += run;
        } else if (c == '"') {
            j->p++;
            end = true;
        } else if (c == '\\') {
            CUZK_TRY(escape(j, buf, &n, err));
        } else if (c >= 0x80) {
            want(j, 4);
            unsigned len = utf8_length(j->p, left(j));
            if (len == 0) {
                return cuzk_json_expected(j, "UTF-8", err);
            }
            memcpy(buf + n, j->p, len);
            n += len;
            j->p += len;
        } else {
            return cuzk_json_expected(j, "a string's next character or '\"'", err);
        }
    }
    *ret_n = n;
    *ret_end = end;
    return CUZK_OK;
}

cuzk_code cuzk_json_string(cuzk_json *j, char *ret, size_t cap, size_t *ret_n, cuzk_err *err)
{
    size_t n = 0;
    bool end = false;
    CUZK_TRY(cuzk_json_string_begin(j, err));
    while (!end) {
        uint8_t part[256];
        size_t k;
        CUZK_TRY(cuzk_json_string_part(j, part, sizeof part, &k, &end, err));
        if (k >= cap - n) {
            return cuzk_json_fail(j, err, "expected a string of less than %zu bytes, found more",
                                  cap);
        }
        memcpy(ret + n, part, k);
        n += k;
    }
    ret[n] = '\0';
    *ret_n = n;
    return CUZK_OK;
}
