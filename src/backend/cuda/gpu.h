#ifndef CUZK_BACKEND_CUDA_GPU_H
#define CUZK_BACKEND_CUDA_GPU_H

#include "backend/cuda/each.h"
#include "cuzk/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the backend's C code uses of the CUDA runtime. Memory, streams and events belong to the
 * device that is current for the calling thread (cuzk_cuda_select). gpu.cu implements it on a card,
 * tests/backend/twin/ in the host's memory. Failures are CUZK_E_MEMORY without memory,
 * CUZK_E_UNAVAILABLE when the device is lost or there is none, CUZK_E_UNSUPPORTED when the kernels
 * were not compiled for it, CUZK_E_INTERNAL otherwise. What frees cannot fail: on a lost device it
 * does nothing, quietly.
 */

typedef struct CUevent_st *cuzk_cuda_event;

/** How many devices answer: 0 without a driver. */
int cuzk_cuda_count(void);

/** Makes a device the calling thread's current one. */
cuzk_code cuzk_cuda_select(int ordinal, cuzk_err *err);

/** Ends all that this process has on the current device, whatever state it is in: memory, streams
 *  and events are gone. */
cuzk_code cuzk_cuda_reset(cuzk_err *err);

/** Name and memory of the current device; backend, ordinal and losses are left alone. */
cuzk_code cuzk_cuda_describe(cuzk_device_info *ret, cuzk_err *err);

/** Device memory, aligned to 256 bytes, and pinned host memory. The caller owns *ret; free accepts
 *  NULL. Not initialised. Nothing that was started may still use what is freed. */
cuzk_code cuzk_cuda_alloc(void **ret, uint64_t bytes, cuzk_err *err);
void cuzk_cuda_free(void *p);
cuzk_code cuzk_cuda_alloc_pinned(void **ret, uint64_t bytes, cuzk_err *err);
void cuzk_cuda_free_pinned(void *p);

/** Streams of work. Those made here do not wait for the default one. Free accepts NULL. */
cuzk_code cuzk_cuda_stream_new(cuzk_cuda_stream *ret, cuzk_err *err);
void cuzk_cuda_stream_free(cuzk_cuda_stream s);

/** Waits until all that was started on a stream (NULL: on the device) is done, and says whether any
 *  of it failed. */
cuzk_code cuzk_cuda_sync(cuzk_cuda_stream s, cuzk_err *err);

/** Start copies to and from device memory on a stream; none of 0 bytes, whatever the pointers. From
 *  pageable memory they return when the source was read, to pageable memory when the copy is there;
 *  pinned memory must stay as it is until the stream is done with it. */
cuzk_code cuzk_cuda_upload(void *device, const void *host, uint64_t bytes, cuzk_cuda_stream s,
                           cuzk_err *err);
cuzk_code cuzk_cuda_download(void *host, const void *device, uint64_t bytes, cuzk_cuda_stream s,
                             cuzk_err *err);
cuzk_code cuzk_cuda_zero(void *device, uint64_t bytes, cuzk_cuda_stream s, cuzk_err *err);

/** Marks in streams: to wait for one in another stream, and for times between two. */
cuzk_code cuzk_cuda_event_new(cuzk_cuda_event *ret, cuzk_err *err);
void cuzk_cuda_event_free(cuzk_cuda_event e);
cuzk_code cuzk_cuda_event_record(cuzk_cuda_event e, cuzk_cuda_stream s, cuzk_err *err);
cuzk_code cuzk_cuda_event_wait(cuzk_cuda_stream s, cuzk_cuda_event e, cuzk_err *err);
/** Nanoseconds between two events that have happened. */
cuzk_code cuzk_cuda_event_ns(uint64_t *ret, cuzk_cuda_event from, cuzk_cuda_event to,
                             cuzk_err *err);

#ifdef __cplusplus
}
#endif

#endif
