#ifndef CUZK_RPC_CLIENT_EXCHANGE_H
#define CUZK_RPC_CLIENT_EXCHANGE_H

#include "rpc/framing.h"
#include "rpc/rpc_client.h"

#include <nghttp2/nghttp2.h>

/** One call of the client's, from its first byte to its status. */
typedef struct cuzk_rpc_exchange {
    const cuzk_span *requests;
    size_t n_requests;
    size_t at;   /* request that is being sent */
    size_t sent; /* of it, prefix included */
    bool unary;
    size_t max_message_bytes;
    cuzk_rpc_receive_fn *receive;
    void *ctx;
    uint64_t deadline_ns;

    cuzk_rpc_framing in;
    uint8_t *body; /* owned: of the message under way, or the unary answer */
    size_t body_cap, body_n;
    size_t n_messages;
    int http_status;
    bool has_status;   /* grpc-status came */
    bool closed;       /* the stream is over */
    bool gave_up;      /* by us: status and message are set */
    uint32_t h2_error; /* with closed */
    cuzk_rpc_status status;
    char message[512];
} cuzk_rpc_exchange;

/** Sets a session's callbacks; its user data must be a `cuzk_rpc_exchange *` variable, NULL between
 *  calls. */
void cuzk_rpc_exchange_callbacks(nghttp2_session_callbacks *callbacks);

/** Sends the headers and then all requests. The stream's id, or an error of nghttp2's. */
int32_t cuzk_rpc_exchange_submit(cuzk_rpc_exchange *x, nghttp2_session *session,
                                 const nghttp2_nv *fields, size_t n_fields);

/** Ends the call from our side. */
void cuzk_rpc_exchange_give_up(cuzk_rpc_exchange *x, nghttp2_session *session, int32_t id,
                               cuzk_rpc_status status, const char *message);

/** Decides on the status when the stream is over. */
void cuzk_rpc_exchange_settle(cuzk_rpc_exchange *x);

#endif
