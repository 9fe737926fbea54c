#include "rpc/rpc_loop.h"

#include "base/system.h"
#include "rpc/address.h"
#include "rpc/tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    READ_TURN_BYTES = 1 << 20, /* of one connection before the others have their turn */
    MAX_EVENTS = 64,
    ACCEPT_TURN = 32,
    LINGER_MS = 1000,    /* for the other end to read our last words */
    EVICT_IDLE_MS = 1000 /* a connection younger in idleness is not closed for another */
};

/* ---- links ---- */

static void watch(cuzk_rpc_server *s, cuzk_rpc_link *l, uint32_t events)
{
    if (l->events != events) {
        struct epoll_event e = {.events = events, .data.ptr = l};
        epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, l->transport.fd, &e);
        l->events = events;
    }
}

/* Closes at once. The memory stays until the turn's events are done. */
static void kill_link(cuzk_rpc_link *l, cuzk_rpc_end end)
{
    if (l->conn) {
        cuzk_rpc_conn_free(l->conn, end);
        l->conn = NULL;
    }
    cuzk_rpc_transport_close(&l->transport); /* leaves epoll by itself */
    l->dead = true;
}

static void bury(cuzk_rpc_server *s)
{
    cuzk_rpc_link *next;
    for (cuzk_rpc_link *l = s->links; l; l = next) {
        next = l->next;
        if (l->dead) {
            *(l->prev ? &l->prev->next : &s->links) = l->next;
            if (l->next) {
                l->next->prev = l->prev;
            }
            s->n_links--;
            free(l);
        }
    }
}

/* Sends what there is; when the session is over, says so and waits for the other end. */
static void flush(cuzk_rpc_server *s, cuzk_rpc_link *l)
{
    if (l->dead || !l->conn || !l->transport.shaken) {
        return;
    }
    const uint8_t *p;
    size_t n, sent;
    uint32_t events = EPOLLIN;
    while ((n = cuzk_rpc_conn_output(l->conn, &p)) > 0) {
        cuzk_rpc_io io = cuzk_rpc_transport_write(&l->transport, p, n, &sent);
        if (io == CUZK_RPC_IO_CLOSED) {
            kill_link(l, CUZK_RPC_END_DISCONNECTED);
            return;
        }
        if (io == CUZK_RPC_IO_AGAIN) {
            events |= EPOLLOUT;
            break;
        }
        cuzk_rpc_conn_wrote(l->conn, sent, s->core.now_ns);
    }
    if (cuzk_rpc_conn_is_done(l->conn)) {
        l->closing_ns = l->closing_ns ? l->closing_ns : s->core.now_ns;
        if (n == 0) {
            cuzk_rpc_conn_free(l->conn, CUZK_RPC_END_DISCONNECTED);
            l->conn = NULL;
            cuzk_rpc_transport_shutdown(&l->transport);
        }
    }
    watch(s, l, events | (l->transport.want_write ? EPOLLOUT : 0));
}

/* True when the connection may carry data. */
static bool shake(cuzk_rpc_server *s, cuzk_rpc_link *l)
{
    if (l->transport.shaken) {
        return true;
    }
    switch (cuzk_rpc_transport_handshake(&l->transport)) {
    case CUZK_RPC_IO_CLOSED:
        cuzk_rpc_count(&s->core.connections_dropped, 1);
        kill_link(l, CUZK_RPC_END_DISCONNECTED);
        return false;
    case CUZK_RPC_IO_AGAIN:
        watch(s, l, EPOLLIN | (l->transport.want_write ? EPOLLOUT : 0));
        return false;
    case CUZK_RPC_IO_DONE:
        break;
    }
    char name[64];
    if (l->transport.ssl && cuzk_rpc_tls_peer_name(l->transport.ssl, name, sizeof name)) {
        size_t n = strlen(l->conn->peer);
        snprintf(l->conn->peer + n, sizeof l->conn->peer - n, " cn=%s", name);
    }
    return true;
}

static void read_link(cuzk_rpc_server *s, cuzk_rpc_link *l)
{
    if (l->dead || (l->conn && !shake(s, l))) {
        return;
    }
    size_t n, total = 0;
    /* What TLS has decrypted already would not wake epoll again. */
    while (total < READ_TURN_BYTES || (l->transport.ssl && SSL_pending(l->transport.ssl) > 0)) {
        cuzk_rpc_io io = cuzk_rpc_transport_read(&l->transport, s->buffer, CUZK_RPC_READ_BYTES, &n);
        if (io == CUZK_RPC_IO_CLOSED) {
            kill_link(l, CUZK_RPC_END_DISCONNECTED);
            return;
        }
        if (io == CUZK_RPC_IO_AGAIN) {
            break;
        }
        total += n;
        if (l->conn) {
            cuzk_rpc_conn_input(l->conn, s->buffer, n, s->core.now_ns);
        }
    }
    flush(s, l);
}

/* ---- accepting ---- */

static void watch_doors(cuzk_rpc_server *s, bool on)
{
    for (size_t i = 0; i < s->n_doors; i++) {
        struct epoll_event e = {.events = on ? EPOLLIN : 0, .data.ptr = &s->doors[i]};
        if (s->doors[i].listener.fd >= 0) {
            epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->doors[i].listener.fd, &e);
        }
    }
    s->doors_watched = on;
}

/* At the limit: closes the connection that has been idle longest. False when none is. */
static bool make_room(cuzk_rpc_server *s)
{
    cuzk_rpc_link *oldest = NULL;
    for (cuzk_rpc_link *l = s->links; l; l = l->next) {
        if (l->dead || (l->conn && l->conn->n_streams > 0)) {
            continue;
        }
        if (!l->conn) { /* it only lingers */
            oldest = l;
            break;
        }
        if (s->core.now_ns - l->conn->busy_ns >= EVICT_IDLE_MS * (uint64_t)1000000 &&
            (!oldest || l->conn->busy_ns < oldest->conn->busy_ns)) {
            oldest = l;
        }
    }
    if (!oldest) {
        return false;
    }
    if (oldest->conn) {
        cuzk_rpc_conn_goaway(oldest->conn);
        flush(s, oldest);
    }
    kill_link(oldest, CUZK_RPC_END_DISCONNECTED);
    return true;
}

static size_t living(const cuzk_rpc_server *s)
{
    size_t n = 0;
    for (const cuzk_rpc_link *l = s->links; l; l = l->next) {
        n += !l->dead;
    }
    return n;
}

static void name_peer(int fd, const struct sockaddr_storage *sa, char *ret, size_t cap)
{
    struct ucred who;
    socklen_t n = sizeof who;
    if (sa->ss_family != AF_UNIX) {
        cuzk_rpc_address_format(ret, cap, sa);
    } else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0) {
        snprintf(ret, cap, "unix:uid=%u,pid=%d", who.uid, who.pid);
    } else {
        snprintf(ret, cap, "unix:");
    }
}

/* A link over an accepted socket, which it owns from now on; NULL without memory. */
static cuzk_rpc_link *new_link(cuzk_rpc_server *s, int fd, const char *peer, bool plain)
{
    cuzk_rpc_link *l = calloc(1, sizeof *l);
    if (!l) {
        close(fd);
        return NULL;
    }
    l->source = CUZK_RPC_SOURCE_LINK;
    l->transport.fd = fd;
    pthread_mutex_lock(&s->mu);
    SSL_CTX *tls = plain ? NULL : s->tls;
    l->transport.ssl = tls ? SSL_new(tls) : NULL;
    pthread_mutex_unlock(&s->mu);
    l->transport.shaken = !tls;
    bool good = !tls || (l->transport.ssl && SSL_set_fd(l->transport.ssl, fd) == 1);
    if (good && tls) {
        SSL_set_accept_state(l->transport.ssl);
    }
    l->conn = good ? cuzk_rpc_conn_new(&s->core, peer, s->core.now_ns) : NULL;
    if (!l->conn) {
        cuzk_rpc_transport_close(&l->transport);
        free(l);
        return NULL;
    }
    return l;
}

static void welcome(cuzk_rpc_server *s, const cuzk_rpc_door *door, int fd,
                    const struct sockaddr_storage *sa)
{
    if (living(s) >= s->core.limits.max_connections && !make_room(s)) {
        cuzk_rpc_count(&s->core.connections_refused, 1);
        close(fd);
        return;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on unix sockets: no matter */
    char peer[128];
    name_peer(fd, sa, peer, sizeof peer);
    cuzk_rpc_link *l = new_link(s, fd, peer, door->listener.is_unix);
    if (!l) {
        return;
    }
    l->next = s->links;
    if (l->next) {
        l->next->prev = l;
    }
    s->links = l;
    s->n_links++;
    l->events = EPOLLIN;
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = l};
    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0) {
        kill_link(l, CUZK_RPC_END_DISCONNECTED);
        return;
    }
    flush(s, l); /* our SETTINGS */
}

static void accept_some(cuzk_rpc_server *s, const cuzk_rpc_door *door)
{
    for (int i = 0; i < ACCEPT_TURN && door->listener.fd >= 0; i++) {
        struct sockaddr_storage sa = {0};
        socklen_t n = sizeof sa;
        int fd =
            accept4(door->listener.fd, (struct sockaddr *)&sa, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            welcome(s, door, fd, &sa);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            watch_doors(s, false); /* until the next tick: it would only fail again at once */
            return;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        }
    }
}

/* ---- turns ---- */

static void tick(cuzk_rpc_server *s)
{
    uint64_t now = s->core.now_ns;
    for (cuzk_rpc_link *l = s->links; l; l = l->next) {
        if (l->dead) {
            continue;
        }
        if (l->conn) {
            cuzk_rpc_conn_tick(l->conn, now);
        }
        bool mute = l->conn && l->conn->broken && !l->transport.shaken; /* nobody to say it to */
        if (mute || (l->closing_ns && now - l->closing_ns >= LINGER_MS * (uint64_t)1000000)) {
            kill_link(l, CUZK_RPC_END_DISCONNECTED);
        }
    }
    if (!s->doors_watched) {
        watch_doors(s, true);
    }
    cuzk_rpc_core_retry(&s->core); /* should an allocator forget to tell */
    s->next_tick_ns = now + s->tick_ns;
}

static void begin_drain(cuzk_rpc_server *s)
{
    s->core.draining = true;
    for (size_t i = 0; i < s->n_doors; i++) { /* the lock of a unix path stays ours */
        close(s->doors[i].listener.fd);
        s->doors[i].listener.fd = -1;
    }
    for (cuzk_rpc_link *l = s->links; l; l = l->next) {
        if (l->conn && !l->transport.shaken) {
            kill_link(l, CUZK_RPC_END_SHUTDOWN);
        } else if (l->conn) {
            cuzk_rpc_conn_goaway(l->conn);
        }
    }
}

static void end_all(cuzk_rpc_server *s)
{
    s->killed = true;
    for (cuzk_rpc_conn *c = s->core.conns; c; c = c->next) {
        for (cuzk_rpc_stream *stream = c->streams; stream; stream = stream->next) {
            if (!stream->finished) {
                cuzk_rpc_stream_abort(stream, CUZK_RPC_END_SHUTDOWN, CUZK_RPC_UNAVAILABLE,
                                      "the server is shutting down");
            }
        }
    }
}

/* Carries out what other threads wish. False: stop. */
static bool obey(cuzk_rpc_server *s)
{
    pthread_mutex_lock(&s->mu);
    bool drain = s->drain, kill = s->kill, stop = s->stop;
    pthread_mutex_unlock(&s->mu);
    if (drain && !s->core.draining) {
        begin_drain(s);
    }
    if (kill && !s->killed) {
        end_all(s);
    }
    if (atomic_exchange_explicit(&s->memory_freed, false, memory_order_acquire)) {
        cuzk_rpc_core_retry(&s->core);
    }
    return !stop;
}

static void tell_drained(cuzk_rpc_server *s)
{
    if (s->core.draining && !s->core.conns) {
        pthread_mutex_lock(&s->mu);
        s->is_drained = true;
        pthread_cond_broadcast(&s->drained);
        pthread_mutex_unlock(&s->mu);
    }
}

static int patience_ms(const cuzk_rpc_server *s)
{
    uint64_t now = cuzk_clock_ns(), until = s->next_tick_ns;
    if (s->core.next_deadline_ns < until) {
        until = s->core.next_deadline_ns;
    }
    return until <= now ? 0 : (int)((until - now + 999999) / 1000000);
}

static void handle(cuzk_rpc_server *s, const struct epoll_event *e)
{
    switch (*(const cuzk_rpc_source *)e->data.ptr) {
    case CUZK_RPC_SOURCE_WAKE: {
        uint64_t count;
        ssize_t n = read(s->core.hub->wake_fd, &count, sizeof count);
        (void)n; /* it only had to wake us */
        break;
    }
    case CUZK_RPC_SOURCE_LISTENER:
        accept_some(s, e->data.ptr);
        break;
    case CUZK_RPC_SOURCE_LINK:
        read_link(s, e->data.ptr);
        break;
    }
}

void *cuzk_rpc_loop_main(void *arg)
{
    cuzk_rpc_server *s = arg;
    struct epoll_event events[MAX_EVENTS];
    pthread_setname_np(pthread_self(), "cuzk-rpc");
    for (;;) {
        s->core.now_ns = cuzk_clock_ns();
        if (!obey(s)) {
            return NULL;
        }
        if (s->core.now_ns >= s->next_tick_ns) {
            tick(s);
        }
        cuzk_rpc_core_deadlines(&s->core);
        cuzk_rpc_core_news(&s->core, true);
        for (cuzk_rpc_link *l = s->links; l; l = l->next) {
            flush(s, l);
        }
        bury(s);
        tell_drained(s);
        int n = epoll_wait(s->epoll_fd, events, MAX_EVENTS, patience_ms(s));
        s->core.now_ns = cuzk_clock_ns();
        cuzk_rpc_core_news(&s->core, false); /* from here on nobody needs to wake us */
        for (int i = 0; i < n; i++) {
            handle(s, &events[i]);
        }
    }
}
