#include "math/msm/scalars.h"

#define SHARE ((size_t)1 << 14) /* scalars that a thread classifies at a time */

typedef struct share {
    size_t ones, small, full;
    uint64_t small_or;
} share;

typedef struct classify_ctx {
    msm_classes *c;
    const fr_repr *k;
    size_t n;
    share shares[MSM_PART / SHARE];
} classify_ctx;

/* True when r - k is below 2^64. */
static bool is_minus_small(const fr_repr *k)
{
    const uint64_t *r = fr_modulus.l;
    uint64_t borrow = k->l[0] > r[0];
    return k->l[3] == r[3] && k->l[2] == r[2] && k->l[1] + borrow == r[1];
}

/* Writes the lists of one share at the share's own place in the arrays. */
static void classify_share(void *context, size_t index, unsigned worker)
{
    (void)worker;
    classify_ctx *x = context;
    size_t begin = index * SHARE;
    size_t end = begin + SHARE < x->n ? begin + SHARE : x->n;
    uint32_t *ones = x->c->ones + begin;
    uint32_t *small = x->c->small + begin;
    uint32_t *full = x->c->full + begin;
    share s = {0};
    for (size_t i = begin; i < end; i++) {
        const fr_repr *k = &x->k[i];
        uint32_t entry = (uint32_t)(2 * i);
        uint64_t high = k->l[1] | k->l[2] | k->l[3];
        if (high == 0 && k->l[0] <= 1) {
            ones[s.ones] = entry; /* no branch on a bit that nobody can predict */
            s.ones += k->l[0];
        } else if (high == 0) {
            small[s.small++] = entry;
            s.small_or |= k->l[0];
        } else if (is_minus_small(k)) {
            uint64_t v = fr_modulus.l[0] - k->l[0];
            if (v == 1) {
                ones[s.ones++] = entry | 1;
            } else {
                small[s.small++] = entry | 1;
                s.small_or |= v;
            }
        } else {
            full[s.full++] = entry;
        }
    }
    x->shares[index] = s;
}

static void append(uint32_t *list, size_t *n, size_t from, size_t count)
{
    if (*n != from && count > 0) {
        memmove(list + *n, list + from, count * sizeof *list);
    }
    *n += count;
}

void msm_classify(msm_classes *c, const fr_repr *k, size_t n, cuzk_pool *pool)
{
    classify_ctx x;
    x.c = c;
    x.k = k;
    x.n = n;
    size_t count = (n + SHARE - 1) / SHARE;
    cuzk_pool_run(pool, count, classify_share, &x);
    c->nones = c->nsmall = c->nfull = 0;
    uint64_t small_or = 0;
    for (size_t i = 0; i < count; i++) {
        append(c->ones, &c->nones, i * SHARE, x.shares[i].ones);
        append(c->small, &c->nsmall, i * SHARE, x.shares[i].small);
        append(c->full, &c->nfull, i * SHARE, x.shares[i].full);
        small_or |= x.shares[i].small_or;
    }
    c->small_bits = 0;
    while (c->small_bits < 64 && small_or >> c->small_bits) {
        c->small_bits++;
    }
}

msm_windows msm_windows_for(size_t n, unsigned bits, unsigned max_width)
{
    msm_windows best = {bits, bits + 1};
    uint64_t best_cost = UINT64_MAX;
    unsigned fewest = (bits + max_width) / max_width;
    for (unsigned count = fewest; count <= bits + 1; count++) {
        msm_windows s = {bits, count};
        uint64_t cost = 0;
        for (unsigned w = 0; w < count; w++) {
            unsigned lo, hi;
            msm_window(s, w, &lo, &hi);
            cost += n + ((uint64_t)2 << (hi - lo - 1)); /* two additions for each bucket */
        }
        if (cost < best_cost) {
            best_cost = cost;
            best = s;
        }
    }
    return best;
}
