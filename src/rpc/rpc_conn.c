#include "rpc/core.h"

#include "rpc/grpc_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTION_WINDOW = 32 << 20, OUTPUT_BYTES = 64 << 10, MESSAGE_TEXT_BYTES = 4096 };

static bool mark_broken(cuzk_rpc_conn *c)
{
    if (c->broken) {
        return false;
    }
    c->broken = true;
    cuzk_rpc_count(&c->core->connections_dropped, 1);
    return true;
}

/* Closes the session with an HTTP/2 error; what is queued before still goes out. */
static void drop(cuzk_rpc_conn *c, uint32_t error)
{
    if (mark_broken(c)) {
        nghttp2_session_terminate_session(c->session, error);
    }
}

/* ---- answers ---- */

#define FIELD(name, value, n)                                                                      \
    ((nghttp2_nv){(uint8_t *)(uintptr_t)(name), (uint8_t *)(uintptr_t)(value), sizeof(name) - 1,   \
                  (n), NGHTTP2_NV_FLAG_NONE})

/* grpc-status and, if there is one, grpc-message. */
static size_t status_fields(const cuzk_rpc_stream *s, char number[16], char *text, nghttp2_nv *ret)
{
    int n = snprintf(number, 16, "%u", (unsigned)s->status);
    ret[0] = FIELD("grpc-status", number, (size_t)n);
    if (!s->message) {
        return 1;
    }
    size_t n_text = cuzk_rpc_percent_encode(text, MESSAGE_TEXT_BYTES, s->message);
    ret[1] = FIELD("grpc-message", text, n_text);
    return 2;
}

static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *buf, size_t cap,
                       uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    (void)ctx;
    cuzk_rpc_stream *s = source->ptr;
    bool last;
    size_t n = cuzk_rpc_stream_read(s, buf, cap, &last);
    if (last) {
        char number[16], text[MESSAGE_TEXT_BYTES];
        nghttp2_nv fields[2];
        size_t n_fields = status_fields(s, number, text, fields);
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        s->ended = true;
        if (nghttp2_submit_trailer(session, id, fields, n_fields) != 0) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    } else if (n == 0) {
        return NGHTTP2_ERR_DEFERRED;
    }
    return (ssize_t)n;
}

void cuzk_rpc_stream_pump(cuzk_rpc_stream *s)
{
    cuzk_rpc_conn *c = s->conn;
    if (s->ended || (!s->first && !s->finished)) {
        return;
    }
    if (s->replied) {
        nghttp2_session_resume_data(c->session, s->id); /* an error only says: not deferred */
        return;
    }
    char http[16], number[16], text[MESSAGE_TEXT_BYTES];
    int n_http = snprintf(http, sizeof http, "%d", s->http_status);
    nghttp2_nv fields[5] = {
        FIELD(":status", http, (size_t)n_http),
        FIELD("content-type", "application/grpc", 16),
        FIELD("grpc-accept-encoding", "identity", 8),
    };
    size_t n = 3;
    nghttp2_data_provider body = {.source.ptr = s, .read_callback = on_read};
    s->replied = true;
    if (!s->first) {
        n += status_fields(s, number, text, fields + n);
        s->ended = true;
    }
    if (nghttp2_submit_response(c->session, s->id, fields, n, s->first ? &body : NULL) != 0) {
        drop(c, NGHTTP2_INTERNAL_ERROR);
    }
}

/* ---- what nghttp2 tells ---- */

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    cuzk_rpc_conn *c = ctx;
    c->header_ns = c->core->now_ns;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        return 0;
    }
    cuzk_rpc_stream *s = cuzk_rpc_stream_new(c, frame->hd.stream_id);
    if (!s) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    nghttp2_session_set_stream_user_data(session, s->id, s);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t n_name, const uint8_t *value, size_t n_value, uint8_t flags, void *ctx)
{
    (void)flags;
    cuzk_rpc_conn *c = ctx;
    cuzk_rpc_stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    if (!s) {
        return 0;
    }
    size_t limit = c->core->limits.max_header_bytes;
    s->request.header_bytes += n_name + n_value + 32; /* as SETTINGS_MAX_HEADER_LIST_SIZE counts */
    if (s->request.header_bytes > 4 * limit) {
        drop(c, NGHTTP2_ENHANCE_YOUR_CALM);
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST && s->request.header_bytes <= limit) {
        cuzk_rpc_request_field(c->core, &s->request, (const char *)name, n_name,
                               (const char *)value, n_value);
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    cuzk_rpc_conn *c = ctx;
    cuzk_rpc_stream *s = NULL;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        c->header_ns = 0;
        s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (s && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
            cuzk_rpc_stream_headers_done(s);
        }
        break;
    case NGHTTP2_DATA:
        s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        break;
    case NGHTTP2_SETTINGS:
        c->settled = true;
        break;
    case NGHTTP2_PING:
        if (frame->hd.flags & NGHTTP2_FLAG_ACK) {
            c->ping_ns = 0;
        }
        break;
    default:
        break;
    }
    if (s && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
        cuzk_rpc_stream_half_close(s);
    }
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *ctx)
{
    (void)flags;
    (void)ctx;
    /* Streams hold each other up by their own windows only. */
    nghttp2_session_consume_connection(session, n);
    cuzk_rpc_stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s) {
        cuzk_rpc_stream_data(s, p, n);
    }
    return 0;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    cuzk_rpc_conn *c = ctx;
    if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) {
        mark_broken(c); /* nghttp2 itself has found an error */
    } else if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
        cuzk_rpc_stream *s = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
        if (s && !s->half_closed) { /* tells a client that still uploads to stop */
            nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR);
        }
    }
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *ctx)
{
    (void)error;
    (void)ctx;
    cuzk_rpc_stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (s) {
        nghttp2_session_set_stream_user_data(session, id, NULL);
        cuzk_rpc_stream_free(s, CUZK_RPC_END_CANCELLED);
    }
    return 0;
}

cuzk_code cuzk_rpc_session_setup(nghttp2_session_callbacks **ret_callbacks,
                                 nghttp2_option **ret_options, cuzk_err *err)
{
    nghttp2_session_callbacks *k;
    nghttp2_option *o;
    if (nghttp2_session_callbacks_new(&k) != 0) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a server");
    }
    if (nghttp2_option_new(&o) != 0) {
        nghttp2_session_callbacks_del(k);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a server");
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(k, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(k, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(k, on_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(k, on_data);
    nghttp2_session_callbacks_set_on_frame_send_callback(k, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(k, on_close);
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_option_set_no_closed_streams(o, 1);
    nghttp2_option_set_max_settings(o, 16);
    nghttp2_option_set_max_outbound_ack(o, 256);
    nghttp2_option_set_stream_reset_rate_limit(o, 200, 20); /* burst, then each second */
    nghttp2_option_set_max_continuations(o, 8);
    *ret_callbacks = k;
    *ret_options = o;
    return CUZK_OK;
}

/* ---- the connection ---- */

static bool start_session(cuzk_rpc_conn *c)
{
    const cuzk_rpc_core *core = c->core;
    if (nghttp2_session_server_new2(&c->session, core->callbacks, c, core->options) != 0) {
        return false;
    }
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, core->limits.max_streams},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)core->limits.max_header_bytes},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 1 << 20},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 0},
    };
    return nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 3) == 0 &&
           nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0,
                                                 CONNECTION_WINDOW) == 0;
}

cuzk_rpc_conn *cuzk_rpc_conn_new(cuzk_rpc_core *core, const char *peer, uint64_t now_ns)
{
    cuzk_rpc_conn *c = calloc(1, sizeof *c);
    if (!c) {
        return NULL;
    }
    c->core = core;
    snprintf(c->peer, sizeof c->peer, "%s", peer);
    c->born_ns = c->heard_ns = c->busy_ns = c->taken_ns = now_ns;
    if (!start_session(c)) {
        nghttp2_session_del(c->session);
        free(c);
        return NULL;
    }
    c->next = core->conns;
    if (c->next) {
        c->next->prev = c;
    }
    core->conns = c;
    cuzk_rpc_count(&core->connections, 1);
    cuzk_rpc_count(&core->connections_total, 1);
    return c;
}

void cuzk_rpc_conn_free(cuzk_rpc_conn *c, cuzk_rpc_end end)
{
    while (c->streams) {
        cuzk_rpc_stream_free(c->streams, end);
    }
    nghttp2_session_del(c->session); /* tells nothing of streams any more */
    *(c->prev ? &c->prev->next : &c->core->conns) = c->next;
    if (c->next) {
        c->next->prev = c->prev;
    }
    atomic_fetch_sub_explicit(&c->core->connections, 1, memory_order_relaxed);
    free(c->out);
    free(c);
}

void cuzk_rpc_conn_input(cuzk_rpc_conn *c, const uint8_t *p, size_t n, uint64_t now_ns)
{
    c->heard_ns = now_ns;
    cuzk_rpc_count(&c->core->received_bytes, n);
    if (!c->broken && nghttp2_session_mem_recv(c->session, p, n) < 0) {
        drop(c, NGHTTP2_PROTOCOL_ERROR);
    }
}

static bool append(cuzk_rpc_conn *c, const uint8_t *p, size_t n)
{
    if (c->out_n + n > c->out_cap) {
        size_t cap = c->out_n + n > OUTPUT_BYTES * 2 ? c->out_n + n : OUTPUT_BYTES * 2;
        uint8_t *grown = realloc(c->out, cap);
        if (!grown) {
            return false;
        }
        c->out = grown;
        c->out_cap = cap;
    }
    memcpy(c->out + c->out_n, p, n);
    c->out_n += n;
    return true;
}

size_t cuzk_rpc_conn_output(cuzk_rpc_conn *c, const uint8_t **ret)
{
    if (c->out_at == c->out_n) {
        c->out_at = c->out_n = 0;
        while (c->out_n < OUTPUT_BYTES) {
            const uint8_t *p;
            ssize_t n = nghttp2_session_mem_send(c->session, &p);
            if (n == 0) {
                break;
            }
            if (n < 0 || !append(c, p, (size_t)n)) {
                drop(c, NGHTTP2_INTERNAL_ERROR);
                c->out_n = 0;
                break;
            }
        }
    }
    *ret = c->out + c->out_at;
    return c->out_n - c->out_at;
}

void cuzk_rpc_conn_wrote(cuzk_rpc_conn *c, size_t n, uint64_t now_ns)
{
    c->out_at += n;
    c->taken_ns = now_ns;
    cuzk_rpc_count(&c->core->sent_bytes, n);
}

bool cuzk_rpc_conn_is_done(const cuzk_rpc_conn *c)
{
    return c->broken ||
           (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session));
}

void cuzk_rpc_conn_goaway(cuzk_rpc_conn *c)
{
    if (!c->leaving && !c->broken) {
        c->leaving = true;
        nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(c->session), NGHTTP2_NO_ERROR,
                              NULL, 0);
    }
}

static bool passed(uint64_t since_ns, uint64_t now_ns, uint64_t limit_ms)
{
    return now_ns > since_ns && now_ns - since_ns >= limit_ms * 1000000;
}

void cuzk_rpc_conn_tick(cuzk_rpc_conn *c, uint64_t now_ns)
{
    const cuzk_rpc_limits *limits = &c->core->limits;
    cuzk_rpc_stream *next;
    for (cuzk_rpc_stream *s = c->streams; s; s = next) {
        next = s->next;
        cuzk_rpc_stream_tick(s, now_ns);
    }
    if (c->out_at == c->out_n) {
        c->taken_ns = now_ns;
    }
    if ((!c->settled && passed(c->born_ns, now_ns, limits->handshake_timeout_ms)) ||
        (c->header_ns && passed(c->header_ns, now_ns, limits->header_timeout_ms)) ||
        (c->ping_ns && c->heard_ns <= c->ping_ns &&
         passed(c->ping_ns, now_ns, limits->ping_timeout_ms)) ||
        passed(c->taken_ns, now_ns, limits->slow_timeout_ms)) {
        drop(c, NGHTTP2_ENHANCE_YOUR_CALM);
        return;
    }
    if (c->n_streams == 0) {
        c->ping_ns = 0;
        if (passed(c->busy_ns, now_ns, limits->idle_timeout_ms)) {
            cuzk_rpc_conn_goaway(c);
        }
        return;
    }
    c->busy_ns = now_ns;
    if (c->ping_ns && c->heard_ns > c->ping_ns) {
        c->ping_ns = 0;
    }
    if (!c->ping_ns && passed(c->heard_ns, now_ns, limits->ping_after_ms)) {
        c->ping_ns = now_ns;
        nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL);
    }
}
