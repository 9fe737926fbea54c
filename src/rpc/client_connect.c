#include "rpc/client_connect.h"

#include "base/system.h"
#include "rpc/tls.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

static bool wait_fd(int fd, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = cuzk_clock_ns();
        if (now >= deadline_ns) {
            return false;
        }
        uint64_t ms = (deadline_ns - now) / 1000000 + 1;
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, deadline_ns == UINT64_MAX ? -1 : ms > INT_MAX ? INT_MAX : (int)ms);
        if (n > 0 || (n < 0 && errno != EINTR)) {
            return true; /* what follows finds out about errors */
        }
    }
}

bool cuzk_rpc_wait(const cuzk_rpc_transport *t, bool write, uint64_t deadline_ns)
{
    return wait_fd(t->fd, (short)(POLLIN | (write || t->want_write ? POLLOUT : 0)), deadline_ns);
}

/* A connected socket, or -1 with errno. */
static int connect_to(const struct sockaddr *sa, socklen_t n, uint64_t deadline_ns)
{
    int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    int error = 0;
    if (connect(fd, sa, n) != 0) {
        error = errno;
        if (error == EINPROGRESS) {
            socklen_t n_error = sizeof error;
            if (!wait_fd(fd, POLLOUT, deadline_ns)) {
                error = ETIMEDOUT;
            } else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n_error) != 0) {
                error = errno;
            }
        }
    }
    if (error != 0) {
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static cuzk_code connect_unix(int *ret, const cuzk_rpc_address *a, uint64_t deadline_ns,
                              cuzk_err *err)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    memcpy(sa.sun_path, a->path, sizeof a->path);
    *ret = connect_to((const struct sockaddr *)&sa, sizeof sa, deadline_ns);
    return *ret >= 0 ? CUZK_OK
                     : CUZK_FAIL(err, CUZK_E_IO, "cannot connect to unix:%s: %s", a->path,
                                 strerror(errno));
}

static cuzk_code connect_tcp(int *ret, const cuzk_rpc_address *a, uint64_t deadline_ns,
                             cuzk_err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list;
    int e = getaddrinfo(a->host[0] ? a->host : NULL, a->port, &hints, &list);
    if (e != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "cannot find host %s: %s", a->host, gai_strerror(e));
    }
    *ret = -1;
    for (const struct addrinfo *ai = list; ai && *ret < 0; ai = ai->ai_next) {
        *ret = connect_to(ai->ai_addr, ai->ai_addrlen, deadline_ns);
    }
    int saved = errno;
    freeaddrinfo(list);
    if (*ret < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "cannot connect to %s:%s: %s", a->host, a->port,
                         strerror(saved));
    }
    int on = 1;
    setsockopt(*ret, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return CUZK_OK;
}

static bool set_name(SSL *ssl, const char *name)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1) {
        return true;
    }
    return SSL_set1_host(ssl, name) == 1 && SSL_set_tlsext_host_name(ssl, name) == 1;
}

static cuzk_code start_tls(cuzk_rpc_transport *t, SSL_CTX *tls, const char *name,
                           uint64_t deadline_ns, cuzk_err *err)
{
    t->ssl = SSL_new(tls);
    if (!t->ssl || SSL_set_fd(t->ssl, t->fd) != 1 || !set_name(t->ssl, name)) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a TLS connection to %s", name);
    }
    SSL_set_connect_state(t->ssl);
    cuzk_rpc_io io;
    while ((io = cuzk_rpc_transport_handshake(t)) == CUZK_RPC_IO_AGAIN) {
        if (!cuzk_rpc_wait(t, false, deadline_ns)) {
            return CUZK_FAIL(err, CUZK_E_IO, "no TLS connection to %s: it takes too long", name);
        }
    }
    return io == CUZK_RPC_IO_DONE
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_IO, "no TLS connection to %s: %s", name, t->reason);
}

cuzk_code cuzk_rpc_connect(cuzk_rpc_transport *ret, const cuzk_rpc_address *address, SSL_CTX *tls,
                           const char *server_name, uint64_t deadline_ns, cuzk_err *err)
{
    cuzk_rpc_transport t = {.fd = -1};
    CUZK_TRY(address->is_unix ? connect_unix(&t.fd, address, deadline_ns, err)
                              : connect_tcp(&t.fd, address, deadline_ns, err));
    t.shaken = !tls;
    if (tls) {
        cuzk_code code = start_tls(&t, tls, server_name, deadline_ns, err);
        if (code != CUZK_OK) {
            cuzk_rpc_transport_close(&t);
            return code;
        }
    }
    *ret = t;
    return CUZK_OK;
}
