#ifndef CUZK_BACKEND_CUDA_FIXED_CORE_H
#define CUZK_BACKEND_CUDA_FIXED_CORE_H

#include "backend/cuda/dg1.h"
#include "backend/cuda/dg2.h"
#include "backend/cuda/each_setup.h"
#include "backend/cuda/words.h"

/* Bits [from, from + width) of a scalar in memory, width <= 16; those from 256 on are 0. */
CUZK_HD uint32_t fixed_digit(const uint32_t *scalar, unsigned from, unsigned width)
{
    unsigned at = from / 32, shift = from % 32;
    uint32_t d = scalar[at] >> shift;
    if (shift + width > 32 && at + 1 < DFR_LIMBS) {
        d |= scalar[at + 1] << (32 - shift);
    }
    return d & ((1U << width) - 1);
}

#define GROUP dg1
#define FIELD dfp
#include "backend/cuda/fixed_core.inc.h"
#undef GROUP
#undef FIELD

#define GROUP dg2
#define FIELD dfp2
#include "backend/cuda/fixed_core.inc.h"
#undef GROUP
#undef FIELD

#endif
