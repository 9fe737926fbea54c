#ifndef CUZK_FILECOIN_CHECK_H
#define CUZK_FILECOIN_CHECK_H

#include "base/threads.h"
#include "filecoin/vanilla.h"

/*
 * Whether a vanilla proof proves anything: everything that its circuit constrains, computed
 * natively before any proving. Each error is CUZK_E_INPUT and names the input, partition and
 * challenge, and what does not agree; of several the first is told. A pool spreads the hashing;
 * NULL for none.
 */

/** Challenges, graph, labels, encoding, columns and all paths of a PoRep. */
cuzk_code cuzk_porep_check(const cuzk_porep *p, const char *name, cuzk_pool *pool, cuzk_err *err);

/** One partition of it. */
cuzk_code cuzk_porep_check_partition(const cuzk_porep *p, unsigned partition, const char *name,
                                     cuzk_pool *pool, cuzk_err *err);

/** Commitment, challenges and paths of one sector of a PoSt; `place`: as for
 *  cuzk_post_challenges. */
cuzk_code cuzk_post_check(const cuzk_post_sector *s, const cuzk_post_proof *proof,
                          const uint8_t randomness[32], uint64_t place, const char *name,
                          cuzk_pool *pool, cuzk_err *err);

/** Commitments, challenges, encoding and paths of partition k of a sector update. */
cuzk_code cuzk_update_check(const cuzk_update_partition *p, unsigned k, const cuzk_node *comm_r_old,
                            const cuzk_node *comm_d_new, const cuzk_node *comm_r_new,
                            const char *name, cuzk_pool *pool, cuzk_err *err);

#endif
