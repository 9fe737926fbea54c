#ifndef CUZK_BACKEND_CUDA_CUDA_ERR_H
#define CUZK_BACKEND_CUDA_CUDA_ERR_H

#include "cuzk/err.h"

#include <cuda_runtime_api.h>

/** What an error of the runtime means for the caller. After a sticky error, every later call of the
 *  process fails: the device is lost to it. */
static inline cuzk_code cuzk_cuda_code(cudaError_t status)
{
    switch (status) {
    case cudaErrorMemoryAllocation:
        return CUZK_E_MEMORY;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorDeviceUninitialized:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsClientTerminated:
    case cudaErrorContextIsDestroyed:
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalInstruction:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorExternalDevice:
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
#endif
    case cudaErrorUnknown:
        return CUZK_E_UNAVAILABLE;
    case cudaErrorNoKernelImageForDevice: /* CMAKE_CUDA_ARCHITECTURES lacks it */
    case cudaErrorUnsupportedPtxVersion:
        return CUZK_E_UNSUPPORTED;
    default:
        return CUZK_E_INTERNAL;
    }
}

/** Returns from the caller, with what the runtime says, unless the call succeeds. */
#define CUZK_CUDA_TRY(err, call)                                                                   \
    do {                                                                                           \
        cudaError_t cuda_status_ = (call);                                                         \
        if (cuda_status_ != cudaSuccess) {                                                         \
            (void)cudaGetLastError(); /* one that is not sticky is told once */                    \
            return CUZK_FAIL((err), cuzk_cuda_code(cuda_status_), "%s: %s", #call,                 \
                             cudaGetErrorString(cuda_status_));                                    \
        }                                                                                          \
    } while (0)

#endif
