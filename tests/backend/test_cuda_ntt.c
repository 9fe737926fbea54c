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

static twin twin_new(uint32_t lg, bool inverse, const fr *coset, size_t limit_bytes)
{
    twin t;
    fr root = fr_root_of_unity(FR_ROOT_BELLMAN, lg), g = coset ? *coset : fr_one, scale = fr_one;
    if (inverse) {
        fr_inv(&root, &root);
        fr_inv(&g, &g);
        scale = fr_from_u64((uint64_t)1 << lg);
        fr_inv(&scale, &scale);
    }
    dfr w = device(&root), c = device(&g), f = device(&scale);
    ntt_plan_make(&t.plan, lg, inverse, &w, coset ? &c : NULL, &f, limit_bytes);
    t.tables = quads(t.plan.quads);
    ntt_plan_bind(&t.plan, t.tables);
    dfr *memory[2];
    ntt_source from = {powers_of(w, lg, &memory[0]), powers_of(c, lg, &memory[1]), lg, f};
    for (uint32_t k = 0; k < t.plan.tables; k++) {
        for (uint64_t i = 0; i < t.plan.table[k].count; i++) {
            ntt_plan_entry(t.tables, &t.plan.table[k], &from, i);
        }
    }
    free(memory[0]);
    free(memory[1]);
    return t;
}

/* A block of the forward kernel. */
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
            ntt_step(x, p, &at, step, s, p->coset);
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

static void inverse_block(limb_quad *a, limb_quad *tile, const ntt_pass *p, uint32_t block)
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
            ntt_step_inverse(x, p, &at, step, s, p->coset);
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
        ntt_tiny(q, &plan->pass[0], plan->inverse, plan->coset);
    }
    for (uint32_t i = 0; i < plan->passes && plan->lg > NTT_TINY_LG; i++) {
        const ntt_pass *p = &plan->pass[plan->inverse ? plan->passes - 1 - i : i];
        for (uint32_t block = 0; block < n >> p->tile_lg; block++) {
            (plan->inverse ? inverse_block : forward_block)(q, tile, p, block);
        }
    }
    memcpy(a, q, n * sizeof *a);
    free(q);
    free(tile);
}

static void twin_free(twin *t) { free(t->tables); }

static fr *random_array(test_rng *g, size_t n)
{
    fr *a = malloc(n * sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) {
        a[i] = test_fr(g);
    }
    return a;
}

/* Forward and inverse of one size and coset against the host's transform of the same array. */
static void check(test_rng *rng, uint32_t lg, const fr *coset, size_t limit_bytes)
{
    size_t n = (size_t)1 << lg;
    ntt_domain *domain;
    cuzk_err err;
    assert_int_equal(ntt_domain_new(&domain, lg, FR_ROOT_BELLMAN, &err), CUZK_OK);
    fr *a = random_array(rng, n), *want = malloc(n * sizeof *want), *got = malloc(n * sizeof *got);
    assert_non_null(want);
    assert_non_null(got);
    memcpy(want, a, n * sizeof *a);
    memcpy(got, a, n * sizeof *a);
    if (coset) {
        ntt_coset_forward(domain, want, coset, NULL);
    } else {
        ntt_forward(domain, want, NULL);
    }
    twin t = twin_new(lg, false, coset, limit_bytes);
    twin_run(&t, got);
    twin_free(&t);
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&got[i], &want[ntt_reverse((uint32_t)i, lg)], sizeof *got) != 0) {
            fail_msg("2^%u%s: place %zu differs", lg, coset ? " on a coset" : "", i);
        }
    }
    t = twin_new(lg, true, coset, limit_bytes);
    twin_run(&t, got);
    twin_free(&t);
    if (memcmp(got, a, n * sizeof *a) != 0) {
        fail_msg("2^%u%s: the inverse does not lead back", lg, coset ? " on a coset" : "");
    }
    ntt_domain_free(domain);
    free(a);
    free(want);
    free(got);
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

static void three_passes_with_two_small_twists_agree_with_the_host(void **state)
{
    (void)state;
    test_rng g = test_rng_new(__func__);
    fr c = test_fr(&g);
    check(&g, 19, &c, 0);
}

static void three_passes_with_one_large_twist_agree_with_the_host(void **state)
{
    (void)state;
    if (test_is_slow()) {
        return; /* as above, but for the table that two passes of a small size have as well */
    }
    test_rng g = test_rng_new(__func__);
    check(&g, 19, NULL, SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_small_size_agrees_with_the_host),
        cmocka_unit_test(any_coset_and_any_number_of_columns_work),
        cmocka_unit_test(three_passes_with_two_small_twists_agree_with_the_host),
        cmocka_unit_test(three_passes_with_one_large_twist_agree_with_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
