/* gpu.h over the host's memory: everything happens at once, in the calling thread. */
#include "backend/cuda/gpu.h"
#include "base/system.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct CUstream_st {
    int unused;
};

struct CUevent_st {
    uint64_t ns;
};

/* A device that is lost: when the file that CUZK_TWIN_LOSE names is there, which is taken away, and
 * then for this process for good, or until a reset. */
static atomic_bool lost;

static cuzk_code check_alive(cuzk_err *err)
{
    const char *file = getenv("CUZK_TWIN_LOSE");
    if (file && unlink(file) == 0) {
        atomic_store(&lost, true);
    }
    return atomic_load(&lost) ? CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "the twin's device is lost")
                              : CUZK_OK;
}

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
    atomic_store(&lost, false);
    return CUZK_OK;
}

cuzk_code cuzk_cuda_describe(cuzk_device_info *ret, cuzk_err *err)
{
    (void)err;
    snprintf(ret->name, sizeof ret->name, "twin");
    ret->memory_total = ret->memory_free = (uint64_t)8 << 30;
    return CUZK_OK;
}

/*
 * Device memory: pieces of one reserved region, which can be touched only between enter and leave.
 * So host code that reads through a device pointer fails here as it would on a card.
 */

enum { PIECES = 4096, PAGE = 4096 };
#define REGION ((uint64_t)64 << 30)

static struct {
    pthread_mutex_t mu; /* guards all of it */
    uint8_t *base;      /* NULL before the first allocation */
    unsigned inside;    /* calls between enter and leave */
    uint64_t high;      /* end of the last piece */
    struct {
        uint64_t at, bytes;
    } piece[PIECES]; /* by place */
    unsigned n;
} region = {.mu = PTHREAD_MUTEX_INITIALIZER};

static void protect(int how)
{
    if (region.high > 0 && mprotect(region.base, region.high, how) != 0) {
        abort();
    }
}

void cuzk_cuda_twin_enter(void)
{
    pthread_mutex_lock(&region.mu);
    if (region.inside++ == 0) {
        protect(PROT_READ | PROT_WRITE);
    }
    pthread_mutex_unlock(&region.mu);
}

void cuzk_cuda_twin_leave(void)
{
    pthread_mutex_lock(&region.mu);
    if (--region.inside == 0) {
        protect(PROT_NONE);
    }
    pthread_mutex_unlock(&region.mu);
}

/* The first gap that is large enough; with the mutex held. */
static void *put_piece(uint64_t bytes)
{
    uint64_t at = 0;
    unsigned i = 0;
    for (; i < region.n && region.piece[i].at - at < bytes; i++) {
        at = region.piece[i].at + region.piece[i].bytes;
    }
    if (region.n == PIECES || REGION - at < bytes) {
        return NULL;
    }
    memmove(&region.piece[i + 1], &region.piece[i], (region.n - i) * sizeof *region.piece);
    region.piece[i].at = at;
    region.piece[i].bytes = bytes;
    region.n++;
    region.high = at + bytes > region.high ? at + bytes : region.high;
    if (region.inside) {
        protect(PROT_READ | PROT_WRITE);
    }
    return region.base + at;
}

cuzk_code cuzk_cuda_alloc(void **ret, uint64_t bytes, cuzk_err *err)
{
    void *p = NULL;
    pthread_mutex_lock(&region.mu);
    if (!region.base) {
        void *base =
            mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        region.base = base == MAP_FAILED ? NULL : base;
    }
    if (region.base) {
        p = put_piece((bytes + PAGE - 1) / PAGE * PAGE);
    }
    pthread_mutex_unlock(&region.mu);
    if (!p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %llu bytes", (unsigned long long)bytes);
    }
    cuzk_cuda_twin_enter();
    memset(p, 0xa5, bytes); /* the card's is not zero either */
    cuzk_cuda_twin_leave();
    *ret = p;
    return CUZK_OK;
}

void cuzk_cuda_free(void *p)
{
    if (!p) {
        return;
    }
    pthread_mutex_lock(&region.mu);
    uint64_t at = (uint64_t)((uint8_t *)p - region.base);
    unsigned i = 0;
    while (i < region.n && region.piece[i].at != at) {
        i++;
    }
    if (i == region.n) {
        abort(); /* no piece begins there */
    }
    (void)madvise(p, region.piece[i].bytes, MADV_DONTNEED);
    memmove(&region.piece[i], &region.piece[i + 1], (region.n - i - 1) * sizeof *region.piece);
    region.n--;
    pthread_mutex_unlock(&region.mu);
}

cuzk_code cuzk_cuda_alloc_pinned(void **ret, uint64_t bytes, cuzk_err *err)
{
    void *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %llu bytes", (unsigned long long)bytes);
    }
    *ret = p;
    return CUZK_OK;
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
    return check_alive(err);
}

cuzk_code cuzk_cuda_upload(void *device, const void *host, uint64_t bytes, cuzk_cuda_stream s,
                           cuzk_err *err)
{
    (void)s;
    CUZK_TRY(check_alive(err));
    if (bytes > 0) {
        cuzk_cuda_twin_enter();
        memcpy(device, host, bytes);
        cuzk_cuda_twin_leave();
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
        cuzk_cuda_twin_enter();
        memset(device, 0, bytes);
        cuzk_cuda_twin_leave();
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
