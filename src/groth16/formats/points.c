#include "groth16/formats/points.h"

#include <inttypes.h>
#include <stdatomic.h>

enum {
    TASK_POINTS = 512,
    TASKS_PER_THREAD = 8, /* in a run; more of them level out threads of unequal speed */
};

/* Why a point was refused, or NULL. */
static const char *g1_complaint(g1_affine *ret, const uint8_t *bytes, point_check check)
{
    point_status status = g1_decode(ret, bytes, check);
    if (status != POINT_OK) {
        return point_status_text(status);
    }
    return g1_affine_is_inf(ret) ? "the point at infinity" : NULL;
}

static const char *g2_complaint(g2_affine *ret, const uint8_t *bytes, point_check check)
{
    point_status status = g2_decode(ret, bytes, check);
    if (status != POINT_OK) {
        return point_status_text(status);
    }
    return g2_affine_is_inf(ret) ? "the point at infinity" : NULL;
}

cuzk_code cuzk_points_take_g1(cuzk_cursor *c, const char *field, g1_affine *ret, point_check check,
                              cuzk_err *err)
{
    const uint8_t *bytes;
    size_t offset = cuzk_cursor_offset(c);
    CUZK_TRY(cuzk_cursor_take(c, G1_UNCOMPRESSED_BYTES, field, &bytes, err));
    g1_affine a;
    const char *complaint = g1_complaint(&a, bytes, check);
    if (complaint) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: %s: expected a finite point of G1, found %s", c->name,
                         offset, field, complaint);
    }
    *ret = a;
    return CUZK_OK;
}

cuzk_code cuzk_points_take_g2(cuzk_cursor *c, const char *field, g2_affine *ret, point_check check,
                              cuzk_err *err)
{
    const uint8_t *bytes;
    size_t offset = cuzk_cursor_offset(c);
    CUZK_TRY(cuzk_cursor_take(c, G2_UNCOMPRESSED_BYTES, field, &bytes, err));
    g2_affine a;
    const char *complaint = g2_complaint(&a, bytes, check);
    if (complaint) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: offset %zu: %s: expected a finite point of G2, found %s", c->name,
                         offset, field, complaint);
    }
    *ret = a;
    return CUZK_OK;
}

typedef struct decode_ctx {
    const cuzk_point_list *list;
    void *ret;
    point_check check;
    uint64_t run_begin, run_end;
    _Atomic uint64_t first_bad; /* lowest index that was refused so far, n when none was */
} decode_ctx;

static const char *decode_one(const cuzk_point_list *list, void *ret, uint64_t i, point_check check)
{
    if (list->is_g2) {
        g2_affine a, *at = ret ? (g2_affine *)ret + i : &a;
        return g2_complaint(at, list->bytes + i * G2_UNCOMPRESSED_BYTES, check);
    }
    g1_affine a, *at = ret ? (g1_affine *)ret + i : &a;
    return g1_complaint(at, list->bytes + i * G1_UNCOMPRESSED_BYTES, check);
}

static void decode_task(void *opaque, size_t index, unsigned worker)
{
    (void)worker;
    decode_ctx *ctx = opaque;
    uint64_t begin = ctx->run_begin + index * TASK_POINTS;
    uint64_t end = ctx->run_end - begin < TASK_POINTS ? ctx->run_end : begin + TASK_POINTS;
    for (uint64_t i = begin; i < end; i++) {
        if (decode_one(ctx->list, ctx->ret, i, ctx->check)) {
            /* Relaxed: the end of the loop orders it before the read. */
            uint64_t seen = atomic_load_explicit(&ctx->first_bad, memory_order_relaxed);
            while (i < seen && !atomic_compare_exchange_weak_explicit(&ctx->first_bad, &seen, i,
                                                                      memory_order_relaxed,
                                                                      memory_order_relaxed)) {
            }
            return;
        }
    }
}

/* Lets go of the file's pages up to point `end`, from `begin` on; returns where it stopped. */
static uint64_t drop_done(const cuzk_point_list *list, uint64_t begin, uint64_t end)
{
    enum { AT_ONCE = 16 << 20, DROP_ALIGN = 1 << 16 }; /* bytes; the latter spans pages */
    uint64_t at =
        list->offset + end * (list->is_g2 ? G2_UNCOMPRESSED_BYTES : G1_UNCOMPRESSED_BYTES);
    if (end < list->n && at - begin < AT_ONCE) {
        return begin;
    }
    cuzk_file_map_drop(list->map, begin, at);
    return at - at % DROP_ALIGN;
}

cuzk_code cuzk_points_refuse(const cuzk_point_list *list, uint64_t i, const char *found,
                             cuzk_err *err)
{
    uint64_t size = list->is_g2 ? G2_UNCOMPRESSED_BYTES : G1_UNCOMPRESSED_BYTES;
    return CUZK_FAIL(
        err, CUZK_E_INPUT,
        "%s: offset %" PRIu64 ": %s[%" PRIu64 "]: expected a finite point of %s, found %s",
        list->file, list->offset + i * size, list->name, i, list->is_g2 ? "G2" : "G1", found);
}

cuzk_code cuzk_points_decode(const cuzk_point_list *list, void *ret, point_check check,
                             cuzk_pool *pool, const cuzk_progress *progress, cuzk_err *err)
{
    decode_ctx ctx = {.list = list, .ret = ret, .check = check};
    atomic_init(&ctx.first_bad, list->n);
    uint64_t dropped = list->offset;
    uint64_t run = (uint64_t)TASK_POINTS * TASKS_PER_THREAD * cuzk_pool_size(pool);
    for (uint64_t begin = 0; begin < list->n; begin = ctx.run_end) {
        ctx.run_begin = begin;
        ctx.run_end = list->n - begin < run ? list->n : begin + run;
        cuzk_pool_run(pool, (size_t)((ctx.run_end - begin + TASK_POINTS - 1) / TASK_POINTS),
                      decode_task, &ctx);
        uint64_t bad = atomic_load_explicit(&ctx.first_bad, memory_order_relaxed);
        if (bad < list->n) {
            return cuzk_points_refuse(list, bad, decode_one(list, NULL, bad, check), err);
        }
        if (list->map) {
            dropped = drop_done(list, dropped, ctx.run_end);
        }
        if (progress && progress->fn) {
            progress->fn(progress->ctx, list->name, ctx.run_end, list->n);
        }
    }
    return CUZK_OK;
}
