#include "base/json_scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cuzk_json_init(cuzk_json *j, cuzk_span text, const char *name)
{
    memset(j, 0, offsetof(cuzk_json, frames));
    j->start = j->p = text.p;
    j->end = text.n > 0 ? text.p + text.n : text.p;
    j->name = name;
}

void cuzk_json_init_stream(cuzk_json *j, uint8_t *buf, size_t cap, cuzk_json_fill_fn *fill,
                           void *ctx, const char *name)
{
    cuzk_json_init(j, (cuzk_span){buf, 0}, name);
    j->buf = buf;
    j->cap = cap;
    j->fill = fill;
    j->ctx = ctx;
}

void cuzk_json_refill(cuzk_json *j, size_t n)
{
    if (!j->fill) {
        return;
    }
    j->base += (size_t)(j->p - j->start);
    size_t have = left(j);
    memmove(j->buf, j->p, have);
    while (have < n) {
        size_t got = 0;
        if (j->fill(j->ctx, j->buf + have, j->cap - have, &got, &j->fill_err) != CUZK_OK ||
            got == 0) {
            j->fill = NULL;
            break;
        }
        have += got;
    }
    j->start = j->p = j->buf;
    j->end = j->buf + have;
}

/* The path of keys and indices to the reader's place; its end is what matters when it is long. */
static void format_path(const cuzk_json *j, char *ret, size_t cap)
{
    char all[CUZK_JSON_MAX_DEPTH * (CUZK_JSON_KEY_MAX + 2)];
    size_t n = 0;
    all[0] = '\0';
    for (unsigned i = 0; i < j->depth; i++) {
        const cuzk_json_frame *f = &j->frames[i];
        int k = 0;
        if (f->started && f->object) {
            k = snprintf(all + n, sizeof all - n, "%s%.*s", n > 0 ? "." : "", (int)f->key_shown,
                         f->key);
        } else if (f->started) {
            k = snprintf(all + n, sizeof all - n, "[%u]", f->index);
        }
        n += k > 0 ? (size_t)k : 0;
    }
    bool cut = n >= cap - 4;
    snprintf(ret, cap, "%s%s", cut ? "..." : "", all + (cut ? n - (cap - 4) + 1 : 0));
}

cuzk_code cuzk_json_fail(cuzk_json *j, cuzk_err *err, const char *fmt, ...)
{
    char path[160], what[120];
    if (j->fill_err.code != CUZK_OK) {
        if (err) {
            *err = j->fill_err;
        }
        return j->fill_err.code;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    format_path(j, path, sizeof path);
    return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset %zu: %s%s%s%s%s", j->name,
                     j->base + (size_t)(j->p - j->start), j->context ? j->context : "",
                     j->context ? ": " : "", path, path[0] ? ": " : "", what);
}

cuzk_code cuzk_json_expected(cuzk_json *j, const char *what, cuzk_err *err)
{
    int c = look(j);
    if (c < 0) {
        return cuzk_json_fail(j, err, "expected %s, found the end of the text", what);
    }
    if (c > 0x20 && c < 0x7f) {
        return cuzk_json_fail(j, err, "expected %s, found '%c'", what, c);
    }
    return cuzk_json_fail(j, err, "expected %s, found byte 0x%02x", what, (unsigned)c);
}

cuzk_code cuzk_json_peek(cuzk_json *j, cuzk_json_type *ret, cuzk_err *err)
{
    switch (look_past_space(j)) {
    case '{':
        *ret = CUZK_JSON_OBJECT;
        return CUZK_OK;
    case '[':
        *ret = CUZK_JSON_ARRAY;
        return CUZK_OK;
    case '"':
        *ret = CUZK_JSON_STRING;
        return CUZK_OK;
    case 't':
    case 'f':
        *ret = CUZK_JSON_BOOL;
        return CUZK_OK;
    case 'n':
        *ret = CUZK_JSON_NULL;
        return CUZK_OK;
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        *ret = CUZK_JSON_NUMBER;
        return CUZK_OK;
    default:
        return cuzk_json_expected(j, "a value", err);
    }
}

static cuzk_code enter(cuzk_json *j, bool object, cuzk_err *err)
{
    if (look_past_space(j) != (object ? '{' : '[')) {
        return cuzk_json_expected(j, object ? "an object" : "an array", err);
    }
    if (j->depth == CUZK_JSON_MAX_DEPTH) {
        return cuzk_json_fail(j, err, "expected at most %d levels of nesting, found more",
                              CUZK_JSON_MAX_DEPTH);
    }
    j->p++;
    cuzk_json_frame *f = &j->frames[j->depth++];
    f->object = object;
    f->started = false;
    f->index = 0;
    return CUZK_OK;
}

cuzk_code cuzk_json_enter_object(cuzk_json *j, cuzk_err *err) { return enter(j, true, err); }

cuzk_code cuzk_json_enter_array(cuzk_json *j, cuzk_err *err) { return enter(j, false, err); }

/* Reads the key of a member: as much of it as a frame holds, and its whole length. */
static cuzk_code read_key(cuzk_json *j, cuzk_json_frame *f, cuzk_err *err)
{
    uint8_t part[CUZK_JSON_KEY_MAX];
    size_t shown = 0;
    bool end = false;
    j->key_len = 0;
    CUZK_TRY(cuzk_json_string_begin(j, err));
    while (!end) {
        size_t n;
        CUZK_TRY(cuzk_json_string_part(j, part, sizeof part, &n, &end, err));
        size_t k = sizeof f->key - shown;
        k = n < k ? n : k;
        memcpy(f->key + shown, part, k);
        shown += k;
        j->key_len += n;
    }
    f->key_shown = (uint8_t)shown;
    return CUZK_OK;
}

cuzk_code cuzk_json_next_key(cuzk_json *j, bool *ret_more, cuzk_err *err)
{
    cuzk_json_frame *f = &j->frames[j->depth - 1];
    int c = look_past_space(j);
    if (c == '}') {
        j->p++;
        j->depth--;
        *ret_more = false;
        return CUZK_OK;
    }
    if (f->started) {
        if (c != ',') {
            return cuzk_json_expected(j, "',' or '}'", err);
        }
        j->p++;
    }
    if (look_past_space(j) != '"') {
        return cuzk_json_expected(j, f->started ? "a key" : "a key or '}'", err);
    }
    f->started = false; /* messages about a bad key do not show the one before */
    CUZK_TRY(read_key(j, f, err));
    f->started = true;
    if (look_past_space(j) != ':') {
        return cuzk_json_expected(j, "':'", err);
    }
    j->p++;
    *ret_more = true;
    return CUZK_OK;
}

bool cuzk_json_key_is(const cuzk_json *j, const char *key)
{
    size_t n = strlen(key);
    return j->key_len == n && n <= CUZK_JSON_KEY_MAX &&
           memcmp(j->frames[j->depth - 1].key, key, n) == 0;
}

cuzk_code cuzk_json_next_element(cuzk_json *j, bool *ret_more, cuzk_err *err)
{
    cuzk_json_frame *f = &j->frames[j->depth - 1];
    int c = look_past_space(j);
    if (c == ']') {
        j->p++;
        j->depth--;
        *ret_more = false;
        return CUZK_OK;
    }
    if (f->started) {
        if (c != ',') {
            return cuzk_json_expected(j, "',' or ']'", err);
        }
        j->p++;
        f->index++;
        if (look_past_space(j) == ']') {
            return cuzk_json_expected(j, "a value", err);
        }
    }
    f->started = true;
    *ret_more = true;
    return CUZK_OK;
}

static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* Copies the next byte of a number to the buffer, as long as there is one. */
static cuzk_code keep(cuzk_json *j, char *ret, size_t cap, size_t *n, cuzk_err *err)
{
    if (ret) {
        if (*n + 1 >= cap) {
            return cuzk_json_fail(j, err, "expected a number of less than %zu bytes, found more",
                                  cap);
        }
        ret[*n] = (char)*j->p;
    }
    *n += 1;
    j->p++;
    return CUZK_OK;
}

static cuzk_code keep_digits(cuzk_json *j, char *ret, size_t cap, size_t *n, cuzk_err *err)
{
    if (!is_digit(look(j))) {
        return cuzk_json_expected(j, "a digit", err);
    }
    while (is_digit(look(j))) {
        CUZK_TRY(keep(j, ret, cap, n, err));
    }
    return CUZK_OK;
}

/* The grammar of numbers; ret may be NULL. */
static cuzk_code scan_number(cuzk_json *j, char *ret, size_t cap, cuzk_err *err)
{
    size_t n = 0;
    int c = look_past_space(j);
    if (c != '-' && !is_digit(c)) {
        return cuzk_json_expected(j, "a number", err);
    }
    if (c == '-') {
        CUZK_TRY(keep(j, ret, cap, &n, err));
    }
    if (look(j) == '0') {
        CUZK_TRY(keep(j, ret, cap, &n, err));
        if (is_digit(look(j))) {
            return cuzk_json_expected(j, "no digit after a leading 0", err);
        }
    } else {
        CUZK_TRY(keep_digits(j, ret, cap, &n, err));
    }
    if (look(j) == '.') {
        CUZK_TRY(keep(j, ret, cap, &n, err));
        CUZK_TRY(keep_digits(j, ret, cap, &n, err));
    }
    if (look(j) == 'e' || look(j) == 'E') {
        CUZK_TRY(keep(j, ret, cap, &n, err));
        if (look(j) == '+' || look(j) == '-') {
            CUZK_TRY(keep(j, ret, cap, &n, err));
        }
        CUZK_TRY(keep_digits(j, ret, cap, &n, err));
    }
    if (ret) {
        ret[n] = '\0';
    }
    return CUZK_OK;
}

cuzk_code cuzk_json_number(cuzk_json *j, char *ret, size_t cap, cuzk_err *err)
{
    return scan_number(j, ret, cap, err);
}

cuzk_code cuzk_json_u64(cuzk_json *j, uint64_t *ret, cuzk_err *err)
{
    static const char what[] = "an integer from 0 to 18446744073709551615";
    int c = look_past_space(j);
    if (!is_digit(c)) {
        return cuzk_json_expected(j, what, err);
    }
    uint64_t v = 0;
    bool leading_zero = c == '0';
    for (unsigned n = 0; is_digit(c); n++) {
        uint64_t d = (uint64_t)(c - '0');
        if (leading_zero && n > 0) {
            return cuzk_json_expected(j, "no digit after a leading 0", err);
        }
        if (v > (UINT64_MAX - d) / 10) {
            return cuzk_json_fail(j, err, "expected %s, found a larger one", what);
        }
        v = 10 * v + d;
        j->p++;
        c = look(j);
    }
    if (c == '.' || c == 'e' || c == 'E') {
        return cuzk_json_expected(j, what, err);
    }
    *ret = v;
    return CUZK_OK;
}

static cuzk_code literal(cuzk_json *j, const char *word, cuzk_err *err)
{
    for (const char *w = word; *w; w++) {
        if (look(j) != *w) {
            return cuzk_json_expected(j, word, err);
        }
        j->p++;
    }
    return CUZK_OK;
}

cuzk_code cuzk_json_bool(cuzk_json *j, bool *ret, cuzk_err *err)
{
    int c = look_past_space(j);
    if (c != 't' && c != 'f') {
        return cuzk_json_expected(j, "true or false", err);
    }
    CUZK_TRY(literal(j, c == 't' ? "true" : "false", err));
    *ret = c == 't';
    return CUZK_OK;
}

cuzk_code cuzk_json_null(cuzk_json *j, cuzk_err *err)
{
    look_past_space(j);
    return literal(j, "null", err);
}

/*
 * The fast path of byte arrays: n numbers without white space, all of the text at hand. Reads four
 * characters at a time: how many of them are digits tells the number's length, and no branch
 * depends on it. False when anything is unusual; the slow path then says what.
 */
static bool fast_bytes(cuzk_json *j, uint8_t *ret, size_t n)
{
    const uint8_t *p = j->p + 1; /* past '[' */
    for (size_t i = 0; i < n; i++) {
        uint32_t digits = cuzk_load_u32le(p) ^ 0x30303030;
        uint32_t other = (digits | (digits + 0x06060606)) & 0xf0f0f0f0; /* first set: no digit */
        if (other == 0) {
            return false;
        }
        unsigned len = (unsigned)__builtin_ctz(other) >> 3;
        uint32_t d = digits << (24 - 8 * len) & 0xffffff; /* hundreds, tens, ones */
        uint32_t v = (d & 0xff) * 100 + (d >> 8 & 0xff) * 10 + (d >> 16);
        bool leading_zero = (digits & 0xff) == 0 && len > 1;
        if (len == 0 || leading_zero || v > 255 || p[len] != (i + 1 < n ? ',' : ']')) {
            return false;
        }
        ret[i] = (uint8_t)v;
        p += len + 1;
    }
    j->p = p;
    return true;
}

cuzk_code cuzk_json_bytes(cuzk_json *j, uint8_t *ret, size_t n, cuzk_err *err)
{
    enum { SLACK = 8 }; /* a number is read as four bytes, and '[' and ']' */
    look_past_space(j);
    if (n > 0 && 4 * n + SLACK <= (j->fill ? j->cap : left(j))) {
        want(j, 4 * n + SLACK);
        if (left(j) >= 4 * n + SLACK && *j->p == '[' && fast_bytes(j, ret, n)) {
            return CUZK_OK;
        }
    }
    CUZK_TRY(enter(j, false, err));
    bool more;
    for (size_t i = 0;; i++) {
        CUZK_TRY(cuzk_json_next_element(j, &more, err));
        if (more != (i < n)) {
            return cuzk_json_fail(j, err, "expected %zu bytes, found %s", n,
                                  more ? "more" : "fewer");
        }
        if (!more) {
            return CUZK_OK;
        }
        uint64_t v;
        CUZK_TRY(cuzk_json_u64(j, &v, err));
        if (v > 255) {
            return cuzk_json_fail(j, err, "expected an integer from 0 to 255, found %llu",
                                  (unsigned long long)v);
        }
        ret[i] = (uint8_t)v;
    }
}

static cuzk_code skip_string(cuzk_json *j, cuzk_err *err)
{
    uint8_t part[256];
    bool end = false;
    CUZK_TRY(cuzk_json_string_begin(j, err));
    while (!end) {
        size_t n;
        CUZK_TRY(cuzk_json_string_part(j, part, sizeof part, &n, &end, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_json_skip(cuzk_json *j, cuzk_err *err)
{
    cuzk_json_type type;
    bool more, unused;
    CUZK_TRY(cuzk_json_peek(j, &type, err));
    switch (type) {
    case CUZK_JSON_STRING:
        return skip_string(j, err);
    case CUZK_JSON_NUMBER:
        return scan_number(j, NULL, 0, err);
    case CUZK_JSON_BOOL:
        return cuzk_json_bool(j, &unused, err);
    case CUZK_JSON_NULL:
        return cuzk_json_null(j, err);
    case CUZK_JSON_OBJECT:
        CUZK_TRY(enter(j, true, err));
        CUZK_TRY(cuzk_json_next_key(j, &more, err));
        while (more) { /* recursion is bounded by the depth limit */
            CUZK_TRY(cuzk_json_skip(j, err));
            CUZK_TRY(cuzk_json_next_key(j, &more, err));
        }
        return CUZK_OK;
    case CUZK_JSON_ARRAY:
        CUZK_TRY(enter(j, false, err));
        CUZK_TRY(cuzk_json_next_element(j, &more, err));
        while (more) {
            CUZK_TRY(cuzk_json_skip(j, err));
            CUZK_TRY(cuzk_json_next_element(j, &more, err));
        }
        return CUZK_OK;
    }
    return CUZK_FAIL(err, CUZK_E_INTERNAL, "a JSON value of no type");
}

cuzk_code cuzk_json_end(cuzk_json *j, cuzk_err *err)
{
    if (look_past_space(j) >= 0 || j->fill_err.code != CUZK_OK) {
        return cuzk_json_expected(j, "the end of the text", err);
    }
    return CUZK_OK;
}
