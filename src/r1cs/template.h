#ifndef CUZK_R1CS_TEMPLATE_H
#define CUZK_R1CS_TEMPLATE_H

#include "base/file.h"
#include "math/field/fr.h"
#include "r1cs/template_types.h"

/*
 * A constraint system in compressed form.
 *
 * A Filecoin circuit has 10^8 rows, but it is made of thousands of copies of few gadgets. So a
 * system is a list of *instances* of *templates*. A template holds the rows of one gadget, written
 * over *references*; an instance says where in the variables and rows of the whole system a copy
 * stands and which variables are plugged into its ports:
 *
 *     reference 0            the constant ONE
 *     1 .. n_ports           port: a variable that existed before the instance
 *     n_ports + 1 + j        auxiliary variable j of the instance itself
 *
 *     template "sha256": 26 192 rows, 768 ports, 26 166 aux        stored once
 *     instance #17:      template 3, aux from 61 540, rows from 61 702, ports <- runs [40, 52)
 *
 * Invariants
 *   - Instances tile the system. Instance i has the aux variables [aux_i, aux_{i+1}) and the rows
 *     [row_i, row_{i+1}), in the order in which the circuit allocates and constrains, so flattening
 *     the list gives the variable numbers and row order that the trusted setup fixed. A last,
 *     empty instance holds the totals.
 *   - A port's variable is an input or an aux of an earlier instance, and no two ports of an
 *     instance are the same variable: terms on one variable are merged in the template, and a call
 *     whose ports coincide in another way has another template. Input 0 (ONE) is never a port.
 *   - What crosses a gadget's border is a variable, a negated variable or a constant. The latter
 * two are part of the template (rows fold them), not of the instance. Linear combinations stay
 *     inside a gadget: one that must leave is given a variable, as in the reference.
 *   - In a row, terms stand by increasing reference, one for each reference, no zero coefficient.
 *
 * Values
 *   Each aux variable has a class: *bit* (its rows allow 0 and 1 only) or *full*. A packed
 * assignment is a bitmap with one bit for each aux (0 for those of class full) and a list of field
 *   elements: the inputs, ONE first, then the aux of class full in order. A variable's *slot* is
 *   its place there: the aux number for a bit, the index in the list for an input or a full one.
 *   Runs carry slots so that a reader needs no search: instance i's own aux j of class bit has slot
 *   aux_i + j, its k-th aux of class full has slot full_i + k.
 *
 *   An instance's inner variables follow from its *record*: the few values that the gadget reads,
 * in a form that the gadget defines (a SHA-256 block's is its chaining value and message, 96
 * bytes). Records stand in instance order, each of the template's record_bytes. Expanding records
 * into a packed assignment needs no order among instances: that is the part for a GPU. A template's
 * *plan* is data that the gadget's expansion wants, e.g. which bits constants have folded away.
 *
 * Layout
 *   Everything is flat arrays of 32-bit words, bits and field elements, addressed by index, in one
 *   block of memory that is also the file's content: loading is a map and a check, and copying to a
 *   device is one transfer. A term is one word, coefficient index << 16 | reference. Limits, each
 *   checked where a system is built and where it is loaded: 65 535 references in a template, 65 536
 *   distinct coefficients, 2^31 - 1 variables of each kind, 2^32 - 1 rows, record bytes, terms,
 * runs.
 *
 * Sizes, porep-32GiB: 130 278 541 rows of 722 million terms are 5 040 SHA-256 instances of 15
 * templates, 0.8 MB each, and 15 000 small instances of 24 to 150 bytes.
 */

/** A compressed system. Read-only, safe from any thread. */
typedef struct cuzk_shape {
    char name[CUZK_SHAPE_NAME_MAX]; /* of the circuit, with its version */
    uint32_t n_inputs;              /* ONE included */
    uint32_t n_templates, n_instances, n_runs, n_offsets, n_terms, n_class_words, n_coeffs;
    uint32_t plan_bytes;
    const cuzk_template *templates;
    const cuzk_instance *instances; /* n_instances + 1: the last holds the totals */
    const cuzk_run *runs;
    const uint32_t *offsets;
    const uint32_t *terms;
    const uint64_t *classes;
    const uint8_t *plans;
    const fr *dictionary; /* Montgomery form; 0 is one, 1 is minus one */
    cuzk_span image;      /* the block that holds all of the above */
    void *owned;          /* the block, when it is on the heap */
    cuzk_file_map map;    /* the block, when it is a file */
} cuzk_shape;

/** Frees a shape; accepts NULL. */
void cuzk_shape_free(cuzk_shape *s);

static inline uint32_t cuzk_shape_aux(const cuzk_shape *s)
{
    return s->instances[s->n_instances].aux;
}
static inline uint32_t cuzk_shape_rows(const cuzk_shape *s)
{
    return s->instances[s->n_instances].row;
}
/** Length of the list of field elements: inputs and full aux. */
static inline uint32_t cuzk_shape_slots(const cuzk_shape *s)
{
    return s->instances[s->n_instances].full;
}
/** Bytes of all records. */
static inline uint32_t cuzk_shape_record_bytes(const cuzk_shape *s)
{
    return s->instances[s->n_instances].record;
}

static inline const cuzk_template *cuzk_shape_template(const cuzk_shape *s, const cuzk_instance *i)
{
    return &s->templates[i->template_id];
}

/** How many references a template has: ONE, its ports, its aux. */
static inline uint64_t cuzk_template_refs(const cuzk_template *t)
{
    return (uint64_t)1 + t->n_ports + t->n_aux;
}

/** How many of the bits [from, to) are set. */
static inline uint32_t cuzk_bits_count(const uint64_t *bits, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    while (from < to) {
        uint32_t take = 64 - from % 64 < to - from ? 64 - from % 64 : to - from;
        uint64_t word = bits[from / 64] >> (from % 64) << (64 - take);
        n += (uint32_t)__builtin_popcountll(word);
        from += take;
    }
    return n;
}

/** ORs the bits [from, from + n) of src into dst at `at`. */
void cuzk_bits_or(uint64_t *dst, uint32_t at, const uint64_t *src, uint32_t from, uint32_t n);

/** Class of a reference of a template. */
static inline bool cuzk_template_is_full(const cuzk_shape *s, const cuzk_template *t, uint32_t ref)
{
    return s->classes[t->classes + ref / 64] >> (ref % 64) & 1;
}

static inline uint32_t cuzk_term_ref(uint32_t term) { return term & 0xffff; }
static inline uint32_t cuzk_term_coeff(uint32_t term) { return term >> 16; }

/** Terms of A, B, C, and how many variables occur where. As the reference counts them, terms
 *  include the few whose coefficient is zero. */
typedef struct cuzk_shape_counts {
    uint64_t nnz[3];
    uint64_t a_aux, b_input, b_aux;
} cuzk_shape_counts;

/** Fills vars[1 + n_ports + n_aux] with the variable behind each reference of instance i. */
void cuzk_instance_vars(const cuzk_shape *s, uint32_t i, cuzk_var *vars);

/**
 * Marks the variables that occur in a matrix (0 A, 1 B, 2 C): bit v of inputs (n_inputs bits) and
 * of aux. Both bitmaps are of 64-bit words, zeroed by the caller; either may be NULL.
 */
void cuzk_shape_density(const cuzk_shape *s, unsigned matrix, uint64_t *inputs, uint64_t *aux);

/** Nonzeros and densities. CUZK_E_MEMORY when a bitmap of all aux cannot be had. */
cuzk_code cuzk_shape_count(const cuzk_shape *s, cuzk_shape_counts *ret, cuzk_err *err);

#endif
