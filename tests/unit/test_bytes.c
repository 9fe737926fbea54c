#include "base/bytes.h"
#include "support/support.h"

#include <string.h>

static const uint8_t data[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09};

static void a_cursor_reads_both_byte_orders(void **state)
{
    (void)state;
    cuzk_cursor c = cuzk_cursor_of((cuzk_span){data, sizeof data}, "f");
    uint32_t v;
    uint64_t w;
    assert_int_equal(cuzk_cursor_u32be(&c, "x", &v, NULL), CUZK_OK);
    assert_int_equal(v, 0x01020304);
    c.pos = 0;
    assert_int_equal(cuzk_cursor_u32le(&c, "x", &v, NULL), CUZK_OK);
    assert_int_equal(v, 0x04030201);
    c.pos = 1;
    assert_int_equal(cuzk_cursor_u64le(&c, "x", &w, NULL), CUZK_OK);
    assert_true(w == 0x0908070605040302u);
    assert_int_equal(cuzk_cursor_end(&c, "f", NULL), CUZK_OK);
}

static void a_short_read_names_file_offset_field_and_sizes_and_moves_nothing(void **state)
{
    (void)state;
    cuzk_cursor c = cuzk_cursor_of((cuzk_span){data, sizeof data}, "some.file");
    cuzk_cursor sub;
    cuzk_err err;
    uint64_t w = 7;
    assert_int_equal(cuzk_cursor_sub(&c, 4, "head", &sub, &err), CUZK_OK);
    assert_int_equal(cuzk_cursor_sub(&c, 5, "body", &sub, &err), CUZK_OK);
    assert_int_equal(cuzk_cursor_u64le(&sub, "count", &w, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "some.file: offset 4: count: expected 8 bytes, found 5");
    assert_int_equal(w, 7);
    assert_int_equal(cuzk_cursor_left(&sub), 5);
    assert_int_equal(cuzk_cursor_end(&sub, "the body", &err), CUZK_E_INPUT);
    assert_string_equal(err.msg,
                        "some.file: offset 4: expected the end of the body, found 5 more bytes");
}

static void a_huge_length_does_not_wrap_around(void **state)
{
    (void)state;
    cuzk_cursor c = cuzk_cursor_of((cuzk_span){data, sizeof data}, "f");
    const uint8_t *p;
    c.pos = 3;
    assert_int_equal(cuzk_cursor_take(&c, SIZE_MAX, "x", &p, NULL), CUZK_E_INPUT);
    assert_int_equal(cuzk_cursor_take(&c, SIZE_MAX - 2, "x", &p, NULL), CUZK_E_INPUT);
    assert_int_equal(c.pos, 3);
}

static void hex_is_parsed_whole_or_not_at_all(void **state)
{
    (void)state;
    uint8_t out[2];
    char text[5];
    assert_true(cuzk_hex_parse("aF09", out, 2));
    assert_int_equal(out[0], 0xaf);
    assert_int_equal(out[1], 0x09);
    cuzk_hex_format(text, out, 2);
    assert_string_equal(text, "af09");
    static const char *const bad[] = {"", "af0", "af09f", "af0g", " af09", "0xaf", "af 9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(cuzk_hex_parse(bad[i], out, 2));
    }
}

static void stores_are_the_inverse_of_loads(void **state)
{
    (void)state;
    uint8_t b[8];
    cuzk_store_u64le(b, 0x1122334455667788u);
    assert_int_equal(b[0], 0x88);
    assert_true(cuzk_load_u64le(b) == 0x1122334455667788u);
    cuzk_store_u64be(b, 0x1122334455667788u);
    assert_int_equal(b[0], 0x11);
    assert_true(cuzk_load_u64be(b) == 0x1122334455667788u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cursor_reads_both_byte_orders),
        cmocka_unit_test(a_short_read_names_file_offset_field_and_sizes_and_moves_nothing),
        cmocka_unit_test(a_huge_length_does_not_wrap_around),
        cmocka_unit_test(hex_is_parsed_whole_or_not_at_all),
        cmocka_unit_test(stores_are_the_inverse_of_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
