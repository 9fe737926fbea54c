#include "cli.h"

#include "base/system.h"
#include "filecoin/circuits/catalog.h"
#include "r1cs/digest.h"
#include "r1cs/shape_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_HASH = 0x2000, KEY_STATS, KEY_SAVE, KEY_LIST };

typedef struct options {
    const char *name, *save;
    bool hash, stats, list;
} options;

static const struct argp_option option_list[] = {
    {"hash", KEY_HASH, NULL, 0, "Print sizes and the digest of the matrices as one JSON line", 0},
    {"stats", KEY_STATS, NULL, 0, "Print what the compressed form takes as one JSON line", 0},
    {"save", KEY_SAVE, "FILE", 0, "Write the compressed constraint system", 0},
    {"list", KEY_LIST, NULL, 0, "Print the names of all circuits", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_HASH:
        o->hash = true;
        return 0;
    case KEY_STATS:
        o->stats = true;
        return 0;
    case KEY_SAVE:
        o->save = arg;
        return 0;
    case KEY_LIST:
        o->list = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->name) {
            argp_error(state, "one circuit at a time: %s and %s", o->name, arg);
        }
        o->name = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = option_list,
    .parser = parse,
    .args_doc = "NAME",
    .doc =
        "Makes the constraint system of a Filecoin circuit.\v"
        "NAME is porep-, winning-, window-, update- or update-poseidon- and a sector size, as in "
        "porep-32GiB; porep-SIZE-1challenge and window-SIZE-2sectors are cut short for tests.",
};

static void list(void)
{
    char name[CUZK_SHAPE_NAME_MAX];
    for (unsigned i = 0; cuzk_circuit_at(i, name); i++) {
        cli_say("%s", name);
    }
}

static cuzk_code say_hash(const cuzk_shape *s, const char *name, cuzk_err *err)
{
    cuzk_shape_counts c;
    uint8_t digest[32];
    char text[65];
    CUZK_TRY(cuzk_shape_count(s, &c, err));
    CUZK_TRY(cuzk_shape_digest(s, digest, err));
    cuzk_hex_format(text, digest, sizeof digest);
    cli_say("{\"name\":\"%s\",\"inputs\":%u,\"aux\":%u,\"constraints\":%u,\"a_aux\":%llu,"
            "\"b_in\":%llu,\"b_aux\":%llu,\"nnz\":[%llu,%llu,%llu],\"cs_hash\":\"%s\"}",
            name, s->n_inputs, cuzk_shape_aux(s), cuzk_shape_rows(s), (unsigned long long)c.a_aux,
            (unsigned long long)c.b_input, (unsigned long long)c.b_aux,
            (unsigned long long)c.nnz[0], (unsigned long long)c.nnz[1],
            (unsigned long long)c.nnz[2], text);
    return CUZK_OK;
}

/* Time to load the shape from a file, which is a temporary one when it was not saved. */
static cuzk_code time_load(double *ret_ms, const cuzk_shape *s, const char *saved, cuzk_err *err)
{
    const char *folder = getenv("TMPDIR");
    char temporary[4096];
    const char *file = saved;
    if (!saved) {
        snprintf(temporary, sizeof temporary, "%s/cuzk-circuit-XXXXXX", folder ? folder : P_tmpdir);
        int fd = mkstemp(temporary);
        if (fd < 0) {
            return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot create a temporary file: %s", temporary,
                             strerror(errno));
        }
        close(fd);
        file = temporary;
    }
    cuzk_code code = saved ? CUZK_OK : cuzk_shape_save(s, file, err);
    uint64_t start = cuzk_clock_ns();
    cuzk_shape *loaded = NULL;
    if (code == CUZK_OK) {
        code = cuzk_shape_load(&loaded, file, s->name, err);
    }
    *ret_ms = (double)(cuzk_clock_ns() - start) / 1e6;
    cuzk_shape_free(loaded);
    if (!saved) {
        unlink(file);
    }
    return code;
}

static cuzk_code say_stats(const cuzk_shape *s, const char *name, const char *saved,
                           double extract_ms, cuzk_err *err)
{
    uint64_t peak = cuzk_peak_rss_bytes();
    cuzk_shape_counts c;
    double load_ms;
    CUZK_TRY(cuzk_shape_count(s, &c, err));
    CUZK_TRY(time_load(&load_ms, s, saved, err));
    cli_say("{\"name\":\"%s\",\"rows\":%u,\"nnz\":%llu,\"templates\":%u,\"instances\":%u,"
            "\"bytes\":%zu,\"extract_ms\":%.1f,\"load_ms\":%.1f,\"peak_rss_bytes\":%llu}",
            name, cuzk_shape_rows(s), (unsigned long long)(c.nnz[0] + c.nnz[1] + c.nnz[2]),
            s->n_templates, s->n_instances, s->image.n, extract_ms, load_ms,
            (unsigned long long)peak);
    return CUZK_OK;
}

static cuzk_code run(const options *o, const cuzk_shape *s, double extract_ms, cuzk_err *err)
{
    if (o->save) {
        CUZK_TRY(cuzk_shape_save(s, o->save, err));
    }
    if (o->hash) {
        CUZK_TRY(say_hash(s, o->name, err));
    }
    if (o->stats || (!o->hash && !o->save)) {
        CUZK_TRY(say_stats(s, o->name, o->save, extract_ms, err));
    }
    return CUZK_OK;
}

cuzk_code cmd_circuit(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    cli_common common = cli_global;
    CUZK_TRY(cli_parse(&argp, argc, argv, &o, &common, err));
    if (o.list) {
        list();
        return CUZK_OK;
    }
    CUZK_TRY(cli_require(o.name, "NAME", err));
    cuzk_circuit_id id;
    CUZK_TRY(cuzk_circuit_named(&id, o.name, err));
    uint64_t start = cuzk_clock_ns();
    cuzk_shape *s = NULL;
    CUZK_TRY(cuzk_circuit_shape(&s, &id, err));
    double extract_ms = (double)(cuzk_clock_ns() - start) / 1e6;
    cuzk_code code = run(&o, s, extract_ms, err);
    cuzk_shape_free(s);
    return code;
}
