#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/curve/g1.h"
#include "math/curve/g2.h"
#include "math/field/fr.h"

/** Path of a vector: tests/vectors/REL when it is there, else ../shared/vectors/REL, else NULL. The
 *  string lives until the next call but three. */
const char *test_vector(const char *rel);

/** The path of a vector, or ends the test as skipped, naming what is missing. */
#define TEST_VECTOR_OR_SKIP(var, rel)                                                              \
    const char *var = test_vector(rel);                                                            \
    if (!var) {                                                                                    \
        print_message("skipped: vector %s is not here\n", rel);                                    \
        skip();                                                                                    \
    }

/** A fresh temporary folder that is removed when the process ends. */
const char *test_tmpdir(void);

/** True in builds with a sanitizer, where everything takes ten times as long: a test may then leave
 *  out its largest sizes, never one of its branches. */
bool test_is_slow(void);

/** A generator of reproducible test values (splitmix64), seeded from CUZK_SEED or a fixed number;
 * the seed is printed once. Not for secrets. */
typedef struct test_rng {
    uint64_t state;
} test_rng;

test_rng test_rng_new(const char *test_name);
uint64_t test_u64(test_rng *g);
/** Uniform below n (n > 0). */
uint64_t test_below(test_rng *g, uint64_t n);
void test_bytes(test_rng *g, void *bytes, size_t n);

fr test_fr(test_rng *g);
fp test_fp(test_rng *g);
fp2 test_fp2(test_rng *g);
fr_repr test_fr_repr(test_rng *g);

/** Random points of order r, quickly: n points by repeated addition from a random start. */
void test_g1_points(test_rng *g, g1_affine *p, size_t n);
void test_g2_points(test_rng *g, g2_affine *p, size_t n);

/** fp and fr values at the edges of their ranges and of their limbs: *ret_n of them, static. */
const fp *test_fp_edges(size_t *ret_n);
const fr *test_fr_edges(size_t *ret_n);

#endif
