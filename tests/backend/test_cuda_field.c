/* The device's field functions, compiled as plain C, against the host's and against GMP. */
#include "support/support.h"

#include "backend/cuda/dinv.h"

#include <gmp.h>

#include <string.h>

enum { RANDOM = 2000 };

static const uint64_t p_limbs[] = FP_MODULUS, r_limbs[] = FR_MODULUS;

static void set_limbs(mpz_t z, const uint32_t *l, size_t n) { mpz_import(z, n, -1, 4, 0, 0, l); }

/* a + k m, in limbs of 32 bits. */
static void add_multiple(uint32_t *r, const uint64_t *a, const uint64_t *m, unsigned k, int n)
{
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        uint64_t t = carry + (a ? limb_of(a, i) : 0);
        t += (uint64_t)k * limb_of(m, i);
        r[i] = (uint32_t)t;
        carry = t >> 32;
    }
    assert_int_equal(carry, 0);
}

/* a as a dfp, either of its representatives. */
static dfp dfp_of(const fp *a, bool upper)
{
    dfp r;
    add_multiple(r.l, a->l, p_limbs, upper, DFP_LIMBS);
    return r;
}

static dfr dfr_of(const fr *a, bool upper)
{
    dfr r;
    add_multiple(r.l, a->l, r_limbs, upper, DFR_LIMBS);
    return r;
}

static bool below(const uint32_t *a, const uint64_t *m, unsigned k, int n)
{
    uint32_t bound[DFP_LIMBS];
    add_multiple(bound, NULL, m, k, n);
    for (int i = n; i-- > 0;) {
        if (a[i] != bound[i]) {
            return a[i] < bound[i];
        }
    }
    return false;
}

static void assert_dfp(dfp a, const fp *want)
{
    assert_true(below(a.l, p_limbs, 2, DFP_LIMBS));
    dfp r = dfp_reduce(a);
    assert_memory_equal(&r, want, sizeof r);
}

static void assert_lazy(dfr a, const fr *want)
{
    assert_true(below(a.l, r_limbs, 2, DFR_LIMBS));
    dfr r = dfr_reduce(a);
    assert_memory_equal(&r, want, sizeof r);
}

static void assert_canonical(dfr a, const fr *want) { assert_memory_equal(&a, want, sizeof a); }

static void check_fp(const fp *a, const fp *b, bool upper_a, bool upper_b)
{
    dfp x = dfp_of(a, upper_a), y = dfp_of(b, upper_b);
    fp t, u;
    fp_mul(&t, a, b);
    assert_dfp(dfp_mul(x, y), &t);
    fp_sqr(&u, a);
    assert_dfp(dfp_sqr(x), &u);
    fp_add(&t, &t, &u);
    assert_dfp(dfp_dot2(x, y, x, x), &t);
    fp_add(&t, a, b);
    assert_dfp(dfp_add(x, y), &t);
    fp_sub(&t, a, b);
    assert_dfp(dfp_sub(x, y), &t);
    fp_neg(&t, a);
    assert_dfp(dfp_neg(x), &t);
    fp_dbl(&t, a);
    assert_dfp(dfp_dbl(x), &t);
    assert_int_equal(dfp_is_zero(x), fp_is_zero(a));
    assert_int_equal(dfp_eq(x, y), fp_eq(a, b));
}

static void check_fr(const fr *a, const fr *b, bool upper_a, bool upper_b)
{
    dfr x = dfr_of(a, upper_a), y = dfr_of(b, upper_b), ca = dfr_of(a, false),
        cb = dfr_of(b, false);
    fr t;
    fr_mul(&t, a, b);
    assert_lazy(dfr_mul(ca, y), &t);
    assert_canonical(dfr_mul_canonical(cb, x), &t);
    dfr_shoup w = dfr_shoup_of(cb);
    assert_lazy(dfr_shoup_mul(x, w.w, w.q), &t);
    fr_add(&t, a, b);
    assert_lazy(dfr_add(x, y), &t);
    assert_canonical(dfr_add_canonical(ca, cb), &t);
    fr_sub(&t, a, b);
    assert_lazy(dfr_sub(x, y), &t);
    assert_canonical(dfr_sub_canonical(ca, cb), &t);
    assert_int_equal(dfr_is_zero(x), fr_is_zero(a));
    assert_int_equal(dfr_eq(x, y), fr_eq(a, b));
    fr_repr repr;
    fr_to_repr(&repr, a);
    dfr integer = dfr_to_integer(x);
    assert_memory_equal(&integer, &repr, sizeof repr);
    assert_canonical(dfr_from_integer(integer), a);
}

static void fp_agrees_with_the_host_at_the_edges(void **state)
{
    (void)state;
    size_t n;
    const fp *e = test_fp_edges(&n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            for (unsigned k = 0; k < 4; k++) {
                check_fp(&e[i], &e[j], k & 1, k & 2);
            }
        }
    }
}

static void fp_agrees_with_the_host_on_random_values(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    for (int i = 0; i < RANDOM; i++) {
        fp a = test_fp(&g), b = test_fp(&g);
        check_fp(&a, &b, i & 1, i & 2);
    }
}

static void fr_agrees_with_the_host_at_the_edges(void **state)
{
    (void)state;
    size_t n;
    const fr *e = test_fr_edges(&n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            for (unsigned k = 0; k < 4; k++) {
                check_fr(&e[i], &e[j], k & 1, k & 2);
            }
        }
    }
}

static void fr_agrees_with_the_host_on_random_values(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    for (int i = 0; i < RANDOM; i++) {
        fr a = test_fr(&g), b = test_fr(&g);
        check_fr(&a, &b, i & 1, i & 2);
    }
}

/* Every operand at its top, 2p - 1: the accumulators reach their bounds. */
static void products_of_the_largest_operands_stay_below_2p(void **state)
{
    (void)state;
    dfp top;
    add_multiple(top.l, NULL, p_limbs, 2, DFP_LIMBS);
    top.l[0]--;
    fp minus_one = fp_modulus, t;
    minus_one.l[0]--; /* the integer p - 1, = -1 / R in Montgomery form */
    fp_sqr(&t, &minus_one);
    assert_dfp(dfp_mul(top, top), &t);
    assert_dfp(dfp_sqr(top), &t);
    fp_dbl(&t, &t);
    assert_dfp(dfp_dot2(top, top, top, top), &t);
}

/* A carry goes through long runs of full limbs. */
static void products_of_sparse_limbs_carry_as_in_gmp(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    mpz_t p, rinv, a, b, c, d, want, got;
    mpz_inits(p, rinv, a, b, c, d, want, got, NULL);
    dfp modulus = dfp_const_p();
    set_limbs(p, modulus.l, DFP_LIMBS);
    mpz_setbit(rinv, 384);
    mpz_invert(rinv, rinv, p);
    for (int i = 0; i < RANDOM; i++) {
        dfp v[4];
        for (int k = 0; k < 4; k++) {
            for (int j = 0; j < DFP_LIMBS; j++) {
                uint64_t kind = test_below(&g, 4);
                v[k].l[j] = kind == 0 ? 0 : kind == 1 ? UINT32_MAX : (uint32_t)test_u64(&g);
            }
            v[k].l[DFP_LIMBS - 1] %= 0x34000000u; /* 2p = 0x34022... 2^352 */
        }
        set_limbs(a, v[0].l, DFP_LIMBS);
        set_limbs(b, v[1].l, DFP_LIMBS);
        set_limbs(c, v[2].l, DFP_LIMBS);
        set_limbs(d, v[3].l, DFP_LIMBS);
        mpz_mul(want, a, b);
        mpz_addmul(want, c, d);
        mpz_mul(want, want, rinv);
        mpz_mod(want, want, p);
        dfp r = dfp_dot2(v[0], v[1], v[2], v[3]);
        assert_true(below(r.l, p_limbs, 2, DFP_LIMBS));
        r = dfp_reduce(r);
        set_limbs(got, r.l, DFP_LIMBS);
        assert_int_equal(mpz_cmp(got, want), 0);
        mpz_mul(want, a, a);
        mpz_mul(want, want, rinv);
        mpz_mod(want, want, p);
        r = dfp_reduce(dfp_sqr(v[0]));
        set_limbs(got, r.l, DFP_LIMBS);
        assert_int_equal(mpz_cmp(got, want), 0);
    }
    mpz_clears(p, rinv, a, b, c, d, want, got, NULL);
}

static void a_fixed_factor_has_the_quotient_that_gmp_finds(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    mpz_t r, w, q, want;
    mpz_inits(r, w, q, want, NULL);
    dfr modulus = dfr_const_r();
    set_limbs(r, modulus.l, DFR_LIMBS);
    size_t edges;
    const fr *e = test_fr_edges(&edges);
    for (size_t i = 0; i < edges + 200; i++) {
        fr a = i < edges ? e[i] : test_fr(&g);
        dfr_shoup s = dfr_shoup_of(dfr_of(&a, false));
        set_limbs(w, s.w.l, DFR_LIMBS);
        set_limbs(q, s.q.l, DFR_LIMBS);
        mpz_mul_2exp(want, w, 256);
        mpz_fdiv_q(want, want, r);
        assert_int_equal(mpz_cmp(q, want), 0);
    }
    mpz_clears(r, w, q, want, NULL);
}

static void inverses_agree_with_the_host(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    size_t np, nr;
    const fp *ep = test_fp_edges(&np);
    const fr *er = test_fr_edges(&nr);
    for (size_t i = 0; i < 500; i++) {
        fp a = i < np ? ep[i] : test_fp(&g), a_inv;
        fr b = i < nr ? er[i] : test_fr(&g), b_inv;
        fp_inv(&a_inv, &a);
        fr_inv(&b_inv, &b);
        assert_dfp(dfp_inv(dfp_of(&a, i & 1)), &a_inv);
        assert_canonical(dfr_inv(dfr_of(&b, i & 1)), &b_inv);
    }
}

static void a_batch_inverse_leaves_what_lies_between(void **state)
{
    (void)state;
    enum { N = 20, STRIDE = 3 };
    test_rng g = test_rng_new(__func__);
    fr a[N * STRIDE];
    dfr b[N * STRIDE], prefix[N * STRIDE];
    for (int i = 0; i < N * STRIDE; i++) {
        a[i] = test_fr(&g);
        b[i] = dfr_of(&a[i], false);
    }
    dfr_batch_inv(b, prefix, N, STRIDE);
    for (int i = 0; i < N * STRIDE; i++) {
        if (i % STRIDE == 0) {
            fr_inv(&a[i], &a[i]);
        }
        assert_canonical(b[i], &a[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp_agrees_with_the_host_at_the_edges),
        cmocka_unit_test(fp_agrees_with_the_host_on_random_values),
        cmocka_unit_test(fr_agrees_with_the_host_at_the_edges),
        cmocka_unit_test(fr_agrees_with_the_host_on_random_values),
        cmocka_unit_test(products_of_the_largest_operands_stay_below_2p),
        cmocka_unit_test(products_of_sparse_limbs_carry_as_in_gmp),
        cmocka_unit_test(a_fixed_factor_has_the_quotient_that_gmp_finds),
        cmocka_unit_test(inverses_agree_with_the_host),
        cmocka_unit_test(a_batch_inverse_leaves_what_lies_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
