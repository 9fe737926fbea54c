#ifndef CUZK_FILECOIN_STATEMENT_H
#define CUZK_FILECOIN_STATEMENT_H

#include "base/threads.h"
#include "filecoin/circuits/circuit_witness.h"
#include "filecoin/read.h"

/*
 * What a proof states, whatever its kind: the vanilla proofs of all partitions as their files have
 * them, and the public data that the files leave out.
 */

/** Public data from elsewhere. Of a PoSt the randomness is needed; the commitments of an update
 *  follow from its vanilla proof and are compared when they are given. */
typedef struct cuzk_claims {
    const uint8_t *randomness; /* 32 bytes, or NULL */
    bool has_number;           /* the registered proof, when it is not the usual one of the size */
    uint64_t number;
    const cuzk_node *comm_r_old, *comm_d_new, *comm_r_new; /* NULL: not given */
    uint64_t first_place; /* of a PoSt: sectors of the proof's list that stand before these, which
                             the challenges of the oldest registered proofs depend on */
} cuzk_claims;

typedef struct cuzk_statement cuzk_statement;

/**
 * Reads the files of one proof: the output of "commit phase 1"; or one file for each sector of a
 * PoSt, in order; or one for each partition of an update, in order, or for one alone. claims are
 * copied, files are borrowed (for messages). CUZK_E_ARG when the number of files or the claims
 * don't fit the circuit, CUZK_E_INPUT for what a file holds. The caller owns *ret.
 */
cuzk_code cuzk_statement_read(cuzk_statement **ret, const cuzk_circuit_id *id,
                              const char *const *files, size_t n_files, const cuzk_claims *claims,
                              cuzk_err *err);

/**
 * cuzk_statement_read of bytes in memory, of which nothing is borrowed. Messages name them
 * "vanilla_proof" or "vanilla_proofs[i]". id->sector may be NULL for a PoRep, whose input names its
 * sector size.
 */
cuzk_code cuzk_statement_parse(cuzk_statement **ret, const cuzk_circuit_id *id,
                               const cuzk_span *inputs, size_t n_inputs, const cuzk_claims *claims,
                               cuzk_err *err);

/** Accepts NULL. */
void cuzk_statement_free(cuzk_statement *s);

/** The circuit that proves it. */
const cuzk_circuit_id *cuzk_statement_circuit(const cuzk_statement *s);

/** About how many bytes it takes in memory. */
uint64_t cuzk_statement_bytes(const cuzk_statement *s);

/** How many partitions the proof has. */
unsigned cuzk_statement_partitions(const cuzk_statement *s);

/** False when there is the file of one partition of an update alone, which can then be had; k below
 *  must be its number. */
bool cuzk_statement_is_whole(const cuzk_statement *s);

/** Checks partition k natively (filecoin/check.h): CUZK_E_INPUT says where and why. */
cuzk_code cuzk_statement_check(const cuzk_statement *s, unsigned k, cuzk_pool *pool, cuzk_err *err);

/** Public inputs of a circuit, without ONE. */
size_t cuzk_statement_input_count(const cuzk_circuit_id *id);

/** The public inputs of partition k as a verifier makes them, from public data and not from the
 *  witness: cuzk_statement_input_count of them. */
cuzk_code cuzk_statement_inputs(const cuzk_statement *s, unsigned k, fr_repr *ret, cuzk_err *err);

/** The first stage of the witness of partition k. The caller owns *ret. */
cuzk_code cuzk_statement_ports(const cuzk_statement *s, unsigned k, const cuzk_shape *shape,
                               cuzk_ports *ret, cuzk_err *err);

#endif
