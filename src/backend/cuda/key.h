#ifndef CUZK_BACKEND_CUDA_KEY_H
#define CUZK_BACKEND_CUDA_KEY_H

#include "backend/cuda/memory.h"
#include "groth16/formats/formats.h"

/** One list of points of a key: g1_affine (g2_affine for B_G2) as the host has them, Montgomery
 *  form, infinity as all zero. */
typedef struct cuzk_cuda_query {
    uint64_t n;            /* points */
    cuzk_cuda_block block; /* in device memory; empty when the points are in `pinned` */
    void *pinned;          /* in pinned host memory; NULL when they are in `block` */
} cuzk_cuda_query;

/**
 * A proving key for a device. Owns everything. Queries are those of the .params file in its order,
 * but that H has 2^lg_domain points in bit-reversed places, the point of tau^i at the place whose
 * number is i with its lg_domain bits reversed, and infinity at the last: the transform leaves its
 * coefficients so. Not changed after it is made.
 */
typedef struct cuzk_cuda_key {
    cuzk_vk vk; /* on the host, decoded */
    unsigned lg_domain;
    uint32_t n_inputs, n_aux;
    cuzk_cuda_query query[CUZK_PARAMS_PARTS];
    cuzk_cuda_memory *memory; /* borrowed: where the blocks are from */
} cuzk_cuda_key;

/** Device bytes of a query of n points. */
static inline uint64_t cuzk_cuda_query_bytes(cuzk_params_part part, uint64_t n)
{
    return n * (part == CUZK_PARAMS_B_G2 ? sizeof(g2_affine) : sizeof(g1_affine));
}

/** How a key is kept, and read. */
typedef struct cuzk_cuda_key_plan {
    bool pinned[CUZK_PARAMS_PARTS]; /* stays in pinned host memory instead of device memory */
    unsigned lg_chunk; /* 2^this points of G1, half as many of G2, are read at a time; 0: 2^19 */
} cuzk_cuda_key_plan;

/** Device bytes of each query of a key for a system, for making a plan. Errors as
 *  cuzk_params_scan_shape. */
cuzk_code cuzk_cuda_key_bytes(uint64_t ret[CUZK_PARAMS_PARTS], const char *params,
                              const cuzk_shape *s, cuzk_err *err);

/** The most device bytes that reading takes besides; as many are pinned on the host. */
uint64_t cuzk_cuda_key_scratch_bytes(const cuzk_cuda_key_plan *plan);

/**
 * Reads a .params file for a system and the current device. All points but those of the vk are
 * decoded there; each point is checked to be finite and on its curve. Copies and kernels go to
 * `stream` and one more, and all is done when the call returns. The caller owns *ret; m is borrowed
 * by it.
 *
 * CUZK_E_INPUT names the file, the offset and the first bad point that was read (of an H query that
 * stays pinned, which is not read from front to end, perhaps not the first in the file).
 * CUZK_E_MEMORY when m or the host has too little.
 */
cuzk_code cuzk_cuda_key_read(cuzk_cuda_key **ret, const char *params, const cuzk_shape *s,
                             const cuzk_cuda_key_plan *plan, cuzk_cuda_memory *m,
                             cuzk_cuda_stream stream, cuzk_err *err);

/** The same for a file that was scanned before; takes the layout's vk when it succeeds. The file
 *  may have been cut or changed since: that is CUZK_E_INPUT like any other fault. */
cuzk_code cuzk_cuda_key_read_scanned(cuzk_cuda_key **ret, const char *params,
                                     cuzk_params_layout *layout, const cuzk_cuda_key_plan *plan,
                                     cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err);

/** Frees a key; accepts NULL and half-made ones. */
void cuzk_cuda_key_free(cuzk_cuda_key *key);

#endif
