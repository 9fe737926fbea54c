#ifndef CUZK_BACKEND_CUDA_EACH_EXPAND_H
#define CUZK_BACKEND_CUDA_EACH_EXPAND_H

#include "backend/cuda/dfr.h"
#include "backend/cuda/each.h"
#include "r1cs/template_types.h"

/*
 * The kernels of expand.c: from the records of some instances, all of gadgets with the same layout,
 * to bits and elements of the packed assignment. Pointers are to device memory.
 */

/** What all of them work on. */
typedef struct cuzk_cuda_expand_on {
    const cuzk_instance *instances;
    const uint32_t *list; /* numbers of the instances */
    const uint8_t *records;
    uint32_t *bits; /* zeroed */
    dfr *full;
} cuzk_cuda_expand_on;

/**
 * The first n elements of an instance, all found in its record: one thread for each. With an arity
 * the record is an index in 8 bytes, a child and its siblings; of the n elements `own` are the
 * siblings and the others those that an insertion at the index selects. It also writes the bits of
 * the index, when own is not 0, and of an insertion among eight.
 */
typedef struct cuzk_cuda_copy_job {
    cuzk_cuda_expand_on on;
    uint32_t n, arity, own;
    const uint8_t *picks; /* [arity][n - own]: which of child and siblings, by index */
} cuzk_cuda_copy_job;
CUZK_EACH_DECLARE(cuzk_cuda_expand_copy, cuzk_cuda_copy_job);

/** The n bits of an instance, which are the record's: one thread for each 32. */
typedef struct cuzk_cuda_words_job {
    cuzk_cuda_expand_on on;
    uint32_t n;
} cuzk_cuda_words_job;
CUZK_EACH_DECLARE(cuzk_cuda_expand_words, cuzk_cuda_words_job);

/** SHA-256 blocks, one thread for each. Instances of one template should stand together. */
typedef struct cuzk_cuda_sha256_job {
    cuzk_cuda_expand_on on;
    const cuzk_template *templates;
    const uint8_t *plans;
    const uint32_t *k; /* the 64 round constants */
} cuzk_cuda_sha256_job;
CUZK_EACH_DECLARE(cuzk_cuda_expand_sha256, cuzk_cuda_sha256_job);

/**
 * Poseidon hashes, one thread for each. Constants for width t = arity + 1 and p partial rounds, all
 * canonical: those of poseidon_params.compressed and t zeros, the matrices mds and pre_sparse,
 * transposed, and for each partial round the t of the sparse matrix's column and the t - 1 of its
 * row.
 */
typedef struct cuzk_cuda_hash_job {
    cuzk_cuda_expand_on on;
    const dfr *constants;
    dfr tag;         /* after its first S-box, canonical */
    uint32_t at;     /* the trace's first element among those of the instance */
    uint32_t insert; /* the record is an index in 8 bytes, a child and its siblings; else the
                        children in order */
} cuzk_cuda_hash_job;
CUZK_EACH_DECLARE(cuzk_cuda_expand_hash2, cuzk_cuda_hash_job);
CUZK_EACH_DECLARE(cuzk_cuda_expand_hash4, cuzk_cuda_hash_job);
CUZK_EACH_DECLARE(cuzk_cuda_expand_hash8, cuzk_cuda_hash_job);
CUZK_EACH_DECLARE(cuzk_cuda_expand_hash11, cuzk_cuda_hash_job);

/** Partial rounds for an arity of 2, 4, 8 or 11, and how many constants there are for it. */
CUZK_HD int expand_partial_rounds(int arity) { return arity == 2 ? 55 : arity == 4 ? 56 : 57; }

CUZK_HD int expand_constants(int arity)
{
    int t = arity + 1;
    int p = expand_partial_rounds(arity);
    return 9 * t + p + 2 * t * t + p * (2 * t - 1);
}

#endif
