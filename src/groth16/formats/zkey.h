#ifndef CUZK_GROTH16_ZKEY_H
#define CUZK_GROTH16_ZKEY_H

#include "groth16/formats/iden3.h"
#include "groth16/groth16.h"

/* What the files zkey*.c share about snarkjs's .zkey format, version 1. */

enum cuzk_zkey_section {
    ZKEY_PROTOCOL = 1,
    ZKEY_HEADER,
    ZKEY_IC,
    ZKEY_COEFFS,
    ZKEY_A,
    ZKEY_B1,
    ZKEY_B2,
    ZKEY_C,
    ZKEY_H,
    ZKEY_HISTORY,
};

enum {
    ZKEY_VERSION = 1,
    ZKEY_GROTH16 = 1, /* protocol; 2 is plonk, 10 fflonk */
    ZKEY_G1_BYTES = 96,
    ZKEY_G2_BYTES = 192,
    ZKEY_COEFF_BYTES = 3 * 4 + 32,
    ZKEY_HEADER_BYTES = 4 + 48 + 4 + 32 + 3 * 4 + 3 * ZKEY_G1_BYTES + 3 * ZKEY_G2_BYTES,
};

/** The sizes in section 2. n_inputs counts ONE, n_vars does too. */
typedef struct cuzk_zkey_sizes {
    uint32_t n_vars, n_inputs;
    unsigned lg_domain;
} cuzk_zkey_sizes;

/**
 * Reads the coefficients of A and B (section 4, `c` at its start), each times R^2: u32 count, then
 * u32 matrix, u32 constraint, u32 signal, 32 bytes. The last n_inputs constraints must be the rows
 * `x_i * 0 = 0`; the others become *ret, which the caller owns. zkey_coeffs.c.
 */
cuzk_code cuzk_zkey_read_coeffs(cuzk_r1cs **ret, cuzk_cursor c, const cuzk_zkey_sizes *sizes,
                                cuzk_err *err);

/** Appends section 4 for a system. */
cuzk_code cuzk_zkey_put_coeffs(cuzk_file_writer *w, const cuzk_r1cs *r, cuzk_err *err);

#endif
