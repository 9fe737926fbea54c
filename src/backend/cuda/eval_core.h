#ifndef CUZK_BACKEND_CUDA_EVAL_CORE_H
#define CUZK_BACKEND_CUDA_EVAL_CORE_H

#include "backend/cuda/dfr_io.h"
#include "backend/cuda/eval.h"

/*
 * A thread sums one row. All it reads but the elements of `full` stays in the caches: the templates
 * are a few MB, the bits of an instance a few KB. So arithmetic bounds it, and for 1.6 terms a row
 * (B) the writing of 32 bytes.
 */

/* The instance and template of a row. */
typedef struct eval_place {
    cuzk_instance at;
    const uint32_t *ports, *refs;
    const uint32_t *offsets; /* of the template's rows */
    uint32_t row;            /* in the template */
} eval_place;

/* False past the end of the instance's rows. */
CUZK_HD bool eval_find(const cuzk_cuda_eval_job *j, uint64_t i, eval_place *ret)
{
    cuzk_cuda_row_block block = j->rows.blocks[i / EVAL_ROWS];
    uint32_t place = block.first + (uint32_t)(i % EVAL_ROWS);
    ret->at = j->s.instances[block.instance];
    uint32_t id = ret->at.template_id;
    const cuzk_template *t = &j->s.templates[id];
    if (place >= t->n_rows) {
        return false;
    }
    ret->ports = j->s.ports + j->s.first_port[block.instance];
    ret->refs = j->rows.refs + j->s.first_ref[id];
    ret->offsets = j->s.offsets + t->offsets[j->matrix];
    uint64_t order = (uint64_t)j->matrix * j->rows.n_template_rows + j->rows.first_row[id];
    ret->row = j->rows.order[order + place];
    return true;
}

CUZK_HD dfr eval_add_term(const cuzk_cuda_eval_job *j, const eval_place *p, uint32_t term, dfr sum)
{
    uint32_t coefficient = term >> 16;
    uint32_t ref = p->refs[term & 0xffff], at = ref & EVAL_REF_INDEX;
    dfr value;
    if (ref & EVAL_REF_PORT) {
        at = p->ports[at];
    } else {
        at += ref & EVAL_REF_FULL ? p->at.full : p->at.aux;
    }
    if (ref & EVAL_REF_FULL) {
        value = dfr_load(j->full + at);
        if (coefficient == 1) {
            value = dfr_sub_canonical(dfr_zero(), value);
        } else if (coefficient > 1) {
            value = dfr_mul_canonical(dfr_load(j->s.dictionary + coefficient), value);
        }
    } else if (ref & EVAL_REF_ONE || j->bits[at / 32] >> (at % 32) & 1) {
        value = dfr_load(j->s.dictionary + coefficient);
    } else {
        return sum;
    }
    return dfr_add_canonical(sum, value);
}

CUZK_HD dfr eval_sum(const cuzk_cuda_eval_job *j, const eval_place *p)
{
    dfr sum = dfr_zero();
    uint32_t end = p->offsets[p->row + 1];
    for (uint32_t k = p->offsets[p->row]; k < end; k++) {
        sum = eval_add_term(j, p, j->s.terms[k], sum);
    }
    return sum;
}

CUZK_HD void eval_row_one(const cuzk_cuda_eval_job *j, uint64_t i)
{
    eval_place p;
    if (eval_find(j, i, &p)) {
        dfr_store(j->ret + (p.at.row + p.row), eval_sum(j, &p));
    }
}

CUZK_HD void eval_product_one(const cuzk_cuda_eval_job *j, uint64_t i)
{
    eval_place p;
    if (eval_find(j, i, &p)) {
        uint32_t row = p.at.row + p.row;
        dfr product = dfr_mul(dfr_load(j->a + row), dfr_load(j->b + row));
        if (!dfr_eq(product, eval_sum(j, &p))) {
            hd_atomic_min32(j->bad, row);
        }
    }
}

CUZK_HD void eval_tail_one(const cuzk_cuda_eval_tail_job *j, uint64_t i)
{
    dfr_store(j->ret + i, i < j->n_values ? dfr_load(j->values + i) : dfr_zero());
}

#endif
