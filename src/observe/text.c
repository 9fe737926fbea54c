#include "observe/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool room(cuzk_text *t, size_t n)
{
    if (t->failed || n > SIZE_MAX / 4 - t->n) {
        t->failed = true;
        return false;
    }
    if (t->n + n + 1 > t->cap) {
        size_t cap = t->cap ? t->cap : 256;
        while (cap < t->n + n + 1) {
            cap *= 2;
        }
        char *p = realloc(t->p, cap);
        if (!p) {
            t->failed = true;
            return false;
        }
        t->p = p;
        t->cap = cap;
    }
    return true;
}

void cuzk_text_put(cuzk_text *t, const char *bytes, size_t n)
{
    if (room(t, n)) {
        memcpy(t->p + t->n, bytes, n);
        t->n += n;
        t->p[t->n] = 0;
    }
}

void cuzk_text_str(cuzk_text *t, const char *s) { cuzk_text_put(t, s, strlen(s)); }

void cuzk_text_printf(cuzk_text *t, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0 && room(t, (size_t)n)) {
        vsnprintf(t->p + t->n, (size_t)n + 1, fmt, again);
        t->n += (size_t)n;
    }
    va_end(again);
}

#define REPLACEMENT "\xef\xbf\xbd"

void cuzk_text_json(cuzk_text *t, const char *s)
{
    cuzk_text_put(t, "\"", 1);
    while (*s) {
        size_t n = cuzk_text_char(s);
        unsigned char c = (unsigned char)*s;
        if (n == 0) {
            cuzk_text_str(t, REPLACEMENT);
            n = 1;
        } else if (c == '"' || c == '\\') {
            cuzk_text_put(t, "\\", 1);
            cuzk_text_put(t, s, 1);
        } else if (c < 0x20 || c == 0x7f || c == '<') { /* '<': JSON may stand inside HTML */
            cuzk_text_printf(t, "\\u%04x", c);
        } else {
            cuzk_text_put(t, s, n);
        }
        s += n;
    }
    cuzk_text_put(t, "\"", 1);
}

void cuzk_text_xml(cuzk_text *t, const char *s)
{
    while (*s) {
        size_t n = cuzk_text_char(s);
        unsigned char c = (unsigned char)*s;
        /* U+FFFE and U+FFFF are UTF-8 but no characters of XML. */
        bool no_char =
            n == 3 && c == 0xef && (unsigned char)s[1] == 0xbf && (unsigned char)s[2] >= 0xbe;
        if (n == 0 || c < 0x20 || c == 0x7f || no_char) {
            cuzk_text_str(t, REPLACEMENT);
            n = n ? n : 1;
        } else if (c == '&') {
            cuzk_text_str(t, "&amp;");
        } else if (c == '<') {
            cuzk_text_str(t, "&lt;");
        } else if (c == '>') {
            cuzk_text_str(t, "&gt;");
        } else if (c == '"') {
            cuzk_text_str(t, "&quot;");
        } else if (c == '\'') {
            cuzk_text_str(t, "&#39;");
        } else {
            cuzk_text_put(t, s, n);
        }
        s += n;
    }
}

void cuzk_text_plain(cuzk_text *t, const char *s, size_t columns)
{
    size_t chars = 0;
    for (const char *p = s; *p; chars++) {
        size_t n = cuzk_text_char(p);
        p += n ? n : 1;
    }
    bool cut = chars > columns;
    size_t keep = cut ? (columns > 2 ? columns - 2 : 0) : chars;
    for (size_t i = 0; i < keep; i++) {
        size_t n = cuzk_text_char(s);
        unsigned char c = (unsigned char)*s;
        /* C1 controls are two bytes, 0xc2 0x80 to 0xc2 0x9f. */
        bool control =
            n == 0 || c < 0x20 || c == 0x7f || (n == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0);
        if (control) {
            cuzk_text_put(t, "?", 1);
        } else {
            cuzk_text_put(t, s, n);
        }
        s += n ? n : 1;
    }
    if (cut) {
        cuzk_text_put(t, "..", columns < 2 ? columns : 2);
    }
}

cuzk_code cuzk_text_take(cuzk_text *t, char **ret, size_t *ret_n, cuzk_err *err)
{
    cuzk_text_put(t, "", 0);
    if (t->failed) {
        free(t->p);
        *t = (cuzk_text){0};
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a text");
    }
    *ret = t->p;
    *ret_n = t->n;
    *t = (cuzk_text){0};
    return CUZK_OK;
}
