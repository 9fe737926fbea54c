#include "groth16/formats/formats.h"
#include "groth16/formats/iden3.h"

/*
 * .r1cs, version 1: section 1 the header; 2 the constraints, each three linear combinations (u32
 * terms, then u32 wire and a plain coefficient for each); 3 the label of each wire; 4 and 5 lists
 * of PLONK's custom gates. Wires: ONE, outputs, public inputs, private inputs, the rest.
 */
enum { HEADER = 1, CONSTRAINTS = 2, LABELS = 3, GATES = 4, GATE_USES = 5, MAX_TYPE = 5 };
enum { VERSION = 1, VALUE_BYTES = 32, TERM_BYTES = 4 + VALUE_BYTES };
enum { HEADER_BYTES = 4 + VALUE_BYTES + 4 * 4 + 8 + 4, MIN_CONSTRAINT_BYTES = 12 };

typedef struct header {
    uint32_t n_vars, n_inputs, n_constraints; /* n_inputs: with ONE */
    size_t n_vars_offset;
} header;

static cuzk_code read_header(cuzk_cursor *c, header *ret, cuzk_err *err)
{
    header h;
    uint32_t outputs, publics, privates;
    uint64_t labels; /* of the whole program; nothing here depends on it */
    CUZK_TRY(cuzk_iden3_read_fr_prime(c, err));
    h.n_vars_offset = cuzk_cursor_offset(c);
    CUZK_TRY(cuzk_cursor_u32le(c, "number of wires", &h.n_vars, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "number of public outputs", &outputs, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "number of public inputs", &publics, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "number of private inputs", &privates, err));
    CUZK_TRY(cuzk_cursor_u64le(c, "number of labels", &labels, err));
    CUZK_TRY(cuzk_cursor_u32le(c, "number of constraints", &h.n_constraints, err));
    CUZK_TRY(cuzk_cursor_end(c, "the header", err));
    uint64_t named = UINT64_C(1) + outputs + publics + privates;
    if (h.n_vars < named) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: number of wires: expected at least 1 + %u + %u + %u "
                         "(outputs, public and private inputs), found %u",
                         c->name, h.n_vars_offset, outputs, publics, privates, h.n_vars);
    }
    h.n_inputs = 1 + outputs + publics;
    *ret = h;
    return CUZK_OK;
}

/* Reads one linear combination: with b NULL only checks it, else adds its terms to matrix m. */
static cuzk_code read_combination(cuzk_cursor *c, cuzk_matrix m, uint32_t n_vars,
                                  cuzk_r1cs_builder *b, uint64_t *n_terms, cuzk_err *err)
{
    size_t offset = cuzk_cursor_offset(c);
    uint32_t n;
    CUZK_TRY(cuzk_cursor_u32le(c, "number of terms", &n, err));
    if (n > cuzk_cursor_left(c) / TERM_BYTES) {
        return CUZK_FAIL(
            err, CUZK_E_INPUT,
            "%s: offset %zu: number of terms: expected at most %zu in the %zu bytes left, found %u",
            c->name, offset, cuzk_cursor_left(c) / TERM_BYTES, cuzk_cursor_left(c), n);
    }
    *n_terms += n;
    for (uint32_t i = 0; i < n; i++) {
        offset = cuzk_cursor_offset(c);
        uint32_t var;
        const uint8_t *p;
        fr coeff;
        CUZK_TRY(cuzk_cursor_u32le(c, "wire", &var, err));
        if (var >= n_vars) {
            return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset %zu: wire: expected below %u, found %u",
                             c->name, offset, n_vars, var);
        }
        CUZK_TRY(cuzk_cursor_take(c, VALUE_BYTES, "coefficient", &p, err));
        if (!fr_from_bytes(&coeff, p)) {
            char hex[2 * VALUE_BYTES + 1];
            cuzk_hex_format(hex, p, VALUE_BYTES);
            return CUZK_FAIL(err, CUZK_E_INPUT,
                             "%s: offset %zu: coefficient: expected an integer below the scalar "
                             "field's prime, found the little-endian integer %s",
                             c->name, offset + 4, hex);
        }
        if (b) {
            CUZK_TRY(cuzk_r1cs_builder_term(b, m, var, &coeff, err));
        }
    }
    return CUZK_OK;
}

/* Walks the constraints' section from its start to its end. */
static cuzk_code read_constraints(cuzk_cursor c, const header *h, cuzk_r1cs_builder *b,
                                  uint64_t *ret_terms, cuzk_err *err)
{
    uint64_t n_terms = 0;
    for (uint32_t row = 0; row < h->n_constraints; row++) {
        CUZK_TRY(read_combination(&c, CUZK_MATRIX_A, h->n_vars, b, &n_terms, err));
        CUZK_TRY(read_combination(&c, CUZK_MATRIX_B, h->n_vars, b, &n_terms, err));
        CUZK_TRY(read_combination(&c, CUZK_MATRIX_C, h->n_vars, b, &n_terms, err));
        if (b) {
            CUZK_TRY(cuzk_r1cs_builder_end_row(b, err));
        }
    }
    CUZK_TRY(cuzk_cursor_end(&c, "the constraints", err));
    *ret_terms = n_terms;
    return CUZK_OK;
}

/* A later step allocates by the number of wires, so bytes of the file must stand behind it. */
static cuzk_code check_wires(const cuzk_iden3 *f, const header *h, uint64_t n_terms, cuzk_err *err)
{
    if (f->present[LABELS]) {
        return cuzk_iden3_expect_length(&f->section[LABELS], UINT64_C(8) * h->n_vars, "the labels",
                                        err);
    }
    if (h->n_vars > 1 + n_terms) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: number of wires: expected at most 1 + %llu, the terms of "
                         "all constraints, in a file without labels, found %u",
                         f->name, h->n_vars_offset, (unsigned long long)n_terms, h->n_vars);
    }
    return CUZK_OK;
}

static cuzk_code check_file(cuzk_span bytes, const char *name, header *ret, cuzk_cursor *ret_rows,
                            cuzk_err *err)
{
    cuzk_iden3 f;
    cuzk_cursor head, rows;
    uint64_t n_terms;
    CUZK_TRY(cuzk_iden3_open(&f, bytes, name, "r1cs", VERSION, MAX_TYPE, err));
    for (uint32_t type = GATES; type <= GATE_USES; type++) {
        if (f.present[type]) {
            return CUZK_FAIL(err, CUZK_E_INPUT,
                             "%s: offset %zu: section %u: expected no custom gates, which Groth16 "
                             "does not have, found a section of them",
                             name, f.section[type].base, type);
        }
    }
    CUZK_TRY(cuzk_iden3_section(&f, HEADER, "header", &head, err));
    CUZK_TRY(cuzk_iden3_section(&f, CONSTRAINTS, "constraints", &rows, err));
    CUZK_TRY(read_header(&head, ret, err));
    if (ret->n_constraints > rows.bytes.n / MIN_CONSTRAINT_BYTES) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: number of constraints: expected at most %zu in a section "
                         "of %zu bytes, found %u",
                         name, head.base + HEADER_BYTES - 4, rows.bytes.n / MIN_CONSTRAINT_BYTES,
                         rows.bytes.n, ret->n_constraints);
    }
    CUZK_TRY(read_constraints(rows, ret, NULL, &n_terms, err));
    CUZK_TRY(check_wires(&f, ret, n_terms, err));
    *ret_rows = rows;
    return CUZK_OK;
}

cuzk_code cuzk_r1cs_parse(cuzk_r1cs **ret, cuzk_span bytes, const char *name, cuzk_err *err)
{
    header h;
    cuzk_cursor rows;
    cuzk_r1cs_builder *b;
    uint64_t n_terms;
    CUZK_TRY(check_file(bytes, name, &h, &rows, err));
    CUZK_TRY(cuzk_r1cs_builder_new(&b, h.n_inputs, h.n_vars - h.n_inputs, err));
    cuzk_code code = read_constraints(rows, &h, b, &n_terms, err);
    if (code == CUZK_OK) {
        code = cuzk_r1cs_builder_finish(b, ret, err);
    }
    cuzk_r1cs_builder_free(b);
    return code;
}

cuzk_code cuzk_r1cs_read(cuzk_r1cs **ret, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_r1cs_parse(ret, map.bytes, name, err);
    cuzk_file_map_close(&map);
    return code;
}

static cuzk_code put_combination(cuzk_file_writer *w, const cuzk_r1cs *r, const cuzk_csr *m,
                                 uint64_t row, cuzk_err *err)
{
    CUZK_TRY(cuzk_iden3_put_u32(w, (uint32_t)(m->row[row + 1] - m->row[row]), err));
    for (uint64_t t = m->row[row]; t < m->row[row + 1]; t++) {
        uint8_t bytes[TERM_BYTES];
        cuzk_store_u32le(bytes, m->var[t]);
        fr_to_bytes(bytes + 4, &r->dictionary[m->coeff[t]]);
        CUZK_TRY(cuzk_file_writer_put(w, bytes, sizeof bytes, err));
    }
    return CUZK_OK;
}

static cuzk_code put_header(cuzk_file_writer *w, const cuzk_r1cs *r, uint32_t n_vars, cuzk_err *err)
{
    CUZK_TRY(cuzk_iden3_put_section(w, HEADER, HEADER_BYTES, err));
    CUZK_TRY(cuzk_iden3_put_fr_prime(w, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, n_vars, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, 0, err)); /* outputs: a system does not tell them apart */
    CUZK_TRY(cuzk_iden3_put_u32(w, r->n_inputs - 1, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, 0, err)); /* private inputs: likewise */
    CUZK_TRY(cuzk_iden3_put_u64(w, n_vars, err));
    return cuzk_iden3_put_u32(w, (uint32_t)r->n_rows, err);
}

static cuzk_code put_file(cuzk_file_writer *w, const cuzk_r1cs *r, cuzk_err *err)
{
    uint32_t n_vars = r->n_inputs + r->n_aux;
    uint64_t n_terms = r->a.row[r->n_rows] + r->b.row[r->n_rows] + r->c.row[r->n_rows];
    CUZK_TRY(cuzk_iden3_put_head(w, "r1cs", VERSION, 3, err));
    CUZK_TRY(put_header(w, r, n_vars, err));
    CUZK_TRY(cuzk_iden3_put_section(w, CONSTRAINTS,
                                    n_terms * TERM_BYTES + r->n_rows * MIN_CONSTRAINT_BYTES, err));
    for (uint64_t row = 0; row < r->n_rows; row++) {
        CUZK_TRY(put_combination(w, r, &r->a, row, err));
        CUZK_TRY(put_combination(w, r, &r->b, row, err));
        CUZK_TRY(put_combination(w, r, &r->c, row, err));
    }
    CUZK_TRY(cuzk_iden3_put_section(w, LABELS, UINT64_C(8) * n_vars, err));
    for (uint32_t v = 0; v < n_vars; v++) {
        CUZK_TRY(cuzk_iden3_put_u64(w, v, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_r1cs_write(const cuzk_r1cs *r, const char *name, cuzk_err *err)
{
    if (!r->has_c || r->n_rows > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "%s: cannot write a system of %llu constraints %s its matrix C", name,
                         (unsigned long long)r->n_rows, r->has_c ? "with" : "without");
    }
    cuzk_file_writer *w;
    CUZK_TRY(cuzk_file_writer_open(&w, name, err));
    cuzk_code code = put_file(w, r, err);
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}
