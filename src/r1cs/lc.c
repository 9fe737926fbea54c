#include "r1cs/cs_internal.h"

#include <stdlib.h>

void cuzk_lc_free(cuzk_lc *lc)
{
    free(lc->heap);
    memset(lc, 0, sizeof *lc);
}

void cuzk_lc_add(cuzk_cs *cs, cuzk_lc *lc, uint32_t var, const fr *coeff)
{
    size_t cap = lc->heap ? lc->cap : 4;
    if (lc->n == cap) {
        cuzk_term *grown = realloc(lc->heap, 2 * cap * sizeof *grown);
        if (!grown) {
            cuzk_cs_fail(cs, CUZK_E_MEMORY, "no memory for a linear combination");
            return;
        }
        if (!lc->heap) {
            memcpy(grown, lc->in, sizeof lc->in);
        }
        lc->heap = grown;
        lc->cap = 2 * cap;
    }
    cuzk_lc_terms(lc)[lc->n++] = (cuzk_term){var, *coeff};
}

void cuzk_lc_add_bool(cuzk_cs *cs, cuzk_lc *lc, const cuzk_bool *b, const fr *coeff)
{
    fr minus;
    switch (b->kind) {
    case CUZK_TRUE:
        cuzk_lc_add(cs, lc, CUZK_ONE, coeff);
        break;
    case CUZK_IS:
        cuzk_lc_add(cs, lc, b->var, coeff);
        break;
    case CUZK_NOT:
        fr_neg(&minus, coeff);
        cuzk_lc_add(cs, lc, CUZK_ONE, coeff);
        cuzk_lc_add(cs, lc, b->var, &minus);
        break;
    default:
        break;
    }
}

void cuzk_lc_add_lc(cuzk_cs *cs, cuzk_lc *lc, const cuzk_lc *other, const fr *coeff)
{
    const cuzk_term *t = other->heap ? other->heap : other->in;
    for (size_t i = 0; i < other->n; i++) {
        fr c;
        fr_mul(&c, &t[i].coeff, coeff);
        cuzk_lc_add(cs, lc, t[i].var, &c);
    }
}

static int by_var(const void *a, const void *b)
{
    uint32_t x = ((const cuzk_term *)a)->var;
    uint32_t y = ((const cuzk_term *)b)->var;
    return (x > y) - (x < y);
}

uint32_t cuzk_lc_merge(cuzk_lc *lc)
{
    cuzk_term *t = cuzk_lc_terms(lc);
    bool sorted = true;
    for (size_t i = 1; i < lc->n; i++) {
        sorted = sorted && t[i - 1].var <= t[i].var;
    }
    if (!sorted) {
        qsort(t, lc->n, sizeof *t, by_var);
    }
    size_t n = 0;
    uint32_t zeros = 0;
    for (size_t i = 0; i < lc->n;) {
        cuzk_term sum = t[i++];
        while (i < lc->n && t[i].var == sum.var) {
            fr_add(&sum.coeff, &sum.coeff, &t[i++].coeff);
        }
        if (!fr_is_zero(&sum.coeff)) {
            t[n++] = sum;
        } else {
            zeros++;
        }
    }
    lc->n = n;
    return zeros;
}

cuzk_lc cuzk_lc_scaled(uint32_t var, const fr *coeff)
{
    cuzk_lc lc = {0};
    lc.n = 1;
    lc.in[0] = (cuzk_term){var, *coeff};
    return lc;
}

cuzk_lc cuzk_lc_var(uint32_t var) { return cuzk_lc_scaled(var, &fr_one); }

cuzk_lc cuzk_lc_bool(const cuzk_bool *b)
{
    cuzk_lc lc = {0};
    cuzk_lc_add_bool(NULL, &lc, b, &fr_one);
    return lc;
}

cuzk_lc cuzk_lc_sub(uint32_t a, uint32_t b)
{
    cuzk_lc lc = cuzk_lc_var(a);
    fr minus;
    fr_neg(&minus, &fr_one);
    cuzk_lc_add(NULL, &lc, b, &minus);
    return lc;
}
