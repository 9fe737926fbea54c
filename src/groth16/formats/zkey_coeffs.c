#include "groth16/formats/zkey.h"

#include <stdlib.h>

typedef struct entry {
    uint32_t matrix, row, var;
    fr value; /* the file's 32 bytes as they are: the coefficient times R^2 */
} entry;

static const char *const matrix_name[] = {"A", "B"};

/* Entry `i` of the list, unchecked. */
static entry load(const uint8_t *list, uint32_t i)
{
    const uint8_t *p = list + (size_t)i * ZKEY_COEFF_BYTES;
    entry e = {cuzk_load_u32le(p), cuzk_load_u32le(p + 4), cuzk_load_u32le(p + 8), fr_zero};
    for (size_t j = 0; j < FR_LIMBS; j++) {
        e.value.l[j] = cuzk_load_u64le(p + 12 + 8 * j);
    }
    return e;
}

/* Checks every entry by itself; *ret_rows is one more than the highest constraint. */
static cuzk_code check_entries(const cuzk_cursor *c, const uint8_t *list, uint32_t n,
                               const cuzk_zkey_sizes *sizes, uint64_t *ret_rows, cuzk_err *err)
{
    uint64_t domain = UINT64_C(1) << sizes->lg_domain;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        entry e = load(list, i);
        size_t offset = c->base + 4 + (size_t)i * ZKEY_COEFF_BYTES;
        if (!fr_is_reduced(&e.value)) {
            return CUZK_FAIL(err, CUZK_E_INPUT,
                             "%s: offset %zu: value of coefficient %u: expected an integer below "
                             "the scalar field's prime, found one that is not",
                             c->name, offset + 12, i);
        }
        if (e.matrix > 1) {
            return CUZK_FAIL(err, CUZK_E_INPUT,
                             "%s: offset %zu: matrix of coefficient %u: expected 0 or 1, found %u",
                             c->name, offset, i, e.matrix);
        }
        if (e.row >= domain) {
            return CUZK_FAIL(
                err, CUZK_E_INPUT,
                "%s: offset %zu: constraint of coefficient %u: expected below %llu, found %u",
                c->name, offset + 4, i, (unsigned long long)domain, e.row);
        }
        if (e.var >= sizes->n_vars) {
            return CUZK_FAIL(
                err, CUZK_E_INPUT,
                "%s: offset %zu: signal of coefficient %u: expected below %u, found %u", c->name,
                offset + 8, i, sizes->n_vars, e.var);
        }
        rows = e.row >= rows ? e.row + UINT64_C(1) : rows;
    }
    *ret_rows = rows;
    return CUZK_OK;
}

/* Entries in the order of (row, matrix): those of matrix m in row j are order[start[2j + m]] up to
 * order[start[2j + m + 1]]. */
typedef struct sorted {
    const uint8_t *list;
    uint32_t *order;
    uint32_t *start; /* 2 rows + 1 */
} sorted;

static size_t key_of(const uint8_t *list, uint32_t i)
{
    const uint8_t *p = list + (size_t)i * ZKEY_COEFF_BYTES;
    return 2 * (size_t)cuzk_load_u32le(p + 4) + cuzk_load_u32le(p);
}

/* Counting sort, stable. */
static cuzk_code sort_entries(sorted *s, uint32_t n, uint64_t rows, const char *name, cuzk_err *err)
{
    size_t n_keys = 2 * (size_t)rows;
    s->order = malloc(n * sizeof *s->order);
    s->start = calloc(n_keys + 2, sizeof *s->start);
    if (!s->order || !s->start) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for %u coefficients", name, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        s->start[key_of(s->list, i) + 2]++;
    }
    for (size_t k = 0; k < n_keys; k++) {
        s->start[k + 1] += s->start[k];
    }
    /* start[key + 1] is where the key begins, and is moved to its end, where the next one begins.
     */
    for (uint32_t i = 0; i < n; i++) {
        s->order[s->start[key_of(s->list, i) + 1]++] = i;
    }
    return CUZK_OK;
}

/* The row that a key adds for input i is `1 x_i` in A and nothing in B. */
static cuzk_code check_input_row(const sorted *s, uint64_t row, uint32_t input,
                                 const cuzk_cursor *c, cuzk_err *err)
{
    uint32_t begin = s->start[2 * row];
    uint32_t end = s->start[2 * row + 2];
    if (end - begin != 1) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: coefficients of constraint %llu, the row of input %u: "
                         "expected 1, found %u",
                         c->name, c->base, (unsigned long long)row, input, end - begin);
    }
    entry e = load(s->list, s->order[begin]);
    if (e.matrix != 0 || e.var != input || !fr_eq(&e.value, &fr_r2)) {
        return CUZK_FAIL(
            err, CUZK_E_INPUT,
            "%s: offset %zu: coefficient %u, the row of input %u: expected 1 at signal %u of A, "
            "found %s at signal %u of %s",
            c->name, c->base + 4 + (size_t)s->order[begin] * ZKEY_COEFF_BYTES, s->order[begin],
            input, input, fr_eq(&e.value, &fr_r2) ? "1" : "another value", e.var,
            matrix_name[e.matrix]);
    }
    return CUZK_OK;
}

static cuzk_code add_row(cuzk_r1cs_builder *b, const sorted *s, uint64_t row, cuzk_err *err)
{
    for (uint32_t i = s->start[2 * row]; i < s->start[2 * row + 2]; i++) {
        entry e = load(s->list, s->order[i]);
        fr_repr coeff; /* v R^2 divided by R once is v in Montgomery form */
        fr_to_repr(&coeff, &e.value);
        memcpy(e.value.l, coeff.l, sizeof coeff.l);
        CUZK_TRY(cuzk_r1cs_builder_term(b, e.matrix ? CUZK_MATRIX_B : CUZK_MATRIX_A, e.var,
                                        &e.value, err));
    }
    return cuzk_r1cs_builder_end_row(b, err);
}

static cuzk_code build(cuzk_r1cs **ret, const sorted *s, uint64_t rows,
                       const cuzk_zkey_sizes *sizes, const cuzk_cursor *c, cuzk_err *err)
{
    uint64_t n_rows = rows - sizes->n_inputs;
    for (uint32_t i = 0; i < sizes->n_inputs; i++) {
        CUZK_TRY(check_input_row(s, n_rows + i, i, c, err));
    }
    cuzk_r1cs_builder *b;
    CUZK_TRY(cuzk_r1cs_builder_new(&b, sizes->n_inputs, sizes->n_vars - sizes->n_inputs, err));
    cuzk_code code = CUZK_OK;
    for (uint64_t row = 0; row < n_rows && code == CUZK_OK; row++) {
        code = add_row(b, s, row, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_r1cs_builder_finish(b, ret, err);
    }
    if (code == CUZK_OK) {
        (*ret)->has_c = false;
    }
    cuzk_r1cs_builder_free(b);
    return code;
}

cuzk_code cuzk_zkey_read_coeffs(cuzk_r1cs **ret, cuzk_cursor c, const cuzk_zkey_sizes *sizes,
                                cuzk_err *err)
{
    uint32_t n;
    uint64_t rows;
    sorted s = {0};
    CUZK_TRY(cuzk_cursor_u32le(&c, "number of coefficients", &n, err));
    CUZK_TRY(cuzk_iden3_expect_length(&c, 4 + (uint64_t)n * ZKEY_COEFF_BYTES,
                                      "section 4 (coefficients)", err));
    CUZK_TRY(cuzk_cursor_take(&c, cuzk_cursor_left(&c), "coefficients", &s.list, err));
    CUZK_TRY(check_entries(&c, s.list, n, sizes, &rows, err));
    if (rows < sizes->n_inputs) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: constraints with coefficients: expected at least %u, one "
                         "for each input, found %llu",
                         c.name, c.base, sizes->n_inputs, (unsigned long long)rows);
    }
    cuzk_code code = sort_entries(&s, n, rows, c.name, err);
    if (code == CUZK_OK) {
        code = build(ret, &s, rows, sizes, &c, err);
    }
    free(s.order);
    free(s.start);
    return code;
}

static cuzk_code put_entry(cuzk_file_writer *w, uint32_t m, uint64_t row, uint32_t var,
                           const fr *coeff, cuzk_err *err)
{
    uint8_t bytes[ZKEY_COEFF_BYTES];
    fr t;
    fr_repr value;
    cuzk_store_u32le(bytes, m);
    cuzk_store_u32le(bytes + 4, (uint32_t)row);
    cuzk_store_u32le(bytes + 8, var);
    fr_mul(&t, coeff, &fr_r2);
    memcpy(value.l, t.l, sizeof value.l);
    fr_repr_to_bytes(bytes + 12, &value);
    return cuzk_file_writer_put(w, bytes, sizeof bytes, err);
}

cuzk_code cuzk_zkey_put_coeffs(cuzk_file_writer *w, const cuzk_r1cs *r, cuzk_err *err)
{
    uint64_t n = r->a.row[r->n_rows] + r->b.row[r->n_rows] + r->n_inputs;
    if (n > UINT32_MAX || cuzk_r1cs_rows_with_inputs(r) > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "%llu coefficients in %llu constraints: a zkey holds fewer than 2^32",
                         (unsigned long long)n, (unsigned long long)r->n_rows);
    }
    CUZK_TRY(cuzk_iden3_put_section(w, ZKEY_COEFFS, 4 + n * ZKEY_COEFF_BYTES, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, (uint32_t)n, err));
    for (uint64_t row = 0; row < r->n_rows; row++) {
        for (uint32_t m = 0; m < 2; m++) {
            const cuzk_csr *csr = m ? &r->b : &r->a;
            for (uint64_t t = csr->row[row]; t < csr->row[row + 1]; t++) {
                CUZK_TRY(put_entry(w, m, row, csr->var[t], &r->dictionary[csr->coeff[t]], err));
            }
        }
    }
    for (uint32_t i = 0; i < r->n_inputs; i++) {
        CUZK_TRY(put_entry(w, 0, r->n_rows + i, i, &fr_one, err));
    }
    return CUZK_OK;
}
