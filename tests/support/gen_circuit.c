#include "support/gen_circuit.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 32 };

typedef struct maker {
    test_rng g;
    cuzk_r1cs_builder *b;
    fr *z;
    uint32_t next;   /* the variable to be made */
    uint32_t *bits;  /* the bit variables so far */
    uint32_t n_bits; /* more than 2 before the first xor */
    uint32_t full;   /* the latest full-size variable, 0 (ONE) when there is none */
    uint32_t word;   /* the latest sum of bits, likewise */
    fr minus_one;
} maker;

static void put(maker *k, cuzk_matrix m, uint32_t var, const fr *coeff)
{
    assert_int_equal(cuzk_r1cs_builder_term(k->b, m, var, coeff, NULL), CUZK_OK);
}

static void end(maker *k) { assert_int_equal(cuzk_r1cs_builder_end_row(k->b, NULL), CUZK_OK); }

static bool bit_value(const maker *k, uint32_t var) { return !fr_is_zero(&k->z[var]); }

static uint32_t new_bit(maker *k, bool value)
{
    k->z[k->next] = value ? fr_one : fr_zero;
    k->bits[k->n_bits++] = k->next;
    return k->next++;
}

static uint32_t some_bit(maker *k) { return k->bits[test_below(&k->g, k->n_bits)]; }

/* (1 - x) x = 0 */
static void free_bit(maker *k)
{
    uint32_t x = new_bit(k, test_u64(&k->g) & 1);
    put(k, CUZK_MATRIX_A, 0, &fr_one);
    put(k, CUZK_MATRIX_A, x, &k->minus_one);
    put(k, CUZK_MATRIX_B, x, &fr_one);
    end(k);
}

/* 2x y = x + y - (x xor y) */
static void xor_bit(maker *k)
{
    uint32_t x = some_bit(k);
    uint32_t y = some_bit(k);
    uint32_t out = new_bit(k, bit_value(k, x) != bit_value(k, y));
    fr two = fr_from_u64(2);
    put(k, CUZK_MATRIX_A, x, &two);
    put(k, CUZK_MATRIX_B, y, &fr_one);
    put(k, CUZK_MATRIX_C, x, &fr_one);
    put(k, CUZK_MATRIX_C, y, &fr_one);
    put(k, CUZK_MATRIX_C, out, &k->minus_one);
    end(k);
}

/* x y = x and y, or with the second negated */
static void and_bit(maker *k)
{
    uint32_t x = some_bit(k);
    uint32_t y = some_bit(k);
    bool negated = test_u64(&k->g) & 1;
    uint32_t out = new_bit(k, bit_value(k, x) && bit_value(k, y) != negated);
    put(k, CUZK_MATRIX_A, x, &fr_one);
    put(k, CUZK_MATRIX_B, y, negated ? &k->minus_one : &fr_one);
    if (negated) {
        put(k, CUZK_MATRIX_B, 0, &fr_one);
    }
    put(k, CUZK_MATRIX_C, out, &fr_one);
    end(k);
}

/* (sum of 2^i bit_i) 1 = word, over the latest bits */
static void pack(maker *k)
{
    uint32_t n = k->n_bits < WORD ? k->n_bits : WORD;
    uint64_t value = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = k->bits[k->n_bits - n + i];
        fr weight = fr_from_u64(UINT64_C(1) << i);
        put(k, CUZK_MATRIX_A, x, &weight);
        value |= (uint64_t)bit_value(k, x) << i;
    }
    k->word = k->next++;
    k->z[k->word] = fr_from_u64(value);
    put(k, CUZK_MATRIX_B, 0, &fr_one);
    put(k, CUZK_MATRIX_C, k->word, &fr_one);
    end(k);
}

/* (full + c) (word + d full) = new full, c and d random */
static void multiply(maker *k)
{
    fr c = test_fr(&k->g);
    fr d = test_fr(&k->g);
    fr left, right;
    fr_add(&left, &k->z[k->full], &c);
    fr_mul(&right, &k->z[k->full], &d);
    fr_add(&right, &right, &k->z[k->word]);
    put(k, CUZK_MATRIX_A, k->full, &fr_one);
    put(k, CUZK_MATRIX_A, 0, &c);
    put(k, CUZK_MATRIX_B, k->word, &fr_one);
    put(k, CUZK_MATRIX_B, k->full, &d);
    k->full = k->next++;
    fr_mul(&k->z[k->full], &left, &right);
    put(k, CUZK_MATRIX_C, k->full, &fr_one);
    end(k);
}

/* x 1 = input, x the latest full-size value or some earlier variable */
static void expose(maker *k, uint32_t input, uint32_t n_inputs)
{
    uint32_t x = input == 1 && k->full ? k->full
                                       : n_inputs + (uint32_t)test_below(&k->g, k->next - n_inputs);
    k->z[input] = k->z[x];
    put(k, CUZK_MATRIX_A, x, &fr_one);
    put(k, CUZK_MATRIX_B, 0, &fr_one);
    put(k, CUZK_MATRIX_C, input, &fr_one);
    end(k);
}

static void make_aux(maker *k, uint32_t n_aux, uint32_t permil)
{
    bool packs = true;
    for (uint64_t i = 1; i <= n_aux; i++) {
        if (k->n_bits < i * permil / 1000) {
            uint64_t kind = test_below(&k->g, 8);
            if (k->n_bits < 2 || kind < 2) {
                free_bit(k);
            } else if (kind < 6) {
                xor_bit(k);
            } else {
                and_bit(k);
            }
        } else if (packs && k->n_bits > 0) {
            pack(k);
            packs = false;
        } else {
            multiply(k);
            packs = true;
        }
    }
}

gen_circuit gen_circuit_new(const gen_wish *wish)
{
    uint32_t n_inputs = wish->n_inputs ? wish->n_inputs : 3;
    assert_true(wish->n_rows >= n_inputs + UINT64_C(8) && wish->n_rows <= UINT32_MAX / 2);
    uint32_t n_aux = (uint32_t)wish->n_rows - (n_inputs - 1);
    size_t n = (size_t)n_inputs + n_aux;
    maker k = {.g = {wish->seed}, .next = n_inputs};
    k.z = calloc(n, sizeof *k.z);
    k.bits = calloc(n_aux, sizeof *k.bits);
    assert_true(k.z && k.bits);
    fr_neg(&k.minus_one, &fr_one);
    k.z[0] = fr_one;
    assert_int_equal(cuzk_r1cs_builder_new(&k.b, n_inputs, n_aux, NULL), CUZK_OK);
    make_aux(&k, n_aux, wish->bit_permil ? wish->bit_permil : 970);
    for (uint32_t i = 1; i < n_inputs; i++) {
        expose(&k, i, n_inputs);
    }

    gen_circuit ret = {0};
    assert_int_equal(cuzk_r1cs_builder_finish(k.b, &ret.r1cs, NULL), CUZK_OK);
    cuzk_r1cs_builder_free(k.b);
    free(k.bits);
    ret.z = malloc(n * sizeof *ret.z);
    assert_non_null(ret.z);
    for (size_t i = 0; i < n; i++) {
        fr_to_repr(&ret.z[i], &k.z[i]);
    }
    free(k.z);
    return ret;
}

void gen_circuit_clear(gen_circuit *c)
{
    cuzk_r1cs_free(c->r1cs);
    free(c->z);
    *c = (gen_circuit){0};
}
