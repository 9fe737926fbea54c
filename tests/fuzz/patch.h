#ifndef TESTS_FUZZ_PATCH_H
#define TESTS_FUZZ_PATCH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * How a fuzzer gets past the first field of a format: an odd first byte makes the rest of its input
 * a list of small edits, 5 bytes each, of a valid file; an even one leaves the rest as it is.
 */

/* The file to read, malloc'ed so that a sanitizer sees its ends. */
static uint8_t *patched(const uint8_t *data, size_t size, const uint8_t *base, size_t base_n,
                        size_t *ret_n)
{
    size_t n = 0;
    if (size == 0 || data[0] % 2 == 0) {
        n = size == 0 ? 0 : size - 1;
        uint8_t *raw = malloc(n + 1);
        if (raw && n > 0) {
            memcpy(raw, data + 1, n);
        }
        *ret_n = n;
        return raw ? realloc(raw, n ? n : 1) : NULL;
    }
    enum { EDIT = 5 }; /* kind, offset in three bytes, value */
    size_t edits = (size - 1) / EDIT;
    uint8_t *file = malloc(base_n + edits + 1);
    if (!file) {
        return NULL;
    }
    memcpy(file, base, base_n);
    n = base_n;
    for (const uint8_t *e = data + 1; edits > 0; edits--, e += EDIT) {
        size_t at = n ? ((size_t)e[1] | (size_t)e[2] << 8 | (size_t)e[3] << 16) % n : 0;
        switch (e[0] % 6) {
        case 0:
            file[at] = e[4];
            break;
        case 1:
            file[at] ^= (uint8_t)(1u << e[4] % 8);
            break;
        case 2:
            n = n ? at : 0;
            break;
        case 3:
            memmove(file + at + 1, file + at, n - at);
            file[at] = e[4];
            n++;
            break;
        case 4: {
            size_t cut = n - at < e[4] ? n - at : e[4];
            memmove(file + at, file + at + cut, n - at - cut);
            n -= cut;
            break;
        }
        default: { /* a run of bytes moves to the front part of the file or back */
            size_t from = n ? (size_t)e[4] * n / 256 : 0, run = n - (at > from ? at : from);
            memmove(file + at, file + from, run < 96 ? run : 96);
        }
        }
    }
    *ret_n = n;
    return realloc(file, n ? n : 1);
}

#endif
