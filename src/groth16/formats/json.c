#include "groth16/formats/formats.h"

#include "groth16/formats/decimal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

enum {
    MAX_JSON_BYTES = 64 << 20, /* a key of 25 840 points takes 7 MiB */
    MAX_JSON_DEPTH = 16,       /* a key needs 5 */
    FOUND_BYTES = 48,
    PATH_BYTES = 48,
};

static const char protocol_name[] = "groth16";
static const char curve_name[] = "bls12381";

/* A value of a document, and its place for messages. */
typedef struct node {
    const json_t *value; /* borrowed; NULL when there is none */
    const char *file;
    char path[PATH_BYTES];
} node;

static node member(const node *object, const char *key)
{
    node n = {json_object_get(object->value, key), object->file, ""};
    snprintf(n.path, sizeof n.path, "%s", key);
    return n;
}

static node element(const node *array, size_t i)
{
    node n = {json_array_get(array->value, i), array->file, ""};
    snprintf(n.path, sizeof n.path, "%.20s[%zu]", array->path, i);
    return n;
}

/* What stands there, for messages: at most FOUND_BYTES printable characters. */
static const char *found(char text[FOUND_BYTES], const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        snprintf(text, FOUND_BYTES, "an array of %zu", json_array_size(value));
        return text;
    case JSON_STRING:
        snprintf(text, FOUND_BYTES, "\"%.40s%s\"", json_string_value(value),
                 json_string_length(value) > 40 ? "..." : "");
        break;
    case JSON_INTEGER:
        snprintf(text, FOUND_BYTES, "the number %" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        return "a fraction";
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        return value ? "null" : "nothing";
    }
    for (char *c = text; *c; c++) {
        if (!isprint((unsigned char)*c)) {
            *c = '?';
        }
    }
    return text;
}

static cuzk_code refuse(const node *n, const char *expected, cuzk_err *err)
{
    char text[FOUND_BYTES];
    return CUZK_FAIL(err, CUZK_E_INPUT, "%s: %s: expected %s, found %s", n->file, n->path, expected,
                     found(text, n->value));
}

/* Checks the depth of brackets outside strings, so that no parser recurses on a hostile file. */
static cuzk_code check_depth(cuzk_span bytes, const char *name, cuzk_err *err)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t c = bytes.p[i];
        if (in_string) {
            in_string = c != '"';
            i += c == '\\'; /* what is escaped ends no string */
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > MAX_JSON_DEPTH) {
                return CUZK_FAIL(err, CUZK_E_INPUT,
                                 "%s: offset %zu: expected at most %d nested brackets", name, i,
                                 MAX_JSON_DEPTH);
            }
        } else if ((c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return CUZK_OK;
}

static cuzk_code load(json_t **ret, cuzk_span bytes, const char *name, cuzk_err *err)
{
    if (bytes.n > MAX_JSON_BYTES) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: size: expected at most %d bytes, found %zu", name,
                         MAX_JSON_BYTES, bytes.n);
    }
    if (bytes.n == 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset 0: expected JSON, found an empty file",
                         name);
    }
    CUZK_TRY(check_depth(bytes, name, err));
    json_error_t e;
    json_t *root = json_loadb((const char *)bytes.p, bytes.n, JSON_REJECT_DUPLICATES, &e);
    if (!root) {
        if (json_error_code(&e) == json_error_out_of_memory) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory to parse %zu bytes of JSON", name,
                             bytes.n);
        }
        for (char *c = e.text; *c; c++) {
            if (!isprint((unsigned char)*c)) {
                *c = '?';
            }
        }
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset %d (line %d): expected JSON, found: %s",
                         name, e.position, e.line, e.text);
    }
    *ret = root;
    return CUZK_OK;
}

static cuzk_code take_text(const node *n, const char *want, cuzk_err *err)
{
    const char *text = json_string_value(n->value);
    if (!text || strcmp(text, want) != 0) {
        char expected[32];
        snprintf(expected, sizeof expected, "\"%s\"", want);
        return refuse(n, expected, err);
    }
    return CUZK_OK;
}

static cuzk_code take_array(const node *n, size_t size, cuzk_err *err)
{
    if (!json_is_array(n->value) || json_array_size(n->value) != size) {
        char expected[40];
        snprintf(expected, sizeof expected, "an array of %zu", size);
        return refuse(n, expected, err);
    }
    return CUZK_OK;
}

static cuzk_code take_fp(const node *n, fp *ret, cuzk_err *err)
{
    const char *text = json_string_value(n->value);
    fp t;
    if (!text || !cuzk_decimal_parse(text, t.l, FP_LIMBS) || !fp_is_reduced(&t)) {
        return refuse(n, "a decimal integer below p in quotes", err);
    }
    fp_mul(ret, &t, &fp_r2);
    return CUZK_OK;
}

static cuzk_code take_fp2(const node *n, fp2 *ret, cuzk_err *err)
{
    CUZK_TRY(take_array(n, 2, err));
    node c0 = element(n, 0), c1 = element(n, 1);
    CUZK_TRY(take_fp(&c0, &ret->c0, err));
    return take_fp(&c1, &ret->c1, err);
}

static cuzk_code refuse_point(const node *n, const char *group, point_status status, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_INPUT, "%s: %s: expected a finite point of %s, found %s", n->file,
                     n->path, group,
                     status == POINT_OK ? "the point at infinity" : point_status_text(status));
}

/* [x, y, z] with z = 1, or [0, 1, 0] for infinity, which is a point but never one that is allowed:
 * these files hold finite points of the subgroup only. */
#define TAKE_POINT(G, F, NAME)                                                                     \
    static cuzk_code take_##G(const node *n, G##_affine *ret, cuzk_err *err)                       \
    {                                                                                              \
        CUZK_TRY(take_array(n, 3, err));                                                           \
        node x = element(n, 0), y = element(n, 1), z = element(n, 2);                              \
        G##_affine a;                                                                              \
        F last;                                                                                    \
        CUZK_TRY(take_##F(&x, &a.x, err));                                                         \
        CUZK_TRY(take_##F(&y, &a.y, err));                                                         \
        CUZK_TRY(take_##F(&z, &last, err));                                                        \
        if (F##_is_zero(&a.x) && F##_eq(&a.y, &F##_one) && F##_is_zero(&last)) {                   \
            return refuse_point(n, NAME, POINT_OK, err);                                           \
        }                                                                                          \
        if (!F##_eq(&last, &F##_one)) {                                                            \
            return refuse(&z, "1, as in affine coordinates", err);                                 \
        }                                                                                          \
        /* (0, 0) means infinity in memory, and a wrong point here */                              \
        if (G##_affine_is_inf(&a) || !G##_affine_is_on_curve(&a)) {                                \
            return refuse_point(n, NAME, POINT_NOT_ON_CURVE, err);                                 \
        }                                                                                          \
        if (!G##_affine_in_subgroup(&a)) {                                                         \
            return refuse_point(n, NAME, POINT_NOT_IN_SUBGROUP, err);                              \
        }                                                                                          \
        *ret = a;                                                                                  \
        return CUZK_OK;                                                                            \
    }

TAKE_POINT(g1, fp, "G1")
TAKE_POINT(g2, fp2, "G2")

static cuzk_code take_head(const node *root, cuzk_err *err)
{
    if (!json_is_object(root->value)) {
        return refuse(root, "an object", err);
    }
    node protocol = member(root, "protocol"), curve = member(root, "curve");
    CUZK_TRY(take_text(&protocol, protocol_name, err));
    return take_text(&curve, curve_name, err);
}

static cuzk_code take_member_g1(const node *root, const char *key, g1_affine *ret, cuzk_err *err)
{
    node n = member(root, key);
    return take_g1(&n, ret, err);
}

static cuzk_code take_member_g2(const node *root, const char *key, g2_affine *ret, cuzk_err *err)
{
    node n = member(root, key);
    return take_g2(&n, ret, err);
}

static cuzk_code take_vk(const node *root, cuzk_vk *vk, cuzk_err *err)
{
    CUZK_TRY(take_head(root, err));
    node n_public = member(root, "nPublic");
    json_int_t n = json_integer_value(n_public.value);
    if (!json_is_integer(n_public.value) || n < 0 || n >= UINT32_MAX) {
        return refuse(&n_public, "a number from 0 to 2^32 - 2", err);
    }
    node ic = member(root, "IC");
    CUZK_TRY(take_array(&ic, (size_t)n + 1, err));
    CUZK_TRY(take_member_g1(root, "vk_alpha_1", &vk->alpha_g1, err));
    CUZK_TRY(take_member_g2(root, "vk_beta_2", &vk->beta_g2, err));
    CUZK_TRY(take_member_g2(root, "vk_gamma_2", &vk->gamma_g2, err));
    CUZK_TRY(take_member_g2(root, "vk_delta_2", &vk->delta_g2, err));
    vk->n_ic = (uint32_t)n + 1;
    vk->ic = calloc(vk->n_ic, sizeof *vk->ic);
    if (!vk->ic) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for %u points of IC", root->file,
                         vk->n_ic);
    }
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        node point = element(&ic, i);
        CUZK_TRY(take_g1(&point, &vk->ic[i], err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_vk_json_parse(cuzk_vk *ret, cuzk_span bytes, const char *name, cuzk_err *err)
{
    node root = {NULL, name, "document"};
    json_t *owned;
    CUZK_TRY(load(&owned, bytes, name, err));
    root.value = owned;
    cuzk_vk vk = {0};
    cuzk_code code = take_vk(&root, &vk, err);
    if (code == CUZK_OK) {
        *ret = vk;
    } else {
        cuzk_vk_clear(&vk);
    }
    json_decref(owned);
    return code;
}

cuzk_code cuzk_proof_json_parse(cuzk_proof *ret, cuzk_span bytes, const char *name, cuzk_err *err)
{
    node root = {NULL, name, "document"};
    json_t *owned;
    CUZK_TRY(load(&owned, bytes, name, err));
    root.value = owned;
    cuzk_proof p;
    cuzk_code code = take_head(&root, err);
    code = code ? code : take_member_g1(&root, "pi_a", &p.a, err);
    code = code ? code : take_member_g2(&root, "pi_b", &p.b, err);
    code = code ? code : take_member_g1(&root, "pi_c", &p.c, err);
    if (code == CUZK_OK) {
        *ret = p;
    }
    json_decref(owned);
    return code;
}

static cuzk_code take_inputs(const node *root, fr_repr *inputs, size_t n, cuzk_err *err)
{
    for (size_t i = 0; i < n; i++) {
        node at = element(root, i);
        const char *text = json_string_value(at.value);
        if (!text || !cuzk_decimal_parse(text, inputs[i].l, FR_LIMBS) ||
            !fr_repr_is_canonical(&inputs[i])) {
            return refuse(&at, "a decimal integer below r in quotes", err);
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_public_json_parse(fr_repr **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                                 cuzk_err *err)
{
    node root = {NULL, name, "input"};
    json_t *owned;
    CUZK_TRY(load(&owned, bytes, name, err));
    root.value = owned;
    size_t n = json_array_size(owned);
    fr_repr *inputs = malloc((n + 1) * sizeof *inputs); /* + 1: no inputs are an array as well */
    cuzk_code code = CUZK_OK;
    if (!json_is_array(owned)) {
        code = refuse(&root, "an array", err);
    } else if (!inputs) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for %zu inputs", name, n);
    } else {
        code = take_inputs(&root, inputs, n, err);
    }
    json_decref(owned);
    if (code != CUZK_OK) {
        free(inputs);
        return code;
    }
    *ret = inputs;
    *ret_n = n;
    return CUZK_OK;
}

cuzk_code cuzk_vk_json_read(cuzk_vk *ret, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_vk_json_parse(ret, map.bytes, name, err);
    cuzk_file_map_close(&map);
    return code;
}

cuzk_code cuzk_proof_json_read(cuzk_proof *ret, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_proof_json_parse(ret, map.bytes, name, err);
    cuzk_file_map_close(&map);
    return code;
}

cuzk_code cuzk_public_json_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_public_json_parse(ret, ret_n, map.bytes, name, err);
    cuzk_file_map_close(&map);
    return code;
}
