#include "rpc/core.h"

#include "base/system.h"
#include "rpc/grpc_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE_WINDOW = 8 << 20 }; /* of a stream whose message has its memory */

cuzk_rpc_stream *cuzk_rpc_stream_new(cuzk_rpc_conn *conn, int32_t id)
{
    cuzk_rpc_stream *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->conn = conn;
    s->id = id;
    s->deadline_ns = UINT64_MAX;
    s->mark_ns = conn->core->now_ns;
    s->http_status = 200;
    cuzk_rpc_request_init(&s->request);
    s->next = conn->streams;
    if (s->next) {
        s->next->prev = s;
    }
    conn->streams = s;
    conn->n_streams++;
    return s;
}

/* ---- waiting for memory ---- */

static void wait_for_memory(cuzk_rpc_stream *s)
{
    cuzk_rpc_core *core = s->conn->core;
    if (s->waiting) {
        return;
    }
    s->waiting = true;
    s->wait_prev = core->waiting_last;
    *(s->wait_prev ? &s->wait_prev->wait_next : &core->waiting) = s;
    core->waiting_last = s;
}

static void stop_waiting(cuzk_rpc_stream *s)
{
    cuzk_rpc_core *core = s->conn->core;
    if (!s->waiting) {
        return;
    }
    *(s->wait_prev ? &s->wait_prev->wait_next : &core->waiting) = s->wait_next;
    *(s->wait_next ? &s->wait_next->wait_prev : &core->waiting_last) = s->wait_prev;
    s->wait_prev = s->wait_next = NULL;
    s->waiting = false;
    s->mark_ns = core->now_ns; /* the client was held by us until now */
    s->mark_bytes = 0;
}

/* ---- ends ---- */

static void drop_input(cuzk_rpc_stream *s)
{
    stop_waiting(s);
    s->refused = true;
    s->complete = false;
    cuzk_rpc_message_free(&s->body);
    free(s->held);
    s->held = NULL;
    s->n_held = s->cap_held = 0;
}

static void end_call(cuzk_rpc_stream *s, cuzk_rpc_end end)
{
    cuzk_rpc_call *call = s->call;
    if (call) {
        s->call = NULL;
        call->stream = NULL;
        cuzk_rpc_call_end(call, end);
        cuzk_rpc_call_unref(call);
        atomic_fetch_sub_explicit(&s->conn->core->calls, 1, memory_order_relaxed);
    }
}

void cuzk_rpc_stream_free(cuzk_rpc_stream *s, cuzk_rpc_end end)
{
    cuzk_rpc_conn *c = s->conn;
    drop_input(s);
    end_call(s, end);
    cuzk_rpc_chunks_free(s->first);
    free(s->message);
    *(s->prev ? &s->prev->next : &c->streams) = s->next;
    if (s->next) {
        s->next->prev = s->prev;
    }
    c->n_streams--;
    c->busy_ns = c->core->now_ns;
    free(s);
}

void cuzk_rpc_stream_abort(cuzk_rpc_stream *s, cuzk_rpc_end end, cuzk_rpc_status status,
                           const char *message)
{
    drop_input(s);
    end_call(s, end);
    if (s->ended) {
        return;
    }
    if (s->first && s->replied) { /* part of a message may be out: no trailers can follow */
        nghttp2_submit_rst_stream(s->conn->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
        s->ended = true;
        return;
    }
    cuzk_rpc_chunks_free(s->first);
    s->first = s->last = NULL;
    free(s->message);
    s->message = strdup(message);
    s->status = status;
    s->finished = true;
    cuzk_rpc_stream_pump(s);
}

static void refuse(cuzk_rpc_stream *s, cuzk_rpc_status status, const char *message)
{
    cuzk_rpc_count(&s->conn->core->calls_refused, 1);
    cuzk_rpc_stream_abort(s, CUZK_RPC_END_CANCELLED, status, message);
}

/* ---- requests ---- */

static bool takes_many(const cuzk_rpc_stream *s)
{
    return s->request.method->kind == CUZK_RPC_BIDI;
}

/* Makes the call that handlers see; false after refusing. */
static bool open_call(cuzk_rpc_stream *s)
{
    cuzk_rpc_core *core = s->conn->core;
    s->call = cuzk_rpc_call_new(core->hub, s->request.method->path, s->conn->peer, s->deadline_ns);
    if (!s->call) {
        refuse(s, CUZK_RPC_RESOURCE_EXHAUSTED, "the server has no memory for the call");
        return false;
    }
    s->call->stream = s;
    cuzk_rpc_count(&core->calls, 1);
    cuzk_rpc_count(&core->calls_total, 1);
    return true;
}

static void hand_over(cuzk_rpc_stream *s)
{
    cuzk_rpc_message message = s->body;
    s->body = (cuzk_rpc_message){0};
    s->request.method->handler(s->request.method->ctx, s->call, &message);
}

void cuzk_rpc_stream_headers_done(cuzk_rpc_stream *s)
{
    cuzk_rpc_core *core = s->conn->core;
    cuzk_rpc_refusal no;
    if (!cuzk_rpc_request_check(core, &s->request, &no)) {
        s->http_status = no.http_status;
        refuse(s, no.status, no.message);
        return;
    }
    s->accepted = true;
    if (s->request.timeout_ns < UINT64_MAX - core->now_ns) {
        s->deadline_ns = core->now_ns + s->request.timeout_ns;
        if (s->deadline_ns < core->next_deadline_ns) {
            core->next_deadline_ns = s->deadline_ns;
        }
    }
    if (takes_many(s)) {
        open_call(s);
    }
}

/* Whether a message with this prefix may come; refuses it otherwise. */
static bool check_prefix(cuzk_rpc_stream *s)
{
    size_t limit = s->request.method->max_request_bytes;
    limit = limit ? limit : s->conn->core->limits.max_message_bytes;
    char text[128];
    if (s->complete) {
        refuse(s, CUZK_RPC_UNIMPLEMENTED, "the method takes one message, the client sends more");
    } else if (s->in.flag == 1) {
        refuse(s, CUZK_RPC_UNIMPLEMENTED, "compressed messages are not supported");
    } else if (s->in.flag > 1) {
        refuse(s, CUZK_RPC_INTERNAL, "a message starts with a byte that is neither 0 nor 1");
    } else if (s->in.size > limit) {
        snprintf(text, sizeof text, "message of %zu bytes is larger than the limit of %zu bytes",
                 s->in.size, limit);
        refuse(s, CUZK_RPC_RESOURCE_EXHAUSTED, text);
    } else {
        return true;
    }
    return false;
}

static cuzk_rpc_grant ask(cuzk_rpc_stream *s, void **ret)
{
    cuzk_rpc_core *core = s->conn->core;
    size_t n = s->in.size;
    if (n == 0) {
        *ret = NULL;
        return CUZK_RPC_GRANTED;
    }
    if (!core->memory.alloc || n <= CUZK_RPC_SMALL_BYTES) {
        *ret = malloc(n);
        return *ret ? CUZK_RPC_GRANTED : CUZK_RPC_NEVER;
    }
    if (core->waiting && core->waiting != s) { /* others were here before */
        return CUZK_RPC_LATER;
    }
    return core->memory.alloc(core->memory.ctx, n, ret);
}

/* Finds memory for the message whose prefix is read. True: go on reading. */
static bool find_memory(cuzk_rpc_stream *s)
{
    void *p;
    switch (ask(s, &p)) {
    case CUZK_RPC_LATER:
        wait_for_memory(s);
        return false;
    case CUZK_RPC_NEVER:
        refuse(s, CUZK_RPC_RESOURCE_EXHAUSTED, "the server has no room for a message of this size");
        return false;
    case CUZK_RPC_GRANTED:
        break;
    }
    stop_waiting(s);
    s->body = (cuzk_rpc_message){.p = p, .n = s->in.size};
    if (s->in.size > CUZK_RPC_SMALL_BYTES) {
        s->body.memory = s->conn->core->memory;
    }
    if (s->in.size > NGHTTP2_INITIAL_WINDOW_SIZE && !takes_many(s) && !s->wide) {
        s->wide = true;
        nghttp2_session_set_local_window_size(s->conn->session, NGHTTP2_FLAG_NONE, s->id,
                                              WIDE_WINDOW);
    }
    cuzk_rpc_framing_accept(&s->in, p);
    return true;
}

/* Reads as far as memory and the method allow. */
static void take(cuzk_rpc_stream *s, const uint8_t **p, size_t *n)
{
    while (!s->refused) {
        switch (cuzk_rpc_framing_feed(&s->in, p, n)) {
        case CUZK_RPC_FRAMING_MORE:
            return;
        case CUZK_RPC_FRAMING_PREFIX:
            if (!check_prefix(s) || !find_memory(s)) {
                return;
            }
            break;
        case CUZK_RPC_FRAMING_MESSAGE:
            if (takes_many(s)) {
                hand_over(s);
            } else {
                s->complete = true;
            }
            break;
        }
    }
}

/* Keeps bytes of a stream that waits. Flow control bounds them by the window. */
static void hold(cuzk_rpc_stream *s, const uint8_t *p, size_t n)
{
    if (s->n_held + n > s->cap_held) {
        size_t cap = s->n_held + n < NGHTTP2_INITIAL_WINDOW_SIZE / 4
                         ? NGHTTP2_INITIAL_WINDOW_SIZE / 4
                         : NGHTTP2_INITIAL_WINDOW_SIZE;
        cap = cap < s->n_held + n ? s->n_held + n : cap;
        uint8_t *grown = realloc(s->held, cap);
        if (!grown) {
            refuse(s, CUZK_RPC_RESOURCE_EXHAUSTED, "the server has no memory for the request");
            return;
        }
        s->held = grown;
        s->cap_held = cap;
    }
    memcpy(s->held + s->n_held, p, n);
    s->n_held += n;
}

static void consume(cuzk_rpc_stream *s, size_t n)
{
    if (n > 0 && !s->half_closed) {
        nghttp2_session_consume_stream(s->conn->session, s->id, n);
    }
}

void cuzk_rpc_stream_data(cuzk_rpc_stream *s, const uint8_t *p, size_t n)
{
    size_t all = n;
    s->mark_bytes += n;
    if (s->accepted && !s->refused && !s->waiting) {
        take(s, &p, &n);
    }
    if (s->waiting && !s->refused && n > 0) {
        hold(s, p, n);
    }
    consume(s, s->refused ? all : all - n);
}

static void request_complete(cuzk_rpc_stream *s)
{
    if (!cuzk_rpc_framing_between(&s->in)) {
        refuse(s, CUZK_RPC_INVALID_ARGUMENT, "the request ends inside a message");
    } else if (takes_many(s)) {
        s->request.method->handler(s->request.method->ctx, s->call, NULL);
    } else if (!s->complete) {
        refuse(s, CUZK_RPC_UNIMPLEMENTED, "the method takes one message, the client sent none");
    } else if (open_call(s)) {
        s->complete = false;
        hand_over(s);
    }
}

void cuzk_rpc_stream_half_close(cuzk_rpc_stream *s)
{
    s->half_closed = true;
    if (s->accepted && !s->refused && !s->waiting) {
        request_complete(s);
    }
}

bool cuzk_rpc_stream_retry(cuzk_rpc_stream *s)
{
    const uint8_t *p = s->held;
    size_t all = s->n_held, n = all;
    take(s, &p, &n);
    if (s->refused) {
        return true; /* what was held is dropped */
    }
    if (n > 0 && n < all) {
        memmove(s->held, p, n);
    }
    s->n_held = n;
    consume(s, all - n);
    if (!s->waiting && s->half_closed) {
        request_complete(s);
    }
    return !s->waiting;
}

/* ---- answers ---- */

void cuzk_rpc_stream_news(cuzk_rpc_stream *s)
{
    cuzk_rpc_news news;
    cuzk_rpc_call_take_news(s->call, &news);
    if (news.first) {
        *(s->last ? &s->last->next : &s->first) = news.first;
        s->last = news.last;
        if (s->stall_ns == 0) {
            s->stall_ns = s->conn->core->now_ns;
        }
    }
    if (news.finished && !s->finished) {
        s->finished = true;
        s->status = news.status;
        free(s->message);
        s->message = news.message;
    } else {
        free(news.message);
    }
    cuzk_rpc_stream_pump(s);
}

size_t cuzk_rpc_stream_read(cuzk_rpc_stream *s, uint8_t *buf, size_t cap, bool *ret_last)
{
    size_t n = 0;
    while (s->first && n < cap) {
        cuzk_rpc_chunk *chunk = s->first;
        size_t k = chunk->n - chunk->sent < cap - n ? chunk->n - chunk->sent : cap - n;
        memcpy(buf + n, chunk->bytes + chunk->sent, k);
        chunk->sent += k;
        n += k;
        if (chunk->sent == chunk->n) {
            s->first = chunk->next;
            free(chunk);
        }
    }
    if (!s->first) {
        s->last = NULL;
    }
    if (s->call) {
        atomic_fetch_sub_explicit(&s->call->queued, n, memory_order_relaxed);
    }
    s->stall_ns = s->first ? s->conn->core->now_ns : 0;
    *ret_last = !s->first && s->finished;
    return n;
}

void cuzk_rpc_stream_tick(cuzk_rpc_stream *s, uint64_t now_ns)
{
    const cuzk_rpc_limits *limits = &s->conn->core->limits;
    uint64_t slow_ns = limits->slow_timeout_ms * 1000000;
    if (s->stall_ns && now_ns - s->stall_ns >= slow_ns) {
        cuzk_rpc_stream_abort(s, CUZK_RPC_END_STALLED, CUZK_RPC_DEADLINE_EXCEEDED,
                              "the client does not take the answer");
        return;
    }
    if (!s->accepted || s->refused || s->half_closed || s->waiting || takes_many(s) ||
        now_ns - s->mark_ns < slow_ns) {
        return;
    }
    if (s->mark_bytes < limits->min_rate_bytes) {
        char text[128];
        snprintf(text, sizeof text, "the request came too slowly: %zu bytes in %llu ms",
                 s->mark_bytes, (unsigned long long)((now_ns - s->mark_ns) / 1000000));
        cuzk_rpc_count(&s->conn->core->calls_refused, 1);
        cuzk_rpc_stream_abort(s, CUZK_RPC_END_STALLED, CUZK_RPC_DEADLINE_EXCEEDED, text);
    }
    s->mark_ns = now_ns;
    s->mark_bytes = 0;
}
