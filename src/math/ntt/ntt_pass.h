#ifndef CUZK_MATH_NTT_NTT_PASS_H
#define CUZK_MATH_NTT_NTT_PASS_H

#include "math/ntt/ntt.h"

/*
 * Inside of ntt.c. A transform of 2^lg points is two or three *passes*. A pass cuts the array into
 * strips of 2^pass.lg rows and NTT_LANES lanes, takes each strip into scratch memory that fits the
 * second-level cache, transforms all lanes along the rows with the same twiddles, and puts the
 * strip back. Factors that differ from lane to lane enter only as the strip leaves.
 */

enum {
    NTT_LANES = 8,
    NTT_PASS_MAX_LG = 11,
    NTT_PASS_MAX = 1 << NTT_PASS_MAX_LG,
    /* Rows that are taken in and transformed as far as possible at once: 20 KiB. */
    NTT_BLOCK_LG = 6,
};

/** Twiddles of one direction for scalar code: at h + j (h = 1, 2, 4, ...; j < h) the j-th power of
 *  the root of order 2h. */
typedef struct ntt_twiddles {
    fr *scalar;
    struct fr52_shoup *vector; /* the same for IFMA, NULL without it */
} ntt_twiddles;

typedef struct ntt_pass {
    unsigned lg;         /* 3 <= lg <= NTT_PASS_MAX_LG */
    unsigned rotate;     /* output k goes to the row whose lg bits are k's, rotated left by this */
    size_t row_stride;   /* elements from a row to the next */
    size_t lane_stride;  /* elements from a lane to the next */
    const fr *in_scale;  /* a factor for each row on the way in, or NULL */
    const fr *out_scale; /* a factor for each output on the way out, or NULL */
    bool twist;          /* output k times start step^k, lane by lane; excludes out_scale */
    ntt_twiddles twiddles;
} ntt_pass;

/** For a pass with twist: the first factor and the ratio of each lane. */
typedef struct ntt_twist {
    fr start[NTT_LANES], step[NTT_LANES];
} ntt_twist;

/**
 * Transforms one strip in place; strip is its row 0, lane 0. Values in the array are integers below
 * 2^256 between the passes and in [0, r) after a pass without twist. next, or NULL, is the strip
 * that the caller will take next, to be prefetched.
 */
typedef void ntt_pass_fn(const ntt_pass *p, fr *strip, const fr *next, const ntt_twist *twist);

ntt_pass_fn ntt_pass_scalar;
#ifdef CUZK_X86_64
/** The same with AVX-512 IFMA. */
ntt_pass_fn ntt_pass_ifma;

/** The IFMA form of n twiddles; the caller owns it (free), NULL when memory is short. */
struct fr52_shoup *ntt_twiddles_ifma(const fr *w, size_t n);
#endif

/** ntt_domain_new with another largest lg for two passes, so that tests reach three passes in
 * little memory: 8 <= two_pass_lg <= 2 NTT_PASS_MAX_LG. */
cuzk_code ntt_domain_new_passes(ntt_domain **ret, unsigned lg, fr_root root, unsigned two_pass_lg,
                                cuzk_err *err);

/** The row of output k. */
static inline size_t ntt_out_row(const ntt_pass *p, size_t k)
{
    size_t mask = ((size_t)1 << p->lg) - 1;
    return p->rotate ? (k << p->rotate | k >> (p->lg - p->rotate)) & mask : k;
}

/** The lowest lg bits of i in reverse order. */
static inline size_t ntt_bit_reverse(size_t i, unsigned lg)
{
    uint64_t x = i;
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return lg == 0 ? 0 : __builtin_bswap64(x) >> (64 - lg);
}

#endif
