#include "support/engine_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/worker/worker.h"

/* The engine over real devices: the processor, in this process and in one of its own. */

static void open_over(fixture *f, cuzk_backend *b)
{
    f->backends[0] = b;
    fixture_open(f);
}

static void every_attempt_is_blinded_anew(void **state)
{
    (void)state;
    fixture f;
    cuzk_backend *cpu;
    const cuzk_cpu_options options = {.threads = 2};
    fixture_init(&f);
    assert_int_equal(cuzk_backend_cpu_open(&cpu, &options, NULL), CUZK_OK);
    open_over(&f, cpu);
    fixture_window(&f, "job", 2, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    job_end end = fixture_look(&f, "job"); /* both partitions state the same */
    assert_memory_not_equal(end.proof, end.proof + 192, 48);
    fixture_clear(&f);
}

/* A worker process whose device follows a plan (backend/fault/fault_backend.h). */
static cuzk_backend *worker(const char *rules)
{
    static unsigned number;
    char path[600], plan[1200];
    cuzk_backend *b;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 20);
    assert_true(n > 0);
    path[n] = 0;
    strcpy(strrchr(path, '/') + 1, "worker_process");
    snprintf(plan, sizeof plan, "state=%s/%u,%s", test_tmpdir(), number++, rules);
    const char *argv[] = {path, "2", plan, "", NULL};
    const cuzk_worker_options options = {.argv = argv, .backoff_ms = 1};
    assert_int_equal(cuzk_backend_worker_open(&b, &options, NULL), CUZK_OK);
    return b;
}

/* Three partitions, of which some attempts fail as planned. */
static void survives(const char *rules, unsigned retries)
{
    fixture f;
    fixture_init(&f);
    f.config.partition_timeout_ms = test_is_slow() ? 20000 : 5000;
    open_over(&f, worker(rules));
    fixture_window(&f, "job", 3, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    assert_int_equal(fixture_count(&f, CUZK_EV_RETRY, 0), retries);
    fixture_clear(&f);
}

static void a_device_process_that_crashes_costs_a_repetition(void **state)
{
    (void)state;
    survives("prove:2=segv", 1);
}

static void a_device_process_that_hangs_costs_a_repetition(void **state)
{
    (void)state;
    survives("prove:1=hang", 1);
}

static void a_wrong_proof_of_a_process_costs_a_repetition(void **state)
{
    (void)state;
    survives("prove:3=wrong,prove:4=error", 2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_attempt_is_blinded_anew),
    cmocka_unit_test(a_device_process_that_crashes_costs_a_repetition),
    cmocka_unit_test(a_device_process_that_hangs_costs_a_repetition),
    cmocka_unit_test(a_wrong_proof_of_a_process_costs_a_repetition),
};

int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); }
