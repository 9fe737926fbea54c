#include "r1cs/cs.h"

#include <stdio.h>
#include <stdlib.h>

#include "r1cs/cs_internal.h"

cuzk_code cuzk_cs_new_shape(cuzk_cs **ret, const char *name, cuzk_err *err)
{
    if (strlen(name) >= CUZK_SHAPE_NAME_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "circuit name %s is too long", name);
    }
    cuzk_cs *cs = calloc(1, sizeof *cs);
    if (!cs) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a constraint system builder");
    }
    snprintf(cs->name, sizeof cs->name, "%s", name);
    cs->n_inputs = 1;
    fr minus;
    fr_neg(&minus, &fr_one);
    cs_coeff(cs, &fr_one);
    cs_coeff(cs, &minus);
    *ret = cs;
    return CUZK_OK;
}

cuzk_code cuzk_cs_new_witness(cuzk_cs **ret, const cuzk_shape *shape, cuzk_err *err)
{
    cuzk_cs *cs = calloc(1, sizeof *cs);
    if (cs) {
        cs->shape = shape;
        cs->n_inputs = 1;
        cs_vec_put(cs, &cs->inputs, sizeof(fr), &fr_one, 1);
        cs->records = calloc(1, cuzk_shape_record_bytes(shape) + 8);
    }
    if (!cs || !cs->records || cuzk_cs_failed(cs)) {
        cuzk_cs_free(cs);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the witness records of %s",
                         shape->name);
    }
    *ret = cs;
    return CUZK_OK;
}

void cuzk_cs_free(cuzk_cs *cs)
{
    if (!cs) {
        return;
    }
    cs_vec *all[] = {
        &cs->templates,    &cs->extras,         &cs->instances,      &cs->runs,
        &cs->offsets,      &cs->terms,          &cs->classes,        &cs->plans,
        &cs->dictionary,   &cs->keys,           &cs->outputs,        &cs->call.key,
        &cs->rec_terms[0], &cs->rec_terms[1],   &cs->rec_terms[2],   &cs->rec_offsets[0],
        &cs->rec_full,     &cs->rec_offsets[1], &cs->rec_offsets[2], &cs->rec_outputs,
        &cs->rec_plan,     &cs->inputs,
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]->p);
    }
    free(cs->records);
    free(cs);
}

void cuzk_ports_clear(cuzk_ports *p)
{
    free(p->inputs);
    free(p->records);
    memset(p, 0, sizeof *p);
}

void cuzk_cs_fail(cuzk_cs *cs, cuzk_code code, const char *msg)
{
    if (cs->err.code == CUZK_OK) {
        cuzk_err_set(&cs->err, code, __FILE__, __LINE__, "%s: %s",
                     cs->shape ? cs->shape->name : cs->name, msg);
    }
}

bool cuzk_cs_failed(const cuzk_cs *cs) { return cs->err.code != CUZK_OK; }

bool cuzk_cs_is_witness(const cuzk_cs *cs) { return cs->shape; }

void *cs_vec_extend(cuzk_cs *cs, cs_vec *v, size_t size, size_t n)
{
    if (v->n + n > UINT32_MAX) {
        cuzk_cs_fail(cs, CUZK_E_UNSUPPORTED, "more than 2^32 elements in a table");
        return NULL;
    }
    if (v->n + n > v->cap) {
        size_t cap = v->cap ? v->cap : 64;
        while (cap < v->n + n) {
            cap += cap / 2;
        }
        void *grown = realloc(v->p, cap * size);
        if (!grown) {
            cuzk_cs_fail(cs, CUZK_E_MEMORY, "no memory for the tables of a circuit");
            return NULL;
        }
        v->p = grown;
        v->cap = cap;
    }
    void *at = (char *)v->p + v->n * size;
    v->n += n;
    return at;
}

void cs_vec_put(cuzk_cs *cs, cs_vec *v, size_t size, const void *elements, size_t n)
{
    void *at = n ? cs_vec_extend(cs, v, size, n) : NULL;
    if (at) {
        memcpy(at, elements, n * size);
    }
}

/* ---- witness driver ---- */

uint8_t *cuzk_cs_record(cuzk_cs *cs, const char *gadget, uint32_t param)
{
    if (cuzk_cs_failed(cs)) {
        return NULL;
    }
    const cuzk_shape *s = cs->shape;
    if (cs->at >= s->n_instances) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "the witness calls more gadgets than the shape");
        return NULL;
    }
    const cuzk_instance *i = &s->instances[cs->at++];
    const cuzk_template *t = cuzk_shape_template(s, i);
    if (strncmp(t->gadget, gadget, sizeof t->gadget) != 0 || t->param != param) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "the witness calls another gadget than the shape");
        return NULL;
    }
    return cs->records + i->record;
}

cuzk_code cuzk_cs_finish_witness(cuzk_cs *cs, cuzk_ports *ret, cuzk_err *err)
{
    if (!cuzk_cs_failed(cs) &&
        (cs->at != cs->shape->n_instances || cs->n_inputs != cs->shape->n_inputs)) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "the witness calls fewer gadgets than the shape");
    }
    if (cuzk_cs_failed(cs)) {
        if (err) {
            *err = cs->err;
        }
        return cs->err.code;
    }
    *ret = (cuzk_ports){cs->inputs.p, cs->records};
    cs->inputs = (cs_vec){0};
    cs->records = NULL;
    return CUZK_OK;
}

/* ---- variables and rows ---- */

static bool at_top(cuzk_cs *cs)
{
    if (cs->call.open) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a statement of the top level inside a gadget call");
        return false;
    }
    return !cuzk_cs_failed(cs);
}

cuzk_num cuzk_cs_input(cuzk_cs *cs, const fr *value)
{
    cuzk_num x = {CUZK_VAR_INPUT | cs->n_inputs, value ? *value : fr_zero};
    if (!at_top(cs)) {
        return x;
    }
    if (cs->n_inputs == INT32_MAX) {
        cuzk_cs_fail(cs, CUZK_E_UNSUPPORTED, "more than 2^31 inputs");
        return x;
    }
    cs->n_inputs++;
    if (cs->shape) {
        cs_vec_put(cs, &cs->inputs, sizeof(fr), &x.v, 1);
    }
    return x;
}

void cuzk_cs_alloc_n(cuzk_cs *cs, cuzk_num *ret, size_t n, const fr *values)
{
    for (size_t i = 0; i < n; i++) {
        ret[i] = (cuzk_num){0, values ? values[i] : fr_zero};
    }
    if (cs->call.recording) {
        for (size_t i = 0; i < n; i++) {
            ret[i].var = cuzk_cs_var(cs, true);
        }
        return;
    }
    if (!at_top(cs) || n == 0) {
        return;
    }
    if (cs->shape) {
        uint8_t *record = cuzk_cs_record(cs, "full", (uint32_t)n);
        for (size_t i = 0; record && i < n; i++) {
            memcpy(record + i * sizeof(fr), &ret[i].v, sizeof(fr));
        }
        return;
    }
    uint32_t first = cs->n_aux;
    cuzk_cs_begin(cs, "full", (uint32_t)n, (uint32_t)(n * sizeof(fr)));
    if (cuzk_cs_recording(cs)) {
        for (size_t i = 0; i < n; i++) {
            cuzk_cs_var(cs, true);
        }
    }
    cuzk_cs_end(cs, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        ret[i].var = first + (uint32_t)i;
    }
}

cuzk_num cuzk_cs_alloc(cuzk_cs *cs, const fr *value)
{
    cuzk_num x;
    cuzk_cs_alloc_n(cs, &x, 1, value);
    return x;
}

static void record_bits(cuzk_cs *cs, cuzk_bool *ret, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ret[i].var = cuzk_cs_var(cs, false);
        cuzk_lc a = cuzk_lc_sub(CUZK_ONE, ret[i].var);
        cuzk_lc b = cuzk_lc_var(ret[i].var);
        cuzk_cs_enforce(cs, &a, &b, NULL);
    }
}

void cuzk_cs_alloc_bits(cuzk_cs *cs, cuzk_bool *ret, size_t n, uint64_t value)
{
    for (size_t i = 0; i < n; i++) {
        ret[i] = (cuzk_bool){0, CUZK_IS, value >> i & 1};
    }
    if (cs->call.recording) {
        record_bits(cs, ret, n);
        return;
    }
    if (!at_top(cs) || n == 0) {
        return;
    }
    if (cs->shape) {
        uint8_t *record = cuzk_cs_record(cs, "bits", (uint32_t)n);
        if (record) {
            memcpy(record, &value, sizeof value);
        }
        return;
    }
    uint32_t first = cs->n_aux;
    cuzk_cs_begin(cs, "bits", (uint32_t)n, sizeof value);
    if (cuzk_cs_recording(cs)) {
        cuzk_bool local[64];
        record_bits(cs, local, n);
    }
    cuzk_cs_end(cs, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        ret[i].var = first + (uint32_t)i;
    }
}

/* A row at the top level: a template of its own, whose ports are the row's variables. */
static void enforce_top(cuzk_cs *cs, cuzk_lc *const m[3])
{
    uint32_t zeros[3];
    cuzk_cs_begin(cs, "row", 0, 0);
    for (int k = 0; k < 3; k++) {
        zeros[k] = cuzk_lc_merge(m[k]);
        cs_key16(cs, zeros[k]);
        cs_key16(cs, (uint32_t)m[k]->n);
        cuzk_term *t = cuzk_lc_terms(m[k]);
        for (size_t i = 0; i < m[k]->n; i++) {
            bool fresh = false, full = false;
            if (t[i].var != CUZK_ONE) {
                t[i].var = cs_port(cs, t[i].var, &fresh, &full);
            }
            cs_key(cs, full);
            cs_key16(cs, t[i].var == CUZK_ONE ? 0 : t[i].var);
            cs_key16(cs, cs_coeff(cs, &t[i].coeff));
        }
    }
    if (cuzk_cs_recording(cs)) {
        cs_record_row(cs, m, zeros);
    }
    cuzk_cs_end(cs, NULL, 0);
}

void cuzk_cs_enforce(cuzk_cs *cs, cuzk_lc *a, cuzk_lc *b, cuzk_lc *c)
{
    cuzk_lc empty[3] = {{0}};
    cuzk_lc *const m[3] = {a ? a : &empty[0], b ? b : &empty[1], c ? c : &empty[2]};
    if (cs->call.recording) {
        static const uint32_t none[3] = {0};
        cs_record_row(cs, m, none);
    } else if (at_top(cs)) {
        if (cs->shape) {
            cuzk_cs_record(cs, "row", 0);
        } else {
            enforce_top(cs, m);
        }
    }
}
