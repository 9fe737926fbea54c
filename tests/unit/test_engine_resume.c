#include "support/engine_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What outlives an engine: one that was drained, closed, or killed. */

static void copy_store(const char *from, const char *to)
{
    char command[1200];
    snprintf(command, sizeof command, "cp -a '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void *release_main(void *device)
{
    proving_device *d = device;
    /* Until the engine is being closed, which is when nobody else asks for the device. */
    struct timespec t;
    pthread_mutex_lock(&d->mu);
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += 50000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    while (pthread_cond_timedwait(&d->changed, &d->mu, &t) == 0) {
    }
    pthread_mutex_unlock(&d->mu);
    proving_device_hold(d, false, false);
    return NULL;
}

/* Lets the device go on in a moment, from another thread. */
static void release_later(proving_device *d)
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, release_main, d), 0);
    pthread_detach(t);
}

static void a_closed_engine_leaves_jobs_for_the_next(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    f.config.max_parallel_synthesis = 1;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "a", 3, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "b", 1, 1, CUZK_PRIORITY_HIGH);
    proving_device_wait(&f.device[0], 1);
    release_later(&f.device[0]);
    fixture_close(&f); /* what is on the device comes to its end, and is kept */
    fixture_open(&f);
    fixture_done(&f, "a");
    fixture_done(&f, "b");
    assert_int_equal(proving_device_proofs(&f.device[0]), 4); /* none twice */
    assert_int_equal(fixture_look(&f, "b").view.priority, CUZK_PRIORITY_HIGH);
    fixture_clear(&f);
}

static void a_proof_outlives_its_engine(void **state)
{
    (void)state;
    fixture f;
    test_job job;
    fixture_init(&f);
    fixture_open(&f);
    fixture_window(&f, "job", 3, 0, CUZK_PRIORITY_NORMAL);
    fixture_done(&f, "job");
    fixture_close(&f);
    fixture_open(&f);
    job_end end = fixture_look(&f, "job");
    assert_int_equal(end.view.state, CUZK_JOB_DONE);
    assert_int_equal(end.view.proof.n, 576);
    assert_true(fixture_verify(&end));
    test_job_window(&job, "job", 3, 0);
    assert_true(fixture_submit(&f, &job).joined);
    assert_int_equal(proving_device_proofs(&f.device[0]), 3);
    fixture_clear(&f);
}

static void a_drained_engine_finishes_what_is_on_the_device_and_keeps_the_rest(void **state)
{
    (void)state;
    fixture f;
    cuzk_err err;
    cuzk_submitted s;
    test_job job;
    fixture_init(&f);
    f.config.slot_size = 1;
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "job", 4, 0, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    assert_int_equal(cuzk_engine_drain(f.e, 20, &err), CUZK_E_TIMEOUT);
    test_job_window(&job, "late", 1, 1);
    assert_int_equal(cuzk_engine_submit(f.e, &s, &job.r, &err), CUZK_E_UNAVAILABLE);
    proving_device_hold(&f.device[0], false, false);
    assert_int_equal(cuzk_engine_drain(f.e, 60000, &err), CUZK_OK);
    assert_int_equal(proving_device_proofs(&f.device[0]), 1);
    assert_int_equal(fixture_look(&f, "job").view.partitions_done, 1);
    fixture_close(&f);
    fixture_open(&f);
    fixture_done(&f, "job");
    assert_int_equal(proving_device_proofs(&f.device[0]), 4);
    fixture_clear(&f);
}

static void ends_of_jobs_are_kept(void **state)
{
    (void)state;
    fixture f;
    bool running;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_fail(&f.device[0], (const device_fault[]){FAULT_INPUT}, 1);
    fixture_window(&f, "failed", 1, 0, CUZK_PRIORITY_NORMAL);
    fixture_wait(&f, "failed");
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "cancelled", 1, 0, CUZK_PRIORITY_NORMAL);
    assert_int_equal(cuzk_engine_cancel(f.e, &running, "cancelled", &err), CUZK_OK);
    proving_device_hold(&f.device[0], false, false);
    fixture_close(&f);
    fixture_open(&f);
    assert_int_equal(fixture_look(&f, "cancelled").view.state, CUZK_JOB_CANCELLED);
    job_end end = fixture_wait(&f, "failed");
    assert_int_equal(end.view.state, CUZK_JOB_FAILED);
    assert_string_equal(end.error, "partition 0, proving: row 7 is not satisfied");
    assert_int_equal(cuzk_engine_cancel(f.e, &running, "failed", &err), CUZK_OK);
    assert_false(running);
    fixture_clear(&f);
}

static void a_cancelled_job_stays_so_while_its_partition_is_still_on_the_device(void **state)
{
    (void)state;
    fixture f, g;
    bool running;
    cuzk_err err;
    fixture_init(&f);
    fixture_open(&f);
    proving_device_hold(&f.device[0], true, false);
    fixture_window(&f, "job", 2, 0, CUZK_PRIORITY_NORMAL);
    proving_device_wait(&f.device[0], 1);
    assert_int_equal(cuzk_engine_cancel(f.e, &running, "job", &err), CUZK_OK);
    fixture_init(&g); /* as after a power cut at this moment */
    copy_store(f.store, g.store);
    fixture_open(&g);
    assert_int_equal(fixture_look(&g, "job").view.state, CUZK_JOB_CANCELLED);
    fixture_clear(&g);
    proving_device_hold(&f.device[0], false, false);
    fixture_clear(&f);
}

/* ---- kill -9 ---- */

/* The life of a child: it proves the jobs of a store with a device that stops after some
 * partitions, says so, and is killed. */
static int child(const char *store, unsigned partitions)
{
    fixture f;
    fixture_init(&f);
    snprintf(f.store, sizeof f.store, "%s", store);
    fixture_open(&f);
    fixture_window(&f, "job", 4, 0, CUZK_PRIORITY_NORMAL);
    fixture_window(&f, "other", 1, 1, CUZK_PRIORITY_LOW);
    if (partitions == 0) {
        proving_device_hold(&f.device[0], true, false);
    }
    while (partitions > 0 && fixture_look(&f, "job").view.partitions_done < partitions) {
        cuzk_timeline *t = cuzk_engine_timeline(f.e);
        cuzk_timeline_wait(t, cuzk_timeline_next(t), 10);
    }
    printf("ready\n");
    fflush(stdout);
    pause();
    return 1;
}

static void kill_child(const char *store, unsigned partitions)
{
    int out[2];
    char number[8], line[16] = "";
    assert_int_equal(pipe(out), 0);
    snprintf(number, sizeof number, "%u", partitions);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        setenv("TMPDIR", test_tmpdir(), 1); /* it cannot tidy up */
        execl("/proc/self/exe", "child", store, number, (char *)NULL);
        _exit(2);
    }
    assert_true(pid > 0);
    close(out[1]);
    FILE *in = fdopen(out[0], "r");
    while (fgets(line, sizeof line, in) && strcmp(line, "ready\n") != 0) {
    }
    assert_string_equal(line, "ready\n");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    fclose(in);
}

static void a_killed_engine_loses_nothing(void **state)
{
    (void)state;
    for (unsigned kept = 0; kept < 4; kept += 2) {
        fixture f;
        fixture_init(&f);
        kill_child(f.store, kept);
        fixture_open(&f);
        fixture_done(&f, "job");
        fixture_done(&f, "other");
        assert_true(proving_device_proofs(&f.device[0]) <= 5 - kept);
        fixture_clear(&f);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_closed_engine_leaves_jobs_for_the_next),
    cmocka_unit_test(a_proof_outlives_its_engine),
    cmocka_unit_test(a_drained_engine_finishes_what_is_on_the_device_and_keeps_the_rest),
    cmocka_unit_test(ends_of_jobs_are_kept),
    cmocka_unit_test(a_cancelled_job_stays_so_while_its_partition_is_still_on_the_device),
    cmocka_unit_test(a_killed_engine_loses_nothing),
};

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[0], "child") == 0) {
        return child(argv[1], (unsigned)atoi(argv[2]));
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
