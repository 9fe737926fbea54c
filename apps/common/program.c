#include "common/program.h"

#include <stdio.h>
#include <string.h>

/* ---- the program's own arguments ---- */

/* Where the command's name stands; the rest of the line is the command's own. */
typedef struct split {
    const program *p;
    int at; /* 0 when there is none */
} split;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    split *s = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = s->p->common_input;
        return 0;
    case ARGP_KEY_ARG:
        s->at = state->next - 1;
        state->next = state->argc;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static cuzk_code run(const program *p, int argc, char **argv, cuzk_err *err)
{
    const struct argp_child children[] = {{p->common, 0, NULL, 0}, {0}};
    const struct argp argp = {
        .parser = parse, .args_doc = "COMMAND [OPTION...]", .doc = p->doc, .children = children};
    split s = {p, 0};
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &s) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the arguments cannot be read");
    }
    if (s.at == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a command is missing: see %s --help", p->name);
    }
    for (size_t i = 0; i < p->n_commands; i++) {
        if (strcmp(argv[s.at], p->commands[i].name) == 0) {
            char name[48];
            snprintf(name, sizeof name, "%s %s", p->name, p->commands[i].name);
            argv[s.at] = name; /* what argp calls the program in the command's help */
            return p->commands[i].run(argc - s.at, argv + s.at, err);
        }
    }
    return CUZK_FAIL(err, CUZK_E_ARG, "\"%s\" is not a command: see %s --help", argv[s.at],
                     p->name);
}

int program_main(const program *p, int argc, char **argv)
{
    cuzk_err err = {0};
    char name[32];
    snprintf(name, sizeof name, "%s", p->name);
    argv[0] = argc > 0 ? name : argv[0]; /* what every message begins with */
    argp_err_exit_status = cuzk_code_exit_status(CUZK_E_ARG);
    cuzk_code code = run(p, argc, argv, &err);
    if (fflush(stdout) != 0 && code == CUZK_OK) {
        code = CUZK_FAIL(&err, CUZK_E_IO, "the output cannot be written");
    }
    if (code != CUZK_OK) {
        fprintf(stderr, "%s: %s\n", p->name, err.msg);
    }
    return cuzk_code_exit_status(code);
}

/* ---- a command's arguments ---- */

/* Hands the two inputs on to the two parsers. */
typedef struct inputs {
    void *own, *common;
} inputs;

static error_t hand_on(int key, char *arg, struct argp_state *state)
{
    const inputs *in = state->input;
    (void)arg;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = in->own;
        state->child_inputs[1] = in->common;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

cuzk_code program_parse(const struct argp *own, void *own_input, const struct argp *common,
                        void *common_input, int argc, char **argv, cuzk_err *err)
{
    const struct argp options = {
        .options = own->options, .parser = own->parser, .children = own->children};
    const struct argp_child children[] = {{&options, 0, NULL, 0}, {common, 0, NULL, 0}, {0}};
    const struct argp whole = {
        .parser = hand_on, .args_doc = own->args_doc, .doc = own->doc, .children = children};
    inputs in = {own_input, common_input};
    if (argp_parse(&whole, argc, argv, 0, NULL, &in) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the arguments cannot be read");
    }
    return CUZK_OK;
}
