#include "circuit_args.h"

#include "groth16/formats/formats.h"

#include <stdlib.h>

enum {
    KEY_KEY = 0x2000,
    KEY_R1CS,
    KEY_WTNS,
    KEY_PROOF,
    KEY_PUBLIC,
    KEY_R,
    KEY_S,
    KEY_VERBOSE,
    KEY_PARAMS
};

typedef struct options {
    const char *key, *r1cs, *wtns, *params, *proof, *public, *r, *s;
    cli_circuit_args circuit;
    bool verbose;
} options;

static const struct argp_option option_list[] = {
    {"key", KEY_KEY, "FILE", 0, "Proving key: snarkjs .zkey or bellperson .params", 0},
    {"r1cs", KEY_R1CS, "FILE", 0,
     "The constraint system; needed with .params. With a .zkey it tells which constraint a wrong "
     "witness breaks",
     0},
    {"wtns", KEY_WTNS, "FILE", 0, "The witness, as circom's calculators write it", 0},
    {"proof", KEY_PROOF, "FILE", 0, "The proof to write: FILE.json for snarkjs, else 192 bytes", 0},
    {"public", KEY_PUBLIC, "FILE", 0,
     "Also write the public inputs: FILE.json for snarkjs, else 32 bytes little-endian each", 0},
    {"r", KEY_R, "HEX", 0,
     "For tests only: the blinding r, 32 bytes little-endian. A proof with known r and s reveals "
     "its witness",
     1},
    {"s", KEY_S, "HEX", 0, "For tests only: the blinding s; given together with --r", 1},
    {"verbose", KEY_VERBOSE, NULL, 0, "Print the time of each phase", 2},
    CLI_CIRCUIT_OPTION,
    {"params", KEY_PARAMS, "FILE", 0,
     "The circuit's .params, or the folder that has it under its published name", 10},
    CLI_STATEMENT_OPTIONS,
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_KEY:
        o->key = arg;
        return 0;
    case KEY_R1CS:
        o->r1cs = arg;
        return 0;
    case KEY_WTNS:
        o->wtns = arg;
        return 0;
    case KEY_PROOF:
        o->proof = arg;
        return 0;
    case KEY_PUBLIC:
        o->public = arg;
        return 0;
    case KEY_R:
        o->r = arg;
        return 0;
    case KEY_S:
        o->s = arg;
        return 0;
    case KEY_VERBOSE:
        o->verbose = true;
        return 0;
    case KEY_PARAMS:
        o->params = arg;
        return 0;
    default:
        return cli_circuit_parse(&o->circuit, key, arg) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .doc = "Proves that a witness satisfies a constraint system. The proof is verified before it "
           "is written.\v"
           "  cuzk prove --key F.zkey --wtns F.wtns --proof proof.json --public public.json\n"
           "  cuzk prove --key F.params --r1cs F.r1cs --wtns F.wtns --proof F.bin\n"
           "  cuzk prove --circuit porep-32GiB --params DIR --input c1.json --proof F.proof\n"
           "  cuzk prove --circuit window-32GiB --params DIR --input DIR --randomness HEX "
           "--proof F.proof\n"
           "\n"
           "With --circuit the vanilla proofs are checked first, and refused with partition, "
           "challenge and reason (status 3). Then all partitions are proved in order, 192 bytes "
           "each.",
};

/* What the files hold, and the blinding when it is given. */
typedef struct task {
    cuzk_pk *pk;
    cuzk_r1cs *r1cs;
    fr_repr *z;
    size_t n_z;
    fr r, s;
    bool blinded;
} task;

static cuzk_code read_scalar(fr *ret, const char *option, const char *hex, cuzk_err *err)
{
    uint8_t bytes[32];
    if (!cuzk_hex_parse(hex, bytes, sizeof bytes)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s wants 64 hexadecimal digits", option);
    }
    if (!fr_from_bytes(ret, bytes)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s is not below r", option);
    }
    cuzk_wipe(bytes, sizeof bytes);
    return CUZK_OK;
}

static cuzk_code check(task *t, const options *o, cuzk_err *err)
{
    if (!o->circuit.circuit) {
        CUZK_TRY(cli_require(o->key, "--key", err));
        CUZK_TRY(cli_require(o->wtns, "--wtns", err));
    } else if (o->key || o->r1cs || o->wtns) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "--circuit goes with --params and --input, not with --key, --r1cs or "
                         "--wtns");
    }
    CUZK_TRY(cli_require(o->proof, "--proof", err));
    if (!o->r != !o->s) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--r and --s are given together or not at all");
    }
    if (o->r) {
        CUZK_TRY(read_scalar(&t->r, "--r", o->r, err));
        CUZK_TRY(read_scalar(&t->s, "--s", o->s, err));
        t->blinded = true;
    }
    return CUZK_OK;
}

static cuzk_code read_files(task *t, const options *o, cuzk_pool *pool, cuzk_err *err)
{
    bool zkey;
    CUZK_TRY(cli_has_magic(&zkey, o->key, "zkey", err));
    zkey = zkey || cli_ends_with(o->key, ".zkey"); /* whose reader says what is wrong with it */
    if (!zkey && !o->r1cs) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--r1cs is missing: %s is not a zkey, so it needs one",
                         o->key);
    }
    if (o->r1cs) {
        CUZK_TRY(cuzk_r1cs_read(&t->r1cs, o->r1cs, err));
    }
    CUZK_TRY(cuzk_wtns_read(&t->z, &t->n_z, o->wtns, err));
    if (!zkey) {
        return cuzk_params_read(&t->pk, o->key, t->r1cs, POINT_CHECK_NONE, pool, err);
    }
    cuzk_r1cs *own;
    CUZK_TRY(cuzk_zkey_read(&t->pk, &own, o->key, POINT_CHECK_NONE, pool, err));
    if (t->r1cs) {
        cuzk_r1cs_free(own);
    } else {
        t->r1cs = own;
    }
    return CUZK_OK;
}

static cuzk_code write_public(const task *t, const char *name, cuzk_err *err)
{
    size_t n = t->pk->n_inputs - 1;
    if (cli_ends_with(name, ".json")) {
        return cuzk_public_json_write(t->z + 1, n, name, err);
    }
    uint8_t *bytes = malloc(32 * n + 1);
    if (!bytes) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu inputs", n);
    }
    for (size_t i = 0; i < n; i++) {
        fr_repr_to_bytes(bytes + 32 * i, &t->z[1 + i]);
    }
    cuzk_code code = cuzk_file_write(name, bytes, 32 * n, err);
    free(bytes);
    return code;
}

static cuzk_code write_proof(const cuzk_proof *proof, const char *name, cuzk_err *err)
{
    if (cli_ends_with(name, ".json")) {
        return cuzk_proof_json_write(proof, name, err);
    }
    uint8_t bytes[CUZK_PROOF_BYTES];
    cuzk_proof_encode(bytes, proof);
    return cuzk_file_write(name, bytes, sizeof bytes, err);
}

static cuzk_code run(task *t, const options *o, cuzk_pool *pool, cuzk_err *err)
{
    cuzk_proof proof;
    cuzk_prove_times times;
    cli_bar bar;
    cli_bar_begin(&bar, "reading");
    cuzk_progress progress = cli_bar_progress(&bar);
    cuzk_code code = read_files(t, o, pool, err);
    if (code == CUZK_OK) {
        cuzk_err why = {0};
        code = cuzk_groth16_prove(&proof, t->pk, t->r1cs, t->z, t->n_z, t->blinded ? &t->r : NULL,
                                  t->blinded ? &t->s : NULL, pool, &progress, &times, &why);
        if (code != CUZK_OK) {
            code = CUZK_FAIL(err, code, "%s with %s: %s", o->wtns, o->key, why.msg);
        }
    }
    cli_bar_end(&bar);
    CUZK_TRY(code);
    CUZK_TRY(write_proof(&proof, o->proof, err));
    cli_say("wrote %s, verified, in %.2f s", o->proof, (double)times.total_ns / 1e9);
    if (o->public) {
        CUZK_TRY(write_public(t, o->public, err));
        cli_say("wrote %s, %u public inputs", o->public, t->pk->n_inputs - 1);
    }
    if (o->verbose) {
        cli_say_times(&times);
    }
    return CUZK_OK;
}

static cuzk_code prove_circuit(const task *t, options *o, cuzk_pool *pool, cuzk_err *err)
{
    const cli_prove_circuit told = {&o->circuit,
                                    o->params,
                                    o->proof,
                                    o->public,
                                    t->blinded ? &t->r : NULL,
                                    t->blinded ? &t->s : NULL,
                                    o->verbose};
    return cli_circuit_prove(&told, pool, err);
}

static cuzk_code run_any(task *t, options *o, const cli_common *common, cuzk_err *err)
{
    cuzk_pool *pool;
    CUZK_TRY(check(t, o, err));
    CUZK_TRY(cli_pool(&pool, common, err));
    cuzk_code code = o->circuit.circuit ? prove_circuit(t, o, pool, err) : run(t, o, pool, err);
    cuzk_pool_free(pool);
    return code;
}

cuzk_code cmd_prove(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    cli_common common;
    task t = {0};
    cuzk_code code = cli_parse(&argp, argc, argv, &o, &common, err);
    if (code == CUZK_OK) {
        code = run_any(&t, &o, &common, err);
    }
    if (t.z) {
        cuzk_wipe(t.z, t.n_z * sizeof *t.z);
    }
    free(t.z);
    cuzk_r1cs_free(t.r1cs);
    cuzk_pk_free(t.pk);
    cuzk_wipe(&t, sizeof t);
    cli_circuit_args_clear(&o.circuit);
    return code;
}
