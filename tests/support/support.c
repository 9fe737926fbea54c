#include "support/support.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *test_vector(const char *rel)
{
    static char paths[4][4096];
    static unsigned turn;
    static const char *const roots[] = {TEST_VECTORS, SHARED_VECTORS};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char *path = paths[turn % 4];
        snprintf(path, sizeof paths[0], "%s/%s", roots[i], rel);
        if (access(path, R_OK) == 0) {
            turn++;
            return path;
        }
    }
    return NULL;
}

static char tmpdir[CUZK_TEMPORARY_MAX];

static void remove_tmpdir(void) { cuzk_remove_folder(tmpdir); }

const char *test_tmpdir(void)
{
    if (!tmpdir[0]) {
        assert_int_equal(cuzk_temporary_folder(tmpdir, "cuzk-test", NULL), CUZK_OK);
        atexit(remove_tmpdir);
    }
    return tmpdir;
}

#ifdef __has_feature /* clang */
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

bool test_is_slow(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
    return true;
#else
    return false;
#endif
}

test_rng test_rng_new(const char *test_name)
{
    const char *wish = getenv("CUZK_SEED");
    uint64_t seed = wish ? strtoull(wish, NULL, 0) : 20261130;
    print_message("%s: CUZK_SEED=%llu\n", test_name, (unsigned long long)seed);
    for (const char *c = test_name; *c; c++) {
        seed = seed * 31 + (unsigned char)*c;
    }
    return (test_rng){seed};
}

uint64_t test_u64(test_rng *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t test_below(test_rng *g, uint64_t n) { return test_u64(g) % n; }

void test_bytes(test_rng *g, void *bytes, size_t n)
{
    uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) {
        p[i] = (uint8_t)test_u64(g);
    }
}

fr test_fr(test_rng *g)
{
    fr r;
    do {
        for (int i = 0; i < FR_LIMBS; i++) {
            r.l[i] = test_u64(g);
        }
        r.l[FR_LIMBS - 1] >>= 1;
    } while (!fr_is_reduced(&r));
    return r;
}

fp test_fp(test_rng *g)
{
    fp r;
    do {
        for (int i = 0; i < FP_LIMBS; i++) {
            r.l[i] = test_u64(g);
        }
        r.l[FP_LIMBS - 1] >>= 3;
    } while (!fp_is_reduced(&r));
    return r;
}

fp2 test_fp2(test_rng *g)
{
    fp2 r;
    r.c0 = test_fp(g);
    r.c1 = test_fp(g);
    return r;
}

fr_repr test_fr_repr(test_rng *g)
{
    fr a = test_fr(g);
    fr_repr r;
    memcpy(r.l, a.l, sizeof r.l);
    return r;
}

#define POINTS(G, F)                                                                               \
    void test_##G##_points(test_rng *g, G##_affine *p, size_t n)                                   \
    {                                                                                              \
        G *jacobian = malloc((n + 1) * sizeof *jacobian);                                          \
        F *scratch = malloc((n + 1) * sizeof *scratch);                                            \
        assert_true(jacobian &&scratch);                                                           \
        G step;                                                                                    \
        fr_repr k = test_fr_repr(g);                                                               \
        G##_from_affine(&step, &G##_generator);                                                    \
        G##_mul(&jacobian[0], &step, &k);                                                          \
        k = test_fr_repr(g);                                                                       \
        G##_mul(&step, &step, &k);                                                                 \
        for (size_t i = 1; i < n; i++) {                                                           \
            G##_add(&jacobian[i], &jacobian[i - 1], &step);                                        \
        }                                                                                          \
        G##_batch_to_affine(p, jacobian, n, scratch);                                              \
        free(scratch);                                                                             \
        free(jacobian);                                                                            \
    }

POINTS(g1, fp)
POINTS(g2, fp2)

#define EDGES(F, LIMBS)                                                                            \
    const F *test_##F##_edges(size_t *ret_n)                                                       \
    {                                                                                              \
        static F edges[2 * LIMBS + 6];                                                             \
        size_t n = 0;                                                                              \
        edges[n++] = F##_zero;                                                                     \
        edges[n++] = F##_one;                                                                      \
        edges[n++] = (F){{1}};                                                                     \
        edges[n++] = F##_r2;                                                                       \
        F minus_one = F##_modulus;                                                                 \
        minus_one.l[0] -= 1;                                                                       \
        edges[n++] = minus_one;                                                                    \
        minus_one.l[0] -= 1;                                                                       \
        edges[n++] = minus_one;                                                                    \
        for (int i = 0; i < LIMBS; i++) {                                                          \
            F t = F##_zero; /* one full limb, and all limbs below full */                          \
            t.l[i] = i == LIMBS - 1 ? F##_modulus.l[i] - 1 : UINT64_MAX;                           \
            edges[n++] = t;                                                                        \
            for (int j = 0; j < i; j++) {                                                          \
                t.l[j] = UINT64_MAX;                                                               \
            }                                                                                      \
            edges[n++] = t;                                                                        \
        }                                                                                          \
        *ret_n = n;                                                                                \
        return edges;                                                                              \
    }

EDGES(fp, FP_LIMBS)
EDGES(fr, FR_LIMBS)
