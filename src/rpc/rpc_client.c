#include "rpc/rpc_client.h"

#include "base/system.h"
#include "rpc/client_connect.h"
#include "rpc/client_exchange.h"
#include "rpc/grpc_text.h"
#include "rpc/tls.h"

#include <nghttp2/nghttp2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    READ_BYTES = 256 << 10,
    STREAM_WINDOW = 8 << 20,
    CONNECTION_WINDOW = 32 << 20,
};

struct cuzk_rpc_client {
    cuzk_rpc_address address;
    char *authority, *server_name, *bearer; /* bearer: the header field, NULL without a token */
    size_t max_message_bytes;
    uint64_t connect_timeout_ms;
    SSL_CTX *tls;
    nghttp2_session_callbacks *callbacks;
    uint8_t *buffer;
    cuzk_rpc_transport transport;
    nghttp2_session *session; /* NULL: not connected */
    const uint8_t *out;       /* nghttp2's, until its next frame */
    size_t n_out;
    cuzk_rpc_exchange *x; /* NULL between calls */
};

/* ---- the connection ---- */

static void disconnect(cuzk_rpc_client *c)
{
    nghttp2_session_del(c->session);
    c->session = NULL;
    c->n_out = 0;
    cuzk_rpc_transport_close(&c->transport);
}

static uint64_t after_ms(uint64_t ms)
{
    uint64_t now = cuzk_clock_ns();
    return ms > (UINT64_MAX - now) / 1000000 ? UINT64_MAX : now + ms * 1000000;
}

static cuzk_code connect_now(cuzk_rpc_client *c, uint64_t deadline_ns, cuzk_err *err)
{
    uint64_t limit = after_ms(c->connect_timeout_ms);
    CUZK_TRY(cuzk_rpc_connect(&c->transport, &c->address, c->tls, c->server_name,
                              limit < deadline_ns ? limit : deadline_ns, err));
    nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
    };
    if (nghttp2_session_client_new(&c->session, c->callbacks, &c->x) != 0 ||
        nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, 2) != 0 ||
        nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0,
                                              CONNECTION_WINDOW) != 0) {
        disconnect(c);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a connection to %s", c->authority);
    }
    return CUZK_OK;
}

static cuzk_code lost(cuzk_rpc_client *c, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_IO, "the connection to %s is lost: %s", c->authority,
                     c->transport.reason[0] ? c->transport.reason : "the server closed it");
}

/* Sends what it can without waiting; *ret_more: the socket is full. */
static cuzk_code send_some(cuzk_rpc_client *c, bool *ret_more, cuzk_err *err)
{
    *ret_more = false;
    for (;;) {
        if (c->n_out == 0) {
            ssize_t n = nghttp2_session_mem_send(c->session, &c->out);
            if (n < 0) {
                return CUZK_FAIL(err, CUZK_E_IO, "HTTP/2 to %s: %s", c->authority,
                                 nghttp2_strerror((int)n));
            }
            if (n == 0) {
                return CUZK_OK;
            }
            c->n_out = (size_t)n;
        }
        size_t sent;
        switch (cuzk_rpc_transport_write(&c->transport, c->out, c->n_out, &sent)) {
        case CUZK_RPC_IO_AGAIN:
            *ret_more = true;
            return CUZK_OK;
        case CUZK_RPC_IO_CLOSED:
            return lost(c, err);
        case CUZK_RPC_IO_DONE:
            c->out += sent;
            c->n_out -= sent;
            break;
        }
    }
}

/* Reads what is there. */
static cuzk_code receive_some(cuzk_rpc_client *c, cuzk_err *err)
{
    for (;;) {
        size_t n;
        switch (cuzk_rpc_transport_read(&c->transport, c->buffer, READ_BYTES, &n)) {
        case CUZK_RPC_IO_AGAIN:
            return CUZK_OK;
        case CUZK_RPC_IO_CLOSED:
            return lost(c, err);
        case CUZK_RPC_IO_DONE:
            break;
        }
        ssize_t used = nghttp2_session_mem_recv(c->session, c->buffer, n);
        if (used < 0) {
            return CUZK_FAIL(err, CUZK_E_IO, "HTTP/2 from %s: %s", c->authority,
                             nghttp2_strerror((int)used));
        }
        if (n < READ_BYTES && !c->transport.ssl) {
            return CUZK_OK;
        }
    }
}

/* A connection that takes a call: the one that is there, if it is still good, or a new one. */
static cuzk_code ready(cuzk_rpc_client *c, uint64_t deadline_ns, cuzk_err *err)
{
    bool more;
    if (c->session && (receive_some(c, NULL) != CUZK_OK || send_some(c, &more, NULL) != CUZK_OK ||
                       nghttp2_session_check_request_allowed(c->session) == 0)) {
        disconnect(c);
    }
    return c->session ? CUZK_OK : connect_now(c, deadline_ns, err);
}

/* ---- calls ---- */

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                        strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static int32_t submit(cuzk_rpc_client *c, const char *path, uint64_t timeout_ms)
{
    char timeout[16];
    nghttp2_nv fields[9] = {
        field(":method", "POST"),
        field(":scheme", c->tls ? "https" : "http"),
        field(":path", path),
        field(":authority", c->authority),
        field("te", "trailers"),
        field("content-type", "application/grpc"),
        field("user-agent", "grpc-c-cuzk/" CUZK_VERSION),
    };
    size_t n = 7;
    if (timeout_ms) {
        cuzk_rpc_timeout_format(timeout, timeout_ms);
        fields[n++] = field("grpc-timeout", timeout);
    }
    if (c->bearer) {
        fields[n] = field("authorization", c->bearer);
        fields[n++].flags = NGHTTP2_NV_FLAG_NO_INDEX;
    }
    return cuzk_rpc_exchange_submit(c->x, c->session, fields, n);
}

/* Sends and receives until the stream is over. *ret_late: the deadline passed before. */
static cuzk_code converse(cuzk_rpc_client *c, bool *ret_late, cuzk_err *err)
{
    *ret_late = false;
    for (;;) {
        bool more;
        CUZK_TRY(send_some(c, &more, err));
        if (c->x->closed) {
            return CUZK_OK;
        }
        if (!cuzk_rpc_wait(&c->transport, more, c->x->deadline_ns)) {
            *ret_late = true;
            return CUZK_OK;
        }
        CUZK_TRY(receive_some(c, err));
    }
}

/* One try on one connection. *ret_refused: the server did not look at the call. */
static cuzk_code attempt(cuzk_rpc_client *c, const char *path, uint64_t timeout_ms,
                         bool *ret_refused, cuzk_err *err)
{
    cuzk_rpc_exchange *x = c->x;
    *ret_refused = false;
    CUZK_TRY(ready(c, x->deadline_ns, err));
    int32_t id = submit(c, path, timeout_ms);
    if (id < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "HTTP/2 to %s: %s", c->authority, nghttp2_strerror(id));
    }
    bool late;
    cuzk_code code = converse(c, &late, err);
    if (code == CUZK_OK && late) {
        cuzk_rpc_exchange_give_up(x, c->session, id, CUZK_RPC_DEADLINE_EXCEEDED,
                                  "the deadline has passed");
        code = send_some(c, &late, NULL);
        nghttp2_session_set_stream_user_data(c->session, id, NULL);
        if (code != CUZK_OK || c->n_out > 0) { /* a server that reads nothing: no use for it */
            disconnect(c);
        }
        return CUZK_OK;
    }
    if (code != CUZK_OK) {
        if (x->has_status) { /* it said why before it closed */
            x->closed = true;
            code = CUZK_OK;
        }
        disconnect(c);
    }
    *ret_refused = code == CUZK_OK && !x->has_status && !x->gave_up && x->http_status == 0 &&
                   x->h2_error == NGHTTP2_REFUSED_STREAM;
    return code;
}

static cuzk_code run(cuzk_rpc_client *c, const char *path, cuzk_rpc_exchange *x,
                     uint64_t timeout_ms, cuzk_err *err)
{
    x->max_message_bytes = c->max_message_bytes;
    x->deadline_ns = timeout_ms ? after_ms(timeout_ms) : UINT64_MAX;
    c->x = x;
    bool refused;
    cuzk_code code = attempt(c, path, timeout_ms, &refused, err);
    if (refused) { /* it went away just then: once more, on a new connection */
        disconnect(c);
        x->at = x->sent = 0;
        x->closed = false;
        code = attempt(c, path, timeout_ms, &refused, err);
    }
    c->x = NULL;
    if (code == CUZK_OK) {
        cuzk_rpc_exchange_settle(x);
    }
    return code;
}

/* A closed socket must not end the program: SIGPIPE waits while we write, and is taken back. */
static cuzk_code run_without_sigpipe(cuzk_rpc_client *c, const char *path, cuzk_rpc_exchange *x,
                                     uint64_t timeout_ms, cuzk_err *err)
{
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    cuzk_code code = run(c, path, x, timeout_ms, err);
    if (!was_pending) {
        const struct timespec none = {0};
        sigtimedwait(&pipe_only, NULL, &none);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static cuzk_code call(cuzk_rpc_client *c, const char *path, cuzk_rpc_exchange *x,
                      uint64_t timeout_ms, cuzk_rpc_reply *ret, cuzk_err *err)
{
    cuzk_rpc_reply reply = {.status = CUZK_RPC_UNAVAILABLE};
    for (size_t i = 0; i < x->n_requests; i++) {
        if (x->requests[i].n > UINT32_MAX) {
            return CUZK_FAIL(err, CUZK_E_ARG, "a message of %zu bytes is too large for gRPC",
                             x->requests[i].n);
        }
    }
    cuzk_err local = {0};
    cuzk_code code = run_without_sigpipe(c, path, x, timeout_ms, &local);
    if (code == CUZK_OK) {
        reply.status = x->status;
        snprintf(reply.message, sizeof reply.message, "%s", x->message);
        if (x->unary && x->status == CUZK_RPC_OK && x->body_n > 0) {
            reply.p = x->body;
            reply.n = x->body_n;
            x->body = NULL;
        }
    } else {
        snprintf(reply.message, sizeof reply.message, "%s", local.msg);
        if (err) {
            *err = local;
        }
    }
    free(x->body);
    *ret = reply;
    return code;
}

cuzk_code cuzk_rpc_client_call(cuzk_rpc_client *client, const char *path, cuzk_span request,
                               uint64_t timeout_ms, cuzk_rpc_reply *ret, cuzk_err *err)
{
    cuzk_rpc_exchange x = {.requests = &request, .n_requests = 1, .unary = true};
    return call(client, path, &x, timeout_ms, ret, err);
}

cuzk_code cuzk_rpc_client_stream(cuzk_rpc_client *client, const char *path,
                                 const cuzk_span *requests, size_t n_requests, uint64_t timeout_ms,
                                 cuzk_rpc_receive_fn *receive, void *ctx, cuzk_rpc_reply *ret,
                                 cuzk_err *err)
{
    cuzk_rpc_exchange x = {
        .requests = requests, .n_requests = n_requests, .receive = receive, .ctx = ctx};
    return call(client, path, &x, timeout_ms, ret, err);
}

void cuzk_rpc_reply_free(cuzk_rpc_reply *reply)
{
    free(reply->p);
    *reply = (cuzk_rpc_reply){0};
}

/* ---- opening and closing ---- */

static cuzk_code copy_strings(cuzk_rpc_client *c, const cuzk_rpc_client_config *config,
                              cuzk_err *err)
{
    const char *host = c->address.host[0] ? c->address.host : "localhost";
    char authority[300];
    if (c->address.is_unix) {
        snprintf(authority, sizeof authority, "localhost");
    } else {
        snprintf(authority, sizeof authority, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host,
                 c->address.port);
    }
    c->authority = strdup(authority);
    c->server_name = strdup(config->server_name ? config->server_name : host);
    if (config->token) {
        size_t n = strlen(config->token) + sizeof "Bearer ";
        c->bearer = malloc(n);
        if (c->bearer) {
            snprintf(c->bearer, n, "Bearer %s", config->token);
        }
    }
    c->buffer = malloc(READ_BYTES);
    if (!c->authority || !c->server_name || !c->buffer || !c->bearer != !config->token ||
        nghttp2_session_callbacks_new(&c->callbacks) != 0) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a client");
    }
    return CUZK_OK;
}

static cuzk_code setup(cuzk_rpc_client *c, const cuzk_rpc_client_config *config, cuzk_err *err)
{
    CUZK_TRY(cuzk_rpc_address_parse(&c->address, config->address, err));
    CUZK_TRY(copy_strings(c, config, err));
    c->max_message_bytes =
        config->max_message_bytes ? config->max_message_bytes : (size_t)256 << 20;
    c->connect_timeout_ms = config->connect_timeout_ms ? config->connect_timeout_ms : 10000;
    if (!config->cert_file != !config->key_file) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a client certificate needs both its file and its key");
    }
    if (!c->address.is_unix && (c->address.tls || config->ca_file)) {
        CUZK_TRY(cuzk_rpc_tls_client(&c->tls, config->ca_file, config->cert_file, config->key_file,
                                     err));
    }
    cuzk_rpc_exchange_callbacks(c->callbacks);
    return CUZK_OK;
}

cuzk_code cuzk_rpc_client_open(cuzk_rpc_client **ret, const cuzk_rpc_client_config *config,
                               cuzk_err *err)
{
    cuzk_rpc_client *c = calloc(1, sizeof *c);
    if (!c) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a client");
    }
    c->transport.fd = -1;
    cuzk_code code = setup(c, config, err);
    if (code != CUZK_OK) {
        cuzk_rpc_client_close(c);
        return code;
    }
    *ret = c;
    return CUZK_OK;
}

void cuzk_rpc_client_close(cuzk_rpc_client *client)
{
    if (!client) {
        return;
    }
    disconnect(client);
    SSL_CTX_free(client->tls);
    nghttp2_session_callbacks_del(client->callbacks);
    if (client->bearer) {
        cuzk_wipe(client->bearer, strlen(client->bearer));
    }
    free(client->bearer);
    free(client->authority);
    free(client->server_name);
    free(client->buffer);
    free(client);
}
