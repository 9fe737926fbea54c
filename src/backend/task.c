#include "backend/task.h"

#include "filecoin/circuits/catalog.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static cuzk_code check_inputs(const cuzk_partition_task *t, const cuzk_shape *s, cuzk_err *err)
{
    if (t->inputs.n != (size_t)s->n_inputs * sizeof(fr)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: expected %zu bytes of inputs, found %zu", t->circuit,
                         (size_t)s->n_inputs * sizeof(fr), t->inputs.n);
    }
    if (memcmp(t->inputs.p, &fr_one, sizeof fr_one) != 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: input 0 is not ONE", t->circuit);
    }
    for (uint32_t i = 0; i < s->n_inputs; i++) {
        fr_repr limbs; /* Montgomery form, but below r all the same */
        memcpy(&limbs, t->inputs.p + i * sizeof limbs, sizeof limbs);
        if (!fr_repr_is_canonical(&limbs)) {
            return CUZK_FAIL(err, CUZK_E_ARG, "%s: input %u is not below r", t->circuit, i);
        }
    }
    return CUZK_OK;
}

static cuzk_code read_blinding(fr *ret, const uint8_t bytes[32], const char *name, cuzk_err *err)
{
    return fr_from_bytes(ret, bytes)
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_ARG, "the blinding scalar %s is not below r", name);
}

cuzk_code cuzk_task_check(const cuzk_partition_task *task, const cuzk_shape *shape, fr *ret_r,
                          fr *ret_s, cuzk_err *err)
{
    CUZK_TRY(check_inputs(task, shape, err));
    if (task->records.n != cuzk_shape_record_bytes(shape)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: expected %u bytes of records, found %zu",
                         task->circuit, cuzk_shape_record_bytes(shape), task->records.n);
    }
    CUZK_TRY(read_blinding(ret_r, task->r, "r", err));
    return read_blinding(ret_s, task->s, "s", err);
}

cuzk_code cuzk_files_shape(cuzk_shape **ret, const cuzk_circuit_files *files, cuzk_err *err)
{
    cuzk_circuit_id id;
    CUZK_TRY(cuzk_circuit_named(&id, files->circuit, err));
    if (access(files->params, F_OK) != 0 && errno == ENOENT) {
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "%s: there is no such key file (of %s)",
                         files->params, files->circuit);
    }
    return cuzk_circuit_shape_cached(ret, &id, files->shape, NULL, err);
}
