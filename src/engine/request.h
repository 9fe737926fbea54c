#ifndef CUZK_ENGINE_REQUEST_H
#define CUZK_ENGINE_REQUEST_H

#include "cuzk/engine.h"
#include "filecoin/statement.h"

/*
 * A request: what it must look like, what it proves, and how the store keeps it. The payload is all
 * vanilla proofs one after the other; the metadata is everything else that is proved, so request id
 * and priority are in neither.
 */

/**
 * Checks every field that can be checked without proving, and parses the vanilla proofs. CUZK_E_ARG
 * and CUZK_E_INPUT are one sentence that names the field. The caller owns *ret.
 *
 * Where the request does not say it all, what the reference takes for granted holds: a registered
 * proof of 0 beside another sector size is not given, and a PoSt or update without sector size is
 * that of its registered proof, or else of the first size whose vanilla proofs look like these. A
 * window PoSt lists the sectors of partition `partition_index`, the last one repeated until the
 * partition is full; more sectors than that are further partitions.
 */
cuzk_code cuzk_request_parse(cuzk_statement **ret, const cuzk_job_request *request, cuzk_err *err);

/** The vanilla proofs as one run of bytes: *ret borrows from the request, or from *ret_owned, which
 *  the caller frees (NULL when nothing had to be copied). */
cuzk_code cuzk_request_payload(const cuzk_job_request *request, cuzk_span *ret, uint8_t **ret_owned,
                               cuzk_err *err);

/** The metadata, with the number of partitions; the caller frees *ret. */
cuzk_code cuzk_request_encode(uint8_t **ret, size_t *ret_n, const cuzk_job_request *request,
                              const cuzk_circuit_id *circuit, uint32_t partitions, cuzk_err *err);

/** A request from the store. */
typedef struct cuzk_kept_request {
    cuzk_job_request request; /* borrows the bytes it was decoded from, and `spans` */
    cuzk_span *spans;         /* owned */
    char circuit[CUZK_CIRCUIT_NAME_MAX];
    uint32_t partitions;
} cuzk_kept_request;

/** Decodes metadata; payload: the payload's bytes, or p = NULL when only the rest is wanted (n is
 *  then still its length). CUZK_E_INPUT when they are not of one request. */
cuzk_code cuzk_request_decode(cuzk_kept_request *ret, cuzk_span meta, cuzk_span payload,
                              cuzk_err *err);
void cuzk_kept_request_clear(cuzk_kept_request *r);

/** SHA-256 over metadata and the payload's hash: equal for requests that prove the same. */
void cuzk_request_identity(uint8_t ret[32], cuzk_span meta, const uint8_t payload_hash[32]);

/** The priority of a request: its kind's when it gives none. */
cuzk_priority cuzk_request_priority(const cuzk_job_request *request);

#endif
