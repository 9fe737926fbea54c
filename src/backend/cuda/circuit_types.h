#ifndef CUZK_BACKEND_CUDA_CIRCUIT_TYPES_H
#define CUZK_BACKEND_CUDA_CIRCUIT_TYPES_H

#include "backend/cuda/dshape.h"

/* What a circuit has in device memory besides its dshape: plain data, for device code too. */

enum { EVAL_ROWS = 32 }; /* a warp works on rows of one instance */

/** EVAL_ROWS places, or fewer at its end, in the order of an instance's rows. */
typedef struct cuzk_cuda_row_block {
    uint32_t instance;
    uint32_t first; /* place in the instance */
} cuzk_cuda_row_block;

/** A reference of a template as evaluation wants it: which bits say what, and below them the own
 *  variable's distance from the instance's first slot of its class, or the port's number. */
#define EVAL_REF_FULL  0x80000000U
#define EVAL_REF_PORT  0x40000000U
#define EVAL_REF_ONE   0x20000000U
#define EVAL_REF_INDEX 0x0000ffffU

/** How rows are shared out. Rows of a template come in the order of their number of terms, the
 *  longest first and equal ones as they stand, so that the threads of a warp have equal work. */
typedef struct cuzk_cuda_rows {
    uint32_t n_blocks;
    uint32_t n_template_rows; /* of all templates */
    const cuzk_cuda_row_block *blocks;
    const uint32_t *first_row; /* for each template: where its rows begin among those of all */
    const uint32_t *order;     /* for each matrix n_template_rows rows, numbered in the template */
    const uint32_t *refs;      /* at dshape.first_ref[template] + reference */
} cuzk_cuda_rows;

enum { VARS_GROUP_WORDS = 16, VARS_GROUP = 32 * VARS_GROUP_WORDS };

/** How many bits are set before a group of VARS_GROUP variables. */
typedef struct cuzk_cuda_vars_rank {
    uint32_t place; /* variables of the query */
    uint32_t full;  /* those of class full */
    uint32_t slot;  /* all variables of class full */
} cuzk_cuda_vars_rank;

/**
 * The variables of one query in the order of its points. Bitmaps are over the inputs, then unused
 * bits up to a whole group, then all aux, then unused ones up to a whole group. In device memory.
 */
typedef struct cuzk_cuda_vars_maps {
    uint32_t input_words, aux_words; /* of 32 bits; multiples of VARS_GROUP_WORDS */
    const uint32_t *have;            /* is in the query */
    const uint32_t *full;            /* is of class full; inputs are */
    const cuzk_cuda_vars_rank *ranks;
} cuzk_cuda_vars_maps;

#endif
