#include "support/support.h"

#include "backend/cuda/dg1.h"
#include "backend/cuda/dg2.h"

#include <string.h>

/* Device points against the host's. Device coordinates may be any representative in [0, 2p). */

static dfp to_device(test_rng *rng, const fp *a)
{
    dfp r;
    memcpy(&r, a, sizeof r);
    if (test_below(rng, 2) && !fp_is_zero(a)) { /* the other representative; zero has a meaning */
        uint64_t carry = 0;
        for (int i = 0; i < DFP_LIMBS; i++) {
            carry += (uint64_t)r.l[i] + dfp_p(i);
            r.l[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    return r;
}

static fp to_host(dfp a)
{
    fp r;
    a = dfp_reduce(a);
    memcpy(&r, &a, sizeof r);
    return r;
}

static dfp2 to_device2(test_rng *rng, const fp2 *a)
{
    return (dfp2){to_device(rng, &a->c0), to_device(rng, &a->c1)};
}

static fp2 to_host2(dfp2 a) { return (fp2){to_host(a.c0), to_host(a.c1)}; }

static void an_inverse_is_the_hosts(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("an_inverse_is_the_hosts");
    size_t edges;
    const fp *edge = test_fp_edges(&edges);
    for (size_t i = 0; i < 2000 + edges; i++) {
        fp a = i < edges ? edge[i] : test_fp(&rng), want;
        fp_inv(&want, &a);
        fp got = to_host(dfp_inv(to_device(&rng, &a)));
        assert_memory_equal(&got, &want, sizeof want);
    }
    fp zero = to_host(dfp_inv(dfp_const_p())); /* p stands for 0 too */
    assert_true(fp_is_zero(&zero));
}

static void products_in_the_extension_are_the_hosts(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("products_in_the_extension_are_the_hosts");
    for (int i = 0; i < 1000; i++) {
        fp2 a = test_fp2(&rng), b = test_fp2(&rng), want, got;
        dfp2 x = to_device2(&rng, &a), y = to_device2(&rng, &b);
        fp2_mul(&want, &a, &b);
        got = to_host2(dfp2_mul(x, y));
        assert_memory_equal(&got, &want, sizeof want);
        fp2_sqr(&want, &a);
        got = to_host2(dfp2_sqr(x));
        assert_memory_equal(&got, &want, sizeof want);
        fp2_inv(&want, &a);
        got = to_host2(dfp2_inv(x));
        assert_memory_equal(&got, &want, sizeof want);
    }
}

/* The points that a pair or a sum is tried on: infinity, equal, opposite and unrelated ones. */
#define CASES(G, D, FIELD, TO_DEVICE, TO_HOST, MAP_TIMES)                                          \
    enum { G##_POOL = 6 };                                                                         \
                                                                                                   \
    static void G##_pool(test_rng *rng, G##_affine *p)                                             \
    {                                                                                              \
        test_##G##_points(rng, p, G##_POOL);                                                       \
        memset(&p[0], 0, sizeof p[0]);                                                             \
        G##_affine_neg(&p[2], &p[1]);                                                              \
        p[4] = p[3];                                                                               \
    }                                                                                              \
                                                                                                   \
    static D##_affine D##_from_host(test_rng *rng, const G##_affine *a)                            \
    {                                                                                              \
        return (D##_affine){TO_DEVICE(rng, &a->x), TO_DEVICE(rng, &a->y)};                         \
    }                                                                                              \
                                                                                                   \
    static G##_affine D##_to_host(const D##_affine *a)                                             \
    {                                                                                              \
        return (G##_affine){TO_HOST(a->x), TO_HOST(a->y)};                                         \
    }                                                                                              \
                                                                                                   \
    static G##_affine G##_sum(const G##_affine *a, const G##_affine *b)                            \
    {                                                                                              \
        G t;                                                                                       \
        G##_affine r;                                                                              \
        G##_from_affine(&t, a);                                                                    \
        G##_add_affine(&t, &t, b);                                                                 \
        G##_to_affine(&r, &t);                                                                     \
        return r;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static void G##_pairs_of_every_kind_add_up(void **state)                                       \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_pairs_of_every_kind_add_up");                             \
        unsigned rare = 0;                                                                         \
        for (int round = 0; round < 40; round++) {                                                 \
            G##_affine p[G##_POOL];                                                                \
            G##_pool(&rng, p);                                                                     \
            for (int i = 0; i < G##_POOL; i++) {                                                   \
                for (int j = 0; j < G##_POOL; j++) {                                               \
                    D##_affine a = D##_from_host(&rng, &p[i]), b = D##_from_host(&rng, &p[j]);     \
                    G##_affine want = G##_sum(&p[i], &p[j]), got;                                  \
                    FIELD dx = FIELD##_sub(b.x, a.x);                                              \
                    D##_pair_kind kind = D##_pair_kind_of(&a, &b);                                 \
                    D##_affine r =                                                                 \
                        D##_pair_rare_sum(&a, &b, FIELD##_inv(D##_pair_rare_divisor(&a, &b)));     \
                    got = D##_to_host(&r);                                                         \
                    assert_memory_equal(&got, &want, sizeof want);                                 \
                    assert_int_equal(G##_affine_is_inf(&want), D##_affine_is_inf(&r));             \
                    if (kind != D##_PAIR_ADD) {                                                    \
                        assert_true(D##_pair_is_rare(&a.x, &b.x, &dx));                            \
                        rare++;                                                                    \
                        continue;                                                                  \
                    }                                                                              \
                    r = D##_pair_chord(a.x, a.y, b.x,                                              \
                                       FIELD##_mul(FIELD##_sub(b.y, a.y), FIELD##_inv(dx)));       \
                    got = D##_to_host(&r);                                                         \
                    assert_memory_equal(&got, &want, sizeof want);                                 \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        assert_true(rare >= 40 * 19);                                                              \
    }                                                                                              \
                                                                                                   \
    static void G##_sums_in_xyzz_coordinates_are_the_hosts(void **state)                           \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_sums_in_xyzz_coordinates_are_the_hosts");                 \
        for (int round = 0; round < 100; round++) {                                                \
            G##_affine p[G##_POOL], got, want;                                                     \
            G##_pool(&rng, p);                                                                     \
            D sum = D##_inf();                                                                     \
            G expect;                                                                              \
            G##_set_inf(&expect);                                                                  \
            for (int i = 0; i < 12; i++) {                                                         \
                G##_affine *q = &p[test_below(&rng, G##_POOL)];                                    \
                D##_affine a = D##_from_host(&rng, q);                                             \
                D other = D##_from_affine(&a), before = sum;                                       \
                switch (test_below(&rng, 4)) {                                                     \
                case 0:                                                                            \
                    sum = D##_add_affine(&before, &a);                                             \
                    G##_add_affine(&expect, &expect, q);                                           \
                    break;                                                                         \
                case 1:                                                                            \
                    sum = D##_add(&before, &other);                                                \
                    G##_add_affine(&expect, &expect, q);                                           \
                    break;                                                                         \
                case 2:                                                                            \
                    sum = D##_add(&before, &before);                                               \
                    G##_add(&expect, &expect, &expect);                                            \
                    break;                                                                         \
                default:                                                                           \
                    other = sum;                                                                   \
                    other.y = FIELD##_neg(sum.y);                                                  \
                    other = D##_add(&before, &other); /* infinity, or infinity plus itself */      \
                    assert_true(D##_is_inf(&other));                                               \
                }                                                                                  \
                D##_affine r = D##_to_affine(&sum);                                                \
                got = D##_to_host(&r);                                                             \
                G##_to_affine(&want, &expect);                                                     \
                assert_memory_equal(&got, &want, sizeof want);                                     \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void G##_map_multiplies_by_its_number(void **state)                                     \
    {                                                                                              \
        (void)state;                                                                               \
        test_rng rng = test_rng_new(#G "_map_multiplies_by_its_number");                           \
        static const uint64_t x = BLS12_381_X_ABS;                                                 \
        G##_affine p[G##_POOL], got, want;                                                         \
        G##_pool(&rng, p);                                                                         \
        for (int i = 0; i < G##_POOL; i++) {                                                       \
            G q;                                                                                   \
            G##_from_affine(&q, &p[i]);                                                            \
            for (int times = 0; times < (MAP_TIMES); times++) {                                    \
                G##_mul_limbs(&q, &q, &x, 1);                                                      \
            }                                                                                      \
            G##_to_affine(&want, &q);                                                              \
            D##_affine r = D##_affine_endo(D##_from_host(&rng, &p[i]));                            \
            got = D##_to_host(&r);                                                                 \
            assert_memory_equal(&got, &want, sizeof want);                                         \
        }                                                                                          \
    }

CASES(g1, dg1, dfp, to_device, to_host, 2)
CASES(g2, dg2, dfp2, to_device2, to_host2, 1)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_inverse_is_the_hosts),
        cmocka_unit_test(products_in_the_extension_are_the_hosts),
        cmocka_unit_test(g1_pairs_of_every_kind_add_up),
        cmocka_unit_test(g2_pairs_of_every_kind_add_up),
        cmocka_unit_test(g1_sums_in_xyzz_coordinates_are_the_hosts),
        cmocka_unit_test(g2_sums_in_xyzz_coordinates_are_the_hosts),
        cmocka_unit_test(g1_map_multiplies_by_its_number),
        cmocka_unit_test(g2_map_multiplies_by_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
