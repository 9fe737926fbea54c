#include "groth16/formats/formats.h"
#include "support/spoil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 50, VALUES = 2 };

static iden3_bytes good; /* a witness of N values, written by cuzk_wtns_write */
static fr_repr values[N];

static int make_good(void **state)
{
    (void)state;
    test_rng g = test_rng_new("wtns");
    values[0] = (fr_repr){{1}};
    for (int i = 1; i < N; i++) {
        values[i] = i % 3 ? test_fr_repr(&g) : (fr_repr){{(uint64_t)i}};
    }
    fr minus_one; /* the highest value that is allowed */
    fr_neg(&minus_one, &fr_one);
    fr_to_repr(&values[N - 1], &minus_one);
    char path[4096];
    snprintf(path, sizeof path, "%s/good.wtns", test_tmpdir());
    assert_int_equal(cuzk_wtns_write(values, N, path, NULL), CUZK_OK);
    good = iden3_bytes_load(path);
    return 0;
}

static int drop_good(void **state)
{
    (void)state;
    iden3_bytes_clear(&good);
    return 0;
}

static void a_written_witness_is_read_back(void **state)
{
    (void)state;
    fr_repr *z = NULL;
    size_t n = 0;
    assert_int_equal(good.n, 12 + 12 + 40 + 12 + 32 * N);
    assert_int_equal(cuzk_wtns_parse(&z, &n, iden3_bytes_span(&good), "good", NULL), CUZK_OK);
    assert_int_equal(n, N);
    assert_memory_equal(z, values, sizeof values);
    free(z);
    assert_int_equal(cuzk_wtns_write(values, 0, "x.wtns", NULL), CUZK_E_ARG);
}

static void sections_may_stand_in_any_order(void **state)
{
    (void)state;
    iden3_bytes f = iden3_bytes_copy(&good);
    iden3_reverse_sections(&f);
    fr_repr *z = NULL;
    size_t n = 0;
    assert_int_equal(cuzk_wtns_parse(&z, &n, iden3_bytes_span(&f), "turned", NULL), CUZK_OK);
    assert_memory_equal(z, values, sizeof values);
    free(z);
    iden3_bytes_clear(&f);
}

static void the_real_witness_satisfies_its_circuit_and_is_rewritten_byte_for_byte(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(wtns, "snarkjs/chain1k/mul.wtns");
    TEST_VECTOR_OR_SKIP(r1cs, "snarkjs/chain1k/mulchain.r1cs");
    fr_repr *z = NULL;
    size_t n = 0;
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_wtns_read(&z, &n, wtns, NULL), CUZK_OK);
    assert_int_equal(n, 1003);
    assert_int_equal(cuzk_r1cs_read(&r, r1cs, NULL), CUZK_OK);
    fr *m = malloc(n * sizeof *m);
    assert_non_null(m);
    for (size_t i = 0; i < n; i++) {
        fr_from_repr(&m[i], &z[i]);
    }
    assert_int_equal(cuzk_r1cs_check(r, m, NULL, NULL, NULL, NULL), CUZK_OK);
    free(m);
    cuzk_r1cs_free(r);

    char path[4096];
    snprintf(path, sizeof path, "%s/again.wtns", test_tmpdir());
    assert_int_equal(cuzk_wtns_write(z, n, path, NULL), CUZK_OK);
    iden3_bytes again = iden3_bytes_load(path);
    iden3_bytes real = iden3_bytes_load(wtns);
    assert_int_equal(again.n, real.n);
    assert_memory_equal(again.p, real.p, real.n);
    iden3_bytes_clear(&again);
    iden3_bytes_clear(&real);
    free(z);
}

static void is_refused(void **state)
{
    const spoil *s = *state;
    iden3_bytes f = iden3_bytes_copy(&good);
    s->apply(&f);
    fr_repr *z = NULL;
    size_t n = 77;
    cuzk_err err = {0};
    cuzk_code code = cuzk_wtns_parse(&z, &n, iden3_bytes_span(&f), "bad", &err);
    spoil_expect(s, code, &err);
    assert_null(z);
    assert_int_equal(n, 77);
    iden3_bytes_clear(&f);
}

static uint8_t *value_at(iden3_bytes *f, size_t i)
{
    return f->p + iden3_payload(f, VALUES, NULL) + 32 * i;
}

static void of_a_zkey(iden3_bytes *f) { memcpy(f->p, "zkey", 4); }
static void header_twice(iden3_bytes *f)
{
    iden3_remove_section(f, 2);
    iden3_repeat_section(f, 1);
}
static void section_of_type_0(iden3_bytes *f)
{
    cuzk_store_u32le(f->p + iden3_payload(f, VALUES, NULL) - 12, 0);
}
static void half_the_values(iden3_bytes *f)
{
    size_t n, at = iden3_payload(f, VALUES, &n);
    iden3_replace_section(f, VALUES, f->p + at, n / 2);
}
static void one_value_fewer(iden3_bytes *f) { spoil_u32(f, 1, 36, N - 1); }
static void a_thousand_values_more(iden3_bytes *f) { spoil_u32(f, 1, 36, N + 1000); }
static void no_value(iden3_bytes *f)
{
    spoil_u32(f, 1, 36, 0);
    iden3_replace_section(f, VALUES, NULL, 0);
}
static void other_prime(iden3_bytes *f) { spoil_flip(f, 1, 4, 2); }
static void bn254(iden3_bytes *f) { spoil_with_bn254(f, 1, 4); }
static void huge_n8(iden3_bytes *f) { spoil_u32(f, 1, 0, 0xfffffff8u); }
static void header_too_long(iden3_bytes *f)
{
    uint8_t longer[41] = {0};
    memcpy(longer, f->p + iden3_payload(f, 1, NULL), 40);
    iden3_replace_section(f, 1, longer, sizeof longer);
}
static void first_value_2(iden3_bytes *f) { *value_at(f, 0) = 2; }
static void first_value_with_a_high_bit(iden3_bytes *f) { value_at(f, 0)[24] = 1; }
static void value_all_ones(iden3_bytes *f) { memset(value_at(f, 7), 0xff, 32); }
static void value_r(iden3_bytes *f) { spoil_with_prime(f, VALUES, 32 * 8); }

static const spoil spoils[] = {
    {"an_empty_file_is_refused", spoil_empty, {"magic", "expected 4 bytes", "found 0"}},
    {"a_file_one_byte_short_is_refused", spoil_one_byte_less, {"length of section 2"}},
    {"a_file_one_byte_long_is_refused", spoil_one_byte_more, {"expected the end", "found 1 more"}},
    {"another_magic_is_refused", spoil_magic, {"offset 0: magic", "\"wtns\"", "21746e73"}},
    {"a_zkey_is_refused", of_a_zkey, {"offset 0: magic", "\"wtns\"", "7a6b6579"}},
    {"another_version_is_refused",
     spoil_version_99,
     {"offset 4: version", "expected 2", "found 99"}},
    {"a_claim_of_4_billion_sections_is_refused",
     spoil_many_sections,
     {"offset 8", "found 4294967295"}},
    {"a_claim_of_no_sections_is_refused",
     spoil_no_sections,
     {"offset 12", "the end of the last section"}},
    {"a_file_without_header_is_refused", spoil_remove_1, {"section 1 (header)", "found none"}},
    {"a_file_without_values_is_refused", spoil_remove_2, {"section 2 (values)", "found none"}},
    {"a_second_header_is_refused", header_twice, {"section type", "found 1 twice"}},
    {"an_unknown_section_is_refused", spoil_unknown_2, {"section type", "1 to 2", "found 11"}},
    {"a_section_of_type_0_is_refused", section_of_type_0, {"section type", "1 to 2", "found 0"}},
    {"an_endless_section_is_refused", spoil_endless_2, {"length of section 2", "bytes left"}},
    {"half_of_the_values_is_refused", half_the_values, {"length of the values", "found 800"}},
    {"a_count_one_too_low_is_refused", one_value_fewer, {"length of the values", "expected 1568"}},
    {"a_count_too_high_is_refused", a_thousand_values_more, {"expected 33600", "found 1600"}},
    {"a_count_of_zero_is_refused", no_value, {"number of values", "at least 1", "found 0"}},
    {"another_prime_is_refused",
     other_prime,
     {"prime of the scalar field", "not supported", "03000"}},
    {"the_prime_of_bn254_is_refused", bn254, {"curve not supported", "BLS12-381", "BN254"}},
    {"a_huge_field_element_is_refused", huge_n8, {"expected 32", "found 4294967288"}},
    {"a_header_too_long_is_refused", header_too_long, {"the end of the header", "found 1 more"}},
    {"a_witness_that_begins_with_2_is_refused", first_value_2, {"value 0", "constant 1"}},
    {"a_witness_that_begins_with_a_high_1_is_refused", first_value_with_a_high_bit, {"constant 1"}},
    {"a_value_of_2_256_minus_1_is_refused", value_all_ones, {"value 7:", "below"}},
    {"a_value_equal_to_the_prime_is_refused", value_r, {"value 8:", "below"}},
};

static void every_cut_of_the_file_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < good.n; n++) {
        iden3_bytes f = iden3_bytes_copy(&good);
        iden3_cut(&f, n);
        fr_repr *z = NULL;
        size_t k;
        assert_int_equal(cuzk_wtns_parse(&z, &k, iden3_bytes_span(&f), "cut", NULL), CUZK_E_INPUT);
        iden3_bytes_clear(&f);
    }
}

static void every_flipped_bit_before_the_values_is_refused(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < 8 * (12 + 12 + 40 + 12); bit++) {
        iden3_bytes f = iden3_bytes_copy(&good);
        f.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        fr_repr *z = NULL;
        size_t k;
        assert_int_equal(cuzk_wtns_parse(&z, &k, iden3_bytes_span(&f), "bit", NULL), CUZK_E_INPUT);
        iden3_bytes_clear(&f);
    }
}

static void a_missing_file_is_an_io_error(void **state)
{
    (void)state;
    fr_repr *z;
    size_t n;
    cuzk_err err = {0};
    assert_int_equal(cuzk_wtns_read(&z, &n, "/nonexistent/x.wtns", &err), CUZK_E_IO);
    assert_non_null(strstr(err.msg, "/nonexistent/x.wtns"));
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(a_written_witness_is_read_back),
        cmocka_unit_test(sections_may_stand_in_any_order),
        cmocka_unit_test(the_real_witness_satisfies_its_circuit_and_is_rewritten_byte_for_byte),
        cmocka_unit_test(every_cut_of_the_file_is_refused),
        cmocka_unit_test(every_flipped_bit_before_the_values_is_refused),
        cmocka_unit_test(a_missing_file_is_an_io_error),
    };
    return spoil_run_tests(plain, sizeof plain / sizeof *plain, spoils,
                           sizeof spoils / sizeof *spoils, is_refused, make_good, drop_good);
}
