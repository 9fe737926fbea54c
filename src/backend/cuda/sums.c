#include "backend/cuda/msm.h"
#include "backend/cuda/prover.h"

/*
 * The sums over a key's queries. A query on the device is one range of points, a pinned one comes
 * in chunks through two buffers, the copy of the next beside the sums over the last. Each range
 * has a sum over the points that bits select and one over those with full scalars.
 */

/* Points [lo, hi) of a query, the first of them at `points`. */
typedef struct range {
    cuzk_params_part part;
    uint64_t lo, hi;
    const void *points;
} range;

static uint64_t point_bytes(cuzk_params_part part) { return cuzk_cuda_query_bytes(part, 1); }

unsigned cuzk_cuda_sums_count(const cuzk_cuda_layout *layout, const uint64_t *points)
{
    uint64_t n = 0;
    for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t chunk = layout->chunk_points[part];
        n += 2 * (layout->pinned[part] ? (points[part] + chunk - 1) / chunk : 1);
    }
    return (unsigned)n;
}

/* Has the windows' sums copied to the host, where a next sum needs a place too. */
static cuzk_code keep(cuzk_cuda_prover *p, const msm_plan *plan, cuzk_params_part part,
                      cuzk_err *err)
{
    cuzk_cuda_work *w = &p->work;
    uint64_t sum = plan->group == MSM_G2 ? sizeof(msm_g2_sum) : sizeof(msm_g1_sum);
    uint8_t *windows = (uint8_t *)p->pinned + 256 + (uint64_t)w->n_sums * CUZK_CUDA_WINDOWS_BYTES;
    CUZK_TRY(cuzk_cuda_download(windows, (uint8_t *)w->scratch + plan->at.sums, plan->windows * sum,
                                p->stream, err));
    p->sums[w->n_sums++] = (cuzk_cuda_sum){*plan, part, windows};
    return CUZK_OK;
}

static cuzk_code start_full(cuzk_cuda_prover *p, cuzk_params_part part, const void *points,
                            const uint32_t *which, const dfr *scalars, uint64_t n, cuzk_err *err)
{
    msm_plan plan;
    msm_group g = cuzk_cuda_group_of(part);
    if (n == 0) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_cuda_msm_plan(&plan, g, n, 0, p->limits[g], p->layout.scratch_bytes, err));
    CUZK_TRY((g == MSM_G2 ? cuzk_cuda_msm_g2_start : cuzk_cuda_msm_g1_start)(
        &plan, points, which, scalars, MSM_MONTGOMERY, p->work.scratch, p->stream, err));
    return keep(p, &plan, part, err);
}

static cuzk_code start_ones(cuzk_cuda_prover *p, cuzk_params_part part, const void *points,
                            const uint32_t *bits, uint64_t n, cuzk_err *err)
{
    msm_plan plan;
    msm_group g = cuzk_cuda_group_of(part);
    CUZK_TRY(cuzk_cuda_ones_plan(&plan, g, n, p->limits[g], p->layout.scratch_bytes, err));
    CUZK_TRY((g == MSM_G2 ? cuzk_cuda_ones_g2_start : cuzk_cuda_ones_g1_start)(
        &plan, points, bits, p->work.scratch, p->stream, err));
    return keep(p, &plan, part, err);
}

static cuzk_code start_range(cuzk_cuda_prover *p, const range *r, cuzk_err *err)
{
    const cuzk_cuda_work *w = &p->work;
    uint64_t n = r->hi - r->lo;
    if (r->part == CUZK_PARAMS_H) {
        return start_full(p, r->part, r->points, NULL, w->a + r->lo, n, err);
    }
    uint64_t full = cuzk_cuda_circuit_full_below(p->circuit, r->part, r->hi) -
                    cuzk_cuda_circuit_full_below(p->circuit, r->part, r->lo);
    CUZK_TRY(start_ones(p, r->part, r->points, w->selected + r->lo / 32, n, err));
    CUZK_TRY(cuzk_cuda_select_full(p->circuit, r->part, r->lo, r->hi, w->full, w->tail, w->which,
                                   p->stream, err));
    return start_full(p, r->part, r->points, w->which, w->tail, full, err);
}

/* Through the two buffers. */
static cuzk_code start_chunks(cuzk_cuda_prover *p, cuzk_params_part part, cuzk_err *err)
{
    cuzk_cuda_work *w = &p->work;
    const cuzk_cuda_query *q = &p->key->query[part];
    uint64_t size = point_bytes(part), step = p->layout.chunk_points[part];
    for (uint64_t lo = 0; lo < q->n; lo += step, w->chunks++) {
        unsigned k = w->chunks & 1;
        uint64_t hi = q->n - lo < step ? q->n : lo + step;
        void *buffer = w->chunk[k].p;
        if (w->chunks >= 2) {
            CUZK_TRY(cuzk_cuda_event_wait(p->copies, p->used[k], err));
        }
        CUZK_TRY(cuzk_cuda_upload(buffer, (const uint8_t *)q->pinned + lo * size, (hi - lo) * size,
                                  p->copies, err));
        CUZK_TRY(cuzk_cuda_event_record(p->arrived[k], p->copies, err));
        CUZK_TRY(cuzk_cuda_event_wait(p->stream, p->arrived[k], err));
        range r = {part, lo, hi, buffer};
        CUZK_TRY(start_range(p, &r, err));
        CUZK_TRY(cuzk_cuda_event_record(p->used[k], p->stream, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_cuda_sums_start(cuzk_cuda_prover *p, cuzk_params_part part, cuzk_err *err)
{
    const cuzk_cuda_work *w = &p->work;
    const cuzk_cuda_query *q = &p->key->query[part];
    if (q->n == 0) {
        return CUZK_OK;
    }
    if (part != CUZK_PARAMS_H) {
        CUZK_TRY(cuzk_cuda_select_bits(p->circuit, part, w->bits, w->selected, p->stream, err));
    }
    if (p->layout.pinned[part]) {
        return start_chunks(p, part, err);
    }
    range r = {part, 0, q->n, q->block.p};
    return start_range(p, &r, err);
}

void cuzk_cuda_sums_finish(const cuzk_cuda_prover *p, cuzk_query_sums *ret)
{
    g1 *const in_g1[] = {&ret->h, &ret->l, &ret->a, &ret->b_g1}; /* by cuzk_params_part */
    for (int i = 0; i < 4; i++) {
        g1_set_inf(in_g1[i]);
    }
    g2_set_inf(&ret->b_g2);
    for (unsigned i = 0; i < p->work.n_sums; i++) {
        const cuzk_cuda_sum *s = &p->sums[i];
        if (s->part == CUZK_PARAMS_B_G2) {
            g2 sum = cuzk_cuda_msm_g2_finish(&s->plan, s->windows);
            g2_add(&ret->b_g2, &ret->b_g2, &sum);
        } else {
            g1 sum = cuzk_cuda_msm_g1_finish(&s->plan, s->windows);
            g1_add(in_g1[s->part], in_g1[s->part], &sum);
        }
    }
}
