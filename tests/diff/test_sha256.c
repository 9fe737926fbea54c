#include "base/sha256.h"
#include "base/system.h"
#include "support/support.h"

#include <string.h>

static void every_length_has_the_digest_of_libcrypto(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("every_length_has_the_digest_of_libcrypto");
    uint8_t bytes[1300], got[32], want[32];
    test_bytes(&rng, bytes, sizeof bytes);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        cuzk_err err;
        assert_int_equal(cuzk_sha256(want, bytes, n, &err), CUZK_OK);
        cuzk_sha256_digest(got, bytes, n);
        assert_memory_equal(got, want, 32);
    }
}

static void a_message_may_come_in_pieces(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("a_message_may_come_in_pieces");
    uint8_t bytes[700], got[32], want[32];
    test_bytes(&rng, bytes, sizeof bytes);
    for (int round = 0; round < 200; round++) {
        cuzk_sha256_state s;
        cuzk_sha256_init(&s);
        size_t n = 0;
        while (n < sizeof bytes) {
            size_t k = (size_t)test_below(&rng, 150);
            k = k < sizeof bytes - n ? k : sizeof bytes - n;
            cuzk_sha256_update(&s, bytes + n, k);
            n += k;
        }
        cuzk_sha256_final(&s, got);
        cuzk_sha256_digest(want, bytes, sizeof bytes);
        assert_memory_equal(got, want, 32);
    }
}

static void a_pair_is_the_digest_of_its_64_bytes(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("a_pair_is_the_digest_of_its_64_bytes");
    uint8_t bytes[64], want[32];
    for (int round = 0; round < 50; round++) {
        test_bytes(&rng, bytes, sizeof bytes);
        cuzk_sha256_digest(want, bytes, sizeof bytes);
        cuzk_sha256_pair(bytes, bytes, bytes + 32);
        assert_memory_equal(bytes, want, 32);
    }
}

static void the_paths_of_all_processors_agree(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("the_paths_of_all_processors_agree");
    uint8_t blocks[5 * CUZK_SHA256_BLOCK_BYTES];
    for (size_t n = 0; n <= 5; n++) {
        uint32_t a[8], b[8];
        test_bytes(&rng, a, sizeof a);
        memcpy(b, a, sizeof b);
        test_bytes(&rng, blocks, sizeof blocks);
        cuzk_sha256_compress_portable(a, blocks, n);
        cuzk_sha256_compress(b, blocks, n);
        assert_memory_equal(a, b, sizeof a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_has_the_digest_of_libcrypto),
        cmocka_unit_test(a_message_may_come_in_pieces),
        cmocka_unit_test(a_pair_is_the_digest_of_its_64_bytes),
        cmocka_unit_test(the_paths_of_all_processors_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
