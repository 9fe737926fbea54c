#ifndef TESTS_GEN_CIRCUIT_H
#define TESTS_GEN_CIRCUIT_H

#include "r1cs/r1cs.h"

/** What a generated circuit looks like; a zero field takes the value in brackets. */
typedef struct gen_wish {
    uint64_t n_rows;     /* constraints, at least n_inputs + 8 */
    uint32_t n_inputs;   /* inputs with ONE [3] */
    uint32_t bit_permil; /* share of the aux variables that are boolean, in 1/1000 [970] */
    uint64_t seed;       /* of the choices and of the witness */
} gen_wish;

/** A circuit and a witness that satisfies it. Owns both. */
typedef struct gen_circuit {
    cuzk_r1cs *r1cs;
    fr_repr *z; /* n_inputs + n_aux canonical integers */
} gen_circuit;

/**
 * Makes a circuit of exactly n_rows constraints after the habits of hash circuits: boolean
 * variables with their booleanity rows, xor and and of earlier bits, sums of 32 bits by powers of
 * two, multiplications of full-size values, and one row for each public input. Each aux variable is
 * in some row. The same wish gives the same circuit. Fails the test when there is no memory.
 */
gen_circuit gen_circuit_new(const gen_wish *wish);

void gen_circuit_clear(gen_circuit *c);

#endif
