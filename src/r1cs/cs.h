#ifndef CUZK_R1CS_CS_H
#define CUZK_R1CS_CS_H

#include "r1cs/template.h"

/*
 * The builder that circuits are written over. One circuit source serves two drivers:
 *
 *   shape    records constraints and instances; ends in a cuzk_shape. Values are ignored.
 *   witness  computes values only: the inputs and the record of each instance, in the same order.
 *
 * At the top level a circuit calls gadgets. A gadget call names the gadget and its ports; with the
 * shape driver, the gadget's rows are recorded only when no earlier call had the same name,
 * parameter and kinds of ports. Inside a recording, variables are references of the template
 * (template.h) and the same functions record rows over them. Allocations and rows at the
 * top level are instances of small templates that are made on the fly.
 *
 * A failure (out of memory, a limit of template.h) is kept in the builder, later calls then do
 * nothing, and the finishing call returns it.
 */
typedef struct cuzk_cs cuzk_cs;

/** A variable with its value (meaningful with the witness driver at the top level only). */
typedef struct cuzk_num {
    uint32_t var; /* cuzk_var at the top level, a reference in a recording; CUZK_ONE in both */
    fr v;
} cuzk_num;

typedef enum cuzk_bool_kind { CUZK_FALSE, CUZK_TRUE, CUZK_IS, CUZK_NOT } cuzk_bool_kind;

/** A truth value in a circuit: a constant, a variable of class bit, or the negation of one. */
typedef struct cuzk_bool {
    uint32_t var; /* for CUZK_IS and CUZK_NOT */
    uint8_t kind; /* cuzk_bool_kind */
    bool v;       /* the value, negation included: as for cuzk_num, and for constants always */
} cuzk_bool;

static inline cuzk_bool cuzk_bool_const(bool v)
{
    return (cuzk_bool){0, v ? CUZK_TRUE : CUZK_FALSE, v};
}

typedef struct cuzk_term {
    uint32_t var;
    fr coeff;
} cuzk_term;

/** A linear combination being written; all zero is the empty one. Up to four terms need no memory
 *  of their own, more are freed with cuzk_lc_free. */
typedef struct cuzk_lc {
    size_t n, cap;
    cuzk_term *heap; /* NULL while `in` suffices */
    cuzk_term in[4];
} cuzk_lc;

void cuzk_lc_free(cuzk_lc *lc);
static inline cuzk_term *cuzk_lc_terms(cuzk_lc *lc) { return lc->heap ? lc->heap : lc->in; }

/** lc += coeff * var; lc += coeff * b; lc += coeff * other. */
void cuzk_lc_add(cuzk_cs *cs, cuzk_lc *lc, uint32_t var, const fr *coeff);
void cuzk_lc_add_bool(cuzk_cs *cs, cuzk_lc *lc, const cuzk_bool *b, const fr *coeff);
void cuzk_lc_add_lc(cuzk_cs *cs, cuzk_lc *lc, const cuzk_lc *other, const fr *coeff);

/** Sums terms on the same variable and drops those that become zero; returns how many. */
uint32_t cuzk_lc_merge(cuzk_lc *lc);

/** The combinations 1 * var and coeff * var. */
cuzk_lc cuzk_lc_var(uint32_t var);
cuzk_lc cuzk_lc_scaled(uint32_t var, const fr *coeff);
cuzk_lc cuzk_lc_bool(const cuzk_bool *b);
/** a - b, of variables. */
cuzk_lc cuzk_lc_sub(uint32_t a, uint32_t b);

/* ---- driving ---- */

/** Starts a shape; `name` identifies the circuit. The caller owns *ret. */
cuzk_code cuzk_cs_new_shape(cuzk_cs **ret, const char *name, cuzk_err *err);

/** Starts a witness for a shape, which must live as long. */
cuzk_code cuzk_cs_new_witness(cuzk_cs **ret, const cuzk_shape *shape, cuzk_err *err);

void cuzk_cs_free(cuzk_cs *cs);

/** Ends a shape. The caller owns *ret and still frees cs. */
cuzk_code cuzk_cs_finish_shape(cuzk_cs *cs, cuzk_shape **ret, cuzk_err *err);

/** What the first stage of a witness makes. Owns both. */
typedef struct cuzk_ports {
    fr *inputs;       /* n_inputs, ONE first */
    uint8_t *records; /* cuzk_shape_record_bytes */
} cuzk_ports;

void cuzk_ports_clear(cuzk_ports *p);

/** Ends a witness. CUZK_E_INTERNAL when the calls were not those of the shape. */
cuzk_code cuzk_cs_finish_witness(cuzk_cs *cs, cuzk_ports *ret, cuzk_err *err);

/** Keeps the first failure; for circuits and gadgets that find one themselves. */
void cuzk_cs_fail(cuzk_cs *cs, cuzk_code code, const char *msg);
bool cuzk_cs_failed(const cuzk_cs *cs);

/** True with the witness driver: a gadget appends its record and computes values. */
bool cuzk_cs_is_witness(const cuzk_cs *cs);

/* ---- variables and rows, at the top level and in a recording ---- */

/** A public input; top level only. */
cuzk_num cuzk_cs_input(cuzk_cs *cs, const fr *value);

/** A variable of class full. value: NULL for one that only a shape's recording needs. */
cuzk_num cuzk_cs_alloc(cuzk_cs *cs, const fr *value);

/** n of them, as one instance at the top level. */
void cuzk_cs_alloc_n(cuzk_cs *cs, cuzk_num *ret, size_t n, const fr *values);

/** n <= 64 variables of class bit with the rows (1 - b) * b = 0, bits of value from the lowest. */
void cuzk_cs_alloc_bits(cuzk_cs *cs, cuzk_bool *ret, size_t n, uint64_t value);

/** A row a * b = c; NULL is the empty combination. The combinations are used up, but not freed. */
void cuzk_cs_enforce(cuzk_cs *cs, cuzk_lc *a, cuzk_lc *b, cuzk_lc *c);

/* ---- in a recording only ---- */

/** A variable without a row of its own: the gadget's word that `class` is right. */
uint32_t cuzk_cs_var(cuzk_cs *cs, bool full);

/** Aux variables of the recording so far. */
uint32_t cuzk_cs_recorded_aux(const cuzk_cs *cs);

/** Appends to the plan of the template. */
void cuzk_cs_plan(cuzk_cs *cs, const void *bytes, size_t n);

/* ---- gadget calls, at the top level ---- */

/** Opens a call with the shape driver. The gadget's name is at most 15 letters. */
void cuzk_cs_begin(cuzk_cs *cs, const char *gadget, uint32_t param, uint32_t record_bytes);

/** Gives ports to the open call; local[n] receives them as the recording sees them. */
void cuzk_cs_port_bools(cuzk_cs *cs, const cuzk_bool *ports, cuzk_bool *local, size_t n);
void cuzk_cs_port_nums(cuzk_cs *cs, const cuzk_num *ports, cuzk_num *local, size_t n);

/** True when the call's template is new: the gadget then writes its rows, and its outputs with
 *  cuzk_cs_output_*. No ports may follow. */
bool cuzk_cs_recording(cuzk_cs *cs);
void cuzk_cs_output_bools(cuzk_cs *cs, const cuzk_bool *local, size_t n);
void cuzk_cs_output_num(cuzk_cs *cs, uint32_t ref);

/** Closes the call. ret[n] are its outputs as the top level sees them. */
void cuzk_cs_end(cuzk_cs *cs, cuzk_bool *ret, size_t n);

/** cuzk_cs_end for a call whose one output is a number. */
cuzk_num cuzk_cs_end_num(cuzk_cs *cs);

/** With the witness driver, opens the record of the next instance, which must be of this gadget:
 *  zeroed memory of its record_bytes, or NULL after a failure. */
uint8_t *cuzk_cs_record(cuzk_cs *cs, const char *gadget, uint32_t param);

#endif
