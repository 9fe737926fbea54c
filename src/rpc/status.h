#ifndef CUZK_RPC_STATUS_H
#define CUZK_RPC_STATUS_H

#include "cuzk/err.h"

/** The status codes of gRPC: code, number on the wire, name. */
#define CUZK_RPC_STATUS_MAP(X)                                                                     \
    X(CUZK_RPC_OK, 0, "OK")                                                                        \
    X(CUZK_RPC_CANCELLED, 1, "CANCELLED")                                                          \
    X(CUZK_RPC_UNKNOWN, 2, "UNKNOWN")                                                              \
    X(CUZK_RPC_INVALID_ARGUMENT, 3, "INVALID_ARGUMENT")                                            \
    X(CUZK_RPC_DEADLINE_EXCEEDED, 4, "DEADLINE_EXCEEDED")                                          \
    X(CUZK_RPC_NOT_FOUND, 5, "NOT_FOUND")                                                          \
    X(CUZK_RPC_ALREADY_EXISTS, 6, "ALREADY_EXISTS")                                                \
    X(CUZK_RPC_PERMISSION_DENIED, 7, "PERMISSION_DENIED")                                          \
    X(CUZK_RPC_RESOURCE_EXHAUSTED, 8, "RESOURCE_EXHAUSTED")                                        \
    X(CUZK_RPC_FAILED_PRECONDITION, 9, "FAILED_PRECONDITION")                                      \
    X(CUZK_RPC_ABORTED, 10, "ABORTED")                                                             \
    X(CUZK_RPC_OUT_OF_RANGE, 11, "OUT_OF_RANGE")                                                   \
    X(CUZK_RPC_UNIMPLEMENTED, 12, "UNIMPLEMENTED")                                                 \
    X(CUZK_RPC_INTERNAL, 13, "INTERNAL")                                                           \
    X(CUZK_RPC_UNAVAILABLE, 14, "UNAVAILABLE")                                                     \
    X(CUZK_RPC_DATA_LOSS, 15, "DATA_LOSS")                                                         \
    X(CUZK_RPC_UNAUTHENTICATED, 16, "UNAUTHENTICATED")

typedef enum cuzk_rpc_status {
#define X(code, number, name) code = number,
    CUZK_RPC_STATUS_MAP(X)
#undef X
} cuzk_rpc_status;

/** Name of a status, e.g. "NOT_FOUND"; "UNKNOWN" for a number that is none. Never NULL. */
const char *cuzk_rpc_status_name(cuzk_rpc_status status);

/** The status that tells a client about an error of ours: bad input and arguments are
 *  INVALID_ARGUMENT, no memory is RESOURCE_EXHAUSTED, and so on. */
cuzk_rpc_status cuzk_rpc_status_of(cuzk_code code);

#endif
