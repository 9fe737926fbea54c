#include "groth16/formats/formats.h"
#include "groth16/formats/zkey.h"
#include "support/gen_circuit.h"
#include "support/gen_key.h"
#include "support/spoil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_ROWS = 50, N_INPUTS = 4, DOMAIN = 64, COEFF = ZKEY_COEFF_BYTES };
/* Offsets in the header. */
enum { R_AT = 52, SIZES = 88, ALPHA = 100, BETA2 = ALPHA + 192, GAMMA2 = BETA2 + 192 };

static gen_circuit circuit;
static cuzk_pk *key;     /* of circuit, with random points */
static iden3_bytes good; /* key, written by cuzk_zkey_write */

static uint32_t n_vars(void) { return circuit.r1cs->n_inputs + circuit.r1cs->n_aux; }

static int make_good(void **state)
{
    (void)state;
    circuit = gen_circuit_new(
        &(gen_wish){.n_rows = N_ROWS, .n_inputs = N_INPUTS, .bit_permil = 700, .seed = 1});
    key = gen_key_new(circuit.r1cs, 2);
    assert_int_equal(key->n_h, DOMAIN);
    char path[4096];
    snprintf(path, sizeof path, "%s/good.zkey", test_tmpdir());
    cuzk_err err = {0};
    if (cuzk_zkey_write(key, circuit.r1cs, path, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    good = iden3_bytes_load(path);
    return 0;
}

static int drop_good(void **state)
{
    (void)state;
    iden3_bytes_clear(&good);
    cuzk_pk_free(key);
    gen_circuit_clear(&circuit);
    return 0;
}

static void is_refused(void **state)
{
    const spoil *s = *state;
    iden3_bytes f = iden3_bytes_copy(&good);
    s->apply(&f);
    cuzk_pk *pk = NULL;
    cuzk_r1cs *r = NULL;
    cuzk_err err = {0};
    cuzk_code code =
        cuzk_zkey_parse(&pk, &r, iden3_bytes_span(&f), "bad", POINT_CHECK_CURVE, NULL, &err);
    spoil_expect(s, code, &err);
    assert_null(pk);
    assert_null(r);
    iden3_bytes_clear(&f);
}

static void remove_protocol(iden3_bytes *f) { iden3_remove_section(f, ZKEY_PROTOCOL); }
static void remove_ic(iden3_bytes *f) { iden3_remove_section(f, ZKEY_IC); }
static void remove_coeffs(iden3_bytes *f) { iden3_remove_section(f, ZKEY_COEFFS); }
static void remove_a(iden3_bytes *f) { iden3_remove_section(f, ZKEY_A); }
static void remove_b1(iden3_bytes *f) { iden3_remove_section(f, ZKEY_B1); }
static void remove_b2(iden3_bytes *f) { iden3_remove_section(f, ZKEY_B2); }
static void remove_c(iden3_bytes *f) { iden3_remove_section(f, ZKEY_C); }
static void remove_h(iden3_bytes *f) { iden3_remove_section(f, ZKEY_H); }
static void a_twice(iden3_bytes *f)
{
    iden3_remove_section(f, ZKEY_HISTORY);
    iden3_repeat_section(f, ZKEY_A);
}
static void nine_sections(iden3_bytes *f) { cuzk_store_u32le(f->p + 8, 9); }
static void cut_in_history(iden3_bytes *f) { iden3_cut(f, f->n - 30); }

static void plonk(iden3_bytes *f) { spoil_u32(f, ZKEY_PROTOCOL, 0, 2); }
static void fflonk(iden3_bytes *f) { spoil_u32(f, ZKEY_PROTOCOL, 0, 10); }
static void huge_n8q(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, 0, 0xfffffff8u); }
static void huge_n8r(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, R_AT, 0xfffffff8u); }
static void other_q(iden3_bytes *f) { spoil_flip(f, ZKEY_HEADER, 4, 1); }
static void other_r(iden3_bytes *f) { spoil_flip(f, ZKEY_HEADER, R_AT + 4, 2); }
static void bn254_r(iden3_bytes *f) { spoil_with_bn254(f, ZKEY_HEADER, R_AT + 4); }
/* The beginning of every BN254 zkey: n8q = 32 and its q. */
static void bn254_q(iden3_bytes *f)
{
    static const uint8_t q[36] = {32,   0,    0,    0,    0x47, 0xfd, 0x7c, 0xd8, 0x16,
                                  0x8c, 0x20, 0x3c, 0x8d, 0xca, 0x71, 0x68, 0x91, 0x6a,
                                  0x81, 0x97, 0x5d, 0x58, 0x81, 0x81, 0xb6, 0x45, 0x50,
                                  0xb8, 0x29, 0xa0, 0x31, 0xe1, 0x72, 0x4e, 0x64, 0x30};
    memcpy(f->p + iden3_payload(f, ZKEY_HEADER, NULL), q, sizeof q);
}
static void header_long(iden3_bytes *f)
{
    uint8_t longer[ZKEY_HEADER_BYTES + 1] = {0};
    memcpy(longer, f->p + iden3_payload(f, ZKEY_HEADER, NULL), ZKEY_HEADER_BYTES);
    iden3_replace_section(f, ZKEY_HEADER, longer, sizeof longer);
}
static void header_short(iden3_bytes *f)
{
    iden3_replace_section(f, ZKEY_HEADER, f->p + iden3_payload(f, ZKEY_HEADER, NULL), 70);
}

static void domain_0(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 8, 0); }
static void domain_1000(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 8, 1000); }
static void domain_2_31(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 8, 1u << 31); }
static void domain_2_28(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 8, 1u << 28); }
static void domain_twice(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 8, 2 * DOMAIN); }
static void domain_2(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 8, 2); }
static void domain_of_the_inputs(iden3_bytes *f)
{
    spoil_u32(f, ZKEY_HEADER, SIZES + 4, 4);
    spoil_u32(f, ZKEY_HEADER, SIZES + 8, 4);
}
static void domain_half_with_h(iden3_bytes *f)
{
    spoil_u32(f, ZKEY_HEADER, SIZES + 8, DOMAIN / 2);
    iden3_replace_section(f, ZKEY_H, f->p + iden3_payload(f, ZKEY_H, NULL),
                          DOMAIN / 2 * ZKEY_G1_BYTES);
}
static void more_vars(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES, n_vars() + 1000); }
static void all_vars(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES, UINT32_MAX); }
static void no_vars(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES, 0); }
static void public_above_vars(iden3_bytes *f)
{
    spoil_u32(f, ZKEY_HEADER, SIZES + 4, n_vars() + 5);
}
static void public_all_vars(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 4, n_vars()); }
static void public_2_32(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 4, UINT32_MAX); }
static void one_more_public(iden3_bytes *f) { spoil_u32(f, ZKEY_HEADER, SIZES + 4, N_INPUTS); }
/* A consistent file but for the rows of the inputs. */
static void one_less_public(iden3_bytes *f)
{
    uint8_t *c = calloc(n_vars(), ZKEY_G1_BYTES);
    spoil_u32(f, ZKEY_HEADER, SIZES + 4, N_INPUTS - 2);
    iden3_replace_section(f, ZKEY_IC, f->p + iden3_payload(f, ZKEY_IC, NULL),
                          (N_INPUTS - 1) * ZKEY_G1_BYTES);
    iden3_replace_section(f, ZKEY_C, c, (n_vars() - (N_INPUTS - 1)) * ZKEY_G1_BYTES);
    free(c);
}

/* Offset in section 4 of the last entry, the row of input N_INPUTS - 1. */
static size_t last_coeff(const iden3_bytes *f)
{
    return 4 + (size_t)(cuzk_load_u32le(f->p + iden3_payload(f, ZKEY_COEFFS, NULL)) - 1) * COEFF;
}
static void coeff_m7(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 4, 7); }
static void coeff_m2(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 4, 2); }
static void coeff_m_huge(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 4, UINT32_MAX); }
static void coeff_row_huge(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 8, 0xfffffff0u); }
static void coeff_row_domain(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 8, DOMAIN); }
static void coeff_row_last(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 8, DOMAIN - 1); }
static void coeff_var_huge(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 12, 0xfffffff0u); }
static void coeff_var_n(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 12, n_vars()); }
static void coeff_r(iden3_bytes *f) { spoil_with_prime(f, ZKEY_COEFFS, 16); }
static void coeff_all_ones(iden3_bytes *f)
{
    memset(f->p + iden3_payload(f, ZKEY_COEFFS, NULL) + 16, 0xff, 32);
}
static void coeffs_none(iden3_bytes *f)
{
    const uint8_t none[4] = {0};
    iden3_replace_section(f, ZKEY_COEFFS, none, sizeof none);
}
static void coeffs_empty(iden3_bytes *f) { iden3_replace_section(f, ZKEY_COEFFS, NULL, 0); }
static void coeffs_one_more(iden3_bytes *f)
{
    spoil_u32(f, ZKEY_COEFFS, 0, cuzk_load_u32le(f->p + iden3_payload(f, ZKEY_COEFFS, NULL)) + 1);
}
static void coeffs_2_32(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, 0, UINT32_MAX); }
static void input_row_value(iden3_bytes *f) { spoil_flip(f, ZKEY_COEFFS, last_coeff(f) + 12, 4); }
static void input_row_in_b(iden3_bytes *f) { spoil_u32(f, ZKEY_COEFFS, last_coeff(f), 1); }
static void input_row_signal(iden3_bytes *f)
{
    spoil_u32(f, ZKEY_COEFFS, last_coeff(f) + 8, N_INPUTS - 2);
}
static void input_row_gone(iden3_bytes *f)
{
    spoil_u32(f, ZKEY_COEFFS, last_coeff(f) - COEFF + 4, N_ROWS + N_INPUTS - 1);
}

/* The first variable outside the compact list, which starts at `from`. */
static size_t missing_var(const uint32_t *var, uint32_t n, uint32_t from)
{
    for (uint32_t i = 0; i < n; i++) {
        if (var[i] == from) {
            from++;
        }
    }
    assert_true(from < n_vars());
    return from;
}
static void zero_g1(iden3_bytes *f, uint32_t section, size_t i)
{
    memset(f->p + iden3_payload(f, section, NULL) + i * ZKEY_G1_BYTES, 0, ZKEY_G1_BYTES);
}
static void put_g1(iden3_bytes *f, uint32_t section, size_t i)
{
    g1_encode_mont(f->p + iden3_payload(f, section, NULL) + i * ZKEY_G1_BYTES, &g1_generator);
}
static void put_g2(iden3_bytes *f, uint32_t section, size_t i)
{
    g2_encode_mont(f->p + iden3_payload(f, section, NULL) + i * ZKEY_G2_BYTES, &g2_generator);
}
static void alpha_zero(iden3_bytes *f)
{
    memset(f->p + iden3_payload(f, ZKEY_HEADER, NULL) + ALPHA, 0, ZKEY_G1_BYTES);
}
static void alpha_off(iden3_bytes *f) { spoil_flip(f, ZKEY_HEADER, ALPHA + 3, 1); }
static void gamma_zero(iden3_bytes *f)
{
    memset(f->p + iden3_payload(f, ZKEY_HEADER, NULL) + GAMMA2, 0, ZKEY_G2_BYTES);
}
static void beta2_off(iden3_bytes *f) { spoil_flip(f, ZKEY_HEADER, BETA2 + 100, 1); }
static void alpha_p(iden3_bytes *f)
{
    memset(f->p + iden3_payload(f, ZKEY_HEADER, NULL) + ALPHA, 0xff, 48);
}
static void ic_zero(iden3_bytes *f) { zero_g1(f, ZKEY_IC, 2); }
static void ic_short(iden3_bytes *f)
{
    iden3_replace_section(f, ZKEY_IC, f->p + iden3_payload(f, ZKEY_IC, NULL),
                          (N_INPUTS - 1) * ZKEY_G1_BYTES);
}
static void a_off(iden3_bytes *f) { spoil_flip(f, ZKEY_A, ZKEY_G1_BYTES * 5 + 50, 8); }
static void h_off(iden3_bytes *f) { spoil_flip(f, ZKEY_H, ZKEY_G1_BYTES * (DOMAIN - 1), 1); }
static void h_zero(iden3_bytes *f) { zero_g1(f, ZKEY_H, 9); }
static void c_off(iden3_bytes *f) { spoil_flip(f, ZKEY_C, ZKEY_G1_BYTES * 3 + 1, 1); }
static void b2_off(iden3_bytes *f)
{
    spoil_flip(f, ZKEY_B2, ZKEY_G2_BYTES * (size_t)key->b_var[7] + 1, 1);
}
static void a_zero(iden3_bytes *f) { zero_g1(f, ZKEY_A, key->a_var[20]); }
static void b1_zero(iden3_bytes *f) { zero_g1(f, ZKEY_B1, key->b_var[4]); }
static void a_extra(iden3_bytes *f) { put_g1(f, ZKEY_A, missing_var(key->a_var, key->n_a, 0)); }
static void b1_extra(iden3_bytes *f) { put_g1(f, ZKEY_B1, missing_var(key->b_var, key->n_b, 1)); }
static void b2_extra(iden3_bytes *f) { put_g2(f, ZKEY_B2, missing_var(key->b_var, key->n_b, 1)); }
static void c_short(iden3_bytes *f)
{
    size_t n, at = iden3_payload(f, ZKEY_C, &n);
    iden3_replace_section(f, ZKEY_C, f->p + at, n - ZKEY_G1_BYTES);
}
static void b2_long(iden3_bytes *f)
{
    uint8_t *longer = calloc(n_vars() + 1, ZKEY_G2_BYTES);
    iden3_replace_section(f, ZKEY_B2, longer, ((size_t)n_vars() + 1) * ZKEY_G2_BYTES);
    free(longer);
}

static const spoil spoils[] = {
    {"an_empty_file_is_refused", spoil_empty, {"magic", "expected 4", "found 0"}},
    {"a_file_one_byte_short_is_refused",
     spoil_one_byte_less,
     {"length of section 10", "67 bytes left", "found 68"}},
    {"a_file_cut_in_its_history_is_refused", cut_in_history, {"length of section 10", "found 68"}},
    {"a_file_one_byte_long_is_refused", spoil_one_byte_more, {"expected the end", "found 1 more"}},
    {"another_magic_is_refused", spoil_magic, {"offset 0: magic", "\"zkey\"", "216b6579"}},
    {"another_version_is_refused",
     spoil_version_99,
     {"offset 4: version", "expected 1", "found 99"}},
    {"a_claim_of_4_billion_sections_is_refused",
     spoil_many_sections,
     {"offset 8", "at most 10", "found 4294967295"}},
    {"a_claim_of_no_sections_is_refused",
     spoil_no_sections,
     {"offset 12", "the end of the last section"}},
    {"a_claim_of_9_sections_is_refused",
     nine_sections,
     {"the end of the last section", "found 80 more"}},
    {"a_file_without_section_1_is_refused",
     remove_protocol,
     {"section 1 (protocol)", "found none"}},
    {"a_file_without_section_2_is_refused", spoil_remove_2, {"section 2 (header)", "found none"}},
    {"a_file_without_section_3_is_refused", remove_ic, {"section 3 (IC)", "found none"}},
    {"a_file_without_section_4_is_refused",
     remove_coeffs,
     {"section 4 (coefficients)", "found none"}},
    {"a_file_without_section_5_is_refused", remove_a, {"section 5 (A)", "found none"}},
    {"a_file_without_section_6_is_refused", remove_b1, {"section 6 (B in G1)", "found none"}},
    {"a_file_without_section_7_is_refused", remove_b2, {"section 7 (B in G2)", "found none"}},
    {"a_file_without_section_8_is_refused", remove_c, {"section 8 (C)", "found none"}},
    {"a_file_without_section_9_is_refused", remove_h, {"section 9 (H)", "found none"}},
    {"a_second_section_5_is_refused", a_twice, {"section type", "found 5 twice"}},
    {"an_unknown_section_is_refused", spoil_unknown_2, {"section type", "1 to 10", "found 11"}},
    {"an_endless_section_is_refused", spoil_endless_2, {"length of section 2", "bytes left"}},
    {"a_plonk_key_is_refused", plonk, {"protocol", "expected 1 (groth16)", "found 2 (plonk)"}},
    {"an_fflonk_key_is_refused", fflonk, {"protocol", "found 10 (fflonk)"}},
    {"a_huge_base_field_element_is_refused", huge_n8q, {"expected 48", "found 4294967288"}},
    {"a_huge_scalar_field_element_is_refused", huge_n8r, {"expected 32", "found 4294967288"}},
    {"another_base_field_is_refused", other_q, {"prime of the base field", "not supported"}},
    {"another_scalar_field_is_refused", other_r, {"prime of the scalar field", "not supported"}},
    {"a_bn254_key_is_refused",
     bn254_q,
     {"curve not supported", "expected BLS12-381", "found BN254"}},
    {"the_scalar_field_of_bn254_is_refused", bn254_r, {"curve not supported", "found BN254"}},
    {"a_header_too_long_is_refused",
     header_long,
     {"length of section 2", "expected 964", "found 965"}},
    {"a_header_too_short_is_refused",
     header_short,
     {"prime of the scalar field", "expected 32", "found 14"}},
    {"a_domain_of_0_is_refused", domain_0, {"domain size", "power of two", "found 0"}},
    {"a_domain_of_1000_is_refused", domain_1000, {"domain size", "power of two", "found 1000"}},
    {"a_domain_of_2_31_is_refused", domain_2_31, {"domain size", "up to 2^28", "found 2147483648"}},
    {"a_domain_of_2_28_without_its_points_is_refused",
     domain_2_28,
     {"length of section 9 (H)", "expected 25769803776", "found 6144"}},
    {"a_domain_twice_as_large_is_refused",
     domain_twice,
     {"length of section 9 (H)", "expected 12288", "found 6144"}},
    {"a_domain_smaller_than_the_inputs_is_refused",
     domain_2,
     {"domain size", "1 + 3 inputs", "found 2"}},
    {"a_domain_without_room_for_the_row_of_one_is_refused",
     domain_of_the_inputs,
     {"domain size", "1 + 4 inputs", "found 4"}},
    {"a_domain_smaller_than_the_constraints_is_refused",
     domain_half_with_h,
     {"constraint of coefficient", "expected below 32", "found 32"}},
    {"a_thousand_variables_more_are_refused",
     more_vars,
     {"length of section 5 (A)", "expected 100896", "found 4896"}},
    {"4_billion_variables_are_refused",
     all_vars,
     {"length of section 5 (A)", "expected 412316860320"}},
    {"no_variables_are_refused", no_vars, {"number of public inputs", "below 0", "found 3"}},
    {"more_public_inputs_than_variables_are_refused",
     public_above_vars,
     {"public inputs", "below 51", "found 56"}},
    {"as_many_public_inputs_as_variables_are_refused",
     public_all_vars,
     {"public inputs", "below 51", "found 51"}},
    {"4_billion_public_inputs_are_refused",
     public_2_32,
     {"public inputs", "below 51", "found 4294967295"}},
    {"one_public_input_more_is_refused",
     one_more_public,
     {"length of section 3 (IC)", "expected 480", "found 384"}},
    {"one_public_input_fewer_is_refused",
     one_less_public,
     {"row of input 0", "expected 1 at signal 0", "found 1 at signal 1"}},
    {"a_coefficient_of_matrix_2_is_refused",
     coeff_m2,
     {"matrix of coefficient 0", "0 or 1", "found 2"}},
    {"a_coefficient_of_matrix_7_is_refused",
     coeff_m7,
     {"matrix of coefficient 0", "0 or 1", "found 7"}},
    {"a_coefficient_of_matrix_4_billion_is_refused",
     coeff_m_huge,
     {"matrix of coefficient 0", "found 4294967295"}},
    {"a_coefficient_in_constraint_4_billion_is_refused",
     coeff_row_huge,
     {"constraint of coefficient 0", "below 64", "found 4294967280"}},
    {"a_coefficient_in_the_constraint_after_the_domain_is_refused",
     coeff_row_domain,
     {"constraint of coefficient 0", "below 64", "found 64"}},
    {"a_coefficient_after_the_rows_of_the_inputs_is_refused",
     coeff_row_last,
     {"the row of input 0", "expected 1, found 0"}},
    {"a_coefficient_of_signal_4_billion_is_refused",
     coeff_var_huge,
     {"signal of coefficient 0", "below 51", "found 4294967280"}},
    {"a_coefficient_of_the_signal_after_the_last_is_refused",
     coeff_var_n,
     {"signal of coefficient 0", "below 51", "found 51"}},
    {"a_coefficient_equal_to_the_prime_is_refused", coeff_r, {"value of coefficient 0", "below"}},
    {"a_coefficient_of_2_256_minus_1_is_refused",
     coeff_all_ones,
     {"value of coefficient 0", "below"}},
    {"a_key_without_coefficients_is_refused",
     coeffs_none,
     {"at least 4, one for each input", "found 0"}},
    {"an_empty_section_4_is_refused",
     coeffs_empty,
     {"number of coefficients", "expected 4", "found 0"}},
    {"a_coefficient_too_many_is_refused", coeffs_one_more, {"length of section 4", "expected"}},
    {"4_billion_coefficients_are_refused",
     coeffs_2_32,
     {"length of section 4", "expected 188978560984"}},
    {"an_input_row_of_another_value_is_refused",
     input_row_value,
     {"row of input 3", "expected 1", "another value"}},
    {"an_input_row_in_b_is_refused", input_row_in_b, {"row of input 3", "of B"}},
    {"an_input_row_of_another_signal_is_refused",
     input_row_signal,
     {"row of input 3", "found 1 at signal 2 of A"}},
    {"a_missing_input_row_is_refused", input_row_gone, {"row of input 2", "expected 1, found 0"}},
    {"an_alpha_of_zero_is_refused",
     alpha_zero,
     {"section 2 (alpha1)", "finite point", "found infinity"}},
    {"an_alpha_off_the_curve_is_refused", alpha_off, {"section 2 (alpha1)", "not on the curve"}},
    {"an_alpha_of_a_coordinate_above_p_is_refused",
     alpha_p,
     {"section 2 (alpha1)", "a coordinate that is not below p"}},
    {"a_gamma_of_zero_is_refused", gamma_zero, {"section 2 (gamma2)", "found infinity"}},
    {"a_beta_off_the_curve_is_refused", beta2_off, {"section 2 (beta2)", "not on the curve"}},
    {"infinity_in_ic_is_refused", ic_zero, {"section 3 (IC): point 2", "found infinity"}},
    {"an_ic_one_point_short_is_refused",
     ic_short,
     {"length of section 3 (IC)", "expected 384", "found 288"}},
    {"a_point_of_a_off_the_curve_is_refused",
     a_off,
     {"section 5 (A): point 5", "not on the curve"}},
    {"a_point_of_h_off_the_curve_is_refused",
     h_off,
     {"section 9 (H): point 63", "not on the curve"}},
    {"infinity_in_h_is_refused", h_zero, {"section 9 (H): point 9", "found infinity"}},
    {"a_point_of_c_off_the_curve_is_refused",
     c_off,
     {"section 8 (C): point 3", "not on the curve"}},
    {"a_point_of_b_in_g2_off_the_curve_is_refused",
     b2_off,
     {"section 7 (B in G2)", "not on the curve"}},
    {"infinity_in_a_for_a_variable_that_occurs_is_refused",
     a_zero,
     {"section 5 (A)", "infinity, though the variable occurs"}},
    {"infinity_in_b1_for_a_variable_that_occurs_is_refused",
     b1_zero,
     {"section 6 (B in G1)", "infinity, though"}},
    {"a_point_in_a_for_a_variable_that_does_not_occur_is_refused",
     a_extra,
     {"section 5 (A)", "does not occur"}},
    {"a_point_in_b1_for_a_variable_that_does_not_occur_is_refused",
     b1_extra,
     {"section 6 (B in G1)", "does not occur"}},
    {"a_point_in_b2_for_a_variable_that_does_not_occur_is_refused",
     b2_extra,
     {"section 7 (B in G2)", "does not occur"}},
    {"a_c_one_point_short_is_refused",
     c_short,
     {"length of section 8 (C)", "expected 4512", "found 4416"}},
    {"a_b2_one_point_long_is_refused",
     b2_long,
     {"length of section 7 (B in G2)", "expected 9792", "found 9984"}},
};

static void expect_refused(const iden3_bytes *f)
{
    cuzk_pk *pk = NULL;
    cuzk_r1cs *r = NULL;
    assert_int_equal(
        cuzk_zkey_parse(&pk, &r, iden3_bytes_span(f), "bad", POINT_CHECK_CURVE, NULL, NULL),
        CUZK_E_INPUT);
    assert_null(pk);
    assert_null(r);
}

static void every_cut_of_the_file_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < good.n; n += n < 1200 ? 1 : 61) {
        iden3_bytes f = iden3_bytes_copy(&good);
        iden3_cut(&f, n);
        expect_refused(&f);
        iden3_bytes_clear(&f);
    }
}

static void a_cut_at_each_section_boundary_is_refused(void **state)
{
    (void)state;
    for (uint32_t type = ZKEY_PROTOCOL; type <= ZKEY_HISTORY; type++) {
        size_t length, at = iden3_payload(&good, type, &length);
        size_t ends[] = {at - 12, at - 8, at, at + length / 2};
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            iden3_bytes f = iden3_bytes_copy(&good);
            iden3_cut(&f, ends[i]);
            expect_refused(&f);
            iden3_bytes_clear(&f);
        }
    }
}

/* The table's beginning, protocol, primes, counts and the six points. */
static void every_flipped_bit_of_the_header_is_refused(void **state)
{
    (void)state;
    size_t end = iden3_payload(&good, ZKEY_HEADER, NULL) + ZKEY_HEADER_BYTES;
    for (size_t bit = 0; bit < 8 * end; bit++) {
        iden3_bytes f = iden3_bytes_copy(&good);
        f.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        expect_refused(&f);
        iden3_bytes_clear(&f);
    }
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(every_cut_of_the_file_is_refused),
        cmocka_unit_test(a_cut_at_each_section_boundary_is_refused),
        cmocka_unit_test(every_flipped_bit_of_the_header_is_refused),
    };
    return spoil_run_tests(plain, sizeof plain / sizeof *plain, spoils,
                           sizeof spoils / sizeof *spoils, is_refused, make_good, drop_good);
}
