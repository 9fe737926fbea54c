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

/** Frees a key; accepts NULL and half-made ones. */
void cuzk_cuda_key_free(cuzk_cuda_key *key);

#endif
