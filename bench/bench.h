#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * Shared by the programs of this folder. Times are CPU times, minima over repeats; a kernel is
 * compared with a limit that the same run measured, so that a loaded machine does little harm.
 */

/** Work to time: fn(ctx) does it once. */
typedef void bench_fn(void *ctx);

static inline double bench_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/** CPU time of the calling thread, ns. */
static inline double bench_thread_ns(void) { return bench_clock_ns(CLOCK_THREAD_CPUTIME_ID); }

/** CPU time of all threads of the process, ns. */
static inline double bench_process_ns(void) { return bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

/** Least CPU time of the process for one fn(ctx), ns, over `repeats` runs after one warm-up. */
static inline double bench_min_ns(bench_fn *fn, void *ctx, int repeats)
{
    fn(ctx);
    double best = 1e300;
    for (int i = 0; i < repeats; i++) {
        double start = bench_process_ns();
        fn(ctx);
        double t = bench_process_ns() - start;
        best = t < best ? t : best;
    }
    return best;
}

/** Makes the compiler believe that the bytes at p are read and written here. */
static inline void bench_touch(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }

/** The next of a reproducible sequence of 64-bit values (splitmix64). */
static inline uint64_t bench_u64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
