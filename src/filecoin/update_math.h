#ifndef CUZK_FILECOIN_UPDATE_MATH_H
#define CUZK_FILECOIN_UPDATE_MATH_H

#include "filecoin/vanilla.h"

/* Challenges and randomness of sector updates (SnapDeals). Source: rust-fil-proofs
 * storage-proofs-update/src/challenges.rs, vanilla.rs. */

/** The challenges of partition k: sector->update_challenges nodes of that partition. */
void cuzk_update_challenges(uint64_t *ret, const cuzk_sector *sector, unsigned k,
                            const cuzk_node *comm_r_new);

/** What an update's randomness is drawn from, by comm_d_new and comm_r_old. */
cuzk_node cuzk_update_phi(const cuzk_node *comm_d_new, const cuzk_node *comm_r_old);

/** The factor of the new data at all nodes whose top h bits are `high`. */
cuzk_node cuzk_update_rho(const cuzk_node *phi, uint64_t high);

/** The new replica's leaf: old + data * rho. */
cuzk_node cuzk_update_leaf(const cuzk_node *old, const cuzk_node *data, const cuzk_node *rho);

/** lg of the number of partitions, and of apex leaves. */
unsigned cuzk_update_lg_partitions(const cuzk_sector *sector);
unsigned cuzk_update_lg_apex(const cuzk_sector *sector);

#endif
