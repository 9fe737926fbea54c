#include "r1cs/shape_check.h"

#include <stdlib.h>

/* `CHECK(cond, "templates", i, "what is wrong")` leaves the function with an error unless cond. */
#define CHECK(cond, array, index, what)                                                            \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            return CUZK_FAIL(err, CUZK_E_INPUT, "%s: %s[%u]: %s", file, (array),                   \
                             (unsigned)(index), (what));                                           \
        }                                                                                          \
    } while (0)

static cuzk_code check_rows(const cuzk_shape *s, uint32_t k, unsigned m, const char *file,
                            cuzk_err *err)
{
    const cuzk_template *t = &s->templates[k];
    uint32_t refs = (uint32_t)cuzk_template_refs(t);
    CHECK((uint64_t)t->offsets[m] + t->n_rows + 1 <= s->n_offsets, "templates", k,
          "offsets out of range");
    const uint32_t *offset = s->offsets + t->offsets[m];
    CHECK(offset[t->n_rows] <= s->n_terms, "templates", k, "terms out of range");
    for (uint32_t row = 0; row < t->n_rows; row++) {
        CHECK(offset[row] <= offset[row + 1] && offset[row + 1] <= s->n_terms, "offsets",
              t->offsets[m] + row, "rows are not in order");
        for (uint32_t i = offset[row]; i < offset[row + 1]; i++) {
            CHECK(cuzk_term_ref(s->terms[i]) < refs, "terms", i, "reference out of range");
            CHECK(cuzk_term_coeff(s->terms[i]) < s->n_coeffs, "terms", i,
                  "coefficient out of range");
            CHECK(i == offset[row] || cuzk_term_ref(s->terms[i - 1]) < cuzk_term_ref(s->terms[i]),
                  "terms", i, "references of a row are not in order");
        }
    }
    return CUZK_OK;
}

static cuzk_code check_template(const cuzk_shape *s, uint32_t k, const char *file, cuzk_err *err)
{
    const cuzk_template *t = &s->templates[k];
    CHECK(memchr(t->gadget, 0, sizeof t->gadget), "templates", k, "gadget name has no end");
    CHECK(t->n_ports < CUZK_TEMPLATE_REFS_MAX && t->n_aux < CUZK_TEMPLATE_REFS_MAX &&
              cuzk_template_refs(t) <= CUZK_TEMPLATE_REFS_MAX,
          "templates", k, "more than 65535 references");
    CHECK(t->record_bytes % 8 == 0, "templates", k, "record size is no multiple of 8");
    CHECK((uint64_t)t->classes + (cuzk_template_refs(t) + 63) / 64 <= s->n_class_words, "templates",
          k, "classes out of range");
    CHECK(t->plan % 8 == 0 && (uint64_t)t->plan + t->plan_bytes <= s->plan_bytes, "templates", k,
          "plan out of range");
    const uint64_t *classes = s->classes + t->classes;
    CHECK(classes[0] & 1, "templates", k, "ONE is not of class full");
    CHECK(cuzk_bits_count(classes, 1 + t->n_ports, (uint32_t)cuzk_template_refs(t)) == t->n_full,
          "templates", k, "number of full variables does not match the classes");
    for (unsigned m = 0; m < 3; m++) {
        CUZK_TRY(check_rows(s, k, m, file, err));
    }
    return CUZK_OK;
}

/* The instance of aux variable v, by a table of the instance at each multiple of 4096. */
enum { STEP = 4096 };

static uint32_t *index_instances(const cuzk_shape *s)
{
    uint32_t n = cuzk_shape_aux(s) / STEP + 1;
    uint32_t *table = malloc(n * sizeof *table);
    uint32_t i = 0;
    for (uint32_t k = 0; table && k < n; k++) {
        while (i + 1 < s->n_instances && s->instances[i + 1].aux <= k * STEP) {
            i++;
        }
        table[k] = i;
    }
    return table;
}

static cuzk_code check_run(const cuzk_shape *s, uint32_t r, uint32_t i, uint32_t first_ref,
                           const uint32_t *table, const char *file, cuzk_err *err)
{
    const cuzk_run *run = &s->runs[r];
    const cuzk_template *t = cuzk_shape_template(s, &s->instances[i]);
    uint32_t number = run->var & ~CUZK_VAR_INPUT;
    CHECK(run->count && run->count <= t->n_ports - (first_ref - 1), "runs", r,
          "more ports than the template has");
    bool full = cuzk_template_is_full(s, t, first_ref);
    uint32_t full_ports =
        cuzk_bits_count(s->classes + t->classes, first_ref, first_ref + run->count);
    CHECK(full_ports == (full ? run->count : 0), "runs", r, "ports of two classes");
    if (run->var & CUZK_VAR_INPUT) {
        CHECK(number > 0 && (uint64_t)number + run->count <= s->n_inputs, "runs", r,
              "input out of range");
        CHECK(full && run->slot == number, "runs", r, "slot of an input");
        return CUZK_OK;
    }
    CHECK((uint64_t)number + run->count <= s->instances[i].aux, "runs", r,
          "variable is not of an earlier instance");
    uint32_t owner = table[number / STEP];
    for (uint32_t done = 0; done < run->count;) {
        uint32_t v = number + done;
        while (s->instances[owner + 1].aux <= v) {
            owner++;
        }
        const cuzk_instance *o = &s->instances[owner];
        const cuzk_template *ot = cuzk_shape_template(s, o);
        const uint64_t *classes = s->classes + ot->classes;
        uint32_t take = o[1].aux - v < run->count - done ? o[1].aux - v : run->count - done;
        uint32_t own = 1 + ot->n_ports;
        uint32_t ref = own + (v - o->aux);
        CHECK(cuzk_bits_count(classes, ref, ref + take) == (full ? take : 0), "runs", r,
              "class of the variable is not that of the port");
        uint32_t slot = full ? o->full + cuzk_bits_count(classes, own, ref) : v;
        CHECK(run->slot + done == slot, "runs", r, "slot does not match the variable");
        done += take;
    }
    return CUZK_OK;
}

/* Instances tile variables, rows, slots and records. */
static cuzk_code check_tiling(const cuzk_shape *s, const char *file, cuzk_err *err)
{
    const cuzk_instance *i = s->instances;
    CHECK(i->aux == 0 && i->row == 0 && i->record == 0 && i->run == 0 && i->full == s->n_inputs,
          "instances", 0, "does not start at the start");
    for (uint32_t k = 0; k < s->n_instances; k++, i++) {
        CHECK(i->template_id < s->n_templates, "instances", k, "template out of range");
        const cuzk_template *t = cuzk_shape_template(s, i);
        CHECK(t->n_aux <= INT32_MAX - i->aux && i[1].aux == i->aux + t->n_aux, "instances", k,
              "variables");
        CHECK(t->n_rows < UINT32_MAX - i->row && i[1].row == i->row + t->n_rows, "instances", k,
              "rows");
        CHECK(t->n_full < UINT32_MAX - i->full && i[1].full == i->full + t->n_full, "instances", k,
              "slots");
        CHECK(t->record_bytes < UINT32_MAX - i->record &&
                  i[1].record == i->record + t->record_bytes,
              "instances", k, "records");
        CHECK(i[1].run >= i->run && i[1].run <= s->n_runs, "instances", k, "runs");
    }
    return CUZK_OK;
}

static cuzk_code check_ports(const cuzk_shape *s, const uint32_t *table, const char *file,
                             cuzk_err *err)
{
    for (uint32_t k = 0; k < s->n_instances; k++) {
        uint32_t ref = 1;
        for (uint32_t r = s->instances[k].run; r < s->instances[k + 1].run; r++) {
            CUZK_TRY(check_run(s, r, k, ref, table, file, err));
            ref += s->runs[r].count;
        }
        CHECK(ref - 1 == cuzk_shape_template(s, &s->instances[k])->n_ports, "instances", k,
              "fewer ports than the template has");
    }
    return CUZK_OK;
}

cuzk_code cuzk_shape_check(const cuzk_shape *s, const char *file, cuzk_err *err)
{
    CHECK(s->n_inputs > 0 && s->n_inputs < INT32_MAX, "header", 0, "number of inputs");
    CHECK(s->n_coeffs >= 2 && s->n_coeffs <= CUZK_DICTIONARY_MAX, "header", 0,
          "number of coefficients");
    fr minus;
    fr_neg(&minus, &fr_one);
    for (uint32_t k = 0; k < s->n_coeffs; k++) {
        CHECK(fr_is_reduced(&s->dictionary[k]) && !fr_is_zero(&s->dictionary[k]), "dictionary", k,
              "not a field element other than zero");
    }
    CHECK(fr_eq(&s->dictionary[0], &fr_one) && fr_eq(&s->dictionary[1], &minus), "dictionary", 0,
          "does not start with 1 and -1");
    for (uint32_t k = 0; k < s->n_templates; k++) {
        CUZK_TRY(check_template(s, k, file, err));
    }
    CUZK_TRY(check_tiling(s, file, err));
    uint32_t *table = index_instances(s);
    if (!table) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to check %s", file);
    }
    cuzk_code code = check_ports(s, table, file, err);
    free(table);
    return code;
}
