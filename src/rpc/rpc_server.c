#include "rpc/rpc_server.h"

#include "base/system.h"
#include "rpc/rpc_loop.h"
#include "rpc/tls.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { LAST_WORDS_MS = 1000 }; /* for the status of calls that a drain has ended */

void cuzk_rpc_message_free(cuzk_rpc_message *message)
{
    if (message->p && message->memory.free) {
        message->memory.free(message->memory.ctx, message->p, message->n);
    } else {
        free(message->p);
    }
    *message = (cuzk_rpc_message){0};
}

static cuzk_code load_tls(SSL_CTX **ret, const char *cert_file, const char *key_file,
                          const char *client_ca_file, cuzk_err *err)
{
    if (!cert_file != !key_file) {
        return CUZK_FAIL(err, CUZK_E_ARG, "TLS needs both a certificate and a key");
    }
    if (!cert_file && client_ca_file) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "client certificates (%s) need TLS: set a certificate and "
                         "a key",
                         client_ca_file);
    }
    *ret = NULL;
    return cert_file ? cuzk_rpc_tls_server(ret, cert_file, key_file, client_ca_file, err) : CUZK_OK;
}

static cuzk_code open_doors(cuzk_rpc_server *s, const cuzk_rpc_server_config *config, cuzk_err *err)
{
    s->doors = calloc(config->n_listen + 1, sizeof *s->doors);
    if (!s->doors) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu addresses", config->n_listen);
    }
    for (size_t i = 0; i < config->n_listen; i++) {
        cuzk_rpc_door *door = &s->doors[i];
        door->source = CUZK_RPC_SOURCE_LISTENER;
        CUZK_TRY(cuzk_rpc_listener_open(&door->listener, config->listen[i], s->tls != NULL,
                                        config->allow_insecure, err));
        s->n_doors = i + 1;
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = door};
        if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, door->listener.fd, &e) != 0) {
            return CUZK_FAIL(err, CUZK_E_IO, "epoll_ctl: %s", strerror(errno));
        }
    }
    s->doors_watched = true;
    return CUZK_OK;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Timeouts are seen within a quarter of the shortest, at most a second. */
static uint64_t tick_ns(const cuzk_rpc_limits *l)
{
    uint64_t ms = least(l->handshake_timeout_ms, l->header_timeout_ms);
    ms = least(ms, least(l->idle_timeout_ms, l->slow_timeout_ms));
    ms = least(ms, least(l->ping_after_ms, l->ping_timeout_ms)) / 4;
    return (ms < 5 ? 5 : ms > 1000 ? 1000 : ms) * 1000000;
}

/* A thread that gets no signals: they are the program's, and SIGPIPE of a closed socket is
 * nobody's. */
static cuzk_code start_thread(cuzk_rpc_server *s, cuzk_err *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int e = pthread_create(&s->thread, NULL, cuzk_rpc_loop_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (e != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "cannot start a thread: %s", strerror(e));
    }
    s->has_thread = true;
    return CUZK_OK;
}

static cuzk_code start(cuzk_rpc_server *s, const cuzk_rpc_server_config *config,
                       const cuzk_rpc_method *methods, size_t n_methods, cuzk_err *err)
{
    CUZK_TRY(cuzk_rpc_core_init(&s->core, config, methods, n_methods, err));
    CUZK_TRY(load_tls(&s->tls, config->cert_file, config->key_file, config->client_ca_file, err));
    s->buffer = malloc(CUZK_RPC_READ_BYTES);
    if (!s->buffer) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a server");
    }
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll_fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "epoll_create1: %s", strerror(errno));
    }
    s->wake = CUZK_RPC_SOURCE_WAKE;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = &s->wake};
    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->core.hub->wake_fd, &e) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "epoll_ctl: %s", strerror(errno));
    }
    CUZK_TRY(open_doors(s, config, err));
    s->tick_ns = tick_ns(&s->core.limits);
    return start_thread(s, err);
}

cuzk_code cuzk_rpc_server_start(cuzk_rpc_server **ret, const cuzk_rpc_server_config *config,
                                const cuzk_rpc_method *methods, size_t n_methods, cuzk_err *err)
{
    if (config->n_listen == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "no address to listen on");
    }
    cuzk_rpc_server *s = calloc(1, sizeof *s);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a server");
    }
    s->epoll_fd = -1;
    pthread_mutex_init(&s->mu, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->drained, &attr);
    pthread_condattr_destroy(&attr);
    cuzk_code code = start(s, config, methods, n_methods, err);
    if (code != CUZK_OK) {
        cuzk_rpc_server_free(s);
        return code;
    }
    *ret = s;
    return CUZK_OK;
}

const char *cuzk_rpc_server_bound(const cuzk_rpc_server *server, size_t i)
{
    return i < server->n_doors ? server->doors[i].listener.bound : NULL;
}

cuzk_code cuzk_rpc_server_reload(cuzk_rpc_server *server, const char *token, const char *cert_file,
                                 const char *key_file, const char *client_ca_file, cuzk_err *err)
{
    SSL_CTX *tls;
    CUZK_TRY(load_tls(&tls, cert_file, key_file, client_ca_file, err));
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&server->mu);
    if (!tls != !server->tls) {
        code =
            CUZK_FAIL(err, CUZK_E_ARG, "TLS cannot be turned %s while the server runs: restart it",
                      tls ? "on" : "off");
    } else {
        code = cuzk_rpc_core_set_token(&server->core, token, err);
    }
    if (code == CUZK_OK) {
        SSL_CTX *old = server->tls;
        server->tls = tls;
        tls = old;
    }
    pthread_mutex_unlock(&server->mu);
    SSL_CTX_free(tls);
    return code;
}

void cuzk_rpc_server_memory_freed(cuzk_rpc_server *server)
{
    if (!atomic_exchange_explicit(&server->memory_freed, true, memory_order_release)) {
        cuzk_rpc_hub_wake(server->core.hub);
    }
}

static uint64_t load(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void cuzk_rpc_server_stats(const cuzk_rpc_server *server, cuzk_rpc_stats *ret)
{
    const cuzk_rpc_core *c = &server->core;
    *ret = (cuzk_rpc_stats){
        .connections = load(&c->connections),
        .calls = load(&c->calls),
        .connections_total = load(&c->connections_total),
        .connections_refused = load(&c->connections_refused),
        .connections_dropped = load(&c->connections_dropped),
        .calls_total = load(&c->calls_total),
        .calls_refused = load(&c->calls_refused),
        .received_bytes = load(&c->received_bytes),
        .sent_bytes = load(&c->sent_bytes),
    };
}

/* Waits until all connections are gone, at most so long, or only until someone is in a hurry.
 * server->mu is held. */
static bool wait_drained(cuzk_rpc_server *s, uint64_t timeout_ms, bool until_kill)
{
    uint64_t until = cuzk_clock_ns() + timeout_ms * 1000000;
    struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
    while (!s->is_drained && !(until_kill && s->kill)) {
        if (pthread_cond_timedwait(&s->drained, &s->mu, &at) == ETIMEDOUT) {
            break;
        }
    }
    return s->is_drained;
}

bool cuzk_rpc_server_drain(cuzk_rpc_server *server, uint64_t timeout_ms)
{
    pthread_mutex_lock(&server->mu);
    server->drain = true;
    cuzk_rpc_hub_wake(server->core.hub);
    bool by_themselves = wait_drained(server, timeout_ms, true) && !server->kill;
    if (!by_themselves) {
        server->kill = true;
        cuzk_rpc_hub_wake(server->core.hub);
        wait_drained(server, LAST_WORDS_MS, false);
    }
    pthread_mutex_unlock(&server->mu);
    return by_themselves;
}

void cuzk_rpc_server_hurry(cuzk_rpc_server *server)
{
    pthread_mutex_lock(&server->mu);
    server->drain = server->kill = true;
    pthread_cond_broadcast(&server->drained);
    pthread_mutex_unlock(&server->mu);
    cuzk_rpc_hub_wake(server->core.hub);
}

void cuzk_rpc_server_free(cuzk_rpc_server *server)
{
    if (!server) {
        return;
    }
    if (server->has_thread) {
        cuzk_rpc_server_drain(server, 0); /* returns at once when that is done */
        pthread_mutex_lock(&server->mu);
        server->stop = true;
        pthread_mutex_unlock(&server->mu);
        cuzk_rpc_hub_wake(server->core.hub);
        pthread_join(server->thread, NULL);
    }
    while (server->links) {
        cuzk_rpc_link *l = server->links;
        server->links = l->next;
        if (l->conn) {
            cuzk_rpc_conn_free(l->conn, CUZK_RPC_END_SHUTDOWN);
        }
        cuzk_rpc_transport_close(&l->transport);
        free(l);
    }
    for (size_t i = 0; i < server->n_doors; i++) {
        cuzk_rpc_listener_close(&server->doors[i].listener);
    }
    cuzk_rpc_core_close(&server->core);
    SSL_CTX_free(server->tls);
    if (server->epoll_fd >= 0) {
        close(server->epoll_fd);
    }
    pthread_cond_destroy(&server->drained);
    pthread_mutex_destroy(&server->mu);
    free(server->doors);
    free(server->buffer);
    free(server);
}
