#ifndef TESTS_BACKEND_CUDA_CHECKS_H
#define TESTS_BACKEND_CUDA_CHECKS_H

#include "cuzk/err.h"
#include "math/field/fp.h"
#include "math/field/fr.h"

#include <cuda_runtime_api.h>
#include <stdio.h>

/*
 * The checks of kernels on a card against the CPU. To add one: a function `bool
 * check_NAME(check_ctx
 * *)` in a file of this folder and its name in the table.
 */
#define CHECK_MAP(X)                                                                               \
    X(field, "field operations against the host")                                                  \
    X(inversions, "inversions against the host")                                                   \
    X(ntt_sizes, "transforms of every size up to 2^22 against the host")                           \
    X(ntt_large, "transforms of 2^24 to 2^27: values at random points, and back")                  \
    X(msm_g1, "sums of up to 2^16 multiples on G1, with edges, against the host")                  \
    X(msm_g2, "sums of up to 2^16 multiples on G2, with edges, against the host")                  \
    X(msm_large, "sums of up to 2^27 multiples of points with known logarithms")                   \
    X(ones, "sums of points selected by bitmaps of up to 2^22 bits")                               \
    X(known_answer, "a small circuit of every gadget: key, proof, verification")                   \
    X(partitions, "small partitions of the reference: key and proof, bit for bit")                 \
    X(porep_32GiB, "all partitions of a PoRep of 32 GiB, the first bit for bit")

/** What a check gets. */
typedef struct check_ctx {
    uint64_t state; /* of its random values */
    bool small;     /* under compute-sanitizer: sizes that take it a second or two */
    char why[600];  /* what the check found wrong, for a check that returns false */
} check_ctx;

#define X(name, what) bool check_##name(check_ctx *c);
CHECK_MAP(X)
#undef X

/** Fails the check, with a message. */
#define CHECK_FAIL(c, ...) (snprintf((c)->why, sizeof(c)->why, __VA_ARGS__), false)

/** Fails the check unless a call of the runtime succeeds. */
#define CHECK_CUDA(c, call)                                                                        \
    do {                                                                                           \
        cudaError_t check_status_ = (call);                                                        \
        if (check_status_ != cudaSuccess) {                                                        \
            return CHECK_FAIL(c, "%s: %s", #call, cudaGetErrorString(check_status_));              \
        }                                                                                          \
    } while (0)

/** Fails the check unless a call of the project succeeds; e is its cuzk_err. */
#define CHECK_OK(c, call, e)                                                                       \
    do {                                                                                           \
        if ((call) != CUZK_OK) {                                                                   \
            return CHECK_FAIL(c, "%s: %s", #call, (e).msg);                                        \
        }                                                                                          \
    } while (0)

uint64_t check_u64(check_ctx *c);
/** Random elements; the first four of an array are edges: 0, 1, -1, 2. */
void check_fr_array(check_ctx *c, fr *a, size_t n);
void check_fp_array(check_ctx *c, fp *a, size_t n);

#endif
