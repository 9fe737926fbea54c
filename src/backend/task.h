#ifndef CUZK_BACKEND_TASK_H
#define CUZK_BACKEND_TASK_H

#include "cuzk/backend.h"
#include "r1cs/template.h"

/** Checks a task against the circuit it names: the lengths, every input below r, ONE first; and
 *  reads the blinding, which is secret. CUZK_E_ARG says what is wrong. */
cuzk_code cuzk_task_check(const cuzk_partition_task *task, const cuzk_shape *shape, fr *ret_r,
                          fr *ret_s, cuzk_err *err);

/** The compressed system of a circuit, from its file or made and written, if there is a key file
 *  for it. The caller owns *ret. CUZK_E_NOT_FOUND without one, CUZK_E_ARG for an unknown name. */
cuzk_code cuzk_files_shape(cuzk_shape **ret, const cuzk_circuit_files *files, cuzk_err *err);

#endif
