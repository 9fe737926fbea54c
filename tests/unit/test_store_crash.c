#include "support/store_job.h"
#include "support/support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A process that is killed loses nothing that was acknowledged. The child's threads take jobs
 * through random changes and tell each acknowledged one through a pipe, before they go on; the
 * parent kills the child after a random number of them, and compares what it heard with the store.
 */

enum { ROUNDS = 8, THREADS = 4, JOBS = 200, ACKS_MAX = 150 };

typedef enum ack_kind { INSERTED, RUNNING, PARTITION, DONE, CANCELLED } ack_kind;

typedef struct ack {
    ack_kind kind;
    unsigned thread, job, k;
    int64_t seq;
} ack;

typedef struct child {
    cuzk_store *s;
    int out; /* the pipe */
    unsigned round, thread;
} child;

static void fill(test_job *j, unsigned round, unsigned thread, unsigned job)
{
    char prefix[16];
    snprintf(prefix, sizeof prefix, "r%u-t%u", round, thread);
    test_job_fill(j, prefix, job, job % 2 ? job : 1000 * thread + job);
}

/* Tells that a change was acknowledged; a failed one ends the child with a status of its own. */
static void tell(const child *c, cuzk_code code, ack_kind kind, unsigned job, unsigned k,
                 int64_t seq)
{
    ack a;
    memset(&a, 0, sizeof a);
    a.kind = kind;
    a.thread = c->thread;
    a.job = job;
    a.k = k;
    a.seq = seq;
    if (code != CUZK_OK || write(c->out, &a, sizeof a) != sizeof a) {
        _exit(3);
    }
}

static void *work(void *ctx)
{
    const child *c = ctx;
    for (unsigned i = 0; i < JOBS; i++) {
        test_job j;
        cuzk_store_outcome outcome;
        int64_t seq = 0;
        uint8_t proof[CUZK_STORE_PARTITION_BYTES];
        fill(&j, c->round, c->thread, i);
        cuzk_code code = cuzk_store_insert(c->s, &outcome, &seq, &j.job, NULL);
        tell(c, code, INSERTED, i, 0, seq);
        tell(c, cuzk_store_set_running(c->s, seq, "p", NULL), RUNNING, i, 0, seq);
        for (unsigned k = 0; k < i % 3; k++) {
            test_job_partition(proof, i, k);
            tell(c, cuzk_store_put_partition(c->s, seq, k, proof, NULL), PARTITION, i, k, seq);
        }
        if (i % 4 == 1) {
            test_job_partition(proof, i, 99);
            tell(c, cuzk_store_set_done(c->s, seq, (cuzk_span){proof, sizeof proof}, NULL, 0, NULL),
                 DONE, i, 0, seq);
        } else if (i % 4 == 2) {
            tell(c, cuzk_store_set_cancelled(c->s, seq, 0, NULL), CANCELLED, i, 0, seq);
        }
    }
    return NULL;
}

/* The child: never returns. */
static void run_child(const char *folder, int out, unsigned round)
{
    cuzk_store *s;
    pthread_t threads[THREADS];
    child c[THREADS];
    if (cuzk_store_open(&s, folder, NULL) != CUZK_OK) {
        _exit(2);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        c[i] = (child){s, out, round, i};
        if (pthread_create(&threads[i], NULL, work, &c[i]) != 0) {
            _exit(4);
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    _exit(5); /* the parent kills sooner */
}

/* Runs a child and kills it after `count` acknowledgements; *ret gets all it told. */
static size_t run_and_kill(const char *folder, unsigned round, size_t count, ack *ret)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(ends[0]);
        run_child(folder, ends[1], round);
    }
    close(ends[1]);
    size_t n = 0;
    while (n < THREADS * JOBS * 6 && read(ends[0], &ret[n], sizeof *ret) == sizeof *ret) {
        n++;
        if (n == count) {
            kill(pid, SIGKILL);
        }
    }
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_true(n >= count);
    return n;
}

static void assert_acknowledged(cuzk_store *s, unsigned round, const ack *a)
{
    cuzk_store_job *job = NULL;
    cuzk_err err;
    test_job j;
    fill(&j, round, a->thread, a->job);
    if (cuzk_store_find(s, &job, j.id, &err) != CUZK_OK) {
        fail_msg("lost: %s", err.msg);
    }
    assert_true(job->seq == a->seq);
    assert_memory_equal(job->identity, j.job.identity, 32);
    uint8_t proof[CUZK_STORE_PARTITION_BYTES];
    cuzk_store_partition *p = NULL;
    size_t n = 0;
    switch (a->kind) {
    case INSERTED:
        break;
    case RUNNING:
        assert_int_not_equal(job->state, CUZK_JOB_QUEUED);
        break;
    case PARTITION:
        assert_int_equal(cuzk_store_partitions(s, &p, &n, a->seq, NULL), CUZK_OK);
        assert_true(n > a->k);
        test_job_partition(proof, a->job, a->k);
        assert_memory_equal(p[a->k].proof, proof, sizeof proof);
        free(p);
        break;
    case DONE:
        assert_int_equal(job->state, CUZK_JOB_DONE);
        test_job_partition(proof, a->job, 99);
        assert_int_equal(job->proof.n, sizeof proof);
        assert_memory_equal(job->proof.p, proof, sizeof proof);
        break;
    case CANCELLED:
        assert_int_equal(job->state, CUZK_JOB_CANCELLED);
        break;
    }
    cuzk_store_job_free(job);
}

/* Every unfinished job is whole, and nothing else lies in the payload folder. */
static void assert_whole(cuzk_store *s, const char *folder)
{
    cuzk_store_jobs jobs;
    assert_int_equal(cuzk_store_unfinished(s, &jobs, NULL), CUZK_OK);
    size_t different = 0;
    for (size_t i = 0; i < jobs.n; i++) {
        assert_true(test_store_payload_ok(s, jobs.v[i]));
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++) {
            seen = memcmp(jobs.v[i]->payload_hash, jobs.v[k]->payload_hash, 32) == 0;
        }
        different += !seen;
    }
    assert_int_equal(test_store_payloads(folder), different);
    cuzk_store_jobs_free(&jobs);
}

static void a_killed_process_loses_nothing_acknowledged(void **state)
{
    (void)state;
    char folder[256];
    snprintf(folder, sizeof folder, "%s/crash", test_tmpdir());
    test_rng g = test_rng_new("store_crash");
    ack *acks = calloc(THREADS * JOBS * 6, sizeof *acks);
    assert_non_null(acks);
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t n = run_and_kill(folder, round, 1 + (size_t)test_below(&g, ACKS_MAX), acks);
        cuzk_store *s = test_store_open(folder);
        for (size_t i = 0; i < n; i++) {
            assert_acknowledged(s, round, &acks[i]);
        }
        assert_whole(s, folder);
        cuzk_store_close(s);
    }
    free(acks);
}

static void a_store_is_open_in_one_process_only(void **state)
{
    (void)state;
    char folder[256], pid[32];
    snprintf(folder, sizeof folder, "%s/lock", test_tmpdir());
    cuzk_store *s = test_store_open(folder), *second = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_store_open(&second, folder, &err), CUZK_E_UNAVAILABLE);
    snprintf(pid, sizeof pid, "process %ld has", (long)getpid());
    assert_non_null(strstr(err.msg, pid));
    assert_null(second);
    cuzk_store_close(s);
    cuzk_store_close(test_store_open(folder));
}

/* --- damage --- */

/* A store with some jobs, closed; returns the path of its database. */
static const char *make_store(const char *name, unsigned jobs)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", test_tmpdir(), name);
    cuzk_store *s = test_store_open(path);
    for (unsigned i = 0; i < jobs; i++) {
        test_job j;
        test_job_fill(&j, "job", i, i);
        test_store_insert(s, &j);
    }
    cuzk_store_close(s);
    strcat(path, "/jobs.db");
    return path;
}

static void assert_refused(const char *db, cuzk_code code, const char *message)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(db) - strlen("/jobs.db")), db);
    cuzk_store *s = NULL;
    cuzk_err err = {.msg = ""};
    assert_int_equal(cuzk_store_open(&s, folder, &err), code);
    assert_null(s);
    if (!strstr(err.msg, message) || !strstr(err.msg, db)) {
        fail_msg("expected \"%s\" about %s, found \"%s\"", message, db, err.msg);
    }
}

static void overwrite(const char *path, long offset, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, offset, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void a_damaged_or_foreign_database_is_refused_with_the_reason(void **state)
{
    (void)state;
    uint8_t junk[4096];
    memset(junk, 0xa5, sizeof junk);

    const char *db = make_store("text", 0);
    overwrite(db, 0, junk, sizeof junk);
    assert_refused(db, CUZK_E_INPUT, "file is not a database");

    struct stat st;
    db = make_store("page", 30);
    assert_int_equal(stat(db, &st), 0);
    overwrite(db, 4096 * (st.st_size / 4096 / 2), junk, sizeof junk);
    assert_refused(db, CUZK_E_INPUT, "");

    db = make_store("cut", 30);
    assert_int_equal(stat(db, &st), 0);
    assert_int_equal(truncate(db, st.st_size / 4096 / 2 * 4096), 0);
    assert_refused(db, CUZK_E_INPUT, "");

    static const uint8_t other_application[4] = {0, 0, 0, 9}, newer[4] = {0, 0, 0, 99};
    db = make_store("foreign", 1); /* offsets: SQLite's file format, section 1.3 */
    overwrite(db, 68, other_application, 4);
    assert_refused(db, CUZK_E_INPUT, "another program's database");
    db = make_store("newer", 1);
    overwrite(db, 60, newer, 4);
    assert_refused(db, CUZK_E_UNSUPPORTED, "found 99: a newer cuzk wrote it");
}

static void a_damaged_or_missing_payload_harms_its_job_alone(void **state)
{
    (void)state;
    char folder[256], path[512], hex[65];
    snprintf(folder, sizeof folder, "%s/payloads", test_tmpdir());
    cuzk_store *s = test_store_open(folder);
    test_job j[3];
    int64_t seq[3];
    for (unsigned i = 0; i < 3; i++) {
        test_job_fill(&j[i], "job", i, 1000 + i);
        seq[i] = test_store_insert(s, &j[i]);
    }
    uint8_t buf[3000];
    cuzk_err err;
    cuzk_hex_format(hex, j[0].job.payload_hash, 32);
    snprintf(path, sizeof path, "%s/payload/%s", folder, hex);
    overwrite(path, 17, "?", 1);
    assert_int_equal(
        cuzk_store_read_payload(s, buf, j[0].job.payload.n, j[0].job.payload_hash, &err),
        CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "the payload is damaged"));
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(
        cuzk_store_read_payload(s, buf, j[0].job.payload.n, j[0].job.payload_hash, &err),
        CUZK_E_INPUT);
    assert_non_null(strstr(err.msg, "expected 1001 bytes, found 10"));
    cuzk_hex_format(hex, j[1].job.payload_hash, 32);
    char second[512];
    snprintf(second, sizeof second, "%s/payload/%s", folder, hex);
    assert_int_equal(remove(second), 0);
    assert_int_equal(
        cuzk_store_read_payload(s, buf, j[1].job.payload.n, j[1].job.payload_hash, &err),
        CUZK_E_NOT_FOUND);
    assert_int_equal(
        cuzk_store_read_payload(s, buf, j[2].job.payload.n, j[2].job.payload_hash, &err), CUZK_OK);
    assert_memory_equal(buf, j[2].payload, j[2].job.payload.n);

    /* the job fails, and the same sent again brings the payload back */
    assert_int_equal(cuzk_store_set_failed(s, seq[0], err.msg, "load", -1, NULL, 0, NULL), CUZK_OK);
    test_store_insert(s, &j[0]);
    assert_int_equal(
        cuzk_store_read_payload(s, buf, j[0].job.payload.n, j[0].job.payload_hash, &err), CUZK_OK);
    cuzk_store_close(s);
}

static void what_a_crash_left_is_swept_and_what_is_not_ours_stays(void **state)
{
    (void)state;
    char folder[256], path[512];
    snprintf(folder, sizeof folder, "%s/sweep", test_tmpdir());
    cuzk_store *s = test_store_open(folder);
    test_job j, orphan;
    test_job_fill(&j, "job", 1, 1);
    test_job_fill(&orphan, "job", 2, 2);
    test_store_insert(s, &j);
    cuzk_store_close(s);
    char hex[65];
    cuzk_hex_format(hex, orphan.job.payload_hash, 32);
    static const char *const suffixes[] = {"", ".3.tmp", ".mine"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/payload/%s%s", folder, hex, suffixes[i]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fclose(f);
    }
    cuzk_store_close(test_store_open(folder));
    assert_int_equal(test_store_payloads(folder), 2);
    assert_int_equal(access(path, F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_loses_nothing_acknowledged),
        cmocka_unit_test(a_store_is_open_in_one_process_only),
        cmocka_unit_test(a_damaged_or_foreign_database_is_refused_with_the_reason),
        cmocka_unit_test(a_damaged_or_missing_payload_harms_its_job_alone),
        cmocka_unit_test(what_a_crash_left_is_swept_and_what_is_not_ours_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
