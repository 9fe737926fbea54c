#include "cli.h"

#include "base/file.h"
#include "filecoin/generate.h"
#include "filecoin/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { KEY_SIZE = 0x2000, KEY_SEED, KEY_OUT, KEY_WRAPPER, KEY_JSON, KEY_KIND, KEY_SECTORS };

/* What any of the three commands was told. */
typedef struct options {
    const char *size, *seed, *out, *kind, *sectors;
    bool wrapper, json;
} options;

#define SIZE_OPTION                                                                                \
    {                                                                                              \
        "size", KEY_SIZE, "SIZE", 0, "The sector size, 2KiB to 64GiB", 0                           \
    }
#define SEED_OPTION                                                                                \
    {                                                                                              \
        "seed", KEY_SEED, "NAME", 0,                                                               \
            "Other values for each name; none: those of the test vectors", 0                       \
    }

static const struct argp_option c1_options[] = {
    SIZE_OPTION,
    SEED_OPTION,
    {"out", KEY_OUT, "FILE", 0, "The file to write", 0},
    {"json", KEY_JSON, NULL, 0, "Write JSON instead of bincode", 0},
    {"wrapper", KEY_WRAPPER, NULL, 0, "Write what clients of a daemon send: JSON in base64 in JSON",
     0},
    {0},
};

static const struct argp_option post_options[] = {
    SIZE_OPTION,
    SEED_OPTION,
    {"kind", KEY_KIND, "KIND", 0, "window (the default) or winning", 0},
    {"sectors", KEY_SECTORS, "N", 0, "How many sectors, numbered from 1 (default 1)", 0},
    {"out", KEY_OUT, "DIR", 0, "The folder to write sectorN.bincode to", 0},
    {0},
};

static const struct argp_option update_options[] = {
    SIZE_OPTION,
    SEED_OPTION,
    {"out", KEY_OUT, "DIR", 0, "The folder to write partitionN.bincode to", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_SIZE:
        o->size = arg;
        return 0;
    case KEY_SEED:
        o->seed = arg;
        return 0;
    case KEY_OUT:
        o->out = arg;
        return 0;
    case KEY_WRAPPER:
        o->wrapper = true;
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case KEY_KIND:
        o->kind = arg;
        return 0;
    case KEY_SECTORS:
        o->sectors = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The options that all three need, and a pool for the work. */
static cuzk_code begin(const struct argp *argp, int argc, char **argv, options *o,
                       const cuzk_sector **ret_sector, cuzk_pool **ret_pool, cuzk_err *err)
{
    cli_common common;
    CUZK_TRY(cli_parse(argp, argc, argv, o, &common, err));
    CUZK_TRY(cli_require(o->size, "--size", err));
    CUZK_TRY(cli_require(o->out, "--out", err));
    const cuzk_sector *sector = cuzk_sector_named(o->size);
    if (!sector) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--size %s: expected a size such as 2KiB or 32GiB",
                         o->size);
    }
    *ret_sector = sector;
    return cli_pool(ret_pool, &common, err);
}

static cuzk_code make_folder(const char *name, cuzk_err *err)
{
    if (mkdir(name, 0777) != 0 && errno != EEXIST) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: the folder cannot be made: %s", name,
                         strerror(errno));
    }
    return CUZK_OK;
}

/* Ends a file that was written with some outcome. */
static cuzk_code finish(cuzk_file_writer *w, cuzk_code code, cuzk_err *err)
{
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}

static cuzk_code write_c1(const char *out, const cuzk_porep *porep, cuzk_porep_form form,
                          cuzk_err *err)
{
    cuzk_file_writer *w;
    CUZK_TRY(cuzk_file_writer_open(&w, out, err));
    return finish(w, cuzk_porep_write(w, porep, form, err), err);
}

cuzk_code cmd_gen_c1(int argc, char **argv, cuzk_err *err)
{
    const struct argp argp = {
        .options = c1_options,
        .parser = parse,
        .doc = "Makes a PoRep vanilla proof (the output of \"commit phase 1\") that verifies, "
               "without sealing a sector.\v"
               "  cuzk gen-c1 --size 32GiB --wrapper --out c1.json"};
    options o = {0};
    const cuzk_sector *sector;
    cuzk_pool *pool;
    cuzk_porep porep;
    CUZK_TRY(begin(&argp, argc, argv, &o, &sector, &pool, err));
    cuzk_code code = cuzk_porep_generate(&porep, sector, o.seed, pool, err);
    cuzk_pool_free(pool);
    CUZK_TRY(code);
    code = write_c1(o.out, &porep,
                    o.wrapper ? CUZK_POREP_WRAPPER
                    : o.json  ? CUZK_POREP_JSON
                              : CUZK_POREP_BINCODE,
                    err);
    cuzk_porep_clear(&porep);
    return code;
}

static void print_hex(const char *name, const uint8_t bytes[32], const char *end)
{
    char text[65];
    cuzk_hex_format(text, bytes, 32);
    printf("\"%s\":\"%s\"%s", name, text, end);
}

static cuzk_code write_sector(const options *o, const cuzk_post_proof *proof, uint64_t id,
                              cuzk_pool *pool, cuzk_err *err)
{
    char name[4096];
    cuzk_post_sector sector;
    cuzk_file_writer *w;
    snprintf(name, sizeof name, "%s/sector%" PRIu64 ".bincode", o->out, id - 1);
    CUZK_TRY(cuzk_post_generate(&sector, proof, id, o->seed, pool, err));
    cuzk_code code = cuzk_file_writer_open(&w, name, err);
    if (code == CUZK_OK) {
        code = finish(w, cuzk_post_sector_write(w, &sector, proof->sector, err), err);
    }
    cuzk_post_sector_clear(&sector);
    return code;
}

static cuzk_code write_sectors(const options *o, const cuzk_sector *sector, cuzk_pool *pool,
                               cuzk_err *err)
{
    enum { MAX_SECTORS = 100000 };
    bool winning = o->kind && strcmp(o->kind, "winning") == 0;
    char *end = NULL;
    unsigned long n = o->sectors ? strtoul(o->sectors, &end, 10) : 1;
    if (o->kind && !winning && strcmp(o->kind, "window") != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--kind %s: expected window or winning", o->kind);
    }
    if ((end && (*end || end == o->sectors)) || n == 0 || n > MAX_SECTORS || (winning && n > 1)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--sectors %s: expected 1 to %d", o->sectors,
                         winning ? 1 : MAX_SECTORS);
    }
    if (sector->window_sectors == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--size %s: sectors of that size have no PoSt", o->size);
    }
    cuzk_post_proof proof = cuzk_post_proof_of_sector(sector, !winning);
    CUZK_TRY(make_folder(o->out, err));
    for (uint64_t id = 1; id <= n; id++) {
        CUZK_TRY(write_sector(o, &proof, id, pool, err));
    }
    uint8_t randomness[32];
    cuzk_post_generate_randomness(randomness, o->seed);
    printf("{");
    print_hex("randomness", randomness, ",");
    printf("\"sectors\":%lu,\"registered_proof\":%u}\n", n, proof.number);
    return CUZK_OK;
}

cuzk_code cmd_gen_post(int argc, char **argv, cuzk_err *err)
{
    const struct argp argp = {
        .options = post_options,
        .parser = parse,
        .doc = "Makes PoSt vanilla proofs that verify, one file for each sector, and prints the "
               "randomness that they answer as a line of JSON.\v"
               "  cuzk gen-post --size 2KiB --sectors 2 --out window\n"
               "  cuzk gen-post --size 32GiB --kind winning --out winning"};
    options o = {0};
    const cuzk_sector *sector;
    cuzk_pool *pool;
    CUZK_TRY(begin(&argp, argc, argv, &o, &sector, &pool, err));
    cuzk_code code = write_sectors(&o, sector, pool, err);
    cuzk_pool_free(pool);
    return code;
}

static cuzk_code write_partition(const options *o, const cuzk_update_source *source, unsigned k,
                                 cuzk_err *err)
{
    char name[4096];
    cuzk_update_partition partition;
    cuzk_file_writer *w;
    snprintf(name, sizeof name, "%s/partition%u.bincode", o->out, k);
    CUZK_TRY(cuzk_update_generate(&partition, source, k, err));
    cuzk_code code = cuzk_file_writer_open(&w, name, err);
    if (code == CUZK_OK) {
        code = finish(w, cuzk_update_partition_write(w, &partition, err), err);
    }
    cuzk_update_partition_clear(&partition);
    return code;
}

cuzk_code cmd_gen_update(int argc, char **argv, cuzk_err *err)
{
    const struct argp argp = {
        .options = update_options,
        .parser = parse,
        .doc = "Makes the vanilla proofs of a sector update (SnapDeals) that verify, one file for "
               "each partition, and prints its commitments as a line of JSON.\v"
               "  cuzk gen-update --size 32GiB --out update"};
    options o = {0};
    const cuzk_sector *sector;
    cuzk_pool *pool;
    cuzk_update_source *source;
    CUZK_TRY(begin(&argp, argc, argv, &o, &sector, &pool, err));
    cuzk_code code = cuzk_update_source_new(&source, sector, o.seed, pool, err);
    cuzk_pool_free(pool);
    CUZK_TRY(code);
    code = make_folder(o.out, err);
    for (unsigned k = 0; code == CUZK_OK && k < sector->update_partitions; k++) {
        code = write_partition(&o, source, k, err);
    }
    if (code == CUZK_OK) {
        cuzk_node comm_r_old, comm_d_new, comm_r_new;
        cuzk_update_source_public(source, &comm_r_old, &comm_d_new, &comm_r_new);
        printf("{");
        print_hex("comm_r_old", comm_r_old.b, ",");
        print_hex("comm_d_new", comm_d_new.b, ",");
        print_hex("comm_r_new", comm_r_new.b, ",");
        printf("\"partitions\":%u}\n", sector->update_partitions);
    }
    cuzk_update_source_free(source);
    return code;
}
