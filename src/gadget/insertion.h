#ifndef CUZK_GADGET_INSERTION_H
#define CUZK_GADGET_INSERTION_H

#include "r1cs/cs.h"

/*
 * Puts a number among its siblings at an index given in bits (rust-fil-proofs
 * core/src/gadgets/insertion.rs): the children of a Merkle tree node from the opened child and the
 * others. Arity 2, 4 or 8; bits stand lowest first, siblings in child order.
 */

/** log2 of an arity. */
static inline unsigned cuzk_lg_arity(unsigned arity) { return arity == 8 ? 3 : arity / 2; }

/** In a recording: out[arity] references; bits[lg] are variables, others[arity - 1]. */
void cuzk_insertion_rows(cuzk_cs *cs, unsigned arity, uint32_t *out, const uint32_t *bits,
                         uint32_t cur, const uint32_t *others);

/** The variables that the rows above allocate, in order: 2, 8 or 22. Field elements, but for the
 * two that insertion among eight starts with, which are bits. */
unsigned cuzk_insertion_trace(fr ret[22], unsigned arity, unsigned index, const fr *cur,
                              const fr *others);

/** out[arity] = the children with cur at place `index`. */
void cuzk_insertion_values(fr *out, unsigned arity, unsigned index, const fr *cur,
                           const fr *others);

/** At the top level: gadget "insert", parameter arity. Ports: bits, cur, others. Record: index in 8
 *  bytes, cur, others. */
void cuzk_insertion(cuzk_cs *cs, unsigned arity, cuzk_num *out, const cuzk_bool *bits,
                    const cuzk_num *cur, const cuzk_num *others);

#endif
