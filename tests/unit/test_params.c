#include "support/files.h"

#include "groth16/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_INPUTS = 3,
    N_AUX = 5,
    N_H = 7, /* 4 rows and 3 inputs: a domain of 8 */
    N_A = 6, /* inputs 0, 1, 2, then variables 3, 5, 6 */
    N_B = 4, /* variables 0, 4, 5, 7 */
};

static const uint32_t a_var[N_A] = {0, 1, 2, 3, 5, 6};
static const uint32_t b_var[N_B] = {0, 4, 5, 7};

/* A system with those densities; `rows` rows, the first `n` of which are of use. */
static cuzk_r1cs *make_system(uint32_t n_inputs, uint32_t n_aux, const uint32_t (*terms)[2],
                              size_t n, size_t rows)
{
    cuzk_r1cs_builder *b;
    cuzk_r1cs *r;
    cuzk_err err;
    assert_int_equal(cuzk_r1cs_builder_new(&b, n_inputs, n_aux, &err), CUZK_OK);
    for (size_t i = 0; i < rows; i++) {
        if (i < n) {
            fr one = fr_one;
            assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_A, terms[i][0], &one, &err),
                             CUZK_OK);
            assert_int_equal(cuzk_r1cs_builder_term(b, CUZK_MATRIX_B, terms[i][1], &one, &err),
                             CUZK_OK);
        }
        assert_int_equal(cuzk_r1cs_builder_end_row(b, &err), CUZK_OK);
    }
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, &err), CUZK_OK);
    cuzk_r1cs_builder_free(b);
    return r;
}

static const uint32_t rows[4][2] = {{3, 0}, {5, 4}, {6, 5}, {1, 7}};

static cuzk_r1cs *system_of_key(void) { return make_system(N_INPUTS, N_AUX, rows, 4, 4); }

/* A key of random points, which is all that a file format needs. */
static cuzk_pk *make_key(void)
{
    test_rng rng = test_rng_new("make_key");
    cuzk_pk *pk = calloc(1, sizeof *pk);
    g1_affine p[3];
    g2_affine q[3];
    assert_non_null(pk);
    test_g1_points(&rng, p, 3);
    test_g2_points(&rng, q, 3);
    *pk = (cuzk_pk){.vk = {.alpha_g1 = p[0],
                           .beta_g1 = p[1],
                           .delta_g1 = p[2],
                           .beta_g2 = q[0],
                           .gamma_g2 = q[1],
                           .delta_g2 = q[2],
                           .n_ic = N_INPUTS,
                           .ic = calloc(N_INPUTS, sizeof *pk->vk.ic)},
                    .root = FR_ROOT_BELLMAN,
                    .h_basis = CUZK_H_POWERS,
                    .lg_domain = 3,
                    .n_inputs = N_INPUTS,
                    .n_aux = N_AUX,
                    .n_h = N_H,
                    .n_a = N_A,
                    .n_b = N_B,
                    .h = calloc(N_H, sizeof *pk->h),
                    .l = calloc(N_AUX, sizeof *pk->l),
                    .a = calloc(N_A, sizeof *pk->a),
                    .b_g1 = calloc(N_B, sizeof *pk->b_g1),
                    .b_g2 = calloc(N_B, sizeof *pk->b_g2),
                    .a_var = malloc(sizeof a_var),
                    .b_var = malloc(sizeof b_var)};
    assert_true(pk->vk.ic && pk->h && pk->l && pk->a && pk->b_g1 && pk->b_g2);
    assert_true(pk->a_var && pk->b_var);
    memcpy(pk->a_var, a_var, sizeof a_var);
    memcpy(pk->b_var, b_var, sizeof b_var);
    test_g1_points(&rng, pk->vk.ic, N_INPUTS);
    test_g1_points(&rng, pk->h, N_H);
    test_g1_points(&rng, pk->l, N_AUX);
    test_g1_points(&rng, pk->a, N_A);
    test_g1_points(&rng, pk->b_g1, N_B);
    test_g2_points(&rng, pk->b_g2, N_B);
    return pk;
}

enum {
    VK_BYTES = 868 + 96 * N_INPUTS,
    H_AT = VK_BYTES, /* of each list's length */
    L_AT = H_AT + 4 + 96 * N_H,
    A_AT = L_AT + 4 + 96 * N_AUX,
    B1_AT = A_AT + 4 + 96 * N_A,
    B2_AT = B1_AT + 4 + 96 * N_B,
    FILE_BYTES = B2_AT + 4 + 192 * N_B,
};

/* The bytes of the key's file. */
static test_file make_file(void)
{
    cuzk_pk *pk = make_key();
    const char *path = test_file_save("key.params", "", 0);
    cuzk_err err;
    assert_int_equal(cuzk_params_write(pk, path, &err), CUZK_OK);
    cuzk_pk_free(pk);
    test_file f = test_file_load(path);
    assert_int_equal(f.n, FILE_BYTES);
    return f;
}

static cuzk_code parse(const test_file *f, const cuzk_r1cs *r1cs, point_check check, cuzk_err *err)
{
    cuzk_pk *pk;
    cuzk_code code = cuzk_params_parse(&pk, test_file_span(f), "k.params", r1cs, check, NULL, err);
    if (code == CUZK_OK) {
        cuzk_pk_free(pk);
    }
    return code;
}

static void a_key_keeps_everything_through_a_file(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_pool *pool;
    cuzk_r1cs *r1cs = system_of_key();
    cuzk_pk *pk = make_key(), *again;
    assert_int_equal(cuzk_pool_new(&pool, 3, &err), CUZK_OK);
    const char *path = test_file_save("key.params", "", 0);
    const char *copy = test_file_save("copy.params", "", 0);
    assert_int_equal(cuzk_params_write(pk, path, &err), CUZK_OK);
    cuzk_code code = cuzk_params_read(&again, path, r1cs, POINT_CHECK_SUBGROUP, pool, &err);
    if (code != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(again->root, FR_ROOT_BELLMAN);
    assert_int_equal(again->h_basis, CUZK_H_POWERS);
    assert_int_equal(again->lg_domain, 3);
    assert_int_equal(again->n_inputs, N_INPUTS);
    assert_int_equal(again->n_aux, N_AUX);
    assert_int_equal(again->n_h, N_H);
    assert_int_equal(again->n_a, N_A);
    assert_int_equal(again->n_b, N_B);
    assert_memory_equal(again->a_var, a_var, sizeof a_var);
    assert_memory_equal(again->b_var, b_var, sizeof b_var);
    assert_memory_equal(again->h, pk->h, N_H * sizeof *pk->h);
    assert_memory_equal(again->l, pk->l, N_AUX * sizeof *pk->l);
    assert_memory_equal(again->a, pk->a, N_A * sizeof *pk->a);
    assert_memory_equal(again->b_g1, pk->b_g1, N_B * sizeof *pk->b_g1);
    assert_memory_equal(again->b_g2, pk->b_g2, N_B * sizeof *pk->b_g2);
    assert_int_equal(cuzk_params_write(again, copy, &err), CUZK_OK);
    test_files_equal(copy, path);
    cuzk_pk_free(again);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r1cs);
    cuzk_pool_free(pool);
}

static void the_lists_of_real_files_are_found_and_valid(void **state)
{
    (void)state;
    static const struct {
        const char *rel;
        point_check check;
        uint32_t n_ic, n[CUZK_PARAMS_PARTS];
        uint64_t bytes;
    } files[] = {
        {"snarkjs/chain1k/mul_d.params",
         POINT_CHECK_SUBGROUP,
         3,
         {1023, 1000, 1003, 1000, 1000},
         579672},
        {"reference/window-2KiB.params",
         POINT_CHECK_CURVE,
         23,
         {32767, 22128, 16793, 16029, 16029},
         11501496},
    };
    cuzk_err err;
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_new(&pool, 0, &err), CUZK_OK);
    size_t seen = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = test_vector(files[i].rel);
        if (!path) {
            print_message("skipped: vector %s is not here\n", files[i].rel);
            continue;
        }
        seen++;
        cuzk_params_layout layout;
        cuzk_code code = cuzk_params_scan(&layout, path, POINT_CHECK_SUBGROUP, &err);
        if (code != CUZK_OK) {
            fail_msg("%s", err.msg);
        }
        assert_int_equal(layout.vk.n_ic, files[i].n_ic);
        assert_int_equal(layout.file_bytes, files[i].bytes);
        uint64_t at = 868 + 96 * (uint64_t)files[i].n_ic;
        for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
            assert_int_equal(layout.list[part].n, files[i].n[part]);
            assert_int_equal(layout.list[part].offset, at + 4);
            at += 4 + (part == CUZK_PARAMS_B_G2 ? 192 : 96) * (uint64_t)files[i].n[part];
        }
        cuzk_params_layout_clear(&layout);
        code = cuzk_params_check(path, files[i].check, pool, NULL, &err);
        if (code != CUZK_OK) {
            fail_msg("%s", err.msg);
        }
    }
    cuzk_pool_free(pool);
    if (seen == 0) {
        skip();
    }
}

static void a_key_made_elsewhere_is_written_back_byte_for_byte(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "snarkjs/chain1k/mul_d.params");
    cuzk_r1cs *r1cs;
    cuzk_pk *pk;
    cuzk_err err;
    assert_int_equal(cuzk_r1cs_read(&r1cs, test_vector("snarkjs/chain1k/mulchain.r1cs"), &err),
                     CUZK_OK);
    cuzk_code code = cuzk_params_read(&pk, path, r1cs, POINT_CHECK_CURVE, NULL, &err);
    if (code != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(pk->lg_domain, 10);
    const char *copy = test_file_save("copy.params", "", 0);
    assert_int_equal(cuzk_params_write(pk, copy, &err), CUZK_OK);
    test_files_equal(copy, path);
    cuzk_pk_free(pk);
    cuzk_r1cs_free(r1cs);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    test_file f = make_file();
    cuzk_r1cs *r1cs = system_of_key();
    for (size_t n = 0; n < f.n; n++) {
        test_file cut = {f.p, n};
        cuzk_err err;
        test_failed(parse(&cut, r1cs, POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT,
                    "k.params: offset ", ": expected ", " bytes, found ", NULL);
        test_failed(cuzk_params_check_bytes(test_file_span(&cut), "k.params", POINT_CHECK_NONE,
                                            NULL, NULL, &err),
                    &err, CUZK_E_INPUT, "k.params: offset ", ": expected ", NULL);
    }
    f.p[f.n++] = 0;
    cuzk_err err;
    test_failed(parse(&f, r1cs, POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT,
                "expected the end of the parameters, found 1 more bytes", NULL);
    cuzk_r1cs_free(r1cs);
    free(f.p);
}

static void wrong_lengths_are_refused_without_a_constraint_system(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint32_t n;
        const char *want;
    } cases[] = {
        {864, 0, "offset 864: length of ic: expected at least 1, found 0"},
        {864, N_INPUTS - 1, "offset 1064: h: expected "}, /* bytes of a point as a length */
        {864, UINT32_MAX, "offset 868: ic: expected 412316860320 bytes, found "},
        {H_AT, 0, "offset 1164: l: expected "},
        {H_AT, N_H - 1, ": l: expected "},
        {H_AT, UINT32_MAX, "offset 1160: h: expected 412316860320 bytes, found "},
        {L_AT, UINT32_MAX, ": l: expected 412316860320 bytes, found "},
        {A_AT, UINT32_MAX, ": a: expected 412316860320 bytes, found "},
        {B1_AT, UINT32_MAX, ": b_g1: expected 412316860320 bytes, found "},
        {B2_AT, UINT32_MAX, ": b_g2: expected 824633720640 bytes, found "},
        {B2_AT, 0, ": expected the end of the parameters, found 768 more bytes"},
        {B2_AT, N_B - 1, ": expected the end of the parameters, found 192 more bytes"},
        {B2_AT, N_B + 1, ": b_g2: expected 960 bytes, found 768"},
    };
    test_file f = make_file();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t before = cuzk_load_u32be(f.p + cases[i].at);
        cuzk_store_u32be(f.p + cases[i].at, cases[i].n);
        cuzk_params_layout layout;
        cuzk_err err;
        test_failed(
            cuzk_params_scan_bytes(&layout, test_file_span(&f), "k.params", POINT_CHECK_NONE, &err),
            &err, CUZK_E_INPUT, "k.params: ", cases[i].want, NULL);
        cuzk_store_u32be(f.p + cases[i].at, before);
    }
    free(f.p);
}

/* A file with lists of those lengths, all of them the generator. */
static test_file file_of(uint32_t n_ic, const uint32_t n[CUZK_PARAMS_PARTS])
{
    size_t size = 868 + 96 * (size_t)n_ic;
    for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
        size += 4 + (part == CUZK_PARAMS_B_G2 ? 192 : 96) * (size_t)n[part];
    }
    test_file f = {malloc(size), 0};
    assert_non_null(f.p);
    static const bool head_is_g2[] = {false, false, true, true, false, true};
    for (size_t i = 0; i < 6; i++) {
        if (head_is_g2[i]) {
            g2_encode(f.p + f.n, &g2_generator);
        } else {
            g1_encode(f.p + f.n, &g1_generator);
        }
        f.n += head_is_g2[i] ? 192 : 96;
    }
    for (int part = -1; part < CUZK_PARAMS_PARTS; part++) {
        uint32_t count = part < 0 ? n_ic : n[part];
        cuzk_store_u32be(f.p + f.n, count);
        f.n += 4;
        for (uint32_t i = 0; i < count; i++) {
            if (part == CUZK_PARAMS_B_G2) {
                g2_encode(f.p + f.n, &g2_generator);
            } else {
                g1_encode(f.p + f.n, &g1_generator);
            }
            f.n += part == CUZK_PARAMS_B_G2 ? 192 : 96;
        }
    }
    assert_int_equal(f.n, size);
    return f;
}

static void lengths_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_ic, n[CUZK_PARAMS_PARTS];
        const char *want; /* NULL: valid */
    } cases[] = {
        {3, {7, 5, 6, 4, 4}, NULL},
        {1, {0, 0, 1, 0, 0}, NULL},
        {3, {1, 5, 8, 8, 8}, NULL},
        {3, {6, 5, 6, 4, 4}, "length of h: expected one less than a power of two, found 6"},
        {3, {8, 5, 6, 4, 4}, "length of h: expected one less than a power of two, found 8"},
        {3, {7, 5, 2, 4, 4}, "length of a: expected at least 3, the inputs, found 2"},
        {3, {7, 5, 9, 4, 4}, "length of a: expected at most 8, the variables, found 9"},
        {3, {7, 5, 6, 9, 9}, "length of b_g1: expected at most 8, the variables, found 9"},
        {3, {7, 5, 6, 4, 5}, "length of b_g2: expected 4, the length of b_g1, found 5"},
        {3, {7, 5, 6, 4, 0}, "length of b_g2: expected 4, the length of b_g1, found 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_file f = file_of(cases[i].n_ic, cases[i].n);
        cuzk_params_layout layout;
        cuzk_err err;
        cuzk_code code =
            cuzk_params_scan_bytes(&layout, test_file_span(&f), "k.params", POINT_CHECK_NONE, &err);
        if (cases[i].want) {
            test_failed(code, &err, CUZK_E_INPUT, "k.params: offset ", cases[i].want, NULL);
        } else {
            assert_int_equal(code, CUZK_OK);
            cuzk_params_layout_clear(&layout);
        }
        free(f.p);
    }
}

static void a_key_of_another_system_is_refused(void **state)
{
    (void)state;
    static const uint32_t less_a[4][2] = {{3, 0}, {5, 4}, {5, 5}, {1, 7}};
    static const uint32_t less_b[4][2] = {{3, 0}, {5, 4}, {6, 5}, {1, 5}};
    static const struct {
        uint32_t n_inputs, n_aux;
        const uint32_t (*terms)[2];
        size_t rows;
        const char *want;
    } cases[] = {
        {4, 4, rows, 4,
         "offset 864: length of ic: expected 4, the inputs of the constraint system, found 3"},
        {3, 6, rows, 4,
         "length of l: expected 6, the aux variables of the constraint system, "
         "found 5"},
        {3, 5, rows, 6,
         "length of h: expected 15, one less than the constraint system's domain, "
         "found 7"},
        {3, 5, less_a, 4,
         "length of a: expected 5, the variables in A of the constraint system, "
         "found 6"},
        {3, 5, less_b, 4,
         "length of b_g1: expected 3, the variables in B of the constraint "
         "system, found 4"},
    };
    test_file f = make_file();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_r1cs *r1cs =
            make_system(cases[i].n_inputs, cases[i].n_aux, cases[i].terms, 4, cases[i].rows);
        cuzk_err err;
        test_failed(parse(&f, r1cs, POINT_CHECK_NONE, &err), &err, CUZK_E_INPUT,
                    "k.params: ", cases[i].want, NULL);
        cuzk_r1cs_free(r1cs);
    }
    free(f.p);
}

static void bad_points_are_named_with_list_and_index(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t offset;
        bool is_g2;
    } points[] = {
        {"alpha_g1", 0, false},
        {"delta_g2", 672, true},
        {"ic[2]", 868 + 192, false},
        {"h[0]", H_AT + 4, false},
        {"h[6]", H_AT + 4 + 96 * 6, false},
        {"l[0]", L_AT + 4, false},
        {"l[4]", L_AT + 4 + 96 * 4, false},
        {"a[0]", A_AT + 4, false},
        {"a[5]", A_AT + 4 + 96 * 5, false},
        {"b_g1[3]", B1_AT + 4 + 96 * 3, false},
        {"b_g2[0]", B2_AT + 4, true},
        {"b_g2[3]", B2_AT + 4 + 192 * 3, true},
    };
    size_t n_bad;
    const test_bad_point *bad = test_bad_points(&n_bad);
    test_file good = make_file();
    cuzk_r1cs *r1cs = system_of_key();
    test_file f = {malloc(good.n), good.n};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        for (size_t j = 0; j < n_bad; j++) {
            memcpy(f.p, good.p, f.n);
            memcpy(f.p + points[i].offset, points[i].is_g2 ? bad[j].g2 : bad[j].g1,
                   points[i].is_g2 ? 192 : 96);
            char want[128];
            snprintf(want, sizeof want,
                     "k.params: offset %zu: %s: expected a finite point of %s, found ",
                     points[i].offset, points[i].name, points[i].is_g2 ? "G2" : "G1");
            cuzk_err err;
            test_failed(parse(&f, r1cs, bad[j].check, &err), &err, CUZK_E_INPUT, want, bad[j].found,
                        NULL);
            test_failed(cuzk_params_check_bytes(test_file_span(&f), "k.params", bad[j].check, NULL,
                                                NULL, &err),
                        &err, CUZK_E_INPUT, want, bad[j].found, NULL);
            if (bad[j].check > POINT_CHECK_NONE) {
                assert_int_equal(parse(&f, r1cs, bad[j].check - 1, &err), CUZK_OK);
            }
        }
    }
    cuzk_r1cs_free(r1cs);
    free(f.p);
    free(good.p);
}

static void the_first_bad_point_is_reported_whatever_the_threads(void **state)
{
    (void)state;
    static const uint32_t n[CUZK_PARAMS_PARTS] = {8191, 4, 1, 0, 0};
    test_file f = file_of(1, n);
    size_t h = 868 + 96 + 4;
    cuzk_err err;
    cuzk_pool *pool;
    assert_int_equal(cuzk_pool_new(&pool, 4, &err), CUZK_OK);
    f.p[h + 96 * 8190] |= 0x80;
    f.p[h + 96 * 5000] |= 0x80;
    f.p[h + 96 * 1531] |= 0x80;
    for (int k = 0; k < 20; k++) {
        test_failed(cuzk_params_check_bytes(test_file_span(&f), "k.params", POINT_CHECK_NONE, pool,
                                            NULL, &err),
                    &err, CUZK_E_INPUT, ": h[1531]: ", "wrong flag bits", NULL);
    }
    cuzk_pool_free(pool);
    free(f.p);
}

typedef struct calls {
    unsigned n;
    char phases[64];
} calls;

static void count_call(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    calls *c = ctx;
    c->n++;
    assert_true(done > 0 && done <= total);
    if (done == total) {
        strcat(c->phases, phase);
        strcat(c->phases, " ");
    }
}

static void progress_goes_through_every_list(void **state)
{
    (void)state;
    test_file f = make_file();
    calls c = {0};
    cuzk_progress progress = {count_call, &c};
    cuzk_err err;
    assert_int_equal(cuzk_params_check_bytes(test_file_span(&f), "k.params", POINT_CHECK_CURVE,
                                             NULL, &progress, &err),
                     CUZK_OK);
    assert_string_equal(c.phases, "h l a b_g1 b_g2 ");
    free(f.p);
}

static void keys_that_the_format_cannot_hold_are_not_written(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_pk *pk = make_key();
    char path[512];
    snprintf(path, sizeof path, "%s/unwritten.params", test_tmpdir());
    pk->root = FR_ROOT_SNARKJS;
    test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, "snarkjs", NULL);
    pk->root = FR_ROOT_BELLMAN;
    pk->h_basis = CUZK_H_ODD_LAGRANGE;
    test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, "snarkjs", NULL);
    pk->h_basis = CUZK_H_POWERS;
    pk->n_h = 6;
    test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, "6 points", NULL);
    pk->n_h = 7;
    pk->a_var[2] = 3;
    test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, "input 2", NULL);
    pk->a_var[2] = 2;
    memset(&pk->l[4], 0, sizeof pk->l[4]);
    test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, "aux variable 4", NULL);
    pk->l[4] = g1_generator;
    pk->vk.ic[1] = (g1_affine){fp_zero, fp_zero};
    test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, "ic", "infinity", NULL);
    pk->vk.ic[1] = g1_generator;
    g1_affine *const in_g1[] = {&pk->vk.alpha_g1, &pk->vk.beta_g1, &pk->vk.delta_g1};
    static const char *const g1_names[] = {"alpha_g1", "beta_g1", "delta_g1"};
    g2_affine *const in_g2[] = {&pk->vk.beta_g2, &pk->vk.gamma_g2, &pk->vk.delta_g2};
    static const char *const g2_names[] = {"beta_g2", "gamma_g2", "delta_g2"};
    for (int i = 0; i < 3; i++) {
        *in_g1[i] = (g1_affine){fp_zero, fp_zero};
        test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, g1_names[i], "infinity",
                    NULL);
        *in_g1[i] = g1_generator;
        *in_g2[i] = (g2_affine){fp2_zero, fp2_zero};
        test_failed(cuzk_params_write(pk, path, &err), &err, CUZK_E_ARG, g2_names[i], "infinity",
                    NULL);
        *in_g2[i] = g2_generator;
    }
    cuzk_params_layout layout;
    test_failed(cuzk_params_scan(&layout, path, POINT_CHECK_NONE, &err), &err, CUZK_E_IO,
                "unwritten.params: cannot open", NULL);
    assert_int_equal(cuzk_params_write(pk, path, &err), CUZK_OK);
    cuzk_pk_free(pk);
}

static void files_that_are_no_parameters_are_refused(void **state)
{
    (void)state;
    cuzk_r1cs *r1cs = system_of_key();
    cuzk_pk *pk;
    cuzk_params_layout layout;
    cuzk_err err;
    test_failed(cuzk_params_read(&pk, "/nowhere/k.params", r1cs, POINT_CHECK_NONE, NULL, &err),
                &err, CUZK_E_IO, "/nowhere/k.params: cannot open", NULL);
    test_failed(cuzk_params_check(test_tmpdir(), POINT_CHECK_NONE, NULL, NULL, &err), &err,
                CUZK_E_INPUT, "expected a regular file", NULL);
    test_failed(
        cuzk_params_read(&pk, test_file_save("empty", "", 0), r1cs, POINT_CHECK_NONE, NULL, &err),
        &err, CUZK_E_INPUT, "/empty: offset 0: alpha_g1: expected 96 bytes, found 0", NULL);
    test_failed(
        cuzk_params_scan(&layout, test_vector("reference/window-2KiB.vk"), POINT_CHECK_NONE, &err),
        &err, CUZK_E_INPUT, ".vk: offset 3076: length of h: expected 4 bytes, found 0", NULL);
    test_failed(cuzk_params_scan(&layout, test_vector("snarkjs/chain1k/mulchain.r1cs"),
                                 POINT_CHECK_NONE, &err),
                &err, CUZK_E_INPUT, ".r1cs: offset 0: alpha_g1: expected a finite point", NULL);
    cuzk_r1cs_free(r1cs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_keeps_everything_through_a_file),
        cmocka_unit_test(the_lists_of_real_files_are_found_and_valid),
        cmocka_unit_test(a_key_made_elsewhere_is_written_back_byte_for_byte),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(wrong_lengths_are_refused_without_a_constraint_system),
        cmocka_unit_test(lengths_that_contradict_each_other_are_refused),
        cmocka_unit_test(a_key_of_another_system_is_refused),
        cmocka_unit_test(bad_points_are_named_with_list_and_index),
        cmocka_unit_test(the_first_bad_point_is_reported_whatever_the_threads),
        cmocka_unit_test(progress_goes_through_every_list),
        cmocka_unit_test(keys_that_the_format_cannot_hold_are_not_written),
        cmocka_unit_test(files_that_are_no_parameters_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
