#include "base/log.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

struct cuzk_log {
    int fd; /* borrowed */
    cuzk_log_format format;
    atomic_int level;
    atomic_uint_fast64_t lost;
    pthread_mutex_t mu; /* held while a line is written, so that a short write can go on */
};

/* A line under construction: on the stack while it is short. */
typedef struct line {
    char *p;
    size_t n, cap;
    bool failed; /* no memory: the line is lost */
    char small[1024];
} line;

static void reserve(line *l, size_t more)
{
    if (l->failed || l->cap - l->n >= more) {
        return;
    }
    size_t cap = 2 * (l->n + more);
    char *p = l->p == l->small ? malloc(cap) : realloc(l->p, cap);
    if (!p) {
        l->failed = true;
        return;
    }
    if (l->p == l->small) {
        memcpy(p, l->small, l->n);
    }
    l->p = p;
    l->cap = cap;
}

static void put(line *l, const char *bytes, size_t n)
{
    reserve(l, n);
    if (!l->failed) {
        memcpy(l->p + l->n, bytes, n);
        l->n += n;
    }
}

static void puts_to(line *l, const char *s) { put(l, s, strlen(s)); }

__attribute__((format(printf, 2, 3))) static void putf(line *l, const char *fmt, ...)
{
    char text[64]; /* numbers and times: the longest, a time, has 27 characters */
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put(l, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* A string's characters with the escapes of JSON. */
static void put_escaped(line *l, const char *s)
{
    size_t n = strlen(s);
    const uint8_t *p = (const uint8_t *)s;
    while (n > 0) {
        size_t k = cuzk_utf8_length(p, n);
        if (k == 0) {
            puts_to(l, "\xef\xbf\xbd"); /* U+FFFD */
            k = 1;
        } else if (*p == '"' || *p == '\\') {
            putf(l, "\\%c", *p);
        } else if (*p == '\n') {
            puts_to(l, "\\n");
        } else if (*p < 0x20 || *p == 0x7f) {
            putf(l, "\\u%04x", *p);
        } else if (k == 2 && p[0] == 0xc2 && p[1] < 0xa0) { /* C1 controls move a terminal too */
            putf(l, "\\u%04x", p[1]);
        } else {
            put(l, (const char *)p, k);
        }
        p += k;
        n -= k;
    }
}

static void put_quoted(line *l, const char *s)
{
    puts_to(l, "\"");
    put_escaped(l, s);
    puts_to(l, "\"");
}

static void put_time(line *l)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    putf(l, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
         utc.tm_hour, utc.tm_min, utc.tm_sec, now.tv_nsec / 1000);
}

/* The shortest of 15 to 17 digits that reads back as the same number. */
static void put_double(line *l, double d)
{
    if (!isfinite(d)) {
        puts_to(l, "null");
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        double back = strtod(text, NULL);
        if (back >= d && back <= d) {
            break;
        }
    }
    puts_to(l, text);
}

static void put_value(line *l, const cuzk_log_field *f)
{
    switch (f->type) {
    case CUZK_LOG_FIELD_STRING:
        if (f->v.s) {
            put_quoted(l, f->v.s);
        } else {
            puts_to(l, "null");
        }
        break;
    case CUZK_LOG_FIELD_INT:
        putf(l, "%" PRId64, f->v.i);
        break;
    case CUZK_LOG_FIELD_UINT:
        putf(l, "%" PRIu64, f->v.u);
        break;
    case CUZK_LOG_FIELD_DOUBLE:
        put_double(l, f->v.d);
        break;
    case CUZK_LOG_FIELD_BOOL:
        puts_to(l, f->v.b ? "true" : "false");
        break;
    }
}

static void put_json(line *l, cuzk_log_level level, const char *target, const char *msg,
                     const cuzk_log_field *fields, size_t n)
{
    puts_to(l, "{\"t\":\"");
    put_time(l);
    puts_to(l, "\",\"level\":");
    put_quoted(l, cuzk_log_level_name(level));
    puts_to(l, ",\"target\":");
    put_quoted(l, target);
    if (msg) {
        puts_to(l, ",\"msg\":");
        put_quoted(l, msg);
    }
    for (size_t i = 0; i < n; i++) {
        puts_to(l, ",");
        put_quoted(l, fields[i].key);
        puts_to(l, ":");
        put_value(l, &fields[i]);
    }
    puts_to(l, "}\n");
}

static void put_text(line *l, cuzk_log_level level, const char *target, const char *msg,
                     const cuzk_log_field *fields, size_t n)
{
    char name[8];
    size_t i = 0;
    for (const char *s = cuzk_log_level_name(level); *s; s++) {
        name[i++] = (char)(*s - 'a' + 'A');
    }
    name[i] = '\0';
    put_time(l);
    putf(l, " %-5s ", name);
    put_escaped(l, target);
    puts_to(l, ":");
    if (msg) {
        puts_to(l, " ");
        put_escaped(l, msg);
    }
    for (size_t k = 0; k < n; k++) {
        puts_to(l, " ");
        put_escaped(l, fields[k].key);
        puts_to(l, "=");
        put_value(l, &fields[k]);
    }
    puts_to(l, "\n");
}

cuzk_code cuzk_log_new(cuzk_log **ret, int fd, cuzk_log_format format, cuzk_log_level level,
                       cuzk_err *err)
{
    cuzk_log *log = calloc(1, sizeof *log);
    if (!log) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a log");
    }
    log->fd = fd;
    log->format = format;
    atomic_init(&log->level, (int)level);
    atomic_init(&log->lost, 0);
    pthread_mutex_init(&log->mu, NULL);
    *ret = log;
    return CUZK_OK;
}

void cuzk_log_free(cuzk_log *log)
{
    if (log) {
        pthread_mutex_destroy(&log->mu);
        free(log);
    }
}

/* The level orders nothing else, so relaxed does. */
void cuzk_log_set_level(cuzk_log *log, cuzk_log_level level)
{
    atomic_store_explicit(&log->level, (int)level, memory_order_relaxed);
}

bool cuzk_log_on(const cuzk_log *log, cuzk_log_level level)
{
    return log && (int)level <= atomic_load_explicit(&log->level, memory_order_relaxed);
}

uint64_t cuzk_log_lost(const cuzk_log *log)
{
    return atomic_load_explicit(&log->lost, memory_order_relaxed);
}

static const char *const level_names[] = {
#define X(level, name) name,
    CUZK_LOG_LEVEL_MAP(X)
#undef X
};

const char *cuzk_log_level_name(cuzk_log_level level) { return level_names[level]; }

bool cuzk_log_level_parse(const char *name, cuzk_log_level *ret)
{
    for (unsigned i = 0; i < sizeof level_names / sizeof level_names[0]; i++) {
        if (strcasecmp(name, level_names[i]) == 0) {
            *ret = (cuzk_log_level)i;
            return true;
        }
    }
    return false;
}

/* Writes bytes as one line; they end in a newline. Counts what is lost. */
static void write_line(cuzk_log *log, const char *p, size_t n)
{
    size_t done = 0;
    bool failed = false;
    pthread_mutex_lock(&log->mu);
    while (done < n && !failed) {
        ssize_t k = write(log->fd, p + done, n - done);
        if (k > 0) {
            done += (size_t)k;
        } else {
            failed = k == 0 || errno != EINTR;
        }
    }
    pthread_mutex_unlock(&log->mu);
    if (failed) {
        atomic_fetch_add_explicit(&log->lost, 1, memory_order_relaxed);
    }
}

void cuzk_log_write(cuzk_log *log, cuzk_log_level level, const char *target, const char *msg,
                    const cuzk_log_field *fields, size_t n)
{
    if (!cuzk_log_on(log, level)) {
        return;
    }
    int saved = errno; /* a caller may report errno after it has logged */
    line l;
    l.p = l.small;
    l.n = 0;
    l.cap = sizeof l.small;
    l.failed = false;
    (log->format == CUZK_LOG_JSON ? put_json : put_text)(&l, level, target, msg, fields, n);
    if (l.failed) {
        atomic_fetch_add_explicit(&log->lost, 1, memory_order_relaxed);
    } else {
        write_line(log, l.p, l.n);
    }
    errno = saved;
    if (l.p != l.small) {
        free(l.p);
    }
}

void cuzk_log_raw(cuzk_log *log, cuzk_log_level level, const char *json, size_t n)
{
    if (!cuzk_log_on(log, level)) {
        return;
    }
    int saved = errno;
    char small[1024];
    char *copy = n < sizeof small ? small : malloc(n + 1);
    if (copy) {
        memcpy(copy, json, n);
        copy[n] = '\n';
        write_line(log, copy, n + 1);
    } else {
        atomic_fetch_add_explicit(&log->lost, 1, memory_order_relaxed);
    }
    if (copy != small) {
        free(copy);
    }
    errno = saved;
}
