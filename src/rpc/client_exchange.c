#include "rpc/client_exchange.h"

#include "rpc/grpc_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cuzk_rpc_exchange_give_up(cuzk_rpc_exchange *x, nghttp2_session *session, int32_t id,
                               cuzk_rpc_status status, const char *message)
{
    x->gave_up = true;
    x->status = status;
    snprintf(x->message, sizeof x->message, "%s", message);
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

/* The call under way, if the stream is its own and not one given up before. */
static cuzk_rpc_exchange *current(nghttp2_session *session, int32_t id, void *ctx)
{
    cuzk_rpc_exchange *x = *(cuzk_rpc_exchange **)ctx;
    return x && nghttp2_session_get_stream_user_data(session, id) == x ? x : NULL;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *ctx)
{
    (void)n_name;
    (void)flags;
    cuzk_rpc_exchange *x = current(session, frame->hd.stream_id, ctx);
    if (!x) {
        return 0;
    }
    const char *text = (const char *)value; /* nghttp2 ends both with a NUL */
    if (strcmp((const char *)name, ":status") == 0) {
        x->http_status = atoi(text);
    } else if (strcmp((const char *)name, "grpc-status") == 0) {
        x->has_status = true;
        x->status = (cuzk_rpc_status)(n_value <= 2 ? atoi(text) : CUZK_RPC_UNKNOWN);
    } else if (strcmp((const char *)name, "grpc-message") == 0) {
        cuzk_rpc_percent_decode(x->message, sizeof x->message, text, n_value);
    }
    return 0;
}

/* Makes room for the message whose prefix is read; false after giving up. */
static bool make_room(cuzk_rpc_exchange *x, nghttp2_session *session, int32_t id)
{
    char text[160];
    if (x->in.flag != 0) {
        cuzk_rpc_exchange_give_up(x, session, id, CUZK_RPC_INTERNAL,
                                  "the server sent a compressed message, unasked");
        return false;
    }
    if (x->in.size > x->max_message_bytes) {
        snprintf(text, sizeof text, "answer of %zu bytes is larger than the limit of %zu bytes",
                 x->in.size, x->max_message_bytes);
        cuzk_rpc_exchange_give_up(x, session, id, CUZK_RPC_RESOURCE_EXHAUSTED, text);
        return false;
    }
    if (x->unary && x->n_messages > 0) {
        cuzk_rpc_exchange_give_up(x, session, id, CUZK_RPC_INTERNAL,
                                  "the server sent more than one message");
        return false;
    }
    if (x->in.size > x->body_cap) {
        free(x->body);
        x->body = malloc(x->in.size);
        x->body_cap = x->body ? x->in.size : 0;
        if (!x->body) {
            cuzk_rpc_exchange_give_up(x, session, id, CUZK_RPC_RESOURCE_EXHAUSTED,
                                      "no memory for the answer");
            return false;
        }
    }
    cuzk_rpc_framing_accept(&x->in, x->body);
    return true;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *ctx)
{
    (void)flags;
    cuzk_rpc_exchange *x = current(session, id, ctx);
    cuzk_rpc_framing_event event;
    while (x && !x->gave_up &&
           (event = cuzk_rpc_framing_feed(&x->in, &p, &n)) != CUZK_RPC_FRAMING_MORE) {
        if (event == CUZK_RPC_FRAMING_PREFIX) {
            make_room(x, session, id);
            continue;
        }
        x->n_messages++;
        x->body_n = x->in.size;
        if (!x->unary && !x->receive(x->ctx, (cuzk_span){x->body, x->body_n})) {
            cuzk_rpc_exchange_give_up(x, session, id, CUZK_RPC_CANCELLED, "cancelled");
        }
    }
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *ctx)
{
    cuzk_rpc_exchange *x = current(session, id, ctx);
    if (x) {
        x->closed = true;
        x->h2_error = error;
    }
    return 0;
}

/* The requests, each behind its prefix. */
static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t cap,
                       uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    (void)source;
    cuzk_rpc_exchange *x = current(session, id, ctx);
    size_t n = 0;
    while (n < cap && x && x->at < x->n_requests) {
        const cuzk_span *r = &x->requests[x->at];
        uint8_t prefix[CUZK_RPC_PREFIX_BYTES];
        cuzk_rpc_framing_prefix(prefix, (uint32_t)r->n);
        bool in_prefix = x->sent < sizeof prefix;
        size_t left = in_prefix ? sizeof prefix - x->sent : r->n + sizeof prefix - x->sent;
        const uint8_t *from = in_prefix ? prefix + x->sent : r->p + (x->sent - sizeof prefix);
        size_t k = left < cap - n ? left : cap - n;
        if (k > 0) {
            memcpy(buf + n, from, k);
        }
        n += k;
        x->sent += k;
        if (x->sent == r->n + sizeof prefix) {
            x->at++;
            x->sent = 0;
        }
    }
    if (!x || x->at == x->n_requests) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    }
    return (ssize_t)n;
}

void cuzk_rpc_exchange_callbacks(nghttp2_session_callbacks *callbacks)
{
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
}

int32_t cuzk_rpc_exchange_submit(cuzk_rpc_exchange *x, nghttp2_session *session,
                                 const nghttp2_nv *fields, size_t n_fields)
{
    nghttp2_data_provider body = {.read_callback = on_read};
    return nghttp2_submit_request(session, NULL, fields, n_fields, &body, x);
}

__attribute__((format(printf, 3, 4))) static void
set_words(cuzk_rpc_exchange *x, cuzk_rpc_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    x->status = status;
    vsnprintf(x->message, sizeof x->message, fmt, args);
    va_end(args);
}

/* The status of an answer that has no grpc-status: as "HTTP to gRPC Status Code Mapping" says. */
static void status_of_http(cuzk_rpc_exchange *x)
{
    static const struct {
        int http;
        cuzk_rpc_status status;
    } map[] = {{400, CUZK_RPC_INTERNAL},          {401, CUZK_RPC_UNAUTHENTICATED},
               {403, CUZK_RPC_PERMISSION_DENIED}, {404, CUZK_RPC_UNIMPLEMENTED},
               {429, CUZK_RPC_UNAVAILABLE},       {502, CUZK_RPC_UNAVAILABLE},
               {503, CUZK_RPC_UNAVAILABLE},       {504, CUZK_RPC_UNAVAILABLE}};
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        if (map[i].http == x->http_status) {
            set_words(x, map[i].status, "the server answered with HTTP status %d", x->http_status);
            return;
        }
    }
    set_words(x, CUZK_RPC_UNKNOWN, "the server answered with HTTP status %d", x->http_status);
}

void cuzk_rpc_exchange_settle(cuzk_rpc_exchange *x)
{
    if (x->gave_up || (x->has_status && x->http_status == 200 && x->status != CUZK_RPC_OK)) {
        return;
    }
    if (x->http_status != 0 && x->http_status != 200) {
        status_of_http(x);
    } else if (!x->has_status && x->h2_error == NGHTTP2_REFUSED_STREAM) {
        set_words(x, CUZK_RPC_UNAVAILABLE, "the server takes no more calls");
    } else if (!x->has_status && x->h2_error == NGHTTP2_ENHANCE_YOUR_CALM) {
        set_words(x, CUZK_RPC_RESOURCE_EXHAUSTED, "the server asks for less");
    } else if (!x->has_status) {
        set_words(x, x->h2_error == NGHTTP2_CANCEL ? CUZK_RPC_CANCELLED : CUZK_RPC_INTERNAL,
                  "the stream ended without a status, HTTP/2 error %d", (int)x->h2_error);
    } else if (!cuzk_rpc_framing_between(&x->in) || (x->unary && x->n_messages != 1)) {
        set_words(x, CUZK_RPC_INTERNAL, "the server ended the call without a whole answer");
    }
}
