#include "base/bytes.h"
#include "base/sha256.h"
#include "gadget/expand.h"
#include "gadget/uint32.h"

/* Walks the word operations of a block in the order of sha256_gadget.c. */
typedef struct walk {
    cuzk_packed_writer *w;
    const cuzk_word_plan *plan;
} walk;

/* Keeps the bits of an operation's result that have variables. */
static void put(walk *k, uint64_t v)
{
    uint64_t mask = k->plan->mask;
    v = (v ^ k->plan->inverted) & mask;
    k->plan++;
    unsigned n = (unsigned)__builtin_popcountll(mask);
    if (mask & (mask + 1)) { /* not the n lowest */
        uint64_t packed = 0;
        for (unsigned i = 0; mask; mask &= mask - 1) {
            packed |= (v >> __builtin_ctzll(mask) & 1) << i++;
        }
        v = packed;
    }
    cuzk_packed_put_bits(k->w, v, n);
}

static uint32_t rotr(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static uint32_t sigma(walk *k, uint32_t a, unsigned r1, unsigned r2, unsigned r3, bool shift)
{
    uint32_t x = rotr(a, r1) ^ rotr(a, r2);
    put(k, x);
    x ^= shift ? a >> r3 : rotr(a, r3);
    put(k, x);
    return x;
}

static uint32_t put_sum(walk *k, uint64_t sum)
{
    put(k, sum);
    return (uint32_t)sum;
}

uint64_t cuzk_spread_bits(uint32_t v)
{
    uint64_t x = v;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
}

static void schedule(walk *k, uint32_t w[64], const uint8_t *block)
{
    for (int i = 0; i < 16; i++) {
        w[i] = cuzk_load_u32be(block + 4 * i);
    }
    for (int i = 16; i < 64; i++) {
        uint64_t sum = (uint64_t)w[i - 16] + w[i - 7];
        sum += sigma(k, w[i - 15], 7, 18, 3, true);
        sum += sigma(k, w[i - 2], 17, 19, 10, true);
        w[i] = put_sum(k, sum);
    }
}

void cuzk_expand_sha256(cuzk_packed_writer *out, const uint8_t *plan, const uint8_t *record)
{
    walk k = {out, (const cuzk_word_plan *)(const void *)plan};
    uint32_t w[64], state[8], v[8];
    memcpy(state, record, sizeof state);
    memcpy(v, state, sizeof v);
    schedule(&k, w, record + sizeof state);
    uint64_t a = 0; /* sums that are written when they are read */
    uint64_t e = 0;
    for (int i = 0; i < 64; i++) {
        v[4] = i ? put_sum(&k, e) : v[4];
        uint64_t t = (uint64_t)v[7] + cuzk_sha256_k[i] + w[i];
        t += sigma(&k, v[4], 6, 11, 25, false);
        uint32_t ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        put(&k, ch);
        t += ch;
        v[0] = i ? put_sum(&k, a) : v[0];
        a = t + sigma(&k, v[0], 2, 13, 22, false);
        uint32_t both = v[1] & v[2];
        uint32_t maj = both | (v[0] & (v[1] | v[2]));
        put(&k, cuzk_spread_bits(maj) | cuzk_spread_bits(both) << 1);
        a += maj;
        e = t + v[3];
        memmove(v + 1, v, 7 * sizeof *v);
    }
    for (int i = 0; i < 8; i++) {
        put_sum(&k, (i == 0 ? a : i == 4 ? e : v[i]) + state[i]);
    }
}
