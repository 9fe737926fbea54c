#include "base/toml.h"
#include "base/toml_parse.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a table or array came to be, which decides what may still be added to it. */
enum {
    IMPLICIT,    /* a table that a header only passed through: may be defined later */
    HEADER,      /* [name]: defined; sub-tables may be added by other headers */
    DOTTED,      /* by a dotted key: sub-tables may be added by headers, keys by dotted keys */
    INLINE,      /* { … } or [ … ]: nothing may be added */
    ARRAY_TABLES /* [[name]]: further elements may be added */
};

enum { BLOCK_BYTES = 4096, INDEX_FIRST = 64 };

struct toml_block {
    toml_block *next;
    size_t used, cap;
    _Alignas(max_align_t) uint8_t bytes[];
};

struct cuzk_toml {
    cuzk_toml_value root;
    toml_block *blocks; /* owned: every key, string and value */
    /* Members by table and key: open addressing, at most half full. */
    struct {
        const cuzk_toml_value *table;
        cuzk_toml_value *member;
    } * index;
    size_t index_cap, index_n;
};

/* --- memory and members --- */

void *cuzk_toml_alloc(cuzk_toml *doc, size_t n)
{
    size_t align = _Alignof(max_align_t);
    toml_block *b = doc->blocks;
    if (n > SIZE_MAX - BLOCK_BYTES) {
        return NULL;
    }
    n = (n + align - 1) / align * align;
    if (!b || b->cap - b->used < n) {
        size_t cap = n > BLOCK_BYTES ? n : BLOCK_BYTES;
        b = malloc(sizeof *b + cap);
        if (!b) {
            return NULL;
        }
        b->next = doc->blocks;
        b->used = 0;
        b->cap = cap;
        doc->blocks = b;
    }
    void *p = b->bytes + b->used;
    b->used += n;
    return p;
}

static size_t hash(const cuzk_toml_value *table, const char *key, size_t n)
{
    uint64_t h = 0xcbf29ce484222325ull ^ (uintptr_t)table; /* FNV-1a */
    for (size_t i = 0; i < n; i++) {
        h = (h ^ (uint8_t)key[i]) * 0x100000001b3ull;
    }
    return (size_t)(h ^ h >> 29);
}

/* The slot of a member, or the empty one where it belongs. */
static size_t slot_of(const cuzk_toml *doc, const cuzk_toml_value *table, const char *key, size_t n)
{
    size_t i = hash(table, key, n) & (doc->index_cap - 1);
    for (; doc->index[i].member; i = (i + 1) & (doc->index_cap - 1)) {
        const cuzk_toml_value *m = doc->index[i].member;
        if (doc->index[i].table == table && m->key_len == n && memcmp(m->key, key, n) == 0) {
            break;
        }
    }
    return i;
}

static cuzk_toml_value *find(const cuzk_toml *doc, const cuzk_toml_value *table, const char *key,
                             size_t n)
{
    return doc->index_cap ? doc->index[slot_of(doc, table, key, n)].member : NULL;
}

static bool grow_index(cuzk_toml *doc)
{
    cuzk_toml grown = *doc;
    grown.index_cap = doc->index_cap ? 2 * doc->index_cap : INDEX_FIRST;
    grown.index = calloc(grown.index_cap, sizeof *grown.index);
    if (!grown.index) {
        return false;
    }
    for (size_t i = 0; i < doc->index_cap; i++) {
        const cuzk_toml_value *m = doc->index[i].member;
        if (m) {
            grown.index[slot_of(&grown, doc->index[i].table, m->key, m->key_len)] = doc->index[i];
        }
    }
    free(doc->index);
    doc->index = grown.index;
    doc->index_cap = grown.index_cap;
    return true;
}

static void append(cuzk_toml_value *list, cuzk_toml_value *v)
{
    if (list->u.list.last) {
        list->u.list.last->next = v;
    } else {
        list->u.list.first = v;
    }
    list->u.list.last = v;
    list->u.list.count++;
}

static cuzk_code no_memory(cuzk_toml_parser *t)
{
    return CUZK_FAIL(t->err, CUZK_E_MEMORY, "%s: no memory for its values", t->name);
}

/* A part of a key, and where it stands. */
typedef struct part {
    const char *p;
    size_t n;
    cuzk_toml_place at;
} part;

/* A new member of a table, or with key NULL a new element of an array. */
static cuzk_code add(cuzk_toml_parser *t, cuzk_toml_value *list, const part *key,
                     cuzk_toml_type type, uint8_t origin, cuzk_toml_value **ret)
{
    cuzk_toml *doc = t->doc;
    cuzk_toml_value *v = cuzk_toml_alloc(doc, sizeof *v);
    if (!v || (key && 2 * doc->index_n >= doc->index_cap && !grow_index(doc))) {
        return no_memory(t);
    }
    *v = (cuzk_toml_value){.type = type, .origin = origin};
    if (key) {
        v->key = key->p;
        v->key_len = key->n;
        v->at = v->key_at = key->at;
        size_t i = slot_of(doc, list, key->p, key->n);
        doc->index[i].table = list;
        doc->index[i].member = v;
        doc->index_n++;
    }
    append(list, v);
    *ret = v;
    return CUZK_OK;
}

/* --- places and messages --- */

cuzk_toml_place cuzk_toml_here(cuzk_toml_parser *t)
{
    for (; t->placed < t->p; t->placed++) {
        if (*t->placed == '\n') {
            t->place.line++;
            t->place.column = 1;
        } else {
            t->place.column += (*t->placed & 0xc0) != 0x80;
        }
    }
    return t->place;
}

cuzk_code cuzk_toml_fail(cuzk_toml_parser *t, cuzk_toml_place at, const char *fmt, ...)
{
    char msg[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return CUZK_FAIL(t->err, CUZK_E_INPUT, "%s:%u:%u: %s", t->name, at.line, at.column, msg);
}

cuzk_code cuzk_toml_expected(cuzk_toml_parser *t, const char *what)
{
    cuzk_toml_place at = cuzk_toml_here(t);
    int c = toml_look(t, 0);
    if (c < 0) {
        return cuzk_toml_fail(t, at, "expected %s, found the end of the text", what);
    }
    if (c == '\n' || c == '\r') {
        return cuzk_toml_fail(t, at, "expected %s, found the end of the line", what);
    }
    if (c < 0x20 || c == 0x7f) {
        return cuzk_toml_fail(t, at, "expected %s, found control character U+%04X", what,
                              (unsigned)c);
    }
    return cuzk_toml_fail(t, at, "expected %s, found \"%.*s\"", what,
                          (int)cuzk_utf8_length(t->p, toml_left(t)), (const char *)t->p);
}

/* Fails because a key was used before. */
static cuzk_code taken(cuzk_toml_parser *t, const part *key, const cuzk_toml_value *other)
{
    return cuzk_toml_fail(t, key->at, "\"%.100s\" is defined already, at %u:%u", key->p,
                          other->at.line, other->at.column);
}

/* --- white space and keys --- */

static cuzk_code skip_comment(cuzk_toml_parser *t)
{
    if (toml_look(t, 0) != '#') {
        return CUZK_OK;
    }
    for (int c; (c = toml_look(t, 0)) >= 0 && toml_newline(t) == 0; t->p++) {
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return cuzk_toml_fail(t, cuzk_toml_here(t), "control character U+%04X in a comment",
                                  (unsigned)c);
        }
    }
    return CUZK_OK;
}

/* Blanks, comments and line ends, as they may stand in an array. */
static cuzk_code skip_lines(cuzk_toml_parser *t)
{
    for (size_t n = 1; n > 0;) {
        toml_skip_blanks(t);
        CUZK_TRY(skip_comment(t));
        t->p += n = toml_newline(t);
    }
    return CUZK_OK;
}

static cuzk_code end_line(cuzk_toml_parser *t)
{
    toml_skip_blanks(t);
    CUZK_TRY(skip_comment(t));
    size_t n = toml_newline(t);
    if (n == 0 && toml_look(t, 0) >= 0) {
        return cuzk_toml_expected(t, "the end of the line");
    }
    t->p += n;
    return CUZK_OK;
}

static bool bare(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* One part of a key and the blanks after it; *ret_more when a dot follows, which is taken. */
static cuzk_code key_part(cuzk_toml_parser *t, part *ret, bool *ret_more)
{
    toml_skip_blanks(t);
    ret->at = cuzk_toml_here(t);
    int c = toml_look(t, 0);
    if (c == '"' || c == '\'') {
        CUZK_TRY(cuzk_toml_string(t, false, &ret->p, &ret->n));
    } else if (bare(c)) {
        const uint8_t *start = t->p;
        while (bare(toml_look(t, 0))) {
            t->p++;
        }
        ret->n = (size_t)(t->p - start);
        char *text = cuzk_toml_alloc(t->doc, ret->n + 1);
        if (!text) {
            return no_memory(t);
        }
        memcpy(text, start, ret->n);
        text[ret->n] = '\0';
        ret->p = text;
    } else {
        return cuzk_toml_expected(t, "a key");
    }
    toml_skip_blanks(t);
    *ret_more = toml_look(t, 0) == '.';
    t->p += *ret_more;
    return CUZK_OK;
}

/* --- values --- */

static cuzk_code too_deep(cuzk_toml_parser *t, cuzk_toml_place at)
{
    return cuzk_toml_fail(t, at, "nested deeper than %d", CUZK_TOML_MAX_DEPTH);
}

static cuzk_code value(cuzk_toml_parser *t, cuzk_toml_value *ret, unsigned depth);

static cuzk_code array(cuzk_toml_parser *t, cuzk_toml_value *ret, unsigned depth)
{
    ret->type = CUZK_TOML_ARRAY;
    ret->origin = INLINE;
    t->p++;
    for (;;) {
        CUZK_TRY(skip_lines(t));
        if (toml_look(t, 0) == ']') {
            break;
        }
        cuzk_toml_value *v;
        CUZK_TRY(add(t, ret, NULL, CUZK_TOML_BOOL, INLINE, &v));
        CUZK_TRY(value(t, v, depth));
        CUZK_TRY(skip_lines(t));
        if (toml_look(t, 0) == ']') {
            break;
        }
        if (toml_look(t, 0) != ',') {
            return cuzk_toml_expected(t, "a comma or ] in an array");
        }
        t->p++;
    }
    t->p++;
    return CUZK_OK;
}

/* key = value in a table that is `depth` deep. */
static cuzk_code key_value(cuzk_toml_parser *t, cuzk_toml_value *table, unsigned depth)
{
    part key;
    bool more;
    CUZK_TRY(key_part(t, &key, &more));
    for (; more; depth++) {
        cuzk_toml_value *inner = find(t->doc, table, key.p, key.n);
        if (depth >= CUZK_TOML_MAX_DEPTH) {
            return too_deep(t, key.at);
        }
        if (!inner) {
            CUZK_TRY(add(t, table, &key, CUZK_TOML_TABLE, DOTTED, &inner));
        } else if (inner->type != CUZK_TOML_TABLE ||
                   (inner->origin != DOTTED && inner->origin != IMPLICIT)) {
            return taken(t, &key, inner);
        }
        inner->origin = DOTTED;
        table = inner;
        CUZK_TRY(key_part(t, &key, &more));
    }
    const cuzk_toml_value *other = find(t->doc, table, key.p, key.n);
    if (other) {
        return taken(t, &key, other);
    }
    if (toml_look(t, 0) != '=') {
        return cuzk_toml_expected(t, "= after a key");
    }
    t->p++;
    toml_skip_blanks(t);
    cuzk_toml_value *v;
    CUZK_TRY(add(t, table, &key, CUZK_TOML_BOOL, INLINE, &v));
    return value(t, v, depth);
}

static cuzk_code inline_table(cuzk_toml_parser *t, cuzk_toml_value *ret, unsigned depth)
{
    ret->type = CUZK_TOML_TABLE;
    ret->origin = INLINE;
    t->p++;
    toml_skip_blanks(t);
    if (toml_look(t, 0) == '}') {
        t->p++;
        return CUZK_OK;
    }
    for (;;) {
        CUZK_TRY(key_value(t, ret, depth));
        toml_skip_blanks(t);
        if (toml_look(t, 0) == '}') {
            t->p++;
            return CUZK_OK;
        }
        if (toml_look(t, 0) != ',') {
            return cuzk_toml_expected(t, "a comma or } in an inline table");
        }
        t->p++;
    }
}

/* Reads a value into ret, whose key is set; `depth` counts the tables and arrays around it. */
static cuzk_code value(cuzk_toml_parser *t, cuzk_toml_value *ret, unsigned depth)
{
    ret->at = cuzk_toml_here(t);
    int c = toml_look(t, 0);
    if (c == '"' || c == '\'') {
        ret->type = CUZK_TOML_STRING;
        return cuzk_toml_string(t, true, &ret->u.string.p, &ret->u.string.n);
    }
    if (c != '[' && c != '{') {
        return cuzk_toml_scalar(t, ret);
    }
    if (depth >= CUZK_TOML_MAX_DEPTH) {
        return too_deep(t, ret->at);
    }
    return c == '[' ? array(t, ret, depth + 1) : inline_table(t, ret, depth + 1);
}

/* --- headers --- */

/* Goes from a table into its member on the way to what a header defines. */
static cuzk_code pass(cuzk_toml_parser *t, cuzk_toml_value **table, const part *key)
{
    cuzk_toml_value *v = find(t->doc, *table, key->p, key->n);
    if (!v) {
        CUZK_TRY(add(t, *table, key, CUZK_TOML_TABLE, IMPLICIT, &v));
    } else if (v->type == CUZK_TOML_ARRAY && v->origin == ARRAY_TABLES) {
        v = v->u.list.last;
    } else if (v->type != CUZK_TOML_TABLE || v->origin == INLINE) {
        return taken(t, key, v);
    }
    *table = v;
    return CUZK_OK;
}

/* Defines the table of a header's last key, or adds one to the array of that name. */
static cuzk_code define(cuzk_toml_parser *t, cuzk_toml_value **table, const part *key, bool array)
{
    cuzk_toml_value *v = find(t->doc, *table, key->p, key->n);
    if (array) {
        if (!v) {
            CUZK_TRY(add(t, *table, key, CUZK_TOML_ARRAY, ARRAY_TABLES, &v));
        } else if (v->type != CUZK_TOML_ARRAY || v->origin != ARRAY_TABLES) {
            return taken(t, key, v);
        }
        CUZK_TRY(add(t, v, NULL, CUZK_TOML_TABLE, HEADER, &v));
    } else if (!v) {
        CUZK_TRY(add(t, *table, key, CUZK_TOML_TABLE, HEADER, &v));
    } else if (v->type != CUZK_TOML_TABLE || v->origin != IMPLICIT) {
        return taken(t, key, v);
    }
    v->origin = HEADER;
    v->at = key->at;
    *table = v;
    return CUZK_OK;
}

/* [a.b] or [[a.b]]: sets the table that the following lines fill. */
static cuzk_code header(cuzk_toml_parser *t, cuzk_toml_value **ret, unsigned *ret_depth)
{
    bool array = toml_look(t, 1) == '[', more = true;
    cuzk_toml_value *table = &t->doc->root;
    part key;
    unsigned depth = array;
    t->p += 1 + array;
    while (more) {
        CUZK_TRY(key_part(t, &key, &more));
        if (++depth > CUZK_TOML_MAX_DEPTH) {
            return too_deep(t, key.at);
        }
        if (more) {
            CUZK_TRY(pass(t, &table, &key));
        }
    }
    for (int i = 0; i <= array; i++, t->p++) {
        if (toml_look(t, 0) != ']') {
            return cuzk_toml_expected(t, array ? "]] after an array's name"
                                               : "] after a table's name");
        }
    }
    CUZK_TRY(define(t, &table, &key, array));
    *ret = table;
    *ret_depth = depth;
    return CUZK_OK;
}

/* --- documents --- */

static cuzk_code check_utf8(cuzk_toml_parser *t)
{
    const uint8_t *start = t->p;
    while (t->p < t->end) {
        size_t n = cuzk_utf8_length(t->p, toml_left(t));
        if (n == 0) {
            return cuzk_toml_fail(t, cuzk_toml_here(t), "byte 0x%02x is not UTF-8", *t->p);
        }
        t->p += n;
    }
    t->p = t->placed = start;
    t->place = (cuzk_toml_place){1, 1};
    return CUZK_OK;
}

static cuzk_code document(cuzk_toml_parser *t)
{
    cuzk_toml_value *table = &t->doc->root;
    unsigned depth = 0;
    CUZK_TRY(check_utf8(t));
    while (t->p < t->end) {
        toml_skip_blanks(t);
        int c = toml_look(t, 0);
        if (c == '[') {
            CUZK_TRY(header(t, &table, &depth));
        } else if (c >= 0 && c != '#' && toml_newline(t) == 0) {
            CUZK_TRY(key_value(t, table, depth));
        }
        CUZK_TRY(end_line(t));
    }
    return CUZK_OK;
}

cuzk_code cuzk_toml_parse(cuzk_toml **ret, cuzk_span text, const char *name, cuzk_err *err)
{
    if (text.n > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: larger than 4 GiB", name);
    }
    cuzk_toml *doc = calloc(1, sizeof *doc);
    if (!doc) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a document", name);
    }
    static const uint8_t none[1];
    const uint8_t *p = text.p ? text.p : none;
    doc->root = (cuzk_toml_value){.type = CUZK_TOML_TABLE, .origin = HEADER, .at = {1, 1}};
    cuzk_toml_parser t = {.doc = doc,
                          .p = p,
                          .end = p + text.n,
                          .name = name,
                          .err = err,
                          .placed = p,
                          .place = {1, 1}};
    cuzk_code code = document(&t);
    free(t.scratch);
    if (code != CUZK_OK) {
        cuzk_toml_free(doc);
        return code;
    }
    *ret = doc;
    return CUZK_OK;
}

void cuzk_toml_free(cuzk_toml *doc)
{
    if (doc) {
        while (doc->blocks) {
            toml_block *next = doc->blocks->next;
            free(doc->blocks);
            doc->blocks = next;
        }
        free(doc->index);
        free(doc);
    }
}

const cuzk_toml_value *cuzk_toml_root(const cuzk_toml *doc) { return &doc->root; }

const cuzk_toml_value *cuzk_toml_get(const cuzk_toml *doc, const cuzk_toml_value *table,
                                     const char *key)
{
    return find(doc, table, key, strlen(key));
}

const char *cuzk_toml_type_name(cuzk_toml_type type)
{
    static const char *const names[] = {
        [CUZK_TOML_TABLE] = "a table",
        [CUZK_TOML_ARRAY] = "an array",
        [CUZK_TOML_STRING] = "a string",
        [CUZK_TOML_INTEGER] = "an integer",
        [CUZK_TOML_FLOAT] = "a number with a fraction",
        [CUZK_TOML_BOOL] = "true or false",
        [CUZK_TOML_DATETIME] = "a date or time",
    };
    return names[type];
}
