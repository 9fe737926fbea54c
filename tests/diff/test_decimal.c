#include "support/support.h"

#include "groth16/formats/decimal.h"

#include <stdlib.h>
#include <string.h>

#include <gmp.h>

static void decimals_are_those_of_gmp(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("decimals_are_those_of_gmp");
    for (int k = 0; k < 4000; k++) {
        uint64_t limbs[6] = {0}, again[6];
        size_t n = 1 + test_below(&rng, 6);
        size_t used = 1 + test_below(&rng, n); /* leading limbs may be zero */
        for (size_t i = 0; i < used; i++) {
            limbs[i] = k % 5 == 0 ? UINT64_MAX : k % 5 == 1 ? 0 : test_u64(&rng);
        }
        mpz_t z;
        mpz_init(z);
        mpz_import(z, n, -1, 8, 0, 0, limbs);
        char *want = mpz_get_str(NULL, 10, z), got[CUZK_DECIMAL_SIZE(6)];
        cuzk_decimal_format(got, limbs, n);
        assert_string_equal(got, want);
        assert_true(cuzk_decimal_parse(got, again, n));
        assert_memory_equal(again, limbs, n * sizeof *limbs);
        mpz_ui_pow_ui(z, 2, 64 * n); /* the first number that does not fit, and one above it */
        free(want);
        for (unsigned more = 0; more < 2; more++) {
            mpz_add_ui(z, z, more * (unsigned)test_below(&rng, 1000000));
            want = mpz_get_str(NULL, 10, z);
            assert_false(cuzk_decimal_parse(want, again, n));
            free(want);
        }
        mpz_clear(z);
    }
}

static void anything_but_plain_digits_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "00",   "01",  "-1",  "+1", " 1",  "1 ",
                                      "1e3", "0x10", "1_0", "1.0", "a",  "1\n", "\xd9\xa1"};
    uint64_t limbs[4];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cuzk_decimal_parse(bad[i], limbs, 4));
    }
    assert_true(cuzk_decimal_parse("0", limbs, 4));
    assert_true(cuzk_decimal_parse("10", limbs, 1));
    assert_int_equal(limbs[0], 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_those_of_gmp),
        cmocka_unit_test(anything_but_plain_digits_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
