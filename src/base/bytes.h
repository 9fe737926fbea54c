#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H

#include "cuzk/span.h"

#include "cuzk/err.h"

#include <stdbool.h>

/**
 * A bounds-checked reader over borrowed bytes, the only way in which a file format is read.
 * Each error is CUZK_E_INPUT and names the file, the offset in it, the field, what was expected
 * and what was found. A failed read leaves the position where it was.
 */
typedef struct cuzk_cursor {
    cuzk_span bytes;
    size_t pos;       /* next byte to read, <= bytes.n */
    size_t base;      /* offset of bytes.p[0] in the file, for messages */
    const char *name; /* borrowed: the file's name, for messages */
} cuzk_cursor;

static inline cuzk_cursor cuzk_cursor_of(cuzk_span bytes, const char *name)
{
    return (cuzk_cursor){bytes, 0, 0, name};
}

static inline size_t cuzk_cursor_left(const cuzk_cursor *c) { return c->bytes.n - c->pos; }

/** Offset in the file of the next byte. */
static inline size_t cuzk_cursor_offset(const cuzk_cursor *c) { return c->base + c->pos; }

/** Takes the next n bytes as *ret, borrowed from the cursor's bytes. */
cuzk_code cuzk_cursor_take(cuzk_cursor *c, size_t n, const char *field, const uint8_t **ret,
                           cuzk_err *err);

/** Takes the next n bytes as a cursor of its own, whose offsets stay those of the file. */
cuzk_code cuzk_cursor_sub(cuzk_cursor *c, size_t n, const char *field, cuzk_cursor *ret,
                          cuzk_err *err);

cuzk_code cuzk_cursor_u8(cuzk_cursor *c, const char *field, uint8_t *ret, cuzk_err *err);
cuzk_code cuzk_cursor_u32le(cuzk_cursor *c, const char *field, uint32_t *ret, cuzk_err *err);
cuzk_code cuzk_cursor_u64le(cuzk_cursor *c, const char *field, uint64_t *ret, cuzk_err *err);
cuzk_code cuzk_cursor_u32be(cuzk_cursor *c, const char *field, uint32_t *ret, cuzk_err *err);

/** CUZK_E_INPUT unless every byte was read. */
cuzk_code cuzk_cursor_end(const cuzk_cursor *c, const char *what, cuzk_err *err);

static inline uint32_t cuzk_load_u32le(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t cuzk_load_u64le(const uint8_t *p)
{
    return (uint64_t)cuzk_load_u32le(p) | (uint64_t)cuzk_load_u32le(p + 4) << 32;
}

static inline void cuzk_store_u32le(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

static inline void cuzk_store_u64le(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)(v >> (8 * i));
    }
}

static inline uint32_t cuzk_load_u32be(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline void cuzk_store_u32be(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (24 - 8 * i));
    }
}

static inline uint64_t cuzk_load_u64be(const uint8_t *p)
{
    return (uint64_t)cuzk_load_u32be(p) << 32 | cuzk_load_u32be(p + 4);
}

static inline void cuzk_store_u64be(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)(v >> (56 - 8 * i));
    }
}

/** Parses exactly 2n hexadecimal digits (either case) into out[n]; false when text is anything
 * else. */
bool cuzk_hex_parse(const char *text, uint8_t *out, size_t n);

/** Writes 2n lower-case digits and a NUL into text[2n + 1]. */
void cuzk_hex_format(char *text, const uint8_t *bytes, size_t n);

#endif
