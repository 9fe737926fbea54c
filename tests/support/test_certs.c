#include "support/test_certs.h"

#include "support/support.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>

static void write_cert(const char *path, X509 *cert)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_X509(f, cert), 1);
    fclose(f);
}

static void write_key(const char *path, EVP_PKEY *key)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(f);
}

static void extend(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    assert_non_null(e);
    X509_add_ext(cert, e, -1);
    X509_EXTENSION_free(e);
}

/* A certificate of `key` for `name`, signed by the issuer (NULL: by itself, an authority). */
static X509 *make_cert(EVP_PKEY *key, const char *name, X509 *issuer, EVP_PKEY *issuer_key)
{
    static long serial = 1;
    X509 *c = X509_new();
    assert_non_null(c);
    X509_set_version(c, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(c), serial++);
    X509_gmtime_adj(X509_getm_notBefore(c), -3600);
    X509_gmtime_adj(X509_getm_notAfter(c), 86400);
    X509_set_pubkey(c, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(c, X509_get_subject_name(issuer ? issuer : c));
    extend(c, NID_basic_constraints, issuer ? "CA:FALSE" : "critical,CA:TRUE");
    if (issuer) {
        extend(c, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    }
    assert_true(X509_sign(c, issuer ? issuer_key : key, EVP_sha256()) > 0);
    return c;
}

static void make_signed(const char *cert_path, const char *key_path, const char *name, X509 *ca,
                        EVP_PKEY *ca_key)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = make_cert(key, name, ca, ca_key);
    write_cert(cert_path, cert);
    write_key(key_path, key);
    X509_free(cert);
    EVP_PKEY_free(key);
}

void test_certs_make(test_certs *ret, const char *folder, const char *client_name)
{
    const char *root = test_tmpdir();
    char dir[96];
    snprintf(dir, sizeof dir, "%.60s/%.30s", root, folder);
    mkdir(dir, 0700);
    snprintf(ret->ca, sizeof ret->ca, "%s/ca.pem", dir);
    snprintf(ret->cert, sizeof ret->cert, "%s/server.pem", dir);
    snprintf(ret->key, sizeof ret->key, "%s/server.key", dir);
    snprintf(ret->client_cert, sizeof ret->client_cert, "%s/client.pem", dir);
    snprintf(ret->client_key, sizeof ret->client_key, "%s/client.key", dir);
    EVP_PKEY *ca_key = EVP_EC_gen("P-256");
    X509 *ca = make_cert(ca_key, "test authority", NULL, NULL);
    write_cert(ret->ca, ca);
    make_signed(ret->cert, ret->key, "localhost", ca, ca_key);
    make_signed(ret->client_cert, ret->client_key, client_name, ca, ca_key);
    X509_free(ca);
    EVP_PKEY_free(ca_key);
}
