#ifndef CUZK_FILECOIN_POREP_PARTS_H
#define CUZK_FILECOIN_POREP_PARTS_H

#include "filecoin/vanilla.h"

/* What the two readers of PoRep vanilla proofs share. */

/** A list of parents as files repeat it beside the columns that it comes from. */
typedef struct cuzk_parents_proof {
    cuzk_node parents[CUZK_LABEL_PARENTS];
    uint32_t layer_index;
    uint64_t node;
} cuzk_parents_proof;

/** All that a file states about one challenge and that a cuzk_porep_challenge does not keep. */
typedef struct cuzk_porep_rest {
    cuzk_node data_root, replica_root, column_roots[CUZK_COLUMNS];
    uint32_t column_index[CUZK_COLUMNS];
    cuzk_parents_proof labels[CUZK_MAX_LAYERS];
    cuzk_parents_proof encoding;
} cuzk_porep_rest;

/**
 * Compares what a file repeats with what was kept: indices, roots (those of the first challenge
 * become the proof's comm_c and comm_r_last), parents of labels. comm_d is compared with `comm_d`.
 * NULL when all agree, else what does not, as "field: reason" (static storage).
 */
const char *cuzk_porep_disagreement(cuzk_porep *p, unsigned partition, unsigned challenge,
                                    const cuzk_porep_rest *rest);

/** The same for what is known only when all is read: comm_d (of the first challenge's path until
 *  then) and the number of partitions. */
cuzk_code cuzk_porep_finish(cuzk_porep *p, const cuzk_seal_proof *proof, const cuzk_node *comm_d,
                            const char *name, cuzk_err *err);

#endif
