#include "base/chacha.h"

#include <string.h>

static inline uint32_t rotl(uint32_t x, int n) { return x << n | x >> (32 - n); }

static inline void quarter(uint32_t *x, int a, int b, int c, int d)
{
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

void cuzk_chacha_block(uint32_t ret[16], const uint32_t key[8], const uint32_t tail[4],
                       unsigned rounds)
{
    /* "expand 32-byte k" */
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    memcpy(in + 4, key, 8 * sizeof *in);
    memcpy(in + 12, tail, 4 * sizeof *in);
    memcpy(x, in, sizeof x);
    for (unsigned i = 0; i < rounds; i += 2) {
        for (int k = 0; k < 4; k++) {
            quarter(x, k, 4 + k, 8 + k, 12 + k);
        }
        for (int k = 0; k < 4; k++) {
            quarter(x, k, 4 + (k + 1) % 4, 8 + (k + 2) % 4, 12 + (k + 3) % 4);
        }
    }
    for (int i = 0; i < 16; i++) {
        ret[i] = x[i] + in[i];
    }
}
