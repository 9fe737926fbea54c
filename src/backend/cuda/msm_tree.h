#ifndef CUZK_BACKEND_CUDA_MSM_TREE_H
#define CUZK_BACKEND_CUDA_MSM_TREE_H

#include "backend/cuda/hd.h"

/*
 * Where everything lies while the buckets of sorted entries are summed.
 *
 * Entries first .. end of the sorted array are a chunk; positions count from its start. A bucket's
 * entries in the chunk are summed by a tree: its entry t, t > 0, is the right side of just one
 * addition, on the level that is the number of trailing zeros of t; the left side is the node that
 * begins at entry t - 2^level. A node of two entries or more lies in slot (position of its second
 * entry) / 2; second entries are two apart at least, so slots don't meet, and a node stays where
 * its first two entries were added. The list of a level holds the positions of its right sides,
 * with bit 31 set when above the lowest level that side is a lone entry, the last of its bucket.
 */

enum { MSM_LEVELS = 32 /* more than any tree has */ };

#define MSM_LONE 0x80000000u

/** Where a point is: its index among the key's points (MSM_FROM_POINTS) or the nodes; and whether
 *  its negative is meant. */
#define MSM_FROM_POINTS 0x80000000u
#define MSM_NEGATIVE    0x40000000u
#define MSM_INDEX       0x3fffffffu

/** Where the pairs of a level begin in the lists of a chunk of so many entries: the lowest level
 * has at most a pair for each two entries, a higher one for each 2^level. All lists together are at
 *  most 1.5 chunk long. */
CUZK_HD uint32_t msm_list_start(uint32_t chunk, unsigned level)
{
    uint32_t at = level ? chunk >> 1 : 0;
    for (unsigned i = 1; i < level; i++) {
        at += chunk >> i;
    }
    return at;
}

/** Points to be summed, n of them, are entries of so many buckets: the bucket of entry i and the
 *  first entry of bucket b. */
enum { MSM_ONES_BUCKETS = 1024 };

CUZK_HD uint32_t msm_ones_bucket(uint32_t i, uint32_t n)
{
    return (uint32_t)((uint64_t)i * MSM_ONES_BUCKETS / n);
}

CUZK_HD uint32_t msm_ones_start(uint32_t b, uint32_t n)
{
    return (uint32_t)(((uint64_t)b * n + MSM_ONES_BUCKETS - 1) / MSM_ONES_BUCKETS);
}

/** The level of entry t > 0 of a bucket. */
CUZK_HD unsigned msm_tree_level(uint32_t t)
{
#ifdef __CUDA_ARCH__
    return (unsigned)__ffs((int)t) - 1;
#else
    return (unsigned)__builtin_ctz(t);
#endif
}

/** The point of an entry's value, 2 index + sign. */
CUZK_HD uint32_t msm_entry_place(uint32_t value)
{
    return MSM_FROM_POINTS | (value & 1) << 30 | value >> 1;
}

/** Both sides of an addition and the node that takes the sum. */
typedef struct msm_place {
    uint32_t a, b, out;
} msm_place;

/** The addition on a level that is listed as `listed`; values: of the chunk's entries. */
CUZK_HD msm_place msm_find_pair(const uint32_t *values, unsigned level, uint32_t listed)
{
    uint32_t i = listed & ~MSM_LONE;
    msm_place p;
    if (level == 0) {
        p.a = msm_entry_place(values[i - 1]);
        p.b = msm_entry_place(values[i]);
        p.out = i >> 1;
    } else {
        p.out = p.a = (i + 1 - (1u << level)) >> 1;
        p.b = listed & MSM_LONE ? msm_entry_place(values[i]) : (i + 1) >> 1;
    }
    return p;
}

/** Where the sum of a bucket is whose entries are at positions from .. to of the chunk, to > from,
 *  when every level is done. */
CUZK_HD uint32_t msm_bucket_place(const uint32_t *values, uint32_t from, uint32_t to)
{
    return to - from == 1 ? msm_entry_place(values[from]) : (from + 1) >> 1;
}

/*
 * From buckets to the sum of a window. With S_b the sum of the bucket of digit b + 1, b < B, that
 * is sum_b (b + 1) S_b. It is kept as sum_t ((t + 1) A_t + T V_t) over t < T; at first T = B, A = S
 * and V = 0. With T = L T' and b = i T' + t it is the same with A'_t = sum_i A_(i T' + t) and V'_t
 * = sum_i (i A_(i T' + t) + L V_(i T' + t)).
 *
 * In the end the length of the chain of additions counts: with T = 2^l and S_i the sum of the A_t
 * whose t has bit i, the sum is sum_i 2^i S_i + sum_t A_t + 2^l sum_t V_t. Its terms: two halves of
 * each S_i, four quarters of each other sum.
 */

CUZK_HD unsigned msm_terms(unsigned bits) { return 2 * bits + 8; }

/** Which A or V (*of_v) the i-th summand of a term is, i < T / 4, T = 2^bits >= 4, and how often
 * the term is to be doubled. */
CUZK_HD uint32_t msm_term_at(unsigned bits, unsigned term, uint32_t i, bool *of_v,
                             unsigned *doublings)
{
    uint32_t quarter = 1u << (bits - 2);
    *of_v = term >= 2 * bits + 4;
    if (term >= 2 * bits) {
        *doublings = *of_v ? bits : 0;
        return (term - 2 * bits) % 4 * quarter + i;
    }
    unsigned bit = term / 2; /* the number with this bit that has so many before it */
    uint32_t before = term % 2 * quarter + i, low = before & ((1u << bit) - 1);
    *doublings = bit;
    return (before - low) << 1 | 1u << bit | low;
}

#endif
