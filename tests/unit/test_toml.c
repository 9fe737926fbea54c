#include "base/toml.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cuzk_toml *parse(const char *text)
{
    cuzk_toml *doc = NULL;
    cuzk_err err;
    if (cuzk_toml_parse(&doc, (cuzk_span){(const uint8_t *)text, strlen(text)}, "t", &err)) {
        fail_msg("%s", err.msg);
    }
    return doc;
}

/* The member at a path without quotes, as in "a.b". */
static const cuzk_toml_value *at(const cuzk_toml *doc, const char *path)
{
    const cuzk_toml_value *v = cuzk_toml_root(doc);
    char key[32];
    while (*path) {
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        v = cuzk_toml_get(doc, v, key);
        assert_non_null(v);
        path += n + (path[n] == '.');
    }
    return v;
}

static void assert_place(const cuzk_toml *doc, const char *path, unsigned key_line,
                         unsigned key_column, unsigned line, unsigned column)
{
    const cuzk_toml_value *v = at(doc, path);
    assert_int_equal(v->key_at.line, key_line);
    assert_int_equal(v->key_at.column, key_column);
    assert_int_equal(v->at.line, line);
    assert_int_equal(v->at.column, column);
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    cuzk_toml *doc = parse("s = 'x'\ni = -0\nh = 0xff\nf = 2.5e3\nb = true\n"
                           "t = 1979-05-27T07:32:08.1234567891-07:30\na = [1, 'two', [3.0],]\n"
                           "[tab.le]\nk = {x.y = 1}\n[[list]]\nn = 1\n[[list]]\n");
    assert_string_equal(at(doc, "s")->u.string.p, "x");
    assert_true(at(doc, "i")->u.integer == 0);
    assert_true(at(doc, "h")->u.integer == 255);
    assert_true(at(doc, "f")->u.number >= 2500 && at(doc, "f")->u.number <= 2500);
    assert_true(at(doc, "b")->u.boolean);
    const cuzk_toml_datetime *t = &at(doc, "t")->u.datetime;
    assert_true(t->has_date && t->has_time && t->has_offset);
    assert_int_equal(t->nanosecond, 123456789);
    assert_int_equal(t->offset_minutes, -450);
    assert_int_equal(at(doc, "a")->u.list.count, 3);
    assert_int_equal(at(doc, "a")->u.list.first->next->type, CUZK_TOML_STRING);
    assert_true(at(doc, "tab.le.k.x.y")->u.integer == 1);
    assert_int_equal(at(doc, "list")->u.list.count, 2);
    assert_null(cuzk_toml_get(doc, cuzk_toml_root(doc), "none"));
    cuzk_toml_free(doc);
    cuzk_toml_free(NULL);
}

static void keys_and_values_know_their_places(void **state)
{
    (void)state;
    cuzk_toml *doc = parse("# c\na = 1\n  \"\xc3\xa9\xc3\xa8\" = [1,\n  2]\r\n\n[ x . y ]\nz . w = "
                           "{ v = 'q' }\n");
    assert_place(doc, "a", 2, 1, 2, 5);
    assert_place(doc, "\xc3\xa9\xc3\xa8", 3, 3, 3, 10); /* columns are characters */
    const cuzk_toml_value *two = at(doc, "\xc3\xa9\xc3\xa8")->u.list.first->next;
    assert_int_equal(two->at.line, 4);
    assert_int_equal(two->at.column, 3);
    assert_null(two->key);
    assert_place(doc, "x.y", 6, 7, 6, 7);
    assert_place(doc, "x.y.z.w", 7, 5, 7, 9);
    assert_place(doc, "x.y.z.w.v", 7, 11, 7, 15);
    cuzk_toml_free(doc);
}

static void what_is_wrong_is_said_with_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a = 1\nb = hello\n", "t:2:5: expected a value (a string needs quotes), found \"h\""},
        {"a = 1 2", "t:1:7: expected the end of the line, found \"2\""},
        {"a = [1,\n 2", "t:2:3: expected a comma or ] in an array, found the end of the text"},
        {"a = 'x\n", "t:1:5: the string that begins here is not closed"},
        {"a = 1\n[b]\na = 1\n[b]\n", "t:4:2: \"b\" is defined already, at 2:2"},
        {"a = 1\n\na.b = 2\n", "t:3:1: \"a\" is defined already, at 1:5"},
        {"a = {b = 1}\na.c = 2\n", "t:2:1: \"a\" is defined already, at 1:5"},
        {"a = \"\\x\"\n", "t:1:6: unknown escape in a string"},
        {"a = \"\\ud800\"\n", "t:1:6: U+D800 is no character"},
        {"a = 9223372036854775808\n", "t:1:5: the integer does not fit 64 bits"},
        {"a = 1979-02-29\n", "t:1:5: expected a date YYYY-MM-DD"},
        {"a = \"\x01\"", "t:1:6: control character U+0001 in a string"},
        {"# \x7f\n", "t:1:3: control character U+007F in a comment"},
        {"a = 'b\xff'\n", "t:1:7: byte 0xff is not UTF-8"},
        {"a\n", "t:1:2: expected = after a key, found the end of the line"},
        {"= 1\n", "t:1:1: expected a key, found \"=\""},
        {"[a\n", "t:1:3: expected ] after a table's name, found the end of the line"},
        {"\xef\xbb\xbf"
         "a = 1\n",
         "t:1:1: expected a key, found \"\xef\xbb\xbf\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_toml *doc = NULL;
        cuzk_err err;
        cuzk_span text = {(const uint8_t *)cases[i].text, strlen(cases[i].text)};
        assert_int_equal(cuzk_toml_parse(&doc, text, "t", &err), CUZK_E_INPUT);
        assert_null(doc);
        if (strncmp(err.msg, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("expected: %s\nfound:    %s", cases[i].message, err.msg);
        }
    }
}

/* `depth` times open, then close. */
static cuzk_code parse_nested(const char *open, const char *value, const char *close, int depth)
{
    char text[4096] = "a = ";
    for (int i = 0; i < depth; i++) {
        strcat(text, open);
    }
    strcat(text, value);
    for (int i = 0; i < depth; i++) {
        strcat(text, close);
    }
    cuzk_toml *doc = NULL;
    cuzk_err err;
    cuzk_code code =
        cuzk_toml_parse(&doc, (cuzk_span){(const uint8_t *)text, strlen(text)}, "t", &err);
    if (code != CUZK_OK) {
        assert_non_null(strstr(err.msg, "nested deeper than 64"));
    }
    cuzk_toml_free(doc);
    return code;
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    assert_int_equal(parse_nested("[", "1", "]", 64), CUZK_OK);
    assert_int_equal(parse_nested("[", "1", "]", 65), CUZK_E_INPUT);
    assert_int_equal(parse_nested("{b = ", "1", "}", 64), CUZK_OK);
    assert_int_equal(parse_nested("{b = ", "1", "}", 65), CUZK_E_INPUT);
    assert_int_equal(parse_nested("{b.b = ", "1", "}", 32), CUZK_OK);
    assert_int_equal(parse_nested("{b.b = ", "1", "}", 33), CUZK_E_INPUT);
    assert_int_equal(parse_nested("", "1\n[a1.a1", "]", 1), CUZK_OK);
}

/* Without the index of members this takes minutes, without cached places as well. */
static void a_large_document_takes_linear_time(void **state)
{
    (void)state;
    size_t n = test_is_slow() ? 40000 : 200000, used = 0, cap = n * 40;
    char *text = malloc(cap);
    assert_non_null(text);
    used += (size_t)sprintf(text, "a = {");
    for (size_t i = 0; i < n; i++) {
        used += (size_t)sprintf(text + used, "%sk%zu = [%zu]", i ? ", " : "", i, i);
    }
    text[used++] = '}';
    cuzk_toml *doc = NULL;
    assert_int_equal(cuzk_toml_parse(&doc, (cuzk_span){(const uint8_t *)text, used}, "t", NULL),
                     CUZK_OK);
    assert_int_equal(at(doc, "a")->u.list.count, n);
    assert_true(at(doc, "a.k12345")->u.list.first->u.integer == 12345);
    cuzk_toml_free(doc);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(keys_and_values_know_their_places),
        cmocka_unit_test(what_is_wrong_is_said_with_line_and_column),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(a_large_document_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
