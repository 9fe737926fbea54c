#include "config/config.h"
#include "base/file.h"
#include "config/config_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct config_memory {
    struct config_memory *next;
    _Alignas(max_align_t) uint8_t bytes[];
} config_memory;

void *cuzk_config_alloc(cuzk_config *c, size_t n)
{
    config_memory *m = malloc(sizeof *m + n);
    if (!m) {
        return NULL;
    }
    m->next = c->owned;
    c->owned = m;
    return m->bytes;
}

void cuzk_config_free(cuzk_config *c)
{
    if (c) {
        while (c->owned) {
            config_memory *next = c->owned->next;
            free(c->owned);
            c->owned = next;
        }
        free(c->warnings.v);
        free(c);
    }
}

/* --- names --- */

/* Edits (insert, drop, replace a character) from one name to another; names are short. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 48 };
    size_t row[LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= m; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t replace = diagonal + (a[i - 1] != b[j - 1]);
            size_t other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
            diagonal = row[j];
            row[j] = replace < other ? replace : other;
        }
    }
    return row[m];
}

const char *cuzk_config_nearest(const char *wrong, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(wrong) / 3 + 1; /* more edits than this are another word */
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(wrong, names[i]);
        if (d < least || (d == least && !best)) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

static const config_key *find_key(const char *section, const char *name)
{
    for (size_t i = 0; i < cuzk_config_key_count; i++) {
        const config_key *k = &cuzk_config_keys[i];
        if (strcmp(k->name, name) == 0 && (!section || strcmp(k->section, section) == 0)) {
            return k;
        }
    }
    return NULL;
}

static bool is_section(const char *name)
{
    for (size_t i = 0; i < cuzk_config_key_count; i++) {
        if (strcmp(cuzk_config_keys[i].section, name) == 0) {
            return true;
        }
    }
    return false;
}

enum { NAMES_MAX = 64 };
_Static_assert(NAMES_MAX >= 64, "room for the keys of a section");

static cuzk_code unknown_section(const char *where, const char *name, cuzk_err *err)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < cuzk_config_key_count && n < NAMES_MAX; i++) {
        const char *section = cuzk_config_keys[i].section;
        if (n == 0 || strcmp(names[n - 1], section) != 0) {
            names[n++] = section;
        }
    }
    const config_key *k = find_key(NULL, name);
    const char *near = cuzk_config_nearest(name, names, n);
    if (k) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: \"%s\" belongs into section [%s]", where, name,
                         k->section);
    }
    return CUZK_FAIL(err, CUZK_E_INPUT, "%s: no section \"%.60s\"%s%s%s", where, name,
                     near ? ": did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static cuzk_code unknown_key(const char *where, const char *section, const char *name,
                             cuzk_err *err)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < cuzk_config_key_count && n < NAMES_MAX; i++) {
        if (strcmp(cuzk_config_keys[i].section, section) == 0) {
            names[n++] = cuzk_config_keys[i].name;
        }
    }
    const config_key *elsewhere = find_key(NULL, name);
    const char *near = cuzk_config_nearest(name, names, n);
    if (elsewhere) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: no key %s.%s: did you mean %s.%s?", where, section,
                         name, elsewhere->section, name);
    }
    return CUZK_FAIL(err, CUZK_E_INPUT, "%s: no key %s.%.60s%s%s%s", where, section, name,
                     near ? ": did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* --- applying --- */

static cuzk_code warn(cuzk_config *c, const char *where, const config_key *k, cuzk_err *err)
{
    size_t cap = strlen(where) + strlen(k->section) + strlen(k->name) + strlen(k->explanation) + 40;
    char *text = cuzk_config_alloc(c, cap);
    const char **v = reallocarray(c->warnings.v, c->warnings.n + 1, sizeof *v);
    if (v) {
        c->warnings.v = v;
    }
    if (!text || !v) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a warning", where);
    }
    snprintf(text, cap, "%s: %s.%s has no effect: %s", where, k->section, k->name, k->explanation);
    v[c->warnings.n++] = text;
    return CUZK_OK;
}

/* Whether a value is the one of the reference that asks for what happens here anyway. */
static bool is_fallback(const config_key *k, const cuzk_toml_value *v)
{
    char text[32] = "";
    if (v->type == CUZK_TOML_BOOL) {
        snprintf(text, sizeof text, "%s", v->u.boolean ? "true" : "false");
    } else if (v->type == CUZK_TOML_INTEGER) {
        snprintf(text, sizeof text, "%lld", (long long)v->u.integer);
    }
    return text[0] && strcmp(text, k->fallback) == 0;
}

static cuzk_code apply_value(cuzk_config *c, const config_key *k, const cuzk_toml_value *v,
                             const char *where, cuzk_err *err)
{
    if (k->type == CONFIG_EXPLAINED) {
        return is_fallback(k, v) ? CUZK_OK : warn(c, where, k, err);
    }
    return cuzk_config_read(c, k, v, where, err);
}

static cuzk_code apply_section(cuzk_config *c, const cuzk_toml_value *section, const char *name,
                               cuzk_err *err)
{
    char where[320];
    for (const cuzk_toml_value *v = section->u.list.first; v; v = v->next) {
        snprintf(where, sizeof where, "%.250s:%u:%u", name, v->key_at.line, v->key_at.column);
        const config_key *k = find_key(section->key, v->key);
        if (!k || strlen(v->key) != v->key_len) {
            return unknown_key(where, section->key, v->key, err);
        }
        snprintf(where, sizeof where, "%.250s:%u:%u", name, v->at.line, v->at.column);
        CUZK_TRY(apply_value(c, k, v, where, err));
    }
    return CUZK_OK;
}

static cuzk_code apply_root(cuzk_config *c, const cuzk_toml_value *root, const char *name,
                            cuzk_err *err)
{
    char where[320];
    for (const cuzk_toml_value *s = root->u.list.first; s; s = s->next) {
        snprintf(where, sizeof where, "%.250s:%u:%u", name, s->key_at.line, s->key_at.column);
        if (!is_section(s->key) || strlen(s->key) != s->key_len) {
            return unknown_section(where, s->key, err);
        }
        if (s->type != CUZK_TOML_TABLE) {
            return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a section [%s], found %s", where,
                             s->key, cuzk_toml_type_name(s->type));
        }
        CUZK_TRY(apply_section(c, s, name, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_config_apply(cuzk_config *c, cuzk_span text, const char *name, cuzk_err *err)
{
    cuzk_toml *doc;
    CUZK_TRY(cuzk_toml_parse(&doc, text, name, err));
    cuzk_code code = apply_root(c, cuzk_toml_root(doc), name, err);
    cuzk_toml_free(doc);
    return code;
}

cuzk_code cuzk_config_apply_file(cuzk_config *c, const char *path, cuzk_err *err)
{
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "%s: no such file", path);
    }
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, path, err));
    cuzk_code code = cuzk_config_apply(c, map.bytes, path, err);
    cuzk_file_map_close(&map);
    return code;
}

/* --- single keys --- */

/* A value from text as it stands in a file. */
static cuzk_code set_toml(cuzk_config *c, const config_key *k, const char *text, const char *source,
                          cuzk_err *err)
{
    char *line;
    cuzk_toml *doc;
    int n = asprintf(&line, "v = %s\n", text);
    if (n < 0) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a value", source);
    }
    cuzk_code code =
        cuzk_toml_parse(&doc, (cuzk_span){(const uint8_t *)line, (size_t)n}, source, err);
    free(line);
    if (code == CUZK_OK) {
        code = apply_value(c, k, cuzk_toml_root(doc)->u.list.first, source, err);
        cuzk_toml_free(doc);
    }
    return code;
}

static bool takes_text(config_type type)
{
    return type == CONFIG_STRING || type == CONFIG_ADDRESS || type == CONFIG_ADDRESSES ||
           type == CONFIG_SIZE || type == CONFIG_DURATION || type == CONFIG_CPUS ||
           type == CONFIG_WORD;
}

static cuzk_code set(cuzk_config *c, const config_key *k, const char *text, const char *source,
                     cuzk_err *err)
{
    if (takes_text(k->type) && text[0] != '"' && text[0] != '\'' && text[0] != '[') {
        cuzk_toml_value v = {.type = CUZK_TOML_STRING};
        v.u.string.p = text;
        v.u.string.n = strlen(text);
        return apply_value(c, k, &v, source, err);
    }
    return set_toml(c, k, text, source, err);
}

cuzk_code cuzk_config_set(cuzk_config *c, const char *key, const char *text, const char *source,
                          cuzk_err *err)
{
    char section[64];
    const char *dot = strchr(key, '.');
    size_t n = dot ? (size_t)(dot - key) : 0;
    if (!dot || n >= sizeof section) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a key SECTION.NAME, found \"%.60s\"",
                         source, key);
    }
    memcpy(section, key, n);
    section[n] = '\0';
    if (!is_section(section)) {
        return unknown_section(source, section, err);
    }
    const config_key *k = find_key(section, dot + 1);
    return k ? set(c, k, text, source, err) : unknown_key(source, section, dot + 1, err);
}

cuzk_code cuzk_config_apply_environment(cuzk_config *c, cuzk_err *err)
{
    static const struct {
        const char *variable, *key;
    } all[] = {
        {"CUZK_SYNTH_THREADS", "synthesis.threads"},
        {"CUZK_GPU_THREADS", "gpus.gpu_threads"},
        {"FIL_PROOFS_PARAMETER_CACHE", "srs.param_cache"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *text = getenv(all[i].variable);
        if (text && text[0]) {
            CUZK_TRY(cuzk_config_set(c, all[i].key, text, all[i].variable, err));
        }
    }
    return CUZK_OK;
}

/* One section header for each run of keys, and what put() writes for each key. */
static cuzk_code write_keys(char **ret, size_t *ret_n,
                            void (*put)(const cuzk_config *, const config_key *, FILE *),
                            const cuzk_config *c, cuzk_err *err)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_n);
    const char *section = "";
    for (size_t i = 0; out && i < cuzk_config_key_count; i++) {
        const config_key *k = &cuzk_config_keys[i];
        if (strcmp(section, k->section) != 0) {
            fprintf(out, "%s[%s]\n", i ? "\n" : "", k->section);
            section = k->section;
        }
        if (k->type != CONFIG_EXPLAINED) {
            fprintf(out, "%s = ", k->name);
            put(c, k, out);
            fputc('\n', out);
        }
    }
    bool failed = !out || ferror(out);
    if (!out || fclose(out) != 0 || failed) {
        free(text);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the configuration as text");
    }
    *ret = text;
    return CUZK_OK;
}

static void put_fallback(const cuzk_config *c, const config_key *k, FILE *out)
{
    (void)c;
    fputs(k->fallback, out);
}

cuzk_code cuzk_config_new(cuzk_config **ret, cuzk_err *err)
{
    char *text;
    size_t n;
    cuzk_config *c = calloc(1, sizeof *c);
    if (!c) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a configuration");
    }
    cuzk_code code = write_keys(&text, &n, put_fallback, NULL, err);
    if (code == CUZK_OK) {
        code = cuzk_config_apply(c, (cuzk_span){(const uint8_t *)text, n}, "the defaults", err);
        free(text);
    }
    if (code != CUZK_OK) {
        cuzk_config_free(c);
        return code;
    }
    *ret = c;
    return CUZK_OK;
}

/* --- the whole --- */

cuzk_code cuzk_config_check(const cuzk_config *c, cuzk_err *err)
{
    if (!c->daemon.tls_cert[0] != !c->daemon.tls_key[0]) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "daemon.tls_cert and daemon.tls_key need each other: only %s is set",
                         c->daemon.tls_cert[0] ? "tls_cert" : "tls_key");
    }
    if (c->daemon.tls_client_ca[0] && !c->daemon.tls_cert[0]) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "daemon.tls_client_ca needs daemon.tls_cert and daemon.tls_key");
    }
    if (!c->store.path[0] || !c->srs.param_cache[0]) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "store.path and srs.param_cache each need a folder");
    }
    return CUZK_OK;
}

cuzk_code cuzk_config_format(const cuzk_config *c, char **ret, cuzk_err *err)
{
    size_t n;
    return write_keys(ret, &n, cuzk_config_write, c, err);
}
