#ifndef CUZK_BACKEND_CUDA_WORDS_H
#define CUZK_BACKEND_CUDA_WORDS_H

#include "backend/cuda/hd.h"

/** Copies n words, a multiple of 4, from memory aligned to 16 bytes to a thread's own, in loads of
 *  16 bytes. */
CUZK_HD void load_words(uint32_t *to, const void *from, int n)
{
#ifdef __CUDA_ARCH__
    const uint4 *quads = (const uint4 *)from;
    CUZK_UNROLL
    for (int i = 0; i < n / 4; i++) {
        uint4 q = quads[i];
        to[4 * i] = q.x;
        to[4 * i + 1] = q.y;
        to[4 * i + 2] = q.z;
        to[4 * i + 3] = q.w;
    }
#else
    const uint32_t *words = (const uint32_t *)from;
    for (int i = 0; i < n; i++) {
        to[i] = words[i];
    }
#endif
}

/** The other way. */
CUZK_HD void store_words(void *to, const uint32_t *from, int n)
{
#ifdef __CUDA_ARCH__
    uint4 *quads = (uint4 *)to;
    CUZK_UNROLL
    for (int i = 0; i < n / 4; i++) {
        quads[i] = make_uint4(from[4 * i], from[4 * i + 1], from[4 * i + 2], from[4 * i + 3]);
    }
#else
    uint32_t *words = (uint32_t *)to;
    for (int i = 0; i < n; i++) {
        words[i] = from[i];
    }
#endif
}

#endif
