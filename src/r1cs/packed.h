#ifndef CUZK_R1CS_PACKED_H
#define CUZK_R1CS_PACKED_H

#include "base/threads.h"
#include "r1cs/template.h"

/** An assignment in packed form (template.h): one bit for each aux, and the list of field elements
 *  by slot. Owns both. */
typedef struct cuzk_packed {
    uint64_t *bits; /* cuzk_shape_aux(s) / 64 + 2 words */
    fr *full;       /* cuzk_shape_slots(s), Montgomery form; the inputs come first */
} cuzk_packed;

/** All zero but the inputs, which are copied: s->n_inputs elements, ONE first. */
cuzk_code cuzk_packed_new(cuzk_packed *ret, const cuzk_shape *s, const fr *inputs, cuzk_err *err);

void cuzk_packed_clear(cuzk_packed *p);

/** Where an expansion writes the aux variables of an instance, one after the other. Instances may
 * be written by several threads at once, each with its own writer. */
typedef struct cuzk_packed_writer {
    uint64_t *bits;
    uint32_t at; /* next aux */
    fr *full;    /* next element */
} cuzk_packed_writer;

/** A writer at the first variable of an instance. */
cuzk_packed_writer cuzk_packed_writer_at(cuzk_packed *p, const cuzk_instance *i);

/** The next n <= 64 variables, of class bit, from the lowest bit; higher bits must be 0. */
static inline void cuzk_packed_put_bits(cuzk_packed_writer *w, uint64_t v, unsigned n)
{
    /* A word may hold variables of instances that other threads write. */
    __atomic_fetch_or(&w->bits[w->at / 64], v << (w->at % 64), __ATOMIC_RELAXED);
    if (w->at % 64 + n > 64) {
        __atomic_fetch_or(&w->bits[w->at / 64 + 1], v >> (64 - w->at % 64), __ATOMIC_RELAXED);
    }
    w->at += n;
}

/** The next variable, of class full. */
static inline void cuzk_packed_put_full(cuzk_packed_writer *w, const fr *v)
{
    *w->full++ = *v;
    w->at++;
}

/** ret[k] = value of aux variable from + k, for k < n, found instance by instance. */
void cuzk_packed_aux(const cuzk_packed *p, const cuzk_shape *s, uint32_t from, uint32_t n, fr *ret);

/**
 * ret[k] = <M_j, z> for the rows j of instances [from, to), first row first, by the matrix number
 * (0 A, 1 B, 2 C). Work is shared by instances; a thread needs 0.5 MB of scratch. CUZK_E_MEMORY.
 */
cuzk_code cuzk_packed_eval(const cuzk_packed *p, const cuzk_shape *s, unsigned matrix,
                           uint32_t from, uint32_t to, fr *ret, cuzk_pool *pool, cuzk_err *err);

#endif
