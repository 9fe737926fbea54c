#include "support/json_walk.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const seeds[] = {
    "{\"a\":[1,2,-3,0.5,1e3,-0,0E-2],\"b\":{\"c\":null,\"d\":true,\"e\":false},\"f\":\"x\"}",
    "  [ \"\\u0041\\n\\t\\\"\\\\\\/\\b\\f\\r\", \"\\ud83d\\ude00\", "
    "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\" ] ",
    "[[[[]]],{},{\"\":{}}]",
    "{\"a\":1,\"a\":2,\"0123456789012345678901234567890123456789012345678901234567890123456789\":"
    "3}",
    "\"only\"",
    "-12.75e+2",
    "[0,1,2,3,4,5,6,7,8,9,10,99,100,199,200,249,250,255]",
    "[\"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xc2\x80\xdf\xbf\xe0\xa0\x80\"]",
    "[18446744073709551615,9223372036854775807,-9223372036854775808]",
};

static void valid_texts_have_the_values_that_jansson_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        json_walk_compare((const uint8_t *)seeds[i], strlen(seeds[i]));
    }
}

static void wrong_texts_are_refused_as_jansson_refuses_them(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "[",
        "]",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "[01]",
        "[1.]",
        "[.5]",
        "[1e]",
        "[+1]",
        "[-]",
        "[--1]",
        "[1 2]",
        "nul",
        "truex",
        "[nan]",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\n\"",
        "\"a",
        "\"\\\"",
        "\"\\",
        "[1]]",
        "{} {}",
        "\"\x80\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xe2\x82\"",
        "\xef\xbb\xbf[]",
        "[1]\x01",
        "'a'",
        "{\"a\":1 \"b\":2}",
        "[1;2]",
        "\"\\u00\"",
        "0x10",
        "[0 1]",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cuzk_err err;
        json_t *v;
        bool deep;
        size_t n = strlen(wrong[i]);
        if (json_walk(&v, (const uint8_t *)wrong[i], n, 0, &deep, &err) != CUZK_E_INPUT) {
            print_message("accepted: %s\n", wrong[i]);
            fail();
        }
        json_walk_compare((const uint8_t *)wrong[i], n);
    }
}

static void random_changes_are_judged_as_jansson_judges_them(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("random_changes_are_judged_as_jansson_judges_them");
    static const char alphabet[] = "{}[]:,\"\\u0129-+.eE tfn\x80\xc3\xed\xf4\xbf\x01";
    for (int round = 0; round < 20000; round++) {
        const char *seed = seeds[test_below(&rng, sizeof seeds / sizeof *seeds)];
        uint8_t text[256];
        size_t n = strlen(seed);
        memcpy(text, seed, n);
        for (uint64_t changes = 1 + test_below(&rng, 3); changes > 0 && n > 0; changes--) {
            size_t at = (size_t)test_below(&rng, n);
            switch (test_below(&rng, 3)) {
            case 0:
                text[at] = (uint8_t)alphabet[test_below(&rng, sizeof alphabet)];
                break;
            case 1:
                memmove(text + at, text + at + 1, n - at - 1);
                n--;
                break;
            default:
                memmove(text + at + 1, text + at, n - at);
                text[at] = (uint8_t)alphabet[test_below(&rng, sizeof alphabet)];
                n++;
            }
        }
        json_walk_compare(text, n);
    }
}

static void byte_arrays_are_read_whatever_their_spacing(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("byte_arrays_are_read_whatever_their_spacing");
    for (int round = 0; round < 2000; round++) {
        uint8_t want[32], got[32];
        char text[600];
        int n = snprintf(text, sizeof text, "[");
        bool spaced = round % 2;
        for (int i = 0; i < 32; i++) {
            want[i] = (uint8_t)(test_u64(&rng) >> test_below(&rng, 57));
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%d%s", i > 0 ? "," : "", want[i],
                          spaced && test_below(&rng, 9) == 0 ? " " : "");
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "]%s", round % 3 ? "" : "           ");
        cuzk_err err;
        cuzk_json j;
        cuzk_json_init(&j, (cuzk_span){(const uint8_t *)text, (size_t)n}, "text");
        assert_int_equal(cuzk_json_bytes(&j, got, 32, &err), CUZK_OK);
        assert_memory_equal(got, want, 32);
        assert_int_equal(cuzk_json_end(&j, &err), CUZK_OK);
    }
}

static cuzk_code bytes_of(const char *text, cuzk_err *err)
{
    uint8_t out[4];
    char padded[200]; /* so that the fast path sees it too */
    snprintf(padded, sizeof padded, "%s%64s", text, "");
    cuzk_json j;
    cuzk_json_init(&j, (cuzk_span){(const uint8_t *)padded, strlen(padded)}, "f.json");
    cuzk_code code = cuzk_json_bytes(&j, out, sizeof out, err);
    return code == CUZK_OK ? cuzk_json_end(&j, err) : code;
}

static void a_bad_byte_array_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"[1,2,3]", "f.json: offset 7: expected 4 bytes, found fewer"},
        {"[1,2,3,4,5]", "f.json: offset 9: [4]: expected 4 bytes, found more"},
        {"[1,2,3,256]", "f.json: offset 10: [3]: expected an integer from 0 to 255, found 256"},
        {"[1,02,3,4]", "f.json: offset 4: [1]: expected no digit after a leading 0, found '2'"},
        {"[1,2,3,4444]", "f.json: offset 11: [3]: expected an integer from 0 to 255, found 4444"},
        {"[1,-2,3,4]", "f.json: offset 3: [1]: expected an integer from 0 to "
                       "18446744073709551615, found '-'"},
        {"[1,2.5,3,4]", "f.json: offset 4: [1]: expected an integer from 0 to "
                        "18446744073709551615, found '.'"},
        {"[1,2,3,4,]", "f.json: offset 9: [4]: expected a value, found ']'"},
        {"[1,2:3,4]", "f.json: offset 4: [1]: expected ',' or ']', found ':'"},
        {"[1,1:3,3,4]", "f.json: offset 4: [1]: expected ',' or ']', found ':'"},
        {"[1,0;,3,4]", "f.json: offset 4: [1]: expected ',' or ']', found ';'"},
        {"[1,2,,4]", "f.json: offset 5: [2]: expected an integer from 0 to "
                     "18446744073709551615, found ','"},
        {"[1,2,3,4}", "f.json: offset 8: [3]: expected ',' or ']', found '}'"},
        {"{}", "f.json: offset 0: expected an array, found '{'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cuzk_err err;
        assert_int_equal(bytes_of(bad[i].text, &err), CUZK_E_INPUT);
        assert_string_equal(err.msg, bad[i].message);
    }
    cuzk_err err;
    assert_int_equal(bytes_of("[1,2,3,255]", &err), CUZK_OK);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char text[2 * CUZK_JSON_MAX_DEPTH + 3];
    for (int depth = CUZK_JSON_MAX_DEPTH; depth <= CUZK_JSON_MAX_DEPTH + 1; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        cuzk_err err;
        cuzk_json j;
        cuzk_json_init(&j, (cuzk_span){(const uint8_t *)text, 2 * (size_t)depth}, "deep");
        assert_int_equal(cuzk_json_skip(&j, &err),
                         depth == CUZK_JSON_MAX_DEPTH ? CUZK_OK : CUZK_E_INPUT);
    }
}

static void an_error_shows_the_path_of_keys_and_indices(void **state)
{
    (void)state;
    static const char text[] = "{\"x\":0,\"a\":[{\"b\":1},{\"c\":[7,8,tru]}]}";
    cuzk_err err;
    cuzk_json j;
    cuzk_json_init(&j, (cuzk_span){(const uint8_t *)text, sizeof text - 1}, "f.json");
    assert_int_equal(cuzk_json_skip(&j, &err), CUZK_E_INPUT);
    assert_string_equal(err.msg, "f.json: offset 33: a[1].c[2]: expected true, found ']'");
}

static void numbers_and_strings_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        cuzk_code code;
        uint64_t value;
    } numbers[] = {
        {"18446744073709551615", CUZK_OK, UINT64_MAX},
        {"18446744073709551616", CUZK_E_INPUT, 0},
        {"0", CUZK_OK, 0},
        {"00", CUZK_E_INPUT, 0},
        {"1.0", CUZK_E_INPUT, 0},
        {"1e2", CUZK_E_INPUT, 0},
        {"-1", CUZK_E_INPUT, 0},
        {"\"1\"", CUZK_E_INPUT, 0},
    };
    cuzk_err err;
    cuzk_json j;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t v = 0;
        const char *t = numbers[i].text;
        cuzk_json_init(&j, (cuzk_span){(const uint8_t *)t, strlen(t)}, "n");
        assert_int_equal(cuzk_json_u64(&j, &v, &err), numbers[i].code);
        assert_int_equal(v, numbers[i].value);
    }
    char text[8];
    size_t n;
    cuzk_json_init(&j, (cuzk_span){(const uint8_t *)"\"1234567\"", 9}, "s");
    assert_int_equal(cuzk_json_string(&j, text, sizeof text, &n, &err), CUZK_OK);
    assert_string_equal(text, "1234567");
    cuzk_json_init(&j, (cuzk_span){(const uint8_t *)"\"12345678\"", 10}, "s");
    assert_int_equal(cuzk_json_string(&j, text, sizeof text, &n, &err), CUZK_E_INPUT);
}

static cuzk_code broken(void *ctx, uint8_t *buf, size_t cap, size_t *ret_n, cuzk_err *err)
{
    bool *first = ctx;
    (void)cap;
    if (!*first) {
        return CUZK_FAIL(err, CUZK_E_IO, "the source broke");
    }
    *first = false;
    buf[0] = '[';
    *ret_n = 1;
    return CUZK_OK;
}

static void an_error_of_the_source_is_passed_on(void **state)
{
    (void)state;
    bool first = true;
    uint8_t buf[256];
    cuzk_err err;
    cuzk_json j;
    cuzk_json_init_stream(&j, buf, sizeof buf, broken, &first, "pipe");
    assert_int_equal(cuzk_json_skip(&j, &err), CUZK_E_IO);
    assert_string_equal(err.msg, "the source broke");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_have_the_values_that_jansson_reads),
        cmocka_unit_test(wrong_texts_are_refused_as_jansson_refuses_them),
        cmocka_unit_test(random_changes_are_judged_as_jansson_judges_them),
        cmocka_unit_test(byte_arrays_are_read_whatever_their_spacing),
        cmocka_unit_test(a_bad_byte_array_is_refused_with_its_place),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(an_error_shows_the_path_of_keys_and_indices),
        cmocka_unit_test(numbers_and_strings_that_do_not_fit_are_refused),
        cmocka_unit_test(an_error_of_the_source_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
