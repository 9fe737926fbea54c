#ifndef TESTS_SMALL_CIRCUIT_H
#define TESTS_SMALL_CIRCUIT_H

#include "r1cs/r1cs.h"

/** A circuit written out by hand, with an assignment that satisfies it. Owns r1cs and z. */
typedef struct small_circuit {
    const char *name;
    cuzk_r1cs *r1cs;
    fr_repr *z;
    size_t n_z;
} small_circuit;

/** Shapes at the edges of the format. */
typedef enum small_shape {
    SMALL_ONE_ROW,      /* x y = out, 2 aux, rows + inputs = 3 */
    SMALL_NO_AUX,       /* public values only; rows + inputs = 4 exactly */
    SMALL_NO_B,         /* (x - y) 0 = 0: the b query is empty */
    SMALL_NO_ROWS,      /* no row at all: a domain of one point */
    SMALL_EXACT_POWER,  /* a chain of squares; rows + inputs = 16 exactly */
    SMALL_ABOVE_POWER,  /* the same with one row more: 17 */
    SMALL_ZERO_WITNESS, /* all values but ONE are zero */
    SMALL_PUBLIC_IN_B,  /* inputs occur in B and C */
    SMALL_SHAPES
} small_shape;

/** Fails the test when there is no memory. */
small_circuit small_circuit_new(small_shape shape);
void small_circuit_clear(small_circuit *c);

/** A system of one row, x x = out, and an aux variable that is in no row. */
small_circuit small_circuit_with_a_loose_variable(void);

#endif
