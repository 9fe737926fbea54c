#ifndef CUZK_BACKEND_CUDA_DSHAPE_H
#define CUZK_BACKEND_CUDA_DSHAPE_H

#include "backend/cuda/dfr.h"
#include "r1cs/template_types.h"

/**
 * A compressed system (r1cs/template.h) in device memory: its arrays, and where values are found
 * without a search. A packed assignment is there `bits`, one bit for each aux in 32-bit words, and
 * `full`, canonical elements in Montgomery form, the inputs first. Owned by a cuzk_cuda_circuit.
 *
 * The value behind reference r of an instance i of template t, by its class (bit r of the
 * template's classes):
 *   r = 0                 one
 *   1 <= r <= t.n_ports   the element, or the bit, at ports[first_port[i] + r - 1]
 *   r > t.n_ports         the element at i.full + own[first_ref[t] + r], or the bit at i.aux + that
 */
typedef struct dshape {
    uint32_t n_inputs, n_templates, n_instances;
    uint32_t n_aux, n_rows, n_slots; /* n_slots: elements of `full` */
    const cuzk_template *templates;
    const cuzk_instance *instances; /* n_instances + 1 */
    const uint32_t *offsets;        /* of the template's rows in terms, as cuzk_shape has them */
    const uint32_t *terms;          /* coefficient << 16 | reference */
    const uint64_t *classes;
    const uint8_t *plans;
    const dfr *dictionary; /* canonical Montgomery form; 0 is one, 1 is minus one */
    const uint32_t *ports, *first_port, *own, *first_ref;
} dshape;

#endif
