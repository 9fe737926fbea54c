#include "r1cs/packed.h"

#include <stdlib.h>

cuzk_code cuzk_packed_new(cuzk_packed *ret, const cuzk_shape *s, const fr *inputs, cuzk_err *err)
{
    cuzk_packed p = {calloc(cuzk_shape_aux(s) / 64 + 2, sizeof *p.bits),
                     malloc((size_t)cuzk_shape_slots(s) * sizeof *p.full)};
    if (!p.bits || !p.full) {
        cuzk_packed_clear(&p);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for an assignment of %s", s->name);
    }
    memcpy(p.full, inputs, s->n_inputs * sizeof *inputs);
    *ret = p;
    return CUZK_OK;
}

void cuzk_packed_clear(cuzk_packed *p)
{
    free(p->bits);
    free(p->full);
    memset(p, 0, sizeof *p);
}

cuzk_packed_writer cuzk_packed_writer_at(cuzk_packed *p, const cuzk_instance *i)
{
    return (cuzk_packed_writer){p->bits, i->aux, p->full + i->full};
}

static bool bit_at(const cuzk_packed *p, uint32_t aux)
{
    return p->bits[aux / 64] >> (aux % 64) & 1;
}

/* The instance that holds an aux variable. */
static uint32_t instance_of(const cuzk_shape *s, uint32_t aux)
{
    uint32_t lo = 0;
    for (uint32_t hi = s->n_instances; hi - lo > 1;) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (s->instances[mid].aux <= aux) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

void cuzk_packed_aux(const cuzk_packed *p, const cuzk_shape *s, uint32_t from, uint32_t n, fr *ret)
{
    uint32_t i = n ? instance_of(s, from) : 0;
    for (uint32_t v = from; v < from + n; i++) {
        const cuzk_instance *inst = &s->instances[i];
        const cuzk_template *t = cuzk_shape_template(s, inst);
        const uint64_t *classes = s->classes + t->classes;
        uint32_t own = 1 + t->n_ports;
        uint32_t slot = inst->full + cuzk_bits_count(classes, own, own + (v - inst->aux));
        for (; v < from + n && v < inst[1].aux; v++) {
            if (cuzk_template_is_full(s, t, own + (v - inst->aux))) {
                *ret++ = p->full[slot++];
            } else {
                *ret++ = bit_at(p, v) ? fr_one : fr_zero;
            }
        }
    }
}

/* ---- rows ---- */

/* values[ref]: where the value of a reference is; NULL for zero, &fr_one for one. */
static void gather(const cuzk_packed *p, const cuzk_shape *s, const cuzk_instance *inst,
                   const fr **values)
{
    const cuzk_template *t = cuzk_shape_template(s, inst);
    uint32_t ref = 0;
    values[ref++] = &fr_one;
    for (uint32_t r = inst[0].run; r < inst[1].run; r++) {
        const cuzk_run *run = &s->runs[r];
        bool full = cuzk_template_is_full(s, t, ref);
        for (uint32_t k = 0; k < run->count; k++) {
            uint32_t slot = run->slot + k;
            values[ref++] = full ? &p->full[slot] : bit_at(p, slot) ? &fr_one : NULL;
        }
    }
    uint32_t slot = inst->full;
    for (uint32_t v = inst[0].aux; v < inst[1].aux; v++, ref++) {
        values[ref] = cuzk_template_is_full(s, t, ref) ? &p->full[slot++]
                      : bit_at(p, v)                   ? &fr_one
                                                       : NULL;
    }
}

static void add_term(fr *sum, const cuzk_shape *s, uint32_t term, const fr *v)
{
    uint32_t c = cuzk_term_coeff(term);
    if (v == &fr_one) {
        fr_add(sum, sum, &s->dictionary[c]);
    } else if (c == 0) {
        fr_add(sum, sum, v);
    } else if (c == 1) {
        fr_sub(sum, sum, v);
    } else {
        fr x;
        fr_mul(&x, v, &s->dictionary[c]);
        fr_add(sum, sum, &x);
    }
}

typedef struct eval_job {
    const cuzk_packed *p;
    const cuzk_shape *s;
    unsigned matrix;
    uint32_t from, to;
    fr *ret;
    const fr **values; /* for each worker, one for each reference */
} eval_job;

enum { CHUNK = 16, VALUES = CUZK_TEMPLATE_REFS_MAX + 1 };

static void eval_chunk(void *ctx, size_t index, unsigned worker)
{
    const eval_job *j = ctx;
    const fr **values = j->values + (size_t)worker * VALUES;
    uint32_t begin = j->from + (uint32_t)index * CHUNK;
    uint32_t end = j->to - begin < CHUNK ? j->to : begin + CHUNK;
    fr *out = j->ret + (j->s->instances[begin].row - j->s->instances[j->from].row);
    for (uint32_t i = begin; i < end; i++) {
        const cuzk_template *t = cuzk_shape_template(j->s, &j->s->instances[i]);
        const uint32_t *offset = j->s->offsets + t->offsets[j->matrix];
        gather(j->p, j->s, &j->s->instances[i], values);
        for (uint32_t row = 0; row < t->n_rows; row++) {
            fr sum = fr_zero;
            for (uint32_t k = offset[row]; k < offset[row + 1]; k++) {
                const fr *v = values[cuzk_term_ref(j->s->terms[k])];
                if (v) {
                    add_term(&sum, j->s, j->s->terms[k], v);
                }
            }
            *out++ = sum;
        }
    }
}

cuzk_code cuzk_packed_eval(const cuzk_packed *p, const cuzk_shape *s, unsigned matrix,
                           uint32_t from, uint32_t to, fr *ret, cuzk_pool *pool, cuzk_err *err)
{
    eval_job j = {p, s, matrix, from, to, ret, NULL};
    j.values = malloc((size_t)cuzk_pool_size(pool) * VALUES * sizeof *j.values);
    if (!j.values) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to evaluate rows of %s", s->name);
    }
    cuzk_pool_run(pool, (to - from + CHUNK - 1) / CHUNK, eval_chunk, &j);
    free(j.values);
    return CUZK_OK;
}
