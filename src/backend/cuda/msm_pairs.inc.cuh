/* Additions of many pairs of points with few inversions. */
#include "backend/cuda/msm_entries.inc.cuh"

/* Pairs of points that are not simply added, called because they are rare. The points are anywhere
 * in memory, MSM_NEGATIVE in at_a and at_b says what to negate. */
static __device__ __noinline__ FIELD rare_divisor(const uint4 *a, const uint4 *b, uint32_t at_a,
                                                  uint32_t at_b, size_t stride)
{
    AFFINE pa = load_affine(a, stride, at_a & MSM_NEGATIVE),
           pb = load_affine(b, stride, at_b & MSM_NEGATIVE);
    return G_(_pair_rare_divisor)(&pa, &pb);
}

static __device__ __noinline__ void rare_sum(uint4 *sum, const uint4 *a, const uint4 *b,
                                             uint32_t at_a, uint32_t at_b, size_t stride,
                                             FIELD inverse)
{
    AFFINE pa = load_affine(a, stride, at_a & MSM_NEGATIVE),
           pb = load_affine(b, stride, at_b & MSM_NEGATIVE);
    pa = G_(_pair_rare_sum)(&pa, &pb, inverse);
    store_words(sum, stride, &pa, POINT_WORDS);
}

/* The inverse of each thread's factor, with one inversion in each lane of the block's first warp.
 */
static __device__ __forceinline__ FIELD invert_block(FIELD a, FIELD *factor, FIELD *before)
{
    factor[threadIdx.x] = a;
    __syncthreads();
    if (threadIdx.x < WARP) {
        FIELD product = factor[threadIdx.x];
        for (unsigned i = threadIdx.x + WARP; i < MSM_BLOCK; i += WARP) {
            before[i] = product;
            product = F_(_mul)(product, factor[i]);
        }
        FIELD inverse = F_(_inv_called)(product);
        for (unsigned i = threadIdx.x + MSM_BLOCK - WARP; i >= WARP; i -= WARP) {
            FIELD f = factor[i];
            factor[i] = F_(_mul)(inverse, before[i]);
            inverse = F_(_mul)(inverse, f);
        }
        factor[threadIdx.x] = inverse;
    }
    __syncthreads();
    return factor[threadIdx.x];
}

/* How the pairs of a launch are shared out: each thread has `each` of them, `threads` apart, in
 * each of `rounds` rounds; an inversion serves a lane's column of a block's threads in one round.
 */
struct shares {
    uint32_t threads, rounds, each;
};

static __device__ __forceinline__ shares share_out(uint32_t pairs, uint32_t depth)
{
    shares s;
    s.threads = gridDim.x * MSM_BLOCK;
    uint64_t most = (uint64_t)s.threads * depth;
    s.rounds = (uint32_t)((pairs + most - 1) / most);
    uint64_t columns = (uint64_t)s.threads * (s.rounds ? s.rounds : 1);
    s.each = (uint32_t)((pairs + columns - 1) / columns);
    return s;
}

/* How many pairs a thread or warp that begins at `first` has in a round. */
static __device__ __forceinline__ uint32_t share_of(const shares *s, uint32_t first, uint32_t pairs)
{
    return first < pairs ? min(s->each, (pairs - first + s->threads - 1) / s->threads) : 0;
}

static __device__ __forceinline__ const uint4 *point_at(const trees *t, uint32_t place)
{
    return (place & MSM_FROM_POINTS ? t->points : t->nodes) +
           (size_t)(place & MSM_INDEX) * POINT_WORDS;
}

/* x, with the compiler not knowing: what is computed from it is computed again where it is needed,
 * not kept in registers over a loop. */
static __device__ __forceinline__ uint32_t opaque(uint32_t x)
{
    asm volatile("" : "+r"(x));
    return x;
}

/* Begins to bring the first `words` words of each lane's point into shared memory, a lane for each
 * word: that takes a sixth of the memory transactions of lanes that read their own points. */
static __device__ __forceinline__ void stage(uint4 *to, const trees *t, uint32_t at,
                                             const unsigned words)
{
    unsigned lane = opaque(threadIdx.x % WARP);
    CUZK_UNROLL
    for (unsigned r = 0; r < words; r++) {
        unsigned word = r * WARP + lane, p = word / words, q = word - p * words;
        uint32_t from = __shfl_sync(0xffffffffu, at, (int)p);
        __pipeline_memcpy_async(&to[p * STAGE_WORDS + q], point_at(t, from) + q, 16);
    }
}

static __device__ __forceinline__ void staged_arrived(void)
{
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
}

/* A warp's shared memory: two points, a partial product and a sum for each lane. */
struct staging {
    uint4 *a, *b, *prefix, *sum;
};

enum { WARP_SHARED = WARP * (3 * STAGE_WORDS + STAGE_FIELD) * 16 };

static __device__ __forceinline__ staging warp_staging(uint4 *shared)
{
    staging s;
    s.a = shared + threadIdx.x / WARP * (WARP_SHARED / 16);
    s.b = s.a + WARP * STAGE_WORDS;
    s.sum = s.b + WARP * STAGE_WORDS;
    s.prefix = s.sum + WARP * STAGE_WORDS;
    return s;
}

/* A warp's walk over its pairs: while one is worked on, the points of the next are on their way and
 * the places of the one after are being read. */
struct walk {
    const trees *t;
    const uint32_t *list;
    unsigned level;
    uint32_t pairs, at, listed; /* at: the pair whose list entry is `listed` */
    msm_place next;
};

static __device__ __forceinline__ void walk_on(walk *w, uint32_t step)
{
    w->next = msm_find_pair(w->t->values + w->t->first, w->level, w->listed);
    w->at += step; /* backwards too: modulo 2^32 */
    w->listed = w->list[min(w->at, w->pairs - 1)];
}

static __device__ __forceinline__ void walk_from(walk *w, uint32_t first, uint32_t step)
{
    w->at = first;
    w->listed = w->list[min(first, w->pairs - 1)];
    walk_on(w, step);
}

static __device__ __forceinline__ AFFINE far_point(const trees *t, uint32_t at)
{
    return load_affine(point_at(t, at), 1, at & MSM_NEGATIVE);
}

/* The coordinates x of a walk's next pair go into the first or second half of the staged points. */
static __device__ __forceinline__ void stage_x(const walk *w, const staging *s, uint32_t half)
{
    stage(s->a + half * FIELD_WORDS, w->t, w->next.a, FIELD_WORDS);
    stage(s->b + half * FIELD_WORDS, w->t, w->next.b, FIELD_WORDS);
}

/* The product of the divisors of a thread's `mine` pairs, of its warp's `count`; the partial
 * products go to prefix. Two pairs are under way while one is worked on, which is one product. */
static __device__ __forceinline__ FIELD multiply_divisors(walk w, const staging *s,
                                                          const shares *share, uint32_t first,
                                                          uint32_t count, uint32_t mine)
{
    unsigned lane = threadIdx.x % WARP;
    FIELD product = F_(_one)();
    msm_place now, soon;
    walk_from(&w, first, share->threads);
    stage_x(&w, s, 0);
    __pipeline_commit();
    now = w.next;
    walk_on(&w, share->threads);
    stage_x(&w, s, 1);
    __pipeline_commit();
    soon = w.next;
    walk_on(&w, share->threads);
    for (uint32_t k = 0; k < count; k++) {
        const uint4 *mine_a = s->a + lane * STAGE_WORDS + (k & 1) * FIELD_WORDS;
        FIELD xa, xb;
        __pipeline_wait_prior(1);
        __syncwarp();
        load_words(&xa, mine_a, 1, FIELD_WORDS);
        load_words(&xb, mine_a + WARP * STAGE_WORDS, 1, FIELD_WORDS);
        __syncwarp();
        msm_place next = w.next;
        if (k + 2 < count) {
            stage_x(&w, s, k & 1);
            walk_on(&w, share->threads);
        }
        __pipeline_commit();
        FIELD d = F_(_sub)(xb, xa);
        if (G_(_pair_is_rare)(&xa, &xb, &d)) {
            d = rare_divisor(point_at(w.t, now.a), point_at(w.t, now.b), now.a, now.b, 1);
        }
        if (k < mine) {
            uint4 *prefix = w.t->prefix + (size_t)k * FIELD_WORDS * share->threads +
                            blockIdx.x * MSM_BLOCK + threadIdx.x;
            store_words(prefix, share->threads, &product, FIELD_WORDS);
            product = k ? F_(_mul)(product, d) : d;
        }
        now = soon;
        soon = next;
    }
    __pipeline_wait_prior(0);
    return product;
}

static __device__ __forceinline__ FIELD load_y(const uint4 *point, uint32_t at)
{
    FIELD y;
    load_words(&y, point + FIELD_WORDS, 1, FIELD_WORDS);
    return at & MSM_NEGATIVE ? F_(_neg)(y) : y;
}

static __device__ __forceinline__ void stage_all(const walk *w, const staging *s,
                                                 const shares *share, uint32_t k)
{
    unsigned lane = threadIdx.x % WARP;
    stage(s->a, w->t, w->next.a, POINT_WORDS);
    stage(s->b, w->t, w->next.b, POINT_WORDS);
    const uint4 *prefix = w->t->prefix + (size_t)k * FIELD_WORDS * share->threads +
                          blockIdx.x * MSM_BLOCK + threadIdx.x;
    CUZK_UNROLL
    for (int q = 0; q < FIELD_WORDS; q++) {
        __pipeline_memcpy_async(&s->prefix[lane * STAGE_FIELD + q],
                                &prefix[(size_t)q * share->threads], 16);
    }
}

/* The slope's denominator: *i is the inverse of the product of a thread's divisors up to this one,
 * d, and is left without it; before is the product without it, for all but the first pair. */
static __device__ __forceinline__ FIELD take_inverse(FIELD *i, FIELD d, FIELD before, bool first)
{
    FIELD inverse = *i;
    if (!first) {
        inverse = F_(_mul)(*i, before);
        *i = F_(_mul)(*i, d);
    }
    return inverse;
}

/* The sums of the same pairs, last to first; running: the inverse of the product, in shared memory.
 * It stays there, and coordinates are read when they are needed, so that 128 registers do; the next
 * pair is sent for when one product is left. The formulas are G_(_pair_chord)'s. */
static __device__ __forceinline__ void add_walked(walk w, const staging *s, const shares *share,
                                                  uint32_t first, uint32_t count, uint32_t mine,
                                                  uint4 *running)
{
    unsigned lane = threadIdx.x % WARP;
    uint32_t back = 0u - share->threads;
    const uint4 *pa = s->a + lane * STAGE_WORDS, *pb = pa + WARP * STAGE_WORDS;
    walk_from(&w, first + (count - 1) * share->threads, back);
    stage_all(&w, s, share, count - 1);
    msm_place now = w.next;
    walk_on(&w, back);
    for (uint32_t k = count; k-- > 0;) {
        FIELD xa, xb, before, i, slope;
        staged_arrived();
        load_words(&xa, pa, 1, FIELD_WORDS);
        load_words(&xb, pb, 1, FIELD_WORDS);
        load_words(&before, s->prefix + lane * STAGE_FIELD, 1, FIELD_WORDS);
        load_words(&i, running, 1, FIELD_WORDS);
        FIELD d = F_(_sub)(xb, xa);
        bool rare = G_(_pair_is_rare)(&xa, &xb, &d);
        if (rare) {
            d = rare_divisor(pa, pb, now.a, now.b, 1);
        }
        slope = i;
        if (k < mine) { /* else a lane whose last pair is no pair */
            slope = take_inverse(&i, d, before, k == 0);
        }
        store_words(running, 1, &i, FIELD_WORDS);
        if (rare) {
            rare_sum(s->sum + lane * STAGE_WORDS, pa, pb, now.a, now.b, 1, slope);
        }
        slope = F_(_mul)(F_(_sub)(load_y(pb, now.b), load_y(pa, now.a)), slope);
        AFFINE sum;
        sum.x = F_(_sqr)(slope);
        load_words(&xa, pa, 1, FIELD_WORDS);
        load_words(&xb, pb, 1, FIELD_WORDS);
        sum.x = F_(_sub)(sum.x, F_(_add)(xa, xb));
        sum.y = F_(_sub)(xa, sum.x);
        FIELD ya = load_y(pa, now.a);
        __syncwarp();
        msm_place next = w.next;
        if (k > 0) {
            stage_all(&w, s, share, k - 1);
            walk_on(&w, back);
        }
        sum.y = F_(_sub)(F_(_mul)(slope, sum.y), ya);
        if (!rare) {
            store_words(s->sum + lane * STAGE_WORDS, 1, &sum, POINT_WORDS);
        }
        __syncwarp();
        uint32_t live = min((uint32_t)WARP, w.pairs - (first - lane + k * share->threads));
        unsigned from = opaque(lane);
        CUZK_UNROLL
        for (int r = 0; r < POINT_WORDS; r++) {
            unsigned word = r * WARP + from, p = word / POINT_WORDS, q = word - p * POINT_WORDS;
            uint32_t out = __shfl_sync(0xffffffffu, now.out, (int)p);
            if (p < live) {
                w.t->nodes[(size_t)out * POINT_WORDS + q] = s->sum[p * STAGE_WORDS + q];
            }
        }
        now = next;
    }
}

/* Adds the pairs of one level of all trees. */
static __device__ __forceinline__ void add_level(const trees *t, const unsigned level)
{
    extern __shared__ uint4 shared[];
    staging s = warp_staging(shared);
    FIELD *factor = (FIELD *)shared; /* at another time than the staging */
    uint4 *running = shared + MSM_BLOCK / WARP * (WARP_SHARED / 16) + threadIdx.x * STAGE_FIELD;
    unsigned lane = threadIdx.x % WARP;
    walk w;
    w.t = t;
    w.level = level;
    w.pairs = t->counts[level];
    w.list = t->lists + msm_list_start(t->chunk, level);
    shares share = share_out(w.pairs, t->depth);
    for (uint32_t round = 0; round < share.rounds; round++) {
        uint32_t base = round * share.each * share.threads + blockIdx.x * MSM_BLOCK;
        if (base >= w.pairs) {
            break; /* the whole block */
        }
        uint32_t first = base + threadIdx.x;
        uint32_t count = share_of(&share, first - lane, w.pairs); /* of the warp */
        uint32_t mine = share_of(&share, first, w.pairs);
        FIELD product = F_(_one)();
        if (count) {
            product = multiply_divisors(w, &s, &share, first, count, mine);
        }
        __syncthreads();
        product = invert_block(product, factor, factor + MSM_BLOCK);
        store_words(running, 1, &product, FIELD_WORDS);
        __syncthreads();
        if (count) {
            add_walked(w, &s, &share, first, count, mine, running);
        }
        __syncthreads();
    }
}

static __global__ __launch_bounds__(MSM_BLOCK, BLOCKS_PER_SM) void add_leaves(trees t)
{
    add_level(&t, 0);
}

static __global__ __launch_bounds__(MSM_BLOCK, BLOCKS_PER_SM) void add_nodes(trees t,
                                                                             unsigned level)
{
    add_level(&t, level);
}

struct fold_job {
    uint4 *planes; /* point i + half is added to point i, in rows of `row` points */
    size_t stride;
    uint32_t pairs, half, row; /* half: a power of two */
    uint4 *prefix;
    uint32_t depth;
};

static __device__ __forceinline__ uint32_t fold_at(const fold_job *job, uint32_t j)
{
    return j / job->half * job->row + (j & (job->half - 1));
}

static __global__ __launch_bounds__(MSM_BLOCK, BLOCKS_PER_SM) void add_folds(fold_job job)
{
    extern __shared__ uint4 shared[];
    FIELD *factor = (FIELD *)shared;
    shares share = share_out(job.pairs, job.depth);
    for (uint32_t round = 0; round < share.rounds; round++) {
        uint32_t base = round * share.each * share.threads + blockIdx.x * MSM_BLOCK;
        if (base >= job.pairs) {
            break; /* the whole block */
        }
        uint32_t first = base + threadIdx.x, mine = share_of(&share, first, job.pairs);
        uint4 *prefix = job.prefix + blockIdx.x * MSM_BLOCK + threadIdx.x;
        size_t step = (size_t)FIELD_WORDS * share.threads;
        FIELD product = F_(_one)();
        for (uint32_t k = 0; k < mine; k++) {
            const uint4 *at = job.planes + fold_at(&job, first + k * share.threads);
            FIELD xa, xb;
            load_words(&xa, at, job.stride, FIELD_WORDS);
            load_words(&xb, at + job.half, job.stride, FIELD_WORDS);
            FIELD d = F_(_sub)(xb, xa);
            if (G_(_pair_is_rare)(&xa, &xb, &d)) {
                d = rare_divisor(at, at + job.half, 0, 0, job.stride);
            }
            store_words(prefix + k * step, share.threads, &product, FIELD_WORDS);
            product = k ? F_(_mul)(product, d) : d;
        }
        FIELD i = invert_block(product, factor, factor + MSM_BLOCK);
        for (uint32_t k = mine; k-- > 0;) {
            uint4 *at = job.planes + fold_at(&job, first + k * share.threads);
            FIELD before;
            AFFINE a = load_affine(at, job.stride, false);
            AFFINE b = load_affine(at + job.half, job.stride, false);
            load_words(&before, prefix + k * step, share.threads, FIELD_WORDS);
            FIELD d = F_(_sub)(b.x, a.x);
            bool rare = G_(_pair_is_rare)(&a.x, &b.x, &d);
            if (rare) {
                d = rare_divisor(at, at + job.half, 0, 0, job.stride);
            }
            FIELD inverse = take_inverse(&i, d, before, k == 0);
            if (rare) {
                rare_sum(at, at, at + job.half, 0, 0, job.stride, inverse);
            } else {
                AFFINE sum = G_(_pair_chord)(a.x, a.y, b.x, F_(_mul)(F_(_sub)(b.y, a.y), inverse));
                store_words(at, job.stride, &sum, POINT_WORDS);
            }
        }
        __syncthreads();
    }
}

/* Shared memory of a block that adds pairs. */
enum {
    FOLD_SHARED = 2 * MSM_BLOCK * sizeof(FIELD),
    TREE_SHARED = MSM_BLOCK / WARP * WARP_SHARED + MSM_BLOCK * STAGE_FIELD * 16,
};
