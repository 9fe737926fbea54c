#ifndef CUZK_BACKEND_CUDA_OPEN_H
#define CUZK_BACKEND_CUDA_OPEN_H

#include "backend/cuda/cuda_backend.h"

enum { CUZK_CUDA_PATH_MAX = 4096 };

/**
 * Opens the shared object with the CUDA backend, which then stays in the process. name: a path, or
 * a file's name, which is looked for in ../lib/cuzk beside the program's folder, in the program's
 * folder, then by the system's loader; NULL or "" stands for libcuzk_cuda.so. *ret is valid until
 * the process ends; ret_path, if not NULL, gets CUZK_CUDA_PATH_MAX bytes at most: where it was.
 * CUZK_E_NOT_FOUND when it is nowhere, CUZK_E_UNSUPPORTED when it is there and of no use: it cannot
 * be loaded, is not ours or not of this version. The message names the file and says why.
 */
cuzk_code cuzk_cuda_open(const cuzk_cuda_entry **ret, char *ret_path, const char *name,
                         cuzk_err *err);

#endif
