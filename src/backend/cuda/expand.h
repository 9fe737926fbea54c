#ifndef CUZK_BACKEND_CUDA_EXPAND_H
#define CUZK_BACKEND_CUDA_EXPAND_H

#include "backend/cuda/dshape.h"
#include "backend/cuda/memory.h"
#include "r1cs/template.h"

/**
 * The second stage of a witness on a device, for one circuit: its instances sorted by gadget, and
 * the constants of hashes. Any thread may run it, on any stream.
 */
typedef struct cuzk_cuda_expand cuzk_cuda_expand;

/**
 * s on the host, d the same on the current device, borrowed for life as m is. Waits for the stream.
 * The caller owns *ret. CUZK_E_UNSUPPORTED as cuzk_expand; CUZK_E_MEMORY.
 */
cuzk_code cuzk_cuda_expand_new(cuzk_cuda_expand **ret, const cuzk_shape *s, const dshape *d,
                               cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err);
void cuzk_cuda_expand_free(cuzk_cuda_expand *e);

/** Bytes of device memory that an expansion of the circuit takes. */
uint64_t cuzk_cuda_expand_cost(const cuzk_shape *s);

/**
 * Starts, on a stream, what fills the inner variables of every instance from its record. All in
 * device memory: records as cuzk_ports has them; bits, (n_aux + 31) / 32 + 4 words that the caller
 * has zeroed; full, n_slots elements aligned to 32 bytes, of which the caller has filled the
 * inputs.
 */
cuzk_code cuzk_cuda_expand_run(const cuzk_cuda_expand *e, const uint8_t *records, uint32_t *bits,
                               dfr *full, cuzk_cuda_stream stream, cuzk_err *err);

#endif
