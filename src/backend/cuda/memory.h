#ifndef CUZK_BACKEND_CUDA_MEMORY_H
#define CUZK_BACKEND_CUDA_MEMORY_H

#include "backend/cuda/gpu.h"

#include <stdatomic.h>

/**
 * The account of one device's memory: everything the backend has there is taken from it, so that a
 * budget below the card's memory is never exceeded. Any thread.
 */
typedef struct cuzk_cuda_memory {
    uint64_t budget;
    _Atomic uint64_t used, peak; /* bytes */
} cuzk_cuda_memory;

/** What may be used of so many free bytes: all but a reserve for the runtime (code, local memory,
 *  fragments), and no more than `wanted` bytes unless that is 0. */
uint64_t cuzk_cuda_room(uint64_t available, uint64_t wanted);

/** A piece of device memory; all zero is none. */
typedef struct cuzk_cuda_block {
    void *p;
    uint64_t bytes;
} cuzk_cuda_block;

enum { CUZK_CUDA_ALIGN = 256 }; /* bytes, of what is taken, and of its pieces */

static inline uint64_t cuzk_cuda_rounded(uint64_t bytes)
{
    return (bytes + CUZK_CUDA_ALIGN - 1) / CUZK_CUDA_ALIGN * CUZK_CUDA_ALIGN;
}

/** Places the next piece of a block, of so many bytes, at *end, which moves behind it. Returns the
 *  piece's offset. */
static inline uint64_t cuzk_cuda_place(uint64_t *end, uint64_t bytes)
{
    uint64_t start = *end;
    *end += cuzk_cuda_rounded(bytes);
    return start;
}

/** Books bytes, e.g. of what a library allocates. CUZK_E_MEMORY, naming `what` and the numbers,
 *  when the budget would be exceeded. */
cuzk_code cuzk_cuda_book(cuzk_cuda_memory *m, uint64_t bytes, const char *what, cuzk_err *err);
void cuzk_cuda_unbook(cuzk_cuda_memory *m, uint64_t bytes);

/** Books and allocates on the current device. The caller owns *ret. */
cuzk_code cuzk_cuda_take(cuzk_cuda_memory *m, cuzk_cuda_block *ret, uint64_t bytes,
                         const char *what, cuzk_err *err);
/** Frees a block and empties it; accepts an empty one. */
void cuzk_cuda_give(cuzk_cuda_memory *m, cuzk_cuda_block *b);

#endif
