#include "backend/cuda/eval.h"

#include "backend/cuda/circuit.h"

static cuzk_cuda_eval_job job_of(const cuzk_cuda_circuit *c, const uint32_t *bits, const dfr *full,
                                 uint32_t matrix)
{
    return (cuzk_cuda_eval_job){.s = *cuzk_cuda_circuit_shape(c),
                                .rows = *cuzk_cuda_circuit_rows(c),
                                .bits = bits,
                                .full = full,
                                .matrix = matrix};
}

/* Number of calls: a thread for each place of each block. */
static uint64_t places(const cuzk_cuda_eval_job *j)
{
    return (uint64_t)j->rows.n_blocks * EVAL_ROWS;
}

/* One matrix, then n_inputs of the elements, then zeros. */
static cuzk_code start(const cuzk_cuda_circuit *c, const uint32_t *bits, const dfr *full,
                       uint32_t matrix, uint32_t n_inputs, dfr *ret, unsigned lg_domain,
                       cuzk_cuda_stream stream, cuzk_err *err)
{
    cuzk_cuda_eval_job j = job_of(c, bits, full, matrix);
    uint64_t need = (uint64_t)j.s.n_rows + j.s.n_inputs;
    if (lg_domain > 32 || need > (uint64_t)1 << lg_domain) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: %llu rows do not fit into a domain of 2^%u",
                         cuzk_cuda_circuit_host(c)->name, (unsigned long long)need, lg_domain);
    }
    j.ret = ret;
    CUZK_TRY(cuzk_cuda_eval_rows(&j, places(&j), stream, err));
    cuzk_cuda_eval_tail_job tail = {ret + j.s.n_rows, full, n_inputs};
    return cuzk_cuda_eval_tail(&tail, ((uint64_t)1 << lg_domain) - j.s.n_rows, stream, err);
}

cuzk_code cuzk_cuda_eval_ab(const cuzk_cuda_circuit *c, const uint32_t *bits, const dfr *full,
                            dfr *a, dfr *b, unsigned lg_domain, cuzk_cuda_stream stream,
                            cuzk_err *err)
{
    uint32_t n_inputs = cuzk_cuda_circuit_shape(c)->n_inputs;
    CUZK_TRY(start(c, bits, full, 0, n_inputs, a, lg_domain, stream, err));
    return start(c, bits, full, 1, 0, b, lg_domain, stream, err);
}

cuzk_code cuzk_cuda_eval_c(const cuzk_cuda_circuit *c, const uint32_t *bits, const dfr *full,
                           dfr *ret, unsigned lg_domain, cuzk_cuda_stream stream, cuzk_err *err)
{
    return start(c, bits, full, 2, 0, ret, lg_domain, stream, err);
}

cuzk_code cuzk_cuda_eval_check(const cuzk_cuda_circuit *c, const uint32_t *bits, const dfr *full,
                               const dfr *a, const dfr *b, uint32_t *bad, cuzk_cuda_stream stream,
                               cuzk_err *err)
{
    cuzk_cuda_eval_job j = job_of(c, bits, full, 2);
    j.a = a;
    j.b = b;
    j.bad = bad;
    return cuzk_cuda_eval_products(&j, places(&j), stream, err);
}
