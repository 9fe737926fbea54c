#ifndef CUZK_GADGET_NUM_H
#define CUZK_GADGET_NUM_H

#include "r1cs/cs.h"

/*
 * Numbers in a circuit: field elements in variables, and their bits (bellpepper gadgets/num.rs,
 * multipack.rs and rust-fil-proofs core/src/gadgets). Top level unless said otherwise.
 */

enum {
    CUZK_NUM_BITS = 255,  /* bits of a field element */
    CUZK_PACK_BITS = 254, /* bits that fit in one without wrapping */
};

/** 2^i for i < 255, valid for ever. */
const fr *cuzk_num_powers_of_two(void);

/** Adds the sum of coeff * 2^i * bits[i] to lc; n <= 255. Also in a recording. */
void cuzk_num_lc_bits(cuzk_cs *cs, cuzk_lc *lc, const cuzk_bool *bits, size_t n);

/** How cuzk_num_to_bits writes its last row. */
typedef enum cuzk_unpack_row {
    CUZK_UNPACK_DIFFERENCE, /* 0 * 0 = sum - x */
    CUZK_UNPACK_EQUAL,      /* sum * 1 = x */
} cuzk_unpack_row;

/** The 255 canonical bits of x, lowest first, each with its row, then the row that ties them to x.
 */
void cuzk_num_to_bits(cuzk_cs *cs, cuzk_bool ret[CUZK_NUM_BITS], const cuzk_num *x,
                      cuzk_unpack_row row);

/** A new number: sum of 2^i * bits[i], n <= 254. */
cuzk_num cuzk_num_pack(cuzk_cs *cs, const cuzk_bool *bits, size_t n);

/** One input for each 254 bits, lowest first. */
void cuzk_num_pack_inputs(cuzk_cs *cs, const cuzk_bool *bits, size_t n);

/** A new input equal to x: input * 1 = x. */
void cuzk_num_inputize(cuzk_cs *cs, const cuzk_num *x);

/** a * 1 = b. */
void cuzk_num_equal(cuzk_cs *cs, const cuzk_num *a, const cuzk_num *b);

/** A new number a + b. */
cuzk_num cuzk_num_add(cuzk_cs *cs, const cuzk_num *a, const cuzk_num *b);

/** A new number a * b. */
cuzk_num cuzk_num_mul(cuzk_cs *cs, const cuzk_num *a, const cuzk_num *b);

/** A new number cond ? a : b, cond a variable; only in a recording. */
uint32_t cuzk_num_pick(cuzk_cs *cs, uint32_t cond, uint32_t a, uint32_t b);

/** ret[i] = cond ? a[i] : b[i] as one instance; cond is a variable; ret may be a or b. n <= 64. */
void cuzk_num_pick_n(cuzk_cs *cs, cuzk_num *ret, const cuzk_bool *cond, const cuzk_num *a,
                     const cuzk_num *b, size_t n);

/** The value of the lowest n <= 64 of some bits. */
uint64_t cuzk_num_bits_value(const cuzk_bool *bits, size_t n);

#endif
