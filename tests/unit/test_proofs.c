#include "support/files.h"

#include "groth16/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char seal_proofs[] = "verify/filecoin-v27-32GiB/seal32.proof"; /* 10 proofs */

static void real_proofs_are_encoded_to_the_same_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *rel;
        size_t n;
    } files[] = {
        {"verify/filecoin-v27-32GiB/seal32.proof", 10},
        {"verify/filecoin-v27-32GiB/winning32.proof", 1},
        {"verify/filecoin-v27-32GiB/window32.proof", 1},
        {"verify/polka-storage-2KiB/porep.proof", 1},
        {"verify/polka-storage-2KiB/windowpost.proof", 1},
        {"reference/window-2KiB.0.proof", 1},
        {"reference/winning-2KiB.0.proof", 1},
        {"reference/porep-2KiB.oracle.proof", 1},
        {"reference/porep-8MiB.oracle.proof", 1},
        {"reference/porep-32GiB-p0.oracle.proof", 1},
        {"reference/window-32GiB-2sectors.oracle.proof", 1},
        {"reference/update-2KiB-p0.oracle.proof", 1},
        {"reference/update-32GiB-p0.oracle.proof", 1},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = test_vector(files[i].rel);
        assert_non_null(path);
        cuzk_proof *proofs;
        size_t n;
        cuzk_err err;
        cuzk_code code = cuzk_proofs_read(&proofs, &n, path, &err);
        if (code != CUZK_OK) {
            fail_msg("%s", err.msg);
        }
        assert_int_equal(n, files[i].n);
        test_file f = test_file_load(path);
        for (size_t k = 0; k < n; k++) {
            uint8_t bytes[CUZK_PROOF_BYTES];
            cuzk_proof_encode(bytes, &proofs[k]);
            assert_memory_equal(bytes, f.p + k * CUZK_PROOF_BYTES, CUZK_PROOF_BYTES);
        }
        free(f.p);
        free(proofs);
    }
}

static void real_inputs_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *rel;
        size_t n;
    } files[] = {
        {"verify/filecoin-v27-32GiB/seal32.inputs", 3270},
        {"verify/filecoin-v27-32GiB/winning32.inputs", 132},
        {"verify/polka-storage-2KiB/porep.inputs", 39},
        {"verify/polka-storage-2KiB/windowpost.inputs", 22},
        {"reference/porep-32GiB.inputs", 3270},
        {"reference/window-2KiB.0.inputs", 22},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = test_vector(files[i].rel);
        assert_non_null(path);
        fr_repr *inputs;
        size_t n;
        cuzk_err err;
        assert_int_equal(cuzk_inputs_read(&inputs, &n, path, &err), CUZK_OK);
        assert_int_equal(n, files[i].n);
        test_file f = test_file_load(path);
        for (size_t k = 0; k < n; k++) {
            uint8_t bytes[32];
            fr_repr_to_bytes(bytes, &inputs[k]);
            assert_memory_equal(bytes, f.p + 32 * k, 32);
        }
        free(f.p);
        free(inputs);
    }
}

static void proofs_cut_anywhere_are_refused(void **state)
{
    (void)state;
    test_file f = test_file_load(test_vector(seal_proofs));
    for (size_t n = 0; n < f.n; n++) {
        if (n % CUZK_PROOF_BYTES == 0 && n > 0) {
            continue;
        }
        cuzk_proof *proofs = NULL;
        size_t k = 7;
        cuzk_err err;
        char want[96];
        snprintf(want, sizeof want, "p.proof: offset %zu: proof %zu: expected 192 bytes, found %zu",
                 n / 192 * 192, n / 192, n % 192);
        test_failed(cuzk_proofs_parse(&proofs, &k, (cuzk_span){f.p, n}, "p.proof", &err), &err,
                    CUZK_E_INPUT, want, NULL);
        assert_null(proofs);
        assert_int_equal(k, 7);
    }
    free(f.p);
}

static void bad_points_of_a_proof_are_named_with_their_place(void **state)
{
    (void)state;
    test_file good = test_file_load(test_vector(seal_proofs));
    test_file f = {malloc(good.n), good.n};
    static const struct {
        size_t offset, bytes;
        const char *point, *group;
    } points[] = {{0, 48, "A", "G1"},
                  {48, 96, "B", "G2"},
                  {144, 48, "C", "G1"},
                  {192 * 9 + 48, 96, "B", "G2"}};
    static const struct {
        uint8_t first, fill;
        const char *found;
    } bad[] = {
        {0x00, 0x01, "wrong flag bits"}, {0x40, 0x00, "wrong flag bits"},
        {0xe0, 0x00, "wrong flag bits"}, {0xc1, 0x00, "wrong flag bits"},
        {0xc0, 0x01, "wrong flag bits"}, {0xc0, 0x00, "the point at infinity"},
        {0x9f, 0xff, "not below p"},     {0xbf, 0xff, "not below p"},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof *bad; j++) {
            memcpy(f.p, good.p, f.n);
            memset(f.p + points[i].offset, bad[j].fill, points[i].bytes);
            f.p[points[i].offset] = bad[j].first;
            cuzk_proof *proofs;
            size_t n;
            cuzk_err err;
            char want[128];
            snprintf(want, sizeof want,
                     "offset %zu: %s of the proof: expected a finite point of %s, found ",
                     points[i].offset, points[i].point, points[i].group);
            test_failed(cuzk_proofs_parse(&proofs, &n, test_file_span(&f), "p.proof", &err), &err,
                        CUZK_E_INPUT, "p.proof: ", want, bad[j].found, NULL);
        }
    }
    /* x without a point on the curve, and a point of the wrong order (x = 0 in G1, where y = 2) */
    static const struct {
        uint8_t last;
        const char *found;
    } x[] = {{0, "not in the subgroup"}, {1, "not on the curve"}};
    for (size_t j = 0; j < 2; j++) {
        memcpy(f.p, good.p, f.n);
        memset(f.p + 144, 0, 48);
        f.p[144] = 0x80;
        f.p[191] = x[j].last;
        cuzk_proof *proofs;
        size_t n;
        cuzk_err err;
        test_failed(cuzk_proofs_parse(&proofs, &n, test_file_span(&f), "p.proof", &err), &err,
                    CUZK_E_INPUT, "offset 144: C of the proof: ", x[j].found, NULL);
    }
    free(f.p);
    free(good.p);
}

static void a_point_of_G2_of_the_wrong_order_is_refused(void **state)
{
    (void)state;
    test_file f = test_file_load(test_vector(seal_proofs));
    memset(f.p + 48, 0, 96);
    f.p[48] = 0x80;
    g2_affine b;
    do { /* the points with a small x are of another order */
        f.p[48 + 95]++;
    } while (g2_decompress(&b, f.p + 48, POINT_CHECK_CURVE) != POINT_OK);
    cuzk_proof *proofs;
    size_t n;
    cuzk_err err;
    test_failed(cuzk_proofs_parse(&proofs, &n, test_file_span(&f), "p.proof", &err), &err,
                CUZK_E_INPUT, "offset 48: B of the proof: ", "not in the subgroup", NULL);
    free(f.p);
}

static void inputs_that_are_not_canonical_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[3 * 32] = {1};
    fr_repr *inputs;
    size_t n;
    cuzk_err err;
    assert_true(cuzk_hex_parse("00000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73",
                               bytes + 64, 32)); /* r - 1, then r */
    assert_int_equal(cuzk_inputs_parse(&inputs, &n, (cuzk_span){bytes, 96}, "f.inputs", &err),
                     CUZK_OK);
    assert_int_equal(n, 3);
    assert_int_equal(inputs[0].l[0], 1);
    free(inputs);
    bytes[64] = 1;
    test_failed(cuzk_inputs_parse(&inputs, &n, (cuzk_span){bytes, 96}, "f.inputs", &err), &err,
                CUZK_E_INPUT,
                "f.inputs: offset 64: input 2: expected a little-endian integer below "
                "r, found the bytes 01000000ffffffff",
                NULL);
    memset(bytes + 32, 0xff, 32);
    test_failed(cuzk_inputs_parse(&inputs, &n, (cuzk_span){bytes, 96}, "f.inputs", &err), &err,
                CUZK_E_INPUT, "f.inputs: offset 32: input 1: ", NULL);
    for (size_t cut = 1; cut < 32; cut++) {
        test_failed(cuzk_inputs_parse(&inputs, &n, (cuzk_span){bytes, 32 + cut}, "f.inputs", &err),
                    &err, CUZK_E_INPUT, "offset 32: input 1: expected 32 bytes, found ", NULL);
    }
    assert_int_equal(cuzk_inputs_parse(&inputs, &n, (cuzk_span){bytes, 0}, "f.inputs", &err),
                     CUZK_OK);
    assert_int_equal(n, 0);
    free(inputs);
}

static void files_that_are_no_proofs_are_refused(void **state)
{
    (void)state;
    cuzk_proof *proofs;
    fr_repr *inputs;
    size_t n;
    cuzk_err err;
    test_failed(cuzk_proofs_read(&proofs, &n, "/nowhere/p.proof", &err), &err, CUZK_E_IO,
                "/nowhere/p.proof: cannot open", NULL);
    test_failed(cuzk_inputs_read(&inputs, &n, "/nowhere/f.inputs", &err), &err, CUZK_E_IO,
                "/nowhere/f.inputs: cannot open", NULL);
    test_failed(cuzk_proofs_read(&proofs, &n, test_tmpdir(), &err), &err, CUZK_E_INPUT,
                "expected a regular file", NULL);
    test_failed(cuzk_inputs_read(&inputs, &n, test_tmpdir(), &err), &err, CUZK_E_INPUT,
                "expected a regular file", NULL);
    test_failed(cuzk_proofs_read(&proofs, &n, test_file_save("empty", "", 0), &err), &err,
                CUZK_E_INPUT, "/empty: offset 0: proof 0: expected 192 bytes, found 0", NULL);
    test_failed(cuzk_proofs_read(&proofs, &n, test_vector("reference/window-2KiB.vk"), &err), &err,
                CUZK_E_INPUT, "expected 192 bytes, found 4", NULL);
    test_failed(
        cuzk_proofs_read(&proofs, &n, test_vector("verify/polka-storage-2KiB/porep.inputs"), &err),
        &err, CUZK_E_INPUT, "expected 192 bytes, found 96", NULL);
    test_failed(cuzk_inputs_read(&inputs, &n, test_vector(seal_proofs), &err), &err, CUZK_E_INPUT,
                ": expected a little-endian integer below r", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_proofs_are_encoded_to_the_same_bytes),
        cmocka_unit_test(real_inputs_are_read),
        cmocka_unit_test(proofs_cut_anywhere_are_refused),
        cmocka_unit_test(bad_points_of_a_proof_are_named_with_their_place),
        cmocka_unit_test(a_point_of_G2_of_the_wrong_order_is_refused),
        cmocka_unit_test(inputs_that_are_not_canonical_are_refused),
        cmocka_unit_test(files_that_are_no_proofs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
