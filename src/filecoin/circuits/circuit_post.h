#ifndef CUZK_FILECOIN_CIRCUIT_POST_H
#define CUZK_FILECOIN_CIRCUIT_POST_H

#include "filecoin/circuits/circuit_id.h"
#include "filecoin/vanilla.h"
#include "r1cs/cs.h"

/** What fixes a PoSt circuit. */
typedef struct cuzk_post_config {
    unsigned sectors;
    unsigned challenges; /* for each sector */
    cuzk_tree octal;
} cuzk_post_config;

cuzk_post_config cuzk_post_config_of(const cuzk_circuit_id *id);

/**
 * The circuit of one PoSt partition (rust-fil-proofs post/src/fallback/circuit.rs): for each
 * sector, comm_r is public and each challenged leaf is in its comm_r_last. Circuit sector i takes
 * the paths from number i * challenges on of the given sectors in a row, so a winning proof's one
 * sector with 66 paths serves as 66; when they run out, the last given sector is repeated.
 * given: NULL for a shape, else n > 0 sectors, each with a multiple of `challenges` paths.
 */
void cuzk_circuit_post(cuzk_cs *cs, const cuzk_post_config *c, const cuzk_post_sector *given,
                       size_t n);

#endif
