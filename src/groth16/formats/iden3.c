#include "groth16/formats/iden3.h"

#include "math/field/fp.h"

#include <string.h>

/* A prime that a file may name: the two of BLS12-381, and BN254's for a better message. */
typedef struct prime {
    const char *field; /* in messages */
    uint32_t n8;
    uint64_t l[FP_LIMBS];
} prime;

static const prime bls12_381_fr = {"prime of the scalar field", 8 * FR_LIMBS, FR_MODULUS};
static const prime bls12_381_fp = {"prime of the base field", 8 * FP_LIMBS, FP_MODULUS};

static const uint64_t bn254_fr[4] = {0x43e1f593f0000001u, 0x2833e84879b97091u, 0xb85045b68181585du,
                                     0x30644e72e131a029u};
static const uint64_t bn254_fp[4] = {0x3c208c16d87cfd47u, 0x97816a916871ca8du, 0xb85045b68181585du,
                                     0x30644e72e131a029u};

static bool limbs_equal(const uint8_t *bytes, const uint64_t *l, uint32_t n8)
{
    for (uint32_t i = 0; i < n8 / 8; i++) {
        if (cuzk_load_u64le(bytes + 8 * (size_t)i) != l[i]) {
            return false;
        }
    }
    return true;
}

static cuzk_code read_prime(cuzk_cursor *c, const prime *want, cuzk_err *err)
{
    size_t offset = cuzk_cursor_offset(c);
    uint32_t n8;
    CUZK_TRY(cuzk_cursor_u32le(c, "bytes of a field element", &n8, err));
    bool is_bn254 = n8 == 32 && cuzk_cursor_left(c) >= 32 &&
                    (limbs_equal(c->bytes.p + c->pos, bn254_fr, 32) ||
                     limbs_equal(c->bytes.p + c->pos, bn254_fp, 32));
    if (is_bn254) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: %s: curve not supported: expected BLS12-381, found BN254",
                         c->name, offset, want->field);
    }
    if (n8 != want->n8) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: bytes of a field element: expected %u, found %u", c->name,
                         offset, want->n8, n8);
    }
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(c, n8, want->field, &p, err));
    if (!limbs_equal(p, want->l, n8)) {
        char hex[2 * 8 * FP_LIMBS + 1];
        cuzk_hex_format(hex, p, n8);
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: %s: curve not supported: expected that of BLS12-381, "
                         "found the little-endian integer %s",
                         c->name, offset + 4, want->field, hex);
    }
    return CUZK_OK;
}

cuzk_code cuzk_iden3_read_fr_prime(cuzk_cursor *c, cuzk_err *err)
{
    return read_prime(c, &bls12_381_fr, err);
}

cuzk_code cuzk_iden3_read_fp_prime(cuzk_cursor *c, cuzk_err *err)
{
    return read_prime(c, &bls12_381_fp, err);
}

static cuzk_code read_magic(cuzk_cursor *c, const char magic[5], cuzk_err *err)
{
    const uint8_t *p;
    CUZK_TRY(cuzk_cursor_take(c, 4, "magic", &p, err));
    if (memcmp(p, magic, 4) != 0) {
        char hex[9];
        cuzk_hex_format(hex, p, 4);
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset 0: magic: expected \"%s\", found the bytes %s", c->name, magic,
                         hex);
    }
    return CUZK_OK;
}

static cuzk_code read_section(cuzk_iden3 *f, cuzk_cursor *c, uint32_t max_type, cuzk_err *err)
{
    size_t offset = cuzk_cursor_offset(c);
    uint32_t type;
    uint64_t length;
    CUZK_TRY(cuzk_cursor_u32le(c, "section type", &type, err));
    if (type == 0 || type > max_type) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: section type: expected 1 to %u, found %u", c->name,
                         offset, max_type, type);
    }
    if (f->present[type]) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: section type: expected each type once, found %u twice",
                         c->name, offset, type);
    }
    CUZK_TRY(cuzk_cursor_u64le(c, "section length", &length, err));
    if (length > cuzk_cursor_left(c)) {
        return CUZK_FAIL(
            err, CUZK_E_INPUT,
            "%s: offset %zu: length of section %u: expected at most the %zu bytes left, found %llu",
            c->name, offset + 4, type, cuzk_cursor_left(c), (unsigned long long)length);
    }
    CUZK_TRY(cuzk_cursor_sub(c, (size_t)length, "section", &f->section[type], err));
    f->present[type] = true;
    return CUZK_OK;
}

cuzk_code cuzk_iden3_open(cuzk_iden3 *ret, cuzk_span bytes, const char *name, const char magic[5],
                          uint32_t version, uint32_t max_type, cuzk_err *err)
{
    cuzk_iden3 f = {.name = name};
    cuzk_cursor c = cuzk_cursor_of(bytes, name);
    uint32_t found_version, n;
    CUZK_TRY(read_magic(&c, magic, err));
    CUZK_TRY(cuzk_cursor_u32le(&c, "version", &found_version, err));
    if (found_version != version) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: offset 4: version: expected %u, found %u", name,
                         version, found_version);
    }
    CUZK_TRY(cuzk_cursor_u32le(&c, "number of sections", &n, err));
    if (n > max_type) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset 8: number of sections: expected at most %u, found %u", name,
                         max_type, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        CUZK_TRY(read_section(&f, &c, max_type, err));
    }
    CUZK_TRY(cuzk_cursor_end(&c, "the last section", err));
    *ret = f;
    return CUZK_OK;
}

cuzk_code cuzk_iden3_section(const cuzk_iden3 *f, uint32_t type, const char *what, cuzk_cursor *ret,
                             cuzk_err *err)
{
    if (!f->present[type]) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset 12: section table: expected a section %u (%s), found none",
                         f->name, type, what);
    }
    *ret = f->section[type];
    return CUZK_OK;
}

cuzk_code cuzk_iden3_expect_length(const cuzk_cursor *c, uint64_t n, const char *what,
                                   cuzk_err *err)
{
    if (c->bytes.n != n) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: length of %s: expected %llu bytes, found %zu", c->name,
                         c->base, what, (unsigned long long)n, c->bytes.n);
    }
    return CUZK_OK;
}

cuzk_code cuzk_iden3_put_u32(cuzk_file_writer *w, uint32_t v, cuzk_err *err)
{
    uint8_t bytes[4];
    cuzk_store_u32le(bytes, v);
    return cuzk_file_writer_put(w, bytes, sizeof bytes, err);
}

cuzk_code cuzk_iden3_put_u64(cuzk_file_writer *w, uint64_t v, cuzk_err *err)
{
    uint8_t bytes[8];
    cuzk_store_u64le(bytes, v);
    return cuzk_file_writer_put(w, bytes, sizeof bytes, err);
}

cuzk_code cuzk_iden3_put_head(cuzk_file_writer *w, const char magic[5], uint32_t version,
                              uint32_t n_sections, cuzk_err *err)
{
    CUZK_TRY(cuzk_file_writer_put(w, magic, 4, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, version, err));
    return cuzk_iden3_put_u32(w, n_sections, err);
}

cuzk_code cuzk_iden3_put_section(cuzk_file_writer *w, uint32_t type, uint64_t length, cuzk_err *err)
{
    CUZK_TRY(cuzk_iden3_put_u32(w, type, err));
    return cuzk_iden3_put_u64(w, length, err);
}

static cuzk_code put_prime(cuzk_file_writer *w, const prime *p, cuzk_err *err)
{
    CUZK_TRY(cuzk_iden3_put_u32(w, p->n8, err));
    for (uint32_t i = 0; i < p->n8 / 8; i++) {
        CUZK_TRY(cuzk_iden3_put_u64(w, p->l[i], err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_iden3_put_fr_prime(cuzk_file_writer *w, cuzk_err *err)
{
    return put_prime(w, &bls12_381_fr, err);
}

cuzk_code cuzk_iden3_put_fp_prime(cuzk_file_writer *w, cuzk_err *err)
{
    return put_prime(w, &bls12_381_fp, err);
}
