#ifndef CUZK_BACKEND_CUDA_DFR_IO_H
#define CUZK_BACKEND_CUDA_DFR_IO_H

#include "backend/cuda/dfr.h"

/* Elements in device memory, two accesses of 16 bytes each: the address is a multiple of 16. */

CUZK_HD dfr dfr_load(const dfr *p)
{
#ifdef __CUDA_ARCH__
    uint4 low = ((const uint4 *)p)[0], high = ((const uint4 *)p)[1];
    dfr r = {{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w}};
    return r;
#else
    return *p;
#endif
}

CUZK_HD void dfr_store(dfr *p, dfr a)
{
#ifdef __CUDA_ARCH__
    ((uint4 *)p)[0] = make_uint4(a.l[0], a.l[1], a.l[2], a.l[3]);
    ((uint4 *)p)[1] = make_uint4(a.l[4], a.l[5], a.l[6], a.l[7]);
#else
    *p = a;
#endif
}

#endif
