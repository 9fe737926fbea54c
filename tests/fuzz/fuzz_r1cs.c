/* cuzk_r1cs_parse over any bytes, and over a good file with edits. */
#include "groth16/formats/formats.h"
#include "support/gen_circuit.h"
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
    gen_circuit c = gen_circuit_new(&(gen_wish){.n_rows = 16, .bit_permil = 600, .seed = 1});
    char path[4096];
    snprintf(path, sizeof path, "%s/good.r1cs", test_tmpdir());
    if (cuzk_r1cs_write(c.r1cs, path, NULL) != CUZK_OK) {
        abort();
    }
    good = iden3_bytes_load(path);
    gen_circuit_clear(&c);
    return 0;
}

/* What every system promises, whatever the file said. */
static void check_matrix(const cuzk_r1cs *r, const cuzk_csr *m)
{
    for (uint64_t row = 0; row < r->n_rows; row++) {
        for (uint64_t t = m->row[row]; t < m->row[row + 1]; t++) {
            if (m->var[t] >= r->n_inputs + r->n_aux || m->coeff[t] >= r->n_coeffs ||
                (t > m->row[row] && m->var[t - 1] >= m->var[t])) {
                abort();
            }
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
    cuzk_r1cs *r = NULL;
    cuzk_err err = {0};
    if (cuzk_r1cs_parse(&r, iden3_bytes_span(&f), "fuzz", &err) == CUZK_OK) {
        check_matrix(r, &r->a);
        check_matrix(r, &r->b);
        check_matrix(r, &r->c);
        cuzk_r1cs_free(r);
    } else if (err.code != CUZK_E_INPUT || !strstr(err.msg, "fuzz: offset ")) {
        abort();
    }
    iden3_bytes_clear(&f);
    return 0;
}
