#ifndef CUZK_BACKEND_CUDA_EXPAND_CORE_H
#define CUZK_BACKEND_CUDA_EXPAND_CORE_H

#include "backend/cuda/dfr_io.h"
#include "backend/cuda/each_expand.h"

/* Threads of each_expand.h but for the hashes; they do what gadget/expand.c does. */

/* Eight bytes of a record, which stand at a multiple of 8. */
CUZK_HD uint64_t expand_load(const uint8_t *p)
{
#ifdef __CUDA_ARCH__
    return __ldg((const unsigned long long *)p);
#else
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) {
        v |= (uint64_t)p[i] << (8 * i);
    }
    return v;
#endif
}

CUZK_HD dfr expand_load_element(const uint8_t *p)
{
    dfr r;
    CUZK_UNROLL
    for (int i = 0; i < DFR_LIMBS; i += 2) {
        uint64_t v = expand_load(p + 4 * i);
        r.l[i] = (uint32_t)v;
        r.l[i + 1] = (uint32_t)(v >> 32);
    }
    return r;
}

/* Up to 32 bits from variable `at` on. */
CUZK_HD void expand_put_bits(uint32_t *bits, uint32_t at, uint32_t v)
{
    uint64_t x = (uint64_t)v << (at % 32);
    hd_atomic_or32(bits + at / 32, (uint32_t)x);
    if (x >> 32) {
        hd_atomic_or32(bits + at / 32 + 1, (uint32_t)(x >> 32));
    }
}

CUZK_HD uint32_t expand_index(const uint8_t *record, uint32_t arity)
{
    return (uint32_t)expand_load(record) & (arity - 1);
}

/* The bits of an instance that inserts at an index. */
CUZK_HD void expand_index_bits(const cuzk_cuda_copy_job *j, uint32_t aux, uint32_t index)
{
    if (j->own) {
        expand_put_bits(j->on.bits, aux, index);
        aux += (j->arity == 8 ? 3 : j->arity / 2) + j->own;
    }
    if (j->arity == 8) { /* neither of the two low bits, both of them */
        uint32_t low = index & 3;
        expand_put_bits(j->on.bits, aux, (uint32_t)(low == 0) | (uint32_t)(low == 3) << 1);
    }
}

/* Bound by memory: reads are from the cache but for one of each record. */
CUZK_HD void expand_copy(const cuzk_cuda_copy_job *j, uint64_t i)
{
    uint32_t instance = (uint32_t)i / j->n; /* elements are fewer than 2^32 */
    uint32_t element = (uint32_t)i % j->n;
    const cuzk_instance *at = &j->on.instances[j->on.list[instance]];
    const uint8_t *record = j->on.records + at->record;
    uint32_t from = element;
    if (j->arity) {
        uint32_t index = expand_index(record, j->arity);
        from =
            element < j->own ? 1 + element : j->picks[index * (j->n - j->own) + (element - j->own)];
        record += 8;
        if (element == 0) {
            expand_index_bits(j, at->aux, index);
        }
    }
    dfr_store(j->on.full + at->full + element, expand_load_element(record + sizeof(dfr) * from));
}

CUZK_HD void expand_words(const cuzk_cuda_words_job *j, uint64_t i)
{
    uint32_t words = (j->n + 31) / 32; /* at most 8 */
    const cuzk_instance *at = &j->on.instances[j->on.list[i / words]];
    uint32_t word = (uint32_t)(i % words);
    uint64_t pair = expand_load(j->on.records + at->record + word / 2 * 8);
    uint32_t v = (uint32_t)(word % 2 ? pair >> 32 : pair);
    uint32_t n = j->n - 32 * word;
    expand_put_bits(j->on.bits, at->aux + 32 * word, n < 32 ? v & ((1U << n) - 1) : v);
}

/* ---- SHA-256 ---- */

/* Where the walk through a block's word operations is. The instance's bits are collected and
 * written in whole words; the first and the last of these are shared with its neighbours. */
typedef struct expand_walk {
    const uint64_t *plan; /* of the next operation: mask, inverted (cuzk_word_plan) */
    uint32_t *word;       /* where the low half of `bits` belongs */
    uint64_t bits;
    uint32_t n; /* of bits, below 32 between calls */
    uint32_t shared;
} expand_walk;

CUZK_HD void expand_push(expand_walk *w, uint32_t v, uint32_t n)
{
    w->bits |= (uint64_t)v << w->n;
    w->n += n;
    if (w->n >= 32) {
        if (w->shared) {
            hd_atomic_or32(w->word, (uint32_t)w->bits);
            w->shared = 0;
        } else {
            *w->word = (uint32_t)w->bits;
        }
        w->word++;
        w->bits >>= 32;
        w->n -= 32;
    }
}

/* Keeps the bits of an operation's result that have variables. */
CUZK_HD void expand_keep(expand_walk *w, uint64_t v)
{
    uint64_t mask = w->plan[0];
    v = (v ^ w->plan[1]) & mask;
    w->plan += 2;
    uint32_t n = 0;
    if (mask & (mask + 1)) { /* not the n lowest: in a few operations of a padding block */
        uint64_t packed = 0;
        CUZK_ROLLED
        for (; mask; mask &= mask - 1) {
            packed |= (uint64_t)((v & mask & (0 - mask)) != 0) << n++;
        }
        v = packed;
    } else {
        n = hd_count64(mask);
    }
    expand_push(w, (uint32_t)v, n < 32 ? n : 32);
    if (n > 32) {
        expand_push(w, (uint32_t)(v >> 32), n - 32);
    }
}

CUZK_HD uint32_t expand_rotr(uint32_t x, uint32_t n) { return x >> n | x << (32 - n); }

CUZK_HD uint32_t expand_sigma(expand_walk *w, uint32_t a, uint32_t r1, uint32_t r2, uint32_t last)
{
    uint32_t x = expand_rotr(a, r1) ^ expand_rotr(a, r2);
    expand_keep(w, x);
    x ^= last;
    expand_keep(w, x);
    return x;
}

CUZK_HD uint32_t expand_sum(expand_walk *w, uint64_t sum)
{
    expand_keep(w, sum);
    return (uint32_t)sum;
}

/* Bit i to bit 2i. */
CUZK_HD uint64_t expand_spread(uint32_t v)
{
    uint64_t x = v;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
}

CUZK_HD void expand_schedule(expand_walk *walk, uint32_t *w, const uint8_t *block)
{
    CUZK_ROLLED
    for (int i = 0; i < 16; i += 2) {
        uint64_t pair = expand_load(block + 4 * i);
        w[i] = hd_swap_bytes((uint32_t)pair);
        w[i + 1] = hd_swap_bytes((uint32_t)(pair >> 32));
    }
    CUZK_ROLLED
    for (int i = 16; i < 64; i++) {
        uint64_t sum = (uint64_t)w[i - 16] + w[i - 7];
        sum += expand_sigma(walk, w[i - 15], 7, 18, w[i - 15] >> 3);
        sum += expand_sigma(walk, w[i - 2], 17, 19, w[i - 2] >> 10);
        w[i] = expand_sum(walk, sum);
    }
}

/* The rounds: v[8] becomes what is added to the state, the sums of words 0 and 4 not yet reduced.
 */
CUZK_HD void expand_rounds(expand_walk *walk, uint64_t *v, const uint32_t *w, const uint32_t *k)
{
    uint32_t a = (uint32_t)v[0], b = (uint32_t)v[1], c = (uint32_t)v[2], d = (uint32_t)v[3];
    uint32_t e = (uint32_t)v[4], f = (uint32_t)v[5], g = (uint32_t)v[6], h = (uint32_t)v[7];
    uint64_t next_a = 0, next_e = 0; /* sums that are kept when they are read */
    CUZK_ROLLED
    for (int i = 0; i < 64; i++) {
        e = i ? expand_sum(walk, next_e) : e;
        uint64_t t = (uint64_t)h + k[i] + w[i];
        t += expand_sigma(walk, e, 6, 11, expand_rotr(e, 25));
        uint32_t ch = (e & f) ^ (~e & g);
        expand_keep(walk, ch);
        t += ch;
        a = i ? expand_sum(walk, next_a) : a;
        next_a = t + expand_sigma(walk, a, 2, 13, expand_rotr(a, 22));
        uint32_t both = b & c;
        uint32_t maj = both | (a & (b | c));
        expand_keep(walk, expand_spread(maj) | expand_spread(both) << 1);
        next_a += maj;
        next_e = t + d;
        h = g;
        g = f;
        f = e;
        d = c;
        c = b;
        b = a;
    }
    v[0] = next_a;
    v[1] = b;
    v[2] = c;
    v[3] = d;
    v[4] = next_e;
    v[5] = f;
    v[6] = g;
    v[7] = h;
}

/* Bound by the latency of one thread's 758 operations, as there are few instances: 5 000 in a
 * PoRep. Threads of a warp read the same plan. */
CUZK_HD void expand_sha256(const cuzk_cuda_sha256_job *j, uint64_t i)
{
    const cuzk_instance *at = &j->on.instances[j->on.list[i]];
    const uint8_t *record = j->on.records + at->record;
    expand_walk walk;
    walk.plan = (const uint64_t *)(const void *)(j->plans + j->templates[at->template_id].plan);
    walk.word = j->on.bits + at->aux / 32;
    walk.bits = 0;
    walk.n = at->aux % 32;
    walk.shared = 1;
    uint32_t w[64];
    uint32_t state[8];
    uint64_t v[8];
    expand_schedule(&walk, w, record + sizeof state);
    CUZK_UNROLL
    for (int s = 0; s < 8; s += 2) {
        uint64_t pair = expand_load(record + 4 * s);
        v[s] = state[s] = (uint32_t)pair;
        v[s + 1] = state[s + 1] = (uint32_t)(pair >> 32);
    }
    expand_rounds(&walk, v, w, j->k);
    CUZK_UNROLL
    for (int s = 0; s < 8; s++) {
        expand_keep(&walk, v[s] + state[s]);
    }
    if (walk.n) {
        hd_atomic_or32(walk.word, (uint32_t)walk.bits);
    }
}

#endif
