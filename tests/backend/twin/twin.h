#ifndef TESTS_BACKEND_TWIN_H
#define TESTS_BACKEND_TWIN_H

#include "backend/cuda/dshape.h"
#include "r1cs/template.h"

#include <stdatomic.h>

/** While true, every sum in G1 that the twin makes is wrong by a point, as on a broken card. */
extern atomic_bool cuzk_cuda_twin_adds_wrongly;

/** A system in the memory of a device that is the host: its arrays, without what a
 *  cuzk_cuda_circuit makes of them (ports, own). Borrows from s. */
static inline dshape cuzk_cuda_twin_shape(const cuzk_shape *s)
{
    return (dshape){.n_inputs = s->n_inputs,
                    .n_templates = s->n_templates,
                    .n_instances = s->n_instances,
                    .n_aux = cuzk_shape_aux(s),
                    .n_rows = cuzk_shape_rows(s),
                    .n_slots = cuzk_shape_slots(s),
                    .templates = s->templates,
                    .instances = s->instances,
                    .offsets = s->offsets,
                    .terms = s->terms,
                    .classes = s->classes,
                    .plans = s->plans,
                    .dictionary = (const dfr *)(const void *)s->dictionary};
}

#endif
