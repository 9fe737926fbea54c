#ifndef CUZK_GADGET_POSEIDON_H
#define CUZK_GADGET_POSEIDON_H

#include "gadget/poseidon_native.h"
#include "r1cs/cs.h"

/*
 * The Poseidon hash as a circuit, in the form that Filecoin's trusted setups fixed (neptune's
 * legacy circuit): between S-boxes the state is a list of linear combinations, each S-box gives its
 * input a variable and costs three rows more.
 */

/** Which domain tag. */
typedef enum cuzk_poseidon_tag {
    CUZK_TAG_TREE,       /* Merkle tree nodes and columns */
    CUZK_TAG_RANDOMNESS, /* challenges and rho of a sector update; arity 2 */
} cuzk_poseidon_tag;

fr cuzk_poseidon_tag_value(cuzk_poseidon_tag tag, unsigned arity);

/** The hash in a recording: in[p->arity] references, returns the result's. */
uint32_t cuzk_poseidon_rows(cuzk_cs *cs, const poseidon_params *p, const fr *tag,
                            const uint32_t *in);

/** The hash at the top level, arity 2, 4, 8 or 11. Gadget "poseidon", parameter arity | tag << 8;
 *  ports and record: the inputs. */
cuzk_num cuzk_poseidon(cuzk_cs *cs, cuzk_poseidon_tag tag, unsigned arity, const cuzk_num *in);

#endif
