#ifndef CUZK_BACKEND_CUDA_MSM_PLAN_H
#define CUZK_BACKEND_CUDA_MSM_PLAN_H

#include "backend/cuda/hd.h"
#include "cuzk/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a sum of n multiples is cut, and where its scratch memory lies. Plain C: known before any
 * device is touched.
 *
 * A scalar has `parts` parts (msm_digits.h), a part `windows` windows of at most `width` bits
 * (msm_window_start), a window of a part 2^(width - 1) buckets. `batch` windows are sorted
 * together: an entry is a digit that is not 0, its key the bucket, entries = n parts batch. The sum
 * of each bucket is a tree over its entries; the trees of `chunk` consecutive entries are in memory
 * at a time, so a bucket may be cut by the border of two chunks.
 */

typedef enum msm_group { MSM_G1, MSM_G2 } msm_group;

enum {
    MSM_MAX_WINDOWS = 64,
    MSM_MAX_CHUNKS = 256,
    MSM_MIN_WIDTH = 3,
    MSM_MAX_WIDTH = 22,
    MSM_BLOCK = 128,      /* threads of a block where points are added */
    MSM_LAST_SUMS = 4096, /* sums of buckets of one window that the last kernels add */
};

/** Windows share the bits of a part, 128 (2 parts) or 64 (4 parts) with a 0 on top, as evenly as
 * can be: the first bit of window w, for w <= windows. */
CUZK_HD unsigned msm_window_start(unsigned parts, unsigned windows, unsigned w)
{
    return 256 / parts * w / windows;
}

/** What a device allows: threads that add pairs at the same time (a multiple of MSM_BLOCK) and how
 *  many pairs of one thread may share an inversion. */
typedef struct msm_limits {
    uint32_t threads;
    uint32_t depth;
} msm_limits;

/** Offsets in bytes from the start of the scratch memory, each a multiple of 256. */
typedef struct msm_layout {
    uint64_t sums;       /* windows points in XYZZ coordinates, the result */
    uint64_t terms;      /* 32 such points for each window */
    uint64_t carries;    /* a point for each chunk: the bucket that began in an earlier chunk, */
    uint64_t carry_keys; /* and which that is */
    uint64_t counts;     /* 32 numbers of 32 bits: pairs on each level */
    uint64_t keys[2];    /* entries keys, then as many values: sorted from one to the other */
    uint64_t starts;     /* buckets + 1 positions */
    uint64_t nodes;      /* inner nodes of the trees of a chunk, chunk / 2 + 1 points */
    uint64_t buckets;    /* a point for each bucket */
    uint64_t prefix;     /* partial products, threads * depth field elements */
    uint64_t sweeps[2];  /* two sums of buckets for each sweep thread of each window */
    uint64_t sort;       /* of the radix sort */
    uint64_t sort_bytes;
    uint64_t total;
} msm_layout;

typedef struct msm_plan {
    msm_group group;
    uint32_t n;
    unsigned parts, width, windows, batch;
    uint32_t entries, buckets; /* of one batch */
    uint32_t chunk, chunks;
    unsigned levels;        /* of the highest tree */
    uint32_t sweep_threads; /* for each window */
    msm_limits limits;
    msm_layout at;
} msm_plan;

/**
 * The cut for n >= 1 points that fits into `bytes` of scratch memory; `width` is that of the
 * windows, or 0 for the one measured as best. CUZK_E_ARG when n is out of range, CUZK_E_MEMORY,
 * naming the least that would do, when the bytes are too few.
 *
 * The need, up to roundings: 16 entries + 4 buckets + (chunk / 2 + buckets) point + threads depth
 * field + 16 windows sweep_threads field + sort, sort = entries / 4 + 4 MiB, windows sweep_threads
 * at most 2^19. Chunks are made smaller, then batches, then chunks again, until it fits.
 */
cuzk_code cuzk_cuda_msm_plan(msm_plan *ret, msm_group group, uint64_t n, unsigned width,
                             msm_limits limits, uint64_t bytes, cuzk_err *err);

/** The same for the sum of the points that a bitmap of n bits selects: `windows` is 1, `width` 0.
 */
cuzk_code cuzk_cuda_ones_plan(msm_plan *ret, msm_group group, uint64_t n, msm_limits limits,
                              uint64_t bytes, cuzk_err *err);

#ifdef __cplusplus
}
#endif

#endif
