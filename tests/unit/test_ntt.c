#include "support/support.h"

#include "math/ntt/ntt.h"
#include "math/ntt/ntt_pass.h"

#include <stdlib.h>

static math_isa top;

static fr *random_array(test_rng *g, size_t n)
{
    fr *a = malloc(n * sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) {
        a[i] = test_fr(g);
    }
    return a;
}

static fr *copy_of(const fr *a, size_t n)
{
    fr *b = malloc(n * sizeof *b);
    assert_non_null(b);
    memcpy(b, a, n * sizeof *b);
    return b;
}

static ntt_domain *domain(unsigned lg, fr_root root)
{
    ntt_domain *d;
    cuzk_err err;
    assert_int_equal(ntt_domain_new(&d, lg, root, &err), CUZK_OK);
    return d;
}

static fr power(const fr *g, uint64_t e)
{
    fr r;
    fr_pow(&r, g, &e, 1);
    return r;
}

static void assert_equal(const fr *a, const fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!fr_eq(&a[i], &b[i])) {
            fail_msg("elements %zu of %zu differ", i, n);
        }
        assert_true(fr_is_reduced(&a[i]));
    }
}

/* The value at x of the polynomial with coefficients a. */
static fr evaluate(const fr *a, size_t n, const fr *x)
{
    fr sum = fr_zero;
    for (size_t i = n; i-- > 0;) {
        fr_mul(&sum, &sum, x);
        fr_add(&sum, &sum, &a[i]);
    }
    return sum;
}

/* Extremes as well as random values. */
static fr *mixed_array(test_rng *g, size_t n)
{
    size_t edges_n;
    const fr *edges = test_fr_edges(&edges_n);
    fr *a = random_array(g, n);
    for (size_t i = 0; i < n; i++) {
        if (test_below(g, 4) == 0) {
            a[i] = edges[test_below(g, edges_n)];
        }
    }
    return a;
}

/* Checks `points` values (all when n is small) of a forward transform on g<w>. */
static void check_forward(test_rng *rng, unsigned lg, fr_root root, const fr *g, size_t points,
                          cuzk_pool *pool)
{
    size_t n = (size_t)1 << lg;
    ntt_domain *d = domain(lg, root);
    fr *a = mixed_array(rng, n), *b = copy_of(a, n);
    fr w = fr_root_of_unity(root, lg);
    if (g) {
        ntt_coset_forward(d, b, g, pool);
    } else {
        ntt_forward(d, b, pool);
    }
    for (size_t i = 0; i < points; i++) {
        size_t k = points == n ? i : i == 0 ? 0 : i == 1 ? n - 1 : test_below(rng, n);
        fr x = power(&w, k);
        if (g) {
            fr_mul(&x, &x, g);
        }
        fr y = evaluate(a, n, &x);
        if (!fr_eq(&y, &b[k])) {
            fail_msg("2^%u, %s: value %zu is wrong", lg, math_isa_name(math_isa_level), k);
        }
    }
    if (g) {
        ntt_coset_inverse(d, b, g, pool);
    } else {
        ntt_inverse(d, b, pool);
    }
    assert_equal(a, b, n);
    free(a);
    free(b);
    ntt_domain_free(d);
}

static void transforms_equal_the_definition_and_invert(void **state)
{
    (void)state;
    test_rng rng = test_rng_new(__func__);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        for (unsigned lg = 0; lg <= 14; lg++) {
            size_t n = (size_t)1 << lg;
            size_t points = n <= 512 ? n : 6;
            fr g = test_fr(&rng), seven = ntt_coset_bellman();
            for (int root = FR_ROOT_BELLMAN; root <= FR_ROOT_SNARKJS; root++) {
                check_forward(&rng, lg, (fr_root)root, NULL, points, NULL);
                check_forward(&rng, lg, (fr_root)root, &g, points, NULL);
            }
            check_forward(&rng, lg, FR_ROOT_BELLMAN, &seven, points < 64 ? points : 6, NULL);
        }
    }
}

static void large_transforms_have_the_right_values(void **state)
{
    (void)state;
    test_rng rng = test_rng_new(__func__);
    math_isa_limit(top);
    for (unsigned lg = 17; lg <= (test_is_slow() ? 17 : 21); lg += 2) {
        fr g = test_fr(&rng);
        check_forward(&rng, lg, FR_ROOT_SNARKJS, lg == 19 ? NULL : &g, 2, NULL);
    }
}

/* Of c x^e the values are c w^(ke), for which one element each is enough. */
static void monomials_become_geometric_sequences(void **state)
{
    (void)state;
    test_rng rng = test_rng_new(__func__);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        for (unsigned lg = 3; lg <= 15; lg += 3) {
            size_t n = (size_t)1 << lg, e = test_below(&rng, n);
            ntt_domain *d = domain(lg, FR_ROOT_BELLMAN);
            fr *a = calloc(n, sizeof *a);
            assert_non_null(a);
            fr c = test_fr(&rng), w = fr_root_of_unity(FR_ROOT_BELLMAN, lg), ratio = power(&w, e);
            a[e] = c;
            ntt_forward(d, a, NULL);
            for (size_t k = 0; k < n; k++) {
                assert_true(fr_eq(&a[k], &c));
                fr_mul(&c, &c, &ratio);
            }
            free(a);
            ntt_domain_free(d);
        }
    }
}

static void transforms_are_linear(void **state)
{
    (void)state;
    test_rng rng = test_rng_new(__func__);
    math_isa_limit(top);
    for (unsigned lg = 5; lg <= 16; lg += 11) {
        size_t n = (size_t)1 << lg;
        ntt_domain *d = domain(lg, FR_ROOT_SNARKJS);
        fr *a = mixed_array(&rng, n), *b = mixed_array(&rng, n), *sum = malloc(n * sizeof *sum);
        assert_non_null(sum);
        fr k = test_fr(&rng);
        for (size_t i = 0; i < n; i++) {
            fr_mul(&sum[i], &a[i], &k);
            fr_add(&sum[i], &sum[i], &b[i]);
        }
        ntt_inverse(d, a, NULL);
        ntt_inverse(d, b, NULL);
        ntt_inverse(d, sum, NULL);
        for (size_t i = 0; i < n; i++) {
            fr_mul(&a[i], &a[i], &k);
            fr_add(&a[i], &a[i], &b[i]);
        }
        assert_equal(a, sum, n);
        free(a);
        free(b);
        free(sum);
        ntt_domain_free(d);
    }
}

/* A domain twice as large has the values on the domain and on its odd coset, taking turns. */
static void the_odd_coset_interleaves_with_the_domain(void **state)
{
    (void)state;
    test_rng rng = test_rng_new(__func__);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        for (unsigned lg = 0; lg <= 12; lg += 4) {
            size_t n = (size_t)1 << lg;
            ntt_domain *d = domain(lg, FR_ROOT_BELLMAN), *twice = domain(lg + 1, FR_ROOT_BELLMAN);
            fr *a = random_array(&rng, n), *odd = copy_of(a, n);
            fr *both = calloc(2 * n, sizeof *both), g = ntt_coset_odd(d);
            assert_non_null(both);
            memcpy(both, a, n * sizeof *a);
            ntt_forward(d, a, NULL);
            ntt_coset_forward(d, odd, &g, NULL);
            ntt_forward(twice, both, NULL);
            for (size_t i = 0; i < n; i++) {
                assert_true(fr_eq(&both[2 * i], &a[i]));
                assert_true(fr_eq(&both[2 * i + 1], &odd[i]));
            }
            free(a);
            free(odd);
            free(both);
            ntt_domain_free(d);
            ntt_domain_free(twice);
        }
    }
}

static void every_path_and_number_of_threads_gives_the_same(void **state)
{
    (void)state;
    test_rng rng = test_rng_new(__func__);
    static const unsigned sizes[] = {6, 7, 13, 16, 20, 21};
    cuzk_err err;
    size_t n_sizes = sizeof sizes / sizeof *sizes - (test_is_slow() ? 2 : 0);
    for (size_t s = 0; s < n_sizes; s++) {
        size_t n = (size_t)1 << sizes[s];
        fr *a = mixed_array(&rng, n), g = test_fr(&rng), *want = copy_of(a, n);
        ntt_domain *d = domain(sizes[s], FR_ROOT_BELLMAN);
        ntt_inverse(d, want, NULL);
        ntt_coset_forward(d, want, &g, NULL);
        bool large = sizes[s] > 16; /* two paths will do */
        for (math_isa isa = large ? MATH_ISA_ADX : MATH_ISA_PORTABLE; isa <= top; isa++) {
            math_isa_limit(isa);
            for (unsigned threads = 1; threads <= (large ? 1 : 5); threads += 2) {
                cuzk_pool *pool;
                assert_int_equal(cuzk_pool_new(&pool, threads, &err), CUZK_OK);
                fr *b = copy_of(a, n);
                ntt_inverse(d, b, pool);
                ntt_coset_forward(d, b, &g, pool);
                assert_equal(b, want, n);
                free(b);
                cuzk_pool_free(pool);
            }
        }
        math_isa_limit(top);
        free(a);
        free(want);
        ntt_domain_free(d);
    }
}

/* Three passes are for sizes beyond what a quick test can hold, so they are forced here. */
static void three_passes_give_the_same_as_two(void **state)
{
    (void)state;
    test_rng rng = test_rng_new(__func__);
    for (math_isa isa = MATH_ISA_PORTABLE; isa <= top; isa++) {
        math_isa_limit(isa);
        for (unsigned lg = 9; lg <= (test_is_slow() ? 12 : 16); lg++) {
            size_t n = (size_t)1 << lg;
            ntt_domain *two = domain(lg, FR_ROOT_BELLMAN), *three;
            cuzk_err err;
            assert_int_equal(ntt_domain_new_passes(&three, lg, FR_ROOT_BELLMAN, 8, &err), CUZK_OK);
            fr *a = mixed_array(&rng, n), *b = copy_of(a, n), g = test_fr(&rng);
            ntt_forward(two, a, NULL);
            ntt_forward(three, b, NULL);
            assert_equal(a, b, n);
            ntt_inverse(two, a, NULL);
            ntt_inverse(three, b, NULL);
            assert_equal(a, b, n);
            ntt_coset_forward(two, a, &g, NULL);
            ntt_coset_forward(three, b, &g, NULL);
            assert_equal(a, b, n);
            g = test_fr(&rng);
            ntt_coset_inverse(two, a, &g, NULL);
            ntt_coset_inverse(three, b, &g, NULL);
            assert_equal(a, b, n);
            free(a);
            free(b);
            ntt_domain_free(two);
            ntt_domain_free(three);
        }
    }
}

static void a_domain_that_is_too_large_is_refused(void **state)
{
    (void)state;
    ntt_domain *d = NULL;
    cuzk_err err;
    assert_int_equal(ntt_domain_new(&d, NTT_MAX_LG + 1, FR_ROOT_BELLMAN, &err), CUZK_E_ARG);
    assert_null(d);
    assert_int_equal(ntt_domain_new(&d, NTT_MAX_LG, FR_ROOT_BELLMAN, &err), CUZK_OK);
    ntt_domain_free(d);
    ntt_domain_free(NULL);
}

static void roots_have_their_orders(void **state)
{
    (void)state;
    for (int root = FR_ROOT_BELLMAN; root <= FR_ROOT_SNARKJS; root++) {
        fr minus_one;
        fr_neg(&minus_one, &fr_one);
        for (unsigned lg = 1; lg <= FR_TWO_ADICITY; lg++) {
            fr w = fr_root_of_unity((fr_root)root, lg), half = power(&w, (uint64_t)1 << (lg - 1));
            assert_true(fr_eq(&half, &minus_one));
        }
    }
}

int main(void)
{
    top = math_isa_limit(MATH_ISA_IFMA);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_equal_the_definition_and_invert),
        cmocka_unit_test(large_transforms_have_the_right_values),
        cmocka_unit_test(monomials_become_geometric_sequences),
        cmocka_unit_test(transforms_are_linear),
        cmocka_unit_test(the_odd_coset_interleaves_with_the_domain),
        cmocka_unit_test(every_path_and_number_of_threads_gives_the_same),
        cmocka_unit_test(three_passes_give_the_same_as_two),
        cmocka_unit_test(a_domain_that_is_too_large_is_refused),
        cmocka_unit_test(roots_have_their_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
