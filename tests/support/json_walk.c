#include "support/json_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pieces {
    const uint8_t *text;
    size_t n, piece;
} pieces;

static cuzk_code next_piece(void *ctx, uint8_t *buf, size_t cap, size_t *ret_n, cuzk_err *err)
{
    (void)err;
    pieces *s = ctx;
    size_t k = s->piece < s->n ? s->piece : s->n;
    k = k < cap ? k : cap;
    if (k > 0) {
        memcpy(buf, s->text, k);
    }
    s->text += k;
    s->n -= k;
    *ret_n = k;
    return CUZK_OK;
}

/* Growing text of a string, since it may be of any length. */
static cuzk_code whole_string(cuzk_json *j, json_t **ret, cuzk_err *err)
{
    char *all = NULL;
    size_t n = 0;
    bool end = false;
    cuzk_code code = cuzk_json_string_begin(j, err);
    while (code == CUZK_OK && !end) {
        uint8_t part[7]; /* small, so that sequences meet its end */
        size_t k = 0;
        code = cuzk_json_string_part(j, part, sizeof part, &k, &end, err);
        if (code == CUZK_OK) {
            all = realloc(all, n + k + 1);
            memcpy(all + n, part, k);
            n += k;
        }
    }
    if (code == CUZK_OK) {
        *ret = json_stringn(all, n);
    }
    free(all);
    return code;
}

static cuzk_code number(cuzk_json *j, json_t **ret, cuzk_err *err)
{
    char *text = malloc(1 << 16);
    cuzk_code code = cuzk_json_number(j, text, 1 << 16, err);
    if (code == CUZK_OK) {
        *ret = strpbrk(text, ".eE") ? json_real(strtod(text, NULL))
                                    : json_integer(strtoll(text, NULL, 10));
        if (!*ret) {
            *ret = json_null(); /* an infinity: jansson refuses it with an error of its own */
        }
    }
    free(text);
    return code;
}

static cuzk_code value(cuzk_json *j, json_t **ret, cuzk_err *err);

static cuzk_code object(cuzk_json *j, json_t *into, cuzk_err *err)
{
    bool more;
    CUZK_TRY(cuzk_json_enter_object(j, err));
    CUZK_TRY(cuzk_json_next_key(j, &more, err));
    while (more) {
        const cuzk_json_frame *f = &j->frames[j->depth - 1];
        char key[CUZK_JSON_KEY_MAX + 24];
        /* keys longer than the reader keeps are told apart by length only */
        snprintf(key, sizeof key, "%.*s%s%zu", (int)f->key_shown, f->key, "#", j->key_len);
        json_t *v = NULL;
        CUZK_TRY(value(j, &v, err));
        json_object_set_new_nocheck(into, key, v);
        CUZK_TRY(cuzk_json_next_key(j, &more, err));
    }
    return CUZK_OK;
}

static cuzk_code array(cuzk_json *j, json_t *into, cuzk_err *err)
{
    bool more;
    CUZK_TRY(cuzk_json_enter_array(j, err));
    CUZK_TRY(cuzk_json_next_element(j, &more, err));
    while (more) {
        json_t *v = NULL;
        CUZK_TRY(value(j, &v, err));
        json_array_append_new(into, v);
        CUZK_TRY(cuzk_json_next_element(j, &more, err));
    }
    return CUZK_OK;
}

static cuzk_code value(cuzk_json *j, json_t **ret, cuzk_err *err)
{
    cuzk_json_type type;
    CUZK_TRY(cuzk_json_peek(j, &type, err));
    if (type == CUZK_JSON_STRING) {
        return whole_string(j, ret, err);
    }
    if (type == CUZK_JSON_NUMBER) {
        return number(j, ret, err);
    }
    if (type == CUZK_JSON_BOOL) {
        bool b;
        CUZK_TRY(cuzk_json_bool(j, &b, err));
        *ret = json_boolean(b);
        return CUZK_OK;
    }
    if (type == CUZK_JSON_NULL) {
        *ret = json_null();
        return cuzk_json_null(j, err);
    }
    json_t *v = type == CUZK_JSON_OBJECT ? json_object() : json_array();
    cuzk_code code = type == CUZK_JSON_OBJECT ? object(j, v, err) : array(j, v, err);
    if (code == CUZK_OK) {
        *ret = v;
    } else {
        json_decref(v);
    }
    return code;
}

cuzk_code json_walk(json_t **ret, const uint8_t *text, size_t n, size_t piece, bool *ret_deep,
                    cuzk_err *err)
{
    uint8_t buf[256];
    pieces source = {text, n, piece};
    cuzk_json *j = malloc(sizeof *j);
    if (piece > 0) {
        cuzk_json_init_stream(j, buf, sizeof buf, next_piece, &source, "text");
    } else {
        cuzk_json_init(j, (cuzk_span){text, n}, "text");
    }
    json_t *v = NULL;
    cuzk_code code = value(j, &v, err);
    if (code == CUZK_OK) {
        code = cuzk_json_end(j, err);
    }
    *ret_deep = code != CUZK_OK && strstr(err->msg, "levels of nesting");
    free(j);
    if (code == CUZK_OK) {
        *ret = v;
    } else {
        json_decref(v);
    }
    return code;
}

/* A copy of jansson's value whose keys are as `object` writes them. */
static json_t *with_cut_keys(json_t *v)
{
    if (json_is_array(v)) {
        json_t *copy = json_array();
        for (size_t i = 0; i < json_array_size(v); i++) {
            json_array_append_new(copy, with_cut_keys(json_array_get(v, i)));
        }
        return copy;
    }
    if (!json_is_object(v)) {
        return json_incref(v);
    }
    json_t *copy = json_object(), *member;
    const char *key;
    json_object_foreach(v, key, member)
    {
        char cut[CUZK_JSON_KEY_MAX + 24];
        snprintf(cut, sizeof cut, "%.*s%s%zu", CUZK_JSON_KEY_MAX, key, "#", strlen(key));
        json_object_set_new_nocheck(copy, cut, with_cut_keys(member));
    }
    return copy;
}

static void disagree(const char *why, const char *more)
{
    fprintf(stderr, "json_walk: %s: %s\n", why, more);
    abort();
}

void json_walk_compare(const uint8_t *text, size_t n)
{
    cuzk_err err = {0}, piece_err = {0};
    json_t *mine = NULL;
    bool deep;
    cuzk_code code = json_walk(&mine, text, n, 0, &deep, &err);
    for (size_t piece = 1; piece <= 5; piece += 2) {
        json_t *in_pieces = NULL;
        bool unused;
        if (json_walk(&in_pieces, text, n, piece, &unused, &piece_err) != code ||
            (code != CUZK_OK && strcmp(err.msg, piece_err.msg) != 0)) {
            disagree("whole and in pieces differ", err.msg);
        }
        if (code == CUZK_OK && !json_equal(mine, in_pieces)) {
            disagree("whole and in pieces have other values", "");
        }
        json_decref(in_pieces);
    }
    json_error_t why;
    json_t *theirs = json_loadb((const char *)text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    /* limits of jansson that are none of JSON: NUL in keys, 64-bit numbers */
    bool limit = !theirs && (json_error_code(&why) == json_error_null_byte_in_key ||
                             json_error_code(&why) == json_error_numeric_overflow);
    /* and it drops NULs between tokens, which no JSON has */
    limit = limit || (code != CUZK_OK && n > 0 && memchr(text, 0, n));
    if (!deep && !limit && (theirs != NULL) != (code == CUZK_OK)) {
        disagree("one refuses what the other reads", theirs ? err.msg : why.text);
    }
    if (theirs && code == CUZK_OK) {
        json_t *cut = with_cut_keys(theirs);
        if (!json_equal(cut, mine)) {
            disagree("values differ", "");
        }
        json_decref(cut);
    }
    json_decref(theirs);
    json_decref(mine);
}
