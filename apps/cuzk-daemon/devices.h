#ifndef APPS_CUZK_DAEMON_DEVICES_H
#define APPS_CUZK_DAEMON_DEVICES_H

#include "cuzk/backend.h"

#include <stdint.h>

/** One device of the configuration. */
typedef struct device_spec {
    bool cuda;            /* else the processor */
    const char *library;  /* of the CUDA backend (backend/cuda_open.h); NULL: by its usual name */
    int ordinal;          /* of the CUDA device */
    unsigned threads;     /* of the CPU backend; 0: one for each processor */
    const uint32_t *cpus; /* processors to stay on */
    size_t n_cpus;
    uint64_t budget;   /* bytes that keys may take; 0: what there is */
    const char *fault; /* for tests: a plan of faults (backend/fault); NULL: none */
    /** Told when a CUDA device is lost (backend/cuda/cuda_backend.h); NULL: nobody. */
    void (*lost)(void *ctx, const char *why);
} device_spec;

/** Opens it in this process. The caller owns *ret. */
cuzk_code device_open(cuzk_backend **ret, const device_spec *spec, cuzk_err *err);

#endif
