#ifndef CUZK_GADGET_POSEIDON_NATIVE_H
#define CUZK_GADGET_POSEIDON_NATIVE_H

#include "gadget/poseidon_constants.h"

/** *ret = Poseidon of in[p->arity] under a domain tag. ret may be one of the inputs. About 2100
 * field multiplications for arity 8. */
void poseidon_hash(fr *ret, const poseidon_params *p, const fr *tag, const fr *in);

/** The same hash of a tree node: the tag is that of p's arity. */
void poseidon_hash_tree(fr *ret, const poseidon_params *p, const fr *in);

/** How many auxiliary variables the circuit of poseidon_hash allocates: 311, 377, 505, 598 for
 * arity 2, 4, 8, 11. It has as many constraints. */
static inline unsigned poseidon_aux_count(const poseidon_params *p)
{
    return 3 * p->arity + 7 * 4 * p->width + 4 * p->partial + 1;
}

/** poseidon_hash that also keeps every auxiliary variable of its circuit, in the order of
 *  allocation: aux[poseidon_aux_count(p)], whose last is the hash. */
void poseidon_trace(fr *aux, const poseidon_params *p, const fr *tag, const fr *in);

/** Rounds as the Poseidon paper defines them, with the full matrix in each: the oracle of the fast
 *  form, in tests. */
void poseidon_hash_plain(fr *ret, const poseidon_params *p, const fr *tag, const fr *in);

#endif
