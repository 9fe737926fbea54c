#ifndef TESTS_TEST_CERTS_H
#define TESTS_TEST_CERTS_H

/** PEM files in a fresh folder, made with libcrypto: an authority, and what it signed. */
typedef struct test_certs {
    char ca[128];                           /* the authority's certificate */
    char cert[128], key[128];               /* "localhost" and 127.0.0.1 */
    char client_cert[128], client_key[128]; /* of a client called `name` */
} test_certs;

/** Writes the files under test_tmpdir()/folder, or ends the test as failed. Each call makes another
 *  authority. */
void test_certs_make(test_certs *ret, const char *folder, const char *client_name);

#endif
