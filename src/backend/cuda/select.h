#ifndef CUZK_BACKEND_CUDA_SELECT_H
#define CUZK_BACKEND_CUDA_SELECT_H

#include "backend/cuda/circuit_types.h"
#include "backend/cuda/each.h"

/* The kernels of cuzk_cuda_select_bits and cuzk_cuda_select_full (circuit.h). */

/** One call for each word of `bits`; ret is zero before. */
typedef struct cuzk_cuda_select_bits_job {
    cuzk_cuda_vars_maps maps;
    const uint32_t *bits;
    uint32_t *ret;
} cuzk_cuda_select_bits_job;

CUZK_EACH_DECLARE(cuzk_cuda_select_bits_each, cuzk_cuda_select_bits_job);

/** One call for each bit of the maps. */
typedef struct cuzk_cuda_select_full_job {
    cuzk_cuda_vars_maps maps;
    uint32_t from, to, skipped; /* places; full ones before `from` */
    const dfr *full;
    dfr *ret;
    uint32_t *ret_which;
} cuzk_cuda_select_full_job;

CUZK_EACH_DECLARE(cuzk_cuda_select_full_each, cuzk_cuda_select_full_job);

#endif
