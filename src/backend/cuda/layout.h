#ifndef CUZK_BACKEND_CUDA_LAYOUT_H
#define CUZK_BACKEND_CUDA_LAYOUT_H

#include "backend/cuda/msm_plan.h"
#include "groth16/formats/formats.h"

/*
 * How a circuit and its key share a device's memory: decided once, when they are loaded, from
 * numbers alone.
 */

/** Where a query's points are. */
static inline msm_group cuzk_cuda_group_of(cuzk_params_part part)
{
    return part == CUZK_PARAMS_B_G2 ? MSM_G2 : MSM_G1;
}

/** What there is to place. */
typedef struct cuzk_cuda_sizes {
    unsigned lg_domain;
    uint32_t n_aux, n_slots, record_bytes;
    uint64_t points[CUZK_PARAMS_PARTS];
    uint64_t circuit_bytes; /* of the circuit's own structures */
    msm_limits limits[2];   /* by msm_group */
} cuzk_cuda_sizes;

/** Offsets of a partition's working memory, each a multiple of 256. */
typedef struct cuzk_cuda_working {
    uint64_t records, bits, full, selected, tail, which, a, b, scratch, total;
} cuzk_cuda_working;

typedef struct cuzk_cuda_layout {
    uint64_t table_limit;                     /* of the transforms' tables (cuda_ntt.h) */
    uint64_t table_bytes;                     /* what they take then */
    bool pinned[CUZK_PARAMS_PARTS];           /* queries that stay in pinned host memory */
    uint64_t chunk_points[CUZK_PARAMS_PARTS]; /* of a pinned one: at a time on the device */
    uint64_t chunk_bytes;                     /* of each of two buffers for them; 0: none */
    uint64_t scratch_bytes;                   /* for one sum */
    cuzk_cuda_working at;
    uint64_t resident, working; /* device bytes, all of the above */
    uint64_t pinned_bytes;      /* of queries */
} cuzk_cuda_layout;

/**
 * The fastest arrangement within `budget` bytes: everything on the device with scratch memory for
 * the fewest passes; else with less scratch memory, then with smaller tables too; else with queries
 * in pinned host memory, as few as can be, those first whose sums take longest for their size.
 * CUZK_E_MEMORY, with the least that would do, when nothing fits; CUZK_E_UNSUPPORTED for a domain
 * that the transforms do not have.
 */
cuzk_code cuzk_cuda_layout_make(cuzk_cuda_layout *ret, const cuzk_cuda_sizes *sizes,
                                uint64_t budget, cuzk_err *err);

#endif
