#ifndef CUZK_SERVICE_REQUEST_H
#define CUZK_SERVICE_REQUEST_H

#include "base/bytes.h"
#include "cuzk/engine.h"

/*
 * The one message that is too large to be copied: SubmitProofRequest of cuzk.v1, up to 256 MiB of
 * it one field of bytes. It is read in place by this walker over protobuf's wire format
 * (protobuf.dev/programming-guides/encoding); all other messages go through the generated code.
 */

enum { CUZK_REQUEST_PROOFS_MAX = 65536 };

/** A decoded request. `job` borrows from the message and from this struct, which must stay where
 *  it is; owns the rest. */
typedef struct cuzk_request {
    cuzk_job_request job;
    char request_id[CUZK_JOB_ID_MAX];
    cuzk_span *proofs;
    size_t capacity;
} cuzk_request;

/** Reads a SubmitProofRequest. Unknown fields are skipped, of a repeated scalar the last one
 *  counts. CUZK_E_ARG names field and offset. The caller clears *ret, after a failure as well. */
cuzk_code cuzk_request_read(cuzk_request *ret, cuzk_span message, cuzk_err *err);

/** Reads a ProveRequest, which holds one. */
cuzk_code cuzk_request_read_prove(cuzk_request *ret, cuzk_span message, cuzk_err *err);

/** Frees what the request owns, not the message. */
void cuzk_request_clear(cuzk_request *r);

#endif
