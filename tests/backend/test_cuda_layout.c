/* How a circuit and its key share a device's memory. */
#include "backend/cuda/key.h"
#include "backend/cuda/layout.h"
#include "backend/cuda/ntt_plan.h"
#include "support/support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

static uint64_t gib(uint64_t n) { return n << 30; }

/* A partition of a sector of 32 GiB on a card with 132 multiprocessors. */
static cuzk_cuda_sizes large_sizes(void)
{
    cuzk_cuda_sizes s = {.lg_domain = 27,
                         .n_aux = 130169893,
                         .n_slots = 2200000,
                         .record_bytes = 1300000,
                         .circuit_bytes = (uint64_t)300 << 20,
                         .limits = {{132 * 4 * 128, 128}, {132 * 4 * 128, 128}}};
    s.points[CUZK_PARAMS_H] = (uint64_t)1 << 27;
    s.points[CUZK_PARAMS_L] = s.n_aux;
    s.points[CUZK_PARAMS_A] = 129750000;
    s.points[CUZK_PARAMS_B_G1] = s.points[CUZK_PARAMS_B_G2] = 33110000;
    return s;
}

/* ---- what holds for every layout ---- */

static uint64_t rounded(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

/* One piece of the working memory begins where the last ended, or later, and at a multiple of 256;
 * returns its end. */
static uint64_t after(uint64_t end, uint64_t at, uint64_t bytes)
{
    assert_true(at >= end);
    assert_int_equal(at % 256, 0);
    return at + bytes;
}

static void check_working(const cuzk_cuda_layout *l, const cuzk_cuda_sizes *s)
{
    uint64_t end = 0, bits = s->n_aux / 8 + 1, selected = bits;
    for (int part = CUZK_PARAMS_L; part < CUZK_PARAMS_PARTS; part++) {
        selected = s->points[part] / 8 + 1 > selected ? s->points[part] / 8 + 1 : selected;
    }
    end = after(end, l->at.records, s->record_bytes);
    end = after(end, l->at.bits, bits);
    end = after(end, l->at.full, (uint64_t)s->n_slots * 32);
    end = after(end, l->at.selected, selected);
    end = after(end, l->at.tail, (uint64_t)s->n_slots * 32);
    end = after(end, l->at.which, (uint64_t)s->n_slots * 4);
    end = after(end, l->at.a, (uint64_t)32 << s->lg_domain);
    end = after(end, l->at.b, (uint64_t)32 << s->lg_domain);
    end = after(end, l->at.scratch, l->scratch_bytes);
    assert_true(l->at.total >= end);
    assert_int_equal(l->working, l->at.total + 2 * l->chunk_bytes);
}

static void check_resident(const cuzk_cuda_layout *l, const cuzk_cuda_sizes *s)
{
    uint64_t device = s->circuit_bytes + l->table_bytes, pinned = 0;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t point = part == CUZK_PARAMS_B_G2 ? 192 : 96, bytes = s->points[part] * point;
        *(l->pinned[part] ? &pinned : &device) += rounded(bytes);
        if (l->pinned[part]) {
            assert_true(l->chunk_points[part] > 0);
            assert_int_equal(l->chunk_points[part] % 32, 0); /* whole words of a bitmap */
            assert_true(l->chunk_points[part] * point <= l->chunk_bytes);
        }
    }
    assert_int_equal(l->resident, device);
    assert_int_equal(l->pinned_bytes, pinned);
}

static void check_full(const cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, msm_group g, uint64_t n)
{
    msm_plan plan;
    cuzk_err err;
    ok(cuzk_cuda_msm_plan(&plan, g, n, 0, s->limits[g], l->scratch_bytes, &err), &err);
    assert_true(plan.at.total <= l->scratch_bytes);
}

/* The plans of one range of n points, however many of them have full scalars. */
static void check_range(const cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, cuzk_params_part part,
                        uint64_t n, test_rng *rng)
{
    msm_group g = part == CUZK_PARAMS_B_G2 ? MSM_G2 : MSM_G1;
    msm_plan plan;
    cuzk_err err;
    if (n == 0) {
        return;
    }
    if (part == CUZK_PARAMS_H) {
        check_full(l, s, g, n);
        return;
    }
    ok(cuzk_cuda_ones_plan(&plan, g, n, s->limits[g], l->scratch_bytes, &err), &err);
    assert_true(plan.at.total <= l->scratch_bytes);
    uint64_t most = n < s->n_slots ? n : s->n_slots;
    for (uint64_t full = 1; full <= most; full += full < 40 ? 1 : 1 + test_below(rng, full)) {
        check_full(l, s, g, full);
    }
    if (most > 0) {
        check_full(l, s, g, most);
    }
}

static void check_sums(const cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, test_rng *rng)
{
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t n = s->points[part], step = l->pinned[part] ? l->chunk_points[part] : n;
        if (n > 0) {
            check_range(l, s, part, n < step ? n : step, rng);
            check_range(l, s, part, n % step, rng);
            assert_true((n + step - 1) / step <= 260); /* each takes time, and a place to end */
        }
    }
}

static void check_layout(const cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, uint64_t budget,
                         test_rng *rng)
{
    assert_true(l->resident + l->working <= budget);
    check_working(l, s);
    check_resident(l, s);
    check_sums(l, s, rng);
}

static unsigned pinned_count(const cuzk_cuda_layout *l)
{
    unsigned n = 0;
    for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
        n += l->pinned[part];
    }
    return n;
}

/* Whether a is at least as quick as b: fewer pinned queries, then larger tables, larger chunks,
 * more scratch memory. */
static bool as_quick(const cuzk_cuda_layout *a, const cuzk_cuda_layout *b)
{
    if (pinned_count(a) != pinned_count(b)) {
        return pinned_count(a) < pinned_count(b) && a->pinned_bytes <= b->pinned_bytes;
    }
    if (a->table_bytes != b->table_bytes) {
        return a->table_bytes > b->table_bytes;
    }
    if (a->chunk_bytes != b->chunk_bytes) {
        return a->chunk_bytes > b->chunk_bytes;
    }
    return a->scratch_bytes >= b->scratch_bytes;
}

/* The number of bytes that a refusal names. */
static uint64_t least_for(const cuzk_cuda_sizes *s, uint64_t budget)
{
    cuzk_cuda_layout l, before;
    cuzk_err err;
    memset(&l, 0x5a, sizeof l);
    before = l;
    assert_int_equal(cuzk_cuda_layout_make(&l, s, budget, &err), CUZK_E_MEMORY);
    assert_memory_equal(&l, &before, sizeof l);
    const char *words = "a proof takes at least ";
    assert_memory_equal(err.msg, words, strlen(words));
    return strtoull(err.msg + strlen(words), NULL, 10);
}

/* ---- the largest circuit ---- */

static void the_largest_circuit_fits_cards_of_all_sizes(void **state)
{
    (void)state;
    const struct {
        uint64_t gib;
        const char *pinned; /* in the order of the file: H L A B in G1, B in G2 */
        bool large_tables;
    } cards[] = {
        {139, ".....", true}, {80, ".....", false}, {48, "H....", false},
        {24, "HLA..", false}, {16, "HLABC", false}, {12, "HLABC", false},
    };
    const cuzk_cuda_sizes s = large_sizes();
    test_rng rng = test_rng_new("the largest circuit");
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        cuzk_cuda_layout l;
        cuzk_err err;
        char pinned[CUZK_PARAMS_PARTS + 1] = "";
        ok(cuzk_cuda_layout_make(&l, &s, gib(cards[i].gib), &err), &err);
        for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
            pinned[part] = l.pinned[part] ? "HLABC"[part] : '.';
        }
        print_message("  %3" PRIu64 " GiB: pinned %s, tables %4" PRIu64 " MiB, chunks %3" PRIu64
                      " MiB, scratch %5" PRIu64 " MiB, %6" PRIu64 " MiB in all\n",
                      cards[i].gib, pinned, l.table_bytes >> 20, l.chunk_bytes >> 20,
                      l.scratch_bytes >> 20, (l.resident + l.working) >> 20);
        assert_string_equal(pinned, cards[i].pinned);
        assert_int_equal(l.table_limit > 0, cards[i].large_tables);
        check_layout(&l, &s, gib(cards[i].gib), &rng);
    }
}

static void more_memory_never_makes_a_proof_slower(void **state)
{
    (void)state;
    const cuzk_cuda_sizes s = large_sizes();
    test_rng rng = test_rng_new("more memory");
    cuzk_cuda_layout last, l;
    cuzk_err err;
    uint64_t budget = least_for(&s, 0), step = gib(1) / (test_is_slow() ? 1 : 4);
    ok(cuzk_cuda_layout_make(&last, &s, budget, &err), &err);
    assert_int_equal(pinned_count(&last), CUZK_PARAMS_PARTS);
    for (; budget < gib(140); budget += step) {
        ok(cuzk_cuda_layout_make(&l, &s, budget, &err), &err);
        check_layout(&l, &s, budget, &rng);
        assert_true(as_quick(&l, &last));
        last = l;
    }
    assert_int_equal(pinned_count(&last), 0);
    ok(cuzk_cuda_layout_make(&l, &s, UINT64_MAX, &err), &err);
    assert_true(as_quick(&l, &last));
}

static void the_least_that_is_named_is_enough_and_one_byte_less_is_not(void **state)
{
    (void)state;
    const cuzk_cuda_sizes s = large_sizes();
    test_rng rng = test_rng_new("the least");
    cuzk_cuda_layout l;
    cuzk_err err;
    uint64_t least = least_for(&s, 0);
    assert_true(least > gib(8) && least < gib(12)); /* two vectors of 2^27 alone are 8 GiB */
    ok(cuzk_cuda_layout_make(&l, &s, least, &err), &err);
    check_layout(&l, &s, least, &rng);
    assert_int_equal(least_for(&s, least - 1), least);
    assert_int_equal(least_for(&s, gib(8)), least);
}

static void a_domain_that_the_transforms_do_not_have_is_refused(void **state)
{
    (void)state;
    const unsigned lgs[] = {0, NTT_PLAN_MAX_LG + 1, 64, UINT32_MAX};
    for (size_t i = 0; i < sizeof lgs / sizeof *lgs; i++) {
        cuzk_cuda_sizes s = large_sizes();
        cuzk_cuda_layout l;
        cuzk_err err;
        s.lg_domain = lgs[i];
        assert_int_equal(cuzk_cuda_layout_make(&l, &s, UINT64_MAX, &err), CUZK_E_UNSUPPORTED);
        assert_non_null(strstr(err.msg, "2^1 to 2^27"));
    }
}

/* ---- random ones ---- */

static cuzk_cuda_sizes random_sizes(test_rng *rng)
{
    cuzk_cuda_sizes s = {.lg_domain = 1 + (unsigned)test_below(rng, 19)};
    uint64_t n = (uint64_t)1 << s.lg_domain;
    s.n_aux = (uint32_t)test_below(rng, n);
    s.n_slots = 1 + (uint32_t)test_below(rng, 2 * (uint64_t)s.n_aux + 1) / 2;
    s.record_bytes = (uint32_t)test_below(rng, 10000);
    s.circuit_bytes = test_below(rng, 1 << 20);
    s.points[CUZK_PARAMS_H] = n;
    s.points[CUZK_PARAMS_L] = s.n_aux;
    s.points[CUZK_PARAMS_A] = test_below(rng, (uint64_t)s.n_aux + 20);
    s.points[CUZK_PARAMS_B_G1] = s.points[CUZK_PARAMS_B_G2] =
        test_below(rng, (uint64_t)s.n_aux + 20);
    for (int g = 0; g < 2; g++) {
        s.limits[g] = (msm_limits){MSM_BLOCK * (1 + (uint32_t)test_below(rng, 8)),
                                   1 + (uint32_t)test_below(rng, 16)};
    }
    return s;
}

static void every_sum_of_a_random_circuit_finds_its_scratch_memory(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("random circuits");
    unsigned pinned[CUZK_PARAMS_PARTS + 1] = {0};
    for (int round = 0; round < (test_is_slow() ? 40 : 400); round++) {
        cuzk_cuda_sizes s = random_sizes(&rng);
        cuzk_cuda_layout most, last, l;
        cuzk_err err;
        uint64_t least = least_for(&s, 0);
        ok(cuzk_cuda_layout_make(&most, &s, UINT64_MAX, &err), &err);
        assert_int_equal(pinned_count(&most), 0);
        check_layout(&most, &s, UINT64_MAX, &rng);
        assert_int_equal(least_for(&s, least - 1), least);
        ok(cuzk_cuda_layout_make(&last, &s, least, &err), &err);
        check_layout(&last, &s, least, &rng);
        uint64_t end = most.resident + most.working, budget = least;
        while (budget < end) {
            budget += 1 + test_below(&rng, (end - least) / 4 + 1);
            ok(cuzk_cuda_layout_make(&l, &s, budget, &err), &err);
            check_layout(&l, &s, budget, &rng);
            assert_true(as_quick(&l, &last));
            pinned[pinned_count(&l)]++;
            last = l;
        }
    }
    assert_true(pinned[0] > 0 && pinned[1] > 0 && pinned[2] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_circuit_fits_cards_of_all_sizes),
        cmocka_unit_test(more_memory_never_makes_a_proof_slower),
        cmocka_unit_test(the_least_that_is_named_is_enough_and_one_byte_less_is_not),
        cmocka_unit_test(a_domain_that_the_transforms_do_not_have_is_refused),
        cmocka_unit_test(every_sum_of_a_random_circuit_finds_its_scratch_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
