#ifndef TESTS_BACKEND_CUDA_VECTORS_H
#define TESTS_BACKEND_CUDA_VECTORS_H

#include "cuzk/backend.h"
#include "filecoin/statement.h"

/* The reference's inputs and proofs, in .gpu/vectors below the current folder, where
 * scripts/gpu-pack puts them. */

/** The path of one. */
void vector_path(char ret[256], const char *name);

/** Reads the statement of a circuit from one or two vectors (NULL: no second). The caller frees
 *  *ret. */
cuzk_code vector_statement(cuzk_statement **ret, cuzk_circuit_id *ret_id, const char *circuit,
                           const char *const files[2], cuzk_err *err);

/** The task that the reference's partition is, with its blinding; borrows ports and circuit. */
cuzk_code vector_task(cuzk_partition_task *ret, const char *circuit, const cuzk_shape *shape,
                      const cuzk_ports *ports, cuzk_err *err);

#endif
