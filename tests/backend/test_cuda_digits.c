#include "support/support.h"

#include "backend/cuda/msm_digits.h"

#include <string.h>

static const msm_u128 x2 = (msm_u128)BLS12_381_X_ABS * BLS12_381_X_ABS;

/* Scalars near 0, r / 2, r and near multiples of the bases, or random. */
static fr_repr pick_scalar(test_rng *rng)
{
    fr_repr k = {{0}};
    uint64_t kind = test_below(rng, 8);
    if (kind >= 4) {
        return test_fr_repr(rng);
    }
    fr a = fr_from_u64(test_u64(rng) >> test_below(rng, 64)), m = fr_from_u64(BLS12_381_X_ABS);
    for (uint64_t i = test_below(rng, 4); i-- > 0;) {
        fr_mul(&a, &a, &m);
    }
    fr small = fr_from_u64(test_below(rng, 5));
    (kind & 1 ? fr_add : fr_sub)(&a, &a, &small);
    if (kind & 2) { /* around r / 2 */
        fr two = fr_from_u64(2);
        fr_inv(&two, &two);
        fr_add(&small, &small, &two);
        a = small;
    }
    fr_to_repr(&k, &a);
    return k;
}

static fr from_part(const msm_part *p)
{
    fr lo = fr_from_u64((uint64_t)p->value), hi = fr_from_u64((uint64_t)(p->value >> 64));
    for (int i = 0; i < 64; i++) {
        fr_dbl(&hi, &hi);
    }
    fr_add(&lo, &lo, &hi);
    if (p->negative) {
        fr_neg(&lo, &lo);
    }
    return lo;
}

/* The part from its digits, windows of this width. */
static fr from_digits(const msm_part *p, unsigned bits, unsigned width)
{
    fr sum = fr_zero;
    unsigned windows = (bits + 1 + width - 1) / width;
    for (unsigned w = windows; w-- > 0;) {
        uint32_t negative;
        uint32_t d = msm_part_digit(p, w * width, width, &negative);
        assert_true(d <= (uint32_t)1 << (width - 1));
        assert_true(negative <= 1);
        for (unsigned i = 0; i < width; i++) {
            fr_dbl(&sum, &sum);
        }
        fr term = fr_from_u64(d);
        (negative ? fr_sub : fr_add)(&sum, &sum, &term);
    }
    return sum;
}

static void check(const fr_repr *k, const msm_part *parts, int count, unsigned bits, const fr *base)
{
    fr sum = fr_zero, want;
    fr_from_repr(&want, k);
    for (int i = count; i-- > 0;) {
        assert_true(parts[i].value >> bits == 0);
        fr part = from_part(&parts[i]);
        for (unsigned width = 2; width <= 24; width++) {
            fr again = from_digits(&parts[i], bits, width);
            assert_true(fr_eq(&again, &part));
        }
        fr_mul(&sum, &sum, base);
        fr_add(&sum, &sum, &part);
    }
    assert_true(fr_eq(&sum, &want));
}

static void parts_and_their_digits_make_the_scalar(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("parts_and_their_digits_make_the_scalar");
    fr x = fr_from_u64(BLS12_381_X_ABS), square;
    fr_mul(&square, &x, &x);
    int rounds = test_is_slow() ? 200 : 2000;
    for (int i = 0; i < rounds; i++) {
        fr_repr k = pick_scalar(&rng);
        msm_part parts[MSM_MAX_PARTS];
        msm_split_2(parts, k.l);
        check(&k, parts, 2, MSM_PART_BITS_2, &square);
        msm_split_4(parts, k.l);
        check(&k, parts, 4, MSM_PART_BITS_4, &x);
    }
}

static void the_quotients_hold_at_every_edge(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("the_quotients_hold_at_every_edge");
    for (int i = 0; i < 20000; i++) {
        msm_u128 q = (msm_u128)test_u64(&rng) << 62 | test_u64(&rng); /* below r / 2 over x^2 */
        msm_u128 rest = test_below(&rng, 2) ? test_below(&rng, 3) : x2 - 1 - test_below(&rng, 3);
        q >>= test_below(&rng, 126);
        msm_u128 hi, lo, got_q, got_rest;
        msm_mul_128(&hi, &lo, q, x2);
        lo += rest;
        hi += lo < rest;
        uint64_t k[4] = {(uint64_t)lo, (uint64_t)(lo >> 64), (uint64_t)hi, (uint64_t)(hi >> 64)};
        msm_divide_x2(&got_q, &got_rest, k);
        assert_true(got_q == q && got_rest == rest);
        uint64_t small =
            test_below(&rng, 2) ? test_below(&rng, 3) : BLS12_381_X_ABS - 1 - test_below(&rng, 3);
        uint64_t times = test_u64(&rng) % BLS12_381_X_ABS >> test_below(&rng, 64);
        msm_divide_x(&got_q, &got_rest, (msm_u128)times * BLS12_381_X_ABS + small);
        assert_true(got_q == times && got_rest == small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_their_digits_make_the_scalar),
        cmocka_unit_test(the_quotients_hold_at_every_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
