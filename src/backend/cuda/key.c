#include "backend/cuda/key.h"

#include "backend/cuda/points.h"
#include "base/threads.h"
#include "groth16/formats/points.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A key is read in chunks. Threads read a chunk into pinned memory, it goes to the device and is
 * decoded there to where it stays, or to a buffer from which it goes back to pinned memory. There
 * are two lanes, each with its memory and stream, so that one is filled from the file while the
 * device works on the other. The file is read and never mapped: when it is cut meanwhile, that is
 * an error of read.
 *
 * The points of H go to bit-reversed places. In device memory the kernel puts them there. Pinned
 * memory wants long pieces, so a chunk of an H query that stays there is not a piece of the list
 * but 2^b runs of 2^a points, 2^(lg - b) apart: an index is (run, chunk, point) with b, lg - a - b
 * and a bits, its place is (point, chunk, run), each part reversed. So the chunk, as it was read,
 * with all its a + b bits reversed is 2^a pieces of 2^b places.
 */

enum {
    LANES = 2,
    CHUNK_LG = 19, /* 48 MiB */
    CHUNK_MAX_LG = 28,
    RUN_LG = 15, /* points that a thread reads at a time */
    READERS_MAX = 8,
    VERDICT_BYTES = CUZK_CUDA_ALIGN, /* in front of which a chunk ends */
};

/* How the points of a list come. Point t of chunk k has the index
 * k step + (t >> run_lg) stride + t mod 2^run_lg. */
typedef struct walk {
    cuzk_params_part part;
    const cuzk_params_list *list;
    cuzk_cuda_query *query;
    unsigned point_bytes;
    unsigned run_lg, chunk_lg; /* points of a run, of a chunk */
    uint64_t stride, step, n_chunks;
    unsigned lg;    /* of H: bits of a place; else 0 */
    bool scattered; /* H for pinned memory: runs are not neighbours */
} walk;

typedef struct lane {
    uint8_t *staging;      /* pinned: a chunk, then a verdict */
    cuzk_cuda_block raw;   /* the same on the device */
    cuzk_cuda_block ready; /* decoded points on their way to pinned memory; empty without such */
    cuzk_cuda_stream stream;
    const walk *walk; /* of the chunk in work; NULL when there is none */
    uint64_t chunk;
} lane;

typedef struct reading {
    const char *name;
    int fd;
    cuzk_pool *pool;
    cuzk_cuda_memory *memory;
    cuzk_cuda_stream own; /* of the second lane */
    uint64_t chunk_bytes;
    walk walks[CUZK_PARAMS_PARTS];
    lane lanes[LANES];
} reading;

/* ---- the order of points ---- */

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

static walk walk_in_order(unsigned chunk_lg, uint64_t n)
{
    uint64_t step = (uint64_t)1 << chunk_lg;
    unsigned run_lg = least(chunk_lg, RUN_LG);
    return (walk){.run_lg = run_lg,
                  .chunk_lg = chunk_lg,
                  .stride = (uint64_t)1 << run_lg,
                  .step = step,
                  .n_chunks = (n + step - 1) / step};
}

static walk walk_scattered(unsigned chunk_lg, unsigned lg)
{
    unsigned all = least(chunk_lg, lg), run_lg = all / 2, runs_lg = all - run_lg;
    return (walk){.run_lg = run_lg,
                  .chunk_lg = all,
                  .stride = (uint64_t)1 << (lg - runs_lg),
                  .step = (uint64_t)1 << run_lg,
                  .n_chunks = (uint64_t)1 << (lg - all),
                  .scattered = true};
}

static walk walk_of(cuzk_params_part part, const cuzk_params_list *list, cuzk_cuda_query *query,
                    unsigned chunk_lg, unsigned lg_domain, bool pinned)
{
    bool is_h = part == CUZK_PARAMS_H, is_g2 = part == CUZK_PARAMS_B_G2;
    walk w = is_h && pinned ? walk_scattered(chunk_lg, lg_domain)
                            : walk_in_order(is_g2 ? chunk_lg - 1 : chunk_lg, list->n);
    w.part = part;
    w.list = list;
    w.query = query;
    w.point_bytes = is_g2 ? G2_UNCOMPRESSED_BYTES : G1_UNCOMPRESSED_BYTES;
    w.lg = is_h ? lg_domain : 0;
    return w;
}

/* Points of a chunk. */
static uint64_t points_in(const walk *w, uint64_t chunk)
{
    uint64_t full = (uint64_t)1 << w->chunk_lg;
    if (w->scattered) { /* the place that is left for infinity is the last one of the last chunk */
        return chunk + 1 == w->n_chunks ? full - 1 : full;
    }
    uint64_t left = w->list->n - chunk * w->step;
    return left < full ? left : full;
}

static uint64_t index_of(const walk *w, uint64_t chunk, uint64_t t)
{
    return chunk * w->step + (t >> w->run_lg) * w->stride + (t & (((uint64_t)1 << w->run_lg) - 1));
}

/* ---- reading ---- */

typedef struct fill {
    int fd;
    const walk *walk;
    uint64_t chunk;
    uint8_t *to;
    _Atomic uint64_t stop; /* least offset << 8 | errno of a failed read; errno 0: the file's end */
} fill;

enum { ERRNO_BITS = 8 };

static void note_stop(fill *f, uint64_t offset, int why)
{
    uint64_t stop = offset << ERRNO_BITS | (uint64_t)why, seen = atomic_load(&f->stop);
    while (stop < seen && !atomic_compare_exchange_weak(&f->stop, &seen, stop)) {
    }
}

static void fill_run(void *opaque, size_t run, unsigned worker)
{
    (void)worker;
    fill *f = opaque;
    const walk *w = f->walk;
    uint64_t from = (uint64_t)run << w->run_lg, n = points_in(w, f->chunk) - from;
    n = n < (uint64_t)1 << w->run_lg ? n : (uint64_t)1 << w->run_lg;
    uint64_t offset = w->list->offset + index_of(w, f->chunk, from) * w->point_bytes;
    uint8_t *to = f->to + from * w->point_bytes;
    for (uint64_t left = n * w->point_bytes; left > 0;) {
        ssize_t k = pread(f->fd, to, left, (off_t)offset);
        if (k < 0 && errno == EINTR) {
            continue;
        }
        if (k <= 0) {
            note_stop(f, offset, k < 0 ? errno : 0);
            return;
        }
        to += k;
        offset += (uint64_t)k;
        left -= (uint64_t)k;
    }
}

static cuzk_code read_failed(const reading *r, const walk *w, uint64_t stop, cuzk_err *err)
{
    uint64_t offset = stop >> ERRNO_BITS;
    int why = (int)(stop & ((1 << ERRNO_BITS) - 1));
    if (why != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: offset %" PRIu64 ": cannot read: %s", r->name, offset,
                         strerror(why));
    }
    off_t end = lseek(r->fd, 0, SEEK_END);
    uint64_t found = end > (off_t)w->list->offset ? (uint64_t)end - w->list->offset : 0;
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "%s: offset %" PRIu64 ": %s: expected %" PRIu64 " bytes, found %" PRIu64
                     ": the file was cut",
                     r->name, w->list->offset, w->list->name, (uint64_t)w->list->n * w->point_bytes,
                     found);
}

static cuzk_code fill_chunk(const reading *r, const walk *w, uint64_t chunk, uint8_t *to,
                            cuzk_err *err)
{
    fill f = {.fd = r->fd, .walk = w, .chunk = chunk, .to = to};
    atomic_init(&f.stop, UINT64_MAX);
    uint64_t run = (uint64_t)1 << w->run_lg;
    cuzk_pool_run(r->pool, (size_t)((points_in(w, chunk) + run - 1) / run), fill_run, &f);
    uint64_t stop = atomic_load(&f.stop);
    return stop == UINT64_MAX ? CUZK_OK : read_failed(r, w, stop, err);
}

/* The length in front of a list once more: the file may be another one by now. */
static cuzk_code check_length(const reading *r, const cuzk_params_list *list, cuzk_err *err)
{
    uint8_t bytes[4];
    uint64_t offset = list->offset - sizeof bytes;
    ssize_t k = pread(r->fd, bytes, sizeof bytes, (off_t)offset);
    if (k < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: offset %" PRIu64 ": cannot read: %s", r->name, offset,
                         strerror(errno));
    }
    if (k < (ssize_t)sizeof bytes) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %" PRIu64
                         ": length of %s: expected 4 bytes, found %zd: the file was cut",
                         r->name, offset, list->name, k);
    }
    uint32_t n = cuzk_load_u32be(bytes);
    if (n != list->n) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %" PRIu64 ": length of %s: expected %u as before, found %u: "
                         "the file was changed",
                         r->name, offset, list->name, list->n, n);
    }
    return CUZK_OK;
}

/* ---- one chunk on the device ---- */

static const char *fault_text(unsigned fault)
{
    switch (fault) {
    case POINTS_FLAGS:
        return point_status_text(POINT_BAD_FLAGS);
    case POINTS_INFINITE:
        return "the point at infinity";
    case POINTS_RANGE:
        return point_status_text(POINT_NOT_CANONICAL);
    default:
        return point_status_text(POINT_NOT_ON_CURVE);
    }
}

/* Waits for a lane; fails when its chunk had a bad point. */
static cuzk_code settle(const reading *r, lane *l, cuzk_err *err)
{
    const walk *w = l->walk;
    if (!w) {
        return CUZK_OK;
    }
    uint32_t verdict;
    CUZK_TRY(cuzk_cuda_sync(l->stream, err));
    l->walk = NULL;
    memcpy(&verdict, l->staging + r->chunk_bytes, sizeof verdict);
    if (verdict == POINTS_ALL_GOOD) {
        return CUZK_OK;
    }
    cuzk_point_list list = {.name = w->list->name,
                            .file = r->name,
                            .offset = w->list->offset,
                            .n = w->list->n,
                            .is_g2 = w->part == CUZK_PARAMS_B_G2};
    return cuzk_points_refuse(&list, index_of(w, l->chunk, verdict >> POINTS_FAULT_BITS),
                              fault_text(verdict & ((1 << POINTS_FAULT_BITS) - 1)), err);
}

/* Decoded points to pinned memory. */
static cuzk_code bring_back(const lane *l, cuzk_err *err)
{
    const walk *w = l->walk;
    const uint8_t *from = l->ready.p;
    uint8_t *to = w->query->pinned;
    if (!w->scattered) {
        return cuzk_cuda_download(to + l->chunk * w->step * w->point_bytes, from,
                                  points_in(w, l->chunk) * w->point_bytes, l->stream, err);
    }
    unsigned runs_lg = w->chunk_lg - w->run_lg;
    uint64_t piece = (uint64_t)w->point_bytes << runs_lg;
    uint64_t middle = hd_reverse((uint32_t)l->chunk, w->lg - w->chunk_lg);
    for (uint64_t j = 0; j < (uint64_t)1 << w->run_lg; j++) {
        uint64_t at = (j << (w->lg - w->chunk_lg)) + middle; /* in pieces */
        CUZK_TRY(cuzk_cuda_download(to + at * piece, from + j * piece, piece, l->stream, err));
    }
    return CUZK_OK;
}

/* Starts all that a lane's chunk is for, once it is in the staging memory. */
static cuzk_code start(const reading *r, const lane *l, cuzk_err *err)
{
    const walk *w = l->walk;
    uint64_t n = points_in(w, l->chunk);
    uint8_t *raw = l->raw.p;
    bool pinned = w->query->pinned != NULL;
    points_job job = {.from = l->raw.p,
                      .to = pinned ? l->ready.p : w->query->block.p,
                      .first = pinned ? 0 : (uint32_t)(l->chunk * w->step),
                      .lg = w->scattered ? w->chunk_lg : w->lg,
                      .verdict = (uint32_t *)(void *)(raw + r->chunk_bytes)};
    CUZK_TRY(cuzk_cuda_upload(raw, l->staging, n * w->point_bytes, l->stream, err));
    if (w->scattered && l->chunk + 1 == w->n_chunks) {
        CUZK_TRY(cuzk_cuda_zero((uint8_t *)l->ready.p + n * w->point_bytes, w->point_bytes,
                                l->stream, err));
    }
    CUZK_TRY((w->part == CUZK_PARAMS_B_G2 ? cuzk_cuda_points_g2
                                          : cuzk_cuda_points_g1)(&job, n, l->stream, err));
    if (pinned) {
        CUZK_TRY(bring_back(l, err));
    }
    return cuzk_cuda_download(l->staging + r->chunk_bytes, job.verdict, sizeof *job.verdict,
                              l->stream, err);
}

/* ---- the whole ---- */

static cuzk_code read_all(reading *r, cuzk_err *err)
{
    unsigned next = 0;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        const walk *w = &r->walks[part];
        CUZK_TRY(check_length(r, w->list, err));
        for (uint64_t chunk = 0; chunk < w->n_chunks; chunk++) {
            lane *l = &r->lanes[next++ % LANES];
            CUZK_TRY(settle(r, l, err));
            CUZK_TRY(fill_chunk(r, w, chunk, l->staging, err));
            l->walk = w;
            l->chunk = chunk;
            CUZK_TRY(start(r, l, err));
        }
    }
    for (unsigned i = 0; i < LANES; i++) {
        CUZK_TRY(settle(r, &r->lanes[next++ % LANES], err));
    }
    return CUZK_OK;
}

static bool any_pinned(const cuzk_cuda_key_plan *plan)
{
    bool any = false;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        any |= plan->pinned[part];
    }
    return any;
}

static unsigned wanted_lg(const cuzk_cuda_key_plan *plan)
{
    return plan->lg_chunk ? least(plan->lg_chunk, CHUNK_MAX_LG) : CHUNK_LG;
}

uint64_t cuzk_cuda_key_scratch_bytes(const cuzk_cuda_key_plan *plan)
{
    uint64_t chunk = (uint64_t)G1_UNCOMPRESSED_BYTES << wanted_lg(plan);
    return LANES * (cuzk_cuda_rounded(chunk) + VERDICT_BYTES +
                    (any_pinned(plan) ? cuzk_cuda_rounded(chunk) : 0));
}

/* As many points as the plan wants at a time, or as the longest list has; two at least. */
static unsigned chunk_lg_for(const cuzk_cuda_key_plan *plan, const cuzk_params_layout *layout)
{
    uint64_t most = 2;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t n = layout->list[part].n + UINT64_C(1); /* with the infinity of H */
        n = part == CUZK_PARAMS_B_G2 ? 2 * n : n;
        most = n > most ? n : most;
    }
    return least(wanted_lg(plan), cuzk_groth16_lg_domain(most));
}

static cuzk_code open_lane(reading *r, lane *l, cuzk_cuda_stream stream, bool pinned, cuzk_err *err)
{
    uint64_t bytes = r->chunk_bytes + VERDICT_BYTES;
    const uint32_t all_good = POINTS_ALL_GOOD;
    void *staging;
    l->stream = stream;
    CUZK_TRY(cuzk_cuda_alloc_pinned(&staging, bytes, err));
    l->staging = staging;
    CUZK_TRY(cuzk_cuda_take(r->memory, &l->raw, bytes, "reading a key", err));
    if (pinned) {
        CUZK_TRY(cuzk_cuda_take(r->memory, &l->ready, r->chunk_bytes, "reading a key", err));
    }
    memcpy(l->staging + r->chunk_bytes, &all_good, sizeof all_good);
    return cuzk_cuda_upload((uint8_t *)l->raw.p + r->chunk_bytes, l->staging + r->chunk_bytes,
                            sizeof all_good, stream, err);
}

static cuzk_code take_query(cuzk_cuda_key *key, cuzk_params_part part, bool pinned, cuzk_err *err)
{
    cuzk_cuda_query *q = &key->query[part];
    uint64_t bytes = cuzk_cuda_query_bytes(part, q->n);
    if (pinned) {
        void *p;
        CUZK_TRY(cuzk_cuda_alloc_pinned(&p, bytes ? bytes : 1, err));
        q->pinned = p;
        return CUZK_OK;
    }
    return cuzk_cuda_take(key->memory, &q->block, bytes, cuzk_params_part_name(part), err);
}

/* The empty key and what is needed to fill it. */
static cuzk_code prepare(reading *r, cuzk_cuda_key *key, const cuzk_params_layout *layout,
                         const cuzk_cuda_key_plan *plan, cuzk_cuda_stream stream, cuzk_err *err)
{
    unsigned chunk_lg = chunk_lg_for(plan, layout);
    bool pinned = any_pinned(plan);
    r->chunk_bytes = cuzk_cuda_rounded((uint64_t)G1_UNCOMPRESSED_BYTES << chunk_lg);
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        const cuzk_params_list *list = &layout->list[part];
        key->query[part].n = list->n + (part == CUZK_PARAMS_H ? UINT64_C(1) : 0);
        CUZK_TRY(take_query(key, part, plan->pinned[part], err));
        r->walks[part] =
            walk_of(part, list, &key->query[part], chunk_lg, key->lg_domain, plan->pinned[part]);
    }
    CUZK_TRY(cuzk_cuda_stream_new(&r->own, err));
    CUZK_TRY(open_lane(r, &r->lanes[0], stream, pinned, err));
    CUZK_TRY(open_lane(r, &r->lanes[1], r->own, pinned, err));
    const cuzk_cuda_query *h = &key->query[CUZK_PARAMS_H];
    if (h->pinned) {
        return CUZK_OK;
    }
    return cuzk_cuda_zero((g1_affine *)h->block.p + h->n - 1, sizeof(g1_affine), stream, err);
}

/* Opens the file and the threads that read it. */
static cuzk_code open_file(reading *r, cuzk_err *err)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    r->fd = open(r->name, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot open: %s", r->name, strerror(errno));
    }
    return cuzk_pool_new(&r->pool, cpus < 1 ? 1 : least((unsigned)cpus, READERS_MAX), err);
}

/* Waits for what may still be at work, then frees all. */
static void close_all(reading *r)
{
    for (unsigned i = 0; i < LANES; i++) {
        lane *l = &r->lanes[i];
        if (l->staging) {
            (void)cuzk_cuda_sync(l->stream, NULL);
        }
        cuzk_cuda_give(r->memory, &l->ready);
        cuzk_cuda_give(r->memory, &l->raw);
        cuzk_cuda_free_pinned(l->staging);
    }
    cuzk_cuda_stream_free(r->own);
    cuzk_pool_free(r->pool);
    if (r->fd >= 0) {
        close(r->fd);
    }
}

cuzk_code cuzk_cuda_key_read_scanned(cuzk_cuda_key **ret, const char *params,
                                     cuzk_params_layout *layout, const cuzk_cuda_key_plan *plan,
                                     cuzk_cuda_memory *m, cuzk_cuda_stream stream, cuzk_err *err)
{
    cuzk_cuda_key *key = calloc(1, sizeof *key);
    if (!key) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a key", params);
    }
    reading r = {.name = params, .fd = -1, .memory = m};
    key->memory = m;
    key->lg_domain = cuzk_groth16_lg_domain(layout->list[CUZK_PARAMS_H].n + UINT64_C(1));
    key->n_inputs = layout->vk.n_ic;
    key->n_aux = layout->list[CUZK_PARAMS_L].n;
    cuzk_code code = open_file(&r, err);
    if (code == CUZK_OK) {
        code = prepare(&r, key, layout, plan, stream, err);
    }
    if (code == CUZK_OK) {
        code = read_all(&r, err);
    }
    close_all(&r);
    if (code != CUZK_OK) {
        cuzk_cuda_key_free(key);
        return code;
    }
    key->vk = layout->vk;
    layout->vk = (cuzk_vk){0};
    *ret = key;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_key_read(cuzk_cuda_key **ret, const char *params, const cuzk_shape *s,
                             const cuzk_cuda_key_plan *plan, cuzk_cuda_memory *m,
                             cuzk_cuda_stream stream, cuzk_err *err)
{
    cuzk_params_layout layout;
    CUZK_TRY(cuzk_params_scan_shape(&layout, params, s, POINT_CHECK_CURVE, err));
    cuzk_code code = cuzk_cuda_key_read_scanned(ret, params, &layout, plan, m, stream, err);
    cuzk_params_layout_clear(&layout);
    return code;
}

cuzk_code cuzk_cuda_key_bytes(uint64_t ret[CUZK_PARAMS_PARTS], const char *params,
                              const cuzk_shape *s, cuzk_err *err)
{
    cuzk_params_layout layout;
    CUZK_TRY(cuzk_params_scan_shape(&layout, params, s, POINT_CHECK_NONE, err));
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t n = layout.list[part].n + (part == CUZK_PARAMS_H ? UINT64_C(1) : 0);
        ret[part] = cuzk_cuda_rounded(cuzk_cuda_query_bytes(part, n));
    }
    cuzk_params_layout_clear(&layout);
    return CUZK_OK;
}

void cuzk_cuda_key_free(cuzk_cuda_key *key)
{
    if (!key) {
        return;
    }
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        cuzk_cuda_give(key->memory, &key->query[part].block);
        cuzk_cuda_free_pinned(key->query[part].pinned);
    }
    cuzk_vk_clear(&key->vk);
    free(key);
}
