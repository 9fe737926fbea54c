#ifndef CUZK_GROTH16_IDEN3_H
#define CUZK_GROTH16_IDEN3_H

#include "base/file.h"
#include "math/field/fr.h"

/*
 * The container of iden3's binary files (.r1cs, .wtns, .zkey), little-endian: magic[4], u32
 * version, u32 sections, then for each section u32 type, u64 length, payload. Sections stand in any
 * order.
 */

enum { CUZK_IDEN3_MAX_TYPE = 10 };

/** The sections of a file, each a cursor at its payload. Borrows the file's bytes and name. */
typedef struct cuzk_iden3 {
    const char *name;
    bool present[CUZK_IDEN3_MAX_TYPE + 1]; /* by type */
    cuzk_cursor section[CUZK_IDEN3_MAX_TYPE + 1];
} cuzk_iden3;

/**
 * Reads the section table of a whole file. Types run from 1 to max_type <= CUZK_IDEN3_MAX_TYPE.
 * CUZK_E_INPUT for another magic or version, a section of another type or found twice or longer
 * than the file, and bytes after the last section.
 */
cuzk_code cuzk_iden3_open(cuzk_iden3 *ret, cuzk_span bytes, const char *name, const char magic[5],
                          uint32_t version, uint32_t max_type, cuzk_err *err);

/** The cursor of a section; CUZK_E_INPUT when the file has none. `what` says what it holds. */
cuzk_code cuzk_iden3_section(const cuzk_iden3 *f, uint32_t type, const char *what, cuzk_cursor *ret,
                             cuzk_err *err);

/** CUZK_E_INPUT unless `c`, at the start of its section, holds exactly n bytes. */
cuzk_code cuzk_iden3_expect_length(const cuzk_cursor *c, uint64_t n, const char *what,
                                   cuzk_err *err);

/** Reads a field's description, u32 n8 and prime[n8]; CUZK_E_INPUT unless it is BLS12-381's Fr. */
cuzk_code cuzk_iden3_read_fr_prime(cuzk_cursor *c, cuzk_err *err);

/** The same for Fp. */
cuzk_code cuzk_iden3_read_fp_prime(cuzk_cursor *c, cuzk_err *err);

/* The writing side: each call appends what the readers above take. */
cuzk_code cuzk_iden3_put_head(cuzk_file_writer *w, const char magic[5], uint32_t version,
                              uint32_t n_sections, cuzk_err *err);
cuzk_code cuzk_iden3_put_section(cuzk_file_writer *w, uint32_t type, uint64_t length,
                                 cuzk_err *err);
cuzk_code cuzk_iden3_put_u32(cuzk_file_writer *w, uint32_t v, cuzk_err *err);
cuzk_code cuzk_iden3_put_u64(cuzk_file_writer *w, uint64_t v, cuzk_err *err);
cuzk_code cuzk_iden3_put_fr_prime(cuzk_file_writer *w, cuzk_err *err);
cuzk_code cuzk_iden3_put_fp_prime(cuzk_file_writer *w, cuzk_err *err);

#endif
