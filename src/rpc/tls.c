#include "rpc/tls.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>

static const unsigned char alpn_h2[] = {2, 'h', '2'};

void cuzk_rpc_tls_reason(char *ret, size_t cap)
{
    unsigned long code = ERR_get_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    if (reason) {
        snprintf(ret, cap, "%s", reason);
    } else if (code && ERR_SYSTEM_ERROR(code)) { /* such codes carry an errno */
        snprintf(ret, cap, "%s", strerror(ERR_GET_REASON(code)));
    } else {
        snprintf(ret, cap, "no reason given");
    }
    ERR_clear_error();
}

static cuzk_code fail_file(cuzk_err *err, const char *what, const char *file)
{
    char reason[160];
    cuzk_rpc_tls_reason(reason, sizeof reason);
    return CUZK_FAIL(err, CUZK_E_ARG, "%s %s: %s", what, file, reason);
}

static int choose_alpn(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
                       const unsigned char *offered, unsigned n, void *arg)
{
    (void)ssl;
    (void)arg;
    unsigned char *chosen;
    if (SSL_select_next_proto(&chosen, ret_n, alpn_h2, sizeof alpn_h2, offered, n) !=
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *ret = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static cuzk_code new_context(SSL_CTX **ret, const SSL_METHOD *method, cuzk_err *err)
{
    ERR_clear_error();
    SSL_CTX *c = SSL_CTX_new(method);
    if (!c || SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(c);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a TLS context");
    }
    SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
    *ret = c;
    return CUZK_OK;
}

static cuzk_code use_identity(SSL_CTX *c, const char *cert_file, const char *key_file,
                              cuzk_err *err)
{
    if (SSL_CTX_use_certificate_chain_file(c, cert_file) != 1) {
        return fail_file(err, "certificate file", cert_file);
    }
    if (SSL_CTX_use_PrivateKey_file(c, key_file, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(c) != 1) {
        return fail_file(err, "key file", key_file);
    }
    return CUZK_OK;
}

static cuzk_code ask_for_certificates(SSL_CTX *c, const char *ca_file, cuzk_err *err)
{
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(ca_file);
    if (!names || SSL_CTX_load_verify_locations(c, ca_file, NULL) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return fail_file(err, "client authority file", ca_file);
    }
    SSL_CTX_set_client_CA_list(c, names);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return CUZK_OK;
}

cuzk_code cuzk_rpc_tls_server(SSL_CTX **ret, const char *cert_file, const char *key_file,
                              const char *client_ca_file, cuzk_err *err)
{
    SSL_CTX *c;
    CUZK_TRY(new_context(&c, TLS_server_method(), err));
    cuzk_code code = use_identity(c, cert_file, key_file, err);
    if (code == CUZK_OK && client_ca_file) {
        code = ask_for_certificates(c, client_ca_file, err);
    }
    if (code != CUZK_OK) {
        SSL_CTX_free(c);
        return code;
    }
    SSL_CTX_set_alpn_select_cb(c, choose_alpn, NULL);
    *ret = c;
    return CUZK_OK;
}

cuzk_code cuzk_rpc_tls_client(SSL_CTX **ret, const char *ca_file, const char *cert_file,
                              const char *key_file, cuzk_err *err)
{
    SSL_CTX *c;
    CUZK_TRY(new_context(&c, TLS_client_method(), err));
    cuzk_code code = CUZK_OK;
    if (ca_file ? SSL_CTX_load_verify_locations(c, ca_file, NULL) != 1
                : SSL_CTX_set_default_verify_paths(c) != 1) {
        code = fail_file(err, "authority file", ca_file ? ca_file : "of the system");
    } else if (cert_file) {
        code = use_identity(c, cert_file, key_file, err);
    }
    if (code == CUZK_OK && SSL_CTX_set_alpn_protos(c, alpn_h2, sizeof alpn_h2) != 0) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a TLS context");
    }
    if (code != CUZK_OK) {
        SSL_CTX_free(c);
        return code;
    }
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
    *ret = c;
    return CUZK_OK;
}

bool cuzk_rpc_tls_peer_name(SSL *ssl, char *ret, size_t cap)
{
    X509 *cert = SSL_get1_peer_certificate(ssl);
    if (!cert) {
        return false;
    }
    int n = X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, ret, (int)cap);
    X509_free(cert);
    return n > 0;
}
