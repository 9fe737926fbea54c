#ifndef CUZK_R1CS_SHAPE_CSR_H
#define CUZK_R1CS_SHAPE_CSR_H

#include "r1cs/r1cs.h"
#include "r1cs/template.h"

/** The same system as plain matrices, for circuits small enough: about 8 bytes a term and 24 a row.
 *  Aux variable j becomes variable n_inputs + j. The caller owns *ret. */
cuzk_code cuzk_shape_to_r1cs(cuzk_r1cs **ret, const cuzk_shape *s, cuzk_err *err);

#endif
