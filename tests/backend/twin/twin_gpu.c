/* gpu.h over the host's memory: everything happens at once, in the calling thread. */
#include "backend/cuda/gpu.h"
#include "base/system.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CUstream_st {
    int unused;
};

struct CUevent_st {
    uint64_t ns;
};

int cuzk_cuda_count(void)
{
    const char *n = getenv("CUZK_TWIN_DEVICES");
    return n ? atoi(n) : 1;
}

cuzk_code cuzk_cuda_select(int ordinal, cuzk_err *err)
{
    return ordinal >= 0 && ordinal < cuzk_cuda_count()
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "there is no device %d", ordinal);
}

/* What was allocated is not kept track of, and freed by its owner. */
cuzk_code cuzk_cuda_reset(cuzk_err *err)
{
    (void)err;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_describe(cuzk_device_info *ret, cuzk_err *err)
{
    (void)err;
    snprintf(ret->name, sizeof ret->name, "twin");
    ret->memory_total = ret->memory_free = (uint64_t)8 << 30;
    return CUZK_OK;
}

static cuzk_code get(void **ret, uint64_t bytes, cuzk_err *err)
{
    void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %llu bytes", (unsigned long long)bytes);
    }
    *ret = p;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_alloc(void **ret, uint64_t bytes, cuzk_err *err)
{
    CUZK_TRY(get(ret, bytes, err));
    memset(*ret, 0xa5, bytes); /* the card's is not zero either */
    return CUZK_OK;
}

void cuzk_cuda_free(void *p) { free(p); }

cuzk_code cuzk_cuda_alloc_pinned(void **ret, uint64_t bytes, cuzk_err *err)
{
    return get(ret, bytes, err);
}

void cuzk_cuda_free_pinned(void *p) { free(p); }

cuzk_code cuzk_cuda_stream_new(cuzk_cuda_stream *ret, cuzk_err *err)
{
    cuzk_cuda_stream s = calloc(1, sizeof *s);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a stream");
    }
    *ret = s;
    return CUZK_OK;
}

void cuzk_cuda_stream_free(cuzk_cuda_stream s) { free(s); }

cuzk_code cuzk_cuda_sync(cuzk_cuda_stream s, cuzk_err *err)
{
    (void)s;
    (void)err;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_upload(void *device, const void *host, uint64_t bytes, cuzk_cuda_stream s,
                           cuzk_err *err)
{
    (void)s;
    (void)err;
    if (bytes > 0) {
        memcpy(device, host, bytes);
    }
    return CUZK_OK;
}

cuzk_code cuzk_cuda_download(void *host, const void *device, uint64_t bytes, cuzk_cuda_stream s,
                             cuzk_err *err)
{
    return cuzk_cuda_upload(host, device, bytes, s, err);
}

cuzk_code cuzk_cuda_zero(void *device, uint64_t bytes, cuzk_cuda_stream s, cuzk_err *err)
{
    (void)s;
    (void)err;
    if (bytes > 0) {
        memset(device, 0, bytes);
    }
    return CUZK_OK;
}

cuzk_code cuzk_cuda_event_new(cuzk_cuda_event *ret, cuzk_err *err)
{
    cuzk_cuda_event e = calloc(1, sizeof *e);
    if (!e) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for an event");
    }
    *ret = e;
    return CUZK_OK;
}

void cuzk_cuda_event_free(cuzk_cuda_event e) { free(e); }

cuzk_code cuzk_cuda_event_record(cuzk_cuda_event e, cuzk_cuda_stream s, cuzk_err *err)
{
    (void)s;
    (void)err;
    e->ns = cuzk_clock_ns();
    return CUZK_OK;
}

cuzk_code cuzk_cuda_event_wait(cuzk_cuda_stream s, cuzk_cuda_event e, cuzk_err *err)
{
    (void)s;
    (void)e;
    (void)err;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_event_ns(uint64_t *ret, cuzk_cuda_event from, cuzk_cuda_event to, cuzk_err *err)
{
    (void)err;
    *ret = to->ns - from->ns;
    return CUZK_OK;
}
