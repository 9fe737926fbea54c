#include "support/files.h"
#include "support/gen_key.h"
#include "support/keys.h"
#include "support/support.h"

#include "backend/cuda/key.h"
#include "filecoin/circuits/catalog.h"
#include "r1cs/cs.h"
#include "r1cs/shape_csr.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

/* A system with a key file, and the key as the host has it. */
typedef struct example {
    cuzk_shape *shape;
    cuzk_pk *pk;
    char path[512];
    test_file file;
} example;

/* `n` aux variables, each in one of as many rows, every third of them in B. */
static cuzk_shape *small_shape(uint32_t n)
{
    cuzk_cs *cs;
    cuzk_shape *shape;
    cuzk_err err;
    ok(cuzk_cs_new_shape(&cs, "small", &err), &err);
    for (uint32_t i = 0; i < n; i++) {
        fr v = fr_from_u64(i);
        cuzk_lc a = cuzk_lc_var(cuzk_cs_alloc(cs, &v).var), b = {0}, c = {0};
        if (i % 3 == 0) {
            b = a;
        }
        cuzk_cs_enforce(cs, &a, &b, &c);
    }
    ok(cuzk_cs_finish_shape(cs, &shape, &err), &err);
    cuzk_cs_free(cs);
    return shape;
}

static void write_key(const cuzk_shape *shape, const char *path)
{
    cuzk_r1cs *r1cs;
    cuzk_err err;
    ok(cuzk_shape_to_r1cs(&r1cs, shape, &err), &err);
    cuzk_pk *pk = gen_key_new(r1cs, 7);
    pk->root = FR_ROOT_BELLMAN;
    pk->h_basis = CUZK_H_POWERS;
    pk->n_h--;
    for (uint32_t i = 0; i < pk->n_aux; i++) {
        pk->l[i] = g1_affine_is_inf(&pk->l[i]) ? g1_generator : pk->l[i];
    }
    ok(cuzk_params_write(pk, path, &err), &err);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r1cs);
}

static void read_host(example *e)
{
    cuzk_err err;
    ok(cuzk_params_read_shape(&e->pk, e->path, e->shape, POINT_CHECK_CURVE, NULL, &err), &err);
}

static example small_example(uint32_t n)
{
    example e = {.shape = small_shape(n)};
    char name[32];
    snprintf(name, sizeof name, "small-%u.params", n);
    snprintf(e.path, sizeof e.path, "%s", test_file_save(name, "", 0));
    write_key(e.shape, e.path);
    e.file = test_file_load(e.path);
    read_host(&e);
    return e;
}

static void example_clear(example *e)
{
    cuzk_shape_free(e->shape);
    cuzk_pk_free(e->pk);
    free(e->file.p);
}

static cuzk_cuda_key_plan plan_of(unsigned pinned, unsigned lg_chunk)
{
    cuzk_cuda_key_plan plan = {.lg_chunk = lg_chunk};
    for (unsigned part = 0; part < CUZK_PARAMS_PARTS; part++) {
        plan.pinned[part] = pinned >> part & 1;
    }
    return plan;
}

enum { ALL_PINNED = (1 << CUZK_PARAMS_PARTS) - 1 };

static cuzk_cuda_memory roomy(void) { return (cuzk_cuda_memory){.budget = (uint64_t)1 << 40}; }

static uint64_t reversed(uint64_t i, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned b = 0; b < bits; b++) {
        r |= (i >> b & 1) << (bits - 1 - b);
    }
    return r;
}

static void expect_h(const g1_affine *got, const cuzk_pk *want)
{
    uint64_t m = (uint64_t)1 << want->lg_domain;
    static const g1_affine inf;
    assert_int_equal(want->n_h, m - 1);
    for (uint64_t i = 0; i < m; i++) {
        const g1_affine *point = i == m - 1 ? &inf : &want->h[i];
        assert_memory_equal(&got[reversed(i, want->lg_domain)], point, sizeof *point);
    }
}

/* Every byte of a device's key against the host's, and where each query is. */
static void expect_key(const cuzk_cuda_key *got, const cuzk_pk *want,
                       const cuzk_cuda_key_plan *plan)
{
    const uint64_t n[] = {want->n_h + 1, want->n_aux, want->n_a, want->n_b, want->n_b};
    const void *const lists[] = {want->h, want->l, want->a, want->b_g1, want->b_g2};
    assert_int_equal(got->lg_domain, want->lg_domain);
    assert_int_equal(got->n_inputs, want->n_inputs);
    assert_int_equal(got->n_aux, want->n_aux);
    test_vk_equal(&got->vk, &want->vk);
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        const cuzk_cuda_query *q = &got->query[part];
        assert_int_equal(q->n, n[part]);
        assert_int_equal(q->pinned != NULL, plan->pinned[part]);
        assert_int_equal(q->block.p == NULL, plan->pinned[part]);
        const void *points = q->pinned ? q->pinned : q->block.p;
        cuzk_cuda_twin_enter(); /* reads device memory */
        if (part == CUZK_PARAMS_H) {
            expect_h(points, want);
        } else if (n[part] > 0) {
            assert_memory_equal(points, lists[part], cuzk_cuda_query_bytes(part, n[part]));
        }
        cuzk_cuda_twin_leave();
    }
}

static void expect_same_key(const example *e, unsigned pinned, unsigned lg_chunk)
{
    cuzk_cuda_key_plan plan = plan_of(pinned, lg_chunk);
    cuzk_cuda_memory memory = roomy();
    cuzk_cuda_key *key;
    cuzk_err err;
    uint64_t bytes[CUZK_PARAMS_PARTS], resident = 0;
    ok(cuzk_cuda_key_read(&key, e->path, e->shape, &plan, &memory, NULL, &err), &err);
    expect_key(key, e->pk, &plan);
    ok(cuzk_cuda_key_bytes(bytes, e->path, e->shape, &err), &err);
    for (unsigned part = 0; part < CUZK_PARAMS_PARTS; part++) {
        resident += plan.pinned[part] ? 0 : bytes[part];
    }
    assert_int_equal(memory.used, resident);
    assert_true(memory.peak <= resident + cuzk_cuda_key_scratch_bytes(&plan));
    cuzk_cuda_key_free(key);
    assert_int_equal(memory.used, 0);
}

static void a_key_is_the_hosts_wherever_its_queries_stay_and_whatever_the_chunks(void **state)
{
    (void)state;
    example e = small_example(50);
    assert_int_equal(e.pk->lg_domain, 6);
    for (unsigned pinned = 0; pinned <= ALL_PINNED; pinned++) {
        for (unsigned lg_chunk = 0; lg_chunk < 8; lg_chunk++) {
            expect_same_key(&e, pinned, lg_chunk);
        }
    }
    example_clear(&e);
}

static void keys_of_the_smallest_systems_are_read(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 9; n++) {
        example e = small_example(n);
        for (unsigned lg_chunk = 0; lg_chunk < 4; lg_chunk++) {
            expect_same_key(&e, 0, lg_chunk);
            expect_same_key(&e, ALL_PINNED, lg_chunk);
        }
        example_clear(&e);
    }
}

static void a_real_key_is_the_hosts(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "reference/window-2KiB.params");
    example e = {0};
    cuzk_circuit_id id;
    cuzk_err err;
    snprintf(e.path, sizeof e.path, "%s", path);
    ok(cuzk_circuit_named(&id, "window-2KiB", &err), &err);
    ok(cuzk_circuit_shape(&e.shape, &id, &err), &err);
    read_host(&e);
    expect_same_key(&e, 0, 0);
    expect_same_key(&e, ALL_PINNED, 11);
    example_clear(&e);
}

/* ---- bad points ---- */

static size_t list_at(const example *e, cuzk_params_part part, uint64_t *ret_n)
{
    cuzk_params_layout layout;
    cuzk_err err;
    ok(cuzk_params_scan(&layout, e->path, POINT_CHECK_NONE, &err), &err);
    size_t at = layout.list[part].offset;
    *ret_n = layout.list[part].n;
    cuzk_params_layout_clear(&layout);
    return at;
}

static void put_file(const example *e, size_t n)
{
    int fd = open(e->path, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, e->file.p, n), n);
    close(fd);
}

/* Reading fails as the host's does, in the same words, wherever the queries stay. */
static void expect_refusal(const example *e, const char *found)
{
    cuzk_pk *pk;
    cuzk_cuda_key *key;
    cuzk_err host, err;
    test_failed(cuzk_params_read_shape(&pk, e->path, e->shape, POINT_CHECK_CURVE, NULL, &host),
                &host, CUZK_E_INPUT, e->path, ": offset ", found, NULL);
    for (unsigned k = 0; k < 4; k++) {
        cuzk_cuda_key_plan plan = plan_of(k & 1 ? ALL_PINNED : 0, k & 2 ? 4 : 0);
        cuzk_cuda_memory memory = roomy();
        assert_int_equal(cuzk_cuda_key_read(&key, e->path, e->shape, &plan, &memory, NULL, &err),
                         CUZK_E_INPUT);
        assert_string_equal(err.msg, host.msg);
        assert_int_equal(memory.used, 0);
    }
}

static void bad_points_in_each_list_are_refused_in_the_hosts_words(void **state)
{
    (void)state;
    example e = small_example(30);
    size_t n_bad;
    const test_bad_point *bad = test_bad_points(&n_bad);
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t n;
        size_t at = list_at(&e, part, &n), size = part == CUZK_PARAMS_B_G2 ? 192 : 96;
        const uint64_t places[] = {0, n / 2, n - 1};
        assert_true(n > 3);
        for (size_t i = 0; i < 3 * n_bad; i++) {
            const test_bad_point *b = &bad[i / 3];
            if (b->check > POINT_CHECK_CURVE) {
                continue;
            }
            uint8_t good[192], *p = e.file.p + at + places[i % 3] * size;
            memcpy(good, p, size);
            memcpy(p, size == 192 ? b->g2 : b->g1, size);
            put_file(&e, e.file.n);
            expect_refusal(&e, b->found);
            memcpy(p, good, size);
        }
    }
    example_clear(&e);
}

static void coordinates_at_the_prime_are_refused_and_below_it_compared_with_the_curve(void **state)
{
    (void)state;
    example e = small_example(12);
    uint8_t below[48];
    fp minus_one;
    fp_neg(&minus_one, &fp_one);
    fp_to_be_bytes(below, &minus_one);
    for (cuzk_params_part part = CUZK_PARAMS_B_G1; part <= CUZK_PARAMS_B_G2; part++) {
        uint64_t n;
        size_t at = list_at(&e, part, &n), size = part == CUZK_PARAMS_B_G2 ? 192 : 96;
        for (size_t c = 0; c < size; c += 48) {
            uint8_t good[48], *p = e.file.p + at + size + c;
            memcpy(good, p, 48);
            memcpy(p, below, 48);
            put_file(&e, e.file.n);
            expect_refusal(&e, "[1]: expected a finite point of G");
            expect_refusal(&e, "a point that is not on the curve");
            p[47]++; /* p is odd: no carry */
            put_file(&e, e.file.n);
            expect_refusal(&e, "a coordinate that is not below p");
            memcpy(p, good, 48);
        }
    }
    example_clear(&e);
}

static void the_first_of_several_bad_points_is_reported(void **state)
{
    (void)state;
    example e = small_example(100);
    uint64_t n;
    size_t at = list_at(&e, CUZK_PARAMS_L, &n);
    e.file.p[at + 96 * 99] |= 0x80;
    e.file.p[at + 96 * 41 + 95] ^= 1;
    e.file.p[at + 96 * 40 + 95] ^= 1;
    e.file.p[at + 96 * 64] |= 0x20;
    put_file(&e, e.file.n);
    expect_refusal(&e, ": l[40]: expected a finite point of G1, found a point that is not on");
    at = list_at(&e, CUZK_PARAMS_H, &n);
    e.file.p[at + 96 * 126] |= 0x80; /* the last one: H comes before L */
    put_file(&e, e.file.n);
    expect_refusal(&e, ": h[126]: expected a finite point of G1, found a point with wrong flag");
    example_clear(&e);
}

/* ---- bad files ---- */

static void a_key_of_another_system_and_a_file_of_another_size_are_refused(void **state)
{
    (void)state;
    example e = small_example(20);
    cuzk_shape *other = small_shape(21), *mine = e.shape;
    e.shape = other;
    expect_refusal(&e, "length of l: expected 21, the aux variables of the constraint system");
    e.shape = mine;
    put_file(&e, e.file.n - 1);
    expect_refusal(&e, ": b_g2: expected ");
    put_file(&e, 1000);
    expect_refusal(&e, ": h: expected ");
    put_file(&e, 0);
    expect_refusal(&e, ": offset 0: alpha_g1: expected 96 bytes, found 0");
    cuzk_shape_free(other);
    example_clear(&e);
}

static cuzk_code read_scanned(const example *e, cuzk_params_layout *layout, unsigned pinned,
                              cuzk_err *err)
{
    cuzk_cuda_key_plan plan = plan_of(pinned, 3);
    cuzk_cuda_memory memory = roomy();
    cuzk_cuda_key *key = NULL;
    cuzk_code code = cuzk_cuda_key_read_scanned(&key, e->path, layout, &plan, &memory, NULL, err);
    cuzk_cuda_key_free(key);
    assert_int_equal(memory.used, 0);
    return code;
}

static void a_file_that_is_cut_after_its_lengths_were_read_is_refused(void **state)
{
    (void)state;
    example e = small_example(20);
    cuzk_params_layout layout;
    cuzk_err err;
    ok(cuzk_params_scan(&layout, e.path, POINT_CHECK_CURVE, &err), &err);
    for (size_t n = 0; n < e.file.n; n += 61) {
        put_file(&e, n);
        cuzk_params_list *list = layout.list;
        while (list + 1 < layout.list + CUZK_PARAMS_PARTS && list[1].offset - 4 <= n) {
            list++; /* where the file ends */
        }
        char want[64];
        snprintf(want, sizeof want, "%s: expected ", list->name);
        test_failed(read_scanned(&e, &layout, n % 2 ? ALL_PINNED : 0, &err), &err, CUZK_E_INPUT,
                    e.path, ": offset ", want, ": the file was cut", NULL);
        if (n >= list->offset) {
            snprintf(want, sizeof want, " bytes, found %" PRIu64 ":", n - list->offset);
            test_failed(CUZK_E_INPUT, &err, CUZK_E_INPUT, want, NULL);
        }
    }
    assert_non_null(layout.vk.ic); /* not taken by those that failed */
    cuzk_params_layout_clear(&layout);
    example_clear(&e);
}

static void a_file_that_was_replaced_after_its_lengths_were_read_is_refused(void **state)
{
    (void)state;
    example e = small_example(20), other = small_example(21);
    cuzk_params_layout layout;
    cuzk_err err;
    ok(cuzk_params_scan(&layout, e.path, POINT_CHECK_CURVE, &err), &err);
    assert_int_equal(rename(other.path, e.path), 0);
    test_failed(read_scanned(&e, &layout, 0, &err), &err, CUZK_E_INPUT,
                ": length of l: expected 20 as before, found 21: the file was changed", NULL);
    assert_int_equal(unlink(e.path), 0);
    test_failed(read_scanned(&e, &layout, 0, &err), &err, CUZK_E_IO, "cannot open", NULL);
    cuzk_params_layout_clear(&layout);
    example_clear(&other);
    example_clear(&e);
}

static void a_budget_that_is_too_small_leaves_nothing_behind(void **state)
{
    (void)state;
    example e = small_example(40);
    for (unsigned pinned = 0; pinned < 2; pinned++) {
        cuzk_cuda_key_plan plan = plan_of(pinned ? 2 : 0, 4);
        cuzk_cuda_memory memory = {0};
        cuzk_cuda_key *key = NULL;
        cuzk_err err;
        cuzk_code code;
        while ((code = cuzk_cuda_key_read(&key, e.path, e.shape, &plan, &memory, NULL, &err)) !=
               CUZK_OK) {
            test_failed(code, &err, CUZK_E_MEMORY, "bytes of device memory", NULL);
            assert_int_equal(memory.used, 0);
            assert_null(key);
            memory.budget += 256;
        }
        assert_int_equal(memory.peak, memory.budget);
        assert_true(memory.budget > cuzk_cuda_key_scratch_bytes(&plan));
        cuzk_cuda_key_free(key);
        assert_int_equal(memory.used, 0);
    }
    example_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_the_hosts_wherever_its_queries_stay_and_whatever_the_chunks),
        cmocka_unit_test(keys_of_the_smallest_systems_are_read),
        cmocka_unit_test(a_real_key_is_the_hosts),
        cmocka_unit_test(bad_points_in_each_list_are_refused_in_the_hosts_words),
        cmocka_unit_test(coordinates_at_the_prime_are_refused_and_below_it_compared_with_the_curve),
        cmocka_unit_test(the_first_of_several_bad_points_is_reported),
        cmocka_unit_test(a_key_of_another_system_and_a_file_of_another_size_are_refused),
        cmocka_unit_test(a_file_that_is_cut_after_its_lengths_were_read_is_refused),
        cmocka_unit_test(a_file_that_was_replaced_after_its_lengths_were_read_is_refused),
        cmocka_unit_test(a_budget_that_is_too_small_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
