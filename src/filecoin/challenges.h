#ifndef CUZK_FILECOIN_CHALLENGES_H
#define CUZK_FILECOIN_CHALLENGES_H

#include "filecoin/vanilla.h"

/*
 * Which nodes a proof must open. Source: rust-fil-proofs
 * storage-proofs-porep/src/stacked/vanilla/challenges.rs,
 * storage-proofs-post/src/fallback/vanilla.rs.
 */

/** Challenges of partition `partition` of a PoRep: sector->challenges node numbers, each in
 *  [1, nodes). Interactive proofs do not look at comm_r, non-interactive ones not at seed. */
void cuzk_porep_challenges(uint64_t *ret, const cuzk_seal_proof *proof, unsigned partition,
                           const cuzk_node *replica_id, const cuzk_node *comm_r,
                           const uint8_t seed[32]);

/** Candidate i of the synthetic challenges of a replica of that many nodes. */
uint64_t cuzk_synthetic_candidate(uint64_t nodes, const cuzk_node *replica_id,
                                  const cuzk_node *comm_r, uint32_t i);
/** Which of `candidates` candidates challenge number j (over all partitions) is. */
uint32_t cuzk_synthetic_choice(uint32_t candidates, const cuzk_node *replica_id,
                               const uint8_t seed[32], uint32_t j);

/** Leaf that a sector must open for PoSt challenge number `index`; < nodes. */
uint64_t cuzk_post_challenge(uint64_t nodes, const uint8_t randomness[32], uint64_t sector_id,
                             uint64_t index);

/** All leaves that a sector must open: cuzk_post_proof_challenges(proof) of them. `place`: the
 *  sector's place in the proof, counted over all partitions; matters for V1_0 windows alone.
 *  The two top bits of randomness are ignored, as callers of the reference clear them. */
void cuzk_post_challenges(uint64_t *ret, const cuzk_post_proof *proof, const uint8_t randomness[32],
                          uint64_t sector_id, uint64_t place);

/** Which of `count` sectors the n-th sector of a WinningPoSt is; count > 0. */
uint64_t cuzk_winning_sector(const uint8_t prover_id[32], const uint8_t randomness[32], uint64_t n,
                             uint64_t count);

#endif
