#include "groth16/formats/formats.h"

#include "groth16/formats/points.h"

#include <stdlib.h>

enum { INPUT_BYTES = 32 };

void cuzk_proof_encode(uint8_t bytes[CUZK_PROOF_BYTES], const cuzk_proof *proof)
{
    g1_compress(bytes, &proof->a);
    g2_compress(bytes + 48, &proof->b);
    g1_compress(bytes + 144, &proof->c);
}

static cuzk_code refuse(const char *name, size_t offset, const char *point, const char *group,
                        const char *found, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "%s: offset %zu: %s of the proof: expected a finite point of %s, found %s",
                     name, offset, point, group, found);
}

static cuzk_code decode_g1(g1_affine *ret, const uint8_t *bytes, const char *name, size_t offset,
                           const char *point, cuzk_err *err)
{
    point_status status = g1_decompress(ret, bytes, POINT_CHECK_SUBGROUP);
    if (status != POINT_OK) {
        return refuse(name, offset, point, "G1", point_status_text(status), err);
    }
    if (g1_affine_is_inf(ret)) {
        return refuse(name, offset, point, "G1", "the point at infinity", err);
    }
    return CUZK_OK;
}

cuzk_code cuzk_proof_decode(cuzk_proof *ret, const uint8_t bytes[CUZK_PROOF_BYTES],
                            const char *name, size_t offset, cuzk_err *err)
{
    cuzk_proof p;
    CUZK_TRY(decode_g1(&p.a, bytes, name, offset, "A", err));
    point_status status = g2_decompress(&p.b, bytes + 48, POINT_CHECK_SUBGROUP);
    if (status != POINT_OK) {
        return refuse(name, offset + 48, "B", "G2", point_status_text(status), err);
    }
    if (g2_affine_is_inf(&p.b)) {
        return refuse(name, offset + 48, "B", "G2", "the point at infinity", err);
    }
    CUZK_TRY(decode_g1(&p.c, bytes + 144, name, offset + 144, "C", err));
    *ret = p;
    return CUZK_OK;
}

cuzk_code cuzk_proofs_parse(cuzk_proof **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                            cuzk_err *err)
{
    size_t n = bytes.n / CUZK_PROOF_BYTES;
    if (n == 0 || bytes.n % CUZK_PROOF_BYTES != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: proof %zu: expected %d bytes, found %zu", name,
                         n * CUZK_PROOF_BYTES, n, CUZK_PROOF_BYTES, bytes.n % CUZK_PROOF_BYTES);
    }
    cuzk_proof *proofs = malloc(n * sizeof *proofs);
    if (!proofs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for %zu proofs", name, n);
    }
    for (size_t i = 0; i < n; i++) {
        cuzk_code code = cuzk_proof_decode(&proofs[i], bytes.p + i * CUZK_PROOF_BYTES, name,
                                           i * CUZK_PROOF_BYTES, err);
        if (code != CUZK_OK) {
            free(proofs);
            return code;
        }
    }
    *ret = proofs;
    *ret_n = n;
    return CUZK_OK;
}

cuzk_code cuzk_inputs_parse(fr_repr **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                            cuzk_err *err)
{
    size_t n = bytes.n / INPUT_BYTES;
    if (bytes.n % INPUT_BYTES != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: input %zu: expected %d bytes, found %zu", name,
                         n * INPUT_BYTES, n, INPUT_BYTES, bytes.n % INPUT_BYTES);
    }
    fr_repr *inputs = malloc((n + 1) * sizeof *inputs); /* + 1: no inputs are an array as well */
    if (!inputs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for %zu inputs", name, n);
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = bytes.p + i * INPUT_BYTES;
        if (!fr_repr_from_bytes(&inputs[i], at)) {
            char hex[2 * INPUT_BYTES + 1];
            cuzk_hex_format(hex, at, INPUT_BYTES);
            free(inputs);
            return CUZK_FAIL(err, CUZK_E_INPUT,
                             "%s: offset %zu: input %zu: expected a little-endian integer below r, "
                             "found the bytes %s",
                             name, i * INPUT_BYTES, i, hex);
        }
    }
    *ret = inputs;
    *ret_n = n;
    return CUZK_OK;
}

cuzk_code cuzk_proofs_read(cuzk_proof **ret, size_t *ret_n, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_proofs_parse(ret, ret_n, map.bytes, name, err);
    cuzk_file_map_close(&map);
    return code;
}

cuzk_code cuzk_inputs_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_inputs_parse(ret, ret_n, map.bytes, name, err);
    cuzk_file_map_close(&map);
    return code;
}
