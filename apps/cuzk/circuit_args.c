#include "circuit_args.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static void add_input(cli_circuit_args *a, const char *name)
{
    char **grown = realloc(a->inputs, (a->n_inputs + 1) * sizeof *grown);
    char *copy = strdup(name);
    a->inputs = grown ? grown : a->inputs;
    if (!grown || !copy) {
        free(copy);
        a->no_memory = true;
        return;
    }
    a->inputs[a->n_inputs++] = copy;
}

bool cli_circuit_parse(cli_circuit_args *a, int key, const char *arg)
{
    switch (key) {
    case CLI_KEY_CIRCUIT:
        a->circuit = arg;
        return true;
    case CLI_KEY_INPUT:
        add_input(a, arg);
        return true;
    case CLI_KEY_PARTITION:
        a->partition = arg;
        return true;
    case CLI_KEY_RANDOMNESS:
        a->randomness = arg;
        return true;
    case CLI_KEY_NUMBER:
        a->number = arg;
        return true;
    case CLI_KEY_COMM_R_OLD:
        a->comm_r_old = arg;
        return true;
    case CLI_KEY_COMM_D_NEW:
        a->comm_d_new = arg;
        return true;
    case CLI_KEY_COMM_R_NEW:
        a->comm_r_new = arg;
        return true;
    default:
        return false;
    }
}

void cli_circuit_args_clear(cli_circuit_args *a)
{
    for (size_t i = 0; i < a->n_inputs; i++) {
        free(a->inputs[i]);
    }
    free(a->inputs);
    *a = (cli_circuit_args){0};
}

bool cli_is_folder(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- files of a statement ---- */

static int is_visible(const struct dirent *e) { return e->d_name[0] != '.'; }

static cuzk_code add_folder(cli_circuit_args *a, const char *name, cuzk_err *err)
{
    struct dirent **entries;
    int n = scandir(name, &entries, is_visible, versionsort);
    if (n < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot list the folder: %s", name, strerror(errno));
    }
    for (int i = 0; i < n; i++) {
        char path[CLI_PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", name, entries[i]->d_name);
        if (!cli_is_folder(path)) {
            add_input(a, path);
        }
        free(entries[i]);
    }
    free(entries);
    return CUZK_OK;
}

/* Puts the files of folders in the place of the folders. */
static cuzk_code open_folders(cli_circuit_args *a, cuzk_err *err)
{
    char **given = a->inputs;
    size_t n = a->n_inputs;
    cuzk_code code = CUZK_OK;
    a->inputs = NULL;
    a->n_inputs = 0;
    for (size_t i = 0; i < n && code == CUZK_OK; i++) {
        if (cli_is_folder(given[i])) {
            code = add_folder(a, given[i], err);
        } else {
            add_input(a, given[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        free(given[i]);
    }
    free(given);
    CUZK_TRY(code);
    return a->no_memory ? CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the names of inputs")
                        : CUZK_OK;
}

static cuzk_code read_number(uint64_t *ret, const char *option, const char *text, cuzk_err *err)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: expected a number, found \"%s\"", option, text);
    }
    *ret = v;
    return CUZK_OK;
}

static cuzk_code read_hex(uint8_t ret[32], const char *option, const char *text, cuzk_err *err)
{
    return cuzk_hex_parse(text, ret, 32)
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_ARG, "%s wants 64 hexadecimal digits", option);
}

/* The claims, and the bytes that they point to. */
typedef struct claims {
    cuzk_claims c;
    uint8_t randomness[32];
    cuzk_node comm_r_old, comm_d_new, comm_r_new;
} claims;

static cuzk_code read_claims(claims *ret, const cli_circuit_args *a, cuzk_err *err)
{
    *ret = (claims){0};
    if (a->number) {
        CUZK_TRY(read_number(&ret->c.number, "--registered-proof", a->number, err));
        ret->c.has_number = true;
    }
    if (a->randomness) {
        CUZK_TRY(read_hex(ret->randomness, "--randomness", a->randomness, err));
        ret->c.randomness = ret->randomness;
    }
    if (a->comm_r_old) {
        CUZK_TRY(read_hex(ret->comm_r_old.b, "--comm-r-old", a->comm_r_old, err));
        ret->c.comm_r_old = &ret->comm_r_old;
    }
    if (a->comm_d_new) {
        CUZK_TRY(read_hex(ret->comm_d_new.b, "--comm-d-new", a->comm_d_new, err));
        ret->c.comm_d_new = &ret->comm_d_new;
    }
    if (a->comm_r_new) {
        CUZK_TRY(read_hex(ret->comm_r_new.b, "--comm-r-new", a->comm_r_new, err));
        ret->c.comm_r_new = &ret->comm_r_new;
    }
    return CUZK_OK;
}

static cuzk_code choose_partitions(cli_statement *s, const char *partition, cuzk_err *err)
{
    s->first = 0;
    s->end = cuzk_statement_partitions(s->statement);
    if (!partition) {
        return cuzk_statement_is_whole(s->statement)
                   ? CUZK_OK
                   : CUZK_FAIL(err, CUZK_E_ARG,
                               "there is one file for the %u partitions of an update: give all, or "
                               "--partition with its number",
                               s->end);
    }
    uint64_t k;
    CUZK_TRY(read_number(&k, "--partition", partition, err));
    if (k >= s->end) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--partition %s: the proof has %u partition%s", partition,
                         s->end, s->end == 1 ? "" : "s");
    }
    s->first = (unsigned)k;
    s->end = s->first + 1;
    return CUZK_OK;
}

cuzk_code cli_statement_open(cli_statement *ret, cli_circuit_args *args, cuzk_err *err)
{
    claims c;
    cli_statement s = {0};
    CUZK_TRY(cli_require(args->circuit, "--circuit", err));
    CUZK_TRY(cuzk_circuit_named(&s.id, args->circuit, err));
    CUZK_TRY(cli_require(args->n_inputs > 0 ? args->inputs[0] : NULL, "--input", err));
    CUZK_TRY(read_claims(&c, args, err));
    CUZK_TRY(open_folders(args, err));
    CUZK_TRY(cuzk_statement_read(&s.statement, &s.id, (const char *const *)args->inputs,
                                 args->n_inputs, &c.c, err));
    cuzk_code code = choose_partitions(&s, args->partition, err);
    if (code != CUZK_OK) {
        cli_statement_close(&s);
        return code;
    }
    *ret = s;
    return CUZK_OK;
}

void cli_statement_close(cli_statement *s)
{
    cuzk_statement_free(s->statement);
    *s = (cli_statement){0};
}

/* ---- files of a circuit ---- */

static bool cache_folder(char ret[CLI_PATH_MAX])
{
    const char *given = getenv("CUZK_CACHE"), *home = getenv("HOME");
    int n = 0;
    if (given && *given) {
        n = snprintf(ret, CLI_PATH_MAX, "%s", given);
    } else if (home && *home) {
        n = snprintf(ret, CLI_PATH_MAX, "%s/.cache/cuzk", home);
    }
    return n > 0 && n < CLI_PATH_MAX;
}

cuzk_code cli_circuit_shape(cuzk_shape **ret, const cuzk_circuit_id *id, cuzk_err *err)
{
    char folder[CLI_PATH_MAX], file[2 * CLI_PATH_MAX], name[CUZK_SHAPE_NAME_MAX];
    cuzk_circuit_name(name, id);
    if (cache_folder(folder)) {
        cuzk_make_folder(folder, NULL); /* if that fails, so does what follows */
        snprintf(file, sizeof file, "%s/%s.circuit", folder, name);
        cuzk_code code = cuzk_circuit_shape_cached(ret, id, file, NULL, err);
        if (code != CUZK_E_IO) {
            return code;
        }
    }
    return cuzk_circuit_shape(ret, id, err);
}

cuzk_code cli_params_path(char ret[CLI_PATH_MAX], const char *place, const cuzk_circuit_id *id,
                          const char *suffix, cuzk_err *err)
{
    char stem[CUZK_PARAM_NAME_MAX];
    if (id->cut) { /* the reference knows no such circuit */
        cuzk_circuit_name(stem, id);
    } else {
        cuzk_param_stem(stem, id->kind, id->sector);
    }
    int n = cli_is_folder(place) || cli_ends_with(place, "/")
                ? snprintf(ret, CLI_PATH_MAX, "%s/%s%s", place, stem, suffix)
                : snprintf(ret, CLI_PATH_MAX, "%s", place);
    return n < CLI_PATH_MAX ? CUZK_OK : CUZK_FAIL(err, CUZK_E_ARG, "%s: too long a name", place);
}
