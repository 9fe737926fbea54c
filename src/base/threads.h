#ifndef CUZK_BASE_THREADS_H
#define CUZK_BASE_THREADS_H

#include "cuzk/err.h"

/**
 * A pool of worker threads for data-parallel loops. Several threads may call cuzk_pool_run at the
 * same time; their loops share the workers. A loop body may itself call cuzk_pool_run: the caller
 * always works on its own loop, so nesting cannot deadlock.
 */
typedef struct cuzk_pool cuzk_pool;

/** Loop body: one index of [0, count). `worker` is in [0, cuzk_pool_size) and unique among the
 *  threads that run the same loop at the same time: index private scratch by it. */
typedef void cuzk_pool_fn(void *ctx, size_t index, unsigned worker);

/**
 * Starts a pool in which `threads` threads take part in each loop, the caller among them (so
 * threads - 1 are created). 0 means one for each available processor. The caller owns *ret.
 */
cuzk_code cuzk_pool_new(cuzk_pool **ret, unsigned threads, cuzk_err *err);

/** Joins the workers and frees the pool; accepts NULL. No loop may be running. */
void cuzk_pool_free(cuzk_pool *pool);

/** How many threads take part in a loop; 1 for NULL. */
unsigned cuzk_pool_size(const cuzk_pool *pool);

/** Runs fn for each index of [0, count), in any order, and returns when all are done. A NULL pool
 *  runs them in order on the caller. */
void cuzk_pool_run(cuzk_pool *pool, size_t count, cuzk_pool_fn *fn, void *ctx);

/** The part of [0, n) that belongs to `index` of `count` nearly equal contiguous parts. */
static inline void cuzk_split(size_t n, size_t count, size_t index, size_t *ret_begin,
                              size_t *ret_end)
{
    size_t base = n / count;
    size_t rest = n % count;
    *ret_begin = index * base + (index < rest ? index : rest);
    *ret_end = *ret_begin + base + (index < rest);
}

#endif
