#include "backend/cuda/prover.h"

#include "backend/cuda/dfr_host.h"
#include "backend/cuda/msm.h"
#include "backend/cuda/setup.h"
#include "base/system.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is to be placed ---- */

static cuzk_code device_limits(msm_limits limits[2], cuzk_err *err)
{
    CUZK_TRY(cuzk_cuda_msm_g1_limits(&limits[MSM_G1], err));
    return cuzk_cuda_msm_g2_limits(&limits[MSM_G2], err);
}

/* All sizes; a key's follow from its circuit. */
static cuzk_code sizes_of(cuzk_cuda_sizes *ret, const cuzk_shape *s, cuzk_err *err)
{
    cuzk_shape_counts counts;
    CUZK_TRY(cuzk_shape_count(s, &counts, err));
    *ret = (cuzk_cuda_sizes){
        .lg_domain = cuzk_groth16_lg_domain((uint64_t)cuzk_shape_rows(s) + s->n_inputs),
        .n_aux = cuzk_shape_aux(s),
        .n_slots = cuzk_shape_slots(s),
        .record_bytes = cuzk_shape_record_bytes(s),
        .circuit_bytes = cuzk_cuda_circuit_cost(s) + cuzk_cuda_expand_cost(s) + 256,
    };
    ret->points[CUZK_PARAMS_H] = (uint64_t)1 << (ret->lg_domain & 63);
    ret->points[CUZK_PARAMS_L] = ret->n_aux;
    ret->points[CUZK_PARAMS_A] = s->n_inputs + counts.a_aux;
    ret->points[CUZK_PARAMS_B_G1] = ret->points[CUZK_PARAMS_B_G2] = counts.b_input + counts.b_aux;
    return device_limits(ret->limits, err);
}

cuzk_code cuzk_cuda_prover_cost(cuzk_circuit_cost *ret, const cuzk_shape *shape, const char *params,
                                uint64_t budget, cuzk_err *err)
{
    cuzk_cuda_sizes sizes;
    cuzk_cuda_layout layout;
    uint64_t bytes[CUZK_PARAMS_PARTS];
    CUZK_TRY(cuzk_cuda_key_bytes(bytes, params, shape, err)); /* the file fits the circuit */
    CUZK_TRY(sizes_of(&sizes, shape, err));
    CUZK_TRY(cuzk_cuda_layout_make(&layout, &sizes, budget, err));
    *ret = (cuzk_circuit_cost){0};
    ret->resident[CUZK_MEMORY_HOST] = shape->image.n + cuzk_cuda_circuit_host_cost(shape);
    ret->resident[CUZK_MEMORY_DEVICE] = layout.resident + layout.working;
    ret->resident[CUZK_MEMORY_PINNED] = layout.pinned_bytes;
    return CUZK_OK;
}

/* ---- making ---- */

static cuzk_code make_transforms(cuzk_cuda_prover *p, unsigned lg, cuzk_err *err)
{
    fr w = fr_root_of_unity(FR_ROOT_BELLMAN, lg), g = ntt_coset_bellman(), z = g;
    dfr root = dfr_of_fr(&w), coset = dfr_of_fr(&g);
    size_t limit = p->layout.table_limit;
    CUZK_TRY(cuzk_cuda_book(p->memory, p->layout.table_bytes, "the transforms' tables", err));
    p->table_bytes = p->layout.table_bytes;
    CUZK_TRY(cuzk_cuda_ntt_new(&p->inverse, lg, CUZK_CUDA_NTT_TO_REVERSED, true, &root, NULL, limit,
                               err));
    CUZK_TRY(cuzk_cuda_ntt_new(&p->forward, lg, CUZK_CUDA_NTT_FROM_REVERSED, false, &root, &coset,
                               limit, err));
    CUZK_TRY(cuzk_cuda_ntt_new(&p->back, lg, CUZK_CUDA_NTT_TO_REVERSED, true, &root, &coset, limit,
                               err));
    uint64_t taken = cuzk_cuda_ntt_bytes(p->inverse) + cuzk_cuda_ntt_bytes(p->forward) +
                     cuzk_cuda_ntt_bytes(p->back);
    if (taken > p->table_bytes) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL,
                         "the transforms' tables take %llu bytes, planned were %llu",
                         (unsigned long long)taken, (unsigned long long)p->table_bytes);
    }
    for (unsigned i = 0; i < lg; i++) {
        fr_sqr(&z, &z);
    }
    fr_sub(&z, &z, &fr_one);
    fr_inv(&z, &z);
    p->z_inv = dfr_of_fr(&z);
    return CUZK_OK;
}

static cuzk_code make_events(cuzk_cuda_prover *p, cuzk_err *err)
{
    CUZK_TRY(cuzk_cuda_stream_new(&p->stream, err));
    CUZK_TRY(cuzk_cuda_stream_new(&p->copies, err));
    for (int k = 0; k < 2; k++) {
        CUZK_TRY(cuzk_cuda_event_new(&p->arrived[k], err));
        CUZK_TRY(cuzk_cuda_event_new(&p->used[k], err));
    }
    for (int i = 0; i < CUZK_CUDA_MARKS; i++) {
        CUZK_TRY(cuzk_cuda_event_new(&p->marks[i], err));
    }
    return CUZK_OK;
}

/* All but the key. */
static cuzk_code make(cuzk_cuda_prover *p, const cuzk_shape *shape, cuzk_err *err)
{
    cuzk_cuda_sizes sizes;
    uint64_t used = atomic_load(&p->memory->used), budget = p->memory->budget;
    CUZK_TRY(sizes_of(&sizes, shape, err));
    CUZK_TRY(cuzk_cuda_layout_make(&p->layout, &sizes, budget > used ? budget - used : 0, err));
    memcpy(p->limits, sizes.limits, sizeof p->limits);
    CUZK_TRY(make_events(p, err));
    CUZK_TRY(cuzk_cuda_circuit_new(&p->circuit, shape, p->memory, p->stream, err));
    CUZK_TRY(cuzk_cuda_expand_new(&p->expand, shape, cuzk_cuda_circuit_shape(p->circuit), p->memory,
                                  p->stream, err));
    CUZK_TRY(make_transforms(p, sizes.lg_domain, err));
    CUZK_TRY(cuzk_cuda_take(p->memory, &p->bad_row, sizeof(uint32_t), "a word", err));
    p->most_sums = cuzk_cuda_sums_count(&p->layout, sizes.points);
    p->sums = calloc(p->most_sums, sizeof *p->sums);
    if (!p->sums) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u sums", p->most_sums);
    }
    p->pinned_bytes = 256 + (uint64_t)p->most_sums * CUZK_CUDA_WINDOWS_BYTES;
    return cuzk_cuda_alloc_pinned(&p->pinned, p->pinned_bytes, err);
}

/* Where the key is from. */
typedef struct key_source {
    const char *params;
    const cuzk_trapdoor *trapdoor; /* when params is NULL */
} key_source;

/* Reads in chunks for which the memory of a partition in work, not in use yet, is enough. */
static cuzk_cuda_key_plan reading_plan(const cuzk_cuda_layout *l)
{
    enum { MOST_CHUNK_LG = 19 };
    cuzk_cuda_key_plan plan = {.lg_chunk = MOST_CHUNK_LG};
    memcpy(plan.pinned, l->pinned, sizeof plan.pinned);
    while (plan.lg_chunk > 1 && cuzk_cuda_key_scratch_bytes(&plan) > l->working) {
        plan.lg_chunk--;
    }
    return plan;
}

static cuzk_code make_key(cuzk_cuda_prover *p, const cuzk_shape *shape, const key_source *from,
                          cuzk_err *err)
{
    if (from->params) {
        cuzk_cuda_key_plan plan = reading_plan(&p->layout);
        return cuzk_cuda_key_read(&p->key, from->params, shape, &plan, p->memory, p->stream, err);
    }
    for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
        if (p->layout.pinned[part]) {
            return CUZK_FAIL(err, CUZK_E_MEMORY,
                             "a key that is made on the device must fit there whole");
        }
    }
    return cuzk_cuda_setup(&p->key, shape, cuzk_cuda_circuit_shape(p->circuit), from->trapdoor,
                           p->memory, p->stream, err);
}

/* What a partition works in; taken once, as taking and giving back so much takes milliseconds. */
static cuzk_code make_work(cuzk_cuda_prover *p, cuzk_err *err)
{
    cuzk_cuda_work *w = &p->work;
    const cuzk_cuda_working *at = &p->layout.at;
    CUZK_TRY(cuzk_cuda_take(p->memory, &w->block, at->total, "a partition in work", err));
    uint8_t *base = w->block.p;
    w->records = base + at->records;
    w->bits = (uint32_t *)(void *)(base + at->bits);
    w->full = (dfr *)(void *)(base + at->full);
    w->selected = (uint32_t *)(void *)(base + at->selected);
    w->tail = (dfr *)(void *)(base + at->tail);
    w->which = (uint32_t *)(void *)(base + at->which);
    w->a = (dfr *)(void *)(base + at->a);
    w->b = (dfr *)(void *)(base + at->b);
    w->scratch = base + at->scratch;
    for (int k = 0; k < 2 && p->layout.chunk_bytes; k++) {
        CUZK_TRY(cuzk_cuda_take(p->memory, &w->chunk[k], p->layout.chunk_bytes,
                                "points on their way", err));
    }
    return CUZK_OK;
}

/* Nothing is in work. The block has the last partition's witness and its scalars' digits. */
static void free_work(cuzk_cuda_prover *p)
{
    cuzk_cuda_work *w = &p->work;
    if (w->block.p) {
        (void)cuzk_cuda_zero(w->block.p, w->block.bytes, p->stream, NULL);
        (void)cuzk_cuda_sync(p->stream, NULL);
    }
    cuzk_cuda_give(p->memory, &w->block);
    cuzk_cuda_give(p->memory, &w->chunk[0]);
    cuzk_cuda_give(p->memory, &w->chunk[1]);
}

static cuzk_code open_prover(cuzk_cuda_prover **ret, cuzk_shape *shape, const key_source *from,
                             cuzk_cuda_memory *m, cuzk_load_times *times, cuzk_err *err)
{
    uint64_t start = cuzk_clock_ns(), middle = start;
    cuzk_cuda_prover *p = calloc(1, sizeof *p);
    if (!p) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a prover");
    }
    p->memory = m;
    pthread_mutex_init(&p->mu, NULL);
    cuzk_code code = make(p, shape, err);
    if (code == CUZK_OK) {
        middle = cuzk_clock_ns();
        code = make_key(p, shape, from, err);
    }
    if (code == CUZK_OK) {
        code = make_work(p, err);
    }
    if (code != CUZK_OK) {
        cuzk_cuda_prover_free(p);
        return code;
    }
    *times = (cuzk_load_times){middle - start, cuzk_clock_ns() - middle};
    p->shape = shape;
    *ret = p;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_prover_new(cuzk_cuda_prover **ret, cuzk_shape *shape, const char *params,
                               cuzk_cuda_memory *m, cuzk_load_times *times, cuzk_err *err)
{
    key_source from = {params, NULL};
    return open_prover(ret, shape, &from, m, times, err);
}

cuzk_code cuzk_cuda_prover_setup(cuzk_cuda_prover **ret, cuzk_shape *shape,
                                 const cuzk_trapdoor *trapdoor, cuzk_cuda_memory *m,
                                 cuzk_load_times *times, cuzk_err *err)
{
    key_source from = {NULL, trapdoor};
    return open_prover(ret, shape, &from, m, times, err);
}

void cuzk_cuda_prover_free(cuzk_cuda_prover *p)
{
    if (!p) {
        return;
    }
    free_work(p);
    cuzk_cuda_key_free(p->key);
    cuzk_cuda_ntt_free(p->inverse);
    cuzk_cuda_ntt_free(p->forward);
    cuzk_cuda_ntt_free(p->back);
    cuzk_cuda_unbook(p->memory, p->table_bytes);
    cuzk_cuda_expand_free(p->expand);
    cuzk_cuda_circuit_free(p->circuit);
    cuzk_cuda_give(p->memory, &p->bad_row);
    cuzk_cuda_free_pinned(p->pinned);
    for (int k = 0; k < 2; k++) {
        cuzk_cuda_event_free(p->arrived[k]);
        cuzk_cuda_event_free(p->used[k]);
    }
    for (int i = 0; i < CUZK_CUDA_MARKS; i++) {
        cuzk_cuda_event_free(p->marks[i]);
    }
    cuzk_cuda_stream_free(p->stream);
    cuzk_cuda_stream_free(p->copies);
    cuzk_shape_free(p->shape);
    pthread_mutex_destroy(&p->mu);
    free(p->sums);
    free(p);
}

const cuzk_cuda_key *cuzk_cuda_prover_key(const cuzk_cuda_prover *p) { return p->key; }

const cuzk_cuda_layout *cuzk_cuda_prover_layout(const cuzk_cuda_prover *p) { return &p->layout; }
