#include <immintrin.h>

#include "gadget/sha256_native.h"

/*
 * The SHA instructions keep the chaining value as two vectors, {A,B,E,F} and {C,D,G,H} from the
 * high lane down, and do two rounds each. Four message words stand in a vector, word 0 in the low
 * lane.
 */

/* Four rounds with message words wk = w + k. */
static inline void rounds(__m128i *abef, __m128i *cdgh, __m128i wk)
{
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

/* w[i..i+3] from the sixteen words before it, oldest first. */
static inline __m128i schedule(__m128i w0, __m128i w4, __m128i w8, __m128i w12)
{
    __m128i t = _mm_sha256msg1_epu32(w0, w4);
    t = _mm_add_epi32(t, _mm_alignr_epi8(w12, w8, 4)); /* words 9..12 */
    return _mm_sha256msg2_epu32(t, w12);
}

void sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t n)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)&state[0]);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)&state[4]);
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
    __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (size_t b = 0; b < n; b++, blocks += 64) {
        __m128i abef0 = abef;
        __m128i cdgh0 = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++) {
            __m128i m = _mm_loadu_si128((const __m128i *)(const void *)(blocks + 16 * i));
            w[i] = _mm_shuffle_epi8(m, swap);
        }
        for (int i = 0; i < 16; i++) {
            __m128i *now = &w[i % 4];
            if (i >= 4) {
                *now = schedule(*now, w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
            }
            __m128i k = _mm_loadu_si128((const __m128i *)(const void *)&sha256_k[4 * i]);
            rounds(&abef, &cdgh, _mm_add_epi32(*now, k));
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)&state[0], _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)&state[4], _mm_alignr_epi8(dchg, feba, 8));
}
