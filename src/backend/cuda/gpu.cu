#include "backend/cuda/gpu.h"

#include "backend/cuda/cuda_err.h"

#include <stdio.h>

/* Forgets what the thread's last call said. Who does not report an error has to: the next launch
 * would take it for its own. */
static void forget(void) { (void)cudaGetLastError(); }

extern "C" int cuzk_cuda_count(void)
{
    int n;
    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        forget();
        return 0;
    }
    return n;
}

/* Waits of the current device's context sleep. By default they spin: a core for each device. When
 * that cannot be had, they still wait. */
static void wait_asleep(void)
{
    unsigned flags = 0;
    cudaError_t status = cudaGetDeviceFlags(&flags);
    if (status == cudaSuccess && !(flags & cudaDeviceScheduleBlockingSync)) {
        status = cudaSetDeviceFlags((flags & ~(unsigned)cudaDeviceScheduleMask) |
                                    cudaDeviceScheduleBlockingSync);
    }
    if (status != cudaSuccess) {
        forget();
    }
}

extern "C" cuzk_code cuzk_cuda_select(int ordinal, cuzk_err *err)
{
    cudaError_t status = cudaSetDevice(ordinal);
    if (status != cudaSuccess) {
        forget();
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "CUDA device %d: %s", ordinal,
                         cudaGetErrorString(status));
    }
    wait_asleep();
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_reset(cuzk_err *err)
{
    CUZK_CUDA_TRY(err, cudaDeviceReset());
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_describe(cuzk_device_info *ret, cuzk_err *err)
{
    int device;
    size_t available, total;
    cudaDeviceProp properties;
    CUZK_CUDA_TRY(err, cudaGetDevice(&device));
    CUZK_CUDA_TRY(err, cudaGetDeviceProperties(&properties, device));
    CUZK_CUDA_TRY(err, cudaMemGetInfo(&available, &total));
    snprintf(ret->name, sizeof ret->name, "%.63s", properties.name);
    ret->memory_total = total;
    ret->memory_free = available;
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_alloc(void **ret, uint64_t bytes, cuzk_err *err)
{
    CUZK_CUDA_TRY(err, cudaMalloc(ret, bytes));
    return CUZK_OK;
}

extern "C" void cuzk_cuda_free(void *p)
{
    if (cudaFree(p) != cudaSuccess) {
        forget();
    }
}

extern "C" cuzk_code cuzk_cuda_alloc_pinned(void **ret, uint64_t bytes, cuzk_err *err)
{
    CUZK_CUDA_TRY(err, cudaHostAlloc(ret, bytes, cudaHostAllocDefault));
    return CUZK_OK;
}

extern "C" void cuzk_cuda_free_pinned(void *p)
{
    if (cudaFreeHost(p) != cudaSuccess) {
        forget();
    }
}

extern "C" cuzk_code cuzk_cuda_stream_new(cuzk_cuda_stream *ret, cuzk_err *err)
{
    cudaStream_t s;
    CUZK_CUDA_TRY(err, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    *ret = s;
    return CUZK_OK;
}

extern "C" void cuzk_cuda_stream_free(cuzk_cuda_stream s)
{
    if (s && cudaStreamDestroy(s) != cudaSuccess) {
        forget();
    }
}

extern "C" cuzk_code cuzk_cuda_sync(cuzk_cuda_stream s, cuzk_err *err)
{
    if (s) {
        CUZK_CUDA_TRY(err, cudaStreamSynchronize(s));
    } else {
        CUZK_CUDA_TRY(err, cudaDeviceSynchronize());
    }
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_upload(void *device, const void *host, uint64_t bytes,
                                      cuzk_cuda_stream s, cuzk_err *err)
{
    if (bytes > 0) {
        CUZK_CUDA_TRY(err, cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, s));
    }
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_download(void *host, const void *device, uint64_t bytes,
                                        cuzk_cuda_stream s, cuzk_err *err)
{
    if (bytes > 0) {
        CUZK_CUDA_TRY(err, cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, s));
    }
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_zero(void *device, uint64_t bytes, cuzk_cuda_stream s, cuzk_err *err)
{
    if (bytes > 0) {
        CUZK_CUDA_TRY(err, cudaMemsetAsync(device, 0, bytes, s));
    }
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_event_new(cuzk_cuda_event *ret, cuzk_err *err)
{
    cudaEvent_t e;
    CUZK_CUDA_TRY(err, cudaEventCreate(&e));
    *ret = e;
    return CUZK_OK;
}

extern "C" void cuzk_cuda_event_free(cuzk_cuda_event e)
{
    if (e && cudaEventDestroy(e) != cudaSuccess) {
        forget();
    }
}

extern "C" cuzk_code cuzk_cuda_event_record(cuzk_cuda_event e, cuzk_cuda_stream s, cuzk_err *err)
{
    CUZK_CUDA_TRY(err, cudaEventRecord(e, s));
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_event_wait(cuzk_cuda_stream s, cuzk_cuda_event e, cuzk_err *err)
{
    CUZK_CUDA_TRY(err, cudaStreamWaitEvent(s, e, 0));
    return CUZK_OK;
}

extern "C" cuzk_code cuzk_cuda_event_ns(uint64_t *ret, cuzk_cuda_event from, cuzk_cuda_event to,
                                        cuzk_err *err)
{
    float ms;
    CUZK_CUDA_TRY(err, cudaEventElapsedTime(&ms, from, to));
    *ret = (uint64_t)(1e6 * (double)ms);
    return CUZK_OK;
}
