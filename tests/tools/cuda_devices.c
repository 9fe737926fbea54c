#include "backend/cuda_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * cuda_devices [LIBRARY]: opens the shared object with the CUDA backend as the daemon does, then
 * each device, which proves a small circuit on the way, and prints what it is. Status 0 also when
 * there is no device.
 */

static cuzk_code open_device(const cuzk_cuda_entry *cuda, int ordinal, cuzk_err *err)
{
    cuzk_backend *b;
    cuzk_device_info info;
    const cuzk_cuda_options options = {.ordinal = ordinal};
    CUZK_TRY(cuda->open(&b, &options, err));
    cuzk_code code = b->ops->info(b, &info, err);
    b->ops->close(b);
    if (code == CUZK_OK) {
        printf("device %d: %s, %" PRIu64 " bytes, proved a known circuit\n", ordinal, info.name,
               info.memory_total);
    }
    return code;
}

int main(int argc, char **argv)
{
    const cuzk_cuda_entry *cuda;
    char path[CUZK_CUDA_PATH_MAX];
    cuzk_err err = {0};
    cuzk_code code = cuzk_cuda_open(&cuda, path, argc > 1 ? argv[1] : NULL, &err);
    if (code == CUZK_OK) {
        int n = cuda->count();
        printf("%s: %d device%s\n", path, n, n == 1 ? "" : "s");
        for (int i = 0; i < n && code == CUZK_OK; i++) {
            code = open_device(cuda, i, &err);
        }
    }
    if (code != CUZK_OK) {
        fprintf(stderr, "cuda_devices: %s\n", err.msg);
    }
    return cuzk_code_exit_status(code);
}
