#include "groth16/formats/formats.h"
#include "support/gen_circuit.h"
#include "support/spoil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_ROWS = 60, HEADER = 1, ROWS = 2, LABELS = 3 };
enum { N_VARS_AT = 36, OUTPUTS_AT = 40, N_ROWS_AT = 60, HEADER_LENGTH = 64 };

static gen_circuit circuit;
static iden3_bytes good; /* circuit, written by cuzk_r1cs_write */

static int make_good(void **state)
{
    (void)state;
    circuit = gen_circuit_new(&(gen_wish){.n_rows = N_ROWS, .bit_permil = 700, .seed = 1});
    char path[4096];
    snprintf(path, sizeof path, "%s/good.r1cs", test_tmpdir());
    assert_int_equal(cuzk_r1cs_write(circuit.r1cs, path, NULL), CUZK_OK);
    good = iden3_bytes_load(path);
    return 0;
}

static int drop_good(void **state)
{
    (void)state;
    iden3_bytes_clear(&good);
    gen_circuit_clear(&circuit);
    return 0;
}

static cuzk_r1cs *must_parse(const iden3_bytes *f)
{
    cuzk_r1cs *r = NULL;
    cuzk_err err = {0};
    cuzk_code code = cuzk_r1cs_parse(&r, iden3_bytes_span(f), "good", &err);
    if (code != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return r;
}

static void same_matrix(const cuzk_r1cs *x, const cuzk_csr *a, const cuzk_r1cs *y,
                        const cuzk_csr *b)
{
    assert_memory_equal(a->row, b->row, (x->n_rows + 1) * sizeof *a->row);
    for (uint64_t t = 0; t < a->row[x->n_rows]; t++) {
        assert_int_equal(a->var[t], b->var[t]);
        assert_true(fr_eq(&x->dictionary[a->coeff[t]], &y->dictionary[b->coeff[t]]));
    }
}

static void same_system(const cuzk_r1cs *x, const cuzk_r1cs *y)
{
    assert_int_equal(x->n_inputs, y->n_inputs);
    assert_int_equal(x->n_aux, y->n_aux);
    assert_int_equal(x->n_rows, y->n_rows);
    assert_int_equal(x->has_c, y->has_c);
    same_matrix(x, &x->a, y, &y->a);
    same_matrix(x, &x->b, y, &y->b);
    same_matrix(x, &x->c, y, &y->c);
}

static void a_written_system_is_read_back(void **state)
{
    (void)state;
    cuzk_r1cs *r = must_parse(&good);
    same_system(r, circuit.r1cs);
    r->has_c = false;
    assert_int_equal(cuzk_r1cs_write(r, "x.r1cs", NULL), CUZK_E_ARG);
    cuzk_r1cs_free(r);
}

static void sections_may_stand_in_any_order(void **state)
{
    (void)state;
    iden3_bytes f = iden3_bytes_copy(&good);
    iden3_reverse_sections(&f);
    cuzk_r1cs *r = must_parse(&f);
    same_system(r, circuit.r1cs);
    cuzk_r1cs_free(r);
    iden3_bytes_clear(&f);
}

static void labels_may_be_missing(void **state)
{
    (void)state;
    iden3_bytes f = iden3_bytes_copy(&good);
    iden3_remove_section(&f, LABELS);
    cuzk_r1cs *r = must_parse(&f);
    same_system(r, circuit.r1cs);
    cuzk_r1cs_free(r);
    iden3_bytes_clear(&f);
}

static void outputs_and_public_inputs_are_both_inputs(void **state)
{
    (void)state;
    iden3_bytes f = iden3_bytes_copy(&good);
    spoil_u32(&f, HEADER, OUTPUTS_AT, 1);
    spoil_u32(&f, HEADER, OUTPUTS_AT + 4, 3);
    spoil_u32(&f, HEADER, OUTPUTS_AT + 8, 7); /* private inputs are none of them */
    cuzk_r1cs *r = must_parse(&f);
    assert_int_equal(r->n_inputs, 5);
    assert_int_equal(r->n_inputs + r->n_aux, circuit.r1cs->n_inputs + circuit.r1cs->n_aux);
    cuzk_r1cs_free(r);
    iden3_bytes_clear(&f);
}

static void a_file_without_constraints_is_a_system(void **state)
{
    (void)state;
    cuzk_r1cs_builder *b;
    cuzk_r1cs *r = NULL, *again = NULL;
    char path[4096];
    snprintf(path, sizeof path, "%s/none.r1cs", test_tmpdir());
    assert_int_equal(cuzk_r1cs_builder_new(&b, 1, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_r1cs_builder_finish(b, &r, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(b);
    assert_int_equal(cuzk_r1cs_write(r, path, NULL), CUZK_OK);
    assert_int_equal(cuzk_r1cs_read(&again, path, NULL), CUZK_OK);
    same_system(r, again);
    cuzk_r1cs_free(r);
    cuzk_r1cs_free(again);
}

static void the_real_file_has_the_wires_of_its_circuit(void **state)
{
    (void)state;
    TEST_VECTOR_OR_SKIP(path, "snarkjs/chain1k/mulchain.r1cs");
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_r1cs_read(&r, path, NULL), CUZK_OK);
    assert_int_equal(r->n_inputs, 3); /* ONE, out, b */
    assert_int_equal(r->n_aux, 1000); /* a, x_1 … x_999 */
    assert_int_equal(r->n_rows, 1000);
    /* circom writes x * x = x' - b with the sign turned: (-x) x = b - x' */
    for (uint64_t row = 0; row < r->n_rows; row++) {
        assert_int_equal(r->a.row[row + 1] - r->a.row[row], 1);
        assert_int_equal(r->b.row[row + 1] - r->b.row[row], 1);
        assert_int_equal(r->c.row[row + 1] - r->c.row[row], 2);
        assert_int_equal(r->a.var[row], r->b.var[row]);
    }
    assert_int_equal(r->n_coeffs, 2);
    cuzk_r1cs_free(r);
}

static void is_refused(void **state)
{
    const spoil *s = *state;
    iden3_bytes f = iden3_bytes_copy(&good);
    s->apply(&f);
    cuzk_r1cs *r = NULL;
    cuzk_err err = {0};
    cuzk_code code = cuzk_r1cs_parse(&r, iden3_bytes_span(&f), "bad", &err);
    spoil_expect(s, code, &err);
    assert_null(r);
    iden3_bytes_clear(&f);
}

/* Offset in section 2 of the first term of the first row. */
enum { FIRST_TERM = 4 };

static uint32_t n_vars(void) { return circuit.r1cs->n_inputs + circuit.r1cs->n_aux; }

static void labels_twice(iden3_bytes *f) { iden3_repeat_section(f, LABELS); }
static void custom_gates(iden3_bytes *f)
{
    uint8_t list[4] = {1, 0, 0, 0};
    iden3_append_section(f, 4, list, sizeof list);
}
static void custom_gate_uses(iden3_bytes *f) { iden3_append_section(f, 5, NULL, 0); }
static void other_prime(iden3_bytes *f) { spoil_flip(f, HEADER, 4 + 31, 1); }
static void bn254(iden3_bytes *f) { spoil_with_bn254(f, HEADER, 4); }
static void goldilocks(iden3_bytes *f) { spoil_u32(f, HEADER, 0, 8); }
static void huge_n8(iden3_bytes *f) { spoil_u32(f, HEADER, 0, UINT32_MAX); }
static void header_cut(iden3_bytes *f)
{
    iden3_replace_section(f, HEADER, f->p + iden3_payload(f, HEADER, NULL), HEADER_LENGTH - 4);
}
static void header_long(iden3_bytes *f)
{
    iden3_replace_section(f, HEADER, f->p + iden3_payload(f, HEADER, NULL), HEADER_LENGTH + 8);
}
static void no_wires(iden3_bytes *f) { spoil_u32(f, HEADER, N_VARS_AT, 0); }
static void more_wires(iden3_bytes *f) { spoil_u32(f, HEADER, N_VARS_AT, n_vars() + 1000); }
static void fewer_wires(iden3_bytes *f) { spoil_u32(f, HEADER, N_VARS_AT, n_vars() - 1); }
static void many_wires_without_labels(iden3_bytes *f)
{
    iden3_remove_section(f, LABELS);
    spoil_u32(f, HEADER, N_VARS_AT, UINT32_MAX);
}
static void many_outputs(iden3_bytes *f) { spoil_u32(f, HEADER, OUTPUTS_AT, n_vars()); }
static void counts_that_wrap(iden3_bytes *f)
{
    spoil_u32(f, HEADER, OUTPUTS_AT, 0x80000000u);
    spoil_u32(f, HEADER, OUTPUTS_AT + 4, 0x80000000u);
}
static void many_rows(iden3_bytes *f) { spoil_u32(f, HEADER, N_ROWS_AT, UINT32_MAX); }
static void one_row_more(iden3_bytes *f) { spoil_u32(f, HEADER, N_ROWS_AT, N_ROWS + 1); }
static void one_row_fewer(iden3_bytes *f) { spoil_u32(f, HEADER, N_ROWS_AT, N_ROWS - 1); }
static void many_terms(iden3_bytes *f) { spoil_u32(f, ROWS, 0, UINT32_MAX); }
static void huge_wire(iden3_bytes *f) { spoil_u32(f, ROWS, FIRST_TERM, 0xfffffff0u); }
static void wire_n_vars(iden3_bytes *f) { spoil_u32(f, ROWS, FIRST_TERM, n_vars()); }
static void coefficient_r(iden3_bytes *f) { spoil_with_prime(f, ROWS, FIRST_TERM + 4); }
static void coefficient_all_ones(iden3_bytes *f)
{
    memset(f->p + iden3_payload(f, ROWS, NULL) + FIRST_TERM + 4, 0xff, 32);
}
static void rows_cut(iden3_bytes *f)
{
    size_t n, at = iden3_payload(f, ROWS, &n);
    iden3_replace_section(f, ROWS, f->p + at, n - 1);
}
static void labels_cut(iden3_bytes *f)
{
    size_t n, at = iden3_payload(f, LABELS, &n);
    iden3_replace_section(f, LABELS, f->p + at, n - 8);
}

static const spoil spoils[] = {
    {"an_empty_file_is_refused", spoil_empty, {"magic", "expected 4", "found 0"}},
    {"a_file_one_byte_short_is_refused", spoil_one_byte_less, {"length of section 3"}},
    {"a_file_one_byte_long_is_refused", spoil_one_byte_more, {"expected the end", "found 1 more"}},
    {"another_magic_is_refused", spoil_magic, {"offset 0: magic", "\"r1cs\"", "21316373"}},
    {"another_version_is_refused",
     spoil_version_99,
     {"offset 4: version", "expected 1", "found 99"}},
    {"a_claim_of_4_billion_sections_is_refused", spoil_many_sections, {"offset 8", "4294967295"}},
    {"a_claim_of_no_sections_is_refused", spoil_no_sections, {"the end of the last section"}},
    {"a_file_without_header_is_refused", spoil_remove_1, {"section 1 (header)", "found none"}},
    {"a_file_without_constraints_section_is_refused",
     spoil_remove_2,
     {"2 (constraints)", "found none"}},
    {"a_second_section_of_labels_is_refused", labels_twice, {"section type", "found 3 twice"}},
    {"an_unknown_section_is_refused", spoil_unknown_2, {"section type", "1 to 5", "found 11"}},
    {"an_endless_section_is_refused", spoil_endless_2, {"length of section 2", "bytes left"}},
    {"a_list_of_custom_gates_is_refused", custom_gates, {"section 4", "custom gates"}},
    {"a_list_of_uses_of_custom_gates_is_refused", custom_gate_uses, {"section 5", "custom gates"}},
    {"another_prime_is_refused", other_prime, {"prime of the scalar field", "not supported"}},
    {"the_prime_of_bn254_is_refused", bn254, {"curve not supported", "BLS12-381", "BN254"}},
    {"elements_of_8_bytes_are_refused", goldilocks, {"bytes of a field element", "found 8"}},
    {"elements_of_4_billion_bytes_are_refused", huge_n8, {"expected 32", "found 4294967295"}},
    {"a_header_too_short_is_refused",
     header_cut,
     {"number of constraints", "expected 4", "found 0"}},
    {"a_header_too_long_is_refused", header_long, {"the end of the header", "found 8 more"}},
    {"no_wires_are_refused", no_wires, {"number of wires", "at least 1", "found 0"}},
    {"a_thousand_wires_more_are_refused", more_wires, {"length of the labels", "found 488"}},
    {"a_wire_fewer_is_refused", fewer_wires, {"wire: expected below 60", "found 60"}},
    {"4_billion_wires_without_labels_are_refused",
     many_wires_without_labels,
     {"number of wires", "without labels", "found 4294967295"}},
    {"more_outputs_than_wires_are_refused",
     many_outputs,
     {"number of wires", "at least 1 + 61", "found 61"}},
    {"numbers_of_inputs_that_wrap_are_refused",
     counts_that_wrap,
     {"number of wires", "2147483648 + 2147483648"}},
    {"4_billion_constraints_are_refused", many_rows, {"number of constraints", "found 4294967295"}},
    {"a_constraint_too_many_is_refused",
     one_row_more,
     {"number of terms", "expected 4", "found 0"}},
    {"a_constraint_too_few_is_refused", one_row_fewer, {"the end of the constraints"}},
    {"4_billion_terms_are_refused", many_terms, {"number of terms", "found 4294967295"}},
    {"a_wire_of_4_billion_is_refused", huge_wire, {"wire: expected below 61", "found 4294967280"}},
    {"a_wire_equal_to_the_number_of_wires_is_refused",
     wire_n_vars,
     {"expected below 61", "found 61"}},
    {"a_coefficient_equal_to_the_prime_is_refused",
     coefficient_r,
     {"coefficient", "below", "01000000ffffffff"}},
    {"a_coefficient_of_2_256_minus_1_is_refused",
     coefficient_all_ones,
     {"coefficient", "below", "ffffffffffffffff"}},
    {"constraints_one_byte_short_are_refused", rows_cut, {"terms"}},
    {"labels_one_short_are_refused", labels_cut, {"length of the labels", "found 480"}},
};

static void expect_refused(const iden3_bytes *f)
{
    cuzk_r1cs *r = NULL;
    assert_int_equal(cuzk_r1cs_parse(&r, iden3_bytes_span(f), "bad", NULL), CUZK_E_INPUT);
    assert_null(r);
}

static void every_cut_of_the_file_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < good.n; n += n < 600 ? 1 : 7) {
        iden3_bytes f = iden3_bytes_copy(&good);
        iden3_cut(&f, n);
        expect_refused(&f);
        iden3_bytes_clear(&f);
    }
}

static void every_flipped_bit_of_table_prime_and_counts_is_refused(void **state)
{
    (void)state;
    size_t header = iden3_payload(&good, HEADER, NULL);
    for (size_t bit = 0; bit < 8 * (header + HEADER_LENGTH + 12); bit++) {
        size_t at = bit / 8;
        bool free_count = at >= header + OUTPUTS_AT && at < header + N_ROWS_AT;
        if (free_count) { /* inputs and labels: other values may be right too */
            continue;
        }
        iden3_bytes f = iden3_bytes_copy(&good);
        f.p[at] ^= (uint8_t)(1 << bit % 8);
        expect_refused(&f);
        iden3_bytes_clear(&f);
    }
}

int main(void)
{
    const struct CMUnitTest plain[] = {
        cmocka_unit_test(a_written_system_is_read_back),
        cmocka_unit_test(sections_may_stand_in_any_order),
        cmocka_unit_test(labels_may_be_missing),
        cmocka_unit_test(outputs_and_public_inputs_are_both_inputs),
        cmocka_unit_test(a_file_without_constraints_is_a_system),
        cmocka_unit_test(the_real_file_has_the_wires_of_its_circuit),
        cmocka_unit_test(every_cut_of_the_file_is_refused),
        cmocka_unit_test(every_flipped_bit_of_table_prime_and_counts_is_refused),
    };
    return spoil_run_tests(plain, sizeof plain / sizeof *plain, spoils,
                           sizeof spoils / sizeof *spoils, is_refused, make_good, drop_good);
}
