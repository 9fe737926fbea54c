#ifndef CUZK_BACKEND_CPU_H
#define CUZK_BACKEND_CPU_H

#include "cuzk/backend.h"

/*
 * The processor as a device, and the reference for every other. Circuits stay compressed: rows are
 * evaluated from their templates (r1cs/packed.h), so what is kept is the shape, mapped from its
 * file, and the decoded key. Each proof is verified before it is returned.
 */

typedef struct cuzk_cpu_options {
    unsigned threads; /* that take part in each loop; 0: one for each processor of `cpus` */
    const int *cpus;  /* n_cpus processors to stay on; NULL: wherever the system likes */
    size_t n_cpus;
    uint64_t budget; /* bytes that loaded circuits may take together; 0: the machine's memory */
} cuzk_cpu_options;

/** Starts the threads. CUZK_E_ARG when a processor is not there. The caller owns *ret. */
cuzk_code cuzk_backend_cpu_open(cuzk_backend **ret, const cuzk_cpu_options *options, cuzk_err *err);

#endif
