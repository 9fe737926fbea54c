#ifndef CUZK_FILECOIN_PUBLIC_INPUTS_H
#define CUZK_FILECOIN_PUBLIC_INPUTS_H

#include "filecoin/graph.h"

/*
 * Public inputs of each circuit, without ONE, from data that a verifier has.
 * Source: rust-fil-proofs storage-proofs-porep/src/stacked/circuit/proof.rs,
 * storage-proofs-post/src/fallback/compound.rs, storage-proofs-update/src/circuit.rs.
 */

/** What a PoRep states to the world. */
typedef struct cuzk_porep_public {
    cuzk_seal_proof proof;
    cuzk_graph graph;
    cuzk_node replica_id, comm_d, comm_r;
    uint8_t seed[32];
} cuzk_porep_public;

/** The statement of a vanilla proof, with the graph of its registered proof. */
cuzk_porep_public cuzk_porep_public_of(const cuzk_porep *porep);

/** Inputs of one PoRep partition: 3 and, for each challenge, 4 besides its parents. */
static inline size_t cuzk_porep_input_count(const cuzk_sector *sector)
{
    return 3 + (size_t)sector->challenges * (CUZK_PARENTS + 4);
}

/** Inputs of a partition whose challenges are given (sector->challenges nodes). */
void cuzk_porep_inputs_of(fr_repr *ret, const cuzk_porep_public *pub, const uint64_t *challenges);

/** The same with the challenges derived as the registered proof says. */
void cuzk_porep_inputs(fr_repr *ret, const cuzk_porep_public *pub, unsigned partition);

/** A sector as a PoSt names it. */
typedef struct cuzk_post_public {
    uint64_t id;
    cuzk_node comm_r;
} cuzk_post_public;

/** Inputs of one PoSt partition of `sector_count` sectors (winning: one sector, 66 times). */
static inline size_t cuzk_post_input_count(const cuzk_post_proof *proof, unsigned sector_count)
{
    return proof->window ? (size_t)sector_count * (1 + CUZK_WINDOW_CHALLENGES)
                         : (size_t)2 * CUZK_WINNING_CHALLENGES;
}

/**
 * Inputs of partition `partition` of a PoSt over sectors[n] (winning: n is 1), sector_count of them
 * to a partition: the partition's part of the list, its last sector repeated up to sector_count.
 * CUZK_E_ARG when the partition is past the end.
 */
cuzk_code cuzk_post_inputs(fr_repr *ret, const cuzk_post_proof *proof, const uint8_t randomness[32],
                           const cuzk_post_public *sectors, size_t n, unsigned sector_count,
                           unsigned partition, cuzk_err *err);

enum { CUZK_UPDATE_INPUTS = 4 };

/** Inputs of partition k of a sector update. */
void cuzk_update_inputs(fr_repr ret[CUZK_UPDATE_INPUTS], const cuzk_sector *sector, unsigned k,
                        const cuzk_node *comm_r_old, const cuzk_node *comm_d_new,
                        const cuzk_node *comm_r_new);

#endif
