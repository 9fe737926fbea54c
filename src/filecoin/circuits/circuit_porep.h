#ifndef CUZK_FILECOIN_CIRCUIT_POREP_H
#define CUZK_FILECOIN_CIRCUIT_POREP_H

#include "filecoin/circuits/circuit_id.h"
#include "filecoin/vanilla.h"
#include "r1cs/cs.h"

/** What fixes a PoRep circuit. */
typedef struct cuzk_porep_config {
    unsigned layers; /* 2 or 11 */
    unsigned challenges;
    cuzk_tree data, octal;
} cuzk_porep_config;

cuzk_porep_config cuzk_porep_config_of(const cuzk_circuit_id *id);

/**
 * The circuit of one PoRep partition (rust-fil-proofs porep/src/stacked/circuit): for each
 * challenge, the data leaf is in comm_d; the parents' columns are in comm_c; the node's labels
 * follow from theirs; the encoded leaf is in comm_r_last and the labels' column in comm_c. Public:
 * replica id, comm_d, comm_r, then 18 node numbers for each challenge. p: NULL for a shape.
 */
void cuzk_circuit_porep(cuzk_cs *cs, const cuzk_porep_config *c, const cuzk_porep *p,
                        unsigned partition);

#endif
