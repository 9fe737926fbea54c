#ifndef APPS_COMMON_PROGRAM_H
#define APPS_COMMON_PROGRAM_H

#include "cuzk/err.h"

#include <argp.h>

/*
 * A program of several commands, `PROGRAM [OPTION...] COMMAND [OPTION...]`, over argp. Options that
 * all commands have may stand before the command's name or after it.
 */

/** A command. argv[0] is "PROGRAM NAME"; a failure is printed by program_main, which exits with the
 *  code's status. */
typedef cuzk_code program_run_fn(int argc, char **argv, cuzk_err *err);

typedef struct program_command {
    const char *name;
    program_run_fn *run;
} program_command;

/** Constant, but for what `common` writes to before the command runs. */
typedef struct program {
    const char *name;
    const char *doc; /* as argp's: what --help says before and, behind \v, after the options */
    const struct argp *common; /* the options that all commands have */
    void *common_input;        /* where those before the command's name go */
    const program_command *commands;
    size_t n_commands;
} program;

/** Runs the command that the arguments name. Returns the exit status; usage errors exit with 2. */
int program_main(const program *p, int argc, char **argv);

/**
 * Parses a command's arguments. own: its options, parser, children, doc and arguments' doc, with
 * own_input as input; common and common_input as of the program, whose values the caller has copied
 * as defaults. Exits with status 2 after an option that neither knows.
 */
cuzk_code program_parse(const struct argp *own, void *own_input, const struct argp *common,
                        void *common_input, int argc, char **argv, cuzk_err *err);

#endif
