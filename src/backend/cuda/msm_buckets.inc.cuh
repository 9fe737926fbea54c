/* From trees to buckets, and from buckets to the sums of windows.
 */
#include "backend/cuda/msm_pairs.inc.cuh"

struct bucket_job {
    trees t;
    uint4 *points;       /* planes of t.buckets points */
    uint4 *carries;      /* this chunk's: a point, */
    uint32_t *carry_key; /* and its bucket, or ~0 */
    unsigned width;
};

/* Puts each bucket's sum in this chunk in its place, mapped to its part; the sum of a bucket that
 * began in an earlier chunk is the chunk's carry. */
static __global__ void collect_buckets(bucket_job job)
{
    const trees *t = &job.t;
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= t->buckets) {
        return;
    }
    uint32_t s = t->starts[b], e = t->starts[b + 1];
    AFFINE sum = G_(_affine_inf)();
    if (s == e && t->first == 0) {
        store_words(job.points + b, t->buckets, &sum, POINT_WORDS);
    }
    uint32_t from = max(s, t->first), to = min(e, t->end);
    if (from >= to) {
        return;
    }
    sum = far_point(t, msm_bucket_place(t->values + t->first, from - t->first, to - t->first));
    unsigned part = job.width ? (b >> (job.width - 1)) % PARTS : 0; /* 0: without weights */
    for (unsigned i = 0; i < part; i++) {
        sum = G_(_affine_endo)(sum);
    }
    if (s < t->first) {
        store_words(job.carries, 1, &sum, POINT_WORDS);
        *job.carry_key = b;
    } else {
        store_words(job.points + b, t->buckets, &sum, POINT_WORDS);
    }
}

/* The group law on points that are in local memory: three of them don't fit in registers. */
static __device__ __noinline__ void add_to(GROUP *a, const GROUP *b) { *a = G_(_add)(a, b); }

static __device__ __noinline__ void add_affine_to(GROUP *a, const AFFINE *b)
{
    *a = G_(_add_affine)(a, b);
}

static __device__ __noinline__ void double_it(GROUP *a) { *a = G_(_dbl)(a); }

/* Adds the carries to their buckets; a bucket may have several, one after the other. */
static __global__ void add_carries(bucket_job job, unsigned chunks)
{
    unsigned c = threadIdx.x;
    if (c >= chunks) {
        return;
    }
    uint32_t b = job.carry_key[c];
    if (b == 0xffffffffu || (c > 0 && job.carry_key[c - 1] == b)) {
        return;
    }
    AFFINE a = load_affine(job.points + b, job.t.buckets, false);
    GROUP sum = G_(_from_affine)(&a);
    for (; c < chunks && job.carry_key[c] == b; c++) {
        a = load_affine(job.carries + c * POINT_WORDS, 1, false);
        add_affine_to(&sum, &a);
    }
    a = G_(_to_affine)(&sum);
    store_words(job.points + b, job.t.buckets, &a, POINT_WORDS);
}

/* ---- from buckets to the sum of a window (msm_tree.h) ---- */

struct sweep {
    GROUP a, v;
};

struct sweep_job {
    const uint4 *buckets; /* planes, first the part 0 of each window */
    size_t stride;
    uint32_t row; /* buckets of a window over all parts */
    sweep *from, *to;
    uint32_t threads, steps; /* T' and L */
    unsigned windows;
};

static __global__ __launch_bounds__(MSM_BLOCK) void sweep_buckets(sweep_job job)
{
    uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t w = id / job.threads, i = id % job.threads;
    if (w >= job.windows) {
        return;
    }
    const uint4 *at = job.buckets + (size_t)w * job.row + i;
    GROUP a = G_(_inf)(), v = G_(_inf)();
    for (uint32_t step = job.steps; step-- > 0;) {
        AFFINE p = load_affine(at + (size_t)step * job.threads, job.stride, false);
        add_affine_to(&a, &p);
        if (step) {
            add_to(&v, &a);
        }
    }
    job.to[id].a = a;
    job.to[id].v = v;
}

/* One step of a thread from T = steps * threads to T' = threads; steps a power of two. */
static __device__ void sweep_step(sweep *to, const sweep *from, uint32_t threads, uint32_t steps)
{
    GROUP a = from[(size_t)(steps - 1) * threads].a, v = G_(_inf)();
    GROUP low = from[(size_t)(steps - 1) * threads].v;
    for (uint32_t step = steps - 1; step-- > 0;) {
        add_to(&v, &a);
        add_to(&a, &from[(size_t)step * threads].a);
        add_to(&low, &from[(size_t)step * threads].v);
    }
    for (uint32_t l = steps; l > 1; l >>= 1) {
        double_it(&low);
    }
    add_to(&v, &low);
    to->a = a;
    to->v = v;
}

static __global__ __launch_bounds__(MSM_BLOCK) void sweep_again(sweep_job job)
{
    uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t w = id / job.threads, i = id % job.threads;
    if (w < job.windows) {
        sweep_step(&job.to[id], &job.from[(size_t)w * job.threads * job.steps + i], job.threads,
                   job.steps);
    }
}

struct last_job {
    const sweep *from;
    uint32_t threads; /* T */
    unsigned bits;    /* its logarithm */
    GROUP *terms;     /* LAST_TERMS for each window */
    GROUP *sums;      /* the result: of each window, coordinates in [0, p) */
};

enum { LAST_TERMS = 32 /* of a window, at most */ };

/* The sum of a block's points, in points[0]. */
static __device__ __forceinline__ void sum_block(GROUP *points, unsigned count)
{
    for (unsigned half = count / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            add_to(&points[threadIdx.x], &points[threadIdx.x + half]);
        }
    }
}

static __global__ __launch_bounds__(MSM_BLOCK) void sum_terms(last_job job)
{
    extern __shared__ uint4 shared[];
    GROUP *points = (GROUP *)shared;
    unsigned term = blockIdx.x, window = blockIdx.y, doublings = 0;
    const sweep *from = job.from + (size_t)window * job.threads;
    GROUP sum = G_(_inf)();
    for (uint32_t i = threadIdx.x; i < job.threads / 4; i += MSM_BLOCK) {
        bool of_v;
        uint32_t at = msm_term_at(job.bits, term, i, &of_v, &doublings);
        add_to(&sum, of_v ? &from[at].v : &from[at].a);
    }
    points[threadIdx.x] = sum;
    sum_block(points, MSM_BLOCK);
    if (threadIdx.x == 0) {
        sum = points[0];
        for (; doublings > 0; doublings--) {
            double_it(&sum);
        }
        job.terms[window * LAST_TERMS + term] = sum;
    }
}

static __device__ __forceinline__ GROUP reduced(const GROUP *a)
{
    GROUP r;
    r.x = F_(_reduce)(a->x);
    r.y = F_(_reduce)(a->y);
    r.zz = F_(_reduce)(a->zz);
    r.zzz = F_(_reduce)(a->zzz);
    return r;
}

static __global__ __launch_bounds__(LAST_TERMS) void sum_windows(last_job job)
{
    extern __shared__ uint4 shared[];
    GROUP *points = (GROUP *)shared;
    points[threadIdx.x] = G_(_inf)();
    if (threadIdx.x < msm_terms(job.bits)) {
        points[threadIdx.x] = job.terms[blockIdx.x * LAST_TERMS + threadIdx.x];
    }
    sum_block(points, LAST_TERMS);
    if (threadIdx.x == 0) {
        job.sums[blockIdx.x] = reduced(&points[0]);
    }
}

/* The sum of MSM_ONES_BUCKETS buckets, by one block. */
static __global__ __launch_bounds__(MSM_BLOCK) void sum_ones(const uint4 *buckets, GROUP *ret)
{
    extern __shared__ uint4 shared[];
    GROUP *points = (GROUP *)shared;
    GROUP sum = G_(_inf)();
    for (unsigned i = threadIdx.x; i < MSM_ONES_BUCKETS; i += MSM_BLOCK) {
        AFFINE a = load_affine(buckets + i, MSM_ONES_BUCKETS, false);
        add_affine_to(&sum, &a);
    }
    points[threadIdx.x] = sum;
    sum_block(points, MSM_BLOCK);
    if (threadIdx.x == 0) {
        *ret = reduced(&points[0]);
    }
}
