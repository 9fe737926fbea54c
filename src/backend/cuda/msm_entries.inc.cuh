/*
 * Kernels of the sum over one group, for msm.cu and msm_g2.cu, which define GROUP (dg1,
 * dg2), FIELD (dfp, dfp2), PARTS, SPLIT and BLOCKS_PER_SM.
 *
 * Points in device memory are read in words of 16 bytes. The key's points and the nodes of trees
 * are as the host has them, a point in POINT_WORDS consecutive words; buckets lie in planes, word q
 * of point i at q * stride + i, so that neighbouring threads touch neighbouring words.
 */

#define G_(name) DG_PASTE(GROUP, name)
#define F_(name) DG_PASTE(FIELD, name)
#define AFFINE   G_(_affine)

enum {
    FIELD_WORDS = sizeof(FIELD) / 16,
    POINT_WORDS = sizeof(AFFINE) / 16,
    STAGE_WORDS = POINT_WORDS + 1, /* odd: eight lanes' words lie in different banks */
    STAGE_FIELD = FIELD_WORDS | 1,
    WARP = 32,
    LIST_BLOCK = 256,
    LIST_EACH = 8,
};

/* The trees of one chunk of sorted entries. */
struct trees {
    const uint32_t *keys, *values, *starts;
    const uint4 *points;
    uint4 *nodes;
    uint32_t *lists;  /* 1.5 chunk: the pairs of each level */
    uint32_t *counts; /* MSM_LEVELS */
    uint32_t first, end, chunk;
    uint32_t buckets;
    uint4 *prefix;
    uint32_t depth;
};

static __device__ __forceinline__ void load_words(void *to, const uint4 *from, size_t stride,
                                                  int words)
{
    uint32_t *l = (uint32_t *)to;
    CUZK_UNROLL
    for (int q = 0; q < words; q++) {
        uint4 w = from[q * stride];
        l[4 * q] = w.x;
        l[4 * q + 1] = w.y;
        l[4 * q + 2] = w.z;
        l[4 * q + 3] = w.w;
    }
}

static __device__ __forceinline__ void store_words(uint4 *to, size_t stride, const void *from,
                                                   int words)
{
    const uint32_t *l = (const uint32_t *)from;
    CUZK_UNROLL
    for (int q = 0; q < words; q++) {
        to[q * stride] = make_uint4(l[4 * q], l[4 * q + 1], l[4 * q + 2], l[4 * q + 3]);
    }
}

static __device__ __forceinline__ AFFINE load_affine(const uint4 *from, size_t stride,
                                                     bool negative)
{
    AFFINE a;
    load_words(&a, from, stride, POINT_WORDS);
    return G_(_affine_neg_if)(a, negative);
}

struct digit_job {
    const uint4 *scalars;
    const uint32_t *which; /* each scalar's point, or NULL for all in order */
    uint32_t n;
    int montgomery;
    unsigned width, windows, batch, first_window;
    uint32_t buckets;
    uint32_t *keys, *values;
};

static __global__ void make_entries(digit_job job)
{
    uint32_t step = gridDim.x * blockDim.x;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < job.n; i += step) {
        dfr k;
        load_words(&k, job.scalars + 2 * (size_t)i, 1, 2);
        if (job.montgomery) {
            k = dfr_to_integer(k);
        }
        uint64_t limbs[4];
        for (int j = 0; j < 4; j++) {
            limbs[j] = (uint64_t)k.l[2 * j + 1] << 32 | k.l[2 * j];
        }
        uint32_t point = job.which ? job.which[i] : i;
        msm_part parts[PARTS];
        SPLIT(parts, limbs);
        for (unsigned w = 0; w < job.batch; w++) {
            unsigned lo = msm_window_start(PARTS, job.windows, job.first_window + w);
            unsigned hi = msm_window_start(PARTS, job.windows, job.first_window + w + 1);
            CUZK_UNROLL
            for (unsigned part = 0; part < PARTS; part++) {
                uint32_t negative;
                uint32_t d = msm_part_digit(&parts[part], lo, hi - lo, &negative);
                uint32_t set = w * PARTS + part;
                size_t at = (size_t)set * job.n + i;
                job.keys[at] = d ? (set << (job.width - 1)) + d - 1 : job.buckets;
                job.values[at] = point << 1 | negative;
            }
        }
    }
}

/* starts[b] = how many keys are below b, b <= buckets. */
static __global__ void find_starts(const uint32_t *keys, uint32_t n, uint32_t *starts,
                                   uint32_t buckets)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > buckets) {
        return;
    }
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (keys[mid] < b) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    starts[b] = lo;
}

/* The lists of a chunk's levels (msm_tree.h), each nearly in the order of its entries. */
static __global__ void list_pairs(trees t)
{
    const int warps = LIST_BLOCK / WARP;
    __shared__ uint32_t count[warps][MSM_LEVELS], start[MSM_LEVELS];
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    uint32_t end = min(t.end, t.starts[t.buckets]);
    uint32_t tile = t.first + blockIdx.x * (LIST_BLOCK * LIST_EACH);
    uint32_t entry[LIST_EACH], place[LIST_EACH];
    count[warp][lane] = 0;
    if (warp == 0) {
        start[lane] = msm_list_start(t.chunk, lane);
    }
    __syncwarp();
    CUZK_UNROLL
    for (int k = 0; k < LIST_EACH; k++) {
        uint32_t i = tile + warp * (WARP * LIST_EACH) + k * WARP + lane;
        unsigned level = MSM_LEVELS;
        if (i < end) {
            uint32_t key = t.keys[i], s = max(t.starts[key], t.first);
            uint32_t local = i - s;
            if (local) {
                level = msm_tree_level(local);
                bool lone = level > 0 && i + 1 == min(t.starts[key + 1], end);
                entry[k] = (i - t.first) | (lone ? MSM_LONE : 0);
            }
        }
        unsigned same = __match_any_sync(0xffffffffu, level);
        unsigned rank = __popc(same & ((1u << lane) - 1));
        uint32_t before = level < MSM_LEVELS ? count[warp][level] : 0;
        __syncwarp();
        if (level < MSM_LEVELS && rank == 0) {
            count[warp][level] = before + __popc(same);
        }
        __syncwarp();
        place[k] = level < MSM_LEVELS ? (level << 16 | (before + rank)) : 0xffffffffu;
    }
    __syncthreads();
    if (warp == 0) { /* from counts to places in the lists */
        uint32_t sum = 0;
        for (int w = 0; w < warps; w++) {
            uint32_t c = count[w][lane];
            count[w][lane] = sum;
            sum += c;
        }
        uint32_t base = sum ? atomicAdd(&t.counts[lane], sum) : 0;
        for (int w = 0; w < warps; w++) {
            count[w][lane] += base + start[lane];
        }
    }
    __syncthreads();
    CUZK_UNROLL
    for (int k = 0; k < LIST_EACH; k++) {
        if (place[k] != 0xffffffffu) {
            t.lists[count[warp][place[k] >> 16] + (place[k] & 0xffff)] = entry[k];
        }
    }
}

/* ---- entries: the points whose bit is set, in MSM_ONES_BUCKETS buckets of nearly the same size
 * ----
 */

/* Adds the numbers of a warp's bits to the values, nearly in order; *count was 0. */
static __global__ void list_ones(const uint32_t *bits, uint32_t n, uint32_t *values,
                                 uint32_t *count)
{
    uint32_t lane = threadIdx.x % WARP, words = (n + 31) / 32;
    uint32_t word = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t mine = word < words ? bits[word] : 0;
    if (word == words - 1 && n % 32) {
        mine &= (1u << n % 32) - 1;
    }
    uint32_t before = __popc(mine); /* in the words up to this lane's */
    for (int d = 1; d < WARP; d *= 2) {
        uint32_t t = __shfl_up_sync(0xffffffffu, before, d);
        before += lane >= (uint32_t)d ? t : 0;
    }
    uint32_t all = __shfl_sync(0xffffffffu, before, WARP - 1), base = 0;
    if (lane == 0 && all) {
        base = atomicAdd(count, all);
    }
    base = __shfl_sync(0xffffffffu, base, 0);
    before -= __popc(mine);
    for (int l = 0; l < WARP; l++) { /* a lane for each bit of lane l's word */
        uint32_t w = __shfl_sync(0xffffffffu, mine, l);
        uint32_t at = base + __shfl_sync(0xffffffffu, before, l) + __popc(w & ((1u << lane) - 1));
        if (w >> lane & 1) {
            values[at] = ((word - lane + l) * 32 + lane) << 1;
        }
    }
}

static __global__ void share_ones(const uint32_t *count, uint32_t *keys, uint32_t *starts)
{
    uint32_t n = *count, id = blockIdx.x * blockDim.x + threadIdx.x;
    for (uint32_t i = id; i < n; i += gridDim.x * blockDim.x) {
        keys[i] = msm_ones_bucket(i, n);
    }
    if (id <= MSM_ONES_BUCKETS) {
        starts[id] = msm_ones_start(id, n);
    }
}
