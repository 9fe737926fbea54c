#ifndef CUZK_BACKEND_CUDA_EVAL_H
#define CUZK_BACKEND_CUDA_EVAL_H

#include "backend/cuda/circuit_types.h"
#include "backend/cuda/each.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuzk_cuda_circuit;

/**
 * Start the evaluation of all rows over a packed assignment in device memory (dshape.h), on a
 * stream: a[j] = <A_j, z> and b[j] = <B_j, z>, then for each input a row that has the input in A
 * and nothing in B, then zeros up to 2^lg_domain elements; the same with c[j] = <C_j, z>, and zeros
 * from the inputs' rows on. Canonical. CUZK_E_ARG when the rows are more than 2^lg_domain.
 */
cuzk_code cuzk_cuda_eval_ab(const struct cuzk_cuda_circuit *circuit, const uint32_t *bits,
                            const dfr *full, dfr *a, dfr *b, unsigned lg_domain,
                            cuzk_cuda_stream stream, cuzk_err *err);
cuzk_code cuzk_cuda_eval_c(const struct cuzk_cuda_circuit *circuit, const uint32_t *bits,
                           const dfr *full, dfr *c, unsigned lg_domain, cuzk_cuda_stream stream,
                           cuzk_err *err);

/** Starts a check of a[j] b[j] = <C_j, z>, for a and b as above: *bad, in device memory, becomes
 *  the first row that fails, and is left alone when there is none below it. */
cuzk_code cuzk_cuda_eval_check(const struct cuzk_cuda_circuit *circuit, const uint32_t *bits,
                               const dfr *full, const dfr *a, const dfr *b, uint32_t *bad,
                               cuzk_cuda_stream stream, cuzk_err *err);

/* ---- the kernels behind them ---- */

/** Rows of one matrix; with bad, ret is not written and the rows' products are checked instead. */
typedef struct cuzk_cuda_eval_job {
    dshape s;
    cuzk_cuda_rows rows;
    const uint32_t *bits;
    const dfr *full;
    uint32_t matrix; /* 0 A, 1 B, 2 C */
    dfr *ret;
    const dfr *a, *b;
    uint32_t *bad;
} cuzk_cuda_eval_job;

/** One call for each of rows.n_blocks EVAL_ROWS places. */
CUZK_EACH_DECLARE(cuzk_cuda_eval_rows, cuzk_cuda_eval_job);
CUZK_EACH_DECLARE(cuzk_cuda_eval_products, cuzk_cuda_eval_job);

/** ret[i] = values[i] for i < n_values, zero from there on. */
typedef struct cuzk_cuda_eval_tail_job {
    dfr *ret;
    const dfr *values;
    uint32_t n_values;
} cuzk_cuda_eval_tail_job;

CUZK_EACH_DECLARE(cuzk_cuda_eval_tail, cuzk_cuda_eval_tail_job);

#ifdef __cplusplus
}
#endif

#endif
