#ifndef CUZK_RPC_TLS_H
#define CUZK_RPC_TLS_H

#include "cuzk/err.h"

#include <openssl/ssl.h>
#include <stdbool.h>

/*
 * TLS 1.2 and later by OpenSSL, with ALPN "h2" on both sides.
 */

/** A server's context from PEM files; client_ca_file may be NULL: clients show nothing. CUZK_E_ARG
 *  names the file that cannot be used and says why. */
cuzk_code cuzk_rpc_tls_server(SSL_CTX **ret, const char *cert_file, const char *key_file,
                              const char *client_ca_file, cuzk_err *err);

/** A client's context that verifies the server with ca_file (NULL: the system's authorities) and
 *  shows cert_file when that is not NULL. */
cuzk_code cuzk_rpc_tls_client(SSL_CTX **ret, const char *ca_file, const char *cert_file,
                              const char *key_file, cuzk_err *err);

/** The oldest error of OpenSSL's queue in words, and clears the queue. */
void cuzk_rpc_tls_reason(char *ret, size_t cap);

/** Common name of the other end's verified certificate; false without one. */
bool cuzk_rpc_tls_peer_name(SSL *ssl, char *ret, size_t cap);

#endif
