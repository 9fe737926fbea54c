#include "base/base64.h"
#include "support/support.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

static void all_lengths_round_trip_and_agree_with_libcrypto(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("all_lengths_round_trip_and_agree_with_libcrypto");
    uint8_t bytes[200], back[256], want[300];
    char text[300];
    test_bytes(&rng, bytes, sizeof bytes);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        size_t chars = cuzk_base64_length(n), got;
        cuzk_base64_encode(text, bytes, n);
        assert_int_equal(EVP_EncodeBlock(want, bytes, (int)n), chars);
        assert_memory_equal(text, want, chars);
        for (size_t piece = 1; piece < 12; piece++) {
            cuzk_base64 d = {0};
            size_t total = 0;
            for (size_t i = 0; i < chars; i += piece) {
                size_t k = piece < chars - i ? piece : chars - i;
                uint8_t out[32];
                assert_true(cuzk_base64_room(k) <= sizeof out);
                assert_true(cuzk_base64_decode(&d, out, &got, (uint8_t *)text + i, k));
                assert_true(got <= cuzk_base64_room(k));
                memcpy(back + total, out, got);
                total += got;
            }
            assert_true(cuzk_base64_done(&d));
            assert_int_equal(total, n);
            assert_memory_equal(back, bytes, n);
        }
    }
}

static void anything_but_the_one_encoding_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ok, done;
        unsigned at; /* of the first bad character */
    } cases[] = {
        {"", true, true, 0},
        {"QUJD", true, true, 0},
        {"QUI=", true, true, 0},
        {"QQ==", true, true, 0},
        {"QUJ", true, false, 0},
        {"QQ=", true, false, 0},
        {"Q", true, false, 0},
        {"QUJD\n", false, false, 4},
        {"QU D", false, false, 2},
        {"Q===", false, false, 1},
        {"====", false, false, 0},
        {"QR==", false, false, 2},
        {"QI==", false, false, 2},
        {"QUK=", false, false, 3},
        {"QUJ=", false, false, 3},
        {"QQ==QQ==", false, false, 4},
        {"QQ=A", false, false, 3},
        {"QUI=A", false, false, 4},
        {"QU-_", false, false, 2},
        {"QUJD=", false, false, 4},
        {"QUJDQUJD\xc3QUJ", false, false, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_base64 d = {0};
        uint8_t out[32];
        size_t n = 0;
        const char *t = cases[i].text;
        bool ok = cuzk_base64_decode(&d, out, &n, (const uint8_t *)t, strlen(t));
        if (ok != cases[i].ok) {
            print_message("%s\n", t);
        }
        assert_int_equal(ok, cases[i].ok);
        if (ok) {
            assert_int_equal(cuzk_base64_done(&d), cases[i].done);
        } else {
            assert_int_equal(d.total, cases[i].at);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_lengths_round_trip_and_agree_with_libcrypto),
        cmocka_unit_test(anything_but_the_one_encoding_is_refused_at_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
