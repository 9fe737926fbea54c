#ifndef CUZK_R1CS_CS_INTERNAL_H
#define CUZK_R1CS_CS_INTERNAL_H

#include "r1cs/cs.h"

/* What the files of the builder share. */

/** A growing array; n and cap count elements. */
typedef struct cs_vec {
    void *p;
    size_t n, cap;
} cs_vec;

enum {
    CS_PORTS_MAX = 2048,      /* distinct variables at one call's ports */
    CS_PORT_TABLE = 8192,     /* power of two, sparse at that number */
    CS_TEMPLATES_MAX = 16384, /* distinct templates of a shape */
    CS_TEMPLATE_TABLE = 65536,
    CS_COEFF_TABLE = 131072,
};

/* The call that is open. Port p is local reference p + 1. */
typedef struct cs_call {
    bool open, recording;
    char gadget[CUZK_GADGET_NAME_MAX];
    uint32_t param, record_bytes;
    uint32_t n_ports;
    uint32_t template_id; /* found or new, once looked up */
    cuzk_var vars[CS_PORTS_MAX];
    uint32_t slots[CS_PORTS_MAX]; /* for class full without n_inputs, which is not known yet */
    bool full[CS_PORTS_MAX];
    cs_vec key; /* bytes that tell this call's template from others */
} cs_call;

/* What a template has beside the cuzk_template. */
typedef struct cs_template_extra {
    uint64_t hash;
    uint32_t key, key_bytes;     /* in cs->keys */
    uint32_t outputs, n_outputs; /* in cs->outputs, of cuzk_bool over references */
} cs_template_extra;

struct cuzk_cs {
    cuzk_err err; /* code CUZK_OK while nothing failed */
    char name[CUZK_SHAPE_NAME_MAX];
    const cuzk_shape *shape; /* NULL with the shape driver */
    uint32_t n_inputs;

    /* shape driver: totals so far, then the arrays of cuzk_shape under construction */
    uint32_t n_aux, n_full, n_rows, record_bytes;
    cs_vec templates, extras, instances, runs, offsets, terms, classes, plans, dictionary;
    cs_vec keys, outputs;
    uint32_t template_table[CS_TEMPLATE_TABLE]; /* template number + 1 */
    uint32_t coeff_table[CS_COEFF_TABLE];       /* dictionary index + 1 */
    uint32_t located;                           /* instance of the last variable looked up */

    cs_call call;
    struct {
        cuzk_var var;
        uint32_t stamp, local;
    } port_table[CS_PORT_TABLE]; /* variables of the open call, those with its stamp */
    uint32_t stamp;

    /* recording: rows so far */
    cs_vec rec_terms[3], rec_offsets[3], rec_full, rec_outputs, rec_plan;
    uint32_t rec_rows, rec_zeros[3];

    /* witness driver */
    uint32_t at; /* next instance */
    cs_vec inputs;
    uint8_t *records;
};

/** Room for n more elements of `size` bytes at the end of v, counted in, or NULL after a failure.
 */
void *cs_vec_extend(cuzk_cs *cs, cs_vec *v, size_t size, size_t n);

/** Appends n elements. */
void cs_vec_put(cuzk_cs *cs, cs_vec *v, size_t size, const void *elements, size_t n);

/** Index of a coefficient in the dictionary; 0 after a failure. */
uint32_t cs_coeff(cuzk_cs *cs, const fr *c);

/** The local number of a variable at a port of the open call, a new port when it is the first. */
uint32_t cs_port(cuzk_cs *cs, cuzk_var var, bool *ret_new, bool *ret_full);

/** Appends one byte to the key of the open call. */
void cs_key(cuzk_cs *cs, uint8_t byte);
void cs_key16(cuzk_cs *cs, uint32_t v);

/** Records a row over references. Combinations are merged; zeros were dropped from them before. */
void cs_record_row(cuzk_cs *cs, cuzk_lc *const m[3], const uint32_t zeros[3]);

#endif
