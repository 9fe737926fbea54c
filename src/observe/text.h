#ifndef CUZK_OBSERVE_TEXT_H
#define CUZK_OBSERVE_TEXT_H

#include "base/utf8.h"
#include "cuzk/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * A text that grows. Running out of memory is remembered, not told at each call: cuzk_text_take
 * says it. All zero is an empty text.
 */
typedef struct cuzk_text {
    char *p; /* owned; NUL-terminated once something was put */
    size_t n, cap;
    bool failed;
} cuzk_text;

void cuzk_text_put(cuzk_text *t, const char *bytes, size_t n);
void cuzk_text_str(cuzk_text *t, const char *s);
void cuzk_text_printf(cuzk_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void cuzk_text_json(cuzk_text *t, const char *s);

/** Text for element content and attribute values of XML and HTML; control characters and bytes that
 *  are not UTF-8 become U+FFFD. */
void cuzk_text_xml(cuzk_text *t, const char *s);

/** Text for a terminal: control characters and bytes that are not UTF-8 become '?'; at most
 *  `columns` characters, cut with "..". */
void cuzk_text_plain(cuzk_text *t, const char *s, size_t columns);

/** Hands the text over, or frees it and returns CUZK_E_MEMORY. */
cuzk_code cuzk_text_take(cuzk_text *t, char **ret, size_t *ret_n, cuzk_err *err);

/** Length of the UTF-8 character at the start of a string, 1 to 4; 0 when there is none. */
static inline size_t cuzk_text_char(const char *s)
{
    return *s ? cuzk_utf8_length((const uint8_t *)s, strnlen(s, 4)) : 0;
}

#endif
