#include "backend/cuda/msm_plan.h"

#include "backend/cuda/memory.h"
#include "backend/cuda/msm_tree.h"

#include <string.h>

enum {
    LEAST_CHUNK_LOG = 16,
    USUAL_CHUNK_LOG = 22,
    MOST_CHUNK_LOG = 27,
    BATCH_LOG = 26,
    MOST_ENTRIES_LOG = 31,
    SWEEP_MOST_LOG = 16
};

static unsigned ceil_log2(uint64_t n)
{
    unsigned log = 0;
    while (log < 63 && ((uint64_t)1 << log) < n) {
        log++;
    }
    return log;
}

static unsigned window_count(unsigned parts, unsigned width)
{
    return (256 / parts + width - 1) / width;
}

/* Widths by ceil(log2 n), as measured on one H200. */
static unsigned best_width(msm_group g, unsigned log_n)
{
    static const uint8_t g1[] = {4,  4,  4,  5,  5,  6,  6,  7,  7,  8,  8,  8,  8, 9,
                                 10, 10, 13, 13, 16, 16, 16, 16, 19, 19, 22, 22, 22};
    static const uint8_t g2[] = {4,  4,  4,  5,  5,  6,  6,  7,  7,  8,  8,  8,  8, 8,
                                 10, 10, 13, 13, 16, 16, 16, 16, 16, 16, 16, 16, 22};
    const uint8_t *table = g == MSM_G1 ? g1 : g2;
    unsigned last = g == MSM_G1 ? sizeof g1 - 1 : sizeof g2 - 1;
    return table[log_n < last ? log_n : last];
}

static void lay_out(msm_plan *p)
{
    uint64_t field = p->group == MSM_G1 ? 48 : 96;
    uint64_t at = 0, entries = p->entries, buckets = p->buckets;
    msm_layout *l = &p->at;
    l->sums = cuzk_cuda_place(&at, p->windows * 4 * field);
    l->terms = cuzk_cuda_place(&at, p->windows * 32 * 4 * field);
    l->carries = cuzk_cuda_place(&at, p->chunks * 2 * field);
    l->carry_keys = cuzk_cuda_place(&at, p->chunks * sizeof(uint32_t));
    l->counts = cuzk_cuda_place(&at, 32 * sizeof(uint32_t));
    l->keys[0] = cuzk_cuda_place(&at, 8 * entries);
    l->keys[1] = cuzk_cuda_place(&at, 8 * entries);
    l->starts = cuzk_cuda_place(&at, 4 * (buckets + 1));
    l->nodes = cuzk_cuda_place(&at, (p->chunk / 2 + 1) * 2 * field);
    l->buckets = cuzk_cuda_place(&at, buckets * 2 * field);
    l->prefix = cuzk_cuda_place(&at, (uint64_t)p->limits.threads * p->limits.depth * field);
    uint64_t sweep = (uint64_t)p->windows * p->sweep_threads * 8 * field;
    l->sweeps[0] = cuzk_cuda_place(&at, sweep);
    l->sweeps[1] = cuzk_cuda_place(&at, sweep);
    l->sort_bytes = entries / 4 + ((uint64_t)4 << 20);
    l->sort = cuzk_cuda_place(&at, l->sort_bytes);
    l->total = at;
}

/* Threads that sum the buckets of one window: over a batch enough to fill a device when there are
 * many buckets, else at least eight buckets each, so that few sums are left. */
static uint32_t sweep_threads(const msm_plan *p)
{
    unsigned batch_log = ceil_log2(p->batch), log = batch_log + p->width - 1 - 3;
    log = log > SWEEP_MOST_LOG ? SWEEP_MOST_LOG : log;
    log = log > batch_log + 2 ? log - batch_log : 2;
    return (uint32_t)1 << (log > p->width - 1 ? p->width - 1 : log);
}

/* With chunks of at most 2^log entries; false when that takes more than so many bytes. */
static bool fits(msm_plan *p, unsigned log, uint64_t bytes)
{
    p->chunk = p->entries < (uint32_t)1 << log ? p->entries : (uint32_t)1 << log;
    p->chunks = (p->entries + p->chunk - 1) / p->chunk;
    p->levels = ceil_log2(p->chunk);
    lay_out(p);
    return p->chunks <= MSM_MAX_CHUNKS && p->at.total <= bytes;
}

/* The largest chunks of 2^most down to 2^least entries that fit. */
static bool fits_between(msm_plan *p, unsigned most, unsigned least, uint64_t bytes)
{
    for (unsigned log = most; log >= least; log--) {
        if (fits(p, log, bytes)) {
            return true;
        }
    }
    return false;
}

static cuzk_code too_few(msm_plan *p, uint64_t bytes, cuzk_err *err)
{
    for (unsigned log = LEAST_CHUNK_LOG; !fits(p, log, UINT64_MAX);) {
        log++; /* more chunks than there may be */
    }
    return CUZK_FAIL(err, CUZK_E_MEMORY,
                     "a sum of %u points takes %llu bytes of scratch memory: %llu are there", p->n,
                     (unsigned long long)p->at.total, (unsigned long long)bytes);
}

/* Windows sorted together, so that every launch has work: as evenly as can be, 2^26 entries at most
 * unless one window has more. */
static void set_batch(msm_plan *p, unsigned most)
{
    unsigned batches = (p->windows + most - 1) / most;
    p->batch = (p->windows + batches - 1) / batches;
    p->entries = p->n * p->parts * p->batch;
    p->buckets = (p->batch * p->parts) << (p->width - 1);
    p->sweep_threads = sweep_threads(p);
}

static cuzk_code check(uint64_t n, unsigned parts, msm_limits limits, cuzk_err *err)
{
    if (n < 1 || n > ((uint64_t)1 << MOST_ENTRIES_LOG) / parts - 1) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%llu points: expected 1 to %llu", (unsigned long long)n,
                         ((unsigned long long)1 << MOST_ENTRIES_LOG) / parts - 1);
    }
    if (limits.depth < 1 || limits.threads < MSM_BLOCK || limits.threads % MSM_BLOCK) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%u threads with %u pairs each", limits.threads,
                         limits.depth);
    }
    return CUZK_OK;
}

cuzk_code cuzk_cuda_msm_plan(msm_plan *ret, msm_group group, uint64_t n, unsigned width,
                             msm_limits limits, uint64_t bytes, cuzk_err *err)
{
    msm_plan p;
    memset(&p, 0, sizeof p);
    p.group = group;
    p.parts = group == MSM_G1 ? 2 : 4;
    CUZK_TRY(check(n, p.parts, limits, err));
    p.width = width ? width : best_width(group, ceil_log2(n));
    if (p.width < MSM_MIN_WIDTH || p.width > MSM_MAX_WIDTH) {
        return CUZK_FAIL(err, CUZK_E_ARG, "windows of %u bits: expected %d to %d", p.width,
                         MSM_MIN_WIDTH, MSM_MAX_WIDTH);
    }
    p.n = (uint32_t)n;
    p.windows = window_count(p.parts, p.width);
    p.width = (256 / p.parts + p.windows - 1) / p.windows; /* the widest */
    p.limits = limits;
    uint64_t together = ((uint64_t)1 << BATCH_LOG) / (n * p.parts);
    set_batch(&p, together < 1 ? 1 : together < p.windows ? (unsigned)together : p.windows);
    while (!fits_between(&p, MOST_CHUNK_LOG, USUAL_CHUNK_LOG, bytes)) {
        if (p.batch > 1) {
            set_batch(&p, p.batch - 1);
        } else if (!fits_between(&p, USUAL_CHUNK_LOG - 1, LEAST_CHUNK_LOG, bytes)) {
            return too_few(&p, bytes, err);
        } else {
            break;
        }
    }
    *ret = p;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_ones_plan(msm_plan *ret, msm_group group, uint64_t n, msm_limits limits,
                              uint64_t bytes, cuzk_err *err)
{
    msm_plan p;
    memset(&p, 0, sizeof p);
    CUZK_TRY(check(n, 2, limits, err)); /* a point's index has 30 bits */
    p.group = group;
    p.parts = p.windows = p.batch = 1;
    p.n = p.entries = (uint32_t)n;
    p.buckets = MSM_ONES_BUCKETS;
    p.limits = limits;
    if (!fits_between(&p, MOST_CHUNK_LOG, LEAST_CHUNK_LOG, bytes)) {
        return too_few(&p, bytes, err);
    }
    *ret = p;
    return CUZK_OK;
}
