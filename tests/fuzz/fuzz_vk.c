#include "patch.h"

#include "groth16/formats/formats.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is taken for a verifying key must be its one encoding. */
static void check_bytes(const cuzk_vk *vk, const uint8_t *bytes, size_t n)
{
    uint8_t *again = malloc(CUZK_VK_HEAD_BYTES + 96 * (size_t)vk->n_ic);
    if (!again) {
        return;
    }
    g1_encode(again, &vk->alpha_g1);
    g1_encode(again + 96, &vk->beta_g1);
    g2_encode(again + 192, &vk->beta_g2);
    g2_encode(again + 384, &vk->gamma_g2);
    g1_encode(again + 576, &vk->delta_g1);
    g2_encode(again + 672, &vk->delta_g2);
    cuzk_store_u32be(again + 864, vk->n_ic);
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        g1_encode(again + CUZK_VK_HEAD_BYTES + 96 * i, &vk->ic[i]);
    }
    if (n != CUZK_VK_HEAD_BYTES + 96 * (size_t)vk->n_ic || memcmp(again, bytes, n) != 0) {
        abort();
    }
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t base[CUZK_VK_HEAD_BYTES + 3 * 96];
    static const size_t g1_at[] = {0, 96, 576, 868, 964, 1060}, g2_at[] = {192, 384, 672};
    for (size_t i = 0; i < 6; i++) {
        g1_encode(base + g1_at[i], &g1_generator);
    }
    for (size_t i = 0; i < 3; i++) {
        g2_encode(base + g2_at[i], &g2_generator);
    }
    cuzk_store_u32be(base + 864, 3);
    size_t n;
    uint8_t *bytes = patched(data, size, base, sizeof base, &n);
    if (!bytes) {
        return 0;
    }
    cuzk_cursor c = cuzk_cursor_of((cuzk_span){bytes, n}, "fuzz.vk");
    cuzk_vk vk;
    cuzk_err err;
    if (cuzk_vk_parse(&c, &vk, (point_check)(size % 3), &err) == CUZK_OK) {
        check_bytes(&vk, bytes, c.pos);
        cuzk_vk_clear(&vk);
    } else if (err.code != CUZK_E_INPUT || c.pos != 0) {
        abort();
    }
    free(bytes);
    return 0;
}
