#include "support/files.h"
#include "support/support.h"

#include "groth16/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Real keys, proofs and inputs, and every way to spoil them. */

#define FILECOIN "verify/filecoin-v27-32GiB/"
#define POLKA    "verify/polka-storage-2KiB/"

/* A key with k proofs for k groups of n inputs. Owns all. */
typedef struct set {
    cuzk_vk vk;
    cuzk_verifier *verifier;
    cuzk_proof *proofs;
    fr_repr *inputs;
    size_t k, n;
} set;

static void assert_ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s: %s", cuzk_code_name(code), err->msg);
    }
}

static set load(const char *vk, const char *proof, const char *inputs)
{
    set s = {0};
    cuzk_err err;
    size_t n_all;
    assert_ok(cuzk_vk_read(&s.vk, vk, POINT_CHECK_SUBGROUP, &err), &err);
    assert_ok(cuzk_proofs_read(&s.proofs, &s.k, proof, &err), &err);
    assert_ok(cuzk_inputs_read(&s.inputs, &n_all, inputs, &err), &err);
    assert_int_equal(n_all % s.k, 0);
    s.n = n_all / s.k;
    assert_ok(cuzk_verifier_new(&s.verifier, &s.vk, &err), &err);
    return s;
}

static void clear(set *s)
{
    cuzk_vk_clear(&s->vk);
    cuzk_verifier_free(s->verifier);
    free(s->proofs);
    free(s->inputs);
}

#define LOAD_OR_SKIP(var, stem)                                                                    \
    TEST_VECTOR_OR_SKIP(var##_vk, stem ".vk")                                                      \
    TEST_VECTOR_OR_SKIP(var##_proof, stem ".proof")                                                \
    TEST_VECTOR_OR_SKIP(var##_inputs, stem ".inputs")                                              \
    set var = load(var##_vk, var##_proof, var##_inputs);

/* Whether proof i of the set, changed or not, is valid for its inputs. */
static cuzk_code verify(const set *s, size_t i, cuzk_err *err)
{
    return cuzk_verify(s->verifier, &s->proofs[i], s->inputs + i * s->n, s->n, NULL, err);
}

static cuzk_code verify_all(const set *s, cuzk_pool *pool, cuzk_err *err)
{
    return cuzk_verify_batch(s->verifier, s->proofs, s->inputs, s->n, s->k, pool, err);
}

/* Expects k valid proofs with n inputs each; frees the set. */
static void all_are_valid(set *s, size_t k, size_t n)
{
    cuzk_err err;
    assert_int_equal(s->k, k);
    assert_int_equal(s->n, n);
    for (size_t i = 0; i < k; i++) {
        assert_ok(verify(s, i, &err), &err);
    }
    assert_ok(verify_all(s, NULL, &err), &err);
    clear(s);
}

static void ten_seal_proofs_of_32_gib_are_valid(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, FILECOIN "seal32")
    all_are_valid(&s, 10, 327);
}

static void a_winning_post_of_32_gib_is_valid(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, FILECOIN "winning32")
    all_are_valid(&s, 1, 132);
}

static void a_window_post_of_32_gib_is_valid_and_no_other_input_is(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, FILECOIN "window32")
    cuzk_err err;
    s.inputs[25838].l[2] ^= 1;
    test_failed(verify(&s, 0, &err), &err, CUZK_E_INVALID, NULL);
    s.inputs[25838].l[2] ^= 1;
    all_are_valid(&s, 1, 25839);
}

static void a_seal_proof_of_2_kib_is_valid(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "porep")
    all_are_valid(&s, 1, 39);
}

static void a_window_post_of_2_kib_is_valid(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "windowpost")
    all_are_valid(&s, 1, 22);
}

static void a_proof_is_valid_for_its_own_inputs_and_key_alone(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, FILECOIN "seal32")
    LOAD_OR_SKIP(other, FILECOIN "winning32")
    cuzk_err err;
    for (size_t i = 0; i < s.k; i++) {
        cuzk_code code =
            cuzk_verify(s.verifier, &s.proofs[i], s.inputs + (i + 1) % s.k * s.n, s.n, NULL, &err);
        test_failed(code, &err, CUZK_E_INVALID, "not valid", NULL);
    }
    cuzk_code code = cuzk_verify(s.verifier, &other.proofs[0], s.inputs, s.n, NULL, &err);
    test_failed(code, &err, CUZK_E_INVALID, "not valid", NULL);
    clear(&s);
    clear(&other);
}

/* Counts of outcomes: a test that never sees one of them tests less than it says. */
typedef struct outcomes {
    unsigned flags, canonical, curve, subgroup, invalid;
} outcomes;

static void count(outcomes *o, cuzk_code code, const cuzk_err *err)
{
    if (code == CUZK_E_INVALID) {
        o->invalid++;
        return;
    }
    test_failed(code, err, CUZK_E_INPUT, "offset", NULL);
    unsigned *reason = strstr(err->msg, point_status_text(POINT_NOT_CANONICAL))     ? &o->canonical
                       : strstr(err->msg, point_status_text(POINT_NOT_ON_CURVE))    ? &o->curve
                       : strstr(err->msg, point_status_text(POINT_NOT_IN_SUBGROUP)) ? &o->subgroup
                       : strstr(err->msg, point_status_text(POINT_BAD_FLAGS))       ? &o->flags
                                                                                    : NULL;
    if (!reason) {
        fail_msg("no reason in \"%s\"", err->msg);
    } else {
        ++*reason;
    }
}

static void flip(uint8_t *bytes, size_t bit) { bytes[bit / 8] ^= (uint8_t)(1 << bit % 8); }

/* Flips each `stride`-th bit of proof 0. */
static void flip_proof_bits(set *s, size_t stride, outcomes *o)
{
    uint8_t bytes[CUZK_PROOF_BYTES];
    cuzk_proof good = s->proofs[0];
    cuzk_proof_encode(bytes, &good);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit += stride) {
        cuzk_err err;
        flip(bytes, bit);
        cuzk_code code = cuzk_proof_decode(&s->proofs[0], bytes, "flipped", 0, &err);
        if (code == CUZK_OK) {
            code = verify(s, 0, &err);
        }
        count(o, code, &err);
        flip(bytes, bit);
    }
    s->proofs[0] = good;
}

static void a_proof_with_any_one_bit_flipped_is_refused(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "porep")
    outcomes o = {0};
    flip_proof_bits(&s, 1, &o);
    assert_int_equal(o.flags + o.canonical + o.curve + o.subgroup + o.invalid, 8 * 192);
    assert_int_equal(o.invalid, 3); /* the bits that say which root y is */
    assert_true(o.flags >= 6 && o.canonical > 0 && o.curve > 600 && o.subgroup > 600);
    clear(&s);
}

static void other_proofs_with_a_bit_flipped_are_refused(void **state)
{
    (void)state;
    LOAD_OR_SKIP(window2, POLKA "windowpost")
    LOAD_OR_SKIP(winning, FILECOIN "winning32")
    LOAD_OR_SKIP(seal, FILECOIN "seal32")
    set *sets[] = {&window2, &winning, &seal};
    for (size_t i = 0; i < 3; i++) {
        outcomes o = {0};
        flip_proof_bits(sets[i], 29, &o);
        assert_int_equal(o.flags + o.canonical + o.curve + o.subgroup + o.invalid, 53);
        clear(sets[i]);
    }
}

static void an_input_with_a_bit_flipped_is_refused(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "porep")
    test_file file = test_file_load(s_inputs);
    unsigned too_large = 0, invalid = 0;
    for (size_t i = 0; i < s.n; i++) {
        for (size_t j = 0; j < 5; j++) { /* a bit of each limb, and the top one */
            cuzk_err err;
            fr_repr *changed;
            size_t n;
            size_t bit = 256 * i + (j < 4 ? 64 * j + i : 255);
            flip(file.p, bit);
            cuzk_code code =
                cuzk_inputs_parse(&changed, &n, test_file_span(&file), "flipped", &err);
            if (code == CUZK_OK) {
                code = cuzk_verify(s.verifier, &s.proofs[0], changed, n, NULL, &err);
                test_failed(code, &err, CUZK_E_INVALID, "not valid", NULL);
                free(changed);
                invalid++;
            } else {
                char field[32];
                snprintf(field, sizeof field, "input %zu", i);
                test_failed(code, &err, CUZK_E_INPUT, "flipped", field, "below r", NULL);
                too_large++;
            }
            flip(file.p, bit);
        }
    }
    assert_true(too_large >= s.n && invalid >= 4 * s.n - s.n / 2);
    free(file.p);
    clear(&s);
}

/* What verifying says with a key from bytes. */
static cuzk_code verify_with_key(const set *s, const test_file *key, point_check check,
                                 cuzk_err *err)
{
    cuzk_vk vk;
    cuzk_verifier *v;
    cuzk_cursor c = cuzk_cursor_of(test_file_span(key), "flipped");
    CUZK_TRY(cuzk_vk_parse(&c, &vk, check, err));
    cuzk_code code = cuzk_cursor_end(&c, "the verifying key", err);
    if (code == CUZK_OK) {
        code = cuzk_verifier_new(&v, &vk, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_verify(v, &s->proofs[0], s->inputs, s->n, NULL, err);
        cuzk_verifier_free(v);
    }
    cuzk_vk_clear(&vk);
    return code;
}

/* Two bits of each coordinate of each point, the flag bits of each point, the length. */
static void a_key_with_a_bit_flipped_does_not_decode(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "porep")
    test_file key = test_file_load(s_vk);
    outcomes o = {0};
    cuzk_err err;
    assert_ok(verify_with_key(&s, &key, POINT_CHECK_SUBGROUP, &err), &err);
    for (size_t at = 0; at < key.n; at += 48) {
        if (at == 864) {
            at += 4; /* the length stands before ic */
        }
        const size_t bits[] = {5, 6, 7, 8 * 47 + at % 8, 8 * (at % 37 + 5)};
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
            flip(key.p + at, bits[i]);
            count(&o, verify_with_key(&s, &key, POINT_CHECK_SUBGROUP, &err), &err);
            flip(key.p + at, bits[i]);
        }
    }
    assert_true(o.flags > 0 && o.canonical > 0 && o.curve > 0);
    assert_int_equal(o.invalid, 0);
    for (size_t bit = 0; bit < 32; bit++) {
        flip(key.p + 864, bit);
        test_failed(verify_with_key(&s, &key, POINT_CHECK_SUBGROUP, &err), &err, CUZK_E_INPUT,
                    "flipped", NULL);
        flip(key.p + 864, bit);
    }
    free(key.p);
    clear(&s);
}

/* Read without a look at curve and subgroup, such a key must still accept nothing. */
static void a_key_with_a_bit_flipped_that_is_not_checked_accepts_nothing(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "porep")
    test_file key = test_file_load(s_vk);
    cuzk_err err;
    static const size_t used[] = {0, 192, 384, 672}; /* alpha_g1, beta_g2, gamma_g2, delta_g2 */
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        for (size_t coordinate = 0; coordinate < (used[i] ? 4 : 2); coordinate++) {
            size_t byte = used[i] + 48 * coordinate + 47;
            flip(key.p + byte, i);
            test_failed(verify_with_key(&s, &key, POINT_CHECK_NONE, &err), &err, CUZK_E_INVALID,
                        NULL);
            flip(key.p + byte, i);
        }
    }
    for (size_t i = 0; i <= s.n; i++) {
        if (i > 0 && (s.inputs[i - 1].l[0] | s.inputs[i - 1].l[1]) == 0) {
            continue; /* a zero input does not use its point */
        }
        size_t byte = CUZK_VK_HEAD_BYTES + 96 * i + 40 + i % 8;
        flip(key.p + byte, i % 7);
        test_failed(verify_with_key(&s, &key, POINT_CHECK_NONE, &err), &err, CUZK_E_INVALID, NULL);
        flip(key.p + byte, i % 7);
    }
    free(key.p);
    clear(&s);
}

static void a_key_with_another_point_of_the_subgroup_accepts_nothing(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "windowpost")
    g1_affine *const of_g1[] = {&s.vk.alpha_g1, &s.vk.ic[0], &s.vk.ic[1]};
    g2_affine *const of_g2[] = {&s.vk.beta_g2, &s.vk.gamma_g2, &s.vk.delta_g2};
    cuzk_err err;
    for (size_t i = 0; i < 6; i++) {
        fp *y1 = i < 3 ? &of_g1[i]->y : NULL;
        fp2 *y2 = i < 3 ? NULL : &of_g2[i - 3]->y;
        cuzk_verifier *v;
        y1 ? fp_neg(y1, y1) : fp2_neg(y2, y2);
        assert_ok(cuzk_verifier_new(&v, &s.vk, &err), &err);
        test_failed(cuzk_verify(v, &s.proofs[0], s.inputs, s.n, NULL, &err), &err, CUZK_E_INVALID,
                    NULL);
        cuzk_verifier_free(v);
        y1 ? fp_neg(y1, y1) : fp2_neg(y2, y2);
    }
    clear(&s);
}

static void a_key_with_infinity_is_refused_with_the_points_name(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "windowpost")
    static const char *const names[] = {"alpha_g1", "beta_g2", "gamma_g2", "delta_g2"};
    for (size_t i = 0; i < 4; i++) {
        cuzk_vk vk = s.vk;
        cuzk_verifier *v = NULL;
        cuzk_err err;
        g2_affine *const of_g2[] = {NULL, &vk.beta_g2, &vk.gamma_g2, &vk.delta_g2};
        if (i == 0) {
            vk.alpha_g1 = (g1_affine){0};
        } else {
            *of_g2[i] = (g2_affine){0};
        }
        test_failed(cuzk_verifier_new(&v, &vk, &err), &err, CUZK_E_INPUT, names[i], "infinity",
                    NULL);
        assert_null(v);
    }
    cuzk_vk empty = s.vk;
    cuzk_verifier *v;
    cuzk_err err;
    empty.n_ic = 0;
    test_failed(cuzk_verifier_new(&v, &empty, &err), &err, CUZK_E_INPUT, "ic", NULL);
    cuzk_verifier_free(NULL);
    clear(&s);
}

static void a_proof_with_infinity_is_not_valid(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, POLKA "windowpost")
    cuzk_err err;
    cuzk_proof good = s.proofs[0];
    s.proofs[0].a = (g1_affine){0};
    test_failed(verify(&s, 0, &err), &err, CUZK_E_INVALID, "A is", NULL);
    s.proofs[0] = good;
    s.proofs[0].b = (g2_affine){0};
    test_failed(verify(&s, 0, &err), &err, CUZK_E_INVALID, "B is", NULL);
    s.proofs[0] = good;
    s.proofs[0].c = (g1_affine){0};
    test_failed(verify_all(&s, NULL, &err), &err, CUZK_E_INVALID, "C is", NULL);
    clear(&s);
}

static void inputs_that_are_too_many_too_few_or_not_below_r_are_named(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, FILECOIN "seal32")
    cuzk_err err;
    cuzk_code code = cuzk_verify(s.verifier, s.proofs, s.inputs, s.n - 1, NULL, &err);
    test_failed(code, &err, CUZK_E_INPUT, "expected 327", "found 326", NULL);
    code = cuzk_verify_batch(s.verifier, s.proofs, s.inputs, s.n + 1, 2, NULL, &err);
    test_failed(code, &err, CUZK_E_INPUT, "expected 327", "found 328", NULL);
    fr_repr *x = &s.inputs[3 * s.n + 17], good = *x;
    uint64_t carry = 0; /* x + r stands for the same field element */
    for (int i = 0; i < FR_LIMBS; i++) {
        mont_u128 sum = (mont_u128)x->l[i] + fr_modulus.l[i] + carry;
        x->l[i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    test_failed(verify(&s, 3, &err), &err, CUZK_E_INPUT, "input 17", "below r", NULL);
    test_failed(verify_all(&s, NULL, &err), &err, CUZK_E_INPUT, "input 17 of proof 3", NULL);
    memcpy(x->l, fr_modulus.l, sizeof x->l);
    test_failed(verify(&s, 3, &err), &err, CUZK_E_INPUT, "input 17", NULL);
    *x = good;
    x = &s.inputs[s.k * s.n - 1];
    good = *x;
    memcpy(x->l, fr_modulus.l, sizeof x->l);
    test_failed(verify(&s, 9, &err), &err, CUZK_E_INPUT, "input 326", NULL);
    test_failed(verify_all(&s, NULL, &err), &err, CUZK_E_INPUT, "input 326 of proof 9", NULL);
    *x = good;
    assert_ok(verify(&s, 3, &err), &err);
    clear(&s);
}

static void a_batch_with_one_proof_replaced_by_another_valid_one_is_refused(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, FILECOIN "seal32")
    cuzk_err err;
    cuzk_pool *pool;
    assert_ok(cuzk_pool_new(&pool, 3, &err), &err);
    assert_ok(verify_all(&s, pool, &err), &err);
    for (size_t i = 0; i < s.k; i++) {
        cuzk_proof good = s.proofs[i];
        s.proofs[i] = s.proofs[(i + 3) % s.k];
        test_failed(verify_all(&s, i % 2 ? pool : NULL, &err), &err, CUZK_E_INVALID,
                    "one or more of 10", NULL);
        s.proofs[i] = good;
    }
    s.inputs[4 * s.n + 5].l[0] ^= 1;
    test_failed(verify_all(&s, pool, &err), &err, CUZK_E_INVALID, NULL);
    s.inputs[4 * s.n + 5].l[0] ^= 1;
    for (size_t k = 0; k <= 2; k++) {
        assert_ok(cuzk_verify_batch(s.verifier, s.proofs, s.inputs, s.n, k, pool, &err), &err);
    }
    cuzk_pool_free(pool);
    clear(&s);
}

/* Wrong proofs whose errors cancel in a plain sum: C_0 + D, C_1 - D, and likewise exchanged C. */
static void errors_that_cancel_do_not_pass_a_batch(void **state)
{
    (void)state;
    LOAD_OR_SKIP(s, FILECOIN "seal32")
    cuzk_err err;
    g1 c0, c1, d;
    g1_from_affine(&d, &g1_generator);
    g1_from_affine(&c0, &s.proofs[0].c);
    g1_from_affine(&c1, &s.proofs[1].c);
    g1_add(&c0, &c0, &d);
    g1_neg(&d, &d);
    g1_add(&c1, &c1, &d);
    cuzk_proof good[2] = {s.proofs[0], s.proofs[1]};
    g1_to_affine(&s.proofs[0].c, &c0);
    g1_to_affine(&s.proofs[1].c, &c1);
    test_failed(verify_all(&s, NULL, &err), &err, CUZK_E_INVALID, NULL);
    s.proofs[0] = good[0];
    s.proofs[1] = good[1];
    s.proofs[0].c = good[1].c;
    s.proofs[1].c = good[0].c;
    test_failed(verify_all(&s, NULL, &err), &err, CUZK_E_INVALID, NULL);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_seal_proofs_of_32_gib_are_valid),
        cmocka_unit_test(a_winning_post_of_32_gib_is_valid),
        cmocka_unit_test(a_window_post_of_32_gib_is_valid_and_no_other_input_is),
        cmocka_unit_test(a_seal_proof_of_2_kib_is_valid),
        cmocka_unit_test(a_window_post_of_2_kib_is_valid),
        cmocka_unit_test(a_proof_is_valid_for_its_own_inputs_and_key_alone),
        cmocka_unit_test(a_proof_with_any_one_bit_flipped_is_refused),
        cmocka_unit_test(other_proofs_with_a_bit_flipped_are_refused),
        cmocka_unit_test(an_input_with_a_bit_flipped_is_refused),
        cmocka_unit_test(a_key_with_a_bit_flipped_does_not_decode),
        cmocka_unit_test(a_key_with_a_bit_flipped_that_is_not_checked_accepts_nothing),
        cmocka_unit_test(a_key_with_another_point_of_the_subgroup_accepts_nothing),
        cmocka_unit_test(a_key_with_infinity_is_refused_with_the_points_name),
        cmocka_unit_test(a_proof_with_infinity_is_not_valid),
        cmocka_unit_test(inputs_that_are_too_many_too_few_or_not_below_r_are_named),
        cmocka_unit_test(a_batch_with_one_proof_replaced_by_another_valid_one_is_refused),
        cmocka_unit_test(errors_that_cancel_do_not_pass_a_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
