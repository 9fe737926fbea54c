#include "r1cs/cs_internal.h"
#include "r1cs/shape_file.h"

#include <stdio.h>
#include <stdlib.h>

/* Gadget calls with the shape driver: ports, keys, recording of new templates, instances. */

static uint64_t hash_bytes(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 0x100000001b3;
    }
    return h ^ h >> 29;
}

uint32_t cs_coeff(cuzk_cs *cs, const fr *c)
{
    uint64_t h = c->l[0] * 0x9e3779b97f4a7c15 ^ c->l[1] * 0xc2b2ae3d27d4eb4f ^ c->l[3];
    const fr *dictionary = cs->dictionary.p;
    uint32_t at = (uint32_t)(h >> 40) % CS_COEFF_TABLE;
    for (; cs->coeff_table[at]; at = (at + 1) % CS_COEFF_TABLE) {
        uint32_t i = cs->coeff_table[at] - 1;
        if (fr_eq(&dictionary[i], c)) {
            return i;
        }
    }
    if (cs->dictionary.n == CUZK_DICTIONARY_MAX) {
        cuzk_cs_fail(cs, CUZK_E_UNSUPPORTED, "more than 65536 distinct coefficients");
        return 0;
    }
    cs_vec_put(cs, &cs->dictionary, sizeof *c, c, 1);
    if (cuzk_cs_failed(cs)) {
        return 0;
    }
    cs->coeff_table[at] = (uint32_t)cs->dictionary.n;
    return (uint32_t)cs->dictionary.n - 1;
}

void cs_key(cuzk_cs *cs, uint8_t byte) { cs_vec_put(cs, &cs->call.key, 1, &byte, 1); }

void cs_key16(cuzk_cs *cs, uint32_t v)
{
    uint8_t bytes[2] = {(uint8_t)v, (uint8_t)(v >> 8)};
    cs_vec_put(cs, &cs->call.key, 1, bytes, 2);
}

/* The instance that aux belongs to. Ports mostly come in runs, so the last answer is tried first.
 */
static const cuzk_instance *locate(cuzk_cs *cs, uint32_t aux)
{
    const cuzk_instance *all = cs->instances.p;
    size_t n = cs->instances.n;
    uint32_t i = cs->located;
    if (i < n && all[i].aux <= aux && (i + 1 < n ? all[i + 1].aux : cs->n_aux) > aux) {
        return &all[i];
    }
    size_t lo = 0;
    for (size_t hi = n; hi - lo > 1;) {
        size_t mid = lo + (hi - lo) / 2;
        if (all[mid].aux <= aux) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    cs->located = (uint32_t)lo;
    return &all[lo];
}

/* Class and slot of an aux variable; slots of class full lack n_inputs. */
static void describe(cuzk_cs *cs, uint32_t aux, bool *ret_full, uint32_t *ret_slot)
{
    const cuzk_instance *i = locate(cs, aux);
    const cuzk_template *t = (const cuzk_template *)cs->templates.p + i->template_id;
    const uint64_t *classes = (const uint64_t *)cs->classes.p + t->classes;
    uint32_t ref = t->n_ports + 1 + (aux - i->aux);
    *ret_full = classes[ref / 64] >> (ref % 64) & 1;
    *ret_slot = aux;
    if (*ret_full) {
        *ret_slot = i->full + cuzk_bits_count(classes, t->n_ports + 1, ref);
    }
}

uint32_t cs_port(cuzk_cs *cs, cuzk_var var, bool *ret_new, bool *ret_full)
{
    cs_call *c = &cs->call;
    uint32_t at = var * 0x9e3779b1U >> 19;
    for (; cs->port_table[at].stamp == cs->stamp; at = (at + 1) % CS_PORT_TABLE) {
        if (cs->port_table[at].var == var) {
            *ret_new = false;
            *ret_full = c->full[cs->port_table[at].local - 1];
            return cs->port_table[at].local;
        }
    }
    *ret_new = true;
    *ret_full = true;
    bool input = var & CUZK_VAR_INPUT;
    uint32_t number = var & ~CUZK_VAR_INPUT;
    if (number >= (input ? cs->n_inputs : cs->n_aux)) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a gadget's port is no variable");
        return 1;
    }
    if (c->n_ports == CS_PORTS_MAX) {
        cuzk_cs_fail(cs, CUZK_E_UNSUPPORTED, "more than 2048 variables at a gadget's ports");
        return 1;
    }
    uint32_t slot = number;
    if (!input) {
        describe(cs, number, ret_full, &slot);
    }
    c->vars[c->n_ports] = var;
    c->slots[c->n_ports] = slot;
    c->full[c->n_ports] = *ret_full;
    c->n_ports++;
    cs->port_table[at].var = var;
    cs->port_table[at].stamp = cs->stamp;
    cs->port_table[at].local = c->n_ports;
    return c->n_ports;
}

void cuzk_cs_begin(cuzk_cs *cs, const char *gadget, uint32_t param, uint32_t record_bytes)
{
    cs_call *c = &cs->call;
    if (c->open) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a gadget call inside a gadget call");
        return;
    }
    cs->stamp++;
    c->open = true;
    c->recording = false;
    c->param = param;
    c->record_bytes = record_bytes;
    c->n_ports = 0;
    c->key.n = 0;
    memset(c->gadget, 0, sizeof c->gadget);
    snprintf(c->gadget, sizeof c->gadget, "%s", gadget);
    cs_vec_put(cs, &c->key, 1, c->gadget, sizeof c->gadget);
    cs_vec_put(cs, &c->key, 1, &c->param, sizeof c->param);
}

/* Bytes of a key for what is at a port. */
enum { KEY_CONST, KEY_NEW = 2, KEY_OLD = 4, KEY_NUM_BIT = 6, KEY_NUM_FULL, KEY_NUM_OLD, KEY_ONE };

void cuzk_cs_port_bools(cuzk_cs *cs, const cuzk_bool *ports, cuzk_bool *local, size_t n)
{
    for (size_t i = 0; i < n && !cuzk_cs_failed(cs); i++) {
        local[i] = ports[i];
        if (ports[i].kind <= CUZK_TRUE) {
            cs_key(cs, (uint8_t)(KEY_CONST + ports[i].kind));
            continue;
        }
        bool fresh, full;
        uint8_t negated = ports[i].kind == CUZK_NOT;
        local[i].var = cs_port(cs, ports[i].var, &fresh, &full);
        cs_key(cs, (uint8_t)((fresh ? KEY_NEW : KEY_OLD) + negated));
        if (!fresh) {
            cs_key16(cs, local[i].var);
        }
        if (full) {
            cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a truth value over a variable of class full");
        }
    }
}

void cuzk_cs_port_nums(cuzk_cs *cs, const cuzk_num *ports, cuzk_num *local, size_t n)
{
    for (size_t i = 0; i < n && !cuzk_cs_failed(cs); i++) {
        local[i] = ports[i];
        if (ports[i].var == CUZK_ONE) {
            cs_key(cs, KEY_ONE);
            continue;
        }
        bool fresh, full;
        local[i].var = cs_port(cs, ports[i].var, &fresh, &full);
        cs_key(cs, !fresh ? KEY_NUM_OLD : full ? KEY_NUM_FULL : KEY_NUM_BIT);
        if (!fresh) {
            cs_key16(cs, local[i].var);
        }
    }
}

/* Finds the open call's template or takes the next number for it. */
static bool find_template(cuzk_cs *cs, uint64_t hash)
{
    cs_call *c = &cs->call;
    uint32_t at = (uint32_t)(hash % CS_TEMPLATE_TABLE);
    for (; cs->template_table[at]; at = (at + 1) % CS_TEMPLATE_TABLE) {
        c->template_id = cs->template_table[at] - 1;
        const cs_template_extra *e = (const cs_template_extra *)cs->extras.p + c->template_id;
        if (e->hash == hash && e->key_bytes == c->key.n &&
            memcmp((const uint8_t *)cs->keys.p + e->key, c->key.p, c->key.n) == 0) {
            return true;
        }
    }
    if (cs->templates.n == CS_TEMPLATES_MAX) {
        cuzk_cs_fail(cs, CUZK_E_UNSUPPORTED, "more than 16384 distinct gadget calls");
        return true;
    }
    c->template_id = (uint32_t)cs->templates.n;
    cs->template_table[at] = c->template_id + 1;
    return false;
}

bool cuzk_cs_recording(cuzk_cs *cs)
{
    cs_call *c = &cs->call;
    if (cuzk_cs_failed(cs)) {
        return false;
    }
    uint64_t hash = hash_bytes(c->key.p, c->key.n);
    if (find_template(cs, hash)) {
        return false;
    }
    cs_template_extra extra = {hash, (uint32_t)cs->keys.n, (uint32_t)c->key.n, 0, 0};
    cs_vec_put(cs, &cs->extras, sizeof extra, &extra, 1);
    cs_vec_put(cs, &cs->keys, 1, c->key.p, c->key.n);
    const uint32_t zero = 0;
    for (int m = 0; m < 3; m++) {
        cs->rec_terms[m].n = 0;
        cs->rec_offsets[m].n = 0;
        cs_vec_put(cs, &cs->rec_offsets[m], sizeof zero, &zero, 1);
    }
    cs->rec_full.n = cs->rec_outputs.n = cs->rec_plan.n = 0;
    cs->rec_rows = 0;
    memset(cs->rec_zeros, 0, sizeof cs->rec_zeros);
    c->recording = !cuzk_cs_failed(cs);
    return c->recording;
}

uint32_t cuzk_cs_var(cuzk_cs *cs, bool full)
{
    if (!cs->call.recording) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a gadget's variable outside a recording");
        return CUZK_ONE;
    }
    uint32_t ref = cs->call.n_ports + 1 + (uint32_t)cs->rec_full.n;
    if (ref >= CUZK_TEMPLATE_REFS_MAX) {
        cuzk_cs_fail(cs, CUZK_E_UNSUPPORTED, "more than 65535 variables in a gadget");
        return CUZK_ONE;
    }
    cs_vec_put(cs, &cs->rec_full, sizeof full, &full, 1);
    return ref;
}

uint32_t cuzk_cs_recorded_aux(const cuzk_cs *cs) { return (uint32_t)cs->rec_full.n; }

void cuzk_cs_plan(cuzk_cs *cs, const void *bytes, size_t n)
{
    cs_vec_put(cs, &cs->rec_plan, 1, bytes, n);
}

void cs_record_row(cuzk_cs *cs, cuzk_lc *const m[3], const uint32_t zeros[3])
{
    uint32_t n_refs = cs->call.n_ports + 1 + (uint32_t)cs->rec_full.n;
    for (int k = 0; k < 3 && !cuzk_cs_failed(cs); k++) {
        cuzk_term *t = cuzk_lc_terms(m[k]);
        for (size_t i = 0; i < m[k]->n; i++) {
            t[i].var = t[i].var == CUZK_ONE ? 0 : t[i].var;
            if (t[i].var >= n_refs) {
                cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a gadget's row over a variable not its own");
                return;
            }
        }
        cs->rec_zeros[k] += zeros[k] + cuzk_lc_merge(m[k]);
        uint32_t *out = cs_vec_extend(cs, &cs->rec_terms[k], sizeof *out, m[k]->n);
        for (size_t i = 0; out && i < m[k]->n; i++) {
            out[i] = cs_coeff(cs, &t[i].coeff) << 16 | t[i].var;
        }
        uint32_t end = (uint32_t)cs->rec_terms[k].n;
        cs_vec_put(cs, &cs->rec_offsets[k], sizeof end, &end, 1);
    }
    cs->rec_rows++;
}

void cuzk_cs_output_bools(cuzk_cs *cs, const cuzk_bool *local, size_t n)
{
    cs_vec_put(cs, &cs->rec_outputs, sizeof *local, local, n);
}

void cuzk_cs_output_num(cuzk_cs *cs, uint32_t ref)
{
    cuzk_bool b = {ref, CUZK_IS, false};
    cuzk_cs_output_bools(cs, &b, 1);
}

/* Class bits of references: ONE, ports, aux. */
static void put_classes(cuzk_cs *cs, cuzk_template *t)
{
    const cs_call *c = &cs->call;
    const bool *aux_full = cs->rec_full.p;
    uint32_t refs = 1 + t->n_ports + t->n_aux;
    t->classes = (uint32_t)cs->classes.n;
    uint64_t *words = cs_vec_extend(cs, &cs->classes, sizeof *words, (refs + 63) / 64);
    if (!words) {
        return;
    }
    memset(words, 0, (refs + 63) / 64 * sizeof *words);
    for (uint32_t r = 0; r < refs; r++) {
        bool full = r == 0 || (r <= t->n_ports ? c->full[r - 1] : aux_full[r - 1 - t->n_ports]);
        words[r / 64] |= (uint64_t)full << (r % 64);
        t->n_full += full && r > t->n_ports;
    }
}

/* Turns what was recorded into a template. */
static void put_template(cuzk_cs *cs)
{
    const cs_call *c = &cs->call;
    cuzk_template t = {.param = c->param, .record_bytes = (c->record_bytes + 7) & ~7U};
    memcpy(t.gadget, c->gadget, sizeof t.gadget);
    memcpy(t.zeros, cs->rec_zeros, sizeof t.zeros);
    t.n_ports = c->n_ports;
    t.n_aux = (uint32_t)cs->rec_full.n;
    t.n_rows = cs->rec_rows;
    for (int m = 0; m < 3; m++) {
        uint32_t first = (uint32_t)cs->terms.n;
        t.offsets[m] = (uint32_t)cs->offsets.n;
        cs_vec_put(cs, &cs->terms, sizeof(uint32_t), cs->rec_terms[m].p, cs->rec_terms[m].n);
        const uint32_t *rel = cs->rec_offsets[m].p;
        uint32_t *out = cs_vec_extend(cs, &cs->offsets, sizeof *out, cs->rec_offsets[m].n);
        for (size_t i = 0; out && i < cs->rec_offsets[m].n; i++) {
            out[i] = first + rel[i];
        }
    }
    put_classes(cs, &t);
    t.plan = (uint32_t)cs->plans.n;
    t.plan_bytes = (uint32_t)cs->rec_plan.n;
    const uint64_t pad = 0;
    cs_vec_put(cs, &cs->plans, 1, cs->rec_plan.p, cs->rec_plan.n);
    cs_vec_put(cs, &cs->plans, 1, &pad, -cs->plans.n & 7);
    cs_template_extra *e = (cs_template_extra *)cs->extras.p + c->template_id;
    e->outputs = (uint32_t)cs->outputs.n;
    e->n_outputs = (uint32_t)cs->rec_outputs.n;
    cs_vec_put(cs, &cs->outputs, sizeof(cuzk_bool), cs->rec_outputs.p, cs->rec_outputs.n);
    cs_vec_put(cs, &cs->templates, sizeof t, &t, 1);
}

static void put_instance(cuzk_cs *cs)
{
    const cs_call *c = &cs->call;
    const cuzk_template *t = (const cuzk_template *)cs->templates.p + c->template_id;
    cuzk_instance i = {c->template_id, cs->n_aux,        cs->n_full,
                       cs->n_rows,     cs->record_bytes, (uint32_t)cs->runs.n};
    for (uint32_t p = 0; p < c->n_ports;) {
        cuzk_run run = {c->vars[p], c->slots[p], 1};
        while (p + run.count < c->n_ports && c->full[p + run.count] == c->full[p] &&
               c->vars[p + run.count] == run.var + run.count &&
               c->slots[p + run.count] == run.slot + run.count) {
            run.count++;
        }
        p += run.count;
        cs_vec_put(cs, &cs->runs, sizeof run, &run, 1);
    }
    cs_vec_put(cs, &cs->instances, sizeof i, &i, 1);
    if (t->n_aux > INT32_MAX - cs->n_aux || t->n_rows > UINT32_MAX - 1 - cs->n_rows ||
        t->record_bytes > UINT32_MAX - 8 - cs->record_bytes) {
        cuzk_cs_fail(cs, CUZK_E_UNSUPPORTED, "more than 2^31 variables or 2^32 rows");
        return;
    }
    cs->n_aux += t->n_aux;
    cs->n_full += t->n_full;
    cs->n_rows += t->n_rows;
    cs->record_bytes += t->record_bytes;
}

void cuzk_cs_end(cuzk_cs *cs, cuzk_bool *ret, size_t n)
{
    cs_call *c = &cs->call;
    if (c->recording && !cuzk_cs_failed(cs)) {
        put_template(cs);
    }
    uint32_t aux = cs->n_aux;
    if (!cuzk_cs_failed(cs)) {
        put_instance(cs);
    }
    c->open = c->recording = false;
    if (cuzk_cs_failed(cs)) {
        for (size_t i = 0; i < n; i++) {
            ret[i] = cuzk_bool_const(false);
        }
        return;
    }
    const cs_template_extra *e = (const cs_template_extra *)cs->extras.p + c->template_id;
    const cuzk_bool *out = (const cuzk_bool *)cs->outputs.p + e->outputs;
    if (e->n_outputs != n) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a gadget has another number of outputs");
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        ret[i] = out[i];
        if (out[i].kind >= CUZK_IS && out[i].var > c->n_ports) {
            ret[i].var = aux + (out[i].var - c->n_ports - 1);
        } else if (out[i].kind >= CUZK_IS) {
            ret[i].var = c->vars[out[i].var - 1];
        }
    }
}

cuzk_num cuzk_cs_end_num(cuzk_cs *cs)
{
    cuzk_bool b = cuzk_bool_const(false);
    cuzk_cs_end(cs, &b, 1);
    return (cuzk_num){b.var, fr_zero};
}

/* Slots of class full start after the inputs, whose number is known only now. */
static void shift_slots(cuzk_cs *cs)
{
    cuzk_instance *instances = cs->instances.p;
    cuzk_run *runs = cs->runs.p;
    for (size_t i = 0; i < cs->instances.n; i++) {
        instances[i].full += cs->n_inputs;
        if (i + 1 == cs->instances.n) {
            break; /* the totals */
        }
        const cuzk_template *t = (const cuzk_template *)cs->templates.p + instances[i].template_id;
        const uint64_t *classes = (const uint64_t *)cs->classes.p + t->classes;
        uint32_t ref = 1;
        for (uint32_t r = instances[i].run; r < instances[i + 1].run; r++) {
            if (classes[ref / 64] >> (ref % 64) & 1 && !(runs[r].var & CUZK_VAR_INPUT)) {
                runs[r].slot += cs->n_inputs;
            }
            ref += runs[r].count;
        }
    }
}

cuzk_code cuzk_cs_finish_shape(cuzk_cs *cs, cuzk_shape **ret, cuzk_err *err)
{
    if (cs->call.open) {
        cuzk_cs_fail(cs, CUZK_E_INTERNAL, "a gadget call was not closed");
    }
    uint32_t n_instances = (uint32_t)cs->instances.n;
    cuzk_instance totals = {0,          cs->n_aux,        cs->n_full,
                            cs->n_rows, cs->record_bytes, (uint32_t)cs->runs.n};
    cs_vec_put(cs, &cs->instances, sizeof totals, &totals, 1);
    if (cuzk_cs_failed(cs)) {
        if (err) {
            *err = cs->err;
        }
        return cs->err.code;
    }
    shift_slots(cs);
    cuzk_shape parts = {
        .n_inputs = cs->n_inputs,
        .n_templates = (uint32_t)cs->templates.n,
        .n_instances = n_instances,
        .n_runs = (uint32_t)cs->runs.n,
        .n_offsets = (uint32_t)cs->offsets.n,
        .n_terms = (uint32_t)cs->terms.n,
        .n_class_words = (uint32_t)cs->classes.n,
        .n_coeffs = (uint32_t)cs->dictionary.n,
        .plan_bytes = (uint32_t)cs->plans.n,
        .templates = cs->templates.p,
        .instances = cs->instances.p,
        .runs = cs->runs.p,
        .offsets = cs->offsets.p,
        .terms = cs->terms.p,
        .classes = cs->classes.p,
        .plans = cs->plans.p,
        .dictionary = cs->dictionary.p,
    };
    memcpy(parts.name, cs->name, sizeof parts.name);
    return cuzk_shape_assemble(ret, &parts, err);
}
