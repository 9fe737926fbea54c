#ifndef CUZK_BACKEND_CUDA_SETUP_LISTS_H
#define CUZK_BACKEND_CUDA_SETUP_LISTS_H

#include "backend/cuda/each_setup.h"
#include "r1cs/template.h"

/** A system's matrices by columns, on the host, as cuzk_cuda_setup_columns has them: base, first
 *  and terms; and the uses by ONE and ports, in the order of the variables. Owns its arrays. */
typedef struct cuzk_cuda_setup_lists {
    uint32_t *base; /* 3 for each template */
    uint32_t *first;
    cuzk_cuda_setup_term *terms;
    cuzk_cuda_setup_use *uses;
    uint64_t n_first, n_terms, n_uses;
    uint32_t most_uses; /* of one variable */
} cuzk_cuda_setup_lists;

/** *ret must be cleared by the caller in any case. CUZK_E_MEMORY; CUZK_E_UNSUPPORTED for a system
 *  whose templates have more than 2^32 - 1 terms or whose instances as many ports. */
cuzk_code cuzk_cuda_setup_lists_make(cuzk_cuda_setup_lists *ret, const cuzk_shape *s,
                                     cuzk_err *err);
void cuzk_cuda_setup_lists_clear(cuzk_cuda_setup_lists *l);

/** Bits of variables, and how many are set before each 64-bit word. Owns its arrays. */
typedef struct cuzk_cuda_setup_ranks {
    uint64_t *bits;  /* n_words */
    uint32_t *ranks; /* n_words + 1: the last is how many there are */
    size_t n_words;
} cuzk_cuda_setup_ranks;

/** Room for n variables, no bit set, no rank counted. The caller clears *ret in any case. */
cuzk_code cuzk_cuda_setup_ranks_new(cuzk_cuda_setup_ranks *ret, uint32_t n, cuzk_err *err);
/** Counts the ranks. */
void cuzk_cuda_setup_ranks_count(cuzk_cuda_setup_ranks *r);
void cuzk_cuda_setup_ranks_clear(cuzk_cuda_setup_ranks *r);

/** How many bits are set. */
static inline uint32_t cuzk_cuda_setup_ranks_total(const cuzk_cuda_setup_ranks *r)
{
    return r->ranks[r->n_words];
}

#endif
