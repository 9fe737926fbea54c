#ifndef TESTS_FILES_H
#define TESTS_FILES_H

#include "base/bytes.h"
#include "math/curve/encoding.h"
#include "support/support.h"

/*
 * Bytes of test files, and what tests of readers do with them.
 */

/** A whole file in memory, to be changed at will; ends the test when it cannot be read. The caller
 *  frees p. */
typedef struct test_file {
    uint8_t *p;
    size_t n;
} test_file;

test_file test_file_load(const char *path);

static inline cuzk_span test_file_span(const test_file *f) { return (cuzk_span){f->p, f->n}; }

/** Writes bytes into the temporary folder under a name of its own; the path lives until the next
 *  call but three. */
const char *test_file_save(const char *name, const void *bytes, size_t n);

/** Both files hold the same bytes. */
void test_files_equal(const char *path, const char *want);

/** The call failed with `code`, and its message holds each of the NULL-terminated parts. */
void test_failed(cuzk_code got, const cuzk_err *err, cuzk_code code, ...) __attribute__((sentinel));

/** Encodings that no reader may take, for mutation tables: a G1 point and a G2 point each. */
typedef struct test_bad_point {
    const char *name;
    const char *found; /* part of the message that describes it */
    point_check check; /* the weakest check that finds it */
    uint8_t g1[96];    /* uncompressed */
    uint8_t g2[192];
} test_bad_point;

/** *ret_n bad points, static. */
const test_bad_point *test_bad_points(size_t *ret_n);

#endif
