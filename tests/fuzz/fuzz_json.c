#include "patch.h"

#include "groth16/formats/formats.h"
#include "support/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static test_file bases[3]; /* a valid key, proof and list of inputs */

static void make_bases(void)
{
    g1_affine ic[2] = {g1_generator, g1_generator};
    cuzk_vk vk = {.alpha_g1 = g1_generator,
                  .beta_g2 = g2_generator,
                  .gamma_g2 = g2_generator,
                  .delta_g2 = g2_generator,
                  .n_ic = 2,
                  .ic = ic};
    cuzk_proof proof = {g1_generator, g2_generator, g1_generator};
    fr_repr inputs[3] = {{{0}}, {{12345678901234567890u}}, {{1, 2, 3, 4}}};
    cuzk_err err;
    const char *path = test_file_save("base.json", "", 0);
    if (cuzk_vk_json_write(&vk, path, &err) != CUZK_OK) {
        abort();
    }
    bases[0] = test_file_load(path);
    if (cuzk_proof_json_write(&proof, path, &err) != CUZK_OK) {
        abort();
    }
    bases[1] = test_file_load(path);
    if (cuzk_public_json_write(inputs, 3, path, &err) != CUZK_OK) {
        abort();
    }
    bases[2] = test_file_load(path);
}

static void parse_all(cuzk_span bytes)
{
    cuzk_vk vk;
    cuzk_proof proof;
    fr_repr *inputs;
    size_t n;
    cuzk_err err;
    if (cuzk_vk_json_parse(&vk, bytes, "fuzz.json", &err) == CUZK_OK) {
        for (uint32_t i = 0; i < vk.n_ic; i++) {
            if (g1_affine_is_inf(&vk.ic[i]) || !g1_affine_in_subgroup(&vk.ic[i])) {
                abort();
            }
        }
        cuzk_vk_clear(&vk);
    }
    if (cuzk_proof_json_parse(&proof, bytes, "fuzz.json", &err) == CUZK_OK &&
        (g1_affine_is_inf(&proof.a) || g2_affine_is_inf(&proof.b) || g1_affine_is_inf(&proof.c))) {
        abort();
    }
    if (cuzk_public_json_parse(&inputs, &n, bytes, "fuzz.json", &err) == CUZK_OK) {
        for (size_t i = 0; i < n; i++) {
            if (!fr_repr_is_canonical(&inputs[i])) {
                abort();
            }
        }
        free(inputs);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!bases[0].p) {
        make_bases();
    }
    const test_file *base = &bases[size ? data[0] / 2 % 3 : 0];
    size_t n;
    uint8_t *bytes = patched(data, size, base->p, base->n, &n);
    if (!bytes) {
        return 0;
    }
    parse_all((cuzk_span){bytes, n});
    free(bytes);
    return 0;
}
