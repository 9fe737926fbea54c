#include "groth16/formats/formats.h"

#include <stdlib.h>

enum { BLOCK_POINTS = 512 };

static cuzk_code put_length(cuzk_file_writer *w, uint64_t n, cuzk_err *err)
{
    uint8_t bytes[4];
    cuzk_store_u32be(bytes, (uint32_t)n);
    return cuzk_file_writer_put(w, bytes, sizeof bytes, err);
}

#define PUT_LIST(G, POINT_BYTES)                                                                   \
    static cuzk_code put_##G##_list(cuzk_file_writer *w, const G##_affine *points, uint64_t n,     \
                                    cuzk_err *err)                                                 \
    {                                                                                              \
        uint8_t bytes[BLOCK_POINTS * POINT_BYTES];                                                 \
        CUZK_TRY(put_length(w, n, err));                                                           \
        for (uint64_t begin = 0; begin < n; begin += BLOCK_POINTS) {                               \
            size_t k = n - begin < BLOCK_POINTS ? (size_t)(n - begin) : BLOCK_POINTS;              \
            for (size_t i = 0; i < k; i++) {                                                       \
                G##_encode(bytes + i * POINT_BYTES, &points[begin + i]);                           \
            }                                                                                      \
            CUZK_TRY(cuzk_file_writer_put(w, bytes, k *POINT_BYTES, err));                         \
        }                                                                                          \
        return CUZK_OK;                                                                            \
    }

PUT_LIST(g1, G1_UNCOMPRESSED_BYTES)
PUT_LIST(g2, G2_UNCOMPRESSED_BYTES)

static cuzk_code check_fits(const cuzk_pk *pk, cuzk_err *err)
{
    if (pk->root != FR_ROOT_BELLMAN || pk->h_basis != CUZK_H_POWERS) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "a .params file holds keys of bellperson's conventions only, this key has "
                         "snarkjs's");
    }
    if (pk->n_h != ((uint64_t)1 << pk->lg_domain) - 1 || pk->n_h > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "h of the key has %llu points, a domain of 2^%u needs one "
                         "less than its size",
                         (unsigned long long)pk->n_h, pk->lg_domain);
    }
    for (uint32_t i = 0; i < pk->n_inputs; i++) {
        if (i >= pk->n_a || pk->a_var[i] != i) {
            return CUZK_FAIL(err, CUZK_E_ARG, "a of the key has no point for input %u", i);
        }
    }
    for (uint32_t i = 0; i < pk->n_aux; i++) {
        if (g1_affine_is_inf(&pk->l[i])) {
            return CUZK_FAIL(err, CUZK_E_ARG,
                             "l of the key is infinity for aux variable %u, which a .params file "
                             "cannot hold",
                             i);
        }
    }
    return CUZK_OK;
}

static cuzk_code put_key(cuzk_file_writer *w, const cuzk_pk *pk, cuzk_err *err)
{
    CUZK_TRY(cuzk_vk_put(w, &pk->vk, err));
    CUZK_TRY(put_g1_list(w, pk->h, pk->n_h, err));
    CUZK_TRY(put_g1_list(w, pk->l, pk->n_aux, err));
    CUZK_TRY(put_g1_list(w, pk->a, pk->n_a, err));
    CUZK_TRY(put_g1_list(w, pk->b_g1, pk->n_b, err));
    return put_g2_list(w, pk->b_g2, pk->n_b, err);
}

cuzk_code cuzk_params_write(const cuzk_pk *pk, const char *name, cuzk_err *err)
{
    CUZK_TRY(check_fits(pk, err));
    cuzk_file_writer *w;
    CUZK_TRY(cuzk_file_writer_open(&w, name, err));
    cuzk_code code = put_key(w, pk, err);
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}
