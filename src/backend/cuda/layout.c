#include "backend/cuda/layout.h"

#include "backend/cuda/key.h"
#include "backend/cuda/ntt_plan.h"

#include <inttypes.h>
#include <string.h>

enum {
    CHUNK_LG = 29,       /* bytes of a buffer for streamed points */
    LEAST_CHUNK_LG = 16, /* and what it may shrink to */
    LEAST_SCRATCH_LG = 26,
    CHUNK_GRAIN = 1024, /* points: a chunk begins at a whole word of a bitmap */
};

/* Queries in the order in which they leave the device: the sum over H takes longest for its size,
 * so that copying it is hidden best. */
static const cuzk_params_part leaving[] = {CUZK_PARAMS_H, CUZK_PARAMS_L, CUZK_PARAMS_A,
                                           CUZK_PARAMS_B_G1, CUZK_PARAMS_B_G2};

static uint64_t take(uint64_t *at, uint64_t bytes)
{
    uint64_t start = *at;
    *at += (bytes + 255) / 256 * 256;
    return start;
}

/* The tables of the three transforms of a proof (prover.c). */
static uint64_t table_bytes(unsigned lg, uint64_t limit)
{
    uint64_t bytes = 0;
    for (int i = 0; i < 3; i++) {
        ntt_plan plan;
        ntt_request want = {.lg = lg,
                            .backwards = i == 1,
                            .coset = ntt_coset_side(i > 0, i == 1, i != 1),
                            .root = dfr_one(),
                            .g = dfr_one(),
                            .scaled = i != 1,
                            .scale = dfr_one(),
                            .table_limit = limit};
        ntt_plan_make(&plan, &want);
        bytes += plan.quads * sizeof(limb_quad);
    }
    return bytes;
}

static uint64_t bitmap_bytes(uint64_t n) { return (n + 31) / 32 * 4 + 64; }

static void place_working(cuzk_cuda_layout *l, const cuzk_cuda_sizes *s)
{
    uint64_t at = 0, most = s->n_aux;
    for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
        most = s->points[part] > most && part != CUZK_PARAMS_H ? s->points[part] : most;
    }
    l->at.records = take(&at, s->record_bytes);
    l->at.bits = take(&at, bitmap_bytes(s->n_aux));
    l->at.full = take(&at, (uint64_t)s->n_slots * sizeof(dfr));
    l->at.selected = take(&at, bitmap_bytes(most));
    l->at.tail = take(&at, (uint64_t)s->n_slots * sizeof(dfr));
    l->at.which = take(&at, (uint64_t)s->n_slots * sizeof(uint32_t));
    l->at.a = take(&at, sizeof(dfr) << s->lg_domain);
    l->at.b = take(&at, sizeof(dfr) << s->lg_domain);
    l->at.scratch = take(&at, l->scratch_bytes);
    l->at.total = at;
}

/* The scratch memory of the largest sum when each has as much as it can use, or with `least` as
 * little as it can do with. */
static uint64_t scratch_of(const cuzk_cuda_sizes *s, const cuzk_cuda_layout *l, uint64_t bytes,
                           bool *ret_fits)
{
    uint64_t most = 0;
    *ret_fits = true;
    for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
        msm_group g = part == CUZK_PARAMS_B_G2 ? MSM_G2 : MSM_G1;
        uint64_t n = l->pinned[part] && l->chunk_points[part] < s->points[part]
                         ? l->chunk_points[part]
                         : s->points[part];
        uint64_t full = part == CUZK_PARAMS_H || n < s->n_slots ? n : s->n_slots;
        msm_plan plan;
        if (full > 0) {
            *ret_fits &=
                cuzk_cuda_msm_plan(&plan, g, full, 0, s->limits[g], bytes, NULL) == CUZK_OK;
            most = *ret_fits && plan.at.total > most ? plan.at.total : most;
        }
        if (n > 0 && part != CUZK_PARAMS_H) {
            *ret_fits &= cuzk_cuda_ones_plan(&plan, g, n, s->limits[g], bytes, NULL) == CUZK_OK;
            most = *ret_fits && plan.at.total > most ? plan.at.total : most;
        }
    }
    return most;
}

static void total(cuzk_cuda_layout *l, const cuzk_cuda_sizes *s)
{
    l->table_bytes = table_bytes(s->lg_domain, l->table_limit);
    place_working(l, s);
    l->resident = s->circuit_bytes + l->table_bytes;
    l->pinned_bytes = 0;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t bytes = cuzk_cuda_query_bytes(part, s->points[part]);
        bytes = (bytes + 255) / 256 * 256;
        if (l->pinned[part]) {
            l->pinned_bytes += bytes;
        } else {
            l->resident += bytes;
        }
    }
    l->working = l->at.total + 2 * l->chunk_bytes;
}

/* With scratch memory of at most `bytes`; false when some sum cannot do with that. */
static bool with_scratch(cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, uint64_t bytes)
{
    bool fits;
    l->scratch_bytes = scratch_of(s, l, bytes, &fits);
    total(l, s);
    return fits;
}

/* Halves the scratch memory until all fits the budget; false, with the least that would do in *l,
 * when it never does. */
static bool fit(cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, uint64_t budget)
{
    cuzk_cuda_layout best = *l;
    with_scratch(&best, s, UINT64_MAX);
    for (uint64_t bytes = best.scratch_bytes; best.resident + best.working > budget;) {
        cuzk_cuda_layout less = *l;
        bytes /= 2;
        if (bytes < (uint64_t)1 << LEAST_SCRATCH_LG || !with_scratch(&less, s, bytes)) {
            *l = best;
            return false;
        }
        best = less;
    }
    *l = best;
    return true;
}

static void set_chunk(cuzk_cuda_layout *l, unsigned lg)
{
    l->chunk_bytes = (uint64_t)1 << lg;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t n = l->chunk_bytes / cuzk_cuda_query_bytes(part, 1);
        l->chunk_points[part] = n / CHUNK_GRAIN ? n / CHUNK_GRAIN * CHUNK_GRAIN : n / 32 * 32;
    }
}

/* The pinned queries that can come back to the device, smallest gain in time a byte last. */
static void bring_back(cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, uint64_t budget)
{
    for (size_t i = sizeof leaving / sizeof *leaving; i-- > 0;) {
        cuzk_cuda_layout more = *l;
        more.pinned[leaving[i]] = false;
        bool fits;
        (void)scratch_of(s, &more, more.scratch_bytes, &fits);
        total(&more, s);
        if (fits && more.resident + more.working <= budget) {
            *l = more;
        }
    }
}

cuzk_code cuzk_cuda_layout_make(cuzk_cuda_layout *ret, const cuzk_cuda_sizes *sizes,
                                uint64_t budget, cuzk_err *err)
{
    if (sizes->lg_domain < 1 || sizes->lg_domain > NTT_PLAN_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "a domain of 2^%u points: the device takes 2^1 to 2^%d", sizes->lg_domain,
                         NTT_PLAN_MAX_LG);
    }
    cuzk_cuda_layout l;
    for (int small = 0; small < 2; small++) {
        memset(&l, 0, sizeof l);
        l.table_limit = small ? 0 : UINT64_MAX;
        if (fit(&l, sizes, budget)) {
            *ret = l;
            return CUZK_OK;
        }
    }
    for (unsigned lg = CHUNK_LG; lg >= LEAST_CHUNK_LG; lg--) {
        memset(&l, 0, sizeof l);
        memset(l.pinned, true, sizeof l.pinned);
        set_chunk(&l, lg);
        if (fit(&l, sizes, budget)) {
            bring_back(&l, sizes, budget);
            *ret = l;
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_MEMORY,
                     "a proof takes at least %" PRIu64 " bytes of device memory, %" PRIu64
                     " are there",
                     l.resident + l.working, budget);
}
