#include "base/blake2b.h"

#include "base/bytes.h"

#include <string.h>

enum { BLOCK = 128 };

/* The initial state of SHA-512: fractional parts of the square roots of the first 8 primes. */
static const uint64_t iv[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                               0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                               0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static const uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t rotr(uint64_t x, int n) { return x >> n | x << (64 - n); }

static inline void mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x, uint64_t y)
{
    *a += *b + x;
    *d = rotr(*d ^ *a, 32);
    *c += *d;
    *b = rotr(*b ^ *c, 24);
    *a += *b + y;
    *d = rotr(*d ^ *a, 16);
    *c += *d;
    *b = rotr(*b ^ *c, 63);
}

/* total: bytes hashed up to the end of this block. */
static void compress(uint64_t h[8], const uint8_t block[BLOCK], uint64_t total, bool last)
{
    uint64_t m[16], v[16];
    for (int i = 0; i < 16; i++) {
        m[i] = cuzk_load_u64le(block + 8 * i);
    }
    memcpy(v, h, 8 * sizeof *v);
    memcpy(v + 8, iv, sizeof iv);
    v[12] ^= total;
    v[14] = last ? ~v[14] : v[14];
    for (int r = 0; r < 12; r++) {
        const uint8_t *s = sigma[r % 10];
        for (int i = 0; i < 4; i++) {
            mix(&v[i], &v[4 + i], &v[8 + i], &v[12 + i], m[s[2 * i]], m[s[2 * i + 1]]);
        }
        for (int i = 0; i < 4; i++) {
            mix(&v[i], &v[4 + (i + 1) % 4], &v[8 + (i + 2) % 4], &v[12 + (i + 3) % 4],
                m[s[8 + 2 * i]], m[s[8 + 2 * i + 1]]);
        }
    }
    for (int i = 0; i < 8; i++) {
        h[i] ^= v[i] ^ v[8 + i];
    }
}

void cuzk_blake2b(uint8_t *ret, size_t n_ret, const void *key, size_t n_key, const void *bytes,
                  size_t n)
{
    const uint8_t *p = bytes;
    uint64_t h[8], total = 0;
    uint8_t block[BLOCK] = {0};
    memcpy(h, iv, sizeof h);
    h[0] ^= 0x01010000 ^ (uint64_t)n_key << 8 ^ (uint64_t)n_ret;
    if (n_key > 0) {
        memcpy(block, key, n_key);
        total = BLOCK;
        if (n > 0) {
            compress(h, block, total, false);
        }
    }
    while (n > BLOCK) { /* the last block, full or not, is not for this loop */
        compress(h, p, total += BLOCK, false);
        p += BLOCK;
        n -= BLOCK;
    }
    if (n > 0) {
        memset(block, 0, sizeof block);
        memcpy(block, p, n);
        total += n;
    }
    compress(h, block, total, true);
    uint8_t digest[64];
    for (int i = 0; i < 8; i++) {
        cuzk_store_u64le(digest + 8 * i, h[i]);
    }
    memcpy(ret, digest, n_ret);
}
