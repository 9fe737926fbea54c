#ifndef CUZK_GADGET_EXPAND_H
#define CUZK_GADGET_EXPAND_H

#include "r1cs/cs.h"
#include "r1cs/packed.h"

/**
 * The second stage of a witness: fills the inner variables of every instance from its record, in
 * any order and on all threads of the pool. The caller owns *ret. CUZK_E_UNSUPPORTED when the shape
 * has a template that is not of a gadget known here, or not of the size that it must have.
 */
cuzk_code cuzk_expand(cuzk_packed *ret, const cuzk_shape *s, const cuzk_ports *ports,
                      cuzk_pool *pool, cuzk_err *err);

/** How a template's records are expanded: one for each gadget, as its header says. */
typedef enum cuzk_expand_kind {
    CUZK_EXPAND_ROW,  /* nothing to expand */
    CUZK_EXPAND_FULL, /* as CUZK_EXPAND_PICK and _PACK: the record's elements as they are */
    CUZK_EXPAND_BITS,
    CUZK_EXPAND_TO_BITS,
    CUZK_EXPAND_PACK,
    CUZK_EXPAND_PICK,
    CUZK_EXPAND_SHA256,
    CUZK_EXPAND_POSEIDON,
    CUZK_EXPAND_INSERT,
    CUZK_EXPAND_STEP,
} cuzk_expand_kind;

/**
 * The kind of s->templates[k], after a check that what its expansion reads and writes is of the
 * template's sizes, so that it stays within an instance's record and variables. CUZK_E_UNSUPPORTED
 * as cuzk_expand.
 */
cuzk_code cuzk_expand_kind_of(cuzk_expand_kind *ret, const cuzk_shape *s, uint32_t k,
                              cuzk_err *err);

/** The bits of the low 32 spread out: bit i to bit 2i. */
uint64_t cuzk_spread_bits(uint32_t v);

/** Expansion of one SHA-256 block: plan entries as uint32.h has them, record as sha256_gadget.h. */
void cuzk_expand_sha256(cuzk_packed_writer *w, const uint8_t *plan, const uint8_t *record);

/** How many word operations a block has: entries of its plan. */
enum { CUZK_SHA256_PLAN_ENTRIES = 758 };

#endif
