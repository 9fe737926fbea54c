#ifndef CUZK_BACKEND_CUDA_POINTS_H
#define CUZK_BACKEND_CUDA_POINTS_H

#include "backend/cuda/each.h"

/*
 * The points of a .params file on the device: uncompressed encodings become points as the host has
 * them, each checked to be finite, canonical and on its curve.
 */

/** What is wrong with a point. */
typedef enum points_fault {
    POINTS_GOOD,
    POINTS_FLAGS,    /* the encoding's flag bits */
    POINTS_INFINITE, /* the point at infinity */
    POINTS_RANGE,    /* a coordinate that is not below p */
    POINTS_OFF_CURVE,
    POINTS_FAULT_BITS = 3,
} points_fault;

/** The verdict while no point is bad. */
#define POINTS_ALL_GOOD UINT32_MAX

/** A run of encodings, at most 2^28. Pointers are to device memory, 16-byte aligned. */
typedef struct points_job {
    const uint32_t *from; /* 96 or 192 bytes a point */
    uint32_t *to;         /* g1_affine or g2_affine; bad points are not written */
    uint32_t first;       /* point i goes to place first + i of `to` ... */
    uint32_t lg;          /* ... or, unless this is 0, to that number with its lg bits reversed */
    uint32_t *verdict;    /* becomes the least i << POINTS_FAULT_BITS | fault of bad points */
} points_job;

CUZK_EACH_DECLARE(cuzk_cuda_points_g1, points_job);
CUZK_EACH_DECLARE(cuzk_cuda_points_g2, points_job);

#endif
