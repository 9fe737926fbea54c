#ifndef CUZK_BACKEND_CUDA_CIRCUIT_H
#define CUZK_BACKEND_CUDA_CIRCUIT_H

#include "backend/cuda/circuit_types.h"
#include "backend/cuda/memory.h"
#include "groth16/formats/formats.h"
#include "r1cs/template.h"

/** A compressed system in device memory, and which variables each query of its key is over. Not
 *  changed after it is made; any thread. */
typedef struct cuzk_cuda_circuit cuzk_cuda_circuit;

/** A query's variables: all aux for L, those in A (and all inputs) for A, those in B for both of B;
 *  inputs first. */
typedef struct cuzk_cuda_vars {
    uint64_t n;      /* points of the query */
    uint64_t n_full; /* of them, of class full; inputs count as full */
    cuzk_cuda_vars_maps maps;
} cuzk_cuda_vars;

/**
 * Copies a system to the current device and waits until it is there. `s` is borrowed and must live
 * as long as the circuit. The caller owns *ret. CUZK_E_MEMORY, or CUZK_E_UNSUPPORTED when the
 * system has more than 2^32 - 1 ports.
 */
cuzk_code cuzk_cuda_circuit_new(cuzk_cuda_circuit **ret, const cuzk_shape *s, cuzk_cuda_memory *m,
                                cuzk_cuda_stream stream, cuzk_err *err);
/** Frees a circuit; accepts NULL and half-made ones. */
void cuzk_cuda_circuit_free(cuzk_cuda_circuit *c);

/** Device bytes that a circuit takes, exactly, and bytes that the host keeps for it: 4 bits for
 * each variable and a little. */
uint64_t cuzk_cuda_circuit_cost(const cuzk_shape *s);
uint64_t cuzk_cuda_circuit_host_cost(const cuzk_shape *s);

/** Its parts, which live as long as the circuit. No variables for CUZK_PARAMS_H. */
const dshape *cuzk_cuda_circuit_shape(const cuzk_cuda_circuit *c);
const cuzk_shape *cuzk_cuda_circuit_host(const cuzk_cuda_circuit *c);
const cuzk_cuda_rows *cuzk_cuda_circuit_rows(const cuzk_cuda_circuit *c);
const cuzk_cuda_vars *cuzk_cuda_circuit_vars(const cuzk_cuda_circuit *c, cuzk_params_part part);

/** How many of a query's first `place` variables (at most all) are of class full. */
uint64_t cuzk_cuda_circuit_full_below(const cuzk_cuda_circuit *c, cuzk_params_part part,
                                      uint64_t place);

/**
 * Starts to collect a query's bits from a packed assignment in device memory (dshape.h): bit k of
 * ret is the value of the query's k-th variable when that is of class bit, and 0 for full ones,
 * for inputs, and from the n bits of the query up to a whole word of 32. For L it is `bits` itself,
 * which serves as well.
 */
cuzk_code cuzk_cuda_select_bits(const cuzk_cuda_circuit *c, cuzk_params_part part,
                                const uint32_t *bits, uint32_t *ret, cuzk_cuda_stream stream,
                                cuzk_err *err);

/**
 * Starts to collect the full ones among a query's variables [from, to), by place: ret[k] is the
 * value of the k-th of them and ret_which[k] its place less `from`, the index of its point where
 * that of `from` has 0. As many as cuzk_cuda_circuit_full_below says for `to` more than for `from`.
 */
cuzk_code cuzk_cuda_select_full(const cuzk_cuda_circuit *c, cuzk_params_part part, uint64_t from,
                                uint64_t to, const dfr *full, dfr *ret, uint32_t *ret_which,
                                cuzk_cuda_stream stream, cuzk_err *err);

#endif
