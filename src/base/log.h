#ifndef CUZK_BASE_LOG_H
#define CUZK_BASE_LOG_H

#include "cuzk/err.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The log of a program: one line for each event, written whole with one write. Libraries never
 * log; only programs, the service and the engine get a cuzk_log. As JSON a line is one flat object
 *
 *     {"t":"2026-01-31T12:00:00.123456Z","level":"info","target":"engine","msg":"…", fields…}
 *
 * and as text `2026-01-31T12:00:00.123456Z INFO  engine: … key=value`. Whatever bytes the strings
 * hold, a line stays one line of valid UTF-8: control characters are escaped and bytes that are
 * not UTF-8 become U+FFFD.
 */

/** Level, its name. A log of a level writes that one and those before it. */
#define CUZK_LOG_LEVEL_MAP(X)                                                                      \
    X(CUZK_LOG_ERROR, "error")                                                                     \
    X(CUZK_LOG_WARN, "warn")                                                                       \
    X(CUZK_LOG_INFO, "info")                                                                       \
    X(CUZK_LOG_DEBUG, "debug")                                                                     \
    X(CUZK_LOG_TRACE, "trace")

typedef enum cuzk_log_level {
#define X(level, name) level,
    CUZK_LOG_LEVEL_MAP(X)
#undef X
} cuzk_log_level;

typedef enum cuzk_log_format { CUZK_LOG_JSON, CUZK_LOG_TEXT } cuzk_log_format;

typedef struct cuzk_log cuzk_log;

/** A log that writes to fd, which it borrows; the caller owns *ret. */
cuzk_code cuzk_log_new(cuzk_log **ret, int fd, cuzk_log_format format, cuzk_log_level level,
                       cuzk_err *err);

/** Frees a log that no thread uses any more; accepts NULL. Does not close the descriptor. */
void cuzk_log_free(cuzk_log *log);

/** Changes the level from any thread, at any time. */
void cuzk_log_set_level(cuzk_log *log, cuzk_log_level level);

/** Whether a line of this level would be written; false for NULL. Costs one relaxed load. */
bool cuzk_log_on(const cuzk_log *log, cuzk_log_level level);

/** Name of a level, e.g. "warn". */
const char *cuzk_log_level_name(cuzk_log_level level);

/** The level of a name; false when there is none of it. */
bool cuzk_log_level_parse(const char *name, cuzk_log_level *ret);

/** Lines that could not be written, e.g. to a full disk. */
uint64_t cuzk_log_lost(const cuzk_log *log);

/** A named value of a line. Made by the functions below; borrows key and text. */
typedef struct cuzk_log_field {
    const char *key;
    enum {
        CUZK_LOG_FIELD_STRING,
        CUZK_LOG_FIELD_INT,
        CUZK_LOG_FIELD_UINT,
        CUZK_LOG_FIELD_DOUBLE,
        CUZK_LOG_FIELD_BOOL,
    } type;
    union {
        const char *s; /* NULL is null */
        int64_t i;
        uint64_t u;
        double d;
        bool b;
    } v;
} cuzk_log_field;

static inline cuzk_log_field cuzk_log_str(const char *key, const char *s)
{
    return (cuzk_log_field){key, CUZK_LOG_FIELD_STRING, {.s = s}};
}

static inline cuzk_log_field cuzk_log_int(const char *key, int64_t i)
{
    return (cuzk_log_field){key, CUZK_LOG_FIELD_INT, {.i = i}};
}

static inline cuzk_log_field cuzk_log_uint(const char *key, uint64_t u)
{
    return (cuzk_log_field){key, CUZK_LOG_FIELD_UINT, {.u = u}};
}

/** Infinities and NaN are written as null. */
static inline cuzk_log_field cuzk_log_double(const char *key, double d)
{
    return (cuzk_log_field){key, CUZK_LOG_FIELD_DOUBLE, {.d = d}};
}

static inline cuzk_log_field cuzk_log_bool(const char *key, bool b)
{
    return (cuzk_log_field){key, CUZK_LOG_FIELD_BOOL, {.b = b}};
}

/** The message of an error as the field "error". */
static inline cuzk_log_field cuzk_log_error(const cuzk_err *err)
{
    return cuzk_log_str("error", err->msg);
}

/** Writes one line; msg may be NULL. Any thread. Does nothing below the log's level or without a
 *  log. */
void cuzk_log_write(cuzk_log *log, cuzk_log_level level, const char *target, const char *msg,
                    const cuzk_log_field *fields, size_t n);

/** Writes a line that is made already, a JSON object json[n] without newline, as it is: for streams
 *  of records with a form of their own, such as the timeline's. In a log of text it stays JSON. */
void cuzk_log_raw(cuzk_log *log, cuzk_log_level level, const char *json, size_t n);

/**
 * One line with any number of fields, which are only evaluated when it is written:
 *
 *     CUZK_LOG(log, CUZK_LOG_INFO, "engine", "job done", cuzk_log_str("job", id),
 *              cuzk_log_int("total_ms", ms));
 */
#define CUZK_LOG(log, level, target, msg, ...)                                                     \
    do {                                                                                           \
        if (cuzk_log_on((log), (level))) {                                                         \
            const cuzk_log_field fields_[] = {{0}, __VA_ARGS__};                                   \
            cuzk_log_write((log), (level), (target), (msg), fields_ + 1,                           \
                           sizeof fields_ / sizeof fields_[0] - 1);                                \
        }                                                                                          \
    } while (0)

#endif
