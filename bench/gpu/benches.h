#ifndef BENCH_GPU_BENCHES_H
#define BENCH_GPU_BENCHES_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Times of kernels on a card against what the card could do at best. To add one: a function `bool
 * bench_NAME(void)` in a file of this folder and its name in the table; it prints its rows with
 * bench_row and returns false, with a line on stderr, when something fails.
 */
#define BENCH_MAP(X)                                                                               \
    X(field)                                                                                       \
    X(ntt)                                                                                         \
    X(msm)                                                                                         \
    X(prove)                                                                                       \
    X(stream)

#ifdef __cplusplus
extern "C" {
#endif

#define X(name) bool bench_##name(void);
BENCH_MAP(X)
#undef X

/** One line of the table. limit_ms: the time at the rate of the pipe that the kernel is bound by,
 *  as measured on an H200; 0 when none is known. */
void bench_row(const char *kernel, const char *size, double ms, double limit_ms);

/** Starts what is timed on the default stream. */
typedef void bench_fn(void *ctx);

/** The median time of `repeats` runs after one to warm up, in ms; negative after a CUDA error. */
double bench_time(bench_fn *fn, void *ctx, int repeats);

#ifdef __cplusplus
}
#endif

#endif
