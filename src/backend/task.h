#ifndef CUZK_BACKEND_TASK_H
#define CUZK_BACKEND_TASK_H

#include "cuzk/backend.h"
#include "r1cs/template.h"

/** Checks a task against the circuit it names: the lengths, every input below r, ONE first; and
 *  reads the blinding, which is secret. CUZK_E_ARG says what is wrong. */
cuzk_code cuzk_task_check(const cuzk_partition_task *task, const cuzk_shape *shape, fr *ret_r,
                          fr *ret_s, cuzk_err *err);

#endif
