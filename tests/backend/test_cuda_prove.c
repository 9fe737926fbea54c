/* The whole backend on the twin: partitions of the reference, bit for bit. */
#include "backend/cuda/prove.h"
#include "filecoin/circuits/catalog.h"
#include "gadget/expand.h"
#include "r1cs/assignment.h"
#include "support/keys.h"
#include "support/support.h"
#include "twin/twin.h"

#include <stdlib.h>
#include <string.h>

static void ok(cuzk_code code, const cuzk_err *err)
{
    if (code != CUZK_OK) {
        fail_msg("%s", err->msg);
    }
}

/* A loaded circuit on a device with so much memory. */
typedef struct rig {
    test_circuit circuit;
    test_partition partition;
    cuzk_cuda_memory memory;
    cuzk_cuda_prover *prover;
    const cuzk_shape *shape; /* the prover's */
} rig;

static cuzk_shape *shape_of(const test_circuit *c)
{
    cuzk_err err;
    cuzk_circuit_id id;
    cuzk_shape *shape;
    ok(cuzk_circuit_named(&id, c->name, &err), &err);
    ok(cuzk_circuit_shape_cached(&shape, &id, c->shape, NULL, &err), &err);
    return shape;
}

static void rig_init(rig *r, const char *name, uint64_t budget)
{
    cuzk_err err;
    cuzk_load_times times;
    memset(r, 0, sizeof *r);
    test_circuit_open(&r->circuit, name);
    test_partition_make(&r->partition, &r->circuit);
    r->memory.budget = budget;
    cuzk_shape *shape = shape_of(&r->circuit);
    r->shape = shape;
    ok(cuzk_cuda_prover_new(&r->prover, shape, r->circuit.params, &r->memory, &times, &err), &err);
}

static void rig_clear(rig *r)
{
    cuzk_cuda_prover_free(r->prover);
    assert_int_equal(atomic_load(&r->memory.used), 0);
    assert_true(atomic_load(&r->memory.peak) <= r->memory.budget);
    test_partition_clear(&r->partition);
}

static void prove_as_the_reference(rig *r)
{
    cuzk_err err;
    cuzk_partition_result result;
    uint64_t before = atomic_load(&r->memory.used);
    ok(cuzk_cuda_prove(r->prover, &result, &r->partition.task, &err), &err);
    assert_memory_equal(result.proof, r->partition.proof, sizeof result.proof);
    assert_int_equal(atomic_load(&r->memory.used), before);
    assert_true(result.times.expand_ns > 0 && result.times.ntt_ns > 0);
}

enum { PLENTY = 1 << 30 };

static void a_window_proof_is_the_reference_s_bit_for_bit(void **state)
{
    (void)state;
    rig r;
    rig_init(&r, "window-2KiB", PLENTY);
    prove_as_the_reference(&r);
    prove_as_the_reference(&r);
    rig_clear(&r);
}

static void a_winning_proof_is_the_reference_s_bit_for_bit(void **state)
{
    (void)state;
    rig r;
    if (test_is_slow()) {
        return; /* the same, but larger */
    }
    rig_init(&r, "winning-2KiB", PLENTY);
    prove_as_the_reference(&r);
    rig_clear(&r);
}

/* With less and less memory: first smaller scratch memory and tables, then streamed queries. */
static void every_budget_gives_the_same_proof_or_is_refused_with_the_numbers(void **state)
{
    (void)state;
    bool streamed = false, partly = false, whole = false;
    uint64_t budget = (uint64_t)64 << 20;
    for (;; budget -= budget / (test_is_slow() ? 3 : 6)) {
        rig r = {0};
        cuzk_err err;
        cuzk_circuit_cost cost;
        test_circuit_open(&r.circuit, "window-2KiB");
        cuzk_shape *shape = shape_of(&r.circuit);
        cuzk_code code = cuzk_cuda_prover_cost(&cost, shape, r.circuit.params, budget, &err);
        cuzk_shape_free(shape);
        if (code == CUZK_E_MEMORY) {
            assert_non_null(strstr(err.msg, "bytes of device memory"));
            break;
        }
        ok(code, &err);
        assert_true(cost.resident[CUZK_MEMORY_DEVICE] + cost.working[CUZK_MEMORY_DEVICE] <= budget);
        rig_init(&r, "window-2KiB", budget);
        const cuzk_cuda_layout *l = cuzk_cuda_prover_layout(r.prover);
        bool all = true, any = false;
        for (int part = 0; part < CUZK_PARAMS_PARTS; part++) {
            all &= l->pinned[part];
            any |= l->pinned[part];
        }
        streamed |= all;
        partly |= any && !all;
        whole |= !any;
        prove_as_the_reference(&r);
        assert_true(atomic_load(&r.memory.peak) <=
                    cost.resident[CUZK_MEMORY_DEVICE] + cost.working[CUZK_MEMORY_DEVICE]);
        rig_clear(&r);
    }
    assert_true(streamed && partly && whole);
}

static void the_witness_and_the_rows_are_the_host_s(void **state)
{
    (void)state;
    rig r;
    cuzk_err err;
    cuzk_pool *pool;
    cuzk_packed mine, want;
    rig_init(&r, "window-2KiB", PLENTY);
    ok(cuzk_pool_new(&pool, 1, &err), &err);
    ok(cuzk_expand(&want, r.shape, &r.partition.ports, pool, &err), &err);
    size_t n = cuzk_shape_rows(r.shape);
    fr *rows = malloc(4 * n * sizeof *rows);
    assert_non_null(rows);
    ok(cuzk_cuda_prover_vectors(r.prover, &r.partition.task, &mine, rows, rows + n, rows + 2 * n,
                                &err),
       &err);
    assert_memory_equal(mine.bits, want.bits, (cuzk_shape_aux(r.shape) + 63) / 64 * 8);
    assert_memory_equal(mine.full, want.full, cuzk_shape_slots(r.shape) * sizeof(fr));
    for (unsigned m = 0; m < 3; m++) {
        ok(cuzk_packed_eval(&want, r.shape, m, 0, r.shape->n_instances, rows + 3 * n, pool, &err),
           &err);
        assert_memory_equal(rows + m * n, rows + 3 * n, n * sizeof *rows);
    }
    free(rows);
    cuzk_packed_clear(&mine);
    cuzk_packed_clear(&want);
    cuzk_pool_free(pool);
    rig_clear(&r);
}

static void a_witness_that_fails_is_refused_with_its_row(void **state)
{
    (void)state;
    rig r;
    cuzk_err err, host = {0};
    cuzk_pool *pool;
    cuzk_packed packed;
    cuzk_partition_result result;
    rig_init(&r, "window-2KiB", PLENTY);
    r.partition.ports.records[40] ^= 1;
    assert_int_equal(cuzk_cuda_prove(r.prover, &result, &r.partition.task, &err), CUZK_E_INPUT);
    ok(cuzk_pool_new(&pool, 1, &host), &host);
    ok(cuzk_expand(&packed, r.shape, &r.partition.ports, pool, &host), &host);
    assert_int_equal(cuzk_packed_check(&packed, r.shape, pool, &host), CUZK_E_INPUT);
    assert_string_equal(err.msg, host.msg);
    cuzk_packed_clear(&packed);
    cuzk_pool_free(pool);
    r.partition.ports.records[40] ^= 1;
    prove_as_the_reference(&r);
    rig_clear(&r);
}

static void a_task_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    rig r;
    cuzk_err err;
    cuzk_partition_result result;
    rig_init(&r, "window-2KiB", PLENTY);
    cuzk_partition_task task = r.partition.task;
    task.records.n -= 8;
    assert_int_equal(cuzk_cuda_prove(r.prover, &result, &task, &err), CUZK_E_ARG);
    task = r.partition.task;
    memset(task.r, 0xff, sizeof task.r);
    assert_int_equal(cuzk_cuda_prove(r.prover, &result, &task, &err), CUZK_E_ARG);
    task = r.partition.task;
    task.deadline_ns = 1;
    assert_int_equal(cuzk_cuda_prove(r.prover, &result, &task, &err), CUZK_E_TIMEOUT);
    prove_as_the_reference(&r);
    rig_clear(&r);
}

static void the_known_answer_is_found(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_cuda_memory memory = {.budget = PLENTY};
    ok(cuzk_cuda_known_answer(&memory, &err), &err);
    assert_int_equal(atomic_load(&memory.used), 0);
}

static void a_device_that_adds_wrongly_does_not_pass(void **state)
{
    (void)state;
    cuzk_err err;
    cuzk_cuda_memory memory = {.budget = PLENTY};
    atomic_store(&cuzk_cuda_twin_adds_wrongly, true);
    cuzk_code code = cuzk_cuda_known_answer(&memory, &err);
    atomic_store(&cuzk_cuda_twin_adds_wrongly, false);
    assert_int_equal(code, CUZK_E_INTERNAL);
    assert_non_null(strstr(err.msg, "the device's proof of a known circuit is wrong"));
    assert_int_equal(atomic_load(&memory.used), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_proof_is_the_reference_s_bit_for_bit),
        cmocka_unit_test(a_winning_proof_is_the_reference_s_bit_for_bit),
        cmocka_unit_test(every_budget_gives_the_same_proof_or_is_refused_with_the_numbers),
        cmocka_unit_test(the_witness_and_the_rows_are_the_host_s),
        cmocka_unit_test(a_witness_that_fails_is_refused_with_its_row),
        cmocka_unit_test(a_task_that_does_not_fit_is_refused),
        cmocka_unit_test(the_known_answer_is_found),
        cmocka_unit_test(a_device_that_adds_wrongly_does_not_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
