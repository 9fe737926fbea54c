#ifndef CUZK_FILECOIN_GENERATE_H
#define CUZK_FILECOIN_GENERATE_H

#include "base/threads.h"
#include "filecoin/vanilla.h"

/*
 * Vanilla proofs that verify and satisfy the circuits, made without sealing a sector: the circuits
 * only look at opened leaves, so everything beside their paths may be filler. Deterministic in
 * `seed`; an empty or NULL seed gives the files that the reference implementation was tested with.
 * Big sectors take about a second of one core. A pool spreads the hashing; NULL for none.
 */

/** A PoRep of prover f01000, sector 1, by the interactive V1_1 proof of the size. CUZK_E_ARG for a
 *  size without PoRep. The caller owns *ret. */
cuzk_code cuzk_porep_generate(cuzk_porep *ret, const cuzk_sector *sector, const char *seed,
                              cuzk_pool *pool, cuzk_err *err);

/** The randomness for which cuzk_post_generate answers. */
void cuzk_post_generate_randomness(uint8_t ret[32], const char *seed);

/** The answers of sector `id`. A V1_0 window's challenges would depend on the sector's place; `id`
 * - 1 is that place. The caller owns *ret. */
cuzk_code cuzk_post_generate(cuzk_post_sector *ret, const cuzk_post_proof *proof, uint64_t id,
                             const char *seed, cuzk_pool *pool, cuzk_err *err);

/** A sector update under way: its trees, from which partitions are opened. */
typedef struct cuzk_update_source cuzk_update_source;

/** The caller owns *ret. */
cuzk_code cuzk_update_source_new(cuzk_update_source **ret, const cuzk_sector *sector,
                                 const char *seed, cuzk_pool *pool, cuzk_err *err);
void cuzk_update_source_free(cuzk_update_source *u);

/** The public commitments. */
void cuzk_update_source_public(const cuzk_update_source *u, cuzk_node *ret_comm_r_old,
                               cuzk_node *ret_comm_d_new, cuzk_node *ret_comm_r_new);

/** Opens partition k. The caller owns *ret. */
cuzk_code cuzk_update_generate(cuzk_update_partition *ret, const cuzk_update_source *u, unsigned k,
                               cuzk_err *err);

#endif
