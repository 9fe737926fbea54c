#ifndef TESTS_CIRCUITS_H
#define TESTS_CIRCUITS_H

#include "r1cs/template.h"
#include "support/circuit_table.h"

/** Fails the test unless the shape's digest is `want`, 64 hexadecimal digits. */
void test_circuit_digest(const cuzk_shape *s, const char *want);

/** Makes the circuit of a row and compares every number that the row has, and with `digest` the
 *  digest. */
void test_circuit_row(const circuit_row *row, bool digest);

#endif
