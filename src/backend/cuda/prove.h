#ifndef CUZK_BACKEND_CUDA_PROVE_H
#define CUZK_BACKEND_CUDA_PROVE_H

#include "backend/cuda/memory.h"
#include "cuzk/backend.h"
#include "r1cs/template.h"

/** Everything one loaded circuit and key need to prove, on the device that was current when it was
 *  made. */
typedef struct cuzk_cuda_prover cuzk_cuda_prover;

/** Reads the key and puts all on the device; takes the shape on success. The caller owns *ret. */
cuzk_code cuzk_cuda_prover_new(cuzk_cuda_prover **ret, cuzk_shape *shape, const char *params,
                               cuzk_cuda_memory *m, cuzk_load_times *times, cuzk_err *err);

/** What that takes, and a proof besides, on a device of so many bytes; needs no device. */
cuzk_code cuzk_cuda_prover_cost(cuzk_circuit_cost *ret, const cuzk_shape *shape, const char *params,
                                uint64_t budget, cuzk_err *err);

/** With its device selected; accepts NULL. */
void cuzk_cuda_prover_free(cuzk_cuda_prover *p);

/** Proves one partition; any thread with the device selected, one after the other. */
cuzk_code cuzk_cuda_prove(cuzk_cuda_prover *p, cuzk_partition_result *ret,
                          const cuzk_partition_task *task, cuzk_err *err);

/** Sets up, proves and verifies a small circuit on the current device. */
cuzk_code cuzk_cuda_known_answer(cuzk_cuda_memory *m, cuzk_err *err);

#endif
