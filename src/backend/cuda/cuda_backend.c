#include "backend/cuda/cuda_backend.h"

#include "backend/cuda/prove.h"
#include "backend/loaded.h"
#include "backend/task.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cuda_backend {
    cuzk_backend base;
    cuzk_cuda_options options;
    char name[64];           /* of the device */
    cuzk_cuda_memory memory; /* its budget */
    cuzk_loaded *loaded;     /* of cuzk_cuda_prover */
    pthread_mutex_t mu;
    pthread_cond_t fewer; /* calls */
    unsigned calls;       /* guarded by mu: in work on the device */
    bool lost;            /* guarded by mu */
    uint64_t losses;      /* guarded by mu */
} cuda_backend;

static cuda_backend *cuda_of(cuzk_backend *b) { return (cuda_backend *)b; }

/* ---- the device ---- */

/* Without anything loaded. */
static cuzk_code make_ready(cuda_backend *b, cuzk_err *err)
{
    cuzk_device_info device = {0};
    CUZK_TRY(cuzk_cuda_select(b->options.ordinal, err));
    CUZK_TRY(cuzk_cuda_describe(&device, err));
    b->memory.budget = cuzk_cuda_room(device.memory_free, b->options.budget);
    memcpy(b->name, device.name, sizeof b->name);
    return cuzk_cuda_known_answer(&b->memory, err);
}

/* After a loss, when no call is in work; with the mutex, so that nobody comes between. */
static cuzk_code start_anew(cuda_backend *b, cuzk_err *err)
{
    cuzk_err why = {0};
    cuzk_loaded_clear(b->loaded);
    cuzk_code code = cuzk_cuda_select(b->options.ordinal, &why);
    code = code == CUZK_OK ? cuzk_cuda_reset(&why) : code;
    code = code == CUZK_OK ? make_ready(b, &why) : code;
    b->lost = code != CUZK_OK;
    return code == CUZK_OK ? CUZK_OK
                           : CUZK_FAIL(err, CUZK_E_UNAVAILABLE,
                                       "CUDA device %d was lost and cannot be started anew: %.160s",
                                       b->options.ordinal, why.msg);
}

/* Begins a call that uses the device, which is then the thread's current one. Each that succeeds is
 * ended by leave. */
static cuzk_code enter(cuda_backend *b, cuzk_err *err)
{
    pthread_mutex_lock(&b->mu);
    while (b->lost && b->calls > 0) { /* they still hold memory there */
        pthread_cond_wait(&b->fewer, &b->mu);
    }
    cuzk_code code = b->lost ? start_anew(b, err) : cuzk_cuda_select(b->options.ordinal, err);
    b->calls += code == CUZK_OK;
    pthread_mutex_unlock(&b->mu);
    return code;
}

/* `code` and `why` say how the call ended; of the device's errors CUZK_E_UNAVAILABLE alone means
 * that it is lost (gpu.h). Returns the code, and the error. */
static cuzk_code leave(cuda_backend *b, cuzk_code code, const cuzk_err *why, cuzk_err *err)
{
    bool first = false;
    pthread_mutex_lock(&b->mu);
    if (code == CUZK_E_UNAVAILABLE && !b->lost) {
        b->lost = first = true;
        b->losses++;
    }
    b->calls--;
    pthread_cond_broadcast(&b->fewer);
    pthread_mutex_unlock(&b->mu);
    if (first && b->options.lost) {
        b->options.lost(b->options.ctx, why->msg);
    }
    if (code != CUZK_OK && err) {
        *err = *why;
    }
    return code;
}

/* ---- calls ---- */

static cuzk_code cuda_info(cuzk_backend *base, cuzk_device_info *ret, cuzk_err *err)
{
    (void)err;
    cuda_backend *b = cuda_of(base);
    *ret = (cuzk_device_info){.backend = "cuda", .ordinal = b->options.ordinal};
    pthread_mutex_lock(&b->mu);
    uint64_t used = atomic_load(&b->memory.used);
    memcpy(ret->name, b->name, sizeof ret->name);
    ret->memory_total = b->memory.budget;
    ret->memory_free = used < b->memory.budget ? b->memory.budget - used : 0;
    ret->losses = b->losses;
    pthread_mutex_unlock(&b->mu);
    return CUZK_OK;
}

static cuzk_code cuda_cost(cuzk_backend *base, cuzk_circuit_cost *ret,
                           const cuzk_circuit_files *files, cuzk_err *err)
{
    cuda_backend *b = cuda_of(base);
    cuzk_shape *shape;
    cuzk_err why = {0};
    CUZK_TRY(cuzk_files_shape(&shape, files, err));
    cuzk_code code = enter(b, err);
    if (code == CUZK_OK) {
        code = cuzk_cuda_prover_cost(ret, shape, files->params, b->memory.budget, &why);
        code = leave(b, code, &why, err);
    }
    cuzk_shape_free(shape);
    return code;
}

static cuzk_code load_prover(void *ctx, void **ret, cuzk_load_times *ret_times,
                             const cuzk_circuit_files *files, cuzk_err *err)
{
    cuda_backend *b = ctx;
    cuzk_shape *shape;
    cuzk_cuda_prover *p;
    CUZK_TRY(cuzk_files_shape(&shape, files, err));
    cuzk_code code = cuzk_cuda_prover_new(&p, shape, files->params, &b->memory, ret_times, err);
    if (code != CUZK_OK) {
        cuzk_shape_free(shape);
        return code;
    }
    *ret = p;
    return CUZK_OK;
}

static void free_prover(void *ctx, void *object)
{
    cuda_backend *b = ctx;
    (void)cuzk_cuda_select(b->options.ordinal, NULL); /* who closes has not selected it */
    cuzk_cuda_prover_free(object);
}

static cuzk_code cuda_load(cuzk_backend *base, cuzk_load_times *ret,
                           const cuzk_circuit_files *files, cuzk_err *err)
{
    cuda_backend *b = cuda_of(base);
    cuzk_err why = {0};
    CUZK_TRY(enter(b, err));
    cuzk_code code = cuzk_loaded_load(b->loaded, ret, files, &why);
    return leave(b, code, &why, err);
}

static cuzk_code cuda_unload(cuzk_backend *base, const char *circuit, bool *ret_was_loaded,
                             cuzk_err *err)
{
    cuda_backend *b = cuda_of(base);
    CUZK_TRY(enter(b, err));
    *ret_was_loaded = cuzk_loaded_unload(b->loaded, circuit);
    return leave(b, CUZK_OK, NULL, NULL);
}

static cuzk_code cuda_prove(cuzk_backend *base, cuzk_partition_result *ret,
                            const cuzk_partition_task *task, cuzk_err *err)
{
    cuda_backend *b = cuda_of(base);
    cuzk_loaded_circuit *use;
    void *prover;
    cuzk_err why = {0};
    CUZK_TRY(enter(b, err));
    cuzk_code code = cuzk_loaded_use(b->loaded, &use, &prover, task->circuit, err);
    if (code != CUZK_OK) { /* not loaded: the device is well */
        (void)leave(b, CUZK_OK, NULL, NULL);
        return code;
    }
    code = cuzk_cuda_prove(prover, ret, task, &why);
    cuzk_loaded_end(b->loaded, use); /* may free the prover: before the device is started anew */
    return leave(b, code, &why, err);
}

/* ---- opening and closing ---- */

static void cuda_close(cuzk_backend *base)
{
    cuda_backend *b = cuda_of(base);
    cuzk_loaded_free(b->loaded);
    pthread_cond_destroy(&b->fewer);
    pthread_mutex_destroy(&b->mu);
    free(b);
}

cuzk_code cuzk_backend_cuda_open(cuzk_backend **ret, const cuzk_cuda_options *options,
                                 cuzk_err *err)
{
    static const cuzk_loaded_ops provers = {load_prover, free_prover};
    static const cuzk_backend_ops ops = {
        .info = cuda_info,
        .cost = cuda_cost,
        .load = cuda_load,
        .unload = cuda_unload,
        .prove = cuda_prove,
        .close = cuda_close,
    };
    cuda_backend *b = calloc(1, sizeof *b);
    if (!b) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a backend");
    }
    b->base.ops = &ops;
    b->options = *options;
    pthread_mutex_init(&b->mu, NULL);
    pthread_cond_init(&b->fewer, NULL);
    cuzk_code code = cuzk_loaded_new(&b->loaded, &provers, b, err);
    code = code == CUZK_OK ? make_ready(b, err) : code;
    if (code != CUZK_OK) {
        cuda_close(&b->base);
        return code;
    }
    *ret = &b->base;
    return CUZK_OK;
}
