#ifndef CUZK_BACKEND_CUDA_PROVE_H
#define CUZK_BACKEND_CUDA_PROVE_H

#include "backend/cuda/key.h"
#include "backend/cuda/layout.h"
#include "cuzk/backend.h"
#include "r1cs/packed.h"

/**
 * A circuit with its key on one device, ready to prove. Every call is made with that device current
 * (cuzk_cuda_select). Any thread; partitions are proved one at a time.
 */
typedef struct cuzk_cuda_prover cuzk_cuda_prover;

/** What loading would take within `budget` bytes of device memory; reads the heads of the key file.
 *  CUZK_E_MEMORY, with the least that would do, when it can never fit; CUZK_E_INPUT or CUZK_E_IO
 * for a key file that is bad or not of the shape. */
cuzk_code cuzk_cuda_prover_cost(cuzk_circuit_cost *ret, const cuzk_shape *shape, const char *params,
                                uint64_t budget, cuzk_err *err);

/** Loads a circuit and the key in a .params file, using at most what is left of m's budget, and
 *  borrows m. Takes over shape when it succeeds. *times gets the time of the circuit and of the
 * key. The caller owns *ret. Errors as of cuzk_cuda_prover_cost and cuzk_cuda_key_read. */
cuzk_code cuzk_cuda_prover_new(cuzk_cuda_prover **ret, cuzk_shape *shape, const char *params,
                               cuzk_cuda_memory *m, cuzk_load_times *times, cuzk_err *err);

/** The same with a key made on the device from a trapdoor instead of a file; errors as of
 *  cuzk_cuda_setup. CUZK_E_MEMORY when a query would have to stay on the host. */
cuzk_code cuzk_cuda_prover_setup(cuzk_cuda_prover **ret, cuzk_shape *shape,
                                 const cuzk_trapdoor *trapdoor, cuzk_cuda_memory *m,
                                 cuzk_load_times *times, cuzk_err *err);

/** Wipes and frees; no partition may be in work. Accepts NULL. */
void cuzk_cuda_prover_free(cuzk_cuda_prover *p);

/** Its key and how it uses the memory; they live as long as the prover. */
const cuzk_cuda_key *cuzk_cuda_prover_key(const cuzk_cuda_prover *p);
const cuzk_cuda_layout *cuzk_cuda_prover_layout(const cuzk_cuda_prover *p);

/** Proves a partition; not verified. CUZK_E_INPUT names the first row that fails, CUZK_E_ARG what
 *  does not fit the circuit, CUZK_E_TIMEOUT when the deadline passed. */
cuzk_code cuzk_cuda_prove(cuzk_cuda_prover *p, cuzk_partition_result *ret,
                          const cuzk_partition_task *task, cuzk_err *err);

/** What a partition consists of on the device, for comparisons, in Montgomery form: the assignment,
 *  which the caller owns, and the values of the rows in A, B and C, cuzk_shape_rows elements each;
 *  any of these three may be NULL. CUZK_E_ARG as for cuzk_cuda_prove. */
cuzk_code cuzk_cuda_prover_vectors(cuzk_cuda_prover *p, const cuzk_partition_task *task,
                                   cuzk_packed *ret_packed, fr *ret_a, fr *ret_b, fr *ret_c,
                                   cuzk_err *err);

/** Sets up, proves and verifies a small circuit of every gadget on the current device; m is
 * borrowed for the call. CUZK_E_INTERNAL when the proof is not valid, else the device's errors. */
cuzk_code cuzk_cuda_known_answer(cuzk_cuda_memory *m, cuzk_err *err);

#endif
