#include "support/small_circuit.h"
#include "support/support.h"

#include <stdlib.h>

enum { MAX_VARS = 64 };

typedef struct maker {
    cuzk_r1cs_builder *b;
    fr z[MAX_VARS];
    uint32_t n_inputs, n_aux;
} maker;

static maker start(uint32_t n_inputs, uint32_t n_aux)
{
    maker k = {.n_inputs = n_inputs, .n_aux = n_aux};
    k.z[0] = fr_one;
    assert_int_equal(cuzk_r1cs_builder_new(&k.b, n_inputs, n_aux, NULL), CUZK_OK);
    return k;
}

static void term(maker *k, cuzk_matrix m, int coeff, uint32_t var)
{
    fr c = fr_from_u64((uint64_t)abs(coeff));
    if (coeff < 0) {
        fr_neg(&c, &c);
    }
    assert_int_equal(cuzk_r1cs_builder_term(k->b, m, var, &c, NULL), CUZK_OK);
}

static void end_row(maker *k) { assert_int_equal(cuzk_r1cs_builder_end_row(k->b, NULL), CUZK_OK); }

/* x y = out, and out gets that value. */
static void product(maker *k, uint32_t x, uint32_t y, uint32_t out)
{
    term(k, CUZK_MATRIX_A, 1, x);
    term(k, CUZK_MATRIX_B, 1, y);
    term(k, CUZK_MATRIX_C, 1, out);
    end_row(k);
    fr_mul(&k->z[out], &k->z[x], &k->z[y]);
}

static small_circuit finish(maker *k, const char *name)
{
    small_circuit c = {.name = name, .n_z = k->n_inputs + k->n_aux};
    assert_int_equal(cuzk_r1cs_builder_finish(k->b, &c.r1cs, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(k->b);
    c.z = malloc(c.n_z * sizeof *c.z);
    assert_non_null(c.z);
    for (size_t i = 0; i < c.n_z; i++) {
        fr_to_repr(&c.z[i], &k->z[i]);
    }
    return c;
}

static small_circuit one_row(uint64_t x, uint64_t y, const char *name)
{
    maker k = start(2, 2);
    k.z[2] = fr_from_u64(x);
    k.z[3] = fr_from_u64(y);
    product(&k, 2, 3, 1);
    return finish(&k, name);
}

static small_circuit no_aux(void)
{
    maker k = start(3, 0);
    k.z[1] = fr_from_u64(11);
    product(&k, 1, 1, 2);
    return finish(&k, "public values only");
}

static small_circuit no_b(void)
{
    maker k = start(2, 1);
    k.z[1] = fr_from_u64(5);
    k.z[2] = fr_from_u64(5);
    term(&k, CUZK_MATRIX_A, 1, 1);
    term(&k, CUZK_MATRIX_A, -1, 2);
    end_row(&k);
    return finish(&k, "an empty matrix B");
}

static small_circuit no_rows(void)
{
    maker k = start(1, 0);
    return finish(&k, "no rows");
}

/* x_(i+1) = x_i^2 + i, the last one public. */
static small_circuit chain(uint32_t n_rows, const char *name)
{
    maker k = start(2, n_rows);
    k.z[2] = fr_from_u64(3);
    for (uint32_t i = 0; i < n_rows; i++) {
        uint32_t x = 2 + i, out = i + 1 == n_rows ? 1 : x + 1;
        fr constant = fr_from_u64(i);
        term(&k, CUZK_MATRIX_A, 1, x);
        term(&k, CUZK_MATRIX_B, 1, x);
        term(&k, CUZK_MATRIX_C, 1, out);
        term(&k, CUZK_MATRIX_C, -(int)i, 0);
        end_row(&k);
        fr_sqr(&k.z[out], &k.z[x]);
        fr_add(&k.z[out], &k.z[out], &constant);
    }
    return finish(&k, name);
}

/* (a + 2 b) (c - 3 x) = y over inputs a, b, c; then y c = z. */
static small_circuit public_in_b(void)
{
    maker k = start(4, 3);
    fr left, right, t;
    for (uint32_t i = 1; i <= 4; i++) {
        k.z[i] = fr_from_u64(1000 + 17 * i);
    }
    term(&k, CUZK_MATRIX_A, 1, 1);
    term(&k, CUZK_MATRIX_A, 2, 2);
    term(&k, CUZK_MATRIX_B, 1, 3);
    term(&k, CUZK_MATRIX_B, -3, 4);
    term(&k, CUZK_MATRIX_C, 1, 5);
    end_row(&k);
    fr_dbl(&left, &k.z[2]);
    fr_add(&left, &left, &k.z[1]);
    fr three = fr_from_u64(3);
    fr_mul(&t, &three, &k.z[4]);
    fr_sub(&right, &k.z[3], &t);
    fr_mul(&k.z[5], &left, &right);
    product(&k, 5, 3, 6);
    return finish(&k, "inputs in A, B and C");
}

small_circuit small_circuit_new(small_shape shape)
{
    switch (shape) {
    case SMALL_ONE_ROW:
        return one_row(6, 7, "one row");
    case SMALL_NO_AUX:
        return no_aux();
    case SMALL_NO_B:
        return no_b();
    case SMALL_NO_ROWS:
        return no_rows();
    case SMALL_EXACT_POWER:
        return chain(14, "rows and inputs fill the domain");
    case SMALL_ABOVE_POWER:
        return chain(15, "one row more than a power of two");
    case SMALL_ZERO_WITNESS:
        return one_row(0, 0, "a witness of zeros");
    case SMALL_PUBLIC_IN_B:
        return public_in_b();
    case SMALL_SHAPES:
        break;
    }
    fail_msg("no such shape");
    return (small_circuit){0};
}

small_circuit small_circuit_with_a_loose_variable(void)
{
    maker k = start(2, 2);
    k.z[2] = fr_from_u64(9);
    k.z[3] = fr_from_u64(1234);
    product(&k, 2, 2, 1);
    return finish(&k, "a variable in no row");
}

void small_circuit_clear(small_circuit *c)
{
    cuzk_r1cs_free(c->r1cs);
    free(c->z);
    *c = (small_circuit){0};
}
