#include "groth16/formats/formats.h"
#include "groth16/formats/zkey.h"

static cuzk_code put_g1(cuzk_file_writer *w, const g1_affine *p, cuzk_err *err)
{
    uint8_t bytes[ZKEY_G1_BYTES];
    g1_encode_mont(bytes, p);
    return cuzk_file_writer_put(w, bytes, sizeof bytes, err);
}

static cuzk_code put_g2(cuzk_file_writer *w, const g2_affine *p, cuzk_err *err)
{
    uint8_t bytes[ZKEY_G2_BYTES];
    g2_encode_mont(bytes, p);
    return cuzk_file_writer_put(w, bytes, sizeof bytes, err);
}

static cuzk_code put_header(cuzk_file_writer *w, const cuzk_pk *pk, cuzk_err *err)
{
    CUZK_TRY(cuzk_iden3_put_section(w, ZKEY_PROTOCOL, 4, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, ZKEY_GROTH16, err));
    CUZK_TRY(cuzk_iden3_put_section(w, ZKEY_HEADER, ZKEY_HEADER_BYTES, err));
    CUZK_TRY(cuzk_iden3_put_fp_prime(w, err));
    CUZK_TRY(cuzk_iden3_put_fr_prime(w, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, pk->n_inputs + pk->n_aux, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, pk->n_inputs - 1, err));
    CUZK_TRY(cuzk_iden3_put_u32(w, UINT32_C(1) << pk->lg_domain, err));
    CUZK_TRY(put_g1(w, &pk->vk.alpha_g1, err));
    CUZK_TRY(put_g1(w, &pk->vk.beta_g1, err));
    CUZK_TRY(put_g2(w, &pk->vk.beta_g2, err));
    CUZK_TRY(put_g2(w, &pk->vk.gamma_g2, err));
    CUZK_TRY(put_g1(w, &pk->vk.delta_g1, err));
    return put_g2(w, &pk->vk.delta_g2, err);
}

static cuzk_code put_list(cuzk_file_writer *w, uint32_t section, const g1_affine *p, uint64_t n,
                          cuzk_err *err)
{
    CUZK_TRY(cuzk_iden3_put_section(w, section, n * ZKEY_G1_BYTES, err));
    for (uint64_t i = 0; i < n; i++) {
        CUZK_TRY(put_g1(w, &p[i], err));
    }
    return CUZK_OK;
}

/* A compact query of n points p1 or p2 (the other is NULL), with infinity put back where a variable
 * has none. */
static cuzk_code put_query(cuzk_file_writer *w, uint32_t section, const g1_affine *p1,
                           const g2_affine *p2, const uint32_t *var, uint32_t n, uint32_t n_vars,
                           cuzk_err *err)
{
    static const g1_affine inf1;
    static const g2_affine inf2;
    size_t size = p1 ? ZKEY_G1_BYTES : ZKEY_G2_BYTES;
    CUZK_TRY(cuzk_iden3_put_section(w, section, (uint64_t)n_vars * size, err));
    uint32_t i = 0;
    for (uint32_t v = 0; v < n_vars; v++) {
        bool here = i < n && var[i] == v;
        CUZK_TRY(p1 ? put_g1(w, here ? &p1[i] : &inf1, err)
                    : put_g2(w, here ? &p2[i] : &inf2, err));
        i += here;
    }
    return CUZK_OK;
}

/* Section 10 of a key without contributions: a hash of the circuit, which only a ceremony checks
 * (zero: none), and their number. */
static cuzk_code put_history(cuzk_file_writer *w, cuzk_err *err)
{
    static const uint8_t no_hash[64];
    CUZK_TRY(cuzk_iden3_put_section(w, ZKEY_HISTORY, sizeof no_hash + 4, err));
    CUZK_TRY(cuzk_file_writer_put(w, no_hash, sizeof no_hash, err));
    return cuzk_iden3_put_u32(w, 0, err);
}

static cuzk_code put_file(cuzk_file_writer *w, const cuzk_pk *pk, const cuzk_r1cs *r, cuzk_err *err)
{
    uint32_t n_vars = pk->n_inputs + pk->n_aux;
    CUZK_TRY(cuzk_iden3_put_head(w, "zkey", ZKEY_VERSION, ZKEY_HISTORY, err));
    CUZK_TRY(put_header(w, pk, err));
    CUZK_TRY(put_list(w, ZKEY_IC, pk->vk.ic, pk->vk.n_ic, err));
    CUZK_TRY(cuzk_zkey_put_coeffs(w, r, err));
    CUZK_TRY(put_query(w, ZKEY_A, pk->a, NULL, pk->a_var, pk->n_a, n_vars, err));
    CUZK_TRY(put_query(w, ZKEY_B1, pk->b_g1, NULL, pk->b_var, pk->n_b, n_vars, err));
    CUZK_TRY(put_query(w, ZKEY_B2, NULL, pk->b_g2, pk->b_var, pk->n_b, n_vars, err));
    CUZK_TRY(put_list(w, ZKEY_C, pk->l, pk->n_aux, err));
    CUZK_TRY(put_list(w, ZKEY_H, pk->h, pk->n_h, err));
    return put_history(w, err);
}

cuzk_code cuzk_zkey_write(const cuzk_pk *pk, const cuzk_r1cs *r1cs, const char *name, cuzk_err *err)
{
    if (pk->root != FR_ROOT_SNARKJS || pk->h_basis != CUZK_H_ODD_LAGRANGE) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "%s: a zkey needs a key made with the snarkjs root of unity and H query",
                         name);
    }
    if (pk->n_inputs != r1cs->n_inputs || pk->n_aux != r1cs->n_aux ||
        pk->vk.n_ic != r1cs->n_inputs || pk->n_h != UINT64_C(1) << pk->lg_domain ||
        cuzk_r1cs_rows_with_inputs(r1cs) > pk->n_h || pk->lg_domain > NTT_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: the key is not one of this constraint system", name);
    }
    cuzk_file_writer *w;
    CUZK_TRY(cuzk_file_writer_open(&w, name, err));
    cuzk_code code = put_file(w, pk, r1cs, err);
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}
