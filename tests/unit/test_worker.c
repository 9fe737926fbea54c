#include "backend/worker/worker.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/fault/fault_backend.h"
#include "base/system.h"
#include "groth16/formats/formats.h"
#include "support/keys.h"
#include "support/support.h"

#define MS 1000000ULL

/* A worker and what it told. */
typedef struct bench {
    cuzk_backend *b;
    test_circuit c;
    test_partition p;
    int descriptors; /* open before */
    pthread_mutex_t mu;
    int pid;          /* guarded by mu: of the last child that started */
    unsigned starts;  /* guarded by mu */
    char reason[300]; /* guarded by mu: of the last loss */
} bench;

static void hear(void *ctx, int pid, const char *reason)
{
    bench *t = ctx;
    pthread_mutex_lock(&t->mu);
    if (reason) {
        snprintf(t->reason, sizeof t->reason, "%s", reason);
    } else {
        t->pid = pid;
        t->starts++;
    }
    pthread_mutex_unlock(&t->mu);
}

static int pid_of(bench *t)
{
    pthread_mutex_lock(&t->mu);
    int pid = t->pid;
    pthread_mutex_unlock(&t->mu);
    return pid;
}

static int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    while (readdir(d)) {
        n++;
    }
    closedir(d);
    return n;
}

/* tests/tools/worker_process.c, which lies beside this program. */
static const char *child_program(void)
{
    static char path[600];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 20);
    assert_true(n > 0);
    path[n] = 0;
    strcpy(strrchr(path, '/') + 1, "worker_process");
    return path;
}

static void open_with(bench *t, const char *plan, const char *how, cuzk_worker_options options)
{
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->mu, NULL);
    test_circuit_open(&t->c, "window-2KiB");
    test_partition_make(&t->p, &t->c);
    t->descriptors = count_descriptors();
    const char *argv[] = {child_program(), "1", plan, how, NULL};
    options.argv = argv;
    options.event = hear;
    options.ctx = t;
    assert_int_equal(cuzk_backend_worker_open(&t->b, &options, NULL), CUZK_OK);
}

static void open_bench(bench *t, const char *plan)
{
    open_with(t, plan, NULL, (cuzk_worker_options){.backoff_ms = 1});
}

/* Ends it and sees that nothing is left behind. */
static void close_bench(bench *t)
{
    t->b->ops->close(t->b);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, dead or alive */
    assert_int_equal(errno, ECHILD);
    assert_int_equal(count_descriptors(), t->descriptors);
    test_partition_clear(&t->p);
    pthread_mutex_destroy(&t->mu);
}

static cuzk_code load(bench *t, cuzk_err *err)
{
    cuzk_load_times times;
    cuzk_circuit_files files = test_circuit_files(&t->c);
    return t->b->ops->load(t->b, &times, &files, err);
}

static void load_well(bench *t)
{
    cuzk_err err = {0};
    if (load(t, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
}

static cuzk_code prove(bench *t, uint64_t deadline_ms, cuzk_partition_result *ret, cuzk_err *err)
{
    cuzk_partition_task task = t->p.task;
    task.deadline_ns = deadline_ms ? cuzk_clock_ns() + deadline_ms * MS : 0;
    return t->b->ops->prove(t->b, ret, &task, err);
}

static void prove_well(bench *t)
{
    cuzk_partition_result result;
    cuzk_err err = {0};
    if (prove(t, 0, &result, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_memory_equal(result.proof, t->p.proof, sizeof result.proof);
}

static uint64_t losses(bench *t)
{
    cuzk_device_info info;
    cuzk_err err = {0};
    if (t->b->ops->info(t->b, &info, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_string_equal(info.backend, "cpu");
    return info.losses;
}

/* ---- tests ---- */

static void a_proof_through_a_process_is_the_reference_s(void **state)
{
    (void)state;
    bench t;
    cuzk_circuit_cost cost;
    cuzk_err err;
    cuzk_partition_result result;
    bool was_loaded;
    open_bench(&t, "");
    cuzk_circuit_files files = test_circuit_files(&t.c);
    assert_int_equal(prove(&t, 0, &result, &err), CUZK_E_UNAVAILABLE);
    assert_string_equal(err.msg, "window-2KiB is not loaded");
    assert_int_equal(t.b->ops->cost(t.b, &cost, &files, &err), CUZK_OK);
    assert_true(cost.resident[CUZK_MEMORY_HOST] > 0);
    load_well(&t);
    prove_well(&t);
    prove_well(&t);
    assert_int_equal(t.b->ops->unload(t.b, t.c.name, &was_loaded, &err), CUZK_OK);
    assert_true(was_loaded);
    files.params = "no/such.params";
    cuzk_load_times times;
    assert_int_equal(t.b->ops->load(t.b, &times, &files, &err), CUZK_E_NOT_FOUND);
    assert_non_null(strstr(err.msg, "no/such.params"));
    assert_int_equal(losses(&t), 0);
    assert_int_equal(t.starts, 1);
    close_bench(&t);
}

static void a_killed_child_costs_the_calls_in_work_and_a_reload(void **state)
{
    (void)state;
    bench t;
    cuzk_partition_result result;
    cuzk_err err;
    open_bench(&t, "");
    for (unsigned i = 1; i <= (test_is_slow() ? 1 : 3); i++) {
        load_well(&t);
        kill(pid_of(&t), SIGKILL);
        cuzk_code code = prove(&t, 0, &result, &err); /* in the dead child, or not loaded */
        assert_int_equal(code, CUZK_E_UNAVAILABLE);
        load_well(&t);
        prove_well(&t);
        assert_int_equal(losses(&t), i);
        assert_non_null(strstr(t.reason, "signal 9"));
    }
    close_bench(&t);
}

static void a_child_that_crashes_in_a_proof_is_told_with_how_it_ended(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *want;
    } rows[] = {{"prove:1=abort", "signal 6"},
                {"prove:1=segv", "signal 11"},
                {"prove:1=exit", "exit status 3"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench t;
        cuzk_partition_result result;
        cuzk_err err = {0};
        open_bench(&t, rows[i].plan);
        load_well(&t);
        assert_int_equal(prove(&t, 0, &result, &err), CUZK_E_UNAVAILABLE);
        print_message("  %s\n", err.msg);
        assert_non_null(strstr(err.msg, rows[i].want));
        load_well(&t); /* in a new child */
        close_bench(&t);
    }
}

typedef struct thread {
    bench *t;
    uint64_t deadline_ms;
    cuzk_code code;
    cuzk_err err;
    cuzk_partition_result result;
    pthread_t id;
} thread;

static void *thread_main(void *ctx)
{
    thread *u = ctx;
    u->code = prove(u->t, u->deadline_ms, &u->result, &u->err);
    return NULL;
}

/* Opens a bench whose plan counts its calls in a file, of which *ret_state is the name. */
static void open_counting(bench *t, const char *plan, char ret_state[300])
{
    static unsigned number;
    char whole[600];
    snprintf(ret_state, 300, "%s/faults-%u", test_tmpdir(), number++);
    snprintf(whole, sizeof whole, "state=%s,%s", ret_state, plan);
    open_bench(t, whole);
}

/* Waits until so many calls have reached the first rule. */
static void until_counted(const char *state, off_t n)
{
    char name[310];
    struct stat st = {0};
    snprintf(name, sizeof name, "%s.1", state);
    while (stat(name, &st) != 0 || st.st_size < n) {
        sched_yield();
    }
}

static void a_hang_is_cut_at_its_deadline(void **state)
{
    (void)state;
    bench t;
    thread hung[3];
    char counts[300];
    open_counting(&t, "prove:1=hang,prove:2=hang,prove:3=hang", counts);
    load_well(&t);
    for (int i = 0; i < 3; i++) {
        hung[i] = (thread){.t = &t, .deadline_ms = i == 2 ? 100 : 600000};
        assert_int_equal(pthread_create(&hung[i].id, NULL, thread_main, &hung[i]), 0);
        until_counted(counts, i + 1);
    }
    uint64_t start = cuzk_clock_ns();
    for (int i = 0; i < 3; i++) {
        pthread_join(hung[i].id, NULL);
        assert_int_equal(hung[i].code, i == 2 ? CUZK_E_TIMEOUT : CUZK_E_UNAVAILABLE);
    }
    assert_true(cuzk_clock_ns() - start < 60000 * MS);
    cuzk_partition_result result;
    assert_int_equal(prove(&t, 0, &result, NULL), CUZK_E_UNAVAILABLE); /* not loaded any more */
    load_well(&t);
    prove_well(&t);
    assert_int_equal(losses(&t), 1);
    close_bench(&t);
}

static void a_deadline_that_has_passed_disturbs_nobody(void **state)
{
    (void)state;
    bench t;
    cuzk_partition_result result;
    open_bench(&t, "");
    load_well(&t);
    cuzk_partition_task task = t.p.task;
    task.deadline_ns = 1;
    assert_int_equal(t.b->ops->prove(t.b, &result, &task, NULL), CUZK_E_TIMEOUT);
    prove_well(&t);
    assert_int_equal(losses(&t), 0);
    close_bench(&t);
}

static void calls_are_answered_out_of_order(void **state)
{
    (void)state;
    bench t;
    char counts[300];
    open_counting(&t, "prove:1=hang", counts);
    load_well(&t);
    thread hung = {.t = &t};
    assert_int_equal(pthread_create(&hung.id, NULL, thread_main, &hung), 0);
    until_counted(counts, 1);
    prove_well(&t);
    assert_int_equal(losses(&t), 0);
    kill(pid_of(&t), SIGKILL);
    pthread_join(hung.id, NULL);
    assert_int_equal(hung.code, CUZK_E_UNAVAILABLE);
    close_bench(&t);
}

static void many_calls_at_once_all_end_well(void **state)
{
    (void)state;
    enum { MOST = 6 };
    const int n = test_is_slow() ? 3 : MOST;
    bench t;
    thread threads[MOST];
    open_bench(&t, "");
    load_well(&t);
    for (int i = 0; i < n; i++) {
        threads[i] = (thread){.t = &t};
        assert_int_equal(pthread_create(&threads[i].id, NULL, thread_main, &threads[i]), 0);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i].id, NULL);
        assert_int_equal(threads[i].code, CUZK_OK);
        assert_memory_equal(threads[i].result.proof, t.p.proof, 192);
    }
    close_bench(&t);
}

static void a_child_that_cannot_start_says_why_and_is_not_tried_without_end(void **state)
{
    (void)state;
    static const struct {
        const char *how, *want;
        uint64_t start_ms;
    } rows[] = {{"quit", "exit status 7: there is no such device", 60000},
                {"mute", "did not answer in 200 ms", 200},
                {"noise", "no message of this version", 60000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench t;
        cuzk_err err = {0};
        open_with(&t, "", rows[i].how,
                  (cuzk_worker_options){.backoff_ms = 600000, .start_ms = rows[i].start_ms});
        assert_int_equal(load(&t, &err), CUZK_E_UNAVAILABLE);
        assert_non_null(strstr(err.msg, rows[i].want));
        uint64_t start = cuzk_clock_ns();
        for (int k = 0; k < 100; k++) {
            assert_int_equal(load(&t, &err), CUZK_E_UNAVAILABLE);
        }
        assert_true(cuzk_clock_ns() - start < 200 * MS); /* no more starts */
        assert_non_null(strstr(err.msg, rows[i].want));
        assert_non_null(strstr(err.msg, "the next start is in"));
        close_bench(&t);
    }
}

static void a_program_that_is_not_there_is_named(void **state)
{
    (void)state;
    cuzk_backend *b;
    cuzk_err err = {0};
    cuzk_device_info info;
    const char *argv[] = {"/no/such/program", NULL};
    cuzk_worker_options options = {.argv = argv};
    assert_int_equal(cuzk_backend_worker_open(&b, &options, NULL), CUZK_OK);
    assert_int_equal(b->ops->info(b, &info, &err), CUZK_E_UNAVAILABLE);
    assert_non_null(strstr(err.msg, "/no/such/program"));
    b->ops->close(b);
}

static void the_child_inherits_no_descriptor(void **state)
{
    (void)state;
    bench t;
    int leak = dup(0); /* without close-on-exec */
    open_with(&t, "", "descriptors", (cuzk_worker_options){.backoff_ms = 1});
    load_well(&t);
    close_bench(&t);
    close(leak);
}

static void the_child_dies_with_its_parent(void **state)
{
    (void)state;
    int ends[2], pid = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        bench t;
        open_bench(&t, "prove:1=hang");
        load_well(&t);
        pid = pid_of(&t);
        thread u = {.t = &t};
        if (write(ends[1], &pid, sizeof pid) != sizeof pid ||
            pthread_create(&u.id, NULL, thread_main, &u) != 0) {
            _exit(1);
        }
        pause(); /* until it is killed with its call in work */
    }
    close(ends[1]); /* the grandchild has no copy: it inherits no descriptor */
    assert_int_equal(read(ends[0], &pid, sizeof pid), sizeof pid);
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, NULL, 0), parent);
    for (uint64_t start = cuzk_clock_ns(); cuzk_clock_ns() - start < 20000 * MS;) {
        char path[64], text[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *f = fopen(path, "r");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f) {
            fclose(f);
        }
        if (n == 0 || strstr(text, ") Z ")) { /* gone, or waiting for init to reap it */
            close(ends[0]);
            return;
        }
        sched_yield();
    }
    fail_msg("process %d outlived its parent", pid);
}

/* ---- planned faults, in this process ---- */

static void faults_come_as_planned(void **state)
{
    (void)state;
    test_circuit c;
    test_partition p;
    cuzk_backend *b;
    cuzk_partition_result result;
    cuzk_load_times times;
    cuzk_err err;
    cuzk_cpu_options options = {.threads = 1};
    test_circuit_open(&c, "window-2KiB");
    test_partition_make(&p, &c);
    cuzk_circuit_files files = test_circuit_files(&c);
    assert_int_equal(cuzk_backend_cpu_open(&b, &options, NULL), CUZK_OK);
    assert_int_equal(cuzk_backend_fault_open(&b, b,
                                             "load:1=memory,prove@winning-2KiB=error,prove:2=wrong,"
                                             "prove:3=input,prove:4=unavailable,prove:*3=slow-20",
                                             &err),
                     CUZK_OK);
    assert_int_equal(b->ops->load(b, &times, &files, &err), CUZK_E_MEMORY);
    assert_int_equal(b->ops->load(b, &times, &files, &err), CUZK_OK);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_OK);
    assert_memory_equal(result.proof, p.proof, 192);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_OK);
    assert_memory_not_equal(result.proof, p.proof, 192);
    cuzk_proof wrong; /* well encoded, but not valid */
    assert_int_equal(cuzk_proof_decode(&wrong, result.proof, "proof", 0, &err), CUZK_OK);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_INPUT);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_UNAVAILABLE);
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_E_UNAVAILABLE); /* still */
    assert_string_equal(err.msg, "window-2KiB is not loaded");
    assert_int_equal(b->ops->load(b, &times, &files, &err), CUZK_OK);
    uint64_t start = cuzk_clock_ns();
    assert_int_equal(b->ops->prove(b, &result, &p.task, &err), CUZK_OK);
    assert_true(cuzk_clock_ns() - start >= 20 * MS);
    b->ops->close(b);
    test_partition_clear(&p);
}

static void a_plan_that_is_wrong_is_refused_with_its_rule(void **state)
{
    (void)state;
    static const char *const plans[] = {"prove",        "prove:0=error",   "prove:x=error",
                                        "prove:1=odd",  "load:1=wrong",    "evict:1=error",
                                        "prove=slow-x", "prove:1=error,,", "prove:-1=error"};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        cuzk_backend *b;
        cuzk_err err = {0};
        cuzk_cpu_options options = {.threads = 1};
        assert_int_equal(cuzk_backend_cpu_open(&b, &options, NULL), CUZK_OK);
        assert_int_equal(cuzk_backend_fault_open(&b, b, plans[i], &err), CUZK_E_ARG);
        assert_non_null(strstr(err.msg, "rule \""));
    }
}

static void counts_go_on_in_the_next_process(void **state)
{
    (void)state;
    bench t;
    char counts[300];
    cuzk_partition_result result;
    open_counting(&t, "prove:2=abort", counts);
    load_well(&t);
    prove_well(&t);
    assert_int_equal(prove(&t, 0, &result, NULL), CUZK_E_UNAVAILABLE);
    load_well(&t);
    prove_well(&t); /* the third */
    prove_well(&t);
    assert_int_equal(losses(&t), 1);
    close_bench(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_child_dies_with_its_parent),
        cmocka_unit_test(a_proof_through_a_process_is_the_reference_s),
        cmocka_unit_test(a_killed_child_costs_the_calls_in_work_and_a_reload),
        cmocka_unit_test(a_child_that_crashes_in_a_proof_is_told_with_how_it_ended),
        cmocka_unit_test(a_hang_is_cut_at_its_deadline),
        cmocka_unit_test(a_deadline_that_has_passed_disturbs_nobody),
        cmocka_unit_test(calls_are_answered_out_of_order),
        cmocka_unit_test(many_calls_at_once_all_end_well),
        cmocka_unit_test(a_child_that_cannot_start_says_why_and_is_not_tried_without_end),
        cmocka_unit_test(a_program_that_is_not_there_is_named),
        cmocka_unit_test(the_child_inherits_no_descriptor),
        cmocka_unit_test(faults_come_as_planned),
        cmocka_unit_test(a_plan_that_is_wrong_is_refused_with_its_rule),
        cmocka_unit_test(counts_go_on_in_the_next_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
