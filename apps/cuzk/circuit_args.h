#ifndef APPS_CUZK_CIRCUIT_ARGS_H
#define APPS_CUZK_CIRCUIT_ARGS_H

#include "cli.h"

#include "filecoin/statement.h"

/*
 * What the commands have in common that prove and verify Filecoin's statements: options, files by
 * their names, the kept compressed circuits.
 */

/** What was given, as text; NULL or 0 when it was not. */
typedef struct cli_circuit_args {
    const char *circuit, *partition, *randomness, *number;
    const char *comm_r_old, *comm_d_new, *comm_r_new;
    char **inputs; /* owned, and the names as well */
    size_t n_inputs;
    bool no_memory;
} cli_circuit_args;

enum {
    CLI_KEY_CIRCUIT = 0x3000,
    CLI_KEY_INPUT,
    CLI_KEY_PARTITION,
    CLI_KEY_RANDOMNESS,
    CLI_KEY_NUMBER,
    CLI_KEY_COMM_R_OLD,
    CLI_KEY_COMM_D_NEW,
    CLI_KEY_COMM_R_NEW,
};

/** Rows of an argp table. */
#define CLI_CIRCUIT_OPTION                                                                         \
    {                                                                                              \
        "circuit", CLI_KEY_CIRCUIT, "NAME", 0,                                                     \
            "A Filecoin circuit such as porep-32GiB; `cuzk circuit --list' names all", 10          \
    }
#define CLI_STATEMENT_OPTIONS                                                                      \
    {"input",                                                                                      \
     CLI_KEY_INPUT,                                                                                \
     "FILE",                                                                                       \
     0,                                                                                            \
     "Vanilla proofs: what commit phase 1 puts out, or a file for each sector of a PoSt or each "  \
     "partition of an update, in order. A folder stands for its files in the order of their "      \
     "names, numbers by value",                                                                    \
     10},                                                                                          \
        {"partition", CLI_KEY_PARTITION, "K", 0, "Only partition K, counted from 0", 10},          \
        {"randomness", CLI_KEY_RANDOMNESS, "HEX", 0, "What a PoSt answers, 32 bytes", 10},         \
        {"registered-proof",                                                                       \
         CLI_KEY_NUMBER,                                                                           \
         "N",                                                                                      \
         0,                                                                                        \
         "The number of the registered proof, when it is not the newest that the input allows",    \
         10},                                                                                      \
        {"comm-r-old",                                                                             \
         CLI_KEY_COMM_R_OLD,                                                                       \
         "HEX",                                                                                    \
         0,                                                                                        \
         "Commitments of an update; they follow from its proof and must agree when given",         \
         10},                                                                                      \
        {"comm-d-new", CLI_KEY_COMM_D_NEW, "HEX", 0, NULL, 10},                                    \
    {                                                                                              \
        "comm-r-new", CLI_KEY_COMM_R_NEW, "HEX", 0, NULL, 10                                       \
    }

/** Takes one of these options; false when key is another's. */
bool cli_circuit_parse(cli_circuit_args *a, int key, const char *arg);

void cli_circuit_args_clear(cli_circuit_args *a);

/** What the options of a statement mean. Owns all. */
typedef struct cli_statement {
    cuzk_circuit_id id;
    cuzk_statement *statement;
    unsigned first, end; /* partitions asked for */
} cli_statement;

/** Reads the vanilla proofs; args must live as long as *ret. */
cuzk_code cli_statement_open(cli_statement *ret, cli_circuit_args *args, cuzk_err *err);

void cli_statement_close(cli_statement *s);

/** Compressed form of a circuit: kept in $CUZK_CACHE, else in ~/.cache/cuzk, made when it is not
 *  there. The caller owns *ret. */
cuzk_code cli_circuit_shape(cuzk_shape **ret, const cuzk_circuit_id *id, cuzk_err *err);

enum { CLI_PATH_MAX = 4096 };

/** Name of a circuit's parameter file (suffix ".params" or ".vk") as the reference looks for it, in
 *  `place` when that is a folder or ends in a slash, else place itself. */
cuzk_code cli_params_path(char ret[CLI_PATH_MAX], const char *place, const cuzk_circuit_id *id,
                          const char *suffix, cuzk_err *err);

bool cli_is_folder(const char *name);

/** What cmd_prove was told about a circuit. */
typedef struct cli_prove_circuit {
    cli_circuit_args *args;
    const char *params, *proof, *public;
    const fr *r, *s; /* both or none */
    bool verbose;
} cli_prove_circuit;

/** Proves all partitions of a statement and writes the proofs one after the other. */
cuzk_code cli_circuit_prove(const cli_prove_circuit *c, cuzk_pool *pool, cuzk_err *err);

#endif
