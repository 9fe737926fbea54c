#include "backend/cpu/cpu_backend.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"
#include "math/msm/msm.h"
#include "support/keys.h"
#include "support/support.h"

static cuzk_backend *open_cpu(unsigned threads, uint64_t budget)
{
    cuzk_backend *b;
    cuzk_err err;
    cuzk_cpu_options options = {.threads = threads, .budget = budget};
    if (cuzk_backend_cpu_open(&b, &options, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return b;
}

static void load(cuzk_backend *b, const test_circuit *c)
{
    cuzk_err err;
    cuzk_load_times times;
    cuzk_circuit_files files = test_circuit_files(c);
    if (b->ops->load(b, &times, &files, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
}

static void prove_as_the_reference(const char *name)
{
    test_circuit c;
    test_partition p;
    cuzk_partition_result result;
    cuzk_err err = {0};
    test_circuit_open(&c, name);
    test_partition_make(&p, &c);
    cuzk_backend *b = open_cpu(2, 0);
    load(b, &c);
    if (b->ops->prove(b, &result, &p.task, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_memory_equal(result.proof, p.proof, sizeof p.proof);
    assert_true(result.times.expand_ns > 0 && result.times.eval_ns > 0 && result.times.ntt_ns > 0 &&
                result.times.h_msm_ns > 0 && result.times.l_msm_ns > 0 &&
                result.times.a_msm_ns > 0 && result.times.b1_msm_ns > 0 &&
                result.times.b2_msm_ns > 0);
    b->ops->close(b);
    test_partition_clear(&p);
}

static void a_window_proof_is_the_reference_s_bit_for_bit(void **state)
{
    (void)state;
    prove_as_the_reference("window-2KiB");
}

static void a_winning_proof_is_the_reference_s_bit_for_bit(void **state)
{
    (void)state;
    if (!test_is_slow()) { /* the same as above, but larger */
        prove_as_the_reference("winning-2KiB");
    }
}

/* ---- several threads ---- */

enum { THREADS = 4 };

typedef struct caller {
    cuzk_backend *b;
    const test_circuit *c;
    const test_partition *p;
    cuzk_code load, prove;
    cuzk_load_times times;
    bool same;
    pthread_t thread;
} caller;

static void *call(void *ctx)
{
    caller *t = ctx;
    cuzk_circuit_files files = test_circuit_files(t->c);
    cuzk_partition_result result;
    t->load = t->b->ops->load(t->b, &t->times, &files, NULL);
    t->prove = t->b->ops->prove(t->b, &result, &t->p->task, NULL);
    t->same = t->prove == CUZK_OK && memcmp(result.proof, t->p->proof, 192) == 0;
    return NULL;
}

static void concurrent_loads_read_once_and_concurrent_proofs_are_right(void **state)
{
    (void)state;
    test_circuit c;
    test_partition p;
    caller callers[THREADS];
    test_circuit_open(&c, "window-2KiB");
    test_partition_make(&p, &c);
    cuzk_backend *b = open_cpu(2, 0);
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){.b = b, .c = &c, .p = &p};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    }
    int read = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].load, CUZK_OK);
        assert_int_equal(callers[i].prove, CUZK_OK);
        assert_true(callers[i].same);
        read += callers[i].times.key_ns > 0;
    }
    assert_int_equal(read, 1);
    b->ops->close(b);
    test_partition_clear(&p);
}

/* ---- failures ---- */

static void what_is_not_loaded_is_not_available(void **state)
{
    (void)state;
    test_circuit c;
    test_partition p;
    cuzk_partition_result result;
    cuzk_err err;
    bool was_loaded = false;
    test_circuit_open(&c, "window-2KiB");
    test_partition_make(&p, &c);
    cuzk_backend *b = open_cpu(1, 0);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_UNAVAILABLE);
    assert_string_equal(err.msg, "window-2KiB is not loaded");
    load(b, &c);
    cuzk_device_info before, after;
    assert_int_equal(b->ops->info(b, &before, NULL), CUZK_OK);
    assert_int_equal(b->ops->unload(b, c.name, &was_loaded, NULL), CUZK_OK);
    assert_true(was_loaded);
    assert_int_equal(b->ops->unload(b, c.name, &was_loaded, NULL), CUZK_OK);
    assert_false(was_loaded);
    assert_int_equal(b->ops->info(b, &after, NULL), CUZK_OK);
    assert_true(after.memory_free > before.memory_free);
    assert_int_equal(after.memory_free, after.memory_total);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_UNAVAILABLE);
    b->ops->close(b);
    test_partition_clear(&p);
}

static void a_wrong_key_file_or_name_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    test_circuit c;
    cuzk_err err;
    cuzk_load_times times;
    cuzk_circuit_cost cost;
    cuzk_device_info info;
    test_circuit_open(&c, "window-2KiB");
    cuzk_circuit_files files = test_circuit_files(&c);
    cuzk_backend *b = open_cpu(1, 0);
    files.params = "no/such.params";
    assert_int_equal(b->ops->load(b, &times, &files, &err), CUZK_E_NOT_FOUND);
    assert_non_null(strstr(err.msg, "no/such.params"));
    assert_int_equal(b->ops->cost(b, &cost, &files, &err), CUZK_E_NOT_FOUND);
    files.params = c.vk; /* a file, but not a key */
    assert_int_equal(b->ops->load(b, &times, &files, &err), CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, c.vk));
    files = test_circuit_files(&c);
    files.circuit = "window-2KB";
    assert_int_equal(b->ops->load(b, &times, &files, &err), CUZK_E_ARG);
    load(b, &c);
    b->ops->close(b);
    b = open_cpu(1, 1000);
    files = test_circuit_files(&c);
    assert_int_equal(b->ops->load(b, &times, &files, &err), CUZK_E_MEMORY);
    assert_int_equal(b->ops->info(b, &info, NULL), CUZK_OK);
    assert_int_equal(info.memory_free, 1000);
    b->ops->close(b);
}

static void a_task_that_does_not_fit_or_hold_is_refused(void **state)
{
    (void)state;
    test_circuit c;
    test_partition p;
    cuzk_partition_result result;
    cuzk_err err;
    test_circuit_open(&c, "window-2KiB");
    test_partition_make(&p, &c);
    cuzk_backend *b = open_cpu(2, 0);
    load(b, &c);
    cuzk_partition_task t = p.task;
    t.inputs.n -= 32;
    assert_int_equal(b->ops->prove(b, &result, &t, &err), CUZK_E_ARG);
    t = p.task;
    t.records.n++;
    assert_int_equal(b->ops->prove(b, &result, &t, &err), CUZK_E_ARG);
    t = p.task;
    memset(t.r, 0xff, sizeof t.r);
    assert_int_equal(b->ops->prove(b, &result, &t, &err), CUZK_E_ARG);
    fr *inputs = p.ports.inputs, kept = inputs[1];
    memset(&inputs[1], 0xff, sizeof inputs[1]);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_ARG);
    fr_add(&inputs[1], &kept, &fr_one); /* another statement */
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_INPUT);
    print_message("  %s\n", err.msg);
    inputs[1] = kept;
    inputs[0] = fr_zero;
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_ARG);
    inputs[0] = fr_one;
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_OK);
    assert_memory_equal(result.proof, p.proof, sizeof p.proof);
    b->ops->close(b);
    test_partition_clear(&p);
}

static void a_processor_that_is_not_there_is_refused(void **state)
{
    (void)state;
    cuzk_backend *b;
    cuzk_err err;
    int there = 0, not_there = 1023;
    cuzk_cpu_options options = {.cpus = &not_there, .n_cpus = 1};
    assert_int_equal(cuzk_backend_cpu_open(&b, &options, &err), CUZK_E_ARG);
    options.cpus = &there;
    assert_int_equal(cuzk_backend_cpu_open(&b, &options, &err), CUZK_OK);
    cuzk_device_info info;
    assert_int_equal(b->ops->info(b, &info, &err), CUZK_OK);
    assert_string_equal(info.name, "1 thread"); /* one for each processor given */
    b->ops->close(b);
}

/* ---- memory ---- */

static uint64_t status_kib(const char *key)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) == 0) {
            sscanf(line + strlen(key), ": %llu", &kib);
        }
    }
    if (f) {
        fclose(f);
    }
    return (uint64_t)kib << 10;
}

/* In a process of its own: bytes that loading and then proving took, peaks included. */
static void measure(const test_circuit *c, const test_partition *p, uint64_t ret[3])
{
    cuzk_partition_result result;
    cuzk_backend *b = open_cpu(1, 0);
    malloc_trim(0);
    uint64_t before = status_kib("VmRSS");
    load(b, c);
    malloc_trim(0);
    ret[0] = status_kib("VmRSS") - before;
    ret[2] = status_kib("VmHWM") - before;
    FILE *f = fopen("/proc/self/clear_refs", "w"); /* the peak counts from here */
    if (!f || fputs("5", f) < 0 || fclose(f) != 0) {
        _exit(1);
    }
    uint64_t loaded = status_kib("VmRSS");
    if (b->ops->prove(b, &result, &p->task, NULL) != CUZK_OK) {
        _exit(1);
    }
    ret[1] = status_kib("VmHWM") - loaded;
}

/* At most a fifth off, but for `slack` bytes that it may say too much. */
static void nearly(uint64_t said, uint64_t is, uint64_t slack, const char *what)
{
    print_message("  %s: said %.1f MB, is %.1f MB\n", what, (double)said / 1e6, (double)is / 1e6);
    assert_true(said <= is + is / 5 + slack);
    assert_true(said >= is - is / 5);
}

static void what_it_says_to_take_is_what_it_takes(void **state)
{
    (void)state;
    if (test_is_slow()) {
        return; /* a sanitizer's own memory would count */
    }
    test_circuit c;
    test_partition p;
    cuzk_circuit_cost cost;
    uint64_t bytes[3];
    int ends[2], status;
    test_circuit_open(&c, "winning-2KiB");
    test_partition_make(&p, &c);
    cuzk_circuit_files files = test_circuit_files(&c);
    cuzk_backend *b = open_cpu(1, 0);
    assert_int_equal(b->ops->cost(b, &cost, &files, NULL), CUZK_OK);
    b->ops->close(b);
    malloc_trim(0);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        measure(&c, &p, bytes);
        _exit(write(ends[1], bytes, sizeof bytes) != sizeof bytes);
    }
    assert_int_equal(read(ends[0], bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    /* The scratch of a sum is an upper bound that counts in small circuits alone. */
    uint64_t slack = msm_g2_scratch_bytes(1 << 17, 1);
    nearly(cost.resident[CUZK_MEMORY_HOST], bytes[0], 0, "loaded");
    nearly(cost.working[CUZK_MEMORY_HOST], bytes[1], slack, "a proof");
    print_message("  peak while loading: %.1f MB\n", (double)bytes[2] / 1e6);
    assert_true(bytes[2] < bytes[0] + bytes[0] / 2); /* the file does not stay in memory besides */
    close(ends[0]);
    close(ends[1]);
    test_partition_clear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_says_to_take_is_what_it_takes),
        cmocka_unit_test(a_window_proof_is_the_reference_s_bit_for_bit),
        cmocka_unit_test(a_winning_proof_is_the_reference_s_bit_for_bit),
        cmocka_unit_test(concurrent_loads_read_once_and_concurrent_proofs_are_right),
        cmocka_unit_test(what_is_not_loaded_is_not_available),
        cmocka_unit_test(a_wrong_key_file_or_name_is_told_and_leaves_nothing),
        cmocka_unit_test(a_task_that_does_not_fit_or_hold_is_refused),
        cmocka_unit_test(a_processor_that_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
