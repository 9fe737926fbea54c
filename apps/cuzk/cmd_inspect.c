#include "inspect.h"

#include "groth16/formats/formats.h"

#include <inttypes.h>

enum { KEY_CHECK = 0x2000, KEY_DIGEST, KEY_JSON, KEY_TYPE };

typedef struct options {
    const char *file, *type;
    bool check, digest, json;
} options;

static const struct argp_option option_list[] = {
    {"check", KEY_CHECK, NULL, 0, "Also check that each point is on its curve and of order r", 0},
    {"digest", KEY_DIGEST, NULL, 0,
     "Also print the digest by which Filecoin publishes parameter files (the first 32 digits of "
     "BLAKE2b-512), and the published file that has it",
     0},
    {"type", KEY_TYPE, "TYPE", 0,
     "Read it as that: r1cs, wtns, zkey, vk, params, proof, inputs, vk.json, proof.json or "
     "public.json",
     0},
    {"json", KEY_JSON, NULL, 0, "Print one line of JSON", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_CHECK:
        o->check = true;
        return 0;
    case KEY_DIGEST:
        o->digest = true;
        return 0;
    case KEY_TYPE:
        o->type = arg;
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->file) {
            argp_error(state, "one file at a time");
        }
        o->file = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .args_doc = "FILE",
    .doc = "Says what a file is and what it holds: keys, parameters, proofs and public inputs of "
           "bellperson and snarkjs, constraint systems and witnesses of circom. The type is told "
           "by the content; where that leaves it open, by what the file's name ends in. A "
           "malformed file is refused with the offset and the field.",
};

static void print_text(json_t *out)
{
    const char *key;
    json_t *value;
    json_object_foreach(out, key, value)
    {
        if (json_is_string(value)) {
            cli_say("%s: %s", key, json_string_value(value));
        } else {
            cli_say("%s: %" JSON_INTEGER_FORMAT, key, json_integer_value(value));
        }
    }
}

static cuzk_code print(json_t *out, bool json, cuzk_err *err)
{
    if (!json) {
        print_text(out);
        return CUZK_OK;
    }
    if (json_dumpf(out, stdout, JSON_PRESERVE_ORDER) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "the output cannot be written");
    }
    putchar('\n');
    return CUZK_OK;
}

/* The kind that --type says, or else the file, and in out how it is known. */
static cuzk_code put_kind(json_t *out, file_kind *ret, const options *o, cuzk_err *err)
{
    cuzk_file_map map;
    kind_source source = KIND_BY_OPTION;
    CUZK_TRY(cuzk_file_map_open(&map, o->file, err));
    *ret = o->type ? inspect_kind_of_type(o->type) : inspect_kind(map.bytes, o->file, &source);
    uint64_t bytes = map.bytes.n;
    cuzk_file_map_close(&map);
    if (*ret == KIND_UNKNOWN) {
        return o->type ? CUZK_FAIL(err, CUZK_E_ARG, "--type %s: there is no such type", o->type)
                       : CUZK_FAIL(err, CUZK_E_INPUT,
                                   "%s: offset 0: expected a file of a type that is known here, "
                                   "found %" PRIu64 " other bytes",
                                   o->file, bytes);
    }
    json_object_set_new(out, "file", json_string(o->file));
    json_object_set_new(out, "kind", json_string(inspect_kind_name(*ret)));
    json_object_set_new(out, "told by", json_string(inspect_source_name(source)));
    json_object_set_new(out, "bytes", json_integer((json_int_t)bytes));
    return CUZK_OK;
}

static cuzk_code put_digest(json_t *out, const char *name, const cuzk_progress *progress,
                            cuzk_err *err)
{
    char digest[33];
    CUZK_TRY(cuzk_file_digest(digest, name, progress, err));
    json_object_set_new(out, "digest", json_string(digest));
    const cuzk_published_file *file = cuzk_published_find(digest);
    json_object_set_new(out, "published as", json_string(file ? file->name : "(not published)"));
    if (file) {
        json_object_set_new(out, "circuit", json_string(file->circuit));
    }
    return CUZK_OK;
}

static cuzk_code describe(json_t *out, const options *o, cuzk_pool *pool,
                          const cuzk_progress *progress, cuzk_err *err)
{
    file_kind kind;
    CUZK_TRY(put_kind(out, &kind, o, err));
    CUZK_TRY(inspect_describe(out, kind, o->file, o->check, pool, progress, err));
    if (o->check) {
        json_object_set_new(out, "checked", json_string(inspect_checked(kind)));
    }
    return o->digest ? put_digest(out, o->file, progress, err) : CUZK_OK;
}

cuzk_code cmd_inspect(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    cli_common common;
    cuzk_pool *pool;
    CUZK_TRY(cli_parse(&argp, argc, argv, &o, &common, err));
    CUZK_TRY(cli_require(o.file, "a file", err));
    CUZK_TRY(cli_pool(&pool, &common, err));
    json_t *out = json_object();
    cli_bar bar;
    cli_bar_begin(&bar, "reading");
    cuzk_progress progress = cli_bar_progress(&bar);
    cuzk_code code;
    if (out) {
        code = describe(out, &o, pool, &progress, err);
    } else {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the answer");
    }
    cli_bar_end(&bar);
    if (code == CUZK_OK) {
        code = print(out, o.json, err);
    }
    json_decref(out);
    cuzk_pool_free(pool);
    return code;
}
