#include "backend/cuda/memory.h"

#include <inttypes.h>

uint64_t cuzk_cuda_room(uint64_t available, uint64_t wanted)
{
    const uint64_t most = (uint64_t)1 << 30;
    uint64_t room = available - (available / 32 < most ? available / 32 : most);
    return wanted && wanted < room ? wanted : room;
}

cuzk_code cuzk_cuda_book(cuzk_cuda_memory *m, uint64_t bytes, const char *what, cuzk_err *err)
{
    uint64_t used = atomic_load(&m->used);
    do {
        uint64_t left = used < m->budget ? m->budget - used : 0;
        if (bytes > left) {
            return CUZK_FAIL(err, CUZK_E_MEMORY,
                             "%s takes %" PRIu64 " bytes of device memory, %" PRIu64 " of %" PRIu64
                             " are free",
                             what, bytes, left, m->budget);
        }
    } while (!atomic_compare_exchange_weak(&m->used, &used, used + bytes));
    uint64_t peak = atomic_load(&m->peak);
    while (peak < used + bytes && !atomic_compare_exchange_weak(&m->peak, &peak, used + bytes)) {
    }
    return CUZK_OK;
}

void cuzk_cuda_unbook(cuzk_cuda_memory *m, uint64_t bytes) { atomic_fetch_sub(&m->used, bytes); }

cuzk_code cuzk_cuda_take(cuzk_cuda_memory *m, cuzk_cuda_block *ret, uint64_t bytes,
                         const char *what, cuzk_err *err)
{
    uint64_t rounded = cuzk_cuda_rounded(bytes);
    void *p;
    CUZK_TRY(cuzk_cuda_book(m, rounded, what, err));
    cuzk_code code = cuzk_cuda_alloc(&p, rounded ? rounded : CUZK_CUDA_ALIGN, err);
    if (code != CUZK_OK) {
        cuzk_cuda_unbook(m, rounded);
        return code;
    }
    *ret = (cuzk_cuda_block){p, rounded};
    return CUZK_OK;
}

void cuzk_cuda_give(cuzk_cuda_memory *m, cuzk_cuda_block *b)
{
    if (b->p) {
        cuzk_cuda_free(b->p);
        cuzk_cuda_unbook(m, b->bytes);
    }
    *b = (cuzk_cuda_block){0};
}
