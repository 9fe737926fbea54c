#include "base/bytes.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

bool cuzk_hex_parse(const char *text, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < 2 * n; i++) {
        if (hex_digit(text[i]) < 0) { /* also stops at an early NUL */
            return false;
        }
    }
    if (text[2 * n] != '\0') {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    }
    return true;
}

void cuzk_hex_format(char *text, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * n] = '\0';
}

cuzk_code cuzk_cursor_take(cuzk_cursor *c, size_t n, const char *field, const uint8_t **ret,
                           cuzk_err *err)
{
    if (n > cuzk_cursor_left(c)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset %zu: %s: expected %zu bytes, found %zu",
                         c->name, cuzk_cursor_offset(c), field, n, cuzk_cursor_left(c));
    }
    *ret = c->bytes.p + c->pos;
    c->pos += n;
    return CUZK_OK;
}

cuzk_code cuzk_cursor_sub(cuzk_cursor *c, size_t n, const char *field, cuzk_cursor *ret,
                          cuzk_err *err)
{
    size_t offset = cuzk_cursor_offset(c);
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(c, n, field, &p, err));
    *ret = (cuzk_cursor){{p, n}, 0, offset, c->name};
    return CUZK_OK;
}

cuzk_code cuzk_cursor_u8(cuzk_cursor *c, const char *field, uint8_t *ret, cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(c, 1, field, &p, err));
    *ret = *p;
    return CUZK_OK;
}

cuzk_code cuzk_cursor_u32le(cuzk_cursor *c, const char *field, uint32_t *ret, cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(c, 4, field, &p, err));
    *ret = cuzk_load_u32le(p);
    return CUZK_OK;
}

cuzk_code cuzk_cursor_u64le(cuzk_cursor *c, const char *field, uint64_t *ret, cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(c, 8, field, &p, err));
    *ret = cuzk_load_u64le(p);
    return CUZK_OK;
}

cuzk_code cuzk_cursor_u32be(cuzk_cursor *c, const char *field, uint32_t *ret, cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(c, 4, field, &p, err));
    *ret = cuzk_load_u32be(p);
    return CUZK_OK;
}

cuzk_code cuzk_cursor_end(const cuzk_cursor *c, const char *what, cuzk_err *err)
{
    if (cuzk_cursor_left(c) != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: expected the end of %s, found %zu more bytes", c->name,
                         cuzk_cursor_offset(c), what, cuzk_cursor_left(c));
    }
    return CUZK_OK;
}
