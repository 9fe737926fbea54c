/* cuzk_zkey_parse over any bytes, and over a good file with edits. */
#include "groth16/formats/formats.h"
#include "support/gen_circuit.h"
#include "support/gen_key.h"
#include "support/iden3_bytes.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static iden3_bytes good;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = 12, .bit_permil = 600, .seed = 1});
    cuzk_pk *pk = gen_key_new(c.r1cs, 2);
    char path[4096];
    snprintf(path, sizeof path, "%s/good.zkey", test_tmpdir());
    if (cuzk_zkey_write(pk, c.r1cs, path, NULL) != CUZK_OK) {
        abort();
    }
    good = iden3_bytes_load(path);
    cuzk_pk_free(pk);
    gen_circuit_clear(&c);
    return 0;
}

/* What every key promises, whatever the file said. */
static void check_key(const cuzk_pk *pk, const cuzk_r1cs *r)
{
    uint32_t n_vars = r->n_inputs + r->n_aux;
    if (pk->n_inputs != r->n_inputs || pk->n_aux != r->n_aux || pk->vk.n_ic != r->n_inputs ||
        cuzk_r1cs_rows_with_inputs(r) > pk->n_h || pk->n_a > n_vars || pk->n_b > n_vars) {
        abort();
    }
    for (uint32_t i = 0; i < pk->n_a; i++) {
        if (pk->a_var[i] >= n_vars || g1_affine_is_inf(&pk->a[i])) {
            abort();
        }
    }
    for (uint32_t i = 0; i < pk->n_b; i++) {
        if (pk->b_var[i] >= n_vars || g1_affine_is_inf(&pk->b_g1[i]) ||
            g2_affine_is_inf(&pk->b_g2[i])) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) {
        return 0;
    }
    iden3_bytes f = {malloc(n), n - 1};
    if (!f.p) {
        return 0;
    }
    if (data[0] & 1) {
        iden3_bytes_clear(&f);
        f = iden3_bytes_copy(&good);
        iden3_edit(&f, data + 1, n - 1);
    } else {
        memcpy(f.p, data + 1, n - 1);
    }
    cuzk_pk *pk = NULL;
    cuzk_r1cs *r = NULL;
    cuzk_err err = {0};
    point_check check = data[0] & 2 ? POINT_CHECK_CURVE : POINT_CHECK_NONE;
    if (cuzk_zkey_parse(&pk, &r, iden3_bytes_span(&f), "fuzz", check, NULL, &err) == CUZK_OK) {
        check_key(pk, r);
        cuzk_pk_free(pk);
        cuzk_r1cs_free(r);
    } else if (err.code != CUZK_E_INPUT || !strstr(err.msg, "fuzz: offset ")) {
        abort();
    }
    iden3_bytes_clear(&f);
    return 0;
}
