/* What is launched for a sum. */
#include "backend/cuda/msm_buckets.inc.cuh"

static cuzk_code launched(cuzk_err *err)
{
    CUZK_CUDA_TRY(err, cudaGetLastError());
    return CUZK_OK;
}

static cuzk_code device_limits(msm_limits *ret, cuzk_err *err)
{
    int device, sms;
    CUZK_CUDA_TRY(err, cudaGetDevice(&device));
    CUZK_CUDA_TRY(err, cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    ret->threads = (uint32_t)sms * BLOCKS_PER_SM * MSM_BLOCK;
    ret->depth = 128;
    return CUZK_OK;
}

static unsigned blocks_for(uint64_t n, unsigned block)
{
    return (unsigned)((n + block - 1) / block);
}

static unsigned bits_of(uint32_t n)
{
    unsigned bits = 0;
    for (; n; n >>= 1) {
        bits++;
    }
    return bits;
}

/* Entries of the batch of windows from `first` on, sorted, and where each bucket's begin. */
static cuzk_code sort_entries(const msm_plan *p, const uint32_t *which, const void *scalars,
                              msm_scalars form, unsigned first, unsigned batch, uint8_t *scratch,
                              trees *t, cudaStream_t stream, cuzk_err *err)
{
    uint32_t entries = p->n * PARTS * batch;
    uint32_t *keys[2], *values[2];
    for (int i = 0; i < 2; i++) {
        keys[i] = (uint32_t *)(scratch + p->at.keys[i]);
        values[i] = keys[i] + p->entries;
    }
    t->buckets = batch * PARTS << (p->width - 1);
    digit_job job = {(const uint4 *)scalars,
                     which,
                     p->n,
                     form == MSM_MONTGOMERY,
                     p->width,
                     p->windows,
                     batch,
                     first,
                     t->buckets,
                     keys[0],
                     values[0]};
    make_entries<<<min(blocks_for(p->n, 256), 4096u), 256, 0, stream>>>(job);
    int where;
    CUZK_TRY(cuzk_cuda_sort_pairs(&where, keys, values, entries, bits_of(t->buckets),
                                  scratch + p->at.sort, p->at.sort_bytes, stream, err));
    uint32_t *starts = (uint32_t *)(scratch + p->at.starts);
    find_starts<<<blocks_for((uint64_t)t->buckets + 1, 256), 256, 0, stream>>>(keys[where], entries,
                                                                               starts, t->buckets);
    t->keys = keys[where];
    t->values = values[where];
    t->starts = starts;
    t->lists = keys[1 - where];
    return launched(err);
}

/* The trees of one chunk, level by level, then its part of the buckets. */
static cuzk_code add_chunk(const msm_plan *p, bucket_job *job, uint8_t *scratch, unsigned chunk,
                           cudaStream_t stream, cuzk_err *err)
{
    trees *t = &job->t;
    job->carries = (uint4 *)(scratch + p->at.carries) + (size_t)chunk * POINT_WORDS;
    CUZK_CUDA_TRY(err, cudaMemsetAsync(t->counts, 0, MSM_LEVELS * sizeof *t->counts, stream));
    list_pairs<<<blocks_for(t->end - t->first, LIST_BLOCK * LIST_EACH), LIST_BLOCK, 0, stream>>>(
        *t);
    unsigned blocks = p->limits.threads / MSM_BLOCK;
    add_leaves<<<blocks, MSM_BLOCK, TREE_SHARED, stream>>>(*t);
    for (unsigned level = 1; level < p->levels; level++) {
        add_nodes<<<blocks, MSM_BLOCK, TREE_SHARED, stream>>>(*t, level);
    }
    collect_buckets<<<blocks_for(t->buckets, MSM_BLOCK), MSM_BLOCK, 0, stream>>>(*job);
    return launched(err);
}

/* Adds the parts of each window of a batch and sweeps its buckets once. */
static cuzk_code sweep_batch(const msm_plan *p, const bucket_job *buckets, uint8_t *scratch,
                             unsigned first, unsigned batch, cudaStream_t stream, cuzk_err *err)
{
    uint32_t set = 1u << (p->width - 1);
    fold_job fold;
    fold.planes = buckets->points;
    fold.stride = buckets->t.buckets;
    fold.row = set * PARTS;
    fold.prefix = buckets->t.prefix;
    fold.depth = buckets->t.depth;
    for (unsigned parts = PARTS / 2; parts > 0; parts /= 2) {
        fold.half = set * parts;
        fold.pairs = batch * fold.half;
        add_folds<<<p->limits.threads / MSM_BLOCK, MSM_BLOCK, FOLD_SHARED, stream>>>(fold);
    }
    sweep_job job;
    job.buckets = buckets->points;
    job.stride = buckets->t.buckets;
    job.row = set * PARTS;
    job.windows = batch;
    job.threads = p->sweep_threads;
    job.steps = set / job.threads;
    job.from = NULL;
    job.to = (sweep *)(scratch + p->at.sweeps[0]) + (size_t)first * job.threads;
    sweep_buckets<<<blocks_for(batch * job.threads, MSM_BLOCK), MSM_BLOCK, 0, stream>>>(job);
    return launched(err);
}

/* From the sweeps of all windows to their sums. */
static cuzk_code finish_windows(const msm_plan *p, uint8_t *scratch, cudaStream_t stream,
                                cuzk_err *err)
{
    sweep_job job;
    memset(&job, 0, sizeof job);
    job.windows = p->windows;
    job.threads = p->sweep_threads;
    job.from = (sweep *)(scratch + p->at.sweeps[0]);
    job.to = (sweep *)(scratch + p->at.sweeps[1]);
    while (job.threads > MSM_LAST_SUMS) {
        job.steps = job.threads >= 8 * MSM_LAST_SUMS ? 8 : job.threads / MSM_LAST_SUMS;
        job.threads /= job.steps;
        sweep_again<<<blocks_for((uint64_t)p->windows * job.threads, MSM_BLOCK), MSM_BLOCK, 0,
                      stream>>>(job);
        sweep *swap = job.from;
        job.from = job.to;
        job.to = swap;
    }
    last_job last;
    last.from = job.from;
    last.threads = job.threads;
    last.bits = bits_of(job.threads) - 1;
    last.terms = (GROUP *)(scratch + p->at.terms);
    last.sums = (GROUP *)(scratch + p->at.sums);
    sum_terms<<<dim3(msm_terms(last.bits), p->windows), MSM_BLOCK, MSM_BLOCK * sizeof(GROUP),
                stream>>>(last);
    sum_windows<<<p->windows, LAST_TERMS, LAST_TERMS * sizeof(GROUP), stream>>>(last);
    return launched(err);
}

static cuzk_code allow_shared(cuzk_err *err)
{
    const cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    CUZK_CUDA_TRY(err, cudaFuncSetAttribute(add_leaves, most, TREE_SHARED));
    CUZK_CUDA_TRY(err, cudaFuncSetAttribute(add_nodes, most, TREE_SHARED));
    CUZK_CUDA_TRY(err, cudaFuncSetAttribute(add_folds, most, FOLD_SHARED));
    CUZK_CUDA_TRY(err, cudaFuncSetAttribute(sum_terms, most, MSM_BLOCK * (int)sizeof(GROUP)));
    CUZK_CUDA_TRY(err, cudaFuncSetAttribute(sum_ones, most, MSM_BLOCK * (int)sizeof(GROUP)));
    return CUZK_OK;
}

/* What stays the same over a sum's batches. */
static bucket_job start_job(const msm_plan *p, const void *points, uint8_t *scratch)
{
    bucket_job job;
    memset(&job, 0, sizeof job);
    trees *t = &job.t;
    t->points = (const uint4 *)points;
    t->nodes = (uint4 *)(scratch + p->at.nodes);
    t->prefix = (uint4 *)(scratch + p->at.prefix);
    t->counts = (uint32_t *)(scratch + p->at.counts);
    t->depth = p->limits.depth;
    t->chunk = p->chunk;
    job.points = (uint4 *)(scratch + p->at.buckets);
    job.width = p->width;
    return job;
}

/* Sums the buckets of so many sorted entries, chunk by chunk. */
static cuzk_code add_entries(const msm_plan *p, bucket_job *job, uint8_t *scratch, uint32_t entries,
                             cudaStream_t stream, cuzk_err *err)
{
    uint32_t *carry_keys = (uint32_t *)(scratch + p->at.carry_keys);
    CUZK_CUDA_TRY(err, cudaMemsetAsync(carry_keys, 0xff, p->chunks * sizeof *carry_keys, stream));
    unsigned chunks = blocks_for(entries, p->chunk);
    for (unsigned c = 0; c < chunks; c++) {
        job->t.first = c * p->chunk;
        job->t.end = entries - job->t.first < p->chunk ? entries : job->t.first + p->chunk;
        job->carry_key = carry_keys + c;
        CUZK_TRY(add_chunk(p, job, scratch, c, stream, err));
    }
    job->carries = (uint4 *)(scratch + p->at.carries);
    job->carry_key = carry_keys;
    if (chunks > 1) {
        add_carries<<<1, MSM_MAX_CHUNKS, 0, stream>>>(*job, chunks);
    }
    return launched(err);
}

static cuzk_code sum_start(const msm_plan *p, const void *points, const uint32_t *which,
                           const void *scalars, msm_scalars form, void *memory, cudaStream_t stream,
                           cuzk_err *err)
{
    uint8_t *scratch = (uint8_t *)memory;
    bucket_job job = start_job(p, points, scratch);
    CUZK_TRY(allow_shared(err));
    for (unsigned first = 0; first < p->windows; first += p->batch) {
        unsigned batch = p->windows - first < p->batch ? p->windows - first : p->batch;
        CUZK_TRY(sort_entries(p, which, scalars, form, first, batch, scratch, &job.t, stream, err));
        CUZK_TRY(add_entries(p, &job, scratch, p->n * PARTS * batch, stream, err));
        CUZK_TRY(sweep_batch(p, &job, scratch, first, batch, stream, err));
    }
    return finish_windows(p, scratch, stream, err);
}

/* The sum of the points whose bit is set: buckets without weights. */
static cuzk_code ones_start(const msm_plan *p, const void *points, const uint32_t *bits,
                            void *memory, cudaStream_t stream, cuzk_err *err)
{
    uint8_t *scratch = (uint8_t *)memory;
    bucket_job job = start_job(p, points, scratch);
    uint32_t *keys = (uint32_t *)(scratch + p->at.keys[0]), *values = keys + p->entries;
    uint32_t *starts = (uint32_t *)(scratch + p->at.starts);
    uint32_t *count = (uint32_t *)(scratch + p->at.terms); /* not used otherwise */
    CUZK_TRY(allow_shared(err));
    CUZK_CUDA_TRY(err, cudaMemsetAsync(count, 0, sizeof *count, stream));
    list_ones<<<blocks_for((p->n + 31) / 32, 256), 256, 0, stream>>>(bits, p->n, values, count);
    share_ones<<<1024, 256, 0, stream>>>(count, keys, starts);
    job.t.keys = keys;
    job.t.values = values;
    job.t.starts = starts;
    job.t.buckets = MSM_ONES_BUCKETS;
    job.t.lists = (uint32_t *)(scratch + p->at.keys[1]);
    CUZK_TRY(add_entries(p, &job, scratch, p->n, stream, err));
    sum_ones<<<1, MSM_BLOCK, MSM_BLOCK * sizeof(GROUP), stream>>>(job.points,
                                                                  (GROUP *)(scratch + p->at.sums));
    return launched(err);
}

#undef G_
#undef F_
#undef AFFINE
