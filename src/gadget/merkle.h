#ifndef CUZK_GADGET_MERKLE_H
#define CUZK_GADGET_MERKLE_H

#include "gadget/num.h"

/*
 * Merkle paths (rust-fil-proofs core/src/gadgets/por.rs): from an opened leaf to the root, level by
 * level. A Poseidon level is one instance, gadget "step", that allocates the level's index bits and
 * siblings itself, or takes them at its ports. A SHA-256 level is made of several.
 */

/** A level of a Poseidon tree with bits and siblings of its own: aux are lg bits, arity - 1
 * siblings, the insertion's, the hash's. bits[lg] receives the bits. Parameter: arity. Port: cur.
 * Record: index in 8 bytes, cur, siblings. */
cuzk_num cuzk_merkle_step(cuzk_cs *cs, unsigned arity, const cuzk_num *cur, cuzk_bool *bits,
                          unsigned index, const fr *siblings);

/** The same with given bits and siblings. Parameter: arity | 256. Ports: cur, bits, siblings. */
cuzk_num cuzk_merkle_step_given(cuzk_cs *cs, unsigned arity, const cuzk_num *cur,
                                const cuzk_bool *bits, const cuzk_num *siblings);

enum { CUZK_MERKLE_GIVEN = 256 };

/** A level of a binary SHA-256 tree with given bit and sibling. */
cuzk_num cuzk_merkle_sha_step(cuzk_cs *cs, const cuzk_num *cur, const cuzk_bool *bit,
                              const cuzk_num *sibling);

#endif
