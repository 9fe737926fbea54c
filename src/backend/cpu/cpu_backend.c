#include "backend/cpu/cpu_backend.h"

#include "backend/loaded.h"
#include "backend/task.h"
#include "base/system.h"
#include "gadget/expand.h"
#include "groth16/formats/formats.h"
#include "r1cs/assignment.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A circuit that is loaded. */
typedef struct circuit {
    uint64_t bytes; /* that it takes */
    cuzk_shape *shape;
    cuzk_pk *pk;
} circuit;

typedef struct cpu_backend {
    cuzk_backend base;
    cuzk_pool *pool;
    bool pinned;
    cpu_set_t cpus;
    uint64_t budget;
    _Atomic uint64_t used; /* bytes of circuits */
    cuzk_loaded *loaded;
} cpu_backend;

static cpu_backend *cpu_of(cuzk_backend *b) { return (cpu_backend *)b; }

/* ---- on the right processors ---- */

/* The caller takes part in the pool's loops, so it goes where the pool is, for the time of a call.
 */
static void go_there(const cpu_backend *b, cpu_set_t *before)
{
    if (b->pinned && sched_getaffinity(0, sizeof *before, before) == 0) {
        sched_setaffinity(0, sizeof b->cpus, &b->cpus);
    }
}

static void go_back(const cpu_backend *b, const cpu_set_t *before)
{
    if (b->pinned) {
        sched_setaffinity(0, sizeof *before, before);
    }
}

/* ---- what it costs ---- */

static uint64_t key_bytes(const cuzk_params_layout *key)
{
    const cuzk_params_list *list = key->list;
    uint64_t in_g1 = (uint64_t)list[CUZK_PARAMS_H].n + list[CUZK_PARAMS_L].n +
                     list[CUZK_PARAMS_A].n + list[CUZK_PARAMS_B_G1].n + key->vk.n_ic;
    uint64_t indices = (uint64_t)list[CUZK_PARAMS_A].n + list[CUZK_PARAMS_B_G1].n;
    return in_g1 * sizeof(g1_affine) + list[CUZK_PARAMS_B_G2].n * sizeof(g2_affine) +
           indices * sizeof(uint32_t);
}

static uint64_t greater(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The most that a proof holds at a time: the witness throughout; first its packed form and three
 * vectors, then one vector and the scratch of the sums. */
static uint64_t proof_bytes(const cuzk_shape *s, const cuzk_params_layout *key, unsigned threads)
{
    enum { EVAL_SCRATCH = 1 << 19 }; /* of a thread: r1cs/packed.h */
    uint64_t n = (uint64_t)s->n_inputs + cuzk_shape_aux(s);
    uint64_t vector = greater((uint64_t)key->list[CUZK_PARAMS_H].n + 1, n) * sizeof(fr);
    uint64_t packed = (uint64_t)cuzk_shape_slots(s) * sizeof(fr) + cuzk_shape_aux(s) / 8;
    size_t sums = msm_g2_scratch_bytes(key->list[CUZK_PARAMS_B_G2].n, threads);
    for (cuzk_params_part part = CUZK_PARAMS_H; part <= CUZK_PARAMS_B_G1; part++) {
        sums = greater(sums, msm_g1_scratch_bytes(key->list[part].n, threads));
    }
    return n * sizeof(fr) +
           greater(packed + 3 * vector + (uint64_t)threads * EVAL_SCRATCH, vector + sums);
}

static cuzk_code cost_of(const cpu_backend *b, cuzk_circuit_cost *ret, const cuzk_shape *shape,
                         const cuzk_circuit_files *files, cuzk_err *err)
{
    cuzk_params_layout key;
    CUZK_TRY(cuzk_params_scan(&key, files->params, POINT_CHECK_NONE, err));
    *ret = (cuzk_circuit_cost){0};
    ret->resident[CUZK_MEMORY_HOST] = shape->image.n + key_bytes(&key);
    ret->working[CUZK_MEMORY_HOST] = proof_bytes(shape, &key, cuzk_pool_size(b->pool));
    cuzk_params_layout_clear(&key);
    return CUZK_OK;
}

static cuzk_code cpu_cost(cuzk_backend *base, cuzk_circuit_cost *ret,
                          const cuzk_circuit_files *files, cuzk_err *err)
{
    cuzk_shape *shape;
    CUZK_TRY(cuzk_files_shape(&shape, files, err));
    cuzk_code code = cost_of(cpu_of(base), ret, shape, files, err);
    cuzk_shape_free(shape);
    return code;
}

static cuzk_code cpu_info(cuzk_backend *base, cuzk_device_info *ret, cuzk_err *err)
{
    (void)err;
    cpu_backend *b = cpu_of(base);
    *ret = (cuzk_device_info){.backend = "cpu", .memory_total = b->budget};
    snprintf(ret->name, sizeof ret->name, "%u thread%s", cuzk_pool_size(b->pool),
             cuzk_pool_size(b->pool) == 1 ? "" : "s");
    ret->memory_free = b->budget - atomic_load(&b->used);
    return CUZK_OK;
}

/* ---- loading ---- */

static void free_circuit(void *ctx, void *object)
{
    cpu_backend *b = ctx;
    circuit *c = object;
    cuzk_shape_free(c->shape);
    cuzk_pk_free(c->pk);
    atomic_fetch_sub(&b->used, c->bytes);
    free(c);
}

static cuzk_code book(cpu_backend *b, circuit *c, uint64_t bytes, const char *name, cuzk_err *err)
{
    uint64_t used = atomic_load(&b->used);
    do {
        if (bytes > b->budget - used) {
            return CUZK_FAIL(err, CUZK_E_MEMORY,
                             "%s takes %" PRIu64 " bytes, %" PRIu64 " of %" PRIu64 " are free",
                             name, bytes, b->budget - used, b->budget);
        }
    } while (!atomic_compare_exchange_weak(&b->used, &used, used + bytes));
    c->bytes = bytes;
    return CUZK_OK;
}

static cuzk_code read_circuit(cpu_backend *b, circuit *c, cuzk_load_times *times,
                              const cuzk_circuit_files *files, cuzk_err *err)
{
    cuzk_circuit_cost cost;
    uint64_t start = cuzk_clock_ns();
    CUZK_TRY(cuzk_files_shape(&c->shape, files, err));
    CUZK_TRY(cost_of(b, &cost, c->shape, files, err));
    CUZK_TRY(book(b, c, cost.resident[CUZK_MEMORY_HOST], files->circuit, err));
    times->circuit_ns = cuzk_clock_ns() - start;
    CUZK_TRY(
        cuzk_params_read_shape(&c->pk, files->params, c->shape, POINT_CHECK_NONE, b->pool, err));
    times->key_ns = cuzk_clock_ns() - start - times->circuit_ns;
    return CUZK_OK;
}

static cuzk_code load_circuit(void *ctx, void **ret, cuzk_load_times *ret_times,
                              const cuzk_circuit_files *files, cuzk_err *err)
{
    cpu_backend *b = ctx;
    cpu_set_t before;
    circuit *c = calloc(1, sizeof *c);
    if (!c) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a circuit");
    }
    go_there(b, &before);
    cuzk_code code = read_circuit(b, c, ret_times, files, err);
    go_back(b, &before);
    if (code != CUZK_OK) {
        free_circuit(b, c);
        return code;
    }
    *ret = c;
    return CUZK_OK;
}

static cuzk_code cpu_load(cuzk_backend *b, cuzk_load_times *ret, const cuzk_circuit_files *files,
                          cuzk_err *err)
{
    return cuzk_loaded_load(cpu_of(b)->loaded, ret, files, err);
}

static cuzk_code cpu_unload(cuzk_backend *b, const char *name, bool *ret_was_loaded, cuzk_err *err)
{
    (void)err;
    *ret_was_loaded = cuzk_loaded_unload(cpu_of(b)->loaded, name);
    return CUZK_OK;
}

/* ---- proving ---- */

/* One partition in work. What it owns is secret. */
typedef struct work {
    const circuit *c;
    const cuzk_partition_task *task;
    cuzk_pool *pool;
    cuzk_packed packed;
    size_t slots; /* of packed, to be wiped */
    fr_repr *z;
    size_t n_z;
} work;

static void drop_packed(work *w)
{
    if (w->packed.full) {
        cuzk_wipe(w->packed.full, w->slots * sizeof(fr));
    }
    cuzk_packed_clear(&w->packed);
}

/* Both stages of the witness: packed, and as integers for the sums. */
static cuzk_code expand(work *w, cuzk_err *err)
{
    const cuzk_shape *s = w->c->shape;
    cuzk_ports ports = {(fr *)(uintptr_t)w->task->inputs.p,
                        (uint8_t *)(uintptr_t)w->task->records.p}; /* only read */
    w->n_z = (size_t)s->n_inputs + cuzk_shape_aux(s);
    w->slots = cuzk_shape_slots(s);
    w->z = cuzk_alloc_large(w->n_z, sizeof *w->z);
    if (!w->z) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a witness of %zu values", w->n_z);
    }
    CUZK_TRY(cuzk_expand(&w->packed, s, &ports, w->pool, err));
    cuzk_packed_values(&w->packed, s, w->z, w->pool);
    return CUZK_OK;
}

enum { SPAN = 4096 };

/* Whether a b = c in every row. */
typedef struct comparison {
    const fr *a, *b, *c;
    size_t n;
    atomic_bool differs;
} comparison;

static void compare_span(void *ctx, size_t index, unsigned worker)
{
    (void)worker;
    comparison *j = ctx;
    size_t end = j->n - index * SPAN < SPAN ? j->n : (index + 1) * SPAN;
    for (size_t i = index * SPAN; i < end; i++) {
        fr product;
        fr_mul(&product, &j->a[i], &j->b[i]);
        if (!fr_eq(&product, &j->c[i])) {
            /* Relaxed: the end of the loop orders it before the read. */
            atomic_store_explicit(&j->differs, true, memory_order_relaxed);
            return;
        }
    }
}

static cuzk_code eval_rows(void *ctx, fr *a, fr *b, fr *c, cuzk_pool *pool, cuzk_err *err)
{
    work *w = ctx;
    const cuzk_shape *s = w->c->shape;
    fr *const rows[] = {a, b, c};
    for (unsigned m = 0; m < 3; m++) {
        CUZK_TRY(cuzk_packed_eval(&w->packed, s, m, 0, s->n_instances, rows[m], pool, err));
    }
    comparison j = {a, b, c, cuzk_shape_rows(s), false};
    cuzk_pool_run(pool, (j.n + SPAN - 1) / SPAN, compare_span, &j);
    if (atomic_load_explicit(&j.differs, memory_order_relaxed)) {
        CUZK_TRY(cuzk_packed_check(&w->packed, s, pool, err)); /* says which row */
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "%s: two evaluations of a row differ", s->name);
    }
    drop_packed(w); /* the sums need the room */
    return CUZK_OK;
}

static cuzk_code prove_with(work *w, cuzk_partition_result *ret, const fr *r, const fr *s,
                            cuzk_err *err)
{
    const cuzk_shape *shape = w->c->shape;
    cuzk_rows rows = {.n_inputs = shape->n_inputs,
                      .n_aux = cuzk_shape_aux(shape),
                      .n_rows = cuzk_shape_rows(shape),
                      .has_c = true,
                      .eval = eval_rows,
                      .ctx = w};
    cuzk_proof proof;
    cuzk_prove_times times;
    uint64_t start = cuzk_clock_ns();
    CUZK_TRY(expand(w, err));
    uint64_t expand_ns = cuzk_clock_ns() - start;
    CUZK_TRY(cuzk_groth16_prove_rows(&proof, w->c->pk, &rows, w->z, w->n_z, r, s, w->pool, NULL,
                                     &times, err));
    cuzk_proof_encode(ret->proof, &proof);
    ret->times.expand_ns = expand_ns;
    ret->times.eval_ns = times.eval_ns;
    ret->times.ntt_ns = times.ntt_ns;
    ret->times.h_msm_ns = times.h_msm_ns;
    ret->times.l_msm_ns = times.l_msm_ns;
    ret->times.a_msm_ns = times.a_msm_ns;
    ret->times.b1_msm_ns = times.b1_msm_ns;
    ret->times.b2_msm_ns = times.b2_msm_ns;
    return CUZK_OK;
}

static cuzk_code prove_loaded(cpu_backend *b, const circuit *c, cuzk_partition_result *ret,
                              const cuzk_partition_task *task, cuzk_err *err)
{
    fr r, s;
    CUZK_TRY(cuzk_task_check(task, c->shape, &r, &s, err));
    work w = {.c = c, .task = task, .pool = b->pool};
    cuzk_code code = prove_with(&w, ret, &r, &s, err);
    drop_packed(&w);
    if (w.z) {
        cuzk_wipe(w.z, w.n_z * sizeof *w.z);
        free(w.z);
    }
    cuzk_wipe(&r, sizeof r);
    cuzk_wipe(&s, sizeof s);
    return code;
}

static cuzk_code cpu_prove(cuzk_backend *base, cuzk_partition_result *ret,
                           const cuzk_partition_task *task, cuzk_err *err)
{
    cpu_backend *b = cpu_of(base);
    cuzk_loaded_circuit *use;
    void *c;
    CUZK_TRY(cuzk_loaded_use(b->loaded, &use, &c, task->circuit, err));
    cpu_set_t before;
    go_there(b, &before);
    cuzk_code code = prove_loaded(b, c, ret, task, err);
    go_back(b, &before);
    cuzk_loaded_end(b->loaded, use);
    return code;
}

/* ---- opening and closing ---- */

static void cpu_close(cuzk_backend *base)
{
    cpu_backend *b = cpu_of(base);
    cuzk_loaded_free(b->loaded);
    cuzk_pool_free(b->pool);
    free(b);
}

static cuzk_code choose_cpus(cpu_backend *b, const cuzk_cpu_options *o, cuzk_err *err)
{
    cpu_set_t available;
    b->pinned = o->cpus && o->n_cpus > 0;
    if (!b->pinned) {
        return CUZK_OK;
    }
    if (sched_getaffinity(0, sizeof available, &available) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "sched_getaffinity: %s", strerror(errno));
    }
    CPU_ZERO(&b->cpus);
    for (size_t i = 0; i < o->n_cpus; i++) {
        size_t cpu = (size_t)o->cpus[i];
        if (o->cpus[i] < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &available)) {
            return CUZK_FAIL(err, CUZK_E_ARG, "processor %d is not there for this process",
                             o->cpus[i]);
        }
        CPU_SET(cpu, &b->cpus);
    }
    return CUZK_OK;
}

static uint64_t machine_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
}

cuzk_code cuzk_backend_cpu_open(cuzk_backend **ret, const cuzk_cpu_options *options, cuzk_err *err)
{
    static const cuzk_loaded_ops circuits = {load_circuit, free_circuit};
    static const cuzk_backend_ops ops = {
        .info = cpu_info,
        .cost = cpu_cost,
        .load = cpu_load,
        .unload = cpu_unload,
        .prove = cpu_prove,
        .close = cpu_close,
    };
    cpu_backend *b = calloc(1, sizeof *b);
    if (!b) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a backend");
    }
    b->base.ops = &ops;
    b->budget = options->budget ? options->budget : machine_memory();
    cuzk_code code = cuzk_loaded_new(&b->loaded, &circuits, b, err);
    code = code == CUZK_OK ? choose_cpus(b, options, err) : code;
    if (code == CUZK_OK) {
        cpu_set_t before; /* the pool's threads inherit the set, and 0 threads means all of it */
        go_there(b, &before);
        code = cuzk_pool_new(&b->pool, options->threads, err);
        go_back(b, &before);
    }
    if (code != CUZK_OK) {
        cpu_close(&b->base);
        return code;
    }
    *ret = &b->base;
    return CUZK_OK;
}
