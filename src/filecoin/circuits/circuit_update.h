#ifndef CUZK_FILECOIN_CIRCUIT_UPDATE_H
#define CUZK_FILECOIN_CIRCUIT_UPDATE_H

#include "filecoin/vanilla.h"
#include "r1cs/cs.h"

/**
 * The circuit of one partition of a sector update (rust-fil-proofs update/src/circuit.rs): for each
 * challenge, the new replica's leaf is the old one's plus the data's times rho, and all three
 * leaves are in their trees. Public: k and h, comm_r_old, comm_d_new, comm_r_new. p: NULL for a
 * shape.
 */
void cuzk_circuit_update(cuzk_cs *cs, const cuzk_sector *s, const cuzk_update_partition *p);

/** The variant with a Poseidon tree over the data, in one partition
 *  (update/src/poseidon/circuit.rs). Shapes only. */
void cuzk_circuit_update_poseidon(cuzk_cs *cs, const cuzk_sector *s);

#endif
