#include "patch.h"

#include "groth16/formats/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* decode then encode must give the same bytes, whatever the form and the check. */
#define FORM(G, N, decode, encode)                                                                 \
    static void try_##decode(const uint8_t *bytes, size_t n, point_check check)                    \
    {                                                                                              \
        G##_affine a;                                                                              \
        uint8_t again[N];                                                                          \
        if (n >= N && decode(&a, bytes, check) == POINT_OK) {                                      \
            encode(again, &a);                                                                     \
            if (memcmp(again, bytes, N) != 0) {                                                    \
                abort();                                                                           \
            }                                                                                      \
        }                                                                                          \
    }

FORM(g1, G1_UNCOMPRESSED_BYTES, g1_decode, g1_encode)
FORM(g2, G2_UNCOMPRESSED_BYTES, g2_decode, g2_encode)
FORM(g1, G1_COMPRESSED_BYTES, g1_decompress, g1_compress)
FORM(g2, G2_COMPRESSED_BYTES, g2_decompress, g2_compress)
FORM(g1, 96, g1_decode_mont, g1_encode_mont)
FORM(g2, 192, g2_decode_mont, g2_encode_mont)

static void try_proofs(cuzk_span bytes)
{
    cuzk_proof *proofs;
    size_t n;
    cuzk_err err;
    if (cuzk_proofs_parse(&proofs, &n, bytes, "fuzz.proof", &err) != CUZK_OK) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t again[CUZK_PROOF_BYTES];
        cuzk_proof_encode(again, &proofs[i]);
        if (memcmp(again, bytes.p + i * CUZK_PROOF_BYTES, CUZK_PROOF_BYTES) != 0) {
            abort();
        }
    }
    if (n * CUZK_PROOF_BYTES != bytes.n) {
        abort();
    }
    free(proofs);
}

static void try_inputs(cuzk_span bytes)
{
    fr_repr *inputs;
    size_t n;
    cuzk_err err;
    if (cuzk_inputs_parse(&inputs, &n, bytes, "fuzz.inputs", &err) != CUZK_OK) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t again[32];
        fr_repr_to_bytes(again, &inputs[i]);
        if (memcmp(again, bytes.p + 32 * i, 32) != 0) {
            abort();
        }
    }
    if (32 * n != bytes.n) {
        abort();
    }
    free(inputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t base[CUZK_PROOF_BYTES];
    cuzk_proof_encode(base, &(cuzk_proof){g1_generator, g2_generator, g1_generator});
    size_t n;
    uint8_t *bytes = patched(data, size, base, sizeof base, &n);
    if (!bytes) {
        return 0;
    }
    point_check check = (point_check)(size % 3);
    try_g1_decode(bytes, n, check);
    try_g2_decode(bytes, n, check);
    try_g1_decompress(bytes, n, check);
    try_g2_decompress(bytes, n, check);
    try_g1_decode_mont(bytes, n, check);
    try_g2_decode_mont(bytes, n, check);
    try_proofs((cuzk_span){bytes, n});
    try_inputs((cuzk_span){bytes, n});
    free(bytes);
    return 0;
}
