#include "groth16/formats/formats.h"

#include "groth16/formats/points.h"

#include <stdio.h>
#include <stdlib.h>

static cuzk_code parse_fixed(cuzk_cursor *c, cuzk_vk *ret, point_check check, cuzk_err *err)
{
    CUZK_TRY(cuzk_points_take_g1(c, "alpha_g1", &ret->alpha_g1, check, err));
    CUZK_TRY(cuzk_points_take_g1(c, "beta_g1", &ret->beta_g1, check, err));
    CUZK_TRY(cuzk_points_take_g2(c, "beta_g2", &ret->beta_g2, check, err));
    CUZK_TRY(cuzk_points_take_g2(c, "gamma_g2", &ret->gamma_g2, check, err));
    CUZK_TRY(cuzk_points_take_g1(c, "delta_g1", &ret->delta_g1, check, err));
    return cuzk_points_take_g2(c, "delta_g2", &ret->delta_g2, check, err);
}

cuzk_code cuzk_vk_parse(cuzk_cursor *c, cuzk_vk *ret, point_check check, cuzk_err *err)
{
    cuzk_cursor at = *c;
    cuzk_vk vk = {0};
    CUZK_TRY(parse_fixed(&at, &vk, check, err));
    size_t offset = cuzk_cursor_offset(&at);
    CUZK_TRY(cuzk_cursor_u32be(&at, "length of ic", &vk.n_ic, err));
    if (vk.n_ic == 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: length of ic: expected at least 1, found 0", c->name,
                         offset);
    }
    cuzk_point_list list = {"ic", c->name, NULL, cuzk_cursor_offset(&at), vk.n_ic, false, NULL};
    CUZK_TRY(
        cuzk_cursor_take(&at, (size_t)vk.n_ic * G1_UNCOMPRESSED_BYTES, "ic", &list.bytes, err));
    vk.ic = malloc(vk.n_ic * sizeof *vk.ic);
    if (!vk.ic) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for %u points of ic", c->name, vk.n_ic);
    }
    cuzk_code code = cuzk_points_decode(&list, vk.ic, check, NULL, NULL, err);
    if (code != CUZK_OK) {
        free(vk.ic);
        return code;
    }
    *ret = vk;
    *c = at;
    return CUZK_OK;
}

cuzk_code cuzk_vk_read(cuzk_vk *ret, const char *name, point_check check, cuzk_err *err)
{
    cuzk_file_map map;
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_cursor c = cuzk_cursor_of(map.bytes, name);
    cuzk_vk vk;
    cuzk_code code = cuzk_vk_parse(&c, &vk, check, err);
    if (code == CUZK_OK) {
        code = cuzk_cursor_end(&c, "the verifying key", err);
        if (code == CUZK_OK) {
            *ret = vk;
        } else {
            cuzk_vk_clear(&vk);
        }
    }
    cuzk_file_map_close(&map);
    return code;
}

/* The name of a point that a .vk file cannot hold because it is infinity, or NULL. */
static const char *infinite_point(const cuzk_vk *vk)
{
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        if (g1_affine_is_inf(&vk->ic[i])) {
            return "ic";
        }
    }
    return g1_affine_is_inf(&vk->alpha_g1)   ? "alpha_g1"
           : g1_affine_is_inf(&vk->beta_g1)  ? "beta_g1"
           : g2_affine_is_inf(&vk->beta_g2)  ? "beta_g2"
           : g2_affine_is_inf(&vk->gamma_g2) ? "gamma_g2"
           : g1_affine_is_inf(&vk->delta_g1) ? "delta_g1"
           : g2_affine_is_inf(&vk->delta_g2) ? "delta_g2"
                                             : NULL;
}

cuzk_code cuzk_vk_put(cuzk_file_writer *w, const cuzk_vk *vk, cuzk_err *err)
{
    const char *infinite = infinite_point(vk);
    if (infinite) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "%s of the verifying key is the point at infinity, which its file format "
                         "cannot hold",
                         infinite);
    }
    uint8_t head[CUZK_VK_HEAD_BYTES];
    g1_encode(head, &vk->alpha_g1);
    g1_encode(head + 96, &vk->beta_g1);
    g2_encode(head + 192, &vk->beta_g2);
    g2_encode(head + 384, &vk->gamma_g2);
    g1_encode(head + 576, &vk->delta_g1);
    g2_encode(head + 672, &vk->delta_g2);
    cuzk_store_u32be(head + 864, vk->n_ic);
    CUZK_TRY(cuzk_file_writer_put(w, head, sizeof head, err));
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        uint8_t bytes[G1_UNCOMPRESSED_BYTES];
        g1_encode(bytes, &vk->ic[i]);
        CUZK_TRY(cuzk_file_writer_put(w, bytes, sizeof bytes, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_vk_write(const cuzk_vk *vk, const char *name, cuzk_err *err)
{
    cuzk_file_writer *w;
    CUZK_TRY(cuzk_file_writer_open(&w, name, err));
    cuzk_code code = cuzk_vk_put(w, vk, err);
    if (code != CUZK_OK) {
        cuzk_file_writer_abort(w);
        return code;
    }
    return cuzk_file_writer_commit(w, err);
}
