#ifndef CUZK_BACKEND_CUDA_DFR_IO_H
#define CUZK_BACKEND_CUDA_DFR_IO_H

#include "backend/cuda/dfr.h"
#include "backend/cuda/words.h"

/* Elements in device memory, two accesses of 16 bytes each: the address is a multiple of 16. */

CUZK_HD dfr dfr_load(const dfr *p)
{
    dfr r;
    load_words(r.l, p, DFR_LIMBS);
    return r;
}

CUZK_HD void dfr_store(dfr *p, dfr a) { store_words(p, a.l, DFR_LIMBS); }

#endif
