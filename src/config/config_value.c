#include "config/config_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Values of keys: from TOML, checked, and back. */

/* A value's key and place, for messages. */
typedef struct site {
    const config_key *key;
    const char *where;
    cuzk_err *err;
} site;

static cuzk_code no_memory(const site *s)
{
    return CUZK_FAIL(s->err, CUZK_E_MEMORY, "%s: no memory for %s.%s", s->where, s->key->section,
                     s->key->name);
}

/* Fails with what a key expects; `found` is what was there instead. */
__attribute__((format(printf, 3, 4))) static cuzk_code wrong(const site *s, const char *found,
                                                             const char *fmt, ...)
{
    char want[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(want, sizeof want, fmt, ap);
    va_end(ap);
    return CUZK_FAIL(s->err, CUZK_E_INPUT, "%s: %s.%s: expected %s, found %.80s", s->where,
                     s->key->section, s->key->name, want, found);
}

/* What a value is, for messages. */
static const char *found_text(const cuzk_toml_value *v, char buf[96])
{
    if (v->type == CUZK_TOML_STRING) {
        snprintf(buf, 96, "\"%.60s\"", v->u.string.p);
    } else if (v->type == CUZK_TOML_INTEGER) {
        snprintf(buf, 96, "%" PRId64, v->u.integer);
    } else {
        snprintf(buf, 96, "%s", cuzk_toml_type_name(v->type));
    }
    return buf;
}

static bool is_text(const cuzk_toml_value *v)
{
    return v->type == CUZK_TOML_STRING && strlen(v->u.string.p) == v->u.string.n;
}

static cuzk_code copy(cuzk_config *c, const site *s, const char *text, const char **ret)
{
    size_t n = strlen(text) + 1;
    char *p = cuzk_config_alloc(c, n);
    if (!p) {
        return no_memory(s);
    }
    memcpy(p, text, n);
    *ret = p;
    return CUZK_OK;
}

static cuzk_code read_string(cuzk_config *c, const site *s, const cuzk_toml_value *v,
                             const char **ret)
{
    char buf[96];
    if (!is_text(v)) {
        return wrong(s, found_text(v, buf), "a string");
    }
    return copy(c, s, v->u.string.p, ret);
}

/* Decimal digits up to the end, at most max. */
static bool decimal(const char *text, uint64_t max, uint64_t *ret, const char **ret_end)
{
    uint64_t n = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t d = (uint64_t)(*p - '0');
        if (n > (max - d) / 10) {
            return false;
        }
        n = 10 * n + d;
    }
    *ret = n;
    *ret_end = p;
    return p > text;
}

/* HOST:PORT with the port after the last colon, IPv6 hosts in brackets; or unix:///PATH. */
static bool is_address(const char *text)
{
    enum { UNIX_PATH_BYTES = 108 }; /* what a socket's address holds, with the NUL */
    static const char unix_prefix[] = "unix://";
    if (strncmp(text, unix_prefix, sizeof unix_prefix - 1) == 0) {
        const char *path = text + sizeof unix_prefix - 1;
        return path[0] == '/' && path[1] != '\0' && strlen(path) < UNIX_PATH_BYTES;
    }
    const char *colon = strrchr(text, ':'), *end;
    uint64_t port;
    if (!colon || colon == text || !decimal(colon + 1, 65535, &port, &end) || *end) {
        return false;
    }
    bool brackets = text[0] == '[' && colon[-1] == ']';
    return (brackets || !memchr(text, ':', (size_t)(colon - text))) && !strpbrk(text, " \t/");
}

static cuzk_code read_address(cuzk_config *c, const site *s, const cuzk_toml_value *v, bool empty,
                              const char **ret)
{
    char buf[96];
    if (!is_text(v) || !(is_address(v->u.string.p) || (empty && v->u.string.n == 0))) {
        return wrong(s, found_text(v, buf), "an address HOST:PORT or unix:///PATH");
    }
    return copy(c, s, v->u.string.p, ret);
}

/* A string, or an array of them. */
static cuzk_code read_strings(cuzk_config *c, const site *s, const cuzk_toml_value *v,
                              cuzk_config_strings *ret)
{
    bool addresses = s->key->type == CONFIG_ADDRESSES;
    char buf[96];
    const cuzk_toml_value *first = v;
    size_t n = 1;
    if (v->type == CUZK_TOML_ARRAY) {
        first = v->u.list.first;
        n = v->u.list.count;
    }
    if (addresses ? n == 0 : v->type != CUZK_TOML_ARRAY) {
        return wrong(s, n ? found_text(v, buf) : "none", addresses ? "an address" : "an array");
    }
    const char **list = cuzk_config_alloc(c, (n + 1) * sizeof *list);
    if (!list) {
        return no_memory(s);
    }
    for (size_t i = 0; i < n; i++, first = first->next) {
        CUZK_TRY(addresses ? read_address(c, s, first, false, &list[i])
                           : read_string(c, s, first, &list[i]));
    }
    *ret = (cuzk_config_strings){list, n};
    return CUZK_OK;
}

static cuzk_code read_numbers(cuzk_config *c, const site *s, const cuzk_toml_value *v,
                              cuzk_config_numbers *ret)
{
    char buf[96];
    if (v->type != CUZK_TOML_ARRAY) {
        return wrong(s, found_text(v, buf), "an array of device numbers");
    }
    uint32_t *list = cuzk_config_alloc(c, (v->u.list.count + 1) * sizeof *list);
    if (!list) {
        return no_memory(s);
    }
    size_t n = 0;
    for (const cuzk_toml_value *m = v->u.list.first; m; m = m->next) {
        if (m->type != CUZK_TOML_INTEGER || m->u.integer < 0 || m->u.integer > 1023) {
            return wrong(s, found_text(m, buf), "device numbers from 0 to 1023");
        }
        for (size_t i = 0; i < n; i++) {
            if (list[i] == (uint32_t)m->u.integer) {
                return wrong(s, found_text(m, buf), "each device once");
            }
        }
        list[n++] = (uint32_t)m->u.integer;
    }
    *ret = (cuzk_config_numbers){list, n};
    return CUZK_OK;
}

static cuzk_code read_count(const site *s, const cuzk_toml_value *v, uint32_t *ret)
{
    const config_key *k = s->key;
    char buf[96];
    if (v->type != CUZK_TOML_INTEGER || v->u.integer < (int64_t)k->min ||
        v->u.integer > (int64_t)k->max) {
        return wrong(s, found_text(v, buf), "an integer from %" PRIu64 " to %" PRIu64, k->min,
                     k->max);
    }
    *ret = (uint32_t)v->u.integer;
    return CUZK_OK;
}

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static const unit sizes[] = {
    {"B", 1},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"KiB", 1ull << 10},
    {"MiB", 1ull << 20},
    {"GiB", 1ull << 30},
    {"TiB", 1ull << 40},
    {"TB", 1000000000000ull},
    {"", 1},
    {NULL, 0},
};

static const unit durations[] = {
    {"ms", 1},      {"s", 1000},     {"seconds", 1000}, {"m", 60000},
    {"h", 3600000}, {"d", 86400000}, {"", 1000},        {NULL, 0},
};

/* A whole number and a unit, with or without a space between. */
static bool with_unit(const char *text, const unit *units, uint64_t *ret)
{
    uint64_t n;
    const char *end;
    if (!decimal(text, UINT64_MAX, &n, &end)) {
        return false;
    }
    end += *end == ' ' && end[1] != '\0';
    for (const unit *u = units; u->name; u++) {
        if (strcmp(end, u->name) == 0) {
            *ret = n * u->factor;
            return n <= (CUZK_CONFIG_AUTO - 1) / u->factor;
        }
    }
    return false;
}

static cuzk_code read_size(const site *s, const cuzk_toml_value *v, uint64_t *ret)
{
    const config_key *k = s->key;
    char buf[96];
    uint64_t n = 0;
    bool may_auto = k->max == CUZK_CONFIG_AUTO, ok = false;
    if (v->type == CUZK_TOML_INTEGER && v->u.integer >= 0) {
        n = (uint64_t)v->u.integer;
        ok = true;
    } else if (is_text(v) && may_auto && strcmp(v->u.string.p, "auto") == 0) {
        *ret = CUZK_CONFIG_AUTO;
        return CUZK_OK;
    } else if (is_text(v)) {
        ok = with_unit(v->u.string.p, sizes, &n);
    }
    if (!ok) {
        return wrong(s, found_text(v, buf), "a size such as \"5GiB\", bytes%s",
                     may_auto ? ", or \"auto\"" : "");
    }
    if (n < k->min || n > k->max) {
        return wrong(s, found_text(v, buf), "%" PRIu64 " to %" PRIu64 " bytes", k->min, k->max);
    }
    *ret = n;
    return CUZK_OK;
}

static cuzk_code read_duration(const site *s, const cuzk_toml_value *v, uint64_t *ret)
{
    enum { YEARS_100 = 36500 };
    char buf[96];
    uint64_t ms = 0;
    bool ok = false;
    if (v->type == CUZK_TOML_INTEGER && v->u.integer >= 0) {
        ok = v->u.integer < INT64_MAX / 1000;
        ms = ok ? (uint64_t)v->u.integer * 1000 : 0;
    } else if (is_text(v)) {
        ok = with_unit(v->u.string.p, durations, &ms);
    }
    if (!ok || ms > YEARS_100 * 86400000ull) {
        return wrong(s, found_text(v, buf), "a time such as \"250ms\", \"30s\", \"5m\", \"24h\"");
    }
    *ret = ms;
    return CUZK_OK;
}

/* "0-15,32": numbers and ranges. */
static cuzk_code read_cpus(cuzk_config *c, const site *s, const cuzk_toml_value *v,
                           cuzk_config_numbers *ret)
{
    bool in[CUZK_CONFIG_CPUS_MAX] = {false};
    char buf[96];
    const char *p = is_text(v) ? v->u.string.p : "x";
    while (*p) {
        uint64_t from, to;
        bool ok = decimal(p, CUZK_CONFIG_CPUS_MAX - 1, &from, &p);
        to = from;
        if (ok && *p == '-') {
            ok = decimal(p + 1, CUZK_CONFIG_CPUS_MAX - 1, &to, &p) && to >= from;
        }
        ok = ok && (*p == '\0' || (*p == ',' && p[1] != '\0'));
        if (!ok) {
            return wrong(s, found_text(v, buf), "processors below %d, such as \"0-15,32\"",
                         CUZK_CONFIG_CPUS_MAX);
        }
        p += *p == ',';
        for (uint64_t i = from; i <= to; i++) {
            in[i] = true;
        }
    }
    uint32_t *list = cuzk_config_alloc(c, sizeof in / sizeof in[0] * sizeof *list);
    if (!list) {
        return no_memory(s);
    }
    size_t n = 0;
    for (uint32_t i = 0; i < CUZK_CONFIG_CPUS_MAX; i++) {
        if (in[i]) {
            list[n++] = i;
        }
    }
    *ret = (cuzk_config_numbers){list, n};
    return CUZK_OK;
}

static cuzk_code read_word(const site *s, const cuzk_toml_value *v, int *ret)
{
    char buf[96], list[160] = "";
    for (int i = 0; s->key->words[i]; i++) {
        if (is_text(v) && strcmp(v->u.string.p, s->key->words[i]) == 0) {
            *ret = i;
            return CUZK_OK;
        }
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s\"%s\"", i ? ", " : "", s->key->words[i]);
    }
    return wrong(s, found_text(v, buf), "one of %s", list);
}

cuzk_code cuzk_config_read(cuzk_config *c, const config_key *k, const cuzk_toml_value *v,
                           const char *where, cuzk_err *err)
{
    site s = {k, where, err};
    char buf[96];
    void *at = (char *)c + k->offset;
    switch (k->type) {
    case CONFIG_STRING:
        return read_string(c, &s, v, at);
    case CONFIG_ADDRESS:
        return read_address(c, &s, v, true, at);
    case CONFIG_ADDRESSES:
    case CONFIG_STRINGS:
        return read_strings(c, &s, v, at);
    case CONFIG_NUMBERS:
        return read_numbers(c, &s, v, at);
    case CONFIG_BOOL:
        if (v->type != CUZK_TOML_BOOL) {
            return wrong(&s, found_text(v, buf), "true or false");
        }
        *(bool *)at = v->u.boolean;
        return CUZK_OK;
    case CONFIG_COUNT:
        return read_count(&s, v, at);
    case CONFIG_SIZE:
        return read_size(&s, v, at);
    case CONFIG_DURATION:
        return read_duration(&s, v, at);
    case CONFIG_CPUS:
        return read_cpus(c, &s, v, at);
    case CONFIG_WORD:
        return read_word(&s, v, at);
    case CONFIG_EXPLAINED:
        break;
    }
    return CUZK_OK;
}

/* --- back to text --- */

static void write_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        unsigned char ch = (unsigned char)*s;
        if (ch < 0x20 || ch == 0x7f || ch == '"' || ch == '\\') {
            fprintf(out, "\\u%04x", ch);
        } else {
            fputc(ch, out);
        }
    }
    fputc('"', out);
}

static void write_strings(FILE *out, const cuzk_config_strings *list)
{
    fputc('[', out);
    for (size_t i = 0; i < list->n; i++) {
        fputs(i ? ", " : "", out);
        write_string(out, list->v[i]);
    }
    fputc(']', out);
}

static void write_numbers(FILE *out, const cuzk_config_numbers *list)
{
    fputc('[', out);
    for (size_t i = 0; i < list->n; i++) {
        fprintf(out, "%s%u", i ? ", " : "", list->v[i]);
    }
    fputc(']', out);
}

static void write_cpus(FILE *out, const cuzk_config_numbers *cpus)
{
    fputc('"', out);
    for (size_t i = 0, last; i < cpus->n; i = last + 1) {
        for (last = i; last + 1 < cpus->n && cpus->v[last + 1] == cpus->v[last] + 1;) {
            last++;
        }
        fprintf(out, "%s%u", i ? "," : "", cpus->v[i]);
        if (last > i) {
            fprintf(out, "-%u", cpus->v[last]);
        }
    }
    fputc('"', out);
}

void cuzk_config_write(const cuzk_config *c, const config_key *k, FILE *out)
{
    const void *at = (const char *)c + k->offset;
    uint64_t size;
    switch (k->type) {
    case CONFIG_STRING:
    case CONFIG_ADDRESS:
        write_string(out, *(const char *const *)at);
        break;
    case CONFIG_ADDRESSES:
    case CONFIG_STRINGS:
        write_strings(out, at);
        break;
    case CONFIG_NUMBERS:
        write_numbers(out, at);
        break;
    case CONFIG_BOOL:
        fputs(*(const bool *)at ? "true" : "false", out);
        break;
    case CONFIG_COUNT:
        fprintf(out, "%u", *(const uint32_t *)at);
        break;
    case CONFIG_SIZE:
        size = *(const uint64_t *)at;
        if (size == CUZK_CONFIG_AUTO) {
            fputs("\"auto\"", out);
        } else {
            fprintf(out, "\"%" PRIu64 "\"", size);
        }
        break;
    case CONFIG_DURATION:
        fprintf(out, "\"%" PRIu64 "ms\"", *(const uint64_t *)at);
        break;
    case CONFIG_CPUS:
        write_cpus(out, at);
        break;
    case CONFIG_WORD:
        write_string(out, k->words[*(const int *)at]);
        break;
    case CONFIG_EXPLAINED:
        break;
    }
}
