#ifndef CUZK_FILECOIN_MERKLE_H
#define CUZK_FILECOIN_MERKLE_H

#include "base/threads.h"
#include "filecoin/vanilla.h"

/* The hashes of Filecoin's trees on nodes as they stand in files, and trees of which a few leaves
 * are known. */

/** Poseidon of n nodes (2, 4, 8 or 11) with the tag of a tree node. */
cuzk_node cuzk_poseidon_nodes(const cuzk_node *nodes, unsigned n);

/** Poseidon of two nodes with the tag from which an update's randomness is drawn. */
cuzk_node cuzk_poseidon_randomness(const cuzk_node *a, const cuzk_node *b);

/** SHA-256 of two nodes, cut to 254 bits. */
cuzk_node cuzk_sha256_node(const cuzk_node *a, const cuzk_node *b);

/** Hash of a column of `layers` labels (2 or 11). */
cuzk_node cuzk_column_hash(const cuzk_node *rows, unsigned layers);

/** Number of siblings of levels [0, level) and of index bits that they take. */
void cuzk_tree_level(const cuzk_tree *tree, unsigned level, size_t *ret_siblings,
                     unsigned *ret_shift);

/** The root that a path leads to in a tree of Poseidon or SHA-256 nodes, up to level `levels`. */
cuzk_node cuzk_path_root(const cuzk_path *path, const cuzk_tree *tree, unsigned levels,
                         bool poseidon);

/** A value for every (tag, a, b): SHA-256(tag || u64le a || u64le b) cut to 254 bits. */
cuzk_node cuzk_filler_node(const char *tag, uint64_t a, uint64_t b);

/** A Poseidon tree of which some leaves are known; the nodes beside their paths are fillers. */
typedef struct cuzk_sparse_tree cuzk_sparse_tree;

/**
 * Builds the tree over leaves[n], whose indices are strictly increasing. A node of level l that has
 * no known leaf below it is cuzk_filler_node(tag, l, its index). The caller owns *ret.
 */
cuzk_code cuzk_sparse_tree_new(cuzk_sparse_tree **ret, const cuzk_tree *shape,
                               const uint64_t *indices, const cuzk_node *leaves, size_t n,
                               const char *tag, cuzk_pool *pool, cuzk_err *err);
void cuzk_sparse_tree_free(cuzk_sparse_tree *t);

cuzk_node cuzk_sparse_tree_root(const cuzk_sparse_tree *t);

/** Opens a known leaf: fills leaf, index and the siblings that path points to. */
void cuzk_sparse_tree_open(const cuzk_sparse_tree *t, uint64_t index, cuzk_path *path);

#endif
