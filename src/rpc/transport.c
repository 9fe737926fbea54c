#include "rpc/transport.h"

#include "rpc/tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What a failed call of OpenSSL means. */
static cuzk_rpc_io tls_outcome(cuzk_rpc_transport *t, int result)
{
    int saved = errno;
    switch (SSL_get_error(t->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return CUZK_RPC_IO_AGAIN;
    case SSL_ERROR_WANT_WRITE:
        t->want_write = true;
        return CUZK_RPC_IO_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return CUZK_RPC_IO_CLOSED;
    default:
        break;
    }
    long verify = SSL_get_verify_result(t->ssl);
    if (verify != X509_V_OK) {
        snprintf(t->reason, sizeof t->reason, "TLS: %s", X509_verify_cert_error_string(verify));
    } else if (ERR_peek_error()) {
        char reason[128];
        cuzk_rpc_tls_reason(reason, sizeof reason);
        snprintf(t->reason, sizeof t->reason, "TLS: %s", reason);
    } else {
        snprintf(t->reason, sizeof t->reason, "TLS: %s", saved ? strerror(saved) : "closed");
    }
    ERR_clear_error();
    return CUZK_RPC_IO_CLOSED;
}

static cuzk_rpc_io plain_outcome(cuzk_rpc_transport *t)
{
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        return CUZK_RPC_IO_AGAIN;
    }
    snprintf(t->reason, sizeof t->reason, "%s", strerror(errno));
    return CUZK_RPC_IO_CLOSED;
}

cuzk_rpc_io cuzk_rpc_transport_handshake(cuzk_rpc_transport *t)
{
    if (!t->shaken && t->ssl) {
        ERR_clear_error();
        t->want_write = false;
        int result = SSL_do_handshake(t->ssl);
        if (result != 1) {
            return tls_outcome(t, result);
        }
        const unsigned char *protocol;
        unsigned n;
        SSL_get0_alpn_selected(t->ssl, &protocol, &n);
        if (n != 2 || memcmp(protocol, "h2", 2) != 0) {
            snprintf(t->reason, sizeof t->reason, "TLS: the other end does not speak HTTP/2");
            return CUZK_RPC_IO_CLOSED;
        }
    }
    t->shaken = true;
    return CUZK_RPC_IO_DONE;
}

cuzk_rpc_io cuzk_rpc_transport_read(cuzk_rpc_transport *t, uint8_t *buf, size_t cap, size_t *ret_n)
{
    if (t->ssl) {
        ERR_clear_error();
        errno = 0;
        t->want_write = false;
        int result = SSL_read_ex(t->ssl, buf, cap, ret_n);
        return result == 1 ? CUZK_RPC_IO_DONE : tls_outcome(t, result);
    }
    ssize_t n = recv(t->fd, buf, cap, 0);
    if (n < 0) {
        return plain_outcome(t);
    }
    *ret_n = (size_t)n;
    return n == 0 ? CUZK_RPC_IO_CLOSED : CUZK_RPC_IO_DONE;
}

cuzk_rpc_io cuzk_rpc_transport_write(cuzk_rpc_transport *t, const uint8_t *p, size_t n,
                                     size_t *ret_n)
{
    if (t->ssl) {
        ERR_clear_error();
        errno = 0;
        t->want_write = false;
        int result = SSL_write_ex(t->ssl, p, n, ret_n);
        return result == 1 ? CUZK_RPC_IO_DONE : tls_outcome(t, result);
    }
    ssize_t k = send(t->fd, p, n, MSG_NOSIGNAL);
    if (k < 0) {
        return plain_outcome(t);
    }
    *ret_n = (size_t)k;
    return CUZK_RPC_IO_DONE;
}

void cuzk_rpc_transport_shutdown(cuzk_rpc_transport *t)
{
    if (t->ssl && t->shaken) {
        ERR_clear_error();
        SSL_shutdown(t->ssl); /* best effort: the socket's own end follows at once */
        ERR_clear_error();
    }
    shutdown(t->fd, SHUT_WR);
}

void cuzk_rpc_transport_close(cuzk_rpc_transport *t)
{
    SSL_free(t->ssl);
    t->ssl = NULL;
    if (t->fd >= 0) {
        close(t->fd);
    }
    t->fd = -1;
    t->shaken = t->want_write = false;
}
