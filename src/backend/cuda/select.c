#include "backend/cuda/select.h"
#include "backend/cuda/circuit.h"

cuzk_code cuzk_cuda_select_bits(const cuzk_cuda_circuit *c, cuzk_params_part part,
                                const uint32_t *bits, uint32_t *ret, cuzk_cuda_stream stream,
                                cuzk_err *err)
{
    const cuzk_cuda_vars *v = cuzk_cuda_circuit_vars(c, part);
    cuzk_cuda_select_bits_job j = {v->maps, bits, ret};
    CUZK_TRY(cuzk_cuda_zero(ret, (v->n + 31) / 32 * sizeof *ret, stream, err));
    uint64_t words = ((uint64_t)cuzk_cuda_circuit_shape(c)->n_aux + 31) / 32;
    return cuzk_cuda_select_bits_each(&j, words, stream, err);
}

cuzk_code cuzk_cuda_select_full(const cuzk_cuda_circuit *c, cuzk_params_part part, uint64_t from,
                                uint64_t to, const dfr *full, dfr *ret, uint32_t *ret_which,
                                cuzk_cuda_stream stream, cuzk_err *err)
{
    const cuzk_cuda_vars *v = cuzk_cuda_circuit_vars(c, part);
    if (from > to || to > v->n) {
        return CUZK_FAIL(err, CUZK_E_ARG, "variables [%llu, %llu) of a query of %llu",
                         (unsigned long long)from, (unsigned long long)to,
                         (unsigned long long)v->n);
    }
    cuzk_cuda_select_full_job j = {.maps = v->maps,
                                   .from = (uint32_t)from,
                                   .to = (uint32_t)to,
                                   .skipped = (uint32_t)cuzk_cuda_circuit_full_below(c, part, from),
                                   .full = full,
                                   .ret = ret,
                                   .ret_which = ret_which};
    uint64_t words = (uint64_t)v->maps.input_words + v->maps.aux_words;
    return cuzk_cuda_select_full_each(&j, 32 * words, stream, err);
}
