#include "rpc/client_exchange.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool receive(void *ctx, cuzk_span message)
{
    size_t *left = ctx;
    for (size_t i = 0; i < message.n; i++) { /* all of it can be read */
        *left += message.p[i] == 0xff;
    }
    return (*left)-- > 1;
}

/* Answers a call in memory with bytes from a server; whatever they are, the call gets a status. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    nghttp2_session_callbacks *callbacks;
    nghttp2_session *session;
    size_t left = 5;
    cuzk_span request = {(const uint8_t *)"hello", 5};
    cuzk_rpc_exchange x = {.requests = &request,
                           .n_requests = 1,
                           .unary = data[0] & 1,
                           .max_message_bytes = 10000,
                           .receive = receive,
                           .ctx = &left};
    cuzk_rpc_exchange *current = &x;
    char name[] = ":method", post[] = "POST";
    nghttp2_nv field = {(uint8_t *)name, (uint8_t *)post, 7, 4, NGHTTP2_NV_FLAG_NONE};
    if (nghttp2_session_callbacks_new(&callbacks) != 0) {
        abort();
    }
    cuzk_rpc_exchange_callbacks(callbacks);
    if (nghttp2_session_client_new(&session, callbacks, &current) != 0 ||
        cuzk_rpc_exchange_submit(&x, session, &field, 1) < 0) {
        abort();
    }
    const uint8_t *out;
    while (nghttp2_session_mem_send(session, &out) > 0) {
    }
    size_t piece = (size_t)1 << (data[0] >> 1 & 15);
    for (size_t at = 1; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        if (nghttp2_session_mem_recv(session, data + at, n) < 0) {
            break;
        }
        while (nghttp2_session_mem_send(session, &out) > 0) {
        }
    }
    cuzk_rpc_exchange_settle(&x);
    if (x.body_n > 10000 || memchr(x.message, 0, sizeof x.message) == NULL ||
        (x.status == CUZK_RPC_OK && !x.has_status)) {
        abort();
    }
    nghttp2_session_del(session);
    nghttp2_session_callbacks_del(callbacks);
    free(x.body);
    return 0;
}
