#ifndef CUZK_GADGET_UINT32_H
#define CUZK_GADGET_UINT32_H

#include "r1cs/cs.h"

/*
 * 32-bit words in a recording (bellpepper gadgets/uint32.rs, multieq.rs).
 *
 * Each operation that may allocate also appends one entry to the template's plan, so that an
 * expansion can follow without looking at rows: it computes the operation's result as plain words
 * and keeps the bits that the mask names, from the lowest, each xored with its bit of `inverted`.
 * For a majority the result is two words interleaved: bit 2i is the majority, bit 2i+1 is b and c.
 * For a sum it is the sum before reduction.
 */
typedef struct cuzk_word_plan {
    uint64_t mask, inverted;
} cuzk_word_plan;

/** Bits from the lowest. */
typedef struct cuzk_word {
    cuzk_bool b[32];
} cuzk_word;

/** Equations sum = sum, packed side by side into as few rows as fit in the field. */
typedef struct cuzk_multieq {
    cuzk_lc left, right;
    unsigned used; /* bits */
} cuzk_multieq;

/** Writes the row of the equations that wait, if any, and frees. */
void cuzk_multieq_flush(cuzk_cs *cs, cuzk_multieq *m);

cuzk_word cuzk_word_const(uint32_t v);
cuzk_word cuzk_word_rotr(const cuzk_word *a, unsigned n);
cuzk_word cuzk_word_shr(const cuzk_word *a, unsigned n);
cuzk_word cuzk_word_xor(cuzk_cs *cs, const cuzk_word *a, const cuzk_word *b);
cuzk_word cuzk_word_ch(cuzk_cs *cs, const cuzk_word *a, const cuzk_word *b, const cuzk_word *c);
cuzk_word cuzk_word_maj(cuzk_cs *cs, const cuzk_word *a, const cuzk_word *b, const cuzk_word *c);

/** Sum modulo 2^32 of 2 <= n <= 8 words. */
cuzk_word cuzk_word_add(cuzk_cs *cs, cuzk_multieq *m, const cuzk_word *ops, size_t n);

#endif
