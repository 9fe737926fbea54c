#include "base/sha256.h"

#include <immintrin.h>

/*
 * The SHA extensions keep the state as two registers, ABEF and CDGH (high to low). Each sha256rnds2
 * does two rounds; sha256msg1 and sha256msg2 extend the schedule by four words.
 */

static inline __m128i load_k(int i)
{
    return _mm_loadu_si128((const __m128i *)(const void *)(cuzk_sha256_k + 4 * i));
}

/* Rounds 4i .. 4i + 3 with the schedule words w. */
static inline void rounds(__m128i *abef, __m128i *cdgh, __m128i w, int i)
{
    __m128i wk = _mm_add_epi32(w, load_k(i));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

/* Schedule words 16 places after a, from the four groups a, b, c, d of 16 consecutive words. */
static inline __m128i extend(__m128i a, __m128i b, __m128i c, __m128i d)
{
    __m128i t = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
    return _mm_sha256msg2_epu32(t, d);
}

static inline __m128i load_be(const uint8_t *p)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), swap);
}

void cuzk_sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    __m128i *words = (__m128i *)(void *)state;
    __m128i dcba = _mm_loadu_si128(words);
    __m128i hgfe = _mm_loadu_si128(words + 1);
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1);
    __m128i efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (size_t n = 0; n < count; n++, blocks += CUZK_SHA256_BLOCK_BYTES) {
        __m128i abef0 = abef, cdgh0 = cdgh;
        __m128i w[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++) {
            w[i] = load_be(blocks + 16 * i);
            rounds(&abef, &cdgh, w[i], i);
        }
#pragma GCC unroll 12
        for (int i = 4; i < 16; i++) {
            w[i % 4] = extend(w[i % 4], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
            rounds(&abef, &cdgh, w[i % 4], i);
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}
