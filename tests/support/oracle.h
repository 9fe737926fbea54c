#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "groth16/groth16.h"

/**
 * What a key and a proof must be when the trapdoor is known, straight from the definitions: the
 * Lagrange basis as products over the points, polynomials as sums over rows; no transform, no
 * multi-scalar multiplication, none of the code under test. For domains of up to some 1000 points.
 */
typedef struct oracle {
    const cuzk_r1cs *r1cs;
    const cuzk_trapdoor *t;
    unsigned lg_domain;
    size_t n_vars;
    fr z;          /* Z(tau) */
    fr *basis;     /* L_j(tau), j < 2^lg_domain */
    fr *a, *b, *c; /* A_v(tau), B_v(tau), C_v(tau) */
} oracle;

/** Fails the test when there is no memory. r1cs and t are borrowed. */
oracle oracle_new(const cuzk_r1cs *r1cs, const cuzk_trapdoor *t, fr_root root);
void oracle_clear(oracle *o);

/** (L^(2m)_(2i+1)(tau)) / delta for i < m, m = 2^lg_domain, by products over all 2m points. */
void oracle_odd_lagrange(fr *ret, unsigned lg_domain, const cuzk_trapdoor *t, fr_root root);

/** beta A_v + alpha B_v + C_v at tau. */
fr oracle_combined(const oracle *o, size_t v);

/** The proof of an assignment with blinding r, s. */
cuzk_proof oracle_proof(const oracle *o, const fr_repr *z, const fr *r, const fr *s);

/** k times the generator, bit by bit. */
g1_affine oracle_g1(const fr *k);
g2_affine oracle_g2(const fr *k);

#endif
