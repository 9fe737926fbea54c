#include "base/sha256.h"

#include "base/bytes.h"

#include <string.h>
#ifdef CUZK_X86_64
#include <cpuid.h>
#endif

/* The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
const uint32_t cuzk_sha256_iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* The same of the cube roots of the first 64 primes. */
const uint32_t cuzk_sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotr(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void compress_one(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        w[i] = cuzk_load_u32be(block + 4 * i);
    }
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
        uint32_t ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + ch + cuzk_sha256_k[i] + w[i];
        uint32_t s0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
        uint32_t maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + maj;
    }
    for (int i = 0; i < 8; i++) {
        h[i] += v[i];
    }
}

void cuzk_sha256_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        compress_one(state, blocks + i * CUZK_SHA256_BLOCK_BYTES);
    }
}

#ifdef CUZK_X86_64
static void (*compress)(uint32_t *, const uint8_t *, size_t) = cuzk_sha256_compress_portable;

__attribute__((constructor)) static void choose(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 9) || !(c & 1u << 19)) {
        return; /* SSSE3 and SSE4.1, which the path needs besides */
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29) {
        compress = cuzk_sha256_compress_shani;
    }
}

void cuzk_sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    compress(state, blocks, count);
}
#else
void cuzk_sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t count)
{
    cuzk_sha256_compress_portable(state, blocks, count);
}
#endif

static void store_digest(uint8_t ret[32], const uint32_t h[8])
{
    for (int i = 0; i < 8; i++) {
        cuzk_store_u32be(ret + 4 * i, h[i]);
    }
}

void cuzk_sha256_init(cuzk_sha256_state *s)
{
    memcpy(s->h, cuzk_sha256_iv, sizeof s->h);
    s->n = 0;
}

void cuzk_sha256_update(cuzk_sha256_state *s, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    size_t fill = s->n % CUZK_SHA256_BLOCK_BYTES;
    s->n += n;
    if (fill > 0) {
        size_t k = CUZK_SHA256_BLOCK_BYTES - fill;
        k = k < n ? k : n;
        memcpy(s->tail + fill, p, k);
        p += k;
        n -= k;
        if (fill + k < CUZK_SHA256_BLOCK_BYTES) {
            return;
        }
        cuzk_sha256_compress(s->h, s->tail, 1);
    }
    cuzk_sha256_compress(s->h, p, n / CUZK_SHA256_BLOCK_BYTES);
    if (n % CUZK_SHA256_BLOCK_BYTES > 0) {
        memcpy(s->tail, p + n - n % CUZK_SHA256_BLOCK_BYTES, n % CUZK_SHA256_BLOCK_BYTES);
    }
}

void cuzk_sha256_final(cuzk_sha256_state *s, uint8_t ret[32])
{
    uint8_t block[2 * CUZK_SHA256_BLOCK_BYTES] = {0};
    size_t fill = s->n % CUZK_SHA256_BLOCK_BYTES;
    memcpy(block, s->tail, fill);
    block[fill] = 0x80;
    size_t blocks = fill + 9 <= CUZK_SHA256_BLOCK_BYTES ? 1 : 2;
    cuzk_store_u64be(block + blocks * CUZK_SHA256_BLOCK_BYTES - 8, s->n * 8);
    cuzk_sha256_compress(s->h, block, blocks);
    store_digest(ret, s->h);
}

void cuzk_sha256_digest(uint8_t ret[32], const void *bytes, size_t n)
{
    cuzk_sha256_state s;
    cuzk_sha256_init(&s);
    if (n > 0) {
        cuzk_sha256_update(&s, bytes, n);
    }
    cuzk_sha256_final(&s, ret);
}

void cuzk_sha256_pair(uint8_t ret[32], const uint8_t *left, const uint8_t *right)
{
    uint8_t block[2 * CUZK_SHA256_BLOCK_BYTES] = {0};
    memcpy(block, left, 32);
    memcpy(block + 32, right, 32);
    block[64] = 0x80;
    block[126] = 512 >> 8;
    uint32_t h[8];
    memcpy(h, cuzk_sha256_iv, sizeof h);
    cuzk_sha256_compress(h, block, 2);
    store_digest(ret, h);
}
