#include "support/gen_key.h"
#include "support/support.h"

#include <stdlib.h>

static g1_affine *g1_list(test_rng *g, size_t n)
{
    g1_affine *p = calloc(n + 1, sizeof *p);
    assert_non_null(p);
    test_g1_points(g, p, n + 1);
    return p;
}

static g2_affine *g2_list(test_rng *g, size_t n)
{
    g2_affine *p = calloc(n + 1, sizeof *p);
    assert_non_null(p);
    test_g2_points(g, p, n + 1);
    return p;
}

static void make_vk(test_rng *g, cuzk_vk *vk, uint32_t n_inputs)
{
    g1_affine in_g1[3];
    g2_affine in_g2[3];
    test_g1_points(g, in_g1, 3);
    test_g2_points(g, in_g2, 3);
    *vk = (cuzk_vk){in_g1[0], in_g1[1], in_g1[2], in_g2[0], in_g2[1], in_g2[2], n_inputs, NULL};
    vk->ic = g1_list(g, n_inputs);
}

/* The variables of a bit map: *ret_n of them. */
static uint32_t *listed(const uint64_t *map, uint32_t n_vars, uint32_t *ret_n)
{
    uint32_t *var = calloc((size_t)n_vars + 1, sizeof *var);
    assert_non_null(var);
    *ret_n = 0;
    for (uint32_t v = 0; v < n_vars; v++) {
        if (map[v / 64] >> v % 64 & 1) {
            var[(*ret_n)++] = v;
        }
    }
    return var;
}

cuzk_pk *gen_key_new(const cuzk_r1cs *r, uint64_t seed)
{
    test_rng g = {seed};
    uint32_t n_vars = r->n_inputs + r->n_aux;
    cuzk_pk *pk = calloc(1, sizeof *pk);
    uint64_t *a = calloc(n_vars / 64 + 1, sizeof *a);
    uint64_t *b = calloc(n_vars / 64 + 1, sizeof *b);
    assert_true(pk && a && b);
    make_vk(&g, &pk->vk, r->n_inputs);
    pk->root = FR_ROOT_SNARKJS;
    pk->h_basis = CUZK_H_ODD_LAGRANGE;
    pk->n_inputs = r->n_inputs;
    pk->n_aux = r->n_aux;
    while (UINT64_C(1) << pk->lg_domain < cuzk_r1cs_rows_with_inputs(r)) {
        pk->lg_domain++;
    }
    pk->n_h = UINT64_C(1) << pk->lg_domain;
    pk->h = g1_list(&g, (size_t)pk->n_h);
    pk->l = g1_list(&g, r->n_aux);
    for (uint32_t v = 0; v < r->n_aux; v += 7) {
        pk->l[v] = (g1_affine){fp_zero, fp_zero};
    }

    cuzk_r1cs_density(r, CUZK_MATRIX_A, a);
    cuzk_r1cs_density(r, CUZK_MATRIX_B, b);
    for (uint32_t v = 0; v < r->n_inputs; v++) {
        a[v / 64] |= UINT64_C(1) << v % 64;
    }
    pk->a_var = listed(a, n_vars, &pk->n_a);
    pk->b_var = listed(b, n_vars, &pk->n_b);
    pk->a = g1_list(&g, pk->n_a);
    pk->b_g1 = g1_list(&g, pk->n_b);
    pk->b_g2 = g2_list(&g, pk->n_b);
    free(b);
    free(a);
    return pk;
}
