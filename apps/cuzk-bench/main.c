#include "bench.h"

#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) const char *argp_program_version =
    "cuzk-bench " CUZK_VERSION;

static const struct {
    const char *name;
    bench_run_fn *run;
    const char *what;
} commands[] = {
    {"single", bench_single, "prove once"},
    {"batch", bench_batch, "prove several times and sum up"},
    {"stress", bench_stress, "mixed kinds at given rates"},
    {"status", bench_status, "what the daemon does"},
    {"metrics", bench_metrics, "the daemon's metrics"},
    {"jobs", bench_jobs, "the jobs that the daemon knows"},
    {"cancel", bench_cancel, "cancel a job"},
    {"preload", bench_preload, "load a circuit and its key"},
    {"evict", bench_evict, "free a circuit and its key"},
    {"waterfall", bench_waterfall, "where the time went: text, SVG, HTML or a trace"},
    {"compare", bench_compare, "two runs beside each other, or a sweep over settings"},
    {"slotted-bench", bench_slotted, "a sweep over slot_size"},
    {"synth-only", bench_synth, "the host's part of a proof, without a daemon"},
    {"pce-bench", bench_pce, "compressed constraints: size, load, evaluation, without a daemon"},
};

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static char *help(int key, const char *text, void *input)
{
    (void)input;
    char *all = NULL;
    size_t n = 0;
    FILE *out = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&all, &n) : NULL;
    if (!out) {
        return (char *)(uintptr_t)text;
    }
    fputs("Commands:\n", out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(out, "  %-14s %s\n", commands[i].name, commands[i].what);
    }
    fputs("\n`cuzk-bench COMMAND --help' has the options of each.", out);
    return fclose(out) == 0 ? all : (char *)(uintptr_t)text;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    int *at = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &bench_global;
        return 0;
    case ARGP_KEY_ARG:
        *at = state->next - 1;
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static cuzk_code run(int argc, char **argv, cuzk_err *err)
{
    const struct argp_child children[] = {{&bench_target_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {.parser = parse,
                              .args_doc = "COMMAND [OPTION...]",
                              .doc = "Measures a cuzk daemon, and looks at what it measured.\v",
                              .children = children,
                              .help_filter = help};
    int at = 0;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &at) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the arguments cannot be read");
    }
    if (at == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a command is missing: see cuzk-bench --help");
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[at], commands[i].name) == 0) {
            char name[48];
            snprintf(name, sizeof name, "cuzk-bench %s", commands[i].name);
            argv[at] = name; /* what argp calls the program in the command's help */
            return commands[i].run(argc - at, argv + at, err);
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "\"%s\" is not a command: see cuzk-bench --help", argv[at]);
}

int main(int argc, char **argv)
{
    cuzk_err err = {0};
    static char name[] = "cuzk-bench";
    argv[0] = argc > 0 ? name : argv[0]; /* what every message begins with */
    argp_err_exit_status = cuzk_code_exit_status(CUZK_E_ARG);
    cuzk_code code = run(argc, argv, &err);
    if (fflush(stdout) != 0 && code == CUZK_OK) {
        code = CUZK_FAIL(&err, CUZK_E_IO, "the output cannot be written");
    }
    if (code != CUZK_OK) {
        fprintf(stderr, "cuzk-bench: %s\n", err.msg);
    }
    return cuzk_code_exit_status(code);
}
