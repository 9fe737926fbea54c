#ifndef CUZK_BASE_JSON_SCAN_H
#define CUZK_BASE_JSON_SCAN_H

#include "base/json_pull.h"

/* How the reader's own files look at the text; nobody else needs this. */

/** Brings at least n bytes to hand, n <= cap, unless the text has fewer left. */
void cuzk_json_refill(cuzk_json *j, size_t n);

/** Fails with what was expected and the byte, or the end, that is there. */
cuzk_code cuzk_json_expected(cuzk_json *j, const char *what, cuzk_err *err);

/* Bytes at hand. */
static inline size_t left(const cuzk_json *j) { return (size_t)(j->end - j->p); }

static inline void want(cuzk_json *j, size_t n)
{
    if (left(j) < n) {
        cuzk_json_refill(j, n);
    }
}

/* The next byte, or -1 at the end of the text. */
static inline int look(cuzk_json *j)
{
    want(j, 1);
    return j->p < j->end ? *j->p : -1;
}

static inline int look_past_space(cuzk_json *j)
{
    int c = look(j);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        j->p++;
        c = look(j);
    }
    return c;
}

#endif
