#include "groth16/formats/formats.h"
#include "groth16/formats/iden3.h"

#include <stdlib.h>

/* .wtns, version 2: section 1 u32 n8, prime[n8], u32 count; section 2 the values. */
enum { HEADER = 1, VALUES = 2, MAX_TYPE = 2, VERSION = 2 };

enum { VALUE_BYTES = 32, HEADER_BYTES = 4 + VALUE_BYTES + 4 };

static cuzk_code read_values(cuzk_cursor *c, fr_repr *z, uint32_t n, cuzk_err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t offset = cuzk_cursor_offset(c);
        const uint8_t *p;
        CUZK_TRY(cuzk_cursor_take(c, VALUE_BYTES, "witness value", &p, err));
        if (!fr_repr_from_bytes(&z[i], p)) { /* the value itself is secret */
            return CUZK_FAIL(err, CUZK_E_INPUT,
                             "%s: offset %zu: witness value %u: expected an integer below the "
                             "scalar field's prime, found one that is not",
                             c->name, offset, i);
        }
    }
    const uint64_t *one = z[0].l;
    if (one[0] != 1 || (one[1] | one[2] | one[3]) != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: witness value 0: expected the constant 1, found another",
                         c->name, c->base);
    }
    return CUZK_OK;
}

cuzk_code cuzk_wtns_parse(fr_repr **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                          cuzk_err *err)
{
    cuzk_iden3 f;
    cuzk_cursor head, values;
    uint32_t n;
    CUZK_TRY(cuzk_iden3_open(&f, bytes, name, "wtns", VERSION, MAX_TYPE, err));
    CUZK_TRY(cuzk_iden3_section(&f, HEADER, "header", &head, err));
    CUZK_TRY(cuzk_iden3_section(&f, VALUES, "values", &values, err));
    CUZK_TRY(cuzk_iden3_read_fr_prime(&head, err));
    size_t offset = cuzk_cursor_offset(&head);
    CUZK_TRY(cuzk_cursor_u32le(&head, "number of values", &n, err));
    CUZK_TRY(cuzk_cursor_end(&head, "the header", err));
    if (n == 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: number of values: expected at least 1, found 0", name,
                         offset);
    }
    CUZK_TRY(cuzk_iden3_expect_length(&values, (uint64_t)n * VALUE_BYTES, "the values", err));
    fr_repr *z = malloc(n * sizeof *z);
    if (!z) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for %u witness values", name, n);
    }
    cuzk_code code = read_values(&values, z, n, err);
    if (code != CUZK_OK) {
        cuzk_wipe(z, n * sizeof *z);
        free(z);
        return code;
    }
    *ret = z;
    *ret_n = n;
    return CUZK_OK;
}

cuzk_code cuzk_wtns_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_wtns_parse(ret, ret_n, map.bytes, name, err);
    cuzk_file_map_close(&map);
    return code;
}

static cuzk_code put_file(cuzk_file_writer *w, const fr_repr *z, uint32_t n, cuzk_err *err)
{
    CUZK_TRY(cuzk_iden3_put_head(w, "wtns", VERSION, 2, err));
    CUZK_TRY(cuzk_iden3_put_section(w, HEADER, HEADER_BYTES, err));
    CUZK_TRY(cuzk_iden3_put_fr_prime(w, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, n, err));
    CUZK_TRY(cuzk_iden3_put_section(w, VALUES, (uint64_t)n * VALUE_BYTES, err));
    for (uint32_t i = 0; i < n; i++) {
        uint8_t bytes[VALUE_BYTES];
        fr_repr_to_bytes(bytes, &z[i]);
        CUZK_TRY(cuzk_file_writer_put(w, bytes, sizeof bytes, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_wtns_write(const fr_repr *z, size_t n, const char *name, cuzk_err *err)
{
    if (n == 0 || n > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: a witness of %zu values", name, n);
    }
    cuzk_file_writer *w;
    CUZK_TRY(cuzk_file_writer_open(&w, name, err));
    cuzk_code code = put_file(w, z, (uint32_t)n, err);
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}
