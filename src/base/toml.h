#ifndef CUZK_BASE_TOML_H
#define CUZK_BASE_TOML_H

#include "base/bytes.h"

/*
 * A reader for TOML 1.0 (toml.io/en/v1.0.0), whole and strict, that keeps where each key and value
 * stands so that whoever reads a configuration can say so. Integers outside 64 bits are errors, and
 * so is nesting deeper than CUZK_TOML_MAX_DEPTH.
 */

enum { CUZK_TOML_MAX_DEPTH = 64 };

typedef enum cuzk_toml_type {
    CUZK_TOML_TABLE,
    CUZK_TOML_ARRAY,
    CUZK_TOML_STRING,
    CUZK_TOML_INTEGER,
    CUZK_TOML_FLOAT,
    CUZK_TOML_BOOL,
    CUZK_TOML_DATETIME,
} cuzk_toml_type;

/** A date, a time, or both, with or without an offset from UTC. */
typedef struct cuzk_toml_datetime {
    bool has_date, has_time, has_offset;
    uint16_t year;
    uint8_t month, day, hour, minute, second;
    uint32_t nanosecond;
    int16_t offset_minutes;
} cuzk_toml_datetime;

/** A place in the text: both from 1, columns count characters. */
typedef struct cuzk_toml_place {
    uint32_t line, column;
} cuzk_toml_place;

/** A value; it and all it points to belong to the document. */
typedef struct cuzk_toml_value {
    cuzk_toml_type type;
    uint8_t origin;               /* the reader's own */
    cuzk_toml_place at;           /* of the value; of a table its header, or its first key */
    cuzk_toml_place key_at;       /* of the key, when it has one */
    const char *key;              /* UTF-8 and a NUL; NULL in an array and for the root */
    size_t key_len;               /* the key may hold NULs of its own */
    struct cuzk_toml_value *next; /* the next member or element, in the order of the text */
    union {
        struct {
            struct cuzk_toml_value *first, *last;
            size_t count;
        } list; /* table, array */
        struct {
            const char *p; /* UTF-8 and a NUL */
            size_t n;      /* the string may hold NULs of its own */
        } string;
        int64_t integer;
        double number;
        bool boolean;
        cuzk_toml_datetime datetime;
    } u;
} cuzk_toml_value;

/** A document that was read. */
typedef struct cuzk_toml cuzk_toml;

/** Reads a text. CUZK_E_INPUT with `NAME:LINE:COLUMN: message` when it is not TOML. The caller owns
 *  *ret, which borrows nothing. */
cuzk_code cuzk_toml_parse(cuzk_toml **ret, cuzk_span text, const char *name, cuzk_err *err);

/** Frees a document and all its values; accepts NULL. */
void cuzk_toml_free(cuzk_toml *doc);

/** The table of all; never NULL. */
const cuzk_toml_value *cuzk_toml_root(const cuzk_toml *doc);

/** The member of a table; NULL when there is none. */
const cuzk_toml_value *cuzk_toml_get(const cuzk_toml *doc, const cuzk_toml_value *table,
                                     const char *key);

/** What a type is called in messages, e.g. "a string". */
const char *cuzk_toml_type_name(cuzk_toml_type type);

#endif
