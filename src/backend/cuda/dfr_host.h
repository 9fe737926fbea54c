#ifndef CUZK_BACKEND_CUDA_DFR_HOST_H
#define CUZK_BACKEND_CUDA_DFR_HOST_H

#include "backend/cuda/dfr.h"
#include "math/field/fr.h"

#include <string.h>

_Static_assert(sizeof(dfr) == sizeof(fr), "elements are the same on host and device");

/** An element for the device: canonical Montgomery form, as the host has it. */
static inline dfr dfr_of_fr(const fr *a)
{
    dfr r;
    memcpy(&r, a, sizeof r);
    return r;
}

#endif
