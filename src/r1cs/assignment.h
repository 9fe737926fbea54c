#ifndef CUZK_R1CS_ASSIGNMENT_H
#define CUZK_R1CS_ASSIGNMENT_H

#include "r1cs/packed.h"

/* What is made of a packed assignment as a whole. */

/** All values as canonical integers, inputs first: n_inputs + cuzk_shape_aux(s) of them. */
void cuzk_packed_values(const cuzk_packed *p, const cuzk_shape *s, fr_repr *ret, cuzk_pool *pool);

/** CUZK_OK when the assignment satisfies every row, else CUZK_E_INPUT naming the first row that
 *  fails and its gadget. Needs memory for about 2^20 rows, 96 bytes each. */
cuzk_code cuzk_packed_check(const cuzk_packed *p, const cuzk_shape *s, cuzk_pool *pool,
                            cuzk_err *err);

/** CUZK_E_INPUT: the witness fails in row `row` of s, with the gadget's name. */
cuzk_code cuzk_packed_row_fails(const cuzk_shape *s, uint32_t row, cuzk_err *err);

/** What a digest is over. */
typedef enum cuzk_packed_part {
    CUZK_PART_INPUTS, /* ONE included */
    CUZK_PART_AUX,
    CUZK_PART_A, /* the value of each row in A */
    CUZK_PART_B,
    CUZK_PART_C,
    CUZK_PACKED_PARTS,
} cuzk_packed_part;

/** SHA-256 over values of 32 bytes, little-endian, by which two implementations compare their
 *  witnesses. */
cuzk_code cuzk_packed_digest(const cuzk_packed *p, const cuzk_shape *s, cuzk_packed_part part,
                             uint8_t ret[32], cuzk_pool *pool, cuzk_err *err);

#endif
