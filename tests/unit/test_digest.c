#include "support/files.h"

#include "groth16/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static void files_have_their_published_digests(void **state)
{
    (void)state;
    /* The keys of version 27, digests as in its parameters.json. */
    static const struct {
        const char *rel, *digest;
    } files[] = {
        {"verify/filecoin-v27-32GiB/seal32.vk", "7a139d82b8a02e35279d657e197f5c1f"},
        {"verify/filecoin-v27-32GiB/winning32.vk", "2306247a1e616dbe07f01b88196c2044"},
        {"verify/filecoin-v27-32GiB/window32.vk", "caf900461e988bbf86dbcaca087b7864"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = test_vector(files[i].rel);
        if (!path) {
            print_message("skipped: vector %s is not here\n", files[i].rel);
            continue;
        }
        char digest[33];
        cuzk_err err;
        assert_int_equal(cuzk_file_digest(digest, path, NULL, &err), CUZK_OK);
        assert_string_equal(digest, files[i].digest);
        assert_null(cuzk_published_find(digest)); /* the table is that of version 28 */
    }
}

static void the_empty_file_and_abc_have_the_digests_of_rfc_7693(void **state)
{
    (void)state;
    char digest[33];
    cuzk_err err;
    assert_int_equal(cuzk_file_digest(digest, test_file_save("empty", "", 0), NULL, &err), CUZK_OK);
    assert_string_equal(digest, "786a02f742015903c6c6fd852552d272");
    assert_int_equal(cuzk_file_digest(digest, test_file_save("abc", "abc", 3), NULL, &err),
                     CUZK_OK);
    assert_string_equal(digest, "ba80a53f981c4d0d6a2797b69f12f6e9");
}

static void the_table_is_that_of_parameters_json(void **state)
{
    (void)state;
    json_error_t e;
    json_t *root = json_load_file(test_vector("filecoin-params/parameters.json"), 0, &e);
    assert_non_null(root);
    size_t n;
    const cuzk_published_file *all = cuzk_published_all(&n);
    assert_int_equal(n, json_object_size(root));
    const char *name;
    json_t *entry;
    json_object_foreach(root, name, entry)
    {
        const cuzk_published_file *f =
            cuzk_published_find(json_string_value(json_object_get(entry, "digest")));
        assert_non_null(f);
        assert_string_equal(f->name, name);
        json_int_t size = json_integer_value(json_object_get(entry, "sector_size"));
        const char *unit = size >> 30 ? "GiB" : size >> 20 ? "MiB" : "KiB";
        char want[32];
        snprintf(want, sizeof want, "-%lld%s",
                 (long long)(size >> (size >> 30   ? 30
                                      : size >> 20 ? 20
                                                   : 10)),
                 unit);
        assert_string_equal(f->circuit + strlen(f->circuit) - strlen(want), want);
        const char *kind = strncmp(f->circuit, "update-poseidon-", 16) == 0 ? "update-poseidon-m"
                           : strncmp(f->circuit, "update-", 7) == 0         ? "sector-update-m"
                           : strncmp(f->circuit, "porep-", 6) == 0
                               ? "proof-of-replication-m"
                               : "proof-of-spacetime-fallback-m";
        assert_non_null(strstr(f->name, kind));
    }
    json_decref(root);
    size_t winning = 0, window = 0;
    for (size_t i = 0; i < n; i++) {
        winning += strncmp(all[i].circuit, "winning-", 8) == 0;
        window += strncmp(all[i].circuit, "window-", 7) == 0;
    }
    assert_int_equal(winning, 10);
    assert_int_equal(window, 10);
    assert_string_equal(cuzk_published_find("d84f79a16fe40e9e25a36e2107bb1ba0")->circuit,
                        "winning-32GiB");
    assert_string_equal(cuzk_published_find("3810b7780ac0e299b22ae70f1f94c9bc")->circuit,
                        "window-64GiB");
    assert_null(cuzk_published_find(""));
}

static void what_cannot_be_read_has_no_digest(void **state)
{
    (void)state;
    char digest[33] = "unchanged";
    cuzk_err err;
    test_failed(cuzk_file_digest(digest, "/nowhere/f", NULL, &err), &err, CUZK_E_IO,
                "/nowhere/f: cannot open", NULL);
    test_failed(cuzk_file_digest(digest, test_tmpdir(), NULL, &err), &err, CUZK_E_INPUT,
                "expected a regular file", NULL);
    assert_string_equal(digest, "unchanged");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_their_published_digests),
        cmocka_unit_test(the_empty_file_and_abc_have_the_digests_of_rfc_7693),
        cmocka_unit_test(the_table_is_that_of_parameters_json),
        cmocka_unit_test(what_cannot_be_read_has_no_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
