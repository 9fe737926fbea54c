#include "support/files.h"

#include "groth16/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char window_vk[] = "reference/window-2KiB.vk"; /* 23 points of ic */

static cuzk_code parse(cuzk_vk *ret, const test_file *f, point_check check, cuzk_err *err)
{
    cuzk_cursor c = cuzk_cursor_of(test_file_span(f), "k.vk");
    cuzk_vk vk;
    CUZK_TRY(cuzk_vk_parse(&c, &vk, check, err));
    cuzk_code code = cuzk_cursor_end(&c, "the verifying key", err);
    if (code != CUZK_OK) {
        cuzk_vk_clear(&vk);
        return code;
    }
    *ret = vk;
    return CUZK_OK;
}

static void real_keys_are_written_back_byte_for_byte(void **state)
{
    (void)state;
    static const struct {
        const char *rel;
        uint32_t n_ic;
    } keys[] = {
        {"verify/polka-storage-2KiB/porep.vk", 40},
        {"verify/polka-storage-2KiB/windowpost.vk", 23},
        {"verify/filecoin-v27-32GiB/seal32.vk", 328},
        {"verify/filecoin-v27-32GiB/winning32.vk", 133},
        {"reference/window-2KiB.vk", 23},
        {"reference/winning-2KiB.vk", 133},
        {"reference/porep-2KiB.oracle.vk", 40},
        {"reference/porep-8MiB.oracle.vk", 40},
        {"reference/porep-32GiB-p0.oracle.vk", 328},
        {"reference/window-32GiB-2sectors.oracle.vk", 23},
        {"reference/update-2KiB-p0.oracle.vk", 5},
        {"reference/update-32GiB-p0.oracle.vk", 5},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *path = test_vector(keys[i].rel);
        assert_non_null(path);
        cuzk_vk vk;
        cuzk_err err;
        cuzk_code code = cuzk_vk_read(&vk, path, POINT_CHECK_SUBGROUP, &err);
        if (code != CUZK_OK) {
            fail_msg("%s", err.msg);
        }
        assert_int_equal(vk.n_ic, keys[i].n_ic);
        const char *copy = test_file_save("copy.vk", "", 0);
        assert_int_equal(cuzk_vk_write(&vk, copy, &err), CUZK_OK);
        test_files_equal(copy, path);
        cuzk_vk_clear(&vk);
    }
}

static void the_key_of_a_full_window_is_written_back_byte_for_byte(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "verify/filecoin-v27-32GiB/window32.vk");
    cuzk_vk vk;
    cuzk_err err;
    assert_int_equal(cuzk_vk_read(&vk, path, POINT_CHECK_CURVE, &err), CUZK_OK);
    assert_int_equal(vk.n_ic, 25840);
    const char *copy = test_file_save("copy.vk", "", 0);
    assert_int_equal(cuzk_vk_write(&vk, copy, &err), CUZK_OK);
    test_files_equal(copy, path);
    cuzk_vk_clear(&vk);
}

static void a_key_cut_anywhere_is_refused(void **state)
{
    (void)state;
    test_file f = test_file_load(test_vector(window_vk));
    for (size_t n = 0; n < f.n; n++) {
        test_file cut = {f.p, n};
        cuzk_vk vk;
        cuzk_err err;
        char found[64];
        size_t field = n < 96    ? 0
                       : n < 192 ? 96
                       : n < 384 ? 192
                       : n < 576 ? 384
                       : n < 672 ? 576
                       : n < 864 ? 672
                       : n < 868 ? 864
                                 : 868;
        snprintf(found, sizeof found, "offset %zu: ", field);
        test_failed(parse(&vk, &cut, POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT, "k.vk: ", found,
                    "expected ", " bytes, found ", NULL);
    }
    free(f.p);
}

static void a_wrong_length_of_ic_is_refused(void **state)
{
    (void)state;
    test_file f = test_file_load(test_vector(window_vk));
    static const struct {
        uint32_t n;
        const char *want;
    } cases[] = {
        {0, "offset 864: length of ic: expected at least 1, found 0"},
        {1, "offset 964: expected the end of the verifying key, found 2112 more bytes"},
        {22, "offset 2980: expected the end of the verifying key, found 96 more bytes"},
        {24, "offset 868: ic: expected 2304 bytes, found 2208"},
        {23u << 24, "ic: expected 37044092928 bytes, found 2208"}, /* little-endian by mistake */
        {UINT32_MAX, "ic: expected 412316860320 bytes, found 2208"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_store_u32be(f.p + 864, cases[i].n);
        cuzk_vk vk;
        cuzk_err err;
        test_failed(parse(&vk, &f, POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT,
                    "k.vk: ", cases[i].want, NULL);
    }
    free(f.p);
}

static void bytes_after_the_key_are_refused(void **state)
{
    (void)state;
    test_file f = test_file_load(test_vector(window_vk));
    f.p[f.n++] = 0; /* test_file_load leaves room for one byte */
    cuzk_vk vk;
    cuzk_err err;
    test_failed(parse(&vk, &f, POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT,
                "offset 3076: expected the end of the verifying key, found 1 more bytes", NULL);
    test_failed(cuzk_vk_read(&vk, test_file_save("long.vk", f.p, f.n), POINT_CHECK_SUBGROUP, &err),
                &err, CUZK_E_INPUT,
                "long.vk: offset 3076: expected the end of the verifying key, found 1 more bytes",
                NULL);
    free(f.p);
}

static void bad_points_are_named_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t offset;
        bool is_g2;
    } points[] = {
        {"alpha_g1", 0, false},  {"beta_g1", 96, false},           {"beta_g2", 192, true},
        {"gamma_g2", 384, true}, {"delta_g1", 576, false},         {"delta_g2", 672, true},
        {"ic[0]", 868, false},   {"ic[22]", 868 + 22 * 96, false},
    };
    size_t n_bad;
    const test_bad_point *bad = test_bad_points(&n_bad);
    test_file good = test_file_load(test_vector(window_vk));
    test_file f = {malloc(good.n), good.n};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        for (size_t j = 0; j < n_bad; j++) {
            memcpy(f.p, good.p, f.n);
            memcpy(f.p + points[i].offset, points[i].is_g2 ? bad[j].g2 : bad[j].g1,
                   points[i].is_g2 ? 192 : 96);
            char want[128];
            snprintf(want, sizeof want, "offset %zu: %s: expected a finite point of %s, found ",
                     points[i].offset, points[i].name, points[i].is_g2 ? "G2" : "G1");
            cuzk_vk vk;
            cuzk_err err;
            for (int check = POINT_CHECK_NONE; check <= POINT_CHECK_SUBGROUP; check++) {
                cuzk_code code = parse(&vk, &f, (point_check)check, &err);
                if (check < (int)bad[j].check) {
                    assert_int_equal(code, CUZK_OK);
                    cuzk_vk_clear(&vk);
                } else {
                    test_failed(code, &err, CUZK_E_INPUT, "k.vk: ", want, bad[j].found, NULL);
                }
            }
        }
    }
    free(f.p);
    free(good.p);
}

static void a_failure_changes_neither_cursor_nor_result(void **state)
{
    (void)state;
    test_file f = test_file_load(test_vector(window_vk));
    cuzk_cursor c = cuzk_cursor_of((cuzk_span){f.p, f.n - 1}, "k.vk");
    cuzk_vk vk, before;
    memset(&vk, 0x5a, sizeof vk);
    before = vk;
    cuzk_err err;
    assert_int_equal(cuzk_vk_parse(&c, &vk, POINT_CHECK_NONE, &err), CUZK_E_INPUT);
    assert_int_equal(c.pos, 0);
    assert_memory_equal(&vk, &before, sizeof vk);
    free(f.p);
}

static void files_that_are_no_keys_are_refused(void **state)
{
    (void)state;
    cuzk_vk vk;
    cuzk_err err;
    test_failed(cuzk_vk_read(&vk, "/nowhere/k.vk", POINT_CHECK_NONE, &err), &err, CUZK_E_IO,
                "/nowhere/k.vk: cannot open", NULL);
    test_failed(cuzk_vk_read(&vk, test_tmpdir(), POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT,
                "expected a regular file", NULL);
    const char *empty = test_file_save("empty", "", 0);
    test_failed(cuzk_vk_read(&vk, empty, POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT,
                "/empty: offset 0: alpha_g1: expected 96 bytes, found 0", NULL);
    test_failed(
        cuzk_vk_read(&vk, test_vector("reference/window-2KiB.0.proof"), POINT_CHECK_NONE, &err),
        &err, CUZK_E_INPUT, ".proof: offset 0: alpha_g1: ", "wrong flag bits", NULL);
    test_failed(
        cuzk_vk_read(&vk, test_vector("snarkjs/chain1k/mul_vk.json"), POINT_CHECK_NONE, &err), &err,
        CUZK_E_INPUT, ".json: offset 0: alpha_g1: ", NULL);
}

static void a_key_that_cannot_be_written_leaves_no_file(void **state)
{
    (void)state;
    cuzk_vk vk;
    cuzk_err err;
    assert_int_equal(cuzk_vk_read(&vk, test_vector(window_vk), POINT_CHECK_NONE, &err), CUZK_OK);
    test_failed(cuzk_vk_write(&vk, "/nowhere/k.vk", &err), &err, CUZK_E_IO, "/nowhere/k.vk", NULL);
    cuzk_vk_clear(&vk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_keys_are_written_back_byte_for_byte),
        cmocka_unit_test(the_key_of_a_full_window_is_written_back_byte_for_byte),
        cmocka_unit_test(a_key_cut_anywhere_is_refused),
        cmocka_unit_test(a_wrong_length_of_ic_is_refused),
        cmocka_unit_test(bytes_after_the_key_are_refused),
        cmocka_unit_test(bad_points_are_named_with_their_place),
        cmocka_unit_test(a_failure_changes_neither_cursor_nor_result),
        cmocka_unit_test(files_that_are_no_keys_are_refused),
        cmocka_unit_test(a_key_that_cannot_be_written_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
