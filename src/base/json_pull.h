#ifndef CUZK_BASE_JSON_PULL_H
#define CUZK_BASE_JSON_PULL_H

#include "base/bytes.h"

/*
 * A pull reader for JSON (RFC 8259): the caller asks for what it expects next and nothing is built
 * in memory. Strict in numbers, escapes, surrogates and UTF-8; no trailing commas or comments.
 * For big inputs of known form; arrays of bytes have a fast path. The text comes whole or in
 * pieces.
 *
 *     cuzk_json_enter_object(&j, err)
 *     while (cuzk_json_next_key(&j, &more, err) is CUZK_OK, and more)
 *         read or skip exactly one value
 *
 * Every error is CUZK_E_INPUT and names the text, the offset in it, the path of keys and indices,
 * what was expected and what was found. After an error the reader is spent.
 */

enum { CUZK_JSON_MAX_DEPTH = 64, CUZK_JSON_KEY_MAX = 64 };

/** Writes up to cap more bytes of the text to buf and their number to *ret_n; 0 ends the text. */
typedef cuzk_code cuzk_json_fill_fn(void *ctx, uint8_t *buf, size_t cap, size_t *ret_n,
                                    cuzk_err *err);

/** One object or array that the reader is in. */
typedef struct cuzk_json_frame {
    bool object;
    bool started;                /* a member or element was read */
    uint8_t key_shown;           /* bytes of key that messages show */
    uint32_t index;              /* array: of the current element */
    char key[CUZK_JSON_KEY_MAX]; /* object: of the current member, cut */
} cuzk_json_frame;

typedef struct cuzk_json {
    const uint8_t *start, *p, *end; /* what is at hand of the text; next byte */
    size_t base;                    /* offset of `start` in the text */
    uint8_t *buf;                   /* borrowed: the memory of `start`, when text comes in pieces */
    size_t cap;
    cuzk_json_fill_fn *fill; /* NULL: no more comes */
    void *ctx;
    cuzk_err fill_err;   /* of fill, when its code is not CUZK_OK */
    const char *name;    /* borrowed: the text's name, for messages */
    const char *context; /* borrowed: what is being read, for messages; may be NULL */
    size_t key_len;      /* of the last key, whole */
    unsigned depth;
    cuzk_json_frame frames[CUZK_JSON_MAX_DEPTH];
} cuzk_json;

/** Reads text that is all in memory. Borrows text and name. */
void cuzk_json_init(cuzk_json *j, cuzk_span text, const char *name);

/** Reads text that fill brings piece by piece into buf[cap], cap >= 256. Borrows all. */
void cuzk_json_init_stream(cuzk_json *j, uint8_t *buf, size_t cap, cuzk_json_fill_fn *fill,
                           void *ctx, const char *name);

typedef enum cuzk_json_type {
    CUZK_JSON_OBJECT,
    CUZK_JSON_ARRAY,
    CUZK_JSON_STRING,
    CUZK_JSON_NUMBER,
    CUZK_JSON_BOOL,
    CUZK_JSON_NULL,
} cuzk_json_type;

/** What the next value is, by its first byte. */
cuzk_code cuzk_json_peek(cuzk_json *j, cuzk_json_type *ret, cuzk_err *err);

cuzk_code cuzk_json_enter_object(cuzk_json *j, cuzk_err *err);
/** Goes to the next member and reads its key, or leaves the object with *ret_more false. */
cuzk_code cuzk_json_next_key(cuzk_json *j, bool *ret_more, cuzk_err *err);
/** Whether the last key read, in the object that the reader is in, is this one. */
bool cuzk_json_key_is(const cuzk_json *j, const char *key);

cuzk_code cuzk_json_enter_array(cuzk_json *j, cuzk_err *err);
/** Goes to the next element, or leaves the array with *ret_more false. */
cuzk_code cuzk_json_next_element(cuzk_json *j, bool *ret_more, cuzk_err *err);

/** An integer in [0, 2^64), without fraction or exponent. */
cuzk_code cuzk_json_u64(cuzk_json *j, uint64_t *ret, cuzk_err *err);
/** Any number as its text and a NUL; numbers of cap bytes or more are refused. */
cuzk_code cuzk_json_number(cuzk_json *j, char *ret, size_t cap, cuzk_err *err);
cuzk_code cuzk_json_bool(cuzk_json *j, bool *ret, cuzk_err *err);
cuzk_code cuzk_json_null(cuzk_json *j, cuzk_err *err);

/** A string, decoded, and a NUL; *ret_n is its length, which may count NULs of its own. Strings of
 *  cap bytes or more are refused. */
cuzk_code cuzk_json_string(cuzk_json *j, char *ret, size_t cap, size_t *ret_n, cuzk_err *err);

/** A string of any length in parts: begin, then parts until *ret_end. A part fills buf[cap] as far
 *  as the text goes on, cap >= 4. */
cuzk_code cuzk_json_string_begin(cuzk_json *j, cuzk_err *err);
cuzk_code cuzk_json_string_part(cuzk_json *j, uint8_t *buf, size_t cap, size_t *ret_n,
                                bool *ret_end, cuzk_err *err);

/** An array of exactly n integers in [0, 255]. */
cuzk_code cuzk_json_bytes(cuzk_json *j, uint8_t *ret, size_t n, cuzk_err *err);

/** Any value, checked and dropped. */
cuzk_code cuzk_json_skip(cuzk_json *j, cuzk_err *err);

/** CUZK_E_INPUT unless the text ends here, white space aside. */
cuzk_code cuzk_json_end(cuzk_json *j, cuzk_err *err);

/** An error of the caller's about what the reader is at: fills err and returns CUZK_E_INPUT. */
cuzk_code cuzk_json_fail(cuzk_json *j, cuzk_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
