/* The kernels of the transform, run by loops over blocks and threads, against the host's. */
#include "support/support.h"

#include "backend/cuda/ntt_plan.h"
#include "math/ntt/ntt.h"

#include <stdlib.h>
#include <string.h>

typedef struct twin {
    ntt_plan plan;
    limb_quad *tables;
} twin;

static dfr device(const fr *a)
{
    dfr r;
    memcpy(&r, a, sizeof r);
    return r;
}

static void *quads(size_t n)
{
    void *p = aligned_alloc(64, (n * sizeof(limb_quad) + 63) / 64 * 64 + 64);
    assert_non_null(p);
    return p;
}

/* The two tables of powers of g, as far as exponents below 2^lg use them. */
static ntt_powers powers_of(dfr g, uint32_t lg, dfr **ret_memory)
{
    uint32_t n = 1u << NTT_POWER_LOW_LG,
             high_lg = lg > NTT_POWER_LOW_LG ? lg - NTT_POWER_LOW_LG : 0;
    dfr *p = malloc(2 * n * sizeof *p), big = ntt_pow(g, n);
    assert_non_null(p);
    for (uint32_t i = 0; i < n && i < 1u << lg; i++) {
        p[i] = ntt_power_entry(g, i);
    }
    for (uint32_t i = 0; i < 1u << high_lg; i++) {
        p[n + i] = ntt_power_entry(big, i);
    }
    *ret_memory = p;
    return (ntt_powers){p, p + n};
}

/* The transform that the device's interface describes, with coset NULL for none. */
static twin twin_new(uint32_t lg, bool backwards, bool inverse, const fr *coset, size_t limit_bytes)
{
    twin t;
    fr root = fr_root_of_unity(FR_ROOT_BELLMAN, lg), g = coset ? *coset : fr_one, scale = fr_one;
    if (inverse) {
        fr_inv(&root, &root);
        fr_inv(&g, &g);
        scale = fr_from_u64((uint64_t)1 << lg);
        fr_inv(&scale, &scale);
    }
    ntt_request want = {.lg = lg,
                        .backwards = backwards,
                        .coset = ntt_coset_side(coset, backwards, inverse),
                        .root = device(&root),
                        .g = device(&g),
                        .scaled = inverse,
                        .scale = device(&scale),
                        .table_limit = limit_bytes};
    ntt_plan_make(&t.plan, &want);
    t.tables = quads(t.plan.quads);
    ntt_plan_bind(&t.plan, t.tables);
    dfr *memory[2];
    ntt_source from = {powers_of(want.root, lg, &memory[0]), powers_of(want.g, lg, &memory[1]), lg,
                       want.scale};
    for (uint32_t k = 0; k < t.plan.tables; k++) {
        for (uint64_t i = 0; i < t.plan.table[k].count; i++) {
            ntt_make_entry(t.tables, &t.plan.table[k], &from, i);
        }
    }
    free(memory[0]);
    free(memory[1]);
    return t;
}

/* A block of the kernel to reversed places. */
static void forward_block(limb_quad *a, limb_quad *tile, const ntt_pass *p, uint32_t block)
{
    uint32_t threads = 1u << (p->tile_lg - 3), steps = ntt_steps(p->digit_lg);
    dfr x[8];
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t s = ntt_step_shift(p->digit_lg, step);
        for (uint32_t thread = 0; thread < threads; thread++) {
            ntt_place at = ntt_place_of(p, block, thread, s);
            if (step == 0) {
                ntt_read_global(x, a, &at);
            } else {
                ntt_read_tile(x, tile, p->tile_lg, &at);
            }
            ntt_step(x, p, &at, step, s, (ntt_coset)p->coset);
            if (step == steps - 1 && p->low_lg) {
                ntt_write_global(a, x, &at);
            } else {
                ntt_write_tile(tile, p->tile_lg, x, &at);
            }
        }
    }
    for (uint32_t i = 0; i < 16 * threads && p->low_lg == 0; i++) {
        ntt_copy_out(a, tile, p, block, i);
    }
}

/* The same backwards. */
static void block_back(limb_quad *a, limb_quad *tile, const ntt_pass *p, uint32_t block)
{
    uint32_t threads = 1u << (p->tile_lg - 3), steps = ntt_steps(p->digit_lg);
    dfr x[8];
    for (uint32_t i = 0; i < 16 * threads && p->low_lg == 0; i++) {
        ntt_copy_in(tile, a, p, block, i);
    }
    for (uint32_t step = steps; step-- > 0;) {
        uint32_t s = ntt_step_shift(p->digit_lg, step);
        for (uint32_t thread = 0; thread < threads; thread++) {
            ntt_place at = ntt_place_of(p, block, thread, s);
            if (step == steps - 1 && p->low_lg) {
                ntt_read_global(x, a, &at);
            } else {
                ntt_read_tile(x, tile, p->tile_lg, &at);
            }
            ntt_step_back(x, p, &at, step, s, (ntt_coset)p->coset);
            if (step == 0) {
                ntt_write_global(a, x, &at);
            } else {
                ntt_write_tile(tile, p->tile_lg, x, &at);
            }
        }
    }
}

static void twin_run(const twin *t, fr *a)
{
    size_t n = (size_t)1 << t->plan.lg;
    limb_quad *q = quads(2 * n), *tile = quads((size_t)2 << NTT_TILE_LG);
    memcpy(q, a, n * sizeof *a);
    const ntt_plan *plan = &t->plan;
    if (plan->lg <= NTT_TINY_LG) {
        ntt_tiny(q, &plan->pass[0]);
    }
    for (uint32_t i = 0; i < plan->passes && plan->lg > NTT_TINY_LG; i++) {
        const ntt_pass *p = &plan->pass[plan->backwards ? plan->passes - 1 - i : i];
        for (uint32_t block = 0; block < n >> p->tile_lg; block++) {
            (plan->backwards ? block_back : forward_block)(q, tile, p, block);
        }
    }
    memcpy(a, q, n * sizeof *a);
    free(q);
    free(tile);
}

/* Where the element of index i lies. */
static size_t place(size_t i, uint32_t lg, bool reversed)
{
    return reversed ? hd_reverse((uint32_t)i, lg) : i;
}

/* One direction and order against the host's transform of the same array. */
static void check_one(uint32_t lg, bool backwards, bool inverse, const fr *coset,
                      size_t limit_bytes, const fr *input, const fr *want)
{
    size_t n = (size_t)1 << lg;
    fr *a = malloc(n * sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) {
        a[place(i, lg, backwards)] = input[i];
    }
    twin t = twin_new(lg, backwards, inverse, coset, limit_bytes);
    twin_run(&t, a);
    free(t.tables);
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&a[place(i, lg, !backwards)], &want[i], sizeof *a) != 0) {
            fail_msg("2^%u, %s, %s%s: element %zu differs", lg, inverse ? "inverse" : "forward",
                     backwards ? "from reversed places" : "to reversed places",
                     coset ? ", on a coset" : "", i);
        }
    }
    free(a);
}

/* A random array and its transform on the host; freed by the caller. */
static void host_pair(test_rng *rng, uint32_t lg, const fr *coset, fr **ret_a, fr **ret_values)
{
    size_t n = (size_t)1 << lg;
    ntt_domain *domain;
    cuzk_err err;
    assert_int_equal(ntt_domain_new(&domain, lg, FR_ROOT_BELLMAN, &err), CUZK_OK);
    fr *a = malloc(n * sizeof *a), *values = malloc(n * sizeof *values);
    assert_non_null(a);
    assert_non_null(values);
    for (size_t i = 0; i < n; i++) {
        a[i] = values[i] = test_fr(rng);
    }
    if (coset) {
        ntt_coset_forward(domain, values, coset, NULL);
    } else {
        ntt_forward(domain, values, NULL);
    }
    ntt_domain_free(domain);
    *ret_a = a;
    *ret_values = values;
}

/* All four of one size and coset. */
static void check(test_rng *rng, uint32_t lg, const fr *coset, size_t limit_bytes)
{
    fr *a, *values;
    host_pair(rng, lg, coset, &a, &values);
    check_one(lg, false, false, coset, limit_bytes, a, values);
    check_one(lg, true, true, coset, limit_bytes, values, a);
    check_one(lg, true, false, coset, limit_bytes, a, values);
    check_one(lg, false, true, coset, limit_bytes, values, a);
    free(a);
    free(values);
}

static void every_small_size_agrees_with_the_host(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    fr seven = ntt_coset_bellman();
    for (uint32_t lg = 1; lg <= (test_is_slow() ? 11 : 13); lg++) {
        check(&g, lg, NULL, SIZE_MAX);
        check(&g, lg, &seven, SIZE_MAX);
    }
}

static void any_coset_and_any_number_of_columns_work(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    for (uint32_t lg = 14; lg <= (test_is_slow() ? 14 : 16); lg++) {
        fr c = test_fr(&g);
        check(&g, lg, &c, SIZE_MAX);
    }
}

/* 2^19 is the smallest with three passes. */
static void three_passes_with_two_small_twists_agree_with_the_host(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    fr c = test_fr(&g), *a, *values;
    host_pair(&g, 19, &c, &a, &values);
    check_one(19, false, false, &c, 0, a, values);
    check_one(19, false, true, &c, 0, values, a);
    free(a);
    free(values);
}

static void three_passes_with_one_large_twist_agree_with_the_host(void **state)
{
    (void)state;
    if (test_is_slow()) {
        return; /* as above, but for the table that two passes of a small size have as well */
    }
    test_rng g = test_rng_new(__func__);
    fr c = test_fr(&g), *a, *values;
    host_pair(&g, 19, &c, &a, &values);
    check_one(19, true, true, &c, SIZE_MAX, values, a);
    check_one(19, true, false, &c, SIZE_MAX, a, values);
    free(a);
    free(values);
}

static void bits_are_reversed(void **state)
{
    (void)state;
    uint32_t a = 0x9b3c51e7;
    for (uint32_t bits = 0; bits <= 32; bits++, a = a * 1664525u + 1013904223u) {
        uint32_t want = 0;
        for (uint32_t i = 0; i < bits; i++) {
            want |= (a >> i & 1) << (bits - 1 - i);
        }
        assert_int_equal(hd_reverse(a, bits), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_reversed),
        cmocka_unit_test(every_small_size_agrees_with_the_host),
        cmocka_unit_test(any_coset_and_any_number_of_columns_work),
        cmocka_unit_test(three_passes_with_two_small_twists_agree_with_the_host),
        cmocka_unit_test(three_passes_with_one_large_twist_agree_with_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
