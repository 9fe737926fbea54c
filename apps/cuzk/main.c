#include "cli.h"

#include <stdlib.h>

/* Visible, so that the one of libc's argp is this one. */
__attribute__((visibility("default"))) const char *argp_program_version = "cuzk " CUZK_VERSION;

static const struct {
    const char *name;
    cli_run_fn *run;
} commands[] = {
    {"verify", cmd_verify},         {"setup", cmd_setup},     {"prove", cmd_prove},
    {"inspect", cmd_inspect},       {"gen-c1", cmd_gen_c1},   {"gen-post", cmd_gen_post},
    {"gen-update", cmd_gen_update}, {"circuit", cmd_circuit}, {"witness", cmd_witness},
};

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const char doc[] =
    "Groth16 over BLS12-381, in the file formats of bellperson (Filecoin) and snarkjs.\v"
    "Commands:\n"
    "  verify   check proofs against a verifying key\n"
    "  setup    make a proving key for a constraint system\n"
    "  prove    prove that a witness satisfies a constraint system\n"
    "  inspect  say what a file is and what it holds\n"
    "  circuit  make the constraint system of a Filecoin circuit\n"
    "  witness  make and check the witness of a Filecoin circuit\n"
    "  gen-c1, gen-post, gen-update\n"
    "           make Filecoin inputs that verify, for tests and benchmarks\n"
    "\n"
    "`cuzk COMMAND --help' has the options of each. Exit status: 0 done, 1 a proof is invalid, 2 "
    "bad "
    "usage, 3 bad input, 4 failure.";

/* Where the command's name stands; the rest of the line is the command's own. */
typedef struct split {
    int at; /* 0 when there is none */
} split;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    split *s = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &cli_global;
        return 0;
    case ARGP_KEY_ARG:
        s->at = state->next - 1;
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static cuzk_code run(int argc, char **argv, cuzk_err *err)
{
    const struct argp_child children[] = {{&cli_common_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .parser = parse, .args_doc = "COMMAND [OPTION...]", .doc = doc, .children = children};
    split s = {0};
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &s) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the arguments cannot be read");
    }
    if (s.at == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a command is missing: see cuzk --help");
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[s.at], commands[i].name) == 0) {
            char name[32];
            snprintf(name, sizeof name, "cuzk %s", commands[i].name);
            argv[s.at] = name; /* what argp calls the program in the command's help */
            return commands[i].run(argc - s.at, argv + s.at, err);
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "\"%s\" is not a command: see cuzk --help", argv[s.at]);
}

int main(int argc, char **argv)
{
    cuzk_err err = {0};
    static char name[] = "cuzk";
    argv[0] = argc > 0 ? name : argv[0]; /* what every message begins with */
    argp_err_exit_status = cuzk_code_exit_status(CUZK_E_ARG);
    cuzk_code code = run(argc, argv, &err);
    if (fflush(stdout) != 0 && code == CUZK_OK) {
        code = CUZK_FAIL(&err, CUZK_E_IO, "the output cannot be written");
    }
    if (code != CUZK_OK) {
        fprintf(stderr, "cuzk: %s\n", err.msg);
    }
    return cuzk_code_exit_status(code);
}
