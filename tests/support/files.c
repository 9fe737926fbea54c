#include "support/files.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

test_file test_file_load(const char *path)
{
    cuzk_file_map map;
    cuzk_err err;
    if (cuzk_file_map_open(&map, path, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    test_file f = {malloc(map.bytes.n + 1), map.bytes.n};
    assert_non_null(f.p);
    if (f.n > 0) {
        memcpy(f.p, map.bytes.p, f.n);
    }
    cuzk_file_map_close(&map);
    return f;
}

const char *test_file_save(const char *name, const void *bytes, size_t n)
{
    static char paths[4][512];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_tmpdir(), name);
    cuzk_err err;
    if (cuzk_file_write(path, bytes, n, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return path;
}

void test_files_equal(const char *path, const char *want)
{
    test_file a = test_file_load(path), b = test_file_load(want);
    if (a.n != b.n || memcmp(a.p, b.p, a.n) != 0) {
        fail_msg("%s (%zu bytes) differs from %s (%zu bytes)", path, a.n, want, b.n);
    }
    free(a.p);
    free(b.p);
}

void test_failed(cuzk_code got, const cuzk_err *err, cuzk_code code, ...)
{
    if (got != code) {
        fail_msg("expected \"%s\", got \"%s\": %s", cuzk_code_name(code), cuzk_code_name(got),
                 got == CUZK_OK ? "" : err->msg);
    }
    assert_int_equal(err->code, code);
    va_list parts;
    va_start(parts, code);
    for (const char *part; (part = va_arg(parts, const char *));) {
        if (!strstr(err->msg, part)) {
            va_end(parts);
            fail_msg("no \"%s\" in \"%s\"", part, err->msg);
        }
    }
    va_end(parts);
}

/* The points with the smallest x in the given group that have the wrong order. */
static void small_points(uint8_t g1_bytes[96], uint8_t g2_bytes[192])
{
    g1_affine p;
    uint8_t x[96] = {0x80}; /* (0, 2) */
    assert_int_equal(g1_decompress(&p, x, POINT_CHECK_NONE), POINT_OK);
    g1_encode(g1_bytes, &p);
    g2_affine q;
    while (g2_decompress(&q, x, POINT_CHECK_NONE) != POINT_OK) {
        x[95]++;
    }
    g2_encode(g2_bytes, &q);
}

const test_bad_point *test_bad_points(size_t *ret_n)
{
    static test_bad_point bad[] = {
        {"compressed flag", "wrong flag bits", POINT_CHECK_NONE, {0}, {0}},
        {"sign flag", "wrong flag bits", POINT_CHECK_NONE, {0}, {0}},
        {"infinity flag on a finite point", "wrong flag bits", POINT_CHECK_NONE, {0}, {0}},
        {"infinity", "the point at infinity", POINT_CHECK_NONE, {0}, {0}},
        {"zero", "not on the curve", POINT_CHECK_NONE, {0}, {0}},
        {"y that is not below p", "not below p", POINT_CHECK_NONE, {0}, {0}},
        {"off the curve", "not on the curve", POINT_CHECK_CURVE, {0}, {0}},
        {"wrong order", "not in the subgroup", POINT_CHECK_SUBGROUP, {0}, {0}},
    };
    enum { N = sizeof bad / sizeof *bad };
    for (size_t i = 0; i < N; i++) {
        g1_encode(bad[i].g1, &g1_generator);
        g2_encode(bad[i].g2, &g2_generator);
    }
    bad[0].g1[0] |= 0x80;
    bad[0].g2[0] |= 0x80;
    bad[1].g1[0] |= 0x20;
    bad[1].g2[0] |= 0x20;
    bad[2].g1[0] |= 0x40;
    bad[2].g2[0] |= 0x40;
    memset(bad[3].g1, 0, 96);
    memset(bad[3].g2, 0, 192);
    bad[3].g1[0] = bad[3].g2[0] = 0x40;
    memset(bad[4].g1, 0, 96);
    memset(bad[4].g2, 0, 192);
    memset(bad[5].g1 + 48, 0x1f, 48);
    memset(bad[5].g2 + 144, 0x1f, 48);
    bad[6].g1[95] ^= 1;
    bad[6].g2[191] ^= 1;
    small_points(bad[7].g1, bad[7].g2);
    *ret_n = N;
    return bad;
}
