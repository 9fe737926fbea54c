/* write_circuit ROWS F.r1cs F.wtns: a generated circuit (support/gen_circuit.h) and a witness of
 * it, to feed command lines with. */
#include "groth16/formats/formats.h"
#include "support/gen_circuit.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char *end = NULL;
    uint64_t n_rows = argc == 4 ? strtoull(argv[1], &end, 10) : 0;
    if (argc != 4 || *end != '\0' || n_rows < 16) {
        fprintf(stderr, "usage: write_circuit ROWS F.r1cs F.wtns (ROWS at least 16)\n");
        return 2;
    }
    cuzk_err err = {0};
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = n_rows, .n_inputs = 6, .seed = n_rows});
    cuzk_code code = cuzk_r1cs_write(c.r1cs, argv[2], &err);
    if (code == CUZK_OK) {
        code = cuzk_wtns_write(c.z, (size_t)c.r1cs->n_inputs + c.r1cs->n_aux, argv[3], &err);
    }
    if (code != CUZK_OK) {
        fprintf(stderr, "write_circuit: %s\n", err.msg);
    }
    gen_circuit_clear(&c);
    return cuzk_code_exit_status(code);
}
