#ifndef CUZK_R1CS_R1CS_H
#define CUZK_R1CS_R1CS_H

#include "base/threads.h"
#include "math/field/fr.h"

/*
 * A rank-1 constraint system in memory: rows <A_j, z> <B_j, z> = <C_j, z> over the assignment
 * z = (inputs, aux). Variable v < n_inputs is an input, input 0 is the constant ONE; the rest are
 * auxiliary. Rows are those of the circuit: the `x_i * 0 = 0` rows that a Groth16 key adds for each
 * input are not stored here (cuzk_r1cs_rows_with_inputs counts them).
 */

/** One sparse matrix, rows of (variable, coefficient index) terms. Owned by its system. */
typedef struct cuzk_csr {
    uint64_t *row;   /* n_rows + 1 offsets into var and coeff */
    uint32_t *var;   /* variable of each term, < n_inputs + n_aux, increasing in a row */
    uint32_t *coeff; /* index into the system's dictionary; never one of zero value */
} cuzk_csr;

/* Where the two commonest coefficients stand in every dictionary, whether they occur or not. */
enum {
    CUZK_R1CS_COEFF_ONE,
    CUZK_R1CS_COEFF_MINUS_ONE,
};

typedef struct cuzk_r1cs {
    uint32_t n_inputs; /* ONE included, >= 1 */
    uint32_t n_aux;
    uint64_t n_rows;
    fr *dictionary; /* n_coeffs distinct coefficients, Montgomery form; 1 and -1 come first */
    uint32_t n_coeffs;
    cuzk_csr a, b, c;
    bool has_c; /* false for a system taken from a zkey, which keeps no C: c is empty there */
} cuzk_r1cs;

/** Rows of the Groth16 system: n_rows + n_inputs. */
static inline uint64_t cuzk_r1cs_rows_with_inputs(const cuzk_r1cs *r)
{
    return r->n_rows + r->n_inputs;
}

/** Frees what the system owns; accepts NULL and half-built systems. */
void cuzk_r1cs_free(cuzk_r1cs *r);

/**
 * Collects rows one term at a time; the only way to make a system. After a call that failed for
 * want of memory the builder can only be freed. Not for use by several threads at once.
 */
typedef struct cuzk_r1cs_builder cuzk_r1cs_builder;

/** A system over n_inputs >= 1 inputs (ONE included) and n_aux other variables, fewer than 2^32 in
 *  all. The caller owns *ret. */
cuzk_code cuzk_r1cs_builder_new(cuzk_r1cs_builder **ret, uint32_t n_inputs, uint32_t n_aux,
                                cuzk_err *err);
void cuzk_r1cs_builder_free(cuzk_r1cs_builder *b);

typedef enum cuzk_matrix { CUZK_MATRIX_A, CUZK_MATRIX_B, CUZK_MATRIX_C } cuzk_matrix;

/** Adds coeff * var to one matrix of the open row; terms of the same variable are summed, and
 *  dropped when the sum is zero. CUZK_E_ARG when var is out of range. */
cuzk_code cuzk_r1cs_builder_term(cuzk_r1cs_builder *b, cuzk_matrix m, uint32_t var, const fr *coeff,
                                 cuzk_err *err);

/** Closes the open row. */
cuzk_code cuzk_r1cs_builder_end_row(cuzk_r1cs_builder *b, cuzk_err *err);

/** Ends the system; the builder can only be freed afterwards and the caller owns *ret. CUZK_E_ARG
 *  when a row is open. */
cuzk_code cuzk_r1cs_builder_finish(cuzk_r1cs_builder *b, cuzk_r1cs **ret, cuzk_err *err);

/** ret[j] = <M_j, z> for j < n_rows, Montgomery form; z: n_inputs + n_aux elements. */
void cuzk_r1cs_eval(const cuzk_r1cs *r, cuzk_matrix m, const fr *z, fr *ret, cuzk_pool *pool);

/** CUZK_OK when z satisfies every row and z[0] is one, else CUZK_E_INPUT naming the first row that
 *  fails. Needs has_c. ret_a and ret_b receive A z and B z on the way, n_rows elements each, or are
 *  both NULL. */
cuzk_code cuzk_r1cs_check(const cuzk_r1cs *r, const fr *z, fr *ret_a, fr *ret_b, cuzk_pool *pool,
                          cuzk_err *err);

/** Sets bit v of bitmap (64-bit words, zeroed by the caller) for each variable v that occurs in m.
 *  Only rows of the circuit count, not those that a key adds for the inputs. */
void cuzk_r1cs_density(const cuzk_r1cs *r, cuzk_matrix m, uint64_t *bitmap);

#endif
