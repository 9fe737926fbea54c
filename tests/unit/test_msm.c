#include "support/support.h"

#include "math/msm/msm.h"
#include "math/msm/scalars.h"

#include <stdlib.h>
#include <string.h>

static const math_isa levels[] = {MATH_ISA_PORTABLE, MATH_ISA_ADX, MATH_ISA_IFMA};

/* Scalars at the edges of every class and of their limbs. */
static fr_repr edge_scalar(test_rng *rng)
{
    static const fr_repr edges[] = {
        {{0}},
        {{1}},
        {{2}},
        {{3}},
        {{UINT64_MAX}},
        {{UINT64_MAX - 1}},
        {{0, 1}},
        {{1, 1}},
        {{0, 0, 1}},
        {{UINT64_MAX, UINT64_MAX}},
        {{0, 0, 0, 1}},
        {{(uint64_t)1 << 63}},
        {{0, 0, 0, (uint64_t)1 << 62}},
    };
    size_t n = sizeof edges / sizeof *edges;
    size_t pick = test_below(rng, 2 * n + 3);
    if (pick >= 2 * n) {
        return test_fr_repr(rng);
    }
    fr_repr k = edges[pick / 2];
    if (pick & 1) { /* r - edge; the modulus itself stands for no scalar */
        mont_sub_raw(k.l, fr_modulus.l, k.l, FR_LIMBS);
        if (!fr_repr_is_canonical(&k)) {
            return edges[0];
        }
    }
    return k;
}

/* The sum by double-and-add alone, on the portable path. */
#define NAIVE(G)                                                                                   \
    static G G##_naive(const G##_affine *p, const fr_repr *k, size_t n)                            \
    {                                                                                              \
        math_isa_limit(MATH_ISA_PORTABLE);                                                         \
        G sum, t;                                                                                  \
        G##_set_inf(&sum);                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            G##_from_affine(&t, &p[i]);                                                            \
            G##_mul(&t, &t, &k[i]);                                                                \
            G##_add(&sum, &sum, &t);                                                               \
        }                                                                                          \
        math_isa_limit(MATH_ISA_IFMA);                                                             \
        return sum;                                                                                \
    }                                                                                              \
                                                                                                   \
    /* Every instruction set, alone and with threads, must give `want`. */                         \
    static void G##_check(const G *want, const G##_affine *p, const fr_repr *k, size_t n)          \
    {                                                                                              \
        cuzk_err err;                                                                              \
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {                              \
            if (math_isa_limit(levels[i]) != levels[i]) {                                          \
                continue;                                                                          \
            }                                                                                      \
            G got;                                                                                 \
            assert_int_equal(msm_##G(&got, p, k, n, NULL, &err), CUZK_OK);                         \
            if (!G##_eq(&got, want)) {                                                             \
                fail_msg("%s, %zu points", math_isa_name(levels[i]), n);                           \
            }                                                                                      \
        }                                                                                          \
        math_isa_limit(MATH_ISA_IFMA);                                                             \
    }                                                                                              \
                                                                                                   \
    static void G##_sums_of_few_equal_the_naive_sum(void **state)                                  \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_sums_of_few_equal_the_naive_sum");                        \
        G##_affine p[40];                                                                          \
        fr_repr k[40];                                                                             \
        for (size_t n = 0; n <= 40; n += test_is_slow() ? 3 : 1) {                                 \
            test_##G##_points(&rng, p, n);                                                         \
            for (size_t i = 0; i < n; i++) {                                                       \
                k[i] = edge_scalar(&rng);                                                          \
            }                                                                                      \
            G want = G##_naive(p, k, n);                                                           \
            G##_check(&want, p, k, n);                                                             \
        }                                                                                          \
    }

NAIVE(g1)
NAIVE(g2)

/* Points whose logarithms are known, so that sums of any size have a cheap answer. */
#define KNOWN(G, F)                                                                                \
    typedef struct G##_known {                                                                     \
        size_t n;                                                                                  \
        G##_affine *p;                                                                             \
        fr *log;                                                                                   \
        fr_repr *k;                                                                                \
    } G##_known;                                                                                   \
                                                                                                   \
    static G##_known G##_known_new(test_rng *rng, size_t n)                                        \
    {                                                                                              \
        G##_known s = {n, malloc((n + 1) * sizeof *s.p), malloc((n + 1) * sizeof *s.log),          \
                       malloc((n + 1) * sizeof *s.k)};                                             \
        G *jacobian = malloc((n + 1) * sizeof *jacobian);                                          \
        F *scratch = malloc((n + 1) * sizeof *scratch);                                            \
        assert_true(s.p &&s.log &&s.k &&jacobian &&scratch);                                       \
        fr_repr start = test_fr_repr(rng);                                                         \
        fr one = fr_one;                                                                           \
        fr_from_repr(&s.log[0], &start);                                                           \
        G##_from_affine(&jacobian[0], &G##_generator);                                             \
        G##_mul(&jacobian[0], &jacobian[0], &start);                                               \
        for (size_t i = 1; i < n; i++) {                                                           \
            fr_add(&s.log[i], &s.log[i - 1], &one);                                                \
            G##_add_affine(&jacobian[i], &jacobian[i - 1], &G##_generator);                        \
        }                                                                                          \
        G##_batch_to_affine(s.p, jacobian, n, scratch);                                            \
        for (size_t i = 0; i < n; i++) {                                                           \
            s.k[i] = test_fr_repr(rng);                                                            \
        }                                                                                          \
        free(scratch);                                                                             \
        free(jacobian);                                                                            \
        return s;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void G##_known_free(G##_known *s)                                                       \
    {                                                                                              \
        free(s->p);                                                                                \
        free(s->log);                                                                              \
        free(s->k);                                                                                \
    }                                                                                              \
                                                                                                   \
    /* Some points become infinity, some equal and some opposite to others. */                     \
    static void G##_mix(test_rng *rng, G##_known *s, size_t kinds)                                 \
    {                                                                                              \
        for (size_t i = 0; i < s->n; i++) {                                                        \
            size_t j = test_below(rng, kinds < s->n ? kinds : s->n);                               \
            switch (test_below(rng, 4)) {                                                          \
            case 0:                                                                                \
                memset(&s->p[i], 0, sizeof s->p[i]);                                               \
                s->log[i] = fr_zero;                                                               \
                break;                                                                             \
            case 1:                                                                                \
                s->p[i] = s->p[j];                                                                 \
                s->log[i] = s->log[j];                                                             \
                break;                                                                             \
            case 2:                                                                                \
                G##_affine_neg(&s->p[i], &s->p[j]);                                                \
                fr_neg(&s->log[i], &s->log[j]);                                                    \
                break;                                                                             \
            default:                                                                               \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void G##_known_check(const G##_known *s, size_t n)                                      \
    {                                                                                              \
        fr sum = fr_zero;                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            fr t;                                                                                  \
            fr_from_repr(&t, &s->k[i]);                                                            \
            fr_mul(&t, &t, &s->log[i]);                                                            \
            fr_add(&sum, &sum, &t);                                                                \
        }                                                                                          \
        fr_repr log;                                                                               \
        fr_to_repr(&log, &sum);                                                                    \
        G want;                                                                                    \
        G##_from_affine(&want, &G##_generator);                                                    \
        G##_mul(&want, &want, &log);                                                               \
        G##_check(&want, s->p, s->k, n);                                                           \
    }                                                                                              \
                                                                                                   \
    static void G##_sums_of_every_size_are_right(void **state)                                     \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_sums_of_every_size_are_right");                           \
        G##_known s = G##_known_new(&rng, MOST);                                                   \
        for (size_t n = 41; n <= MOST; n += 1 + n / 3 + test_below(&rng, n)) {                     \
            G##_known_check(&s, n);                                                                \
        }                                                                                          \
        G##_known_check(&s, MOST);                                                                 \
        G##_known_free(&s);                                                                        \
    }                                                                                              \
                                                                                                   \
    static void G##_sums_of_equal_opposite_and_infinite_points_are_right(void **state)             \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_sums_of_equal_opposite_and_infinite_points_are_right");   \
        for (size_t n = 9; n <= (test_is_slow() ? 300 : 3000); n = 2 * n + 1) {                    \
            for (size_t kinds = 1; kinds < 200; kinds = 13 * kinds + 1) {                          \
                G##_known s = G##_known_new(&rng, n);                                              \
                G##_mix(&rng, &s, kinds);                                                          \
                G##_known_check(&s, n);                                                            \
                for (size_t i = 0; i < n; i++) { /* into the same buckets */                       \
                    s.k[i] = test_below(&rng, 2) ? s.k[0] : edge_scalar(&rng);                     \
                }                                                                                  \
                G##_known_check(&s, n);                                                            \
                for (size_t i = 0; i < n; i++) {                                                   \
                    s.k[i] = s.k[0];                                                               \
                }                                                                                  \
                G##_known_check(&s, n);                                                            \
                G##_known_free(&s);                                                                \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    /* Sums of two that are equal, opposite or infinite among a block's many ordinary ones. */     \
    static void G##_mix_partial_sums(test_rng *rng, G##_known *s)                                  \
    {                                                                                              \
        for (size_t i = 0; i + 3 < s->n; i += 4) {                                                 \
            G##_affine *p = s->p + i;                                                              \
            fr *log = s->log + i;                                                                  \
            G##_affine last = p[3];                                                                \
            fr last_log = log[3];                                                                  \
            switch (test_below(rng, 8)) {                                                          \
            case 0: /* 0 + 3 = 2 + 1 */                                                            \
                p[3] = p[1];                                                                       \
                log[3] = log[1];                                                                   \
                p[1] = last;                                                                       \
                log[1] = last_log;                                                                 \
                break;                                                                             \
            case 1:                                                                                \
                G##_affine_neg(&p[1], &p[0]);                                                      \
                fr_neg(&log[1], &log[0]);                                                          \
                break;                                                                             \
            default:                                                                               \
                continue;                                                                          \
            }                                                                                      \
            bool opposite = test_below(rng, 2);                                                    \
            for (size_t j = 2; opposite && j < 4; j++) {                                           \
                G##_affine_neg(&p[j], &p[j]);                                                      \
                fr_neg(&log[j], &log[j]);                                                          \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void G##_sums_with_equal_and_opposite_partial_sums_are_right(void **state)              \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_sums_with_equal_and_opposite_partial_sums_are_right");    \
        G##_known s = G##_known_new(&rng, MOST);                                                   \
        G##_mix_partial_sums(&rng, &s);                                                            \
        fr_repr full = s.k[0];                                                                     \
        for (size_t i = 0; i < s.n; i++) {                                                         \
            s.k[i] = full;                                                                         \
        }                                                                                          \
        G##_known_check(&s, s.n);                                                                  \
        for (size_t i = 0; i < s.n; i++) {                                                         \
            s.k[i] = (fr_repr){{1}};                                                               \
        }                                                                                          \
        G##_known_check(&s, s.n);                                                                  \
        G##_known_free(&s);                                                                        \
    }                                                                                              \
                                                                                                   \
    static void G##_sums_of_every_class_of_scalars_are_right(void **state)                         \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_sums_of_every_class_of_scalars_are_right");               \
        size_t n = 2500;                                                                           \
        G##_known s = G##_known_new(&rng, n);                                                      \
        for (unsigned bits = 0; bits <= 64; bits += bits < 4 ? 1 : 7 + bits / 4) {                 \
            for (size_t i = 0; i < n; i++) {                                                       \
                uint64_t v = test_u64(&rng);                                                       \
                s.k[i] = (fr_repr){{bits < 64 ? v & (((uint64_t)1 << bits) - 1) : v}};             \
                if (test_below(&rng, 4) == 0 && s.k[i].l[0]) {                                     \
                    mont_sub_raw(s.k[i].l, fr_modulus.l, s.k[i].l, FR_LIMBS);                      \
                }                                                                                  \
            }                                                                                      \
            G##_known_check(&s, n);                                                                \
        }                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            s.k[i] = edge_scalar(&rng);                                                            \
        }                                                                                          \
        G##_known_check(&s, n);                                                                    \
        G##_known_free(&s);                                                                        \
    }

#define FIXED(G)                                                                                   \
    static void G##_multiples_of_one_point_equal_single_products(void **state)                     \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_multiples_of_one_point_equal_single_products");           \
        cuzk_err err;                                                                              \
        cuzk_pool *pool;                                                                           \
        enum { N = 300 };                                                                          \
        fr_repr k[N];                                                                              \
        G##_affine want[N], got[N], base;                                                          \
        assert_int_equal(cuzk_pool_new(&pool, 3, &err), CUZK_OK);                                  \
        test_##G##_points(&rng, &base, 1);                                                         \
        for (size_t i = 0; i < N; i++) {                                                           \
            G t;                                                                                   \
            k[i] = edge_scalar(&rng);                                                              \
            G##_from_affine(&t, &base);                                                            \
            G##_mul(&t, &t, &k[i]);                                                                \
            G##_to_affine(&want[i], &t);                                                           \
        }                                                                                          \
        for (size_t uses = 0; uses < (test_is_slow() ? 4000 : 40000); uses = 8 * uses + 1) {       \
            msm_fixed_##G *table;                                                                  \
            math_isa_limit(levels[uses % 3]);                                                      \
            assert_int_equal(msm_fixed_##G##_new(&table, &base, uses, pool, &err), CUZK_OK);       \
            for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {                          \
                math_isa_limit(levels[i]);                                                         \
                memset(got, 0xff, sizeof got);                                                     \
                assert_int_equal(msm_fixed_##G##_mul(table, got, k, N, pool, &err), CUZK_OK);      \
                assert_memory_equal(got, want, sizeof got);                                        \
            }                                                                                      \
            math_isa_limit(MATH_ISA_IFMA);                                                         \
            msm_fixed_##G##_free(table);                                                           \
        }                                                                                          \
        msm_fixed_##G##_free(NULL);                                                                \
        cuzk_pool_free(pool);                                                                      \
    }

FIXED(g1)
FIXED(g2)

#define MOST 9000
KNOWN(g1, fp)
#undef MOST
#define MOST 3000
KNOWN(g2, fp2)

static void threads_do_not_change_a_sum(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("threads_do_not_change_a_sum");
    g1_known s = g1_known_new(&rng, 70000);
    for (size_t i = 0; i < s.n; i += 3) {
        s.k[i] = edge_scalar(&rng);
    }
    for (size_t n = 10; n <= s.n; n = n * 6 + 999) {
        cuzk_err err;
        g1 want;
        assert_int_equal(msm_g1(&want, s.p, s.k, n, NULL, &err), CUZK_OK);
        for (unsigned threads = 2; threads <= 13; threads += 4 + threads / 2) {
            cuzk_pool *pool;
            g1 got;
            assert_int_equal(cuzk_pool_new(&pool, threads, &err), CUZK_OK);
            assert_int_equal(msm_g1(&got, s.p, s.k, n, pool, &err), CUZK_OK);
            assert_true(g1_eq(&got, &want));
            cuzk_pool_free(pool);
        }
    }
    g1_known_check(&s, s.n);
    g1_known_free(&s);
}

/* Few of so many scalars are not zero, and few pages of the arrays are ever there. */
static void sums_of_more_than_one_part_are_right(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("sums_of_more_than_one_part_are_right");
    size_t n = MSM_PART + 100;
    g1_affine *p = calloc(n, sizeof *p);
    fr_repr *k = calloc(n, sizeof *k);
    assert_true(p && k);
    g1_affine few_p[60];
    fr_repr few_k[60];
    test_g1_points(&rng, few_p, 60);
    for (size_t i = 0; i < 60; i++) { /* the last 30 belong to the second part */
        few_k[i] = edge_scalar(&rng);
        p[MSM_PART - 30 + i] = few_p[i];
        k[MSM_PART - 30 + i] = few_k[i];
    }
    g1 want = g1_naive(few_p, few_k, 60), got;
    cuzk_err err;
    assert_int_equal(msm_g1(&got, p, k, n, NULL, &err), CUZK_OK);
    assert_true(g1_eq(&got, &want));
    free(p);
    free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g1_sums_of_few_equal_the_naive_sum),
        cmocka_unit_test(g2_sums_of_few_equal_the_naive_sum),
        cmocka_unit_test(g1_sums_of_every_size_are_right),
        cmocka_unit_test(g2_sums_of_every_size_are_right),
        cmocka_unit_test(g1_sums_of_equal_opposite_and_infinite_points_are_right),
        cmocka_unit_test(g2_sums_of_equal_opposite_and_infinite_points_are_right),
        cmocka_unit_test(g1_sums_of_every_class_of_scalars_are_right),
        cmocka_unit_test(g2_sums_of_every_class_of_scalars_are_right),
        cmocka_unit_test(g1_sums_with_equal_and_opposite_partial_sums_are_right),
        cmocka_unit_test(g2_sums_with_equal_and_opposite_partial_sums_are_right),
        cmocka_unit_test(sums_of_more_than_one_part_are_right),
        cmocka_unit_test(threads_do_not_change_a_sum),
        cmocka_unit_test(g1_multiples_of_one_point_equal_single_products),
        cmocka_unit_test(g2_multiples_of_one_point_equal_single_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
