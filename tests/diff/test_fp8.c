#include "support/support.h"

#include "math/field/fp8.h"

#include <gmp.h>
#include <string.h>

/* The eight-lane arithmetic against GMP, over the whole ranges that fp8.h promises. */

#define ROUNDS 3000

typedef struct numbers {
    mpz_t p, radix, a, b, want, got;
} numbers;

static numbers numbers_new(void)
{
    numbers x;
    mpz_inits(x.p, x.radix, x.a, x.b, x.want, x.got, NULL);
    mpz_import(x.p, FP_LIMBS, -1, 8, 0, 0, fp_modulus.l);
    mpz_ui_pow_ui(x.radix, 2, 416);
    return x;
}

static void numbers_free(numbers *x)
{
    mpz_clears(x->p, x->radix, x->a, x->b, x->want, x->got, NULL);
}

static bool have_ifma(void) { return math_isa_limit(MATH_ISA_IFMA) == MATH_ISA_IFMA; }

static void get(mpz_t r, const fp8_lanes *a, int lane)
{
    mpz_set_ui(r, 0);
    for (int i = 8; i-- > 0;) {
        mpz_mul_2exp(r, r, 52);
        mpz_add_ui(r, r, a->limb[i][lane]);
    }
}

static void put(fp8_lanes *r, int lane, const mpz_t a)
{
    mpz_t t;
    mpz_init_set(t, a);
    for (int i = 0; i < 8; i++) {
        r->limb[i][lane] = mpz_get_ui(t) & (((uint64_t)1 << 52) - 1);
        mpz_fdiv_q_2exp(t, t, 52);
    }
    mpz_clear(t);
}

/* A number below `bound`: uniform, near either end, near a multiple of p, or of extreme limbs. */
static void pick(test_rng *rng, mpz_t r, const mpz_t bound, const mpz_t p)
{
    uint64_t words[8];
    mpz_t t;
    mpz_init(t);
    for (int i = 0; i < 8; i++) {
        words[i] = test_u64(rng);
    }
    mpz_import(r, 8, -1, 8, 0, 0, words);
    switch (test_below(rng, 5)) {
    case 0:
        mpz_sub_ui(r, bound, 1 + test_below(rng, 3));
        break;
    case 1:
        mpz_set_ui(r, test_below(rng, 3));
        break;
    case 2:
        mpz_mul_ui(r, p, test_below(rng, 5));
        mpz_add_ui(r, r, test_below(rng, 3));
        mpz_sub_ui(r, r, test_below(rng, 2));
        break;
    case 3: /* each limb all zeros or all ones */
        mpz_set_ui(r, 0);
        for (int i = 0; i < 8; i++) {
            mpz_mul_2exp(r, r, 52);
            mpz_add_ui(r, r, test_below(rng, 2) ? ((uint64_t)1 << 52) - 1 : 0);
        }
        break;
    default:
        break;
    }
    mpz_mod(r, r, bound);
    mpz_clear(t);
}

static void fill(test_rng *rng, fp8_lanes *a, const mpz_t bound, numbers *x)
{
    for (int lane = 0; lane < 8; lane++) {
        pick(rng, x->a, bound, x->p);
        put(a, lane, x->a);
    }
}

/* got is congruent to want and in [0, p + p / 2^29]; its limbs are normal. */
static void check_lane(numbers *x, const fp8_lanes *r, int lane)
{
    for (int i = 0; i < 8; i++) {
        assert_true(r->limb[i][lane] >> 52 == 0);
    }
    get(x->got, r, lane);
    mpz_tdiv_q_2exp(x->a, x->p, 29);
    mpz_add(x->a, x->a, x->p);
    assert_true(mpz_cmp(x->got, x->a) <= 0);
    assert_true(mpz_congruent_p(x->got, x->want, x->p));
}

static void divide_by_two_to(numbers *x, unsigned long bits)
{
    mpz_t t;
    mpz_init(t);
    mpz_ui_pow_ui(t, 2, bits);
    mpz_invert(t, t, x->p);
    mpz_mul(x->want, x->want, t);
    mpz_mod(x->want, x->want, x->p);
    mpz_clear(t);
}

static void products_and_squares_are_those_of_integers(void **state)
{
    (void)state;
    if (!have_ifma()) {
        skip();
    }
    test_rng rng = test_rng_new("products_and_squares_are_those_of_integers");
    numbers x = numbers_new();
    mpz_t bound;
    mpz_init(bound);
    mpz_mul_ui(bound, x.p, 8);
    for (int round = 0; round < ROUNDS; round++) {
        fp8_lanes a, b, r;
        fill(&rng, &a, bound, &x);
        fill(&rng, &b, bound, &x);
        fp8_mul_many(&r, &a, &b, 1);
        for (int lane = 0; lane < 8; lane++) {
            get(x.want, &a, lane);
            get(x.b, &b, lane);
            mpz_mul(x.want, x.want, x.b);
            divide_by_two_to(&x, 416);
            check_lane(&x, &r, lane);
        }
        fp8_sqr_many(&r, &a, 1);
        for (int lane = 0; lane < 8; lane++) {
            get(x.want, &a, lane);
            mpz_mul(x.want, x.want, x.want);
            divide_by_two_to(&x, 416);
            check_lane(&x, &r, lane);
        }
    }
    mpz_clear(bound);
    numbers_free(&x);
}

static void sums_shifts_and_reductions_are_those_of_integers(void **state)
{
    (void)state;
    if (!have_ifma()) {
        skip();
    }
    test_rng rng = test_rng_new("sums_shifts_and_reductions_are_those_of_integers");
    numbers x = numbers_new();
    mpz_t bound, twice;
    mpz_inits(bound, twice, NULL);
    mpz_mul_ui(bound, x.p, 4);
    mpz_mul_ui(twice, x.p, 2);
    for (int round = 0; round < ROUNDS; round++) {
        fp8_lanes a, b, r;
        fill(&rng, &a, bound, &x);
        fill(&rng, &b, twice, &x);
        fp8_sub_many(&r, &a, &b, 1);
        for (int lane = 0; lane < 8; lane++) {
            get(x.want, &a, lane);
            get(x.b, &b, lane);
            mpz_sub(x.want, x.want, x.b);
            mpz_add(x.want, x.want, twice);
            get(x.got, &r, lane);
            assert_int_equal(mpz_cmp(x.got, x.want), 0);
        }
        fp8_shift_many(&r, &a, 1);
        for (int lane = 0; lane < 8; lane++) {
            get(x.want, &a, lane);
            divide_by_two_to(&x, 32);
            check_lane(&x, &r, lane);
        }
        fp8_reduce_many(&r, &a, 1);
        for (int lane = 0; lane < 8; lane++) {
            get(x.want, &a, lane);
            mpz_mod(x.want, x.want, x.p);
            get(x.got, &r, lane);
            assert_int_equal(mpz_cmp(x.got, x.want), 0);
        }
    }
    mpz_clears(bound, twice, NULL);
    numbers_free(&x);
}

static void loads_and_stores_keep_every_bit(void **state)
{
    (void)state;
    if (!have_ifma()) {
        skip();
    }
    test_rng rng = test_rng_new("loads_and_stores_keep_every_bit");
    numbers x = numbers_new();
    for (int round = 0; round < 200; round++) {
        fp a[8], back[8];
        fp8_lanes v;
        for (int i = 0; i < 8; i++) {
            a[i] = test_fp(&rng);
            if (round & 1) {
                test_bytes(&rng, &a[i], sizeof a[i]);
            }
        }
        fp8_load(&v, a);
        for (int i = 0; i < 8; i++) {
            get(x.got, &v, i);
            mpz_import(x.want, FP_LIMBS, -1, 8, 0, 0, a[i].l);
            assert_int_equal(mpz_cmp(x.got, x.want), 0);
        }
        fp8_store(back, &v);
        assert_memory_equal(back, a, sizeof a);
    }
    numbers_free(&x);
}

/* Montgomery's radix differs by 2^32: a product of lanes is 2^-32 that of fp_mul. */
static void products_agree_with_fp_mul(void **state)
{
    (void)state;
    if (!have_ifma()) {
        skip();
    }
    test_rng rng = test_rng_new("products_agree_with_fp_mul");
    size_t n;
    const fp *edges = test_fp_edges(&n);
    fp two_32 = fp_from_u64((uint64_t)1 << 32);
    for (size_t round = 0; round < 20 * n; round++) {
        fp a[8], b[8], r[8];
        for (int i = 0; i < 8; i++) {
            a[i] = edges[(round + (size_t)i) % n];
            b[i] = round < n * n ? edges[round / n] : test_fp(&rng);
        }
        fp8_lanes u, v, w;
        fp8_load(&u, a);
        fp8_load(&v, b);
        fp8_mul_many(&w, &u, &v, 1);
        fp8_reduce_many(&w, &w, 1);
        fp8_store(r, &w);
        for (int i = 0; i < 8; i++) {
            fp want;
            fp_mul(&want, &a[i], &b[i]);
            fp_mul(&r[i], &r[i], &two_32);
            assert_true(fp_eq(&r[i], &want));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_squares_are_those_of_integers),
        cmocka_unit_test(sums_shifts_and_reductions_are_those_of_integers),
        cmocka_unit_test(loads_and_stores_keep_every_bit),
        cmocka_unit_test(products_agree_with_fp_mul),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
