#include "circuit_args.h"

#include "backend/cuda_open.h"
#include "groth16/formats/formats.h"
#include "r1cs/shape_csr.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    KEY_R1CS = 0x2000,
    KEY_OUT,
    KEY_VK,
    KEY_SEED_NAME,
    KEY_INSECURE,
    KEY_CIRCUIT,
    KEY_DEVICE,
    KEY_LIBRARY
};

typedef struct options {
    const char *r1cs, *circuit, *out, *vk, *seed_name;
    const char *device, *library; /* of the CUDA backend */
    int ordinal;                  /* of the device, when it is given */
    cuzk_circuit_id id;           /* when circuit is given */
    char out_path[CLI_PATH_MAX], vk_path[CLI_PATH_MAX];
    bool insecure;
} options;

static const struct argp_option option_list[] = {
    {"r1cs", KEY_R1CS, "FILE", 0, "The constraint system, as circom writes it", 0},
    {"out", KEY_OUT, "FILE", 0,
     "The key to write: FILE.params for bellperson, FILE.zkey for snarkjs. With --circuit a "
     "folder: "
     "the files get the names under which the reference looks for them",
     0},
    {"vk", KEY_VK, "FILE", 0,
     "Also write the verifying key: FILE.json for snarkjs, any other name for bellperson", 0},
    {"seed-name", KEY_SEED_NAME, "NAME", 0,
     "For tests only: take secrets that anybody can recompute, SHA-256 of NAME-alpha, NAME-beta, "
     "NAME-gamma, NAME-delta and NAME-tau",
     0},
    {"insecure", KEY_INSECURE, NULL, 0, "Admit --seed-name", 0},
    {"circuit", KEY_CIRCUIT, "NAME", 0,
     "Instead of --r1cs: a Filecoin circuit such as porep-32GiB; `cuzk circuit --list' names all",
     0},
    {"device", KEY_DEVICE, "N", 0,
     "Make the key of a --circuit on CUDA device N, counted from 0, instead of the processor", 0},
    {"cuda-library", KEY_LIBRARY, "FILE", 0,
     "The CUDA backend, when it is not where it was installed", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_R1CS:
        o->r1cs = arg;
        return 0;
    case KEY_OUT:
        o->out = arg;
        return 0;
    case KEY_VK:
        o->vk = arg;
        return 0;
    case KEY_SEED_NAME:
        o->seed_name = arg;
        return 0;
    case KEY_INSECURE:
        o->insecure = true;
        return 0;
    case KEY_CIRCUIT:
        o->circuit = arg;
        return 0;
    case KEY_DEVICE:
        o->device = arg;
        return 0;
    case KEY_LIBRARY:
        o->library = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .doc = "Makes a proving key for a constraint system, with fresh secrets from the operating "
           "system that are wiped afterwards.\v"
           "  cuzk setup --r1cs F.r1cs --out F.params --vk F.vk\n"
           "  cuzk setup --r1cs F.r1cs --out F.zkey --vk verification_key.json\n"
           "  cuzk setup --circuit porep-2KiB --out DIR\n"
           "  cuzk setup --circuit porep-32GiB --device 0 --out DIR\n"
           "\n"
           "Whoever runs this could have kept the secrets and could then prove anything: a key "
           "for others needs a ceremony.",
};

/* Names the files of a circuit's key in the folder --out, which is made. */
static cuzk_code name_files(options *o, cuzk_err *err)
{
    CUZK_TRY(cuzk_circuit_named(&o->id, o->circuit, err));
    if (cli_ends_with(o->out, ".zkey")) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--out %s: a circuit's key is a .params file", o->out);
    }
    if (!cli_ends_with(o->out, ".params")) {
        CUZK_TRY(cuzk_make_folder(o->out, err));
    }
    if (o->vk || cli_is_folder(o->out)) {
        CUZK_TRY(cli_params_path(o->vk_path, o->vk ? o->vk : o->out, &o->id, ".vk", err));
        o->vk = o->vk_path;
    }
    CUZK_TRY(cli_params_path(o->out_path, o->out, &o->id, ".params", err));
    o->out = o->out_path;
    return CUZK_OK;
}

static cuzk_code check_device(options *o, cuzk_err *err)
{
    char *end = NULL;
    if (!o->device) {
        return o->library ? CUZK_FAIL(err, CUZK_E_ARG, "--cuda-library is for --device") : CUZK_OK;
    }
    if (!o->circuit) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--device makes keys of a --circuit only");
    }
    errno = 0;
    long n = strtol(o->device, &end, 10);
    if (errno || end == o->device || *end || n < 0 || n > INT_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--device %s: not the number of a device", o->device);
    }
    o->ordinal = (int)n;
    return CUZK_OK;
}

static cuzk_code check(options *o, cuzk_err *err)
{
    if (o->r1cs && o->circuit) {
        return CUZK_FAIL(err, CUZK_E_ARG, "one of --r1cs and --circuit is needed, not both");
    }
    if (!o->circuit) {
        CUZK_TRY(cli_require(o->r1cs, "--r1cs", err));
    }
    CUZK_TRY(cli_require(o->out, "--out", err));
    if (o->seed_name && !o->insecure) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "--seed-name takes secrets that anybody can recompute: give --insecure as "
                         "well when that is meant");
    }
    CUZK_TRY(check_device(o, err));
    if (o->circuit) { /* last, since it makes the folder */
        CUZK_TRY(name_files(o, err));
    }
    if (!cli_ends_with(o->out, ".params") && !cli_ends_with(o->out, ".zkey")) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--out %s: the name must end in .params or .zkey",
                         o->out);
    }
    return CUZK_OK;
}

static cuzk_code make_key(cuzk_pk **ret, const options *o, const cuzk_r1cs *r1cs, cuzk_pool *pool,
                          cuzk_err *err)
{
    bool snarkjs = cli_ends_with(o->out, ".zkey");
    cuzk_trapdoor t;
    if (o->seed_name) {
        CUZK_TRY(cuzk_trapdoor_named(&t, o->seed_name, err));
    } else {
        CUZK_TRY(cuzk_trapdoor_random(&t, err));
    }
    cli_bar bar;
    cli_bar_begin(&bar, "secrets");
    cuzk_progress progress = cli_bar_progress(&bar);
    cuzk_code code =
        cuzk_groth16_setup(ret, r1cs, &t, snarkjs ? FR_ROOT_SNARKJS : FR_ROOT_BELLMAN,
                           snarkjs ? CUZK_H_ODD_LAGRANGE : CUZK_H_POWERS, pool, &progress, err);
    cli_bar_end(&bar);
    cuzk_wipe(&t, sizeof t);
    return code;
}

static void say_written(const char *name)
{
    struct stat st;
    char size[32];
    cli_format_bytes(size, stat(name, &st) == 0 ? (uint64_t)st.st_size : 0);
    cli_say("wrote %s, %s", name, size);
}

static cuzk_code make_system(cuzk_r1cs **ret, const cuzk_circuit_id *id, cuzk_err *err)
{
    cuzk_shape *shape;
    CUZK_TRY(cli_circuit_shape(&shape, id, err));
    cuzk_code code = cuzk_shape_to_r1cs(ret, shape, err);
    cuzk_shape_free(shape);
    return code;
}

static cuzk_code read_system(cuzk_r1cs **ret, const options *o, cuzk_err *err)
{
    cli_bar bar;
    cli_bar_begin(&bar, o->circuit ? "circuit" : "reading");
    cuzk_code code = o->circuit ? make_system(ret, &o->id, err) : cuzk_r1cs_read(ret, o->r1cs, err);
    cli_bar_end(&bar);
    return code;
}

static cuzk_code write_key(const options *o, const cuzk_pk *pk, const cuzk_r1cs *r1cs,
                           cuzk_err *err)
{
    cli_bar bar;
    cli_bar_begin(&bar, "writing");
    cuzk_code code = cli_ends_with(o->out, ".zkey") ? cuzk_zkey_write(pk, r1cs, o->out, err)
                                                    : cuzk_params_write(pk, o->out, err);
    cli_bar_end(&bar);
    CUZK_TRY(code);
    say_written(o->out);
    return CUZK_OK;
}

static cuzk_code write_vk(const options *o, const cuzk_vk *vk, cuzk_err *err)
{
    CUZK_TRY(cli_ends_with(o->vk, ".json") ? cuzk_vk_json_write(vk, o->vk, err)
                                           : cuzk_vk_write(vk, o->vk, err));
    say_written(o->vk);
    return CUZK_OK;
}

static cuzk_code run(const options *o, const cuzk_r1cs *r1cs, cuzk_pool *pool, cuzk_err *err)
{
    cuzk_pk *pk;
    uint64_t start = cuzk_clock_ns();
    CUZK_TRY(make_key(&pk, o, r1cs, pool, err));
    cli_say("key of %" PRIu64 " constraints, %u public inputs and %u other variables, domain 2^%u, "
            "in %.2f s",
            r1cs->n_rows, r1cs->n_inputs - 1, r1cs->n_aux, pk->lg_domain,
            (double)(cuzk_clock_ns() - start) / 1e9);
    cuzk_code code = write_key(o, pk, r1cs, err);
    if (code == CUZK_OK && o->vk) {
        code = write_vk(o, &pk->vk, err);
    }
    cuzk_pk_free(pk);
    return code;
}

/* ---- on a device ---- */

/* The verifying key is at the head of the file that was written. */
static cuzk_code copy_vk(const options *o, cuzk_err *err)
{
    cuzk_file_map map;
    cuzk_vk vk;
    CUZK_TRY(cuzk_file_map_open(&map, o->out, err));
    cuzk_cursor c = cuzk_cursor_of(map.bytes, o->out);
    cuzk_code code = cuzk_vk_parse(&c, &vk, POINT_CHECK_NONE, err);
    cuzk_file_map_close(&map);
    CUZK_TRY(code);
    code = write_vk(o, &vk, err);
    cuzk_vk_clear(&vk);
    return code;
}

static cuzk_code run_on_device(const options *o, cuzk_err *err)
{
    const cuzk_cuda_entry *cuda;
    uint64_t ns;
    CUZK_TRY(cuzk_cuda_open(&cuda, NULL, o->library, err));
    int n = cuda->count();
    if (o->ordinal >= n) {
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "--device %d: %d CUDA devices answer", o->ordinal,
                         n);
    }
    const cuzk_cuda_setup_options wanted = {
        .ordinal = o->ordinal, .circuit = o->circuit, .seed = o->seed_name, .params = o->out};
    CUZK_TRY(cuda->setup(&wanted, &ns, err));
    cli_say("key of %s in %.2f s on CUDA device %d", o->circuit, (double)ns / 1e9, o->ordinal);
    say_written(o->out);
    return o->vk ? copy_vk(o, err) : CUZK_OK;
}

cuzk_code cmd_setup(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    cli_common common;
    CUZK_TRY(cli_parse(&argp, argc, argv, &o, &common, err));
    CUZK_TRY(check(&o, err));
    if (o.device) {
        return run_on_device(&o, err);
    }
    cuzk_pool *pool;
    cuzk_r1cs *r1cs;
    CUZK_TRY(cli_pool(&pool, &common, err));
    cuzk_code code = read_system(&r1cs, &o, err);
    if (code == CUZK_OK) {
        code = run(&o, r1cs, pool, err);
        cuzk_r1cs_free(r1cs);
    }
    cuzk_pool_free(pool);
    return code;
}
