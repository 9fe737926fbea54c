#include "base/file.h"
#include "base/system.h"
#include "support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *in_tmpdir(const char *base)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", test_tmpdir(), base);
    return path;
}

static size_t files_in_tmpdir(void)
{
    size_t n = 0;
    DIR *d = opendir(test_tmpdir());
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static void a_file_appears_only_when_it_is_complete(void **state)
{
    (void)state;
    const char *name = in_tmpdir("a");
    cuzk_file_map map;
    cuzk_err err;
    assert_int_equal(cuzk_file_write(name, "old", 3, &err), CUZK_OK);

    cuzk_file_writer *w;
    assert_int_equal(cuzk_file_writer_open(&w, name, &err), CUZK_OK);
    size_t n = 3 << 20; /* more than one buffer */
    uint8_t *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(i * 31 >> 3);
    }
    assert_int_equal(cuzk_file_writer_put(w, bytes, n, &err), CUZK_OK);
    assert_int_equal(cuzk_file_writer_put(w, "end", 3, &err), CUZK_OK);
    assert_int_equal(cuzk_file_writer_offset(w), n + 3);
    assert_int_equal(cuzk_file_writer_patch(w, 5, "patch", 5, &err), CUZK_OK);
    memcpy(bytes + 5, "patch", 5);
    assert_int_equal(cuzk_file_writer_patch(w, n, "1234", 4, &err), CUZK_E_ARG);

    assert_int_equal(cuzk_file_map_open(&map, name, &err), CUZK_OK);
    assert_int_equal(map.bytes.n, 3);
    assert_memory_equal(map.bytes.p, "old", 3);
    cuzk_file_map_close(&map);

    assert_int_equal(cuzk_file_writer_commit(w, &err), CUZK_OK);
    assert_int_equal(cuzk_file_map_open(&map, name, &err), CUZK_OK);
    assert_int_equal(map.bytes.n, n + 3);
    assert_memory_equal(map.bytes.p, bytes, n);
    assert_memory_equal(map.bytes.p + n, "end", 3);
    cuzk_file_map_close(&map);
    free(bytes);
    assert_int_equal(files_in_tmpdir(), 1);
    remove(name);
}

static void an_abandoned_file_leaves_nothing_behind(void **state)
{
    (void)state;
    cuzk_file_writer *w;
    assert_int_equal(cuzk_file_writer_open(&w, in_tmpdir("b"), NULL), CUZK_OK);
    assert_int_equal(cuzk_file_writer_put(w, "x", 1, NULL), CUZK_OK);
    cuzk_file_writer_abort(w);
    cuzk_file_writer_abort(NULL);
    assert_int_equal(files_in_tmpdir(), 0);
}

static void what_cannot_be_mapped_is_named(void **state)
{
    (void)state;
    cuzk_file_map map = {0};
    cuzk_err err;
    assert_int_equal(cuzk_file_map_open(&map, in_tmpdir("none"), &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, "none: cannot open: No such file"));
    assert_int_equal(cuzk_file_map_open(&map, test_tmpdir(), &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "expected a regular file"));
    assert_null(map.bytes.p);
    assert_int_equal(cuzk_file_write(in_tmpdir("no/such"), "x", 1, &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, "no/such: cannot create"));
}

static void an_empty_file_maps_to_no_bytes(void **state)
{
    (void)state;
    const char *name = in_tmpdir("c");
    cuzk_file_map map;
    assert_int_equal(cuzk_file_write(name, "", 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_file_map_open(&map, name, NULL), CUZK_OK);
    assert_int_equal(map.bytes.n, 0);
    cuzk_file_map_close(&map);
    remove(name);
}

static void written_files_follow_the_umask(void **state)
{
    (void)state;
    const char *name = in_tmpdir("d");
    struct stat st;
    mode_t mask = umask(027);
    assert_int_equal(cuzk_file_write(name, "x", 1, NULL), CUZK_OK);
    umask(mask);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    remove(name);
}

static void sha256_gives_the_published_value(void **state)
{
    (void)state;
    uint8_t d[32]; /* FIPS 180-2, appendix B.1 */
    char text[65];
    assert_int_equal(cuzk_sha256(d, "abc", 3, NULL), CUZK_OK);
    cuzk_hex_format(text, d, 32);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void random_bytes_differ(void **state)
{
    (void)state;
    uint8_t a[32] = {0}, b[32] = {0};
    assert_int_equal(cuzk_random_bytes(a, 32, NULL), CUZK_OK);
    assert_int_equal(cuzk_random_bytes(b, 32, NULL), CUZK_OK);
    assert_memory_not_equal(a, b, 32);
}

static void a_temporary_folder_is_new_and_goes_away_with_all_in_it(void **state)
{
    (void)state;
    char a[CUZK_TEMPORARY_MAX], b[CUZK_TEMPORARY_MAX], deep[CUZK_TEMPORARY_MAX + 16];
    struct stat st;
    assert_int_equal(setenv("TMPDIR", test_tmpdir(), 1), 0);
    assert_int_equal(cuzk_temporary_folder(a, "x", NULL), CUZK_OK);
    assert_int_equal(cuzk_temporary_folder(b, "x", NULL), CUZK_OK);
    assert_string_not_equal(a, b);
    assert_memory_equal(a, test_tmpdir(), strlen(test_tmpdir()));
    assert_int_equal(stat(a, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    snprintf(deep, sizeof deep, "%s/of/folders", a);
    assert_int_equal(cuzk_make_folder(deep, NULL), CUZK_OK);
    snprintf(deep, sizeof deep, "%s/of/link", a);
    assert_int_equal(symlink(b, deep), 0); /* what it points to stays */
    cuzk_remove_folder(a);
    assert_int_equal(stat(a, &st), -1);
    assert_int_equal(stat(b, &st), 0);
    cuzk_err err;
    assert_int_equal(setenv("TMPDIR", a, 1), 0);
    assert_int_equal(cuzk_temporary_folder(b, "x", &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, a));
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_appears_only_when_it_is_complete),
        cmocka_unit_test(an_abandoned_file_leaves_nothing_behind),
        cmocka_unit_test(what_cannot_be_mapped_is_named),
        cmocka_unit_test(an_empty_file_maps_to_no_bytes),
        cmocka_unit_test(a_temporary_folder_is_new_and_goes_away_with_all_in_it),
        cmocka_unit_test(written_files_follow_the_umask),
        cmocka_unit_test(sha256_gives_the_published_value),
        cmocka_unit_test(random_bytes_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
