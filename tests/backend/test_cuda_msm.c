#include "support/support.h"

#include "backend/cuda/dg1.h"
#include "backend/cuda/msm_digits.h"
#include "backend/cuda/msm_finish.h"
#include "backend/cuda/msm_plan.h"
#include "backend/cuda/msm_tree.h"
#include "math/msm/msm.h"

#include <stdlib.h>
#include <string.h>

/*
 * The sum on the device, in plain C: the same plan, digits, trees, terms and formulas, one thread
 * and one addition after the other.
 */

enum { PARTS = 2, MOST_POINTS = 3000 };

typedef struct entry {
    uint32_t key, value;
} entry;

static int by_key(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->value > y->value) - (x->value < y->value);
}

static size_t make_entries(entry *ret, const msm_plan *p, const fr_repr *k, uint32_t n,
                           unsigned window)
{
    size_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        msm_part parts[PARTS];
        msm_split_2(parts, k[i].l);
        unsigned lo = msm_window_start(PARTS, p->windows, window);
        unsigned hi = msm_window_start(PARTS, p->windows, window + 1);
        for (uint32_t part = 0; part < PARTS; part++) {
            uint32_t negative, d = msm_part_digit(&parts[part], lo, hi - lo, &negative);
            if (d) {
                ret[count++] = (entry){(part << (p->width - 1)) + d - 1, i << 1 | negative};
            }
        }
    }
    qsort(ret, count, sizeof *ret, by_key);
    return count;
}

static dg1_affine at_place(const dg1_affine *points, const dg1_affine *nodes, uint32_t place)
{
    const dg1_affine *from = place & MSM_FROM_POINTS ? points : nodes;
    return dg1_affine_neg_if(from[place & MSM_INDEX], place & MSM_NEGATIVE);
}

static dg1_affine add_pair(const dg1_affine *a, const dg1_affine *b)
{
    dfp d = dfp_sub(b->x, a->x);
    if (dg1_pair_is_rare(&a->x, &b->x, &d)) {
        return dg1_pair_rare_sum(a, b, dfp_inv(dg1_pair_rare_divisor(a, b)));
    }
    return dg1_pair_chord(a->x, a->y, b->x, dfp_mul(dfp_sub(b->y, a->y), dfp_inv(d)));
}

/* Adds the sums of the buckets of entries first .. end, one chunk, to the buckets. */
static void sum_chunk(dg1 *buckets, const dg1_affine *points, const entry *e, uint32_t first,
                      uint32_t end, unsigned levels)
{
    uint32_t n = end - first;
    uint32_t *values = malloc(n * sizeof *values), *lists = malloc((n + n / 2 + 1) * sizeof *lists);
    uint32_t counts[MSM_LEVELS] = {0};
    dg1_affine *nodes = malloc((n / 2 + 1) * sizeof *nodes);
    assert_true(values && lists && nodes);
    uint32_t start = 0;
    for (uint32_t i = 0; i < n; i++) {
        values[i] = e[first + i].value;
        if (i == 0 || e[first + i].key != e[first + i - 1].key) {
            start = i;
            continue;
        }
        unsigned level = msm_tree_level(i - start);
        bool last = i + 1 == n || e[first + i + 1].key != e[first + i].key;
        assert_true(level < levels);
        uint32_t at = msm_list_start(n, level) + counts[level]++;
        assert_true(at < msm_list_start(n, level + 1)); /* the lists don't meet */
        lists[at] = i | (level > 0 && last ? MSM_LONE : 0);
    }
    for (unsigned level = 0; level < levels; level++) {
        for (uint32_t j = 0; j < counts[level]; j++) {
            msm_place p = msm_find_pair(values, level, lists[msm_list_start(n, level) + j]);
            dg1_affine a = at_place(points, nodes, p.a), b = at_place(points, nodes, p.b);
            assert_true(p.out < n / 2 + 1);
            nodes[p.out] = add_pair(&a, &b);
        }
    }
    for (uint32_t i = 0, from = 0; i < n; i++) {
        if (i + 1 == n || e[first + i + 1].key != e[first + i].key) {
            dg1_affine sum = at_place(points, nodes, msm_bucket_place(values, from, i + 1));
            dg1 *bucket = &buckets[e[first + i].key];
            *bucket = dg1_add_affine(bucket, &sum);
            from = i + 1;
        }
    }
    free(values);
    free(lists);
    free(nodes);
}

/* sum_t (t + 1) a[t] by the terms of msm_term_at, every v infinity. */
static dg1 sum_by_terms(const dg1 *a, const dg1 *v, unsigned bits)
{
    dg1 sum = dg1_inf();
    assert_true(msm_terms(bits) <= 32);
    for (unsigned term = 0; term < msm_terms(bits); term++) {
        dg1 t = dg1_inf();
        unsigned doublings = 0;
        for (uint32_t i = 0; i < 1u << (bits - 2); i++) {
            bool of_v;
            uint32_t at = msm_term_at(bits, term, i, &of_v, &doublings);
            assert_true(at < 1u << bits);
            t = dg1_add(&t, of_v ? &v[at] : &a[at]);
        }
        for (; doublings > 0; doublings--) {
            t = dg1_dbl(&t);
        }
        sum = dg1_add(&sum, &t);
    }
    return sum;
}

/* One window, its entries in chunks of so many. */
static msm_g1_sum sum_window(const msm_plan *p, const g1_affine *points, const fr_repr *k,
                             uint32_t n, unsigned window, uint32_t chunk)
{
    uint32_t set = 1u << (p->width - 1);
    entry *e = malloc(n * PARTS * sizeof *e);
    dg1 *buckets = malloc(PARTS * set * sizeof *buckets), *v = malloc(set * sizeof *v);
    assert_true(e && buckets && v);
    for (uint32_t i = 0; i < PARTS * set; i++) {
        buckets[i] = dg1_inf();
        v[i % set] = dg1_inf();
    }
    uint32_t count = (uint32_t)make_entries(e, p, k, n, window);
    for (uint32_t first = 0; first < count; first += chunk) {
        uint32_t end = count - first < chunk ? count : first + chunk;
        sum_chunk(buckets, (const dg1_affine *)(const void *)points, e, first, end, p->levels);
    }
    for (uint32_t i = 0; i < set; i++) {
        dg1_affine second = dg1_to_affine(&buckets[set + i]);
        second = dg1_affine_endo(second);
        buckets[i] = dg1_add_affine(&buckets[i], &second);
    }
    dg1 sum = sum_by_terms(buckets, v, p->width - 1);
    sum = (dg1){dfp_reduce(sum.x), dfp_reduce(sum.y), dfp_reduce(sum.zz), dfp_reduce(sum.zzz)};
    msm_g1_sum ret;
    memcpy(&ret, &sum, sizeof ret);
    free(e);
    free(buckets);
    free(v);
    return ret;
}

static void equals_the_hosts_sum(const g1_affine *p, const fr_repr *k, uint32_t n, unsigned width,
                                 uint32_t chunk)
{
    msm_plan plan;
    msm_g1_sum sums[MSM_MAX_WINDOWS];
    cuzk_err err;
    msm_limits limits = {256, 4};
    assert_int_equal(cuzk_cuda_msm_plan(&plan, MSM_G1, n, width, limits, (uint64_t)1 << 33, &err),
                     CUZK_OK);
    for (unsigned w = 0; w < plan.windows; w++) {
        sums[w] = sum_window(&plan, p, k, n, w, chunk);
    }
    g1 got = cuzk_cuda_msm_g1_finish(&plan, sums), want;
    assert_int_equal(msm_g1(&want, p, k, n, NULL, &err), CUZK_OK);
    if (!g1_eq(&got, &want)) {
        fail_msg("%u points, width %u, chunks of %u", n, width, chunk);
    }
}

static void the_devices_steps_give_the_hosts_sum(void **state)
{
    (void)state;
    test_rng rng = test_rng_new("the_devices_steps_give_the_hosts_sum");
    static const uint32_t sizes[] = {1, 2, 3, 7, 64, 200, MOST_POINTS};
    g1_affine *p = malloc(MOST_POINTS * sizeof *p);
    fr_repr *k = malloc(MOST_POINTS * sizeof *k);
    assert_true(p && k);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes - (test_is_slow() ? 1 : 0); s++) {
        uint32_t n = sizes[s];
        test_g1_points(&rng, p, n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t other = (uint32_t)test_below(&rng, n);
            k[i] = test_fr_repr(&rng);
            switch (test_below(&rng, 8)) {
            case 0:
                memset(&p[i], 0, sizeof p[i]);
                break;
            case 1:
                p[i] = p[other];
                break;
            case 2:
                g1_affine_neg(&p[i], &p[other]);
                break;
            case 3:
                k[i] = (fr_repr){{test_below(&rng, 2)}};
                break;
            case 4:
                k[i] = k[other];
                break;
            default:
                break;
            }
        }
        equals_the_hosts_sum(p, k, n, 0, UINT32_MAX);
        equals_the_hosts_sum(p, k, n, MSM_MIN_WIDTH + (unsigned)test_below(&rng, 6), 77);
    }
    free(p);
    free(k);
}

/* sum_t ((t + 1) A_t + T V_t) with multiples of the generator, against their logarithms. */
static void the_terms_of_a_window_weigh_every_bucket(void **state)
{
    (void)state;
    enum { BITS = 5, T = 1 << BITS };
    static dg1 a[T], v[T];
    dg1_affine g;
    memcpy(&g, &g1_generator, sizeof g);
    uint64_t log = 0;
    dg1 multiple = dg1_inf();
    for (uint32_t t = 0; t < T; t++) {
        multiple = dg1_add_affine(&multiple, &g);
        a[t] = multiple; /* t + 1 */
        v[T - 1 - t] = multiple;
        log += (uint64_t)(t + 1) * (t + 1) + (uint64_t)T * (t + 1);
    }
    dg1 sum = sum_by_terms(a, v, BITS), want = dg1_inf();
    for (int i = 63; i >= 0; i--) {
        want = dg1_dbl(&want);
        if (log >> i & 1) {
            want = dg1_add_affine(&want, &g);
        }
    }
    dg1_affine x = dg1_to_affine(&sum), y = dg1_to_affine(&want);
    assert_true(dfp_eq(x.x, y.x) && dfp_eq(x.y, y.y));
}

static void regions_are_apart(const msm_plan *p)
{
    const uint64_t field = p->group == MSM_G1 ? 48 : 96;
    const msm_layout *l = &p->at;
    const uint64_t at[][2] = {
        {l->sums, p->windows * 4 * field},
        {l->terms, p->windows * 32 * 4 * field},
        {l->carries, p->chunks * 2 * field},
        {l->carry_keys, p->chunks * 4},
        {l->counts, 4 * MSM_LEVELS},
        {l->keys[0], (uint64_t)8 * p->entries},
        {l->keys[1], (uint64_t)8 * p->entries},
        {l->starts, (uint64_t)4 * p->buckets + 4},
        {l->nodes, (uint64_t)(p->chunk / 2 + 1) * 2 * field},
        {l->buckets, p->buckets * 2 * field},
        {l->prefix, (uint64_t)p->limits.threads * p->limits.depth * field},
        {l->sweeps[0], (uint64_t)p->windows * p->sweep_threads * 8 * field},
        {l->sweeps[1], (uint64_t)p->windows * p->sweep_threads * 8 * field},
        {l->sort, l->sort_bytes},
    };
    uint64_t end = 0;
    assert_int_equal(l->sums, 0);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        assert_true(at[i][0] >= end && at[i][0] % 256 == 0);
        end = at[i][0] + at[i][1];
    }
    assert_true(l->total >= end);
}

static void a_plan_covers_the_scalar_and_fits_the_memory(void **state)
{
    (void)state;
    cuzk_err err;
    const msm_limits limits = {67584, 128};
    for (int group = MSM_G1; group <= MSM_G2; group++) {
        unsigned most = group == MSM_G1 ? 29 : 28;
        for (unsigned lg = 0; lg <= most; lg++) {
            msm_plan p, tight;
            uint64_t n = ((uint64_t)1 << lg) + (lg % 3);
            assert_int_equal(
                cuzk_cuda_msm_plan(&p, (msm_group)group, n, 0, limits, UINT64_MAX, &err), CUZK_OK);
            unsigned bits = 256 / p.parts;
            assert_int_equal(msm_window_start(p.parts, p.windows, 0), 0);
            assert_int_equal(msm_window_start(p.parts, p.windows, p.windows), bits);
            for (unsigned w = 0; w < p.windows; w++) {
                unsigned width = msm_window_start(p.parts, p.windows, w + 1) -
                                 msm_window_start(p.parts, p.windows, w);
                assert_true(width >= 1 && width <= p.width);
            }
            assert_true(p.windows <= MSM_MAX_WINDOWS && p.chunks <= MSM_MAX_CHUNKS);
            assert_true((uint64_t)p.entries == n * p.parts * p.batch);
            assert_true((uint64_t)p.chunk * p.chunks >= p.entries && p.chunk >> p.levels <= 1);
            assert_true(p.sweep_threads >= 4 && p.sweep_threads <= 1u << (p.width - 1));
            regions_are_apart(&p);
            uint64_t less = p.at.total - 1;
            if (cuzk_cuda_msm_plan(&tight, (msm_group)group, n, 0, limits, less, &err) == CUZK_OK) {
                assert_true(tight.at.total <= less);
                assert_true(tight.chunk < p.chunk || tight.batch < p.batch);
                regions_are_apart(&tight);
            } else {
                assert_int_equal(err.code, CUZK_E_MEMORY);
            }
        }
    }
}

static void ones_fall_into_buckets_in_order(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 1023, 1024, 1025, 30000, 0x3fffffff};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t n = sizes[s];
        assert_int_equal(msm_ones_start(0, n), 0);
        assert_int_equal(msm_ones_start(MSM_ONES_BUCKETS, n), n);
        for (uint32_t b = 0; b < MSM_ONES_BUCKETS; b++) {
            uint32_t from = msm_ones_start(b, n), to = msm_ones_start(b + 1, n);
            assert_true(from <= to);
            if (from < to) {
                assert_int_equal(msm_ones_bucket(from, n), b);
                assert_int_equal(msm_ones_bucket(to - 1, n), b);
            }
        }
    }
}

static void a_plan_for_ones_fits_the_memory(void **state)
{
    (void)state;
    msm_plan p, tight;
    cuzk_err err;
    const msm_limits limits = {67584, 128};
    for (int group = MSM_G1; group <= MSM_G2; group++) {
        uint64_t n = (uint64_t)130278869;
        assert_int_equal(cuzk_cuda_ones_plan(&p, (msm_group)group, n, limits, UINT64_MAX, &err),
                         CUZK_OK);
        assert_true(p.windows == 1 && (uint64_t)p.chunk * p.chunks >= n);
        regions_are_apart(&p);
        assert_int_equal(
            cuzk_cuda_ones_plan(&tight, (msm_group)group, n, limits, p.at.total - 1, &err),
            CUZK_OK);
        assert_true(tight.at.total < p.at.total && tight.chunk < p.chunk);
        regions_are_apart(&tight);
    }
    assert_int_equal(cuzk_cuda_ones_plan(&p, MSM_G1, 0, limits, UINT64_MAX, &err), CUZK_E_ARG);
}

static void a_plan_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    msm_plan p;
    cuzk_err err;
    const msm_limits limits = {1024, 8};
    const uint64_t bytes = (uint64_t)1 << 40;
    assert_int_equal(cuzk_cuda_msm_plan(&p, MSM_G1, 0, 0, limits, bytes, &err), CUZK_E_ARG);
    assert_int_equal(cuzk_cuda_msm_plan(&p, MSM_G1, 1 << 30, 0, limits, bytes, &err), CUZK_E_ARG);
    assert_int_equal(cuzk_cuda_msm_plan(&p, MSM_G2, 1 << 29, 0, limits, bytes, &err), CUZK_E_ARG);
    assert_int_equal(cuzk_cuda_msm_plan(&p, MSM_G1, 9, 23, limits, bytes, &err), CUZK_E_ARG);
    assert_int_equal(cuzk_cuda_msm_plan(&p, MSM_G1, 9, 2, limits, bytes, &err), CUZK_E_ARG);
    assert_int_equal(cuzk_cuda_msm_plan(&p, MSM_G1, 9, 0, (msm_limits){1000, 8}, bytes, &err),
                     CUZK_E_ARG);
    assert_int_equal(cuzk_cuda_msm_plan(&p, MSM_G1, 1 << 20, 0, limits, 1 << 20, &err),
                     CUZK_E_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_devices_steps_give_the_hosts_sum),
        cmocka_unit_test(the_terms_of_a_window_weigh_every_bucket),
        cmocka_unit_test(a_plan_covers_the_scalar_and_fits_the_memory),
        cmocka_unit_test(ones_fall_into_buckets_in_order),
        cmocka_unit_test(a_plan_for_ones_fits_the_memory),
        cmocka_unit_test(a_plan_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
