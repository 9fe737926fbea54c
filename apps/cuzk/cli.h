#ifndef APPS_CUZK_CLI_H
#define APPS_CUZK_CLI_H

#include "base/bytes.h"
#include "common/program.h"
#include "groth16/groth16.h"

#include <pthread.h>

program_run_fn cmd_verify, cmd_setup, cmd_prove, cmd_inspect, cmd_gen_c1, cmd_gen_post,
    cmd_gen_update, cmd_circuit, cmd_witness;

/** Options that every command takes, before the command's name or after it. */
typedef struct cli_common {
    const char *threads; /* as given; NULL when it was not */
} cli_common;

/** What was given before the command's name; the default of the commands. */
extern cli_common cli_global;

/** To be a child of each command's argp, with a cli_common as its input. */
extern const struct argp cli_common_argp;

/** Parses a command's arguments; options is the input of parser's argp, common that of
 *  cli_common_argp, its only child. Exits with status 2 after an option that it does not know. */
cuzk_code cli_parse(const struct argp *argp, int argc, char **argv, void *options,
                    cli_common *common, cuzk_err *err);

/** CUZK_E_ARG, naming the option, when value is NULL. */
cuzk_code cli_require(const char *value, const char *option, cuzk_err *err);

/** A pool of --threads, else CUZK_THREADS, else all processors. */
cuzk_code cli_pool(cuzk_pool **ret, const cli_common *common, cuzk_err *err);

bool cli_ends_with(const char *name, const char *suffix);

/** True for text, ASCII throughout, that begins with a JSON object or array. Binary data that
 * begins so by chance has some other byte soon. */
bool cli_looks_like_json(cuzk_span bytes);

/** True when a file looks like JSON, or its name ends in .json, so that its reader says what is
 *  wrong with it. */
cuzk_code cli_is_json(bool *ret, const char *name, cuzk_err *err);

/** True when a file begins with that magic word of four characters. */
cuzk_code cli_has_magic(bool *ret, const char *name, const char *magic, cuzk_err *err);

/** A vk in either format, told apart by content. Every point is checked. */
cuzk_code cli_vk_read(cuzk_vk *ret, const char *name, cuzk_err *err);

/**
 * A progress bar on stderr, when that is a terminal and the work takes over a second; a thread
 * draws it. Between begin and end nothing else may write to the terminal, and the struct stays
 * where it is.
 */
typedef struct cli_bar {
    uint64_t start_ns;
    const char *phase;    /* static */
    uint64_t done, total; /* total is 0 when it is unknown */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running, ended, drawn;
} cli_bar;

/** Begins with a phase of unknown length. */
void cli_bar_begin(cli_bar *bar, const char *phase);
/** What moves the bar on. */
cuzk_progress cli_bar_progress(cli_bar *bar);
/** Removes the bar from the terminal. */
void cli_bar_end(cli_bar *bar);

/** The time of each phase of a proof, to end a line on stdout. */
void cli_say_times(const cuzk_prove_times *t);

/** One line on stdout. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Bytes as "580 KB". */
void cli_format_bytes(char text[32], uint64_t bytes);

#endif
