#ifndef CUZK_GROTH16_QAP_H
#define CUZK_GROTH16_QAP_H

#include "groth16/groth16.h"

/**
 * The polynomials A_v, B_v, C_v of a system's variables, evaluated at the secret point tau. Each
 * interpolates column v of its matrix over the domain: row j is the value at w^j. The rows that
 * Groth16 adds for the inputs are part of A. Owns its arrays, which are secret: tau follows from
 * them.
 */
typedef struct cuzk_qap {
    size_t n_vars;
    fr *a, *b, *c; /* n_vars elements each */
} cuzk_qap;

/**
 * Evaluates the polynomials by the Lagrange basis at tau: one multiplication for each term of the
 * matrices, no transform. Needs 32 bytes a row besides the result. CUZK_E_INPUT when tau lies in
 * the domain; CUZK_E_MEMORY. *ret must be cleared by the caller.
 */
cuzk_code cuzk_qap_at(cuzk_qap *ret, const cuzk_r1cs *r1cs, unsigned lg_domain, fr_root root,
                      const fr *tau, cuzk_pool *pool, cuzk_err *err);

/** Wipes and frees; accepts an all-zero value. */
void cuzk_qap_clear(cuzk_qap *q);

/**
 * ret[i] = scale x_i / (tau - x_i) with x_i = x_0 step^i, i < n: the Lagrange basis of a coset of
 * roots of unity, up to the factor `scale` that all its polynomials share. No x_i may equal tau.
 * On the calling thread; leaves no secret on the stack.
 */
void cuzk_lagrange_run(fr *ret, size_t n, const fr *x_0, const fr *step, const fr *tau,
                       const fr *scale);

#endif
