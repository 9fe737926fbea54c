#include "cli.h"

/* Visible, so that the one of libc's argp is this one. */
__attribute__((visibility("default"))) const char *argp_program_version = "cuzk " CUZK_VERSION;

static const program_command commands[] = {
    {"verify", cmd_verify},         {"setup", cmd_setup},     {"prove", cmd_prove},
    {"inspect", cmd_inspect},       {"gen-c1", cmd_gen_c1},   {"gen-post", cmd_gen_post},
    {"gen-update", cmd_gen_update}, {"circuit", cmd_circuit}, {"witness", cmd_witness},
};

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

int main(int argc, char **argv)
{
    const program p = {"cuzk",      doc,      &cli_common_argp,
                       &cli_global, commands, sizeof commands / sizeof *commands};
    return program_main(&p, argc, argv);
}
