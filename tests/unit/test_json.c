#include "support/files.h"

#include "groth16/formats/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char vk_file[] = "snarkjs/chain1k/mul_vk.json";
static const char proof_file[] = "snarkjs/chain1k/mul_proof.json";
static const char public_file[] = "snarkjs/chain1k/mul_public.json";

/* A copy of f in which the first `from` is `to`. */
static test_file replaced(const test_file *f, const char *from, const char *to)
{
    test_file r = {malloc(f->n + strlen(to) + 1), 0};
    uint8_t *at = memmem(f->p, f->n, from, strlen(from));
    assert_non_null(r.p);
    if (!at) {
        fail_msg("no \"%s\" to replace", from);
    }
    size_t before = (size_t)(at - f->p), after = f->n - before - strlen(from);
    memcpy(r.p, f->p, before);
    memcpy(r.p + before, to, strlen(to));
    memcpy(r.p + before + strlen(to), at + strlen(from), after);
    r.n = before + strlen(to) + after;
    return r;
}

static void proof_and_inputs_of_snarkjs_are_written_back_byte_for_byte(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_proof proof;
    const char *path = test_vector(proof_file);
    const char *copy = test_file_save("copy.json", "", 0);
    assert_int_equal(cuzk_proof_json_read(&proof, path, &err), CUZK_OK);
    assert_int_equal(cuzk_proof_json_write(&proof, copy, &err), CUZK_OK);
    test_files_equal(copy, path);

    fr_repr *inputs;
    size_t n;
    path = test_vector(public_file);
    assert_int_equal(cuzk_public_json_read(&inputs, &n, path, &err), CUZK_OK);
    assert_int_equal(n, 2);
    assert_int_equal(inputs[1].l[0], 11);
    assert_int_equal(cuzk_public_json_write(inputs, n, copy, &err), CUZK_OK);
    test_files_equal(copy, path);
    assert_int_equal(cuzk_public_json_write(inputs, 0, copy, &err), CUZK_OK);
    free(inputs);
    assert_int_equal(cuzk_public_json_read(&inputs, &n, copy, &err), CUZK_OK);
    assert_int_equal(n, 0);
    free(inputs);
}

static void keys_of_snarkjs_are_written_back_but_for_vk_alphabeta_12(void **state)
{
    (void)state;
    static const char *const keys[] = {"snarkjs/chain1k/mul_vk.json",
                                       "snarkjs/chain1k/mul_d_vk.json"};
    for (size_t i = 0; i < 2; i++) {
        cuzk_err err;
        cuzk_vk vk;
        test_file f = test_file_load(test_vector(keys[i]));
        assert_int_equal(cuzk_vk_json_parse(&vk, test_file_span(&f), "vk.json", &err), CUZK_OK);
        assert_int_equal(vk.n_ic, 3);
        assert_true(g1_affine_is_inf(&vk.beta_g1) && g1_affine_is_inf(&vk.delta_g1));
        uint8_t *from = memmem(f.p, f.n, " \"vk_alphabeta_12\"", 18);
        uint8_t *to = memmem(f.p, f.n, " \"IC\"", 5);
        assert_true(from && to && from < to);
        size_t tail = (size_t)(f.p + f.n - to);
        memmove(from, to, tail);
        const char *want = test_file_save("want.json", f.p, (size_t)(from - f.p) + tail);
        const char *copy = test_file_save("copy.json", "", 0);
        assert_int_equal(cuzk_vk_json_write(&vk, copy, &err), CUZK_OK);
        test_files_equal(copy, want);
        test_failed(cuzk_vk_write(&vk, copy, &err), &err, CUZK_E_ARG, "beta_g1", "infinity", NULL);
        cuzk_vk_clear(&vk);
        free(f.p);
    }
}

typedef struct mutation {
    const char *from, *to;
    const char *want; /* part of the message */
} mutation;

static const mutation common[] = {
    {"\"protocol\": \"groth16\"", "\"protocol\": \"plonk\"",
     ": protocol: expected \"groth16\", found \"plonk\""},
    {"\"protocol\": \"groth16\"", "\"protocol\": 16",
     ": protocol: expected \"groth16\", found the number 16"},
    {"\"protocol\"", "\"protocols\"", ": protocol: expected \"groth16\", found nothing"},
    {"\"bls12381\"", "\"bn128\"", ": curve: expected \"bls12381\", found \"bn128\""},
    {"\"bls12381\"", "\"\\u001b[2Jx\"", ": curve: expected \"bls12381\", found \"?[2Jx\""},
    {"\"curve\"", "\"Curve\"", ": curve: expected \"bls12381\", found nothing"},
    {"\"curve\": \"bls12381\"", "\"protocol\": \"groth16\"", "duplicate object key"},
    {"{", "{{", "offset 2 (line 1): expected JSON, found: "},
    {"{", "[", "expected JSON, found: "},
    {"\"protocol\": \"groth16\"", "\"protocol\": \"gr\xff\"",
     "expected JSON, found: unable to decode"},
};

static const mutation of_vk[] = {
    {"\"nPublic\": 2", "\"nPublic\": 1", ": IC: expected an array of 2, found an array of 3"},
    {"\"nPublic\": 2", "\"nPublic\": 3", ": IC: expected an array of 4, found an array of 3"},
    {"\"nPublic\": 2", "\"nPublic\": 4294967294", ": IC: expected an array of 4294967295"},
    {"\"nPublic\": 2", "\"nPublic\": 4294967295", ": nPublic: expected a number from 0 to 2^32"},
    {"\"nPublic\": 2", "\"nPublic\": -1", ": nPublic: expected a number from 0 to 2^32"},
    {"\"nPublic\": 2", "\"nPublic\": 2.0",
     ": nPublic: expected a number from 0 to 2^32 - 2, found a fraction"},
    {"\"nPublic\": 2", "\"nPublic\": \"2\"",
     ": nPublic: expected a number from 0 to 2^32 - 2, found \"2\""},
    {"\"nPublic\": 2", "\"nPublic\": 99999999999999999999",
     "expected JSON, found: too big integer"},
    {"\"nPublic\"", "\"nPrivate\"",
     ": nPublic: expected a number from 0 to 2^32 - 2, found nothing"},
    {"\"vk_alpha_1\"", "\"vk_alpha_2\"", ": vk_alpha_1: expected an array of 3, found nothing"},
    {"\"vk_beta_2\"", "\"vk_beta_1\"", ": vk_beta_2: expected an array of 3, found nothing"},
    {"\"vk_gamma_2\": [", "\"vk_gamma_2\": null, \"x\": [",
     ": vk_gamma_2: expected an array of 3, found null"},
    {"\"vk_delta_2\": [", "\"vk_delta_2\": {}, \"x\": [",
     ": vk_delta_2: expected an array of 3, found an object"},
    {"\"IC\": [", "\"IC\": true, \"x\": [", ": IC: expected an array of 3, found true"},
    {"\"IC\": [", "\"IC\": [false, [], \"\"], \"x\": [",
     ": IC[0]: expected an array of 3, found false"},
    {"\"IC\": [", "\"IC\": [[\"0\", \"1\", \"0\"], [], \"\"], \"x\": [",
     ": IC[0]: expected a finite point of G1, found the point at infinity"},
};

static const mutation of_proof[] = {
    {"\"pi_a\"", "\"pi_A\"", ": pi_a: expected an array of 3, found nothing"},
    {"\"pi_b\"", "\"pi_B\"", ": pi_b: expected an array of 3, found nothing"},
    {"\"pi_c\"", "\"pi_C\"", ": pi_c: expected an array of 3, found nothing"},
    {"\"pi_a\": [\n  \"", "\"pi_a\": [\n  \"0",
     ": pi_a[0]: expected a decimal integer below p in quotes, found \"02430"},
    {"\"pi_a\": [\n  \"", "\"pi_a\": [\n  \"+",
     ": pi_a[0]: expected a decimal integer below p in quotes, found \"+2430"},
    {"\"pi_a\": [\n  \"", "\"pi_a\": [\n  \"9", ": pi_a[0]: expected a decimal integer below p"},
    {"\"pi_a\": [\n  \"2", "\"pi_a\": [\n  \"1",
     ": pi_a: expected a finite point of G1, found a point that is not on the curve"},
    {"\"pi_a\": [", "\"pi_a\": [\"1\",", ": pi_a: expected an array of 3, found an array of 4"},
    {"\"pi_a\": [", "\"pi_a\": [], \"x\": [",
     ": pi_a: expected an array of 3, found an array of 0"},
    {"\"pi_a\": [", "\"pi_a\": [1, 2, 1], \"x\": [",
     ": pi_a[0]: expected a decimal integer below p in quotes, found the number 1"},
    {"\"pi_a\": [", "\"pi_a\": [\"0\", \"2\", \"1\"], \"x\": [",
     ": pi_a: expected a finite point of G1, found a point that is not in the subgroup"},
    {"\"pi_a\": [", "\"pi_a\": [\"0\", \"0\", \"1\"], \"x\": [",
     ": pi_a: expected a finite point of G1, found a point that is not on the curve"},
    {"\"pi_a\": [", "\"pi_a\": [\"0\", \"0\", \"0\"], \"x\": [",
     ": pi_a[2]: expected 1, as in affine coordinates, found \"0\""},
    {"\"pi_a\": [", "\"pi_a\": [\"0\", \"1\", \"0\"], \"x\": [",
     ": pi_a: expected a finite point of G1, found the point at infinity"},
    {"\"pi_a\": [", "\"pi_a\": [\"0\", \"2\", \"2\"], \"x\": [",
     ": pi_a[2]: expected 1, as in affine coordinates, found \"2\""},
    {"\"pi_b\": [", "\"pi_b\": [[\"0\", \"0\"], [\"1\", \"0\"], [\"0\", \"0\"]], \"x\": [",
     ": pi_b: expected a finite point of G2, found the point at infinity"},
    {"\"pi_b\": [", "\"pi_b\": [[\"0\", \"0\"], [\"1\", \"0\"], [\"0\", \"1\"]], \"x\": [",
     ": pi_b[2]: expected 1, as in affine coordinates"},
    {"\"pi_b\": [", "\"pi_b\": [[\"0\", \"0\"], [\"1\", \"0\"], [\"1\", \"0\"]], \"x\": [",
     ": pi_b: expected a finite point of G2, found a point that is not on the curve"},
    {"\"pi_b\": [", "\"pi_b\": [[\"0\"], [\"1\", \"0\"], [\"1\", \"0\"]], \"x\": [",
     ": pi_b[0]: expected an array of 2, found an array of 1"},
    {"\"pi_b\": [", "\"pi_b\": [[\"0\", \"0\"], [\"1\", null], [\"1\", \"0\"]], \"x\": [",
     ": pi_b[1][1]: expected a decimal integer below p in quotes, found null"},
};

static const mutation of_public[] = {
    {"\"11\"", "11",
     ": input[1]: expected a decimal integer below r in quotes, found the number 11"},
    {"\"11\"", "\"011\"",
     ": input[1]: expected a decimal integer below r in quotes, found \"011\""},
    {"\"11\"", "\"-11\"",
     ": input[1]: expected a decimal integer below r in quotes, found \"-11\""},
    {"\"11\"", "\"0xb\"", ": input[1]: "},
    {"\"11\"", "\"\"", ": input[1]: "},
    {"\"11\"", "\"1\\u0000\"", "expected JSON, found: "},
    {"\"11\"", "[\"11\"]",
     ": input[1]: expected a decimal integer below r in quotes, found an array of 1"},
    /* r, and 2^256 + 11 */
    {"\"11\"", "\"52435875175126190479447740508185965837690552500527637822603658699938581184513\"",
     ": input[1]: expected a decimal integer below r"},
    {"\"11\"", "\"115792089237316195423570985008687907853269984665640564039457584007913129639947\"",
     ": input[1]: expected a decimal integer below r"},
    {"[", "[[", "expected JSON, found: "},
    {"]", "]]", "expected JSON, found: end of file expected"},
};

typedef enum kind { VK, PROOF, PUBLIC } kind;

static cuzk_code parse(kind k, const test_file *f, cuzk_err *err)
{
    cuzk_vk vk;
    cuzk_proof proof;
    fr_repr *inputs;
    size_t n;
    cuzk_code code = CUZK_OK;
    switch (k) {
    case VK:
        code = cuzk_vk_json_parse(&vk, test_file_span(f), "f.json", err);
        if (code == CUZK_OK) {
            cuzk_vk_clear(&vk);
        }
        break;
    case PROOF:
        code = cuzk_proof_json_parse(&proof, test_file_span(f), "f.json", err);
        break;
    case PUBLIC:
        code = cuzk_public_json_parse(&inputs, &n, test_file_span(f), "f.json", err);
        if (code == CUZK_OK) {
            free(inputs);
        }
        break;
    }
    return code;
}

static void check_mutations(kind k, const char *rel, const mutation *m, size_t n)
{
    test_file good = test_file_load(test_vector(rel));
    cuzk_err err;
    assert_int_equal(parse(k, &good, &err), CUZK_OK);
    for (size_t i = 0; i < n; i++) {
        test_file f = replaced(&good, m[i].from, m[i].to);
        test_failed(parse(k, &f, &err), &err, CUZK_E_INPUT, "f.json: ", m[i].want, NULL);
        free(f.p);
    }
    free(good.p);
}

#define N(table) (sizeof(table) / sizeof *(table))

static void a_changed_key_is_refused_with_the_reason(void **state)
{
    (void)state;
    check_mutations(VK, vk_file, common, N(common));
    check_mutations(VK, vk_file, of_vk, N(of_vk));
}

static void a_changed_proof_is_refused_with_the_reason(void **state)
{
    (void)state;
    check_mutations(PROOF, proof_file, common, N(common));
    check_mutations(PROOF, proof_file, of_proof, N(of_proof));
}

static void changed_inputs_are_refused_with_the_reason(void **state)
{
    (void)state;
    check_mutations(PUBLIC, public_file, of_public, N(of_public));
}

static void coordinates_of_p_or_more_are_refused(void **state)
{
    (void)state;
    /* p, and p + 2, which would be (0, 2) and (0, 2) again */
    static const char *const large[] = {
        "40024095552216673934177898257359041565568828199390078853320581361240316504908378"
        "64442687629129015664037894272559787",
        "40024095552216673934177898257359041565568828199390078853320581361240316504908378"
        "64442687629129015664037894272559789",
    };
    test_file good = test_file_load(test_vector(proof_file));
    for (size_t i = 0; i < 2; i++) {
        char to[300];
        snprintf(to, sizeof to, "\"pi_a\": [\"%s\", \"%s\", \"1\"], \"x\": [", i ? "0" : large[0],
                 i ? large[1] : "2");
        test_file f = replaced(&good, "\"pi_a\": [", to);
        cuzk_err err;
        test_failed(parse(PROOF, &f, &err), &err, CUZK_E_INPUT,
                    i ? "f.json: pi_a[1]: expected a decimal integer below p"
                      : "f.json: pi_a[0]: expected a decimal integer below p",
                    NULL);
        free(f.p);
    }
    free(good.p);
}

static void unknown_keys_and_other_layouts_are_taken(void **state)
{
    (void)state;
    cuzk_err err;
    test_file good = test_file_load(test_vector(proof_file));
    test_file f = replaced(&good, "{", "{\"extra\": {\"a\": [1, 2.5, null]}, ");
    assert_int_equal(parse(PROOF, &f, &err), CUZK_OK);
    free(f.p);
    f = replaced(&good, "{", "{\"quoted\": \"\\\"[[[[[[[[[[[[[[[[[[[[\", ");
    assert_int_equal(parse(PROOF, &f, &err), CUZK_OK);
    free(f.p);
    f = replaced(&good, "{", "\r\n\t {");
    for (size_t i = 0; i < f.n; i++) {
        f.p[i] = f.p[i] == '\n' ? ' ' : f.p[i];
    }
    assert_int_equal(parse(PROOF, &f, &err), CUZK_OK);
    free(f.p);
    free(good.p);
}

static void files_cut_anywhere_are_refused(void **state)
{
    (void)state;
    static const char *const files[] = {vk_file, proof_file, public_file};
    for (kind k = VK; k <= PUBLIC; k++) {
        test_file f = test_file_load(test_vector(files[k]));
        for (size_t n = 0; n < f.n; n++) {
            test_file cut = {f.p, n};
            cuzk_err err;
            test_failed(parse(k, &cut, &err), &err, CUZK_E_INPUT, "f.json: offset ",
                        ": expected JSON, found", NULL);
        }
        free(f.p);
    }
}

static void deep_and_huge_files_are_refused_before_they_are_parsed(void **state)
{
    (void)state;
    cuzk_err err;
    size_t n = (size_t)65 << 20;
    test_file f = {malloc(n), n};
    assert_non_null(f.p);
    memset(f.p, '[', n);
    test_failed(parse(PUBLIC, &f, &err), &err, CUZK_E_INPUT,
                "f.json: size: expected at most 67108864 bytes, found 68157440", NULL);
    f.n = 1000000;
    test_failed(parse(PUBLIC, &f, &err), &err, CUZK_E_INPUT,
                "f.json: offset 16: expected at most 16 nested brackets", NULL);
    memset(f.p, '{', f.n);
    test_failed(parse(VK, &f, &err), &err, CUZK_E_INPUT,
                "f.json: offset 16: expected at most 16 nested brackets", NULL);
    free(f.p);
}

static void files_of_another_kind_are_refused(void **state)
{
    (void)state;
    cuzk_vk vk;
    cuzk_proof proof;
    fr_repr *inputs;
    size_t n;
    cuzk_err err;
    test_failed(cuzk_vk_json_read(&vk, "/nowhere/vk.json", &err), &err, CUZK_E_IO,
                "/nowhere/vk.json: cannot open", NULL);
    test_failed(cuzk_proof_json_read(&proof, test_tmpdir(), &err), &err, CUZK_E_INPUT,
                "expected a regular file", NULL);
    test_failed(cuzk_public_json_read(&inputs, &n, test_file_save("empty", "", 0), &err), &err,
                CUZK_E_INPUT, "/empty: offset 0: expected JSON, found an empty file", NULL);
    test_failed(cuzk_vk_json_read(&vk, test_vector(proof_file), &err), &err, CUZK_E_INPUT,
                "mul_proof.json: nPublic: expected a number", NULL);
    test_failed(cuzk_proof_json_read(&proof, test_vector(vk_file), &err), &err, CUZK_E_INPUT,
                "mul_vk.json: pi_a: expected an array of 3, found nothing", NULL);
    test_failed(cuzk_public_json_read(&inputs, &n, test_vector(vk_file), &err), &err, CUZK_E_INPUT,
                "mul_vk.json: input: expected an array, found an object", NULL);
    test_failed(cuzk_proof_json_read(&proof, test_vector(public_file), &err), &err, CUZK_E_INPUT,
                "mul_public.json: document: expected an object, found an array of 2", NULL);
    test_failed(cuzk_vk_json_read(&vk, test_vector("reference/window-2KiB.vk"), &err), &err,
                CUZK_E_INPUT, "window-2KiB.vk: offset ", "expected JSON, found", NULL);
}

static void a_proof_keeps_its_points_through_json(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_proof *proofs, again;
    size_t n;
    assert_int_equal(
        cuzk_proofs_read(&proofs, &n, test_vector("verify/filecoin-v27-32GiB/seal32.proof"), &err),
        CUZK_OK);
    const char *path = test_file_save("p.json", "", 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(cuzk_proof_json_write(&proofs[i], path, &err), CUZK_OK);
        assert_int_equal(cuzk_proof_json_read(&again, path, &err), CUZK_OK);
        assert_memory_equal(&again, &proofs[i], sizeof again);
    }
    free(proofs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proof_and_inputs_of_snarkjs_are_written_back_byte_for_byte),
        cmocka_unit_test(keys_of_snarkjs_are_written_back_but_for_vk_alphabeta_12),
        cmocka_unit_test(a_changed_key_is_refused_with_the_reason),
        cmocka_unit_test(a_changed_proof_is_refused_with_the_reason),
        cmocka_unit_test(changed_inputs_are_refused_with_the_reason),
        cmocka_unit_test(coordinates_of_p_or_more_are_refused),
        cmocka_unit_test(unknown_keys_and_other_layouts_are_taken),
        cmocka_unit_test(files_cut_anywhere_are_refused),
        cmocka_unit_test(deep_and_huge_files_are_refused_before_they_are_parsed),
        cmocka_unit_test(files_of_another_kind_are_refused),
        cmocka_unit_test(a_proof_keeps_its_points_through_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
