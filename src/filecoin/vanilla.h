#ifndef CUZK_FILECOIN_VANILLA_H
#define CUZK_FILECOIN_VANILLA_H

#include "filecoin/proof_kind.h"
#include "math/field/fr.h"

/*
 * Vanilla proofs in memory: what a circuit needs of them, and no more. What a file repeats (roots,
 * parents' labels, node numbers) is compared while reading and not kept.
 */

/** A field element as it stands in files: 32 little-endian bytes. Readers refuse those that are
 *  not below the modulus. */
typedef struct cuzk_node {
    uint8_t b[32];
} cuzk_node;

static inline void cuzk_node_to_fr(fr *r, const cuzk_node *n) { fr_from_bytes(r, n->b); }
static inline cuzk_node cuzk_node_of_fr(const fr *a)
{
    cuzk_node n;
    fr_to_bytes(n.b, a);
    return n;
}
bool cuzk_node_is_canonical(const cuzk_node *n);
static inline bool cuzk_node_eq(const cuzk_node *a, const cuzk_node *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}

/**
 * An opened leaf of a Merkle tree. Siblings stand level by level from the leaf to the root, in a
 * level in the order of the children with the opened one left out: cuzk_tree.siblings in all.
 * The opened child of level i is the bits of `index` at the sum of lg_arity below i. Borrows
 * siblings from the proof that it is part of.
 */
typedef struct cuzk_path {
    cuzk_node leaf;
    uint64_t index; /* of the leaf */
    cuzk_node *siblings;
} cuzk_path;

/** A column of labels and its place in tree C (path.leaf is the column's hash). */
typedef struct cuzk_column {
    cuzk_node *rows; /* the sector's `layers` labels, first layer first */
    cuzk_path path;
} cuzk_column;

enum {
    CUZK_COLUMN_EXP = CUZK_DRG_PARENTS,                    /* first expander parent */
    CUZK_COLUMN_OWN = CUZK_DRG_PARENTS + CUZK_EXP_PARENTS, /* the challenged node's own column */
    CUZK_COLUMNS = CUZK_COLUMN_OWN + 1,
};

/** The answer to one PoRep challenge. The challenged node is data.index; replica and the own column
 *  have the same index. */
typedef struct cuzk_porep_challenge {
    cuzk_path data;                    /* in tree D */
    cuzk_path replica;                 /* in tree R */
    cuzk_column columns[CUZK_COLUMNS]; /* six DRG parents, eight expander parents, own */
} cuzk_porep_challenge;

/** Owns both arrays. */
typedef struct cuzk_porep_partition {
    cuzk_porep_challenge *challenges; /* sector->challenges of them */
    cuzk_node *nodes;                 /* what paths and rows point into */
} cuzk_porep_partition;

/** A whole PoRep vanilla proof (the output of "commit phase 1"). Owns its partitions. */
typedef struct cuzk_porep {
    cuzk_seal_proof proof;
    cuzk_node comm_d, comm_r, replica_id, comm_c, comm_r_last;
    uint8_t seed[32], ticket[32];
    bool has_sector_number; /* only the wrapper states it */
    uint64_t sector_number;
    unsigned n_partitions;
    cuzk_porep_partition *partitions;
} cuzk_porep;

void cuzk_porep_clear(cuzk_porep *p);

/** Nodes that one challenge of a sector size points to. */
size_t cuzk_porep_challenge_nodes(const cuzk_sector *sector);

/** Appends a partition whose paths and rows point to zeroed nodes. */
cuzk_code cuzk_porep_add_partition(cuzk_porep *p, cuzk_err *err);

/** One sector's answers to PoSt challenges. Owns both arrays. */
typedef struct cuzk_post_sector {
    uint64_t id;
    cuzk_node comm_r, comm_c, comm_r_last;
    unsigned n_paths; /* 10 (window) or 66 (winning) */
    cuzk_path *paths; /* in tree R */
    cuzk_node *nodes;
} cuzk_post_sector;

void cuzk_post_sector_clear(cuzk_post_sector *s);

/** Makes an empty sector with n_paths paths that point to zeroed nodes. */
cuzk_code cuzk_post_sector_init(cuzk_post_sector *ret, const cuzk_sector *sector, unsigned n_paths,
                                cuzk_err *err);

/** The answer to one challenge of a sector update. All three have the same index. */
typedef struct cuzk_update_challenge {
    cuzk_path r_old, d_new, r_new;
} cuzk_update_challenge;

/** One partition of a sector update. Owns its arrays. */
typedef struct cuzk_update_partition {
    const cuzk_sector *sector;
    unsigned k; /* number of the partition: the top bits of all its challenges */
    cuzk_node comm_c, root_r_old, root_r_new, comm_d_new;
    cuzk_node *apex;                   /* sector->update_apex leaves */
    cuzk_update_challenge *challenges; /* sector->update_challenges */
    cuzk_node *nodes;
} cuzk_update_partition;

void cuzk_update_partition_clear(cuzk_update_partition *p);

/** Makes an empty partition whose paths and apex point to zeroed nodes. */
cuzk_code cuzk_update_partition_init(cuzk_update_partition *ret, const cuzk_sector *sector,
                                     cuzk_err *err);

#endif
