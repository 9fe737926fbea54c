#include "support/circuits.h"

#include "base/bytes.h"
#include "filecoin/circuits/catalog.h"
#include "r1cs/digest.h"
#include "support/support.h"

void test_circuit_digest(const cuzk_shape *s, const char *want)
{
    uint8_t digest[32];
    char text[65];
    assert_int_equal(cuzk_shape_digest(s, digest, NULL), CUZK_OK);
    cuzk_hex_format(text, digest, sizeof digest);
    assert_string_equal(text, want);
}

void test_circuit_row(const circuit_row *row, bool digest)
{
    cuzk_err err;
    cuzk_circuit_id id;
    cuzk_shape *s = NULL;
    print_message("  %s\n", row->name);
    assert_int_equal(cuzk_circuit_named(&id, row->name, &err), CUZK_OK);
    assert_int_equal(cuzk_circuit_shape(&s, &id, &err), CUZK_OK);
    cuzk_shape_counts c;
    assert_int_equal(cuzk_shape_count(s, &c, &err), CUZK_OK);
    assert_int_equal(c.b_input, 1);
    if (row->inputs) {
        assert_int_equal(s->n_inputs, row->inputs);
        assert_int_equal(cuzk_shape_aux(s), row->aux);
        assert_int_equal(cuzk_shape_rows(s), row->rows);
        assert_int_equal(c.a_aux, row->a_aux);
        assert_int_equal(c.b_aux, row->b_aux);
    }
    for (int m = 0; row->hash && m < 3; m++) {
        assert_int_equal(c.nnz[m], row->nnz[m]);
    }
    if (row->hash && digest) {
        test_circuit_digest(s, row->hash);
    }
    cuzk_shape_free(s);
}
