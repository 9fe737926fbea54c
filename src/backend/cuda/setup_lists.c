#include "backend/cuda/setup_lists.h"

#include <stdlib.h>
#include <string.h>

static uint64_t terms_of(const cuzk_shape *s, const cuzk_template *t, unsigned m)
{
    const uint32_t *offset = s->offsets + t->offsets[m];
    return offset[t->n_rows] - offset[0];
}

/* One matrix of one template: counts the terms of each reference, then places them. */
static void transpose(cuzk_cuda_setup_lists *l, const cuzk_shape *s, const cuzk_template *t,
                      unsigned m)
{
    const uint32_t *offset = s->offsets + t->offsets[m];
    uint32_t *first = l->first + l->n_first;
    uint32_t refs = (uint32_t)cuzk_template_refs(t);
    memset(first, 0, (refs + 1) * sizeof *first);
    for (uint32_t k = offset[0]; k < offset[t->n_rows]; k++) {
        first[cuzk_term_ref(s->terms[k])]++;
    }
    uint32_t at = (uint32_t)l->n_terms;
    for (uint32_t r = 0; r <= refs; r++) { /* first[r] becomes the end of r's terms */
        at += first[r];
        first[r] = at;
    }
    for (uint32_t row = t->n_rows; row-- > 0;) {
        for (uint32_t k = offset[row]; k < offset[row + 1]; k++) {
            uint32_t to = --first[cuzk_term_ref(s->terms[k])];
            l->terms[to] = (cuzk_cuda_setup_term){row, cuzk_term_coeff(s->terms[k])};
        }
    }
    l->n_first += refs + 1;
    l->n_terms = at;
}

static cuzk_code make_columns(cuzk_cuda_setup_lists *l, const cuzk_shape *s, cuzk_err *err)
{
    uint64_t n_first = 0, n_terms = 0;
    for (uint32_t k = 0; k < s->n_templates; k++) {
        const cuzk_template *t = &s->templates[k];
        n_first += 3 * (cuzk_template_refs(t) + 1);
        n_terms += terms_of(s, t, 0) + terms_of(s, t, 1) + terms_of(s, t, 2);
    }
    if (n_first > UINT32_MAX || n_terms > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "templates of more than %u terms in all",
                         UINT32_MAX);
    }
    l->base = malloc((3 * (size_t)s->n_templates + 1) * sizeof *l->base);
    l->first = malloc((n_first + 1) * sizeof *l->first);
    l->terms = malloc((n_terms + 1) * sizeof *l->terms);
    if (!l->base || !l->first || !l->terms) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %llu terms by columns",
                         (unsigned long long)n_terms);
    }
    for (uint32_t k = 0; k < s->n_templates; k++) {
        for (unsigned m = 0; m < 3; m++) {
            l->base[3 * k + m] = (uint32_t)l->n_first;
            transpose(l, s, &s->templates[k], m);
        }
    }
    return CUZK_OK;
}

static bool occurs(const cuzk_cuda_setup_lists *l, uint32_t template_id, uint32_t ref)
{
    for (unsigned m = 0; m < 3; m++) {
        const uint32_t *first = l->first + l->base[3 * template_id + m] + ref;
        if (first[0] != first[1]) {
            return true;
        }
    }
    return false;
}

static int by_var(const void *a, const void *b)
{
    uint32_t x = ((const cuzk_cuda_setup_use *)a)->var, y = ((const cuzk_cuda_setup_use *)b)->var;
    return (x > y) - (x < y);
}

/* at and left of uses in the order of their variables. */
static void number_uses(cuzk_cuda_setup_lists *l)
{
    for (uint64_t begin = 0, end; begin < l->n_uses; begin = end) {
        for (end = begin; end < l->n_uses && l->uses[end].var == l->uses[begin].var; end++) {
            l->uses[end].at = (uint32_t)(end - begin);
        }
        uint32_t n = (uint32_t)(end - begin);
        for (uint32_t k = 0; k < n; k++) {
            l->uses[begin + k].left = n - 1 - k;
        }
        l->most_uses = n > l->most_uses ? n : l->most_uses;
    }
}

static cuzk_code make_uses(cuzk_cuda_setup_lists *l, const cuzk_shape *s, cuzk_err *err)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_instances; i++) {
        n += 1 + (uint64_t)cuzk_shape_template(s, &s->instances[i])->n_ports;
    }
    if (n > UINT32_MAX) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "instances of more than %u ports in all",
                         UINT32_MAX);
    }
    cuzk_var *vars = malloc((CUZK_TEMPLATE_REFS_MAX + 1) * sizeof *vars);
    l->uses = malloc((n + 1) * sizeof *l->uses);
    if (!vars || !l->uses) {
        free(vars);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %llu ports", (unsigned long long)n);
    }
    for (uint32_t i = 0; i < s->n_instances; i++) {
        uint32_t id = s->instances[i].template_id;
        cuzk_instance_vars(s, i, vars);
        for (uint32_t ref = 0; ref <= s->templates[id].n_ports; ref++) {
            if (occurs(l, id, ref)) {
                uint32_t number = vars[ref] & ~CUZK_VAR_INPUT;
                uint32_t var = vars[ref] & CUZK_VAR_INPUT ? number : s->n_inputs + number;
                l->uses[l->n_uses++] = (cuzk_cuda_setup_use){i, ref, var, 0, 0};
            }
        }
    }
    free(vars);
    qsort(l->uses, l->n_uses, sizeof *l->uses, by_var);
    number_uses(l);
    return CUZK_OK;
}

cuzk_code cuzk_cuda_setup_lists_make(cuzk_cuda_setup_lists *ret, const cuzk_shape *s, cuzk_err *err)
{
    *ret = (cuzk_cuda_setup_lists){0};
    CUZK_TRY(make_columns(ret, s, err));
    return make_uses(ret, s, err);
}

void cuzk_cuda_setup_lists_clear(cuzk_cuda_setup_lists *l)
{
    free(l->base);
    free(l->first);
    free(l->terms);
    free(l->uses);
    *l = (cuzk_cuda_setup_lists){0};
}

cuzk_code cuzk_cuda_setup_ranks_new(cuzk_cuda_setup_ranks *ret, uint32_t n, cuzk_err *err)
{
    *ret = (cuzk_cuda_setup_ranks){.n_words = (size_t)n / 64 + 1};
    ret->bits = calloc(ret->n_words, sizeof *ret->bits);
    ret->ranks = calloc(ret->n_words + 1, sizeof *ret->ranks);
    return ret->bits && ret->ranks
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the density of %u variables", n);
}

void cuzk_cuda_setup_ranks_count(cuzk_cuda_setup_ranks *r)
{
    for (size_t i = 0; i < r->n_words; i++) {
        r->ranks[i + 1] = r->ranks[i] + (uint32_t)__builtin_popcountll(r->bits[i]);
    }
}

void cuzk_cuda_setup_ranks_clear(cuzk_cuda_setup_ranks *r)
{
    free(r->bits);
    free(r->ranks);
    *r = (cuzk_cuda_setup_ranks){0};
}
