#include "patch.h"

#include "groth16/formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    N_IC = 2,
    N_H = 3, /* 2 rows and 2 inputs: a domain of 4 */
    N_L = 2,
    N_A = 3,
    N_B = 2,
    FILE_BYTES = 868 + 96 * (N_IC + N_H + N_L + N_A + N_B) + 192 * N_B + 20,
};

static uint8_t base[FILE_BYTES];
static cuzk_r1cs *r1cs;

static void must(cuzk_code code)
{
    if (code != CUZK_OK) {
        abort();
    }
}

/* Inputs 0 and 1, aux 2 and 3: row 0 is x2 * 1, row 1 is 0 * x3. */
static void make_system(void)
{
    cuzk_r1cs_builder *b;
    cuzk_err err;
    fr one = fr_one;
    must(cuzk_r1cs_builder_new(&b, N_IC, N_L, &err));
    must(cuzk_r1cs_builder_term(b, CUZK_MATRIX_A, 2, &one, &err));
    must(cuzk_r1cs_builder_term(b, CUZK_MATRIX_B, 0, &one, &err));
    must(cuzk_r1cs_builder_end_row(b, &err));
    must(cuzk_r1cs_builder_term(b, CUZK_MATRIX_B, 3, &one, &err));
    must(cuzk_r1cs_builder_end_row(b, &err));
    must(cuzk_r1cs_builder_finish(b, &r1cs, &err));
    cuzk_r1cs_builder_free(b);
}

static size_t put(size_t at, uint32_t n, bool is_g2, bool with_length)
{
    if (with_length) {
        cuzk_store_u32be(base + at, n);
        at += 4;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (is_g2) {
            g2_encode(base + at, &g2_generator);
        } else {
            g1_encode(base + at, &g1_generator);
        }
        at += is_g2 ? 192 : 96;
    }
    return at;
}

static void make_file(void)
{
    size_t at = put(0, 2, false, false);
    at = put(at, 2, true, false);
    at = put(at, 1, false, false);
    at = put(at, 1, true, false);
    static const uint32_t lists[] = {N_IC, N_H, N_L, N_A, N_B};
    for (size_t i = 0; i < 5; i++) {
        at = put(at, lists[i], false, true);
    }
    at = put(at, N_B, true, true);
    cuzk_pk *pk;
    cuzk_err err;
    if (at != FILE_BYTES) {
        abort();
    }
    must(cuzk_params_parse(&pk, (cuzk_span){base, at}, "base", r1cs, POINT_CHECK_SUBGROUP, NULL,
                           &err));
    cuzk_pk_free(pk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!r1cs) {
        make_system();
        make_file();
    }
    size_t n;
    uint8_t *bytes = patched(data, size, base, sizeof base, &n);
    if (!bytes) {
        return 0;
    }
    cuzk_span span = {bytes, n};
    point_check check = (point_check)(size % 3);
    cuzk_pk *pk;
    cuzk_params_layout layout;
    cuzk_err err;
    bool scanned = cuzk_params_scan_bytes(&layout, span, "f", check, &err) == CUZK_OK;
    if (scanned) {
        cuzk_params_layout_clear(&layout);
    }
    bool checked = cuzk_params_check_bytes(span, "f", check, NULL, NULL, &err) == CUZK_OK;
    bool parsed = cuzk_params_parse(&pk, span, "f", r1cs, check, NULL, &err) == CUZK_OK;
    if (parsed) {
        cuzk_pk_free(pk);
    }
    if ((parsed && !checked) || (checked && !scanned)) {
        abort(); /* each of the three checks what the one before it does, and more */
    }
    free(bytes);
    return 0;
}
