#include "base/blake2b.h"
#include "base/bytes.h"
#include "base/chacha.h"
#include "support/support.h"

#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

static void mac_of_libcrypto(uint8_t *ret, size_t n_ret, uint8_t *key, size_t n_key,
                             const uint8_t *bytes, size_t n)
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "BLAKE2BMAC", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t("size", &n_ret), OSSL_PARAM_construct_end()};
    size_t got;
    assert_int_equal(EVP_MAC_init(ctx, key, n_key, params), 1);
    assert_int_equal(EVP_MAC_update(ctx, bytes, n), 1);
    assert_int_equal(EVP_MAC_final(ctx, ret, &got, n_ret), 1);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
}

static void blake2b_of_every_length_agrees_with_libcrypto(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("blake2b_of_every_length_agrees_with_libcrypto");
    uint8_t bytes[400], key[64], got[64], want[64];
    test_bytes(&rng, bytes, sizeof bytes);
    test_bytes(&rng, key, sizeof key);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        cuzk_blake2b(got, 64, NULL, 0, bytes, n);
        assert_int_equal(EVP_Digest(bytes, n, want, NULL, EVP_blake2b512(), NULL), 1);
        assert_memory_equal(got, want, 64);
        size_t n_key = 1 + n % 64, n_ret = 1 + (n * 7) % 64;
        cuzk_blake2b(got, n_ret, key, n_key, bytes, n);
        mac_of_libcrypto(want, n_ret, key, n_key, bytes, n);
        assert_memory_equal(got, want, n_ret);
    }
}

static void chacha20_blocks_agree_with_libcrypto(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("chacha20_blocks_agree_with_libcrypto");
    for (int round = 0; round < 50; round++) {
        uint32_t key[8], tail[4], got[16];
        uint8_t key_bytes[32], iv[16], want[64] = {0}, zero[64] = {0};
        test_bytes(&rng, key, sizeof key);
        test_bytes(&rng, tail, sizeof tail);
        for (int i = 0; i < 8; i++) {
            cuzk_store_u32le(key_bytes + 4 * i, key[i]);
        }
        for (int i = 0; i < 4; i++) {
            cuzk_store_u32le(iv + 4 * i, tail[i]);
        }
        EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
        int n = 0;
        assert_int_equal(EVP_EncryptInit_ex(ctx, EVP_chacha20(), NULL, key_bytes, iv), 1);
        assert_int_equal(EVP_EncryptUpdate(ctx, want, &n, zero, sizeof zero), 1);
        EVP_CIPHER_CTX_free(ctx);
        cuzk_chacha_block(got, key, tail, 20);
        for (int i = 0; i < 16; i++) {
            assert_int_equal(got[i], cuzk_load_u32le(want + 4 * i));
        }
    }
}

/* draft-strombergson-chacha-test-vectors-01, TC1, 256-bit key: no other ChaCha8 is at hand. */
static void chacha8_gives_the_published_block(void **state)
{
    (void)state;
    static const char want_hex[] =
        "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
        "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42";
    const uint32_t key[8] = {0}, tail[4] = {0};
    uint32_t got[16];
    uint8_t want[64];
    assert_true(cuzk_hex_parse(want_hex, want, sizeof want));
    cuzk_chacha_block(got, key, tail, 8);
    for (int i = 0; i < 16; i++) {
        assert_int_equal(got[i], cuzk_load_u32le(want + 4 * i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blake2b_of_every_length_agrees_with_libcrypto),
        cmocka_unit_test(chacha20_blocks_agree_with_libcrypto),
        cmocka_unit_test(chacha8_gives_the_published_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
