#ifndef CUZK_GROTH16_FORMATS_H
#define CUZK_GROTH16_FORMATS_H

#include "base/file.h"
#include "groth16/groth16.h"
#include "r1cs/template.h"

/*
 * Files of bellperson and snarkjs. Each reader takes a file name, checks magic, sizes, section
 * table, indices, ranges and primes before anything is computed or allocated in proportion to a
 * claimed size, and returns CUZK_E_INPUT with one sentence: file, offset, field, expected, found.
 */

/* Every `_parse` below is the `_read` of its name on bytes in memory; `name` is for messages. */

/** A bellperson .vk (vk.c): six points, the length of ic, ic. All of them finite. */
cuzk_code cuzk_vk_read(cuzk_vk *ret, const char *name, point_check check, cuzk_err *err);
/** Reads the vk at the head of a cursor (a .vk file, or a .params file). On failure neither the
 *  cursor nor *ret changes. */
cuzk_code cuzk_vk_parse(cuzk_cursor *c, cuzk_vk *ret, point_check check, cuzk_err *err);
/** CUZK_E_ARG when the key has a point at infinity, as one read from JSON has. */
cuzk_code cuzk_vk_write(const cuzk_vk *vk, const char *name, cuzk_err *err);
/** The same into a file that is being written. */
cuzk_code cuzk_vk_put(cuzk_file_writer *w, const cuzk_vk *vk, cuzk_err *err);

enum { CUZK_VK_HEAD_BYTES = 868 }; /* before ic */

/** Concatenated 192-byte proofs, at least one (proofs.c). Curve, subgroup and finiteness of each
 *  point are checked. The caller frees *ret. */
cuzk_code cuzk_proofs_read(cuzk_proof **ret, size_t *ret_n, const char *name, cuzk_err *err);
cuzk_code cuzk_proofs_parse(cuzk_proof **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                            cuzk_err *err);

/** Concatenated 32-byte little-endian integers below r, perhaps none: public inputs without ONE
 *  (proofs.c). The caller frees *ret. */
cuzk_code cuzk_inputs_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err);
cuzk_code cuzk_inputs_parse(fr_repr **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                            cuzk_err *err);

/*
 * snarkjs verification_key.json, proof.json, public.json (json.c, json_write.c; jansson). Integers
 * are decimal digits in quotes, below p or r, without leading zeros; keys may not repeat, unknown
 * ones are ignored. Every point is checked to be finite, on its curve and of order r; "protocol"
 * and "curve" must be there. The layout written is that of snarkjs.
 */

/** beta_g1 and delta_g1, which verification does not need, are not in the file: left at infinity.
 *  vk_alphabeta_12 is neither read nor written: no verifier uses it, snarkjs's included. */
cuzk_code cuzk_vk_json_read(cuzk_vk *ret, const char *name, cuzk_err *err);
cuzk_code cuzk_vk_json_parse(cuzk_vk *ret, cuzk_span bytes, const char *name, cuzk_err *err);
cuzk_code cuzk_vk_json_write(const cuzk_vk *vk, const char *name, cuzk_err *err);

cuzk_code cuzk_proof_json_read(cuzk_proof *ret, const char *name, cuzk_err *err);
cuzk_code cuzk_proof_json_parse(cuzk_proof *ret, cuzk_span bytes, const char *name, cuzk_err *err);
cuzk_code cuzk_proof_json_write(const cuzk_proof *proof, const char *name, cuzk_err *err);

/** Public inputs without ONE. The caller frees *ret. */
cuzk_code cuzk_public_json_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err);
cuzk_code cuzk_public_json_parse(fr_repr **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                                 cuzk_err *err);
cuzk_code cuzk_public_json_write(const fr_repr *inputs, size_t n, const char *name, cuzk_err *err);

/*
 * bellperson .params (params.c, params_write.c): a vk, then five lists, each with its length before
 * it. No point may be infinity; a and b leave out the points that would be, so a constraint system
 * is needed to know which variables their points belong to.
 */

typedef enum cuzk_params_part {
    CUZK_PARAMS_H,
    CUZK_PARAMS_L,
    CUZK_PARAMS_A,
    CUZK_PARAMS_B_G1,
    CUZK_PARAMS_B_G2,
    CUZK_PARAMS_PARTS,
} cuzk_params_part;

/** Its name in messages: h, l, a, b_g1, b_g2. */
const char *cuzk_params_part_name(cuzk_params_part part);

/** Where one list is. */
typedef struct cuzk_params_list {
    const char *name; /* static: cuzk_params_part_name */
    uint64_t offset;  /* of its first point in the file; its length is in the 4 bytes before */
    uint32_t n;
} cuzk_params_list;

/** What the lengths of a .params file say. Owns vk. */
typedef struct cuzk_params_layout {
    cuzk_vk vk;
    cuzk_params_list list[CUZK_PARAMS_PARTS];
    uint64_t file_bytes;
} cuzk_params_layout;

void cuzk_params_layout_clear(cuzk_params_layout *layout);

/** Reads the vk and the five lengths, and checks them against each other and the size of the file.
 *  Touches none of the lists' points, so the file may be of any size. */
cuzk_code cuzk_params_scan(cuzk_params_layout *ret, const char *name, point_check check,
                           cuzk_err *err);
cuzk_code cuzk_params_scan_bytes(cuzk_params_layout *ret, cuzk_span bytes, const char *name,
                                 point_check check, cuzk_err *err);

/** The same for the key of a compressed system, with whose numbers the lengths are compared. */
cuzk_code cuzk_params_scan_shape(cuzk_params_layout *ret, const char *name, const cuzk_shape *shape,
                                 point_check check, cuzk_err *err);

/** Validates every point of a file in place, in little memory. The phases of progress (may be NULL)
 *  are the lists' names. */
cuzk_code cuzk_params_check(const char *name, point_check check, cuzk_pool *pool,
                            const cuzk_progress *progress, cuzk_err *err);
cuzk_code cuzk_params_check_bytes(cuzk_span bytes, const char *name, point_check check,
                                  cuzk_pool *pool, const cuzk_progress *progress, cuzk_err *err);

/** Reads a key for r1cs; every length is compared with it before anything is allocated. The caller
 *  owns *ret. */
cuzk_code cuzk_params_read(cuzk_pk **ret, const char *name, const cuzk_r1cs *r1cs,
                           point_check check, cuzk_pool *pool, cuzk_err *err);
cuzk_code cuzk_params_parse(cuzk_pk **ret, cuzk_span bytes, const char *name, const cuzk_r1cs *r1cs,
                            point_check check, cuzk_pool *pool, cuzk_err *err);
/** The same for a compressed system. */
cuzk_code cuzk_params_read_shape(cuzk_pk **ret, const char *name, const cuzk_shape *shape,
                                 point_check check, cuzk_pool *pool, cuzk_err *err);

/** CUZK_E_ARG for a key that the format cannot hold: of snarkjs's conventions, or with a point at
 *  infinity in l or in the vk. */
cuzk_code cuzk_params_write(const cuzk_pk *pk, const char *name, cuzk_err *err);

/** The digest by which Filecoin's parameter files are published: the first 32 hexadecimal digits of
 *  BLAKE2b-512 of the file (digest.c). progress (may be NULL) counts bytes. */
cuzk_code cuzk_file_digest(char ret[33], const char *name, const cuzk_progress *progress,
                           cuzk_err *err);

/** A published parameter file (version 28). All strings are static. */
typedef struct cuzk_published_file {
    const char *digest;
    const char *circuit; /* as in docs/formats.md, e.g. "porep-32GiB" */
    const char *name;    /* ends in .params or .vk */
} cuzk_published_file;

/** The published file with that digest, or NULL. */
const cuzk_published_file *cuzk_published_find(const char *digest);

/** All of them: *ret_n entries. */
const cuzk_published_file *cuzk_published_all(size_t *ret_n);

/*
 * iden3 .r1cs, .wtns and .zkey over BLS12-381; other curves are CUZK_E_INPUT. Each `_parse` is its
 * `_read` over bytes in memory, with a name for messages.
 */

/** A circom constraint system: r1cs_file.c. Inputs are ONE, outputs, public inputs; the caller owns
 *  *ret. Custom gates are refused, labels ignored. */
cuzk_code cuzk_r1cs_read(cuzk_r1cs **ret, const char *name, cuzk_err *err);
cuzk_code cuzk_r1cs_parse(cuzk_r1cs **ret, cuzk_span bytes, const char *name, cuzk_err *err);
/** All inputs are written as public inputs. CUZK_E_ARG unless has_c. */
cuzk_code cuzk_r1cs_write(const cuzk_r1cs *r, const char *name, cuzk_err *err);

/** A witness, *ret_n canonical integers of which the first is 1: wtns.c. The values are secret: the
 *  caller wipes (cuzk_wipe) and frees *ret. */
cuzk_code cuzk_wtns_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err);
cuzk_code cuzk_wtns_parse(fr_repr **ret, size_t *ret_n, cuzk_span bytes, const char *name,
                          cuzk_err *err);
cuzk_code cuzk_wtns_write(const fr_repr *z, size_t n, const char *name, cuzk_err *err);

/**
 * A snarkjs Groth16 proving key, and the matrices A and B that it holds (has_c false): zkey.c.
 * Root FR_ROOT_SNARKJS, H in CUZK_H_ODD_LAGRANGE. The caller owns both results. A and B of both
 * groups must be infinity exactly at the variables that the matrices leave out, H and IC nowhere; C
 * may be. Section 10, the history of the ceremony, is not read.
 */
cuzk_code cuzk_zkey_read(cuzk_pk **ret, cuzk_r1cs **ret_r1cs, const char *name, point_check check,
                         cuzk_pool *pool, cuzk_err *err);
cuzk_code cuzk_zkey_parse(cuzk_pk **ret, cuzk_r1cs **ret_r1cs, cuzk_span bytes, const char *name,
                          point_check check, cuzk_pool *pool, cuzk_err *err);
/**
 * Writes a key that snarkjs proves with: zkey_write.c. CUZK_E_ARG unless its root and H query are
 * as above and it is a key of r1cs (C of which is not needed). The history is empty, so the file
 * cannot take part in a ceremony.
 */
cuzk_code cuzk_zkey_write(const cuzk_pk *pk, const cuzk_r1cs *r1cs, const char *name,
                          cuzk_err *err);

#endif
