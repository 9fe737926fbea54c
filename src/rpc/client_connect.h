#ifndef CUZK_RPC_CLIENT_CONNECT_H
#define CUZK_RPC_CLIENT_CONNECT_H

#include "rpc/address.h"
#include "rpc/transport.h"

/** Waits until the transport can go on: it has bytes, or, if `write` or TLS asks for it, takes
 * some. False at the deadline (CLOCK_MONOTONIC; UINT64_MAX: none). */
bool cuzk_rpc_wait(const cuzk_rpc_transport *t, bool write, uint64_t deadline_ns);

/** Connects, with TLS under a context that is not NULL; the certificate must be server_name's.
 *  CUZK_E_IO says what failed. */
cuzk_code cuzk_rpc_connect(cuzk_rpc_transport *ret, const cuzk_rpc_address *address, SSL_CTX *tls,
                           const char *server_name, uint64_t deadline_ns, cuzk_err *err);

#endif
