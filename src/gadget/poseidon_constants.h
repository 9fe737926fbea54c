#ifndef CUZK_GADGET_POSEIDON_CONSTANTS_H
#define CUZK_GADGET_POSEIDON_CONSTANTS_H

#include "math/field/fr.h"

/*
 * Parameters of the Poseidon hash that Filecoin uses (neptune, x^5 over Fr, 8 full rounds): the
 * round constants of the Grain generator, the Cauchy matrix, and the equivalent form in which each
 * partial round multiplies by a sparse matrix. The circuit is defined over the latter, so both the
 * circuit and the native hash take their numbers from here.
 */

enum {
    POSEIDON_FULL_ROUNDS = 8,
    POSEIDON_MAX_PARTIAL = 57,
    POSEIDON_MAX_WIDTH = 12,
    POSEIDON_MAX_CONSTANTS = 8 * POSEIDON_MAX_WIDTH + POSEIDON_MAX_PARTIAL,
};

/** One sparse matrix S: new[0] = sum_i column[i] * e[i], new[j] = e[j] + row[j - 1] * e[0]. */
typedef struct poseidon_sparse {
    fr column[POSEIDON_MAX_WIDTH];  /* width elements */
    fr row[POSEIDON_MAX_WIDTH - 1]; /* width - 1 elements */
} poseidon_sparse;

/** All constants of one arity. Matrices are row-major, `m[i][j]` multiplies element i into j. */
typedef struct poseidon_params {
    unsigned arity;
    unsigned width;   /* arity + 1: element 0 is the domain tag */
    unsigned partial; /* partial rounds */
    fr round[(POSEIDON_FULL_ROUNDS + POSEIDON_MAX_PARTIAL) *
             POSEIDON_MAX_WIDTH];          /* plain, by round */
    fr compressed[POSEIDON_MAX_CONSTANTS]; /* 8 * width + partial elements, in the order of use */
    fr mds[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH];
    fr pre_sparse[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH]; /* replaces mds in the last round before
                                                              the partial ones */
    poseidon_sparse sparse[POSEIDON_MAX_PARTIAL];          /* one for each partial round */
} poseidon_params;

/** The constants for arity 2, 4, 8 or 11, NULL for any other. Made at the first call (a few
 *  milliseconds), valid for ever, safe from any thread. */
const poseidon_params *poseidon_params_of(unsigned arity);

/** Domain tag of a Merkle tree node or column with `arity` children: 2^arity - 1. */
fr poseidon_tag_tree(unsigned arity);

/** Domain tag of the hash from which an update's randomness is drawn (arity 2): 2^40. */
fr poseidon_tag_randomness(void);

#endif
