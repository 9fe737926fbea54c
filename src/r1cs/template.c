#include "r1cs/template.h"

#include <stdlib.h>

void cuzk_shape_free(cuzk_shape *s)
{
    if (!s) {
        return;
    }
    free(s->owned);
    cuzk_file_map_close(&s->map);
    free(s);
}

void cuzk_instance_vars(const cuzk_shape *s, uint32_t i, cuzk_var *vars)
{
    const cuzk_instance *inst = &s->instances[i];
    const cuzk_template *t = cuzk_shape_template(s, inst);
    *vars++ = CUZK_ONE;
    for (uint32_t r = inst[0].run; r < inst[1].run; r++) {
        for (uint32_t k = 0; k < s->runs[r].count; k++) {
            *vars++ = s->runs[r].var + k;
        }
    }
    for (uint32_t j = 0; j < t->n_aux; j++) {
        *vars++ = inst->aux + j;
    }
}

static void set_bit(uint64_t *bits, uint32_t i) { bits[i / 64] |= (uint64_t)1 << (i % 64); }

/* References of t that occur in its part of a matrix. */
static void template_density(const cuzk_shape *s, const cuzk_template *t, unsigned matrix,
                             uint64_t used[1024])
{
    memset(used, 0, 1024 * sizeof *used);
    uint32_t end = s->offsets[t->offsets[matrix] + t->n_rows];
    for (uint32_t k = s->offsets[t->offsets[matrix]]; k < end; k++) {
        set_bit(used, cuzk_term_ref(s->terms[k]));
    }
}

void cuzk_bits_or(uint64_t *dst, uint32_t at, const uint64_t *src, uint32_t from, uint32_t n)
{
    while (n) {
        uint32_t take = 64 - at % 64;
        take = take < 64 - from % 64 ? take : 64 - from % 64;
        take = take < n ? take : n;
        uint64_t word = src[from / 64] >> (from % 64) << (64 - take) >> (64 - take);
        dst[at / 64] |= word << (at % 64);
        at += take;
        from += take;
        n -= take;
    }
}

static void instance_density(const cuzk_shape *s, const cuzk_instance *inst, const uint64_t *used,
                             uint64_t *inputs, uint64_t *aux)
{
    const cuzk_template *t = cuzk_shape_template(s, inst);
    uint32_t ref = 1;
    for (uint32_t r = inst[0].run; r < inst[1].run; r++) {
        const cuzk_run *run = &s->runs[r];
        uint64_t *to = run->var & CUZK_VAR_INPUT ? inputs : aux;
        if (to) {
            cuzk_bits_or(to, run->var & ~CUZK_VAR_INPUT, used, ref, run->count);
        }
        ref += run->count;
    }
    if (aux) {
        cuzk_bits_or(aux, inst->aux, used, ref, t->n_aux);
    }
    if (inputs && used[0] & 1) {
        inputs[0] |= 1;
    }
}

void cuzk_shape_density(const cuzk_shape *s, unsigned matrix, uint64_t *inputs, uint64_t *aux)
{
    uint64_t used[1024];
    for (uint32_t k = 0; k < s->n_templates; k++) {
        template_density(s, &s->templates[k], matrix, used);
        for (uint32_t i = 0; i < s->n_instances; i++) {
            if (s->instances[i].template_id == k) {
                instance_density(s, &s->instances[i], used, inputs, aux);
            }
        }
    }
}

cuzk_code cuzk_shape_count(const cuzk_shape *s, cuzk_shape_counts *ret, cuzk_err *err)
{
    uint32_t n_aux = cuzk_shape_aux(s);
    size_t words = n_aux / 64 + 1;
    size_t input_words = s->n_inputs / 64 + 1;
    uint64_t *bits = calloc(2 * words + input_words, sizeof *bits);
    uint64_t *uses = calloc(s->n_templates + 1, sizeof *uses);
    if (!bits || !uses) {
        free(bits);
        free(uses);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for bitmaps of %u variables", n_aux);
    }
    cuzk_shape_density(s, 0, NULL, bits);
    cuzk_shape_density(s, 1, bits + 2 * words, bits + words);
    cuzk_shape_counts c = {0};
    c.a_aux = cuzk_bits_count(bits, 0, n_aux);
    c.b_aux = cuzk_bits_count(bits + words, 0, n_aux);
    c.b_input = cuzk_bits_count(bits + 2 * words, 0, s->n_inputs);
    for (uint32_t i = 0; i < s->n_instances; i++) {
        uses[s->instances[i].template_id]++;
    }
    for (uint32_t k = 0; k < s->n_templates; k++) {
        const cuzk_template *t = &s->templates[k];
        for (int m = 0; m < 3; m++) {
            c.nnz[m] += uses[k] * ((uint64_t)t->zeros[m] + s->offsets[t->offsets[m] + t->n_rows] -
                                   s->offsets[t->offsets[m]]);
        }
    }
    free(bits);
    free(uses);
    *ret = c;
    return CUZK_OK;
}
