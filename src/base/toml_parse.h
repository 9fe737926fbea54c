#ifndef CUZK_BASE_TOML_PARSE_H
#define CUZK_BASE_TOML_PARSE_H

#include "base/toml.h"

/* What the reader's own files share; nobody else needs this. */

typedef struct toml_block toml_block;

typedef struct cuzk_toml_parser {
    cuzk_toml *doc;
    const uint8_t *p, *end; /* next byte */
    const char *name;
    cuzk_err *err;
    const uint8_t *placed; /* the byte whose place is known */
    cuzk_toml_place place;
    uint8_t *scratch; /* a string while it is decoded */
    size_t scratch_n, scratch_cap;
} cuzk_toml_parser;

/** The place of the next byte. Places are asked for in order of the text, so all of them together
 *  cost one pass. */
cuzk_toml_place cuzk_toml_here(cuzk_toml_parser *t);

/** Fills the error with a place and a message; returns CUZK_E_INPUT. */
cuzk_code cuzk_toml_fail(cuzk_toml_parser *t, cuzk_toml_place at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** Fails at the next byte: what was expected, and what is there. */
cuzk_code cuzk_toml_expected(cuzk_toml_parser *t, const char *what);

/** Memory that lives as long as the document; NULL when there is none. */
void *cuzk_toml_alloc(cuzk_toml *doc, size_t n);

/** Reads a string whose first quote is the next byte. Multi-line ones only where `value` says that
 *  it is no key. *ret_text gets *ret_n bytes and a NUL. */
cuzk_code cuzk_toml_string(cuzk_toml_parser *t, bool value, const char **ret_text, size_t *ret_n);

/** Reads a boolean, number, date or time. */
cuzk_code cuzk_toml_scalar(cuzk_toml_parser *t, cuzk_toml_value *ret);

static inline size_t toml_left(const cuzk_toml_parser *t) { return (size_t)(t->end - t->p); }

/** The byte i ahead, or -1 past the end. */
static inline int toml_look(const cuzk_toml_parser *t, size_t i)
{
    return i < toml_left(t) ? t->p[i] : -1;
}

/** Bytes of the line end that is next: 1 (LF), 2 (CR LF), or 0. */
static inline size_t toml_newline(const cuzk_toml_parser *t)
{
    int c = toml_look(t, 0);
    return c == '\n' ? 1 : c == '\r' && toml_look(t, 1) == '\n' ? 2 : 0;
}

static inline void toml_skip_blanks(cuzk_toml_parser *t)
{
    while (toml_look(t, 0) == ' ' || toml_look(t, 0) == '\t') {
        t->p++;
    }
}

#endif
