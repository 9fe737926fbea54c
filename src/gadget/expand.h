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

/** The bits of the low 32 spread out: bit i to bit 2i. */
uint64_t cuzk_spread_bits(uint32_t v);

/** Expansion of one SHA-256 block: plan entries as uint32.h has them, record as sha256_gadget.h. */
void cuzk_expand_sha256(cuzk_packed_writer *w, const uint8_t *plan, const uint8_t *record);

/** How many word operations a block has: entries of its plan. */
enum { CUZK_SHA256_PLAN_ENTRIES = 758 };

#endif
