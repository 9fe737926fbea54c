#ifndef CUZK_RPC_TRANSPORT_H
#define CUZK_RPC_TRANSPORT_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A non-blocking stream socket, plain or under TLS. Owns both. */
typedef struct cuzk_rpc_transport {
    int fd;           /* -1: none */
    SSL *ssl;         /* NULL: plain */
    bool shaken;      /* the TLS handshake is done, or there is none */
    bool want_write;  /* TLS waits until the socket takes bytes, whatever we asked it to do */
    char reason[160]; /* after CLOSED: why, empty for an ordinary end */
} cuzk_rpc_transport;

typedef enum cuzk_rpc_io {
    CUZK_RPC_IO_DONE,   /* some bytes, or the handshake, are done */
    CUZK_RPC_IO_AGAIN,  /* wait for the socket */
    CUZK_RPC_IO_CLOSED, /* the other end closed, or an error */
} cuzk_rpc_io;

cuzk_rpc_io cuzk_rpc_transport_handshake(cuzk_rpc_transport *t);
cuzk_rpc_io cuzk_rpc_transport_read(cuzk_rpc_transport *t, uint8_t *buf, size_t cap, size_t *ret_n);
cuzk_rpc_io cuzk_rpc_transport_write(cuzk_rpc_transport *t, const uint8_t *p, size_t n,
                                     size_t *ret_n);

/** Says that no more will be sent; the socket stays open for reading. */
void cuzk_rpc_transport_shutdown(cuzk_rpc_transport *t);

/** Closes; accepts one that is closed. */
void cuzk_rpc_transport_close(cuzk_rpc_transport *t);

#endif
