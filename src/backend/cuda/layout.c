#include "backend/cuda/layout.h"

#include "backend/cuda/key.h"
#include "backend/cuda/ntt_plan.h"

#include <inttypes.h>
#include <string.h>

enum {
    MOST_CHUNK_LG = 29,  /* bytes of a buffer for streamed points, */
    LEAST_CHUNK_LG = 16, /* at least, */
    MOST_CHUNKS = 128,   /* and enough that a query has about so many chunks at most */
    CHUNK_GRAIN = 1024,  /* points: a chunk begins at a whole word of a bitmap */
};

/* Queries in the order in which they leave the device: the sum over H takes longest for its size,
 * so that copying it is hidden best. */
static const cuzk_params_part leaving[] = {CUZK_PARAMS_H, CUZK_PARAMS_L, CUZK_PARAMS_A,
                                           CUZK_PARAMS_B_G1, CUZK_PARAMS_B_G2};

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
    l->at.records = cuzk_cuda_place(&at, s->record_bytes);
    l->at.bits = cuzk_cuda_place(&at, bitmap_bytes(s->n_aux));
    l->at.full = cuzk_cuda_place(&at, (uint64_t)s->n_slots * sizeof(dfr));
    l->at.selected = cuzk_cuda_place(&at, bitmap_bytes(most));
    l->at.tail = cuzk_cuda_place(&at, (uint64_t)s->n_slots * sizeof(dfr));
    l->at.which = cuzk_cuda_place(&at, (uint64_t)s->n_slots * sizeof(uint32_t));
    l->at.a = cuzk_cuda_place(&at, sizeof(dfr) << s->lg_domain);
    l->at.b = cuzk_cuda_place(&at, sizeof(dfr) << s->lg_domain);
    l->at.scratch = cuzk_cuda_place(&at, l->scratch_bytes);
    l->at.total = at;
}

static void at_most(uint64_t *most, uint64_t bytes) { *most = bytes > *most ? bytes : *most; }

/* The most that a sum of 1 to n multiples takes of so many bytes of scratch memory; false when one
 * cannot do with them. Few multiples may take more than many: they have narrower windows, so more
 * of them. A width is that of all numbers with the same logarithm, of which the largest takes most.
 */
static bool scratch_of_full(uint64_t *most, msm_group g, uint64_t n, msm_limits limits,
                            uint64_t bytes)
{
    for (uint64_t few = 1; n > 0; few *= 2) {
        uint64_t count = few < n ? few : n;
        msm_plan plan;
        if (cuzk_cuda_msm_plan(&plan, g, count, 0, limits, bytes, NULL) != CUZK_OK) {
            return false;
        }
        at_most(most, plan.at.total);
        if (count == n) {
            break;
        }
    }
    return true;
}

/* The same for all sums of a partition. */
static bool scratch_of(uint64_t *ret, const cuzk_cuda_sizes *s, const cuzk_cuda_layout *l,
                       uint64_t bytes)
{
    uint64_t most = 0;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        msm_group g = cuzk_cuda_group_of(part);
        uint64_t n = l->pinned[part] && l->chunk_points[part] < s->points[part]
                         ? l->chunk_points[part]
                         : s->points[part];
        uint64_t full = part == CUZK_PARAMS_H || n < s->n_slots ? n : s->n_slots;
        msm_plan plan;
        if (!scratch_of_full(&most, g, full, s->limits[g], bytes)) {
            return false;
        }
        if (n > 0 && part != CUZK_PARAMS_H) {
            if (cuzk_cuda_ones_plan(&plan, g, n, s->limits[g], bytes, NULL) != CUZK_OK) {
                return false;
            }
            at_most(&most, plan.at.total);
        }
    }
    *ret = most;
    return true;
}

static uint64_t rounded_query_bytes(const cuzk_cuda_sizes *s, cuzk_params_part part)
{
    return cuzk_cuda_rounded(cuzk_cuda_query_bytes(part, s->points[part]));
}

/* All numbers, when the sums may take so many bytes of scratch memory; false when they cannot do
 * with that. */
static bool with_scratch(cuzk_cuda_layout *l, const cuzk_cuda_sizes *s, uint64_t bytes)
{
    if (!scratch_of(&l->scratch_bytes, s, l, bytes)) {
        return false;
    }
    place_working(l, s);
    l->resident = s->circuit_bytes + l->table_bytes;
    l->pinned_bytes = 0;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        *(l->pinned[part] ? &l->pinned_bytes : &l->resident) += rounded_query_bytes(s, part);
    }
    l->working = l->at.total + 2 * l->chunk_bytes;
    return true;
}

/* Halves the scratch memory until all fits the budget; false, with *least lowered to what would do,
 * when it never does. */
static bool fit(cuzk_cuda_layout *ret, const cuzk_cuda_layout *start, const cuzk_cuda_sizes *s,
                uint64_t budget, uint64_t *least)
{
    cuzk_cuda_layout l = *start;
    for (uint64_t bytes = UINT64_MAX; bytes > 0 && with_scratch(&l, s, bytes);
         bytes = l.scratch_bytes / 2) {
        uint64_t takes = l.resident + l.working;
        if (takes <= budget) {
            *ret = l;
            return true;
        }
        *least = takes < *least ? takes : *least;
    }
    return false;
}

static cuzk_cuda_layout with_tables(const cuzk_cuda_sizes *s, uint64_t limit)
{
    cuzk_cuda_layout l;
    memset(&l, 0, sizeof l);
    l.table_limit = limit;
    l.table_bytes = table_bytes(s->lg_domain, limit);
    return l;
}

static bool fit_whole(cuzk_cuda_layout *ret, const cuzk_cuda_sizes *s, uint64_t budget,
                      uint64_t *least)
{
    cuzk_cuda_layout large = with_tables(s, UINT64_MAX), small = with_tables(s, 0);
    return fit(ret, &large, s, budget, least) || fit(ret, &small, s, budget, least);
}

static void set_chunk(cuzk_cuda_layout *l, unsigned lg)
{
    l->chunk_bytes = (uint64_t)1 << lg;
    for (cuzk_params_part part = 0; part < CUZK_PARAMS_PARTS; part++) {
        uint64_t n = l->chunk_bytes / cuzk_cuda_query_bytes(part, 1);
        l->chunk_points[part] = n / CHUNK_GRAIN ? n / CHUNK_GRAIN * CHUNK_GRAIN : n / 32 * 32;
    }
}

/* The least lg from LEAST_CHUNK_LG to MOST_CHUNK_LG with 2^lg >= bytes, or the last. */
static unsigned chunk_lg(uint64_t bytes)
{
    unsigned lg = LEAST_CHUNK_LG;
    while (lg < MOST_CHUNK_LG && (uint64_t)1 << lg < bytes) {
        lg++;
    }
    return lg;
}

/* With the first n of those that leave in pinned memory, in chunks that are as large as can be. */
static bool fit_streamed(cuzk_cuda_layout *ret, const cuzk_cuda_sizes *s, size_t n, uint64_t budget,
                         uint64_t *least)
{
    cuzk_cuda_layout l = with_tables(s, 0);
    uint64_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        l.pinned[leaving[i]] = true;
        at_most(&largest, rounded_query_bytes(s, leaving[i]));
    }
    for (unsigned lg = chunk_lg(largest); lg >= chunk_lg(largest / MOST_CHUNKS); lg--) {
        set_chunk(&l, lg);
        if (fit(ret, &l, s, budget, least)) {
            return true;
        }
    }
    return false;
}

cuzk_code cuzk_cuda_layout_make(cuzk_cuda_layout *ret, const cuzk_cuda_sizes *sizes,
                                uint64_t budget, cuzk_err *err)
{
    uint64_t least = UINT64_MAX;
    if (sizes->lg_domain < 1 || sizes->lg_domain > NTT_PLAN_MAX_LG) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "a domain of 2^%u points: the device takes 2^1 to 2^%d", sizes->lg_domain,
                         NTT_PLAN_MAX_LG);
    }
    if (fit_whole(ret, sizes, budget, &least)) {
        return CUZK_OK;
    }
    for (size_t n = 1; n <= sizeof leaving / sizeof *leaving; n++) {
        if (fit_streamed(ret, sizes, n, budget, &least)) {
            return CUZK_OK;
        }
    }
    return CUZK_FAIL(err, CUZK_E_MEMORY,
                     "a proof takes at least %" PRIu64 " bytes of device memory, %" PRIu64
                     " are there",
                     least, budget);
}
