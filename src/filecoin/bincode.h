#ifndef CUZK_FILECOIN_BINCODE_H
#define CUZK_FILECOIN_BINCODE_H

#include "base/bytes.h"
#include "filecoin/vanilla.h"

/*
 * The parts of bincode 1.x that vanilla proofs use: little-endian integers, u64 lengths before
 * vectors, u32 tags before variants, arrays and structs without anything.
 */

/** A reader that knows which part of a proof it is in, for messages. */
typedef struct cuzk_bincode {
    cuzk_cursor c;
    char where[48];      /* e.g. "partition 3 challenge 17"; empty outside */
    const char *section; /* borrowed: e.g. "drg_parents" */
    int place;           /* index in the section; -1: none */
} cuzk_bincode;

cuzk_bincode cuzk_bincode_of(cuzk_span bytes, const char *name);

/** Fills err with the place, the field and a message; returns CUZK_E_INPUT. */
cuzk_code cuzk_bincode_fail(const cuzk_bincode *b, cuzk_err *err, const char *field,
                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));

cuzk_code cuzk_bincode_bytes(cuzk_bincode *b, const char *field, void *ret, size_t n,
                             cuzk_err *err);
cuzk_code cuzk_bincode_u32(cuzk_bincode *b, const char *field, uint32_t *ret, cuzk_err *err);
cuzk_code cuzk_bincode_u64(cuzk_bincode *b, const char *field, uint64_t *ret, cuzk_err *err);

/** A vector's length, which must be n. */
cuzk_code cuzk_bincode_length(cuzk_bincode *b, const char *field, uint64_t n, cuzk_err *err);

/** n field elements, each of which must be canonical. */
cuzk_code cuzk_bincode_nodes(cuzk_bincode *b, const char *field, cuzk_node *ret, size_t n,
                             cuzk_err *err);

/** A Merkle proof of that shape: the path (whose siblings are there to be filled) and its root. */
cuzk_code cuzk_bincode_merkle(cuzk_bincode *b, const cuzk_tree *tree, cuzk_path *ret,
                              cuzk_node *ret_root, cuzk_err *err);

/** CUZK_E_INPUT unless every byte was read. */
cuzk_code cuzk_bincode_end(cuzk_bincode *b, cuzk_err *err);

#endif
