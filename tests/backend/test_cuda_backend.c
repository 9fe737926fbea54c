#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/prove.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/keys.h"
#include "support/support.h"

/*
 * The backend's own part: its account, the list, and what becomes of a device that is lost. In
 * place of the prover (backend/cuda/prove.h) stands the one below, which fails as it is told to.
 */

enum { PROVER_BYTES = 1 << 20 };

struct cuzk_cuda_prover {
    cuzk_cuda_memory *memory;
    cuzk_cuda_block block;
    cuzk_shape *shape;
};

/* What the prover does next, and has done. */
static struct {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    cuzk_code load, prove, answer; /* guarded by mu: how it ends */
    bool hold;                     /* guarded by mu: proofs wait */
    unsigned proving;              /* guarded by mu: that wait */
    unsigned answers;              /* guarded by mu: known answers asked for */
    unsigned provers;              /* guarded by mu: that are there */
} plan = {.mu = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static cuzk_code planned(const cuzk_code *code, const char *what, cuzk_err *err)
{
    pthread_mutex_lock(&plan.mu);
    cuzk_code is = *code;
    pthread_mutex_unlock(&plan.mu);
    return is == CUZK_OK ? CUZK_OK : CUZK_FAIL(err, is, "%s fails as planned", what);
}

cuzk_code cuzk_cuda_prover_new(cuzk_cuda_prover **ret, cuzk_shape *shape, const char *params,
                               cuzk_cuda_memory *m, cuzk_load_times *times, cuzk_err *err)
{
    assert_non_null(strstr(params, "params"));
    CUZK_TRY(planned(&plan.load, "load", err));
    cuzk_cuda_prover *p = calloc(1, sizeof *p);
    assert_non_null(p);
    cuzk_code code = cuzk_cuda_take(m, &p->block, PROVER_BYTES, shape->name, err);
    if (code != CUZK_OK) {
        free(p);
        return code;
    }
    p->memory = m;
    p->shape = shape;
    *times = (cuzk_load_times){1, 2};
    pthread_mutex_lock(&plan.mu);
    plan.provers++;
    pthread_mutex_unlock(&plan.mu);
    *ret = p;
    return CUZK_OK;
}

cuzk_code cuzk_cuda_prover_cost(cuzk_circuit_cost *ret, const cuzk_shape *shape, const char *params,
                                uint64_t budget, cuzk_err *err)
{
    (void)params;
    (void)err;
    *ret = (cuzk_circuit_cost){0};
    ret->resident[CUZK_MEMORY_DEVICE] = PROVER_BYTES;
    ret->working[CUZK_MEMORY_DEVICE] = budget;
    ret->working[CUZK_MEMORY_HOST] = shape->n_inputs;
    return CUZK_OK;
}

void cuzk_cuda_prover_free(cuzk_cuda_prover *p)
{
    if (p) {
        cuzk_cuda_give(p->memory, &p->block);
        cuzk_shape_free(p->shape);
        free(p);
        pthread_mutex_lock(&plan.mu);
        plan.provers--;
        pthread_mutex_unlock(&plan.mu);
    }
}

cuzk_code cuzk_cuda_prove(cuzk_cuda_prover *p, cuzk_partition_result *ret,
                          const cuzk_partition_task *task, cuzk_err *err)
{
    assert_int_equal(strncmp(task->circuit, p->shape->name, strlen(task->circuit)), 0);
    pthread_mutex_lock(&plan.mu);
    plan.proving++;
    pthread_cond_broadcast(&plan.changed);
    while (plan.hold) {
        pthread_cond_wait(&plan.changed, &plan.mu);
    }
    plan.proving--;
    assert_true(plan.provers > 0); /* nobody frees it meanwhile */
    pthread_mutex_unlock(&plan.mu);
    CUZK_TRY(planned(&plan.prove, "proof", err));
    memset(ret, 7, sizeof *ret);
    return CUZK_OK;
}

cuzk_code cuzk_cuda_known_answer(cuzk_cuda_memory *m, cuzk_err *err)
{
    assert_int_equal(m->used, 0);
    pthread_mutex_lock(&plan.mu);
    plan.answers++;
    pthread_mutex_unlock(&plan.mu);
    return planned(&plan.answer, "known answer", err);
}

static void set(cuzk_code *code, cuzk_code value)
{
    pthread_mutex_lock(&plan.mu);
    *code = value;
    pthread_mutex_unlock(&plan.mu);
}

static int reset_plan(void **state)
{
    (void)state;
    plan.load = plan.prove = plan.answer = CUZK_OK;
    plan.answers = 0;
    assert_int_equal(plan.provers, 0); /* the test before left nothing */
    return setenv("CUZK_TWIN_DEVICES", "2", 1);
}

/* ---- what tests do ---- */

static unsigned told; /* of a loss */

static void on_lost(void *ctx, const char *why)
{
    assert_string_equal(ctx, "context");
    assert_non_null(strstr(why, "as planned"));
    told++;
}

static cuzk_backend *open_cuda(uint64_t budget)
{
    static char context[] = "context";
    cuzk_backend *b;
    cuzk_err err;
    const cuzk_cuda_options options = {1, budget, on_lost, context};
    told = 0;
    if (cuzk_backend_cuda_open(&b, &options, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return b;
}

static cuzk_code load(cuzk_backend *b, cuzk_err *err)
{
    test_circuit c;
    cuzk_load_times times;
    test_circuit_open(&c, "window-2KiB");
    cuzk_circuit_files files = test_circuit_files(&c);
    return b->ops->load(b, &times, &files, err);
}

static cuzk_code prove(cuzk_backend *b, cuzk_err *err)
{
    const cuzk_partition_task task = {.circuit = "window-2KiB"};
    cuzk_partition_result result;
    return b->ops->prove(b, &result, &task, err);
}

static cuzk_device_info info_of(cuzk_backend *b)
{
    cuzk_device_info info;
    assert_int_equal(b->ops->info(b, &info, NULL), CUZK_OK);
    return info;
}

static void a_device_says_what_it_is_and_what_is_free(void **state)
{
    (void)state;
    cuzk_backend *b = open_cuda(3 * PROVER_BYTES);
    cuzk_device_info info = info_of(b);
    assert_string_equal(info.backend, "cuda");
    assert_int_equal(info.ordinal, 1);
    assert_true(info.name[0] != 0);
    assert_int_equal(info.memory_total, 3 * PROVER_BYTES);
    assert_int_equal(info.memory_free, 3 * PROVER_BYTES);
    assert_int_equal(load(b, NULL), CUZK_OK);
    assert_int_equal(info_of(b).memory_free, 2 * PROVER_BYTES);
    test_circuit c;
    cuzk_circuit_cost cost;
    test_circuit_open(&c, "window-2KiB");
    cuzk_circuit_files files = test_circuit_files(&c);
    assert_int_equal(b->ops->cost(b, &cost, &files, NULL), CUZK_OK);
    assert_int_equal(cost.working[CUZK_MEMORY_DEVICE], 3 * PROVER_BYTES);
    b->ops->close(b);
    b = open_cuda(0); /* what is free, less a reserve */
    cuzk_device_info card = {0};
    assert_int_equal(cuzk_cuda_describe(&card, NULL), CUZK_OK);
    info = info_of(b);
    assert_true(info.memory_total < card.memory_free);
    assert_true(info.memory_total > card.memory_free / 10 * 9);
    b->ops->close(b);
    b = open_cuda(UINT64_MAX); /* no more than there is */
    assert_int_equal(info_of(b).memory_total, info.memory_total);
    b->ops->close(b);
}

static void what_is_loaded_proves_until_it_is_unloaded(void **state)
{
    (void)state;
    bool was_loaded = false;
    cuzk_err err;
    cuzk_backend *b = open_cuda(3 * PROVER_BYTES);
    assert_int_equal(prove(b, &err), CUZK_E_UNAVAILABLE);
    assert_string_equal(err.msg, "window-2KiB is not loaded");
    assert_int_equal(load(b, NULL), CUZK_OK);
    assert_int_equal(prove(b, NULL), CUZK_OK);
    assert_int_equal(b->ops->unload(b, "window-2KiB", &was_loaded, NULL), CUZK_OK);
    assert_true(was_loaded);
    assert_int_equal(info_of(b).memory_free, 3 * PROVER_BYTES);
    assert_int_equal(prove(b, NULL), CUZK_E_UNAVAILABLE);
    assert_int_equal(info_of(b).losses, 0); /* all that is no loss of the device */
    assert_int_equal(told, 0);
    assert_int_equal(plan.answers, 1);
    b->ops->close(b);
}

static void a_budget_is_not_exceeded(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_backend *b = open_cuda(PROVER_BYTES - 1);
    assert_int_equal(load(b, &err), CUZK_E_MEMORY);
    assert_non_null(strstr(err.msg, "1048575"));
    assert_int_equal(info_of(b).memory_free, PROVER_BYTES - 1);
    assert_int_equal(info_of(b).losses, 0);
    b->ops->close(b);
}

static void a_device_that_is_not_there_or_proves_wrongly_is_refused(void **state)
{
    (void)state;
    cuzk_backend *b;
    cuzk_err err;
    cuzk_cuda_options options = {.ordinal = 2};
    assert_int_equal(cuzk_backend_cuda_open(&b, &options, &err), CUZK_E_UNAVAILABLE);
    options.ordinal = 0;
    plan.answer = CUZK_E_INVALID;
    assert_int_equal(cuzk_backend_cuda_open(&b, &options, &err), CUZK_E_INVALID);
    assert_string_equal(err.msg, "known answer fails as planned");
}

static void an_error_that_passes_costs_one_call(void **state)
{
    (void)state;
    cuzk_backend *b = open_cuda(0);
    assert_int_equal(load(b, NULL), CUZK_OK);
    set(&plan.prove, CUZK_E_INTERNAL);
    assert_int_equal(prove(b, NULL), CUZK_E_INTERNAL);
    set(&plan.prove, CUZK_E_INPUT);
    assert_int_equal(prove(b, NULL), CUZK_E_INPUT);
    set(&plan.prove, CUZK_OK);
    assert_int_equal(prove(b, NULL), CUZK_OK);
    assert_int_equal(info_of(b).losses, 0);
    assert_int_equal(plan.answers, 1);
    b->ops->close(b);
}

static void after_a_loss_all_is_gone_and_the_device_starts_anew(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_backend *b = open_cuda(0);
    uint64_t free_before = info_of(b).memory_free;
    assert_int_equal(load(b, NULL), CUZK_OK);
    set(&plan.prove, CUZK_E_UNAVAILABLE);
    assert_int_equal(prove(b, &err), CUZK_E_UNAVAILABLE);
    assert_string_equal(err.msg, "proof fails as planned");
    assert_int_equal(told, 1);
    assert_int_equal(info_of(b).losses, 1);
    set(&plan.answer, CUZK_E_UNAVAILABLE); /* it does not come back yet */
    assert_int_equal(load(b, &err), CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "device 1 was lost and cannot be started anew: known answer"));
    assert_int_equal(info_of(b).memory_free, free_before);
    assert_int_equal(plan.provers, 0);
    set(&plan.answer, CUZK_OK);
    set(&plan.prove, CUZK_OK);
    assert_int_equal(prove(b, &err), CUZK_E_UNAVAILABLE);
    assert_string_equal(err.msg, "window-2KiB is not loaded");
    assert_int_equal(plan.answers, 3);
    assert_int_equal(load(b, NULL), CUZK_OK);
    assert_int_equal(prove(b, NULL), CUZK_OK);
    set(&plan.load, CUZK_E_UNAVAILABLE); /* a load finds out as well */
    bool was_loaded = false;
    assert_int_equal(b->ops->unload(b, "window-2KiB", &was_loaded, NULL), CUZK_OK);
    assert_true(was_loaded);
    assert_int_equal(load(b, NULL), CUZK_E_UNAVAILABLE);
    assert_int_equal(info_of(b).losses, 2);
    assert_int_equal(told, 2);
    b->ops->close(b);
}

typedef struct call {
    cuzk_backend *b;
    cuzk_code code;
    pthread_t thread;
} call;

static void *prove_main(void *ctx)
{
    call *c = ctx;
    c->code = prove(c->b, NULL);
    return NULL;
}

static void a_lost_device_is_started_anew_when_calls_in_work_have_ended(void **state)
{
    (void)state;
    enum { PROOFS = 3 };
    call calls[PROOFS];
    cuzk_backend *b = open_cuda(0);
    assert_int_equal(load(b, NULL), CUZK_OK);
    plan.prove = CUZK_E_UNAVAILABLE;
    plan.hold = true;
    for (int i = 0; i < PROOFS; i++) {
        calls[i] = (call){.b = b};
        assert_int_equal(pthread_create(&calls[i].thread, NULL, prove_main, &calls[i]), 0);
    }
    pthread_mutex_lock(&plan.mu);
    while (plan.proving < PROOFS) {
        pthread_cond_wait(&plan.changed, &plan.mu);
    }
    plan.hold = false;
    pthread_cond_broadcast(&plan.changed);
    pthread_mutex_unlock(&plan.mu);
    cuzk_code again = load(b, NULL); /* joins the old one, or loads anew */
    for (int i = 0; i < PROOFS; i++) {
        pthread_join(calls[i].thread, NULL);
        assert_int_equal(calls[i].code, CUZK_E_UNAVAILABLE);
    }
    assert_int_equal(again, CUZK_OK);
    assert_int_equal(info_of(b).losses, 1); /* of all three */
    assert_int_equal(told, 1);
    set(&plan.prove, CUZK_OK);
    assert_int_equal(load(b, NULL), CUZK_OK);
    assert_int_equal(prove(b, NULL), CUZK_OK);
    assert_int_equal(plan.provers, 1);
    b->ops->close(b);
}

#define TEST(name) cmocka_unit_test_setup(name, reset_plan)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_device_says_what_it_is_and_what_is_free),
        TEST(what_is_loaded_proves_until_it_is_unloaded),
        TEST(a_budget_is_not_exceeded),
        TEST(a_device_that_is_not_there_or_proves_wrongly_is_refused),
        TEST(an_error_that_passes_costs_one_call),
        TEST(after_a_loss_all_is_gone_and_the_device_starts_anew),
        TEST(a_lost_device_is_started_anew_when_calls_in_work_have_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
