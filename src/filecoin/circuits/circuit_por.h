#ifndef CUZK_FILECOIN_CIRCUIT_POR_H
#define CUZK_FILECOIN_CIRCUIT_POR_H

#include "filecoin/vanilla.h"
#include "gadget/num.h"

/* What the circuits share: opened paths, with values from a vanilla proof or, for a shape, none. */

/** The value of a node; zero for NULL. */
fr cuzk_node_value(const cuzk_node *n);

/** A new variable for a node. */
cuzk_num cuzk_node_alloc(cuzk_cs *cs, const cuzk_node *n);

/** A new variable for a node, made a public input. */
cuzk_num cuzk_node_alloc_input(cuzk_cs *cs, const cuzk_node *n);

/** n <= 128 new variables as one instance; NULL: no values. */
void cuzk_node_alloc_n(cuzk_cs *cs, cuzk_num *ret, size_t n, const cuzk_node *nodes);

/**
 * The path of a leaf, with index bits and siblings of its own, ends in root; the leaf's index
 * becomes a public input. SHA-256 over a binary tree or Poseidon over any. path: NULL for a shape.
 */
void cuzk_por(cuzk_cs *cs, const cuzk_tree *tree, bool sha, const cuzk_num *leaf,
              const cuzk_path *path, const cuzk_num *root);

/** The same with given bits (lowest first) and siblings, and nothing public. */
void cuzk_por_given(cuzk_cs *cs, const cuzk_tree *tree, bool sha, const cuzk_num *leaf,
                    const cuzk_bool *bits, const cuzk_num *siblings, const cuzk_num *root);

/** comm_r = Poseidon(comm_c, root). */
void cuzk_comm_r_check(cuzk_cs *cs, const cuzk_num *comm_c, const cuzk_num *root,
                       const cuzk_num *comm_r);

#endif
