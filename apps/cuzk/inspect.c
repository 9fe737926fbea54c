#include "inspect.h"

#include "groth16/formats/formats.h"

#include <stdlib.h>

static const struct {
    const char *type; /* for --type, and what files' names end in */
    const char *name; /* for people */
} kinds[N_FILE_KINDS] = {
    [KIND_UNKNOWN] = {"", "unknown"},
    [KIND_R1CS] = {"r1cs", "circom constraint system"},
    [KIND_WTNS] = {"wtns", "circom witness"},
    [KIND_ZKEY] = {"zkey", "snarkjs proving key"},
    [KIND_VK] = {"vk", "bellperson verifying key"},
    [KIND_PARAMS] = {"params", "bellperson parameters"},
    [KIND_PROOFS] = {"proof", "proofs"},
    [KIND_INPUTS] = {"inputs", "public inputs"},
    [KIND_VK_JSON] = {"vk.json", "snarkjs verifying key"},
    [KIND_PROOF_JSON] = {"proof.json", "snarkjs proof"},
    [KIND_PUBLIC_JSON] = {"public.json", "snarkjs public inputs"},
};

const char *inspect_kind_name(file_kind kind) { return kinds[kind].name; }

const char *inspect_source_name(kind_source source)
{
    static const char *const names[] = {
        [KIND_BY_CONTENT] = "its content",
        [KIND_BY_NAME] = "its name",
        [KIND_BY_GUESS] = "its size and values, a guess",
        [KIND_BY_OPTION] = "--type",
    };
    return names[source];
}

file_kind inspect_kind_of_type(const char *type)
{
    for (int kind = KIND_UNKNOWN + 1; kind < N_FILE_KINDS; kind++) {
        if (strcmp(type, kinds[kind].type) == 0) {
            return (file_kind)kind;
        }
    }
    return KIND_UNKNOWN;
}

static bool contains(cuzk_span bytes, const char *word)
{
    return memmem(bytes.p, bytes.n, word, strlen(word)) != NULL;
}

/* What the content says beyond doubt: other data decodes as a first proof with a probability of one
 * in 2^256. */
static file_kind kind_of_content(cuzk_span bytes)
{
    static const struct {
        char magic[5];
        file_kind kind;
    } magics[] = {{"r1cs", KIND_R1CS}, {"wtns", KIND_WTNS}, {"zkey", KIND_ZKEY}};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (bytes.n >= 4 && memcmp(bytes.p, magics[i].magic, 4) == 0) {
            return magics[i].kind;
        }
    }
    if (cli_looks_like_json(bytes)) {
        return contains(bytes, "\"vk_alpha_1\"") ? KIND_VK_JSON
               : contains(bytes, "\"pi_a\"")     ? KIND_PROOF_JSON
               : memchr(bytes.p, '{', bytes.n)   ? KIND_UNKNOWN
                                                 : KIND_PUBLIC_JSON;
    }
    cuzk_proof proof;
    return bytes.n >= CUZK_PROOF_BYTES && cuzk_proof_decode(&proof, bytes.p, "", 0, NULL) == CUZK_OK
               ? KIND_PROOFS
               : KIND_UNKNOWN;
}

static file_kind kind_of_name(const char *name)
{
    for (int kind = KIND_UNKNOWN + 1; kind < N_FILE_KINDS; kind++) {
        char suffix[16];
        snprintf(suffix, sizeof suffix, ".%s", kinds[kind].type);
        if (cli_ends_with(name, suffix)) {
            return (file_kind)kind;
        }
    }
    return KIND_UNKNOWN;
}

static bool are_inputs(cuzk_span bytes)
{
    for (size_t i = 0; i < bytes.n; i += 32) {
        fr_repr value;
        if (!fr_repr_from_bytes(&value, bytes.p + i)) {
            return false;
        }
    }
    return true;
}

/* Nothing marks bellperson's files. What reads well as integers below r is that: the size of keys
 * is no multiple of 32. A vk says how long it is; what is longer is parameters. What is left is
 * malformed, and its reader will say where. */
static file_kind guess_kind(cuzk_span bytes)
{
    bool whole_inputs = bytes.n > 0 && bytes.n % 32 == 0;
    if (whole_inputs && are_inputs(bytes)) {
        return KIND_INPUTS;
    }
    if (bytes.n >= CUZK_VK_HEAD_BYTES && (bytes.p[0] & 0xe0) == 0) {
        uint64_t n_ic = cuzk_load_u32be(bytes.p + CUZK_VK_HEAD_BYTES - 4);
        uint64_t end = CUZK_VK_HEAD_BYTES + n_ic * G1_UNCOMPRESSED_BYTES;
        if (n_ic > 0 && bytes.n >= end) {
            return bytes.n == end ? KIND_VK : KIND_PARAMS;
        }
    }
    if (bytes.n > 0 && bytes.n % CUZK_PROOF_BYTES == 0 &&
        (bytes.p[0] & bytes.p[48] & bytes.p[144] & 0x80)) {
        return KIND_PROOFS;
    }
    return whole_inputs ? KIND_INPUTS : KIND_UNKNOWN;
}

file_kind inspect_kind(cuzk_span bytes, const char *name, kind_source *ret_source)
{
    *ret_source = KIND_BY_CONTENT;
    file_kind kind = kind_of_content(bytes);
    if (kind == KIND_UNKNOWN) {
        *ret_source = KIND_BY_NAME;
        kind = kind_of_name(name);
    }
    if (kind == KIND_UNKNOWN) {
        *ret_source = KIND_BY_GUESS;
        kind = guess_kind(bytes);
    }
    return kind;
}

static void put(json_t *out, const char *key, uint64_t value)
{
    json_object_set_new(out, key, json_integer((json_int_t)value));
}

static void put_system(json_t *out, const cuzk_r1cs *r)
{
    put(out, "constraints", r->n_rows);
    put(out, "public inputs", r->n_inputs - 1);
    put(out, "other variables", r->n_aux);
    put(out, "terms of A", r->a.row[r->n_rows]);
    put(out, "terms of B", r->b.row[r->n_rows]);
    if (r->has_c) {
        put(out, "terms of C", r->c.row[r->n_rows]);
    }
    put(out, "distinct coefficients", r->n_coeffs);
}

static cuzk_code describe_r1cs(json_t *out, const char *name, cuzk_err *err)
{
    cuzk_r1cs *r;
    CUZK_TRY(cuzk_r1cs_read(&r, name, err));
    put_system(out, r);
    cuzk_r1cs_free(r);
    return CUZK_OK;
}

static cuzk_code describe_wtns(json_t *out, const char *name, cuzk_err *err)
{
    fr_repr *z;
    size_t n, bits = 0;
    CUZK_TRY(cuzk_wtns_read(&z, &n, name, err));
    for (size_t i = 0; i < n; i++) {
        bits += (z[i].l[0] | 1) == 1 && !(z[i].l[1] | z[i].l[2] | z[i].l[3]);
    }
    put(out, "values", n);
    put(out, "zeros and ones", bits);
    cuzk_wipe(z, n * sizeof *z);
    free(z);
    return CUZK_OK;
}

static cuzk_code describe_zkey(json_t *out, const char *name, bool check, cuzk_pool *pool,
                               cuzk_err *err)
{
    cuzk_pk *pk;
    cuzk_r1cs *r;
    CUZK_TRY(
        cuzk_zkey_read(&pk, &r, name, check ? POINT_CHECK_SUBGROUP : POINT_CHECK_NONE, pool, err));
    put_system(out, r);
    put(out, "lg of the domain", pk->lg_domain);
    put(out, "points of H", pk->n_h);
    put(out, "finite points of A", pk->n_a);
    put(out, "finite points of B", pk->n_b);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r);
    return CUZK_OK;
}

static cuzk_code describe_vk(json_t *out, const char *name, bool json, bool check, cuzk_err *err)
{
    cuzk_vk vk;
    CUZK_TRY(json ? cuzk_vk_json_read(&vk, name, err)
                  : cuzk_vk_read(&vk, name, check ? POINT_CHECK_SUBGROUP : POINT_CHECK_NONE, err));
    put(out, "public inputs", vk.n_ic - 1);
    cuzk_vk_clear(&vk);
    return CUZK_OK;
}

static cuzk_code describe_proofs(json_t *out, const char *name, bool json, cuzk_err *err)
{
    cuzk_proof one, *proofs = NULL;
    size_t n = 1;
    CUZK_TRY(json ? cuzk_proof_json_read(&one, name, err)
                  : cuzk_proofs_read(&proofs, &n, name, err));
    put(out, "proofs", n);
    free(proofs);
    return CUZK_OK;
}

static cuzk_code describe_inputs(json_t *out, const char *name, bool json, cuzk_err *err)
{
    fr_repr *inputs;
    size_t n;
    CUZK_TRY(json ? cuzk_public_json_read(&inputs, &n, name, err)
                  : cuzk_inputs_read(&inputs, &n, name, err));
    put(out, "values", n);
    free(inputs);
    return CUZK_OK;
}

static void put_layout(json_t *out, const cuzk_params_layout *layout)
{
    put(out, "public inputs", layout->vk.n_ic - 1);
    for (int i = 0; i < CUZK_PARAMS_PARTS; i++) {
        char key[32];
        snprintf(key, sizeof key, "points of %s", layout->list[i].name);
        put(out, key, layout->list[i].n);
    }
}

static cuzk_code describe_params(json_t *out, const char *name, bool check, cuzk_pool *pool,
                                 const cuzk_progress *progress, cuzk_err *err)
{
    cuzk_params_layout layout;
    point_check how = check ? POINT_CHECK_SUBGROUP : POINT_CHECK_NONE;
    CUZK_TRY(cuzk_params_scan(&layout, name, how, err));
    put_layout(out, &layout);
    cuzk_params_layout_clear(&layout);
    return check ? cuzk_params_check(name, how, pool, progress, err) : CUZK_OK;
}

cuzk_code inspect_describe(json_t *out, file_kind kind, const char *name, bool check,
                           cuzk_pool *pool, const cuzk_progress *progress, cuzk_err *err)
{
    switch (kind) {
    case KIND_R1CS:
        return describe_r1cs(out, name, err);
    case KIND_WTNS:
        return describe_wtns(out, name, err);
    case KIND_ZKEY:
        return describe_zkey(out, name, check, pool, err);
    case KIND_VK:
    case KIND_VK_JSON:
        return describe_vk(out, name, kind == KIND_VK_JSON, check, err);
    case KIND_PARAMS:
        return describe_params(out, name, check, pool, progress, err);
    case KIND_PROOFS:
    case KIND_PROOF_JSON:
        return describe_proofs(out, name, kind == KIND_PROOF_JSON, err);
    case KIND_INPUTS:
    case KIND_PUBLIC_JSON:
        return describe_inputs(out, name, kind == KIND_PUBLIC_JSON, err);
    case KIND_UNKNOWN:
    case N_FILE_KINDS:
        break;
    }
    return CUZK_FAIL(err, CUZK_E_INTERNAL, "%s: a file of no kind", name);
}

const char *inspect_checked(file_kind kind)
{
    switch (kind) {
    case KIND_R1CS:
    case KIND_WTNS:
    case KIND_INPUTS:
    case KIND_PUBLIC_JSON:
        return "every index and value is in range";
    default:
        return "every point is on its curve and of order r";
    }
}
