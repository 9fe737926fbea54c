#ifndef CUZK_FILECOIN_GRAPH_H
#define CUZK_FILECOIN_GRAPH_H

#include "filecoin/vanilla.h"

/*
 * Identities of a sector and the graph of stacked DRG replication: which nodes a label is made of.
 * Source: rust-fil-proofs storage-proofs-core/src/drgraph.rs, crypto/feistel.rs,
 * storage-proofs-porep/src/stacked/vanilla/graph.rs, params.rs.
 */

enum { CUZK_PARENTS = CUZK_DRG_PARENTS + CUZK_EXP_PARENTS };

/** The identity of a registered seal proof that seeds its graph. */
void cuzk_porep_id(uint8_t ret[32], const cuzk_seal_proof *proof);

/** The payload of a miner's id address: unsigned LEB128, left aligned, zero padded. */
void cuzk_prover_id(uint8_t ret[32], uint64_t miner);

/** replica_id = SHA-256(prover || sector || ticket || comm_d || porep_id) cut to 254 bits. */
cuzk_node cuzk_replica_id(const uint8_t prover_id[32], uint64_t sector, const uint8_t ticket[32],
                          const cuzk_node *comm_d, const uint8_t porep_id[32]);

/** The label of `node` in `layer` (1-based) from its 37 parents' labels, repetitions included. */
cuzk_node cuzk_label(const cuzk_node *replica_id, uint32_t layer, uint64_t node,
                     const cuzk_node parents[CUZK_LABEL_PARENTS]);

/** Parents of the label of layer `layer`: the DRG parents' rows of that layer and, from layer 2 on,
 *  the expander parents' of the one before, repeated in turn. `columns`: as in a vanilla proof. */
void cuzk_label_parents(cuzk_node ret[CUZK_LABEL_PARENTS], const cuzk_column columns[CUZK_PARENTS],
                        uint32_t layer);

/** The graph of one porep_id, with what does not depend on the node computed once. Immutable. */
typedef struct cuzk_graph {
    uint64_t nodes;
    uint32_t drg_key[7]; /* all of the ChaCha key but the node */
    uint64_t feistel_key[3];
    unsigned feistel_bits; /* of half a block */
    bool legacy;           /* V1_0: the order and the truncation of the first proofs */
} cuzk_graph;

void cuzk_graph_init(cuzk_graph *ret, uint64_t nodes, cuzk_api_version api,
                     const uint8_t porep_id[32]);

/** The 6 DRG parents of a node, then its 8 expander parents. node < nodes. */
void cuzk_graph_parents(const cuzk_graph *g, uint64_t node, uint64_t ret[CUZK_PARENTS]);

#endif
