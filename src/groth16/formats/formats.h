#ifndef CUZK_GROTH16_FORMATS_H
#define CUZK_GROTH16_FORMATS_H

#include "base/file.h"
#include "groth16/groth16.h"

/*
 * Files of bellperson and snarkjs. Each reader takes a file name, checks magic, sizes, section
 * table, indices, ranges and primes before anything is computed or allocated in proportion to a
 * claimed size, and returns CUZK_E_INPUT with one sentence: file, offset, field, expected, found.
 */

/* bellperson .vk: vk.c */
cuzk_code cuzk_vk_read(cuzk_vk *ret, const char *name, point_check check, cuzk_err *err);
/** Reads the vk at the head of a cursor (a .vk file, or a .params file). */
cuzk_code cuzk_vk_parse(cuzk_cursor *c, cuzk_vk *ret, point_check check, cuzk_err *err);
cuzk_code cuzk_vk_write(const cuzk_vk *vk, const char *name, cuzk_err *err);

/* Concatenated 192-byte proofs and concatenated 32-byte little-endian inputs: proofs.c. The caller
 * frees *ret. */
cuzk_code cuzk_proofs_read(cuzk_proof **ret, size_t *ret_n, const char *name, cuzk_err *err);
cuzk_code cuzk_inputs_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err);

/* snarkjs verification_key.json, proof.json, public.json: json.c (jansson) */
cuzk_code cuzk_vk_json_read(cuzk_vk *ret, const char *name, cuzk_err *err);
cuzk_code cuzk_vk_json_write(const cuzk_vk *vk, const char *name, cuzk_err *err);
cuzk_code cuzk_proof_json_read(cuzk_proof *ret, const char *name, cuzk_err *err);
cuzk_code cuzk_proof_json_write(const cuzk_proof *proof, const char *name, cuzk_err *err);
cuzk_code cuzk_public_json_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err);
cuzk_code cuzk_public_json_write(const fr_repr *inputs, size_t n, const char *name, cuzk_err *err);

/* bellperson .params: params.c. The lists leave out points at infinity, so the constraint system is
 * needed to know which variables they belong to, and is compared with every length. */
cuzk_code cuzk_params_read(cuzk_pk **ret, const char *name, const cuzk_r1cs *r1cs,
                           point_check check, cuzk_pool *pool, cuzk_err *err);
cuzk_code cuzk_params_write(const cuzk_pk *pk, const char *name, cuzk_err *err);

/* iden3 .r1cs and .wtns: r1cs_file.c, wtns.c */
cuzk_code cuzk_r1cs_read(cuzk_r1cs **ret, const char *name, cuzk_err *err);
/** *ret: n canonical integers, freed by the caller; secret. */
cuzk_code cuzk_wtns_read(fr_repr **ret, size_t *ret_n, const char *name, cuzk_err *err);

/* snarkjs .zkey: zkey.c. A zkey holds the matrices A and B: *ret_r1cs has them (has_c false). */
cuzk_code cuzk_zkey_read(cuzk_pk **ret, cuzk_r1cs **ret_r1cs, const char *name, point_check check,
                         cuzk_pool *pool, cuzk_err *err);
cuzk_code cuzk_zkey_write(const cuzk_pk *pk, const cuzk_r1cs *r1cs, const char *name,
                          cuzk_err *err);

#endif
