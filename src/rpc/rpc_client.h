#ifndef CUZK_RPC_CLIENT_H
#define CUZK_RPC_CLIENT_H

#include "rpc/status.h"

#include "base/bytes.h"

/**
 * A blocking gRPC client: one call at a time, one thread at a time. The connection is made by the
 * first call, kept, and made again when it was lost between calls.
 */
typedef struct cuzk_rpc_client cuzk_rpc_client;

/** All strings are copied. */
typedef struct cuzk_rpc_client_config {
    /** "host:port", "http://host:port", "https://host:port", "unix:///path", "unix:path". */
    const char *address;
    /** PEM files. ca_file turns TLS on (as https does, with the system's authorities); cert_file
     * and key_file are shown to the server. */
    const char *ca_file, *cert_file, *key_file;
    const char *server_name;     /* that the certificate must have; NULL: the address's host */
    const char *token;           /* NULL: none */
    size_t max_message_bytes;    /* of an answer; 0: 256 MiB */
    uint64_t connect_timeout_ms; /* 0: 10 s */
} cuzk_rpc_client_config;

/** Checks the address and the files; does not connect. */
cuzk_code cuzk_rpc_client_open(cuzk_rpc_client **ret, const cuzk_rpc_client_config *config,
                               cuzk_err *err);

/** Closes and frees; accepts NULL. */
void cuzk_rpc_client_close(cuzk_rpc_client *client);

/** How a call ended. */
typedef struct cuzk_rpc_reply {
    cuzk_rpc_status status;
    char message[512]; /* the server's words, or ours when it gave none; cut when too long */
    uint8_t *p;        /* owned: the answer of a unary call, when status is OK; NULL when n is 0 */
    size_t n;
} cuzk_rpc_reply;

/** Frees the answer; accepts an empty reply. */
void cuzk_rpc_reply_free(cuzk_rpc_reply *reply);

/**
 * Calls a unary method. CUZK_OK when the call came to an end that the server or the deadline
 * (status DEADLINE_EXCEEDED) set: then *ret has its status. CUZK_E_IO when there was no connection
 * or it was lost, with status UNAVAILABLE in *ret as well. timeout_ms 0: no deadline.
 */
cuzk_code cuzk_rpc_client_call(cuzk_rpc_client *client, const char *path, cuzk_span request,
                               uint64_t timeout_ms, cuzk_rpc_reply *ret, cuzk_err *err);

/** Gets each message of a stream, borrowed; false cancels the call (status CANCELLED). */
typedef bool cuzk_rpc_receive_fn(void *ctx, cuzk_span message);

/** Calls a streaming method: sends all requests, then hands every answer to `receive`. Otherwise as
 *  cuzk_rpc_client_call; *ret has no answer. */
cuzk_code cuzk_rpc_client_stream(cuzk_rpc_client *client, const char *path,
                                 const cuzk_span *requests, size_t n_requests, uint64_t timeout_ms,
                                 cuzk_rpc_receive_fn *receive, void *ctx, cuzk_rpc_reply *ret,
                                 cuzk_err *err);

#endif
