#ifndef TESTS_WITNESS_H
#define TESTS_WITNESS_H

#include "filecoin/circuits/circuit_witness.h"

/** Digests of a witness from the reference: SHA-256 over values of 32 bytes, of inputs, aux, and
 * the rows' values in A, B, C. NULL: not known. */
typedef struct witness_row {
    const char *circuit;
    const char *files[2];
    const char *inputs, *aux;
    const char *rows[3];
} witness_row;

/** Makes a row's circuit and runs the first stage for its vanilla proof: the caller owns both.
 *  Returns the stage's CPU time in ms without the reading; ends the test as skipped when a file is
 *  not here. */
double test_witness_ports(cuzk_ports *ret, cuzk_shape **ret_shape, const witness_row *row);

/** Makes the witness of a vanilla proof in both stages and compares its digests; ends the test as
 *  skipped when a file is not here. Prints the time of both stages. */
void test_witness_row(const witness_row *row);

#endif
