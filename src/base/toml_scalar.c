#include "base/toml_parse.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- strings --- */

static cuzk_code no_memory(cuzk_toml_parser *t)
{
    return CUZK_FAIL(t->err, CUZK_E_MEMORY, "%s: no memory for its values", t->name);
}

static cuzk_code keep(cuzk_toml_parser *t, const uint8_t *bytes, size_t n)
{
    if (t->scratch_cap - t->scratch_n < n) {
        size_t cap = 2 * (t->scratch_n + n) + 64;
        uint8_t *grown = realloc(t->scratch, cap);
        if (!grown) {
            return no_memory(t);
        }
        t->scratch = grown;
        t->scratch_cap = cap;
    }
    memcpy(t->scratch + t->scratch_n, bytes, n);
    t->scratch_n += n;
    return CUZK_OK;
}

static cuzk_code keep_byte(cuzk_toml_parser *t, uint8_t c) { return keep(t, &c, 1); }

static cuzk_code keep_code_point(cuzk_toml_parser *t, uint32_t c)
{
    uint8_t b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) {
        b[i] = (uint8_t)(0x80 | (c & 0x3f));
    }
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    b[0] = (uint8_t)(lead[n] | c);
    return keep(t, b, n);
}

static int hex_digit(int c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* \uXXXX or \UXXXXXXXX: a Unicode scalar value. */
static cuzk_code unicode_escape(cuzk_toml_parser *t, size_t digits)
{
    uint32_t c = 0;
    for (size_t i = 0; i < digits; i++) {
        int d = hex_digit(toml_look(t, 2 + i));
        if (d < 0) {
            return cuzk_toml_fail(t, cuzk_toml_here(t),
                                  "expected %zu hexadecimal digits after \\%c", digits, t->p[1]);
        }
        c = c << 4 | (uint32_t)d;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return cuzk_toml_fail(t, cuzk_toml_here(t), "U+%04X is no character", c);
    }
    t->p += 2 + digits;
    return keep_code_point(t, c);
}

/* A backslash at the end of a line takes all white space up to the next character. */
static cuzk_code line_escape(cuzk_toml_parser *t)
{
    cuzk_toml_place at = cuzk_toml_here(t);
    t->p++;
    toml_skip_blanks(t);
    if (toml_newline(t) == 0) {
        return cuzk_toml_fail(t, at, "a backslash before white space must end the line");
    }
    for (size_t n = 1; n > 0;) {
        t->p += n = toml_newline(t);
        toml_skip_blanks(t);
    }
    return CUZK_OK;
}

static cuzk_code escape(cuzk_toml_parser *t, bool multi)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    int c = toml_look(t, 1);
    const char *known = c > 0 ? strchr(from, c) : NULL;
    if (known) {
        t->p += 2;
        return keep_byte(t, (uint8_t)to[known - from]);
    }
    if (c == 'u' || c == 'U') {
        return unicode_escape(t, c == 'u' ? 4 : 8);
    }
    if (multi && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
        return line_escape(t);
    }
    return cuzk_toml_fail(t, cuzk_toml_here(t),
                          "unknown escape in a string: a backslash is written \\\\, or the string "
                          "in single quotes");
}

/* How many of a multi-line string's quotes are next; up to two may stand before the closing three.
 */
static size_t quotes(const cuzk_toml_parser *t, int quote)
{
    size_t n = 0;
    while (n < 5 && toml_look(t, n) == quote) {
        n++;
    }
    return n;
}

/* One character of a string's text or an escape; *ret_end when it was the closing quote. */
static cuzk_code string_part(cuzk_toml_parser *t, int quote, bool multi, cuzk_toml_place open,
                             bool *ret_end)
{
    int c = toml_look(t, 0);
    if (c == quote) {
        size_t n = multi ? quotes(t, quote) : 1;
        *ret_end = !multi || n >= 3;
        for (size_t i = 0; multi && i < (n >= 3 ? n - 3 : n); i++) {
            CUZK_TRY(keep_byte(t, (uint8_t)quote));
        }
        t->p += n;
        return CUZK_OK;
    }
    if (c == '\\' && quote == '"') {
        return escape(t, multi);
    }
    size_t newline = toml_newline(t);
    if (multi && newline) {
        t->p += newline;
        return keep_byte(t, '\n');
    }
    if (c < 0 || newline) {
        return cuzk_toml_fail(t, open, "the string that begins here is not closed");
    }
    if ((c < 0x20 && c != '\t') || c == 0x7f) {
        return cuzk_toml_fail(t, cuzk_toml_here(t),
                              "control character U+%04X in a string: write it as \\u%04X",
                              (unsigned)c, (unsigned)c);
    }
    t->p++;
    return keep_byte(t, (uint8_t)c);
}

cuzk_code cuzk_toml_string(cuzk_toml_parser *t, bool value, const char **ret_text, size_t *ret_n)
{
    cuzk_toml_place open = cuzk_toml_here(t);
    int quote = toml_look(t, 0);
    bool multi = toml_look(t, 1) == quote && toml_look(t, 2) == quote;
    if (multi && !value) {
        return cuzk_toml_fail(t, open, "a key may not be a multi-line string");
    }
    t->p += multi ? 3 : 1;
    if (multi) {
        t->p += toml_newline(t); /* one right after the quotes is not part of the text */
    }
    t->scratch_n = 0;
    for (bool ended = false; !ended;) {
        CUZK_TRY(string_part(t, quote, multi, open, &ended));
    }
    char *text = cuzk_toml_alloc(t->doc, t->scratch_n + 1);
    if (!text) {
        return no_memory(t);
    }
    if (t->scratch_n > 0) {
        memcpy(text, t->scratch, t->scratch_n);
    }
    text[t->scratch_n] = '\0';
    *ret_text = text;
    *ret_n = t->scratch_n;
    return CUZK_OK;
}

/* --- dates and times --- */

static bool digit(int c) { return c >= '0' && c <= '9'; }

/* The number of the n digits that are i ahead; -1 when they are not digits. */
static int number_at(const cuzk_toml_parser *t, size_t i, size_t n)
{
    int v = 0;
    for (size_t k = 0; k < n; k++) {
        int c = toml_look(t, i + k);
        if (!digit(c)) {
            return -1;
        }
        v = 10 * v + (c - '0');
    }
    return v;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static cuzk_code date(cuzk_toml_parser *t, cuzk_toml_datetime *d)
{
    int year = number_at(t, 0, 4), month = number_at(t, 5, 2), day = number_at(t, 8, 2);
    if (year < 0 || month < 1 || month > 12 || toml_look(t, 7) != '-' || day < 1 ||
        day > days_in(year, month)) {
        return cuzk_toml_fail(t, cuzk_toml_here(t), "expected a date YYYY-MM-DD");
    }
    d->has_date = true;
    d->year = (uint16_t)year;
    d->month = (uint8_t)month;
    d->day = (uint8_t)day;
    t->p += 10;
    return CUZK_OK;
}

/* HH:MM:SS with any number of further digits, of which nine count. */
static cuzk_code time_of_day(cuzk_toml_parser *t, cuzk_toml_datetime *d)
{
    int hour = number_at(t, 0, 2), minute = number_at(t, 3, 2), second = number_at(t, 6, 2);
    if (hour < 0 || hour > 23 || toml_look(t, 2) != ':' || minute < 0 || minute > 59 ||
        toml_look(t, 5) != ':' || second < 0 || second > 59) {
        return cuzk_toml_fail(t, cuzk_toml_here(t), "expected a time HH:MM:SS");
    }
    d->has_time = true;
    d->hour = (uint8_t)hour;
    d->minute = (uint8_t)minute;
    d->second = (uint8_t)second;
    t->p += 8;
    if (toml_look(t, 0) == '.' && digit(toml_look(t, 1))) {
        t->p++;
        for (uint32_t unit = 100000000; digit(toml_look(t, 0)); unit /= 10, t->p++) {
            d->nanosecond += unit * (uint32_t)(*t->p - '0');
        }
    }
    return CUZK_OK;
}

static cuzk_code offset(cuzk_toml_parser *t, cuzk_toml_datetime *d)
{
    int sign = toml_look(t, 0);
    if (sign == 'Z' || sign == 'z') {
        d->has_offset = true;
        t->p++;
    } else if (sign == '+' || sign == '-') {
        int hour = number_at(t, 1, 2), minute = number_at(t, 4, 2);
        if (hour < 0 || hour > 23 || toml_look(t, 3) != ':' || minute < 0 || minute > 59) {
            return cuzk_toml_fail(t, cuzk_toml_here(t), "expected an offset +HH:MM");
        }
        d->has_offset = true;
        d->offset_minutes = (int16_t)((sign == '-' ? -1 : 1) * (60 * hour + minute));
        t->p += 6;
    }
    return CUZK_OK;
}

static cuzk_code datetime(cuzk_toml_parser *t, cuzk_toml_value *ret)
{
    cuzk_toml_datetime d = {0};
    if (toml_look(t, 2) == ':') {
        CUZK_TRY(time_of_day(t, &d));
    } else {
        CUZK_TRY(date(t, &d));
        int c = toml_look(t, 0);
        if (c == 'T' || c == 't' || (c == ' ' && digit(toml_look(t, 1)))) {
            t->p++;
            CUZK_TRY(time_of_day(t, &d));
            CUZK_TRY(offset(t, &d));
        }
    }
    ret->type = CUZK_TOML_DATETIME;
    ret->u.datetime = d;
    return CUZK_OK;
}

/* --- numbers --- */

/* Length of the run of digits of a base that is i ahead, underscores between digits included; an
 * underscore elsewhere ends it. */
static size_t digits_ahead(const cuzk_toml_parser *t, size_t i, int base)
{
    size_t n = 0;
    for (;;) {
        int d = hex_digit(toml_look(t, i + n));
        if (d >= 0 && d < base) {
            n++;
            continue;
        }
        d = hex_digit(toml_look(t, i + n + 1));
        if (n > 0 && toml_look(t, i + n) == '_' && d >= 0 && d < base) {
            n += 2;
            continue;
        }
        return n;
    }
}

/* n bytes from the next on, without underscores, as a string in scratch. */
static cuzk_code without_underscores(cuzk_toml_parser *t, size_t n)
{
    t->scratch_n = 0;
    for (size_t i = 0; i < n; i++) {
        if (t->p[i] != '_') {
            CUZK_TRY(keep_byte(t, t->p[i]));
        }
    }
    return keep_byte(t, '\0');
}

static cuzk_code integer(cuzk_toml_parser *t, size_t prefix, size_t n, int base,
                         cuzk_toml_value *ret)
{
    cuzk_toml_place at = cuzk_toml_here(t);
    t->p += prefix;
    CUZK_TRY(without_underscores(t, n));
    errno = 0;
    long long v = strtoll((const char *)t->scratch, NULL, base);
    if (errno == ERANGE) {
        return cuzk_toml_fail(t, at, "the integer does not fit 64 bits");
    }
    t->p += n;
    ret->type = CUZK_TOML_INTEGER;
    ret->u.integer = v;
    return CUZK_OK;
}

static cuzk_code decimal(cuzk_toml_parser *t, cuzk_toml_value *ret)
{
    size_t sign = toml_look(t, 0) == '+' || toml_look(t, 0) == '-';
    size_t n = sign + (toml_look(t, sign) == '0' ? 1 : digits_ahead(t, sign, 10));
    size_t whole = n, k;
    if (toml_look(t, n) == '.' && (k = digits_ahead(t, n + 1, 10))) {
        n += 1 + k;
    }
    if (toml_look(t, n) == 'e' || toml_look(t, n) == 'E') {
        size_t exp_sign = toml_look(t, n + 1) == '+' || toml_look(t, n + 1) == '-';
        if ((k = digits_ahead(t, n + 1 + exp_sign, 10))) {
            n += 1 + exp_sign + k;
        }
    }
    if (n == whole) {
        return integer(t, 0, n, 10, ret);
    }
    CUZK_TRY(without_underscores(t, n));
    t->p += n;
    ret->type = CUZK_TOML_FLOAT;
    ret->u.number = strtod((const char *)t->scratch, NULL);
    return CUZK_OK;
}

static bool word(cuzk_toml_parser *t, size_t skip, const char *w)
{
    size_t n = strlen(w);
    if (toml_left(t) < skip + n || memcmp(t->p + skip, w, n) != 0) {
        return false;
    }
    t->p += skip + n;
    return true;
}

cuzk_code cuzk_toml_scalar(cuzk_toml_parser *t, cuzk_toml_value *ret)
{
    if (word(t, 0, "true") || word(t, 0, "false")) {
        ret->type = CUZK_TOML_BOOL;
        ret->u.boolean = t->p[-2] == 'u';
        return CUZK_OK;
    }
    if (number_at(t, 0, 2) >= 0 &&
        (toml_look(t, 2) == ':' || (number_at(t, 2, 2) >= 0 && toml_look(t, 4) == '-'))) {
        return datetime(t, ret);
    }
    static const struct {
        const char *prefix;
        int base;
    } bases[] = {{"0x", 16}, {"0o", 8}, {"0b", 2}};
    for (size_t i = 0; i < 3; i++) {
        size_t n = digits_ahead(t, 2, bases[i].base);
        if (n > 0 && toml_look(t, 0) == '0' && toml_look(t, 1) == bases[i].prefix[1]) {
            return integer(t, 2, n, bases[i].base, ret);
        }
    }
    int c = toml_look(t, 0);
    size_t sign = c == '+' || c == '-';
    if (digit(toml_look(t, sign))) {
        return decimal(t, ret);
    }
    bool inf = word(t, sign, "inf");
    if (inf || word(t, sign, "nan")) {
        ret->type = CUZK_TOML_FLOAT;
        ret->u.number = copysign(inf ? (double)INFINITY : (double)NAN, c == '-' ? -1.0 : 1.0);
        return CUZK_OK;
    }
    return cuzk_toml_expected(t, "a value (a string needs quotes)");
}
