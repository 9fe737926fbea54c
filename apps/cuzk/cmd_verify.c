#include "circuit_args.h"

#include "groth16/formats/formats.h"

#include <stdlib.h>

enum { KEY_VK = 0x2000, KEY_INPUTS, KEY_PUBLIC, KEY_PROOF };

typedef struct options {
    const char *vk, *inputs, *public, *proof;
    cli_circuit_args circuit;
} options;

static const struct argp_option option_list[] = {
    {"vk", KEY_VK, "FILE", 0, "Verifying key: bellperson .vk or snarkjs JSON", 0},
    {"inputs", KEY_INPUTS, "FILE", 0,
     "Public inputs, 32 bytes little-endian each; those of several proofs follow each other", 0},
    {"public", KEY_PUBLIC, "FILE", 0, "Public inputs of one proof as snarkjs JSON", 0},
    {"proof", KEY_PROOF, "FILE", 0, "Proofs of 192 bytes that follow each other, or snarkjs JSON",
     0},
    CLI_CIRCUIT_OPTION,
    CLI_STATEMENT_OPTIONS,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_VK:
        o->vk = arg;
        return 0;
    case KEY_INPUTS:
        o->inputs = arg;
        return 0;
    case KEY_PUBLIC:
        o->public = arg;
        return 0;
    case KEY_PROOF:
        o->proof = arg;
        return 0;
    default:
        return cli_circuit_parse(&o->circuit, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .doc =
        "Checks proofs against a verifying key, and says of each whether it is valid.\v"
        "  cuzk verify --vk K.vk --inputs F.inputs --proof F.proof\n"
        "  cuzk verify --vk vk.json --public public.json --proof proof.json\n"
        "  cuzk verify --circuit porep-32GiB --vk F.vk|DIR --input c1.json --proof F.proof\n"
        "\n"
        "With --circuit and --input the public inputs are made from what the vanilla proofs state. "
        "Exit status: 0 when all are valid, 1 when one is not, 3 when a file is malformed.",
};

/* What the files hold. */
typedef struct task {
    cuzk_vk vk;
    cuzk_proof *proofs;
    size_t n_proofs;
    fr_repr *inputs;
    size_t n_inputs; /* of all proofs together */
} task;

static cuzk_code read_proofs(task *t, const char *name, cuzk_err *err)
{
    bool json;
    CUZK_TRY(cli_is_json(&json, name, err));
    if (!json) {
        return cuzk_proofs_read(&t->proofs, &t->n_proofs, name, err);
    }
    t->proofs = malloc(sizeof *t->proofs);
    if (!t->proofs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a proof");
    }
    t->n_proofs = 1;
    return cuzk_proof_json_read(t->proofs, name, err);
}

/* Reads the vk; a circuit tells where to look for it, and how many inputs it must have. */
static cuzk_code read_vk(task *t, const options *o, cuzk_err *err)
{
    cuzk_circuit_id id;
    char path[CLI_PATH_MAX];
    if (!o->circuit.circuit) {
        return cli_vk_read(&t->vk, o->vk, err);
    }
    CUZK_TRY(cuzk_circuit_named(&id, o->circuit.circuit, err));
    CUZK_TRY(cli_params_path(path, o->vk, &id, ".vk", err));
    CUZK_TRY(cli_vk_read(&t->vk, path, err));
    if (t->vk.n_ic - 1 != cuzk_statement_input_count(&id)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a key of %zu inputs, found one of %u",
                         path, cuzk_statement_input_count(&id), t->vk.n_ic - 1);
    }
    return CUZK_OK;
}

/* The inputs that a statement has by its public data. */
static cuzk_code make_inputs(task *t, cli_circuit_args *args, cuzk_err *err)
{
    cli_statement s;
    CUZK_TRY(cli_statement_open(&s, args, err));
    size_t each = cuzk_statement_input_count(&s.id);
    t->n_inputs = each * (s.end - s.first);
    t->inputs = malloc(t->n_inputs * sizeof *t->inputs);
    cuzk_code code = t->inputs
                         ? CUZK_OK
                         : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu inputs", t->n_inputs);
    for (unsigned k = s.first; k < s.end && code == CUZK_OK; k++) {
        code = cuzk_statement_inputs(s.statement, k, t->inputs + (k - s.first) * each, err);
    }
    cli_statement_close(&s);
    return code;
}

static cuzk_code read_files(task *t, options *o, cuzk_err *err)
{
    CUZK_TRY(read_vk(t, o, err));
    CUZK_TRY(read_proofs(t, o->proof, err));
    const char *name = o->inputs ? o->inputs : o->public;
    if (o->circuit.n_inputs > 0) {
        CUZK_TRY(make_inputs(t, &o->circuit, err));
        name = o->proof;
    } else if (o->inputs) {
        CUZK_TRY(cuzk_inputs_read(&t->inputs, &t->n_inputs, name, err));
    } else {
        CUZK_TRY(cuzk_public_json_read(&t->inputs, &t->n_inputs, name, err));
    }
    size_t n = t->vk.n_ic - 1;
    if (t->n_inputs / t->n_proofs != n || t->n_inputs % t->n_proofs != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: %zu proof%s with %zu inputs each want %zu values, found %zu", name,
                         t->n_proofs, t->n_proofs == 1 ? "" : "s", n, n * t->n_proofs, t->n_inputs);
    }
    return CUZK_OK;
}

static cuzk_code verify_all(const task *t, cuzk_pool *pool, cuzk_err *err)
{
    cuzk_verifier *v;
    CUZK_TRY(cuzk_verifier_new(&v, &t->vk, err));
    size_t n = t->vk.n_ic - 1, n_valid = 0;
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; i < t->n_proofs && code == CUZK_OK; i++) {
        code = cuzk_verify(v, &t->proofs[i], t->inputs + i * n, n, pool, err);
        if (code == CUZK_OK || code == CUZK_E_INVALID) {
            cli_say("proof %zu: %s", i, code == CUZK_OK ? "valid" : "invalid");
            n_valid += code == CUZK_OK;
            code = CUZK_OK;
        }
    }
    cuzk_verifier_free(v);
    CUZK_TRY(code);
    cli_say("%zu of %zu proof%s valid", n_valid, t->n_proofs, t->n_proofs == 1 ? "" : "s");
    if (n_valid < t->n_proofs) {
        return CUZK_FAIL(err, CUZK_E_INVALID,
                         "%zu of %zu proof%s not valid for this key and these inputs",
                         t->n_proofs - n_valid, t->n_proofs, t->n_proofs == 1 ? " is" : "s are");
    }
    return CUZK_OK;
}

static cuzk_code check(const options *o, cuzk_err *err)
{
    CUZK_TRY(cli_require(o->vk, "--vk", err));
    CUZK_TRY(cli_require(o->proof, "--proof", err));
    int sources = !!o->inputs + !!o->public + (o->circuit.n_inputs > 0);
    if (sources != 1) {
        return CUZK_FAIL(err, CUZK_E_ARG, "one of %s is needed, not %s",
                         o->circuit.circuit ? "--input, --inputs and --public"
                                            : "--inputs and --public",
                         sources ? "both" : "none");
    }
    if (o->circuit.n_inputs > 0) {
        CUZK_TRY(cli_require(o->circuit.circuit, "--circuit", err));
    }
    return CUZK_OK;
}

static cuzk_code run(task *t, options *o, const cli_common *common, cuzk_err *err)
{
    cuzk_pool *pool;
    CUZK_TRY(check(o, err));
    CUZK_TRY(cli_pool(&pool, common, err));
    cuzk_code code = read_files(t, o, err);
    if (code == CUZK_OK) {
        code = verify_all(t, pool, err);
    }
    cuzk_pool_free(pool);
    return code;
}

cuzk_code cmd_verify(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    cli_common common;
    task t = {0};
    cuzk_code code = cli_parse(&argp, argc, argv, &o, &common, err);
    if (code == CUZK_OK) {
        code = run(&t, &o, &common, err);
    }
    cuzk_vk_clear(&t.vk);
    free(t.proofs);
    free(t.inputs);
    cli_circuit_args_clear(&o.circuit);
    return code;
}
