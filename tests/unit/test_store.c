#include "store/store.h"
#include "support/store_job.h"
#include "support/support.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* A folder for one test. */
static const char *folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", test_tmpdir(), name);
    return path;
}

static cuzk_store_job *get(cuzk_store *s, int64_t seq)
{
    cuzk_store_job *job = NULL;
    cuzk_err err;
    if (cuzk_store_get(s, &job, seq, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return job;
}

static cuzk_job_state state_of(cuzk_store *s, int64_t seq)
{
    cuzk_store_job *job = get(s, seq);
    cuzk_job_state state = job->state;
    cuzk_store_job_free(job);
    return state;
}

static void assert_job(const cuzk_store_job *job, const test_job *j)
{
    assert_string_equal(job->id, j->id);
    assert_memory_equal(job->identity, j->job.identity, 32);
    assert_int_equal(job->kind, j->job.kind);
    assert_int_equal(job->sector_size, j->job.sector_size);
    assert_int_equal(job->priority, j->job.priority);
    assert_true(job->created_us == j->job.created_us);
    assert_int_equal(job->meta.n, sizeof j->meta);
    assert_memory_equal(job->meta.p, j->meta, sizeof j->meta);
    assert_memory_equal(job->payload_hash, j->job.payload_hash, 32);
    assert_int_equal(job->payload_bytes, j->job.payload.n);
}

static void a_job_is_found_as_it_came_also_after_a_restart(void **state)
{
    (void)state;
    const char *f = folder("found");
    test_job j;
    test_job_fill(&j, "job", 7, 2500);
    cuzk_store *s = test_store_open(f);
    int64_t seq = test_store_insert(s, &j);
    for (int round = 0; round < 2; round++) {
        cuzk_store_job *job = NULL;
        assert_int_equal(cuzk_store_find(s, &job, "job-7", NULL), CUZK_OK);
        assert_job(job, &j);
        assert_true(job->seq == seq);
        assert_int_equal(job->state, CUZK_JOB_QUEUED);
        assert_int_equal(job->proof.n, 0);
        assert_int_equal(job->error_partition, -1);
        assert_true(test_store_payload_ok(s, job));
        cuzk_store_job_free(job);
        job = NULL;
        assert_int_equal(cuzk_store_find_identity(s, &job, j.job.identity, NULL), CUZK_OK);
        assert_job(job, &j);
        cuzk_store_job_free(job);
        cuzk_store_close(s);
        s = test_store_open(f);
    }
    cuzk_store_job *none = NULL;
    cuzk_err err;
    assert_int_equal(cuzk_store_find(s, &none, "job-8", &err), CUZK_E_NOT_FOUND);
    assert_string_equal(err.msg, "no job \"job-8\"");
    assert_int_equal(cuzk_store_get(s, &none, seq + 1, NULL), CUZK_E_NOT_FOUND);
    assert_null(none);
    cuzk_store_close(s);
    cuzk_store_close(NULL);
}

static void a_job_goes_through_its_states_with_partitions_and_proof(void **state)
{
    (void)state;
    const char *f = folder("states");
    test_job j;
    test_job_fill(&j, "job", 1, 100);
    cuzk_store *s = test_store_open(f);
    int64_t seq = test_store_insert(s, &j);
    assert_int_equal(cuzk_store_set_running(s, seq, "synthesis", NULL), CUZK_OK);
    cuzk_store_job *job = get(s, seq);
    int64_t started = job->started_us;
    assert_int_equal(job->state, CUZK_JOB_RUNNING);
    assert_string_equal(job->phase, "synthesis");
    assert_true(started > 0);
    cuzk_store_job_free(job);

    uint8_t proof[CUZK_STORE_PARTITION_BYTES];
    static const unsigned order[] = {2, 0, 2};
    for (int i = 0; i < 3; i++) {
        test_job_partition(proof, 1 + (unsigned)i, order[i]);
        assert_int_equal(cuzk_store_put_partition(s, seq, order[i], proof, NULL), CUZK_OK);
    }
    assert_int_equal(cuzk_store_put_partition(s, seq, CUZK_STORE_PARTITION_MAX, proof, NULL),
                     CUZK_E_ARG);
    assert_int_equal(cuzk_store_set_queued(s, seq, NULL), CUZK_OK);
    assert_int_equal(cuzk_store_set_running(s, seq, "proving", NULL), CUZK_OK);

    cuzk_store_close(s);
    s = test_store_open(f);
    cuzk_store_partition *p = NULL;
    size_t n = 0;
    assert_int_equal(cuzk_store_partitions(s, &p, &n, seq, NULL), CUZK_OK);
    assert_int_equal(n, 2);
    assert_int_equal(p[0].k, 0);
    assert_int_equal(p[1].k, 2);
    test_job_partition(proof, 3, 2); /* the second one for 2 */
    assert_memory_equal(p[1].proof, proof, sizeof proof);
    free(p);

    cuzk_job_timings t = {1, 2, 3, 4, 5};
    assert_int_equal(cuzk_store_set_done(s, seq, (cuzk_span){proof, sizeof proof}, &t, 77, NULL),
                     CUZK_OK);
    job = get(s, seq);
    assert_int_equal(job->state, CUZK_JOB_DONE);
    assert_true(job->started_us == started);
    assert_true(job->ended_us == 77);
    assert_memory_equal(&job->timings, &t, sizeof t);
    assert_int_equal(job->proof.n, sizeof proof);
    assert_memory_equal(job->proof.p, proof, sizeof proof);
    assert_string_equal(job->phase, "");
    cuzk_store_job_free(job);

    cuzk_err err;
    assert_int_equal(cuzk_store_set_failed(s, seq, "x", "", -1, NULL, 0, &err), CUZK_E_EXISTS);
    assert_int_equal(cuzk_store_set_running(s, seq, "x", &err), CUZK_E_EXISTS);
    assert_int_equal(cuzk_store_put_partition(s, seq, 0, proof, &err), CUZK_E_EXISTS);
    assert_int_equal(cuzk_store_set_cancelled(s, seq + 1, 0, &err), CUZK_E_NOT_FOUND);
    assert_int_equal(state_of(s, seq), CUZK_JOB_DONE);
    cuzk_store_close(s);
}

static void a_failure_carries_partition_phase_and_reason(void **state)
{
    (void)state;
    cuzk_store *s = test_store_open(folder("failure"));
    test_job j;
    test_job_fill(&j, "job", 1, 1);
    int64_t seq = test_store_insert(s, &j);
    char text[2 * CUZK_STORE_ERROR_MAX];
    memset(text, 'e', sizeof text);
    memcpy(text + CUZK_STORE_ERROR_MAX - 1, "\xe2\x82\xac", 3); /* a character across the cut */
    text[sizeof text - 1] = '\0';
    assert_int_equal(cuzk_store_set_failed(s, seq, text, "gpu", 3, NULL, 0, NULL), CUZK_OK);
    cuzk_store_job *job = get(s, seq);
    assert_int_equal(job->state, CUZK_JOB_FAILED);
    assert_int_equal(job->error_partition, 3);
    assert_string_equal(job->phase, "gpu");
    assert_int_equal(strlen(job->error), CUZK_STORE_ERROR_MAX - 1);
    assert_true(job->ended_us > 1600000000ll * 1000000);
    cuzk_store_job_free(job);
    cuzk_store_close(s);
}

static cuzk_code insert(cuzk_store *s, const test_job *j, cuzk_store_outcome *outcome, int64_t *seq)
{
    cuzk_err err;
    return cuzk_store_insert(s, outcome, seq, &j->job, &err);
}

static void an_id_is_joined_refused_or_free_again(void **state)
{
    (void)state;
    const char *f = folder("ids");
    cuzk_store *s = test_store_open(f);
    cuzk_store_outcome outcome;
    test_job j, other;
    int64_t again;
    test_job_fill(&j, "job", 1, 1);
    test_job_fill(&other, "job", 1, 2);
    int64_t seq = test_store_insert(s, &j);
    for (int done = 0; done < 2; done++) { /* queued and done: joined, other content refused */
        assert_int_equal(insert(s, &j, &outcome, &again), CUZK_OK);
        assert_int_equal(outcome, CUZK_STORE_JOINED);
        assert_true(again == seq);
        assert_int_equal(insert(s, &other, &outcome, &again), CUZK_E_EXISTS);
        assert_int_equal(test_store_payloads(f), 1 - done);
        if (!done) {
            assert_int_equal(cuzk_store_set_done(s, seq, (cuzk_span){0}, NULL, 0, NULL), CUZK_OK);
        }
    }
    /* failed: the same content starts anew under a new seq, other content is refused */
    test_job_fill(&j, "job", 2, 3);
    test_job_fill(&other, "job", 2, 4);
    seq = test_store_insert(s, &j);
    uint8_t proof[CUZK_STORE_PARTITION_BYTES] = {0};
    assert_int_equal(cuzk_store_put_partition(s, seq, 0, proof, NULL), CUZK_OK);
    assert_int_equal(cuzk_store_set_failed(s, seq, "e", "", 0, NULL, 0, NULL), CUZK_OK);
    assert_int_equal(insert(s, &other, &outcome, &again), CUZK_E_EXISTS);
    again = test_store_insert(s, &j);
    assert_true(again > seq);
    assert_int_equal(cuzk_store_set_running(s, seq, "", NULL), CUZK_E_NOT_FOUND);
    cuzk_store_partition *p = NULL;
    size_t n;
    assert_int_equal(cuzk_store_partitions(s, &p, &n, again, NULL), CUZK_OK);
    assert_int_equal(n, 0);
    /* cancelled: free for any content */
    assert_int_equal(cuzk_store_set_cancelled(s, again, 0, NULL), CUZK_OK);
    assert_int_equal(state_of(s, again), CUZK_JOB_CANCELLED);
    assert_int_equal(cuzk_store_set_done(s, again, (cuzk_span){0}, NULL, 0, NULL),
                     CUZK_E_CANCELLED);
    seq = test_store_insert(s, &other);
    assert_true(seq > again);
    assert_int_equal(state_of(s, seq), CUZK_JOB_QUEUED);
    cuzk_store_close(s);
}

static void an_identity_finds_the_done_job_first(void **state)
{
    (void)state;
    cuzk_store *s = test_store_open(folder("identity"));
    test_job j[4];
    int64_t seq[4];
    for (unsigned i = 0; i < 4; i++) {
        test_job_fill(&j[i], "job", i, 9);
        seq[i] = test_store_insert(s, &j[i]);
    }
    cuzk_store_job *job;
    assert_int_equal(cuzk_store_set_failed(s, seq[3], "e", "", -1, NULL, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_store_find_identity(s, &job, j[0].job.identity, NULL), CUZK_OK);
    assert_true(job->seq == seq[2]); /* the newest under way */
    cuzk_store_job_free(job);
    assert_int_equal(cuzk_store_set_done(s, seq[0], (cuzk_span){0}, NULL, 0, NULL), CUZK_OK);
    assert_int_equal(cuzk_store_find_identity(s, &job, j[0].job.identity, NULL), CUZK_OK);
    assert_true(job->seq == seq[0]);
    cuzk_store_job_free(job);
    cuzk_store_close(s);
}

static void jobs_of_one_payload_share_its_file_and_the_last_takes_it_away(void **state)
{
    (void)state;
    const char *f = folder("share");
    cuzk_store *s = test_store_open(f);
    test_job j[3];
    int64_t seq[3];
    for (unsigned i = 0; i < 3; i++) {
        test_job_fill(&j[i], "job", i, 5);
        seq[i] = test_store_insert(s, &j[i]);
    }
    assert_int_equal(test_store_payloads(f), 1);
    assert_int_equal(cuzk_store_set_done(s, seq[0], (cuzk_span){0}, NULL, 10, NULL), CUZK_OK);
    assert_int_equal(cuzk_store_set_cancelled(s, seq[1], 20, NULL), CUZK_OK);
    assert_int_equal(test_store_payloads(f), 1);
    assert_int_equal(cuzk_store_set_failed(s, seq[2], "e", "", -1, NULL, 30, NULL), CUZK_OK);
    assert_int_equal(test_store_payloads(f), 1); /* a failed one can still be looked at */
    size_t n;
    assert_int_equal(cuzk_store_purge(s, &n, 30, NULL), CUZK_OK);
    assert_int_equal(n, 2);
    assert_int_equal(test_store_payloads(f), 1);
    assert_int_equal(cuzk_store_purge(s, &n, 31, NULL), CUZK_OK);
    assert_int_equal(n, 1);
    assert_int_equal(test_store_payloads(f), 0);
    cuzk_store_close(s);
}

static void old_jobs_go_and_unfinished_ones_stay(void **state)
{
    (void)state;
    const char *f = folder("purge");
    cuzk_store *s = test_store_open(f);
    enum { N = 72 };
    int64_t seq[N];
    for (unsigned i = 0; i < N; i++) {
        test_job j;
        test_job_fill(&j, "job", i, i);
        seq[i] = test_store_insert(s, &j);
        uint8_t proof[CUZK_STORE_PARTITION_BYTES] = {0};
        if (i % 3) {
            assert_int_equal(cuzk_store_put_partition(s, seq[i], 0, proof, NULL), CUZK_OK);
            assert_int_equal(cuzk_store_set_failed(s, seq[i], "e", "", 0, NULL, i, NULL), CUZK_OK);
        }
    }
    size_t n;
    assert_int_equal(cuzk_store_purge(s, &n, N - 1, NULL), CUZK_OK);
    assert_int_equal(n, 47); /* 48 failed; the last ended at N - 1 */
    assert_int_equal(test_store_payloads(f), 25);
    cuzk_store_jobs jobs;
    assert_int_equal(cuzk_store_unfinished(s, &jobs, NULL), CUZK_OK);
    assert_int_equal(jobs.n, 24);
    cuzk_store_jobs_free(&jobs);
    cuzk_store_partition *p = NULL;
    assert_int_equal(cuzk_store_partitions(s, &p, &n, seq[1], NULL), CUZK_OK);
    assert_int_equal(n, 0);
    cuzk_store_close(s);
}

static void pages_show_each_job_once_and_resuming_goes_by_priority_then_age(void **state)
{
    (void)state;
    cuzk_store *s = test_store_open(folder("pages"));
    enum { N = 25 };
    int64_t seq[N];
    for (unsigned i = 0; i < N; i++) {
        test_job j;
        test_job_fill(&j, "job", i, i);
        seq[i] = test_store_insert(s, &j);
        if (i % 5 == 0) {
            assert_int_equal(cuzk_store_set_cancelled(s, seq[i], 0, NULL), CUZK_OK);
        }
    }
    for (int which = -1; which <= CUZK_JOB_CANCELLED; which++) {
        size_t seen = 0, pages = 0;
        int64_t after = 0, last = INT64_MAX;
        do {
            cuzk_store_jobs jobs;
            assert_int_equal(cuzk_store_list(s, &jobs, &after, which, after, 5, NULL), CUZK_OK);
            for (size_t i = 0; i < jobs.n; i++) {
                assert_true(jobs.v[i]->seq < last);
                assert_true(which < 0 || (int)jobs.v[i]->state == which);
                assert_int_equal(jobs.v[i]->meta.n, 0);
                last = jobs.v[i]->seq;
            }
            seen += jobs.n;
            pages++;
            cuzk_store_jobs_free(&jobs);
        } while (after != 0);
        size_t want = which < 0                     ? N
                      : which == CUZK_JOB_QUEUED    ? 20
                      : which == CUZK_JOB_CANCELLED ? 5
                                                    : 0;
        assert_int_equal(seen, want);
        assert_int_equal(pages, want == 0 ? 1 : want / 5);
    }
    cuzk_store_jobs jobs;
    assert_int_equal(cuzk_store_unfinished(s, &jobs, NULL), CUZK_OK);
    assert_int_equal(jobs.n, 20);
    for (size_t i = 1; i < jobs.n; i++) {
        const cuzk_store_job *a = jobs.v[i - 1], *b = jobs.v[i];
        assert_true(a->priority > b->priority || (a->priority == b->priority && a->seq < b->seq));
        assert_int_equal(b->meta.n, 40);
    }
    cuzk_store_jobs_free(&jobs);
    assert_int_equal(cuzk_store_list(s, &jobs, &(int64_t){0}, -1, 0, 0, NULL), CUZK_E_ARG);
    cuzk_store_close(s);
}

static void counts_follow_every_change(void **state)
{
    (void)state;
    const char *f = folder("counts");
    cuzk_store *s = test_store_open(f);
    test_job j;
    int64_t seq[8];
    for (unsigned i = 0; i < 8; i++) { /* kinds 1 to 4, two each */
        test_job_fill(&j, "job", i, i);
        seq[i] = test_store_insert(s, &j);
    }
    assert_int_equal(cuzk_store_set_running(s, seq[0], "a", NULL), CUZK_OK);
    assert_int_equal(cuzk_store_set_running(s, seq[0], "b", NULL), CUZK_OK);
    assert_int_equal(cuzk_store_set_done(s, seq[0], (cuzk_span){0}, NULL, 1, NULL), CUZK_OK);
    assert_int_equal(cuzk_store_set_failed(s, seq[4], "e", "", 0, NULL, 1, NULL), CUZK_OK);
    test_job_fill(&j, "job", 4, 4);
    assert_true(test_store_insert(s, &j) > seq[4]);
    size_t n;
    assert_int_equal(cuzk_store_purge(s, &n, 100, NULL), CUZK_OK);
    cuzk_store_close(s);
    s = test_store_open(f);
    cuzk_store_counts *c = NULL;
    assert_int_equal(cuzk_store_count(s, &c, &n, NULL), CUZK_OK);
    assert_int_equal(n, 4);
    static const uint64_t now[] = {1, 0, 0, 0, 0}, ever[] = {3, 1, 1, 1, 0}; /* of kind 1 */
    for (int i = 0; i < CUZK_JOB_STATES; i++) {
        assert_int_equal(c[0].now[i], now[i]);
        assert_int_equal(c[0].ever[i], ever[i]);
    }
    assert_int_equal(c[3].kind, 4);
    assert_int_equal(c[3].now[CUZK_JOB_QUEUED], 2);
    free(c);
    cuzk_store_close(s);
}

static void what_is_out_of_bounds_is_refused(void **state)
{
    (void)state;
    cuzk_store *s = test_store_open(folder("bounds"));
    cuzk_store_outcome outcome;
    int64_t seq;
    char id[CUZK_STORE_ID_MAX + 2];
    memset(id, 'x', sizeof id);
    id[sizeof id - 1] = '\0';
    test_job j;
    test_job_fill(&j, "job", 1, 1);
    j.job.id = id;
    assert_int_equal(insert(s, &j, &outcome, &seq), CUZK_E_ARG);
    id[CUZK_STORE_ID_MAX] = '\0';
    assert_int_equal(insert(s, &j, &outcome, &seq), CUZK_OK);
    cuzk_store_job *job;
    assert_int_equal(cuzk_store_find(s, &job, id, NULL), CUZK_OK);
    cuzk_store_job_free(job);
    j.job.id = "";
    assert_int_equal(insert(s, &j, &outcome, &seq), CUZK_E_ARG);
    j.job.id = "meta";
    j.job.meta.n = CUZK_STORE_META_MAX + 1;
    assert_int_equal(insert(s, &j, &outcome, &seq), CUZK_E_ARG);
    j.job.meta.n = 0;
    j.job.payload.n = (size_t)CUZK_STORE_PAYLOAD_MAX + 1;
    assert_int_equal(insert(s, &j, &outcome, &seq), CUZK_E_ARG);
    cuzk_store_close(s);
}

enum { THREADS = 16, JOBS = 12 };

typedef struct client {
    cuzk_store *s;
    unsigned id;
    int64_t seq[JOBS];
} client;

/* Inserts, runs and ends jobs; half of them share payloads with the other threads' jobs. */
static void *submit(void *ctx)
{
    client *c = ctx;
    char prefix[16];
    snprintf(prefix, sizeof prefix, "client%u", c->id);
    for (unsigned i = 0; i < JOBS; i++) {
        test_job j;
        cuzk_store_outcome outcome;
        uint8_t proof[CUZK_STORE_PARTITION_BYTES];
        test_job_fill(&j, prefix, i, i % 2 ? i : 100 * c->id + i);
        test_job_partition(proof, i, 0);
        bool ok = cuzk_store_insert(c->s, &outcome, &c->seq[i], &j.job, NULL) == CUZK_OK &&
                  outcome == CUZK_STORE_NEW;
        cuzk_store_job *job = NULL;
        ok = ok && cuzk_store_get(c->s, &job, c->seq[i], NULL) == CUZK_OK &&
             test_store_payload_ok(c->s, job);
        cuzk_store_job_free(job);
        ok = ok && cuzk_store_put_partition(c->s, c->seq[i], 0, proof, NULL) == CUZK_OK;
        if (ok && i % 3) {
            ok = cuzk_store_set_done(c->s, c->seq[i], (cuzk_span){proof, sizeof proof}, NULL, 0,
                                     NULL) == CUZK_OK;
        }
        if (!ok) {
            c->seq[i] = -1;
        }
    }
    return NULL;
}

static void threads_share_transactions_and_payloads(void **state)
{
    (void)state;
    const char *f = folder("threads");
    cuzk_store *s = test_store_open(f);
    pthread_t threads[THREADS];
    client clients[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        clients[i] = (client){.s = s, .id = i};
        assert_int_equal(pthread_create(&threads[i], NULL, submit, &clients[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    uint64_t changes = THREADS * JOBS * 2 + THREADS * JOBS * 2 / 3;
    assert_true(cuzk_store_commits(s) < changes);
    cuzk_store_close(s);
    s = test_store_open(f);
    size_t unfinished = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned k = 0; k < JOBS; k++) {
            assert_true(clients[i].seq[k] > 0);
            cuzk_store_job *job = get(s, clients[i].seq[k]);
            assert_int_equal(job->state, k % 3 ? CUZK_JOB_DONE : CUZK_JOB_QUEUED);
            assert_true(job->state == CUZK_JOB_DONE || test_store_payload_ok(s, job));
            unfinished += job->state == CUZK_JOB_QUEUED;
            cuzk_store_job_free(job);
        }
    }
    assert_int_equal(unfinished, THREADS * JOBS / 3);
    /* of the unfinished 0, 3, 6, 9 the odd ones share their payloads with all threads */
    assert_int_equal(test_store_payloads(f), 2 * THREADS + 2);
    cuzk_store_close(s);
}

static void *insert_one(void *ctx)
{
    client *c = ctx;
    test_job j;
    cuzk_store_outcome outcome;
    test_job_fill(&j, "late", 1, 1);
    c->seq[0] = 0;
    if (cuzk_store_insert(c->s, &outcome, &c->seq[0], &j.job, NULL) != CUZK_OK) {
        c->seq[0] = -1;
    }
    return NULL;
}

/* What happens when the last other job of the payload ends between the file's writing and the
 * insertion: the transaction is held up by a lock while the test removes the file. */
static void a_payload_that_goes_before_the_commit_is_written_again(void **state)
{
    (void)state;
    const char *f = folder("late");
    cuzk_store *s = test_store_open(f);
    char path[512], event[1024];
    snprintf(path, sizeof path, "%s/jobs.db", f);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    snprintf(path, sizeof path, "%s/payload", f);
    int watch = inotify_init1(IN_CLOEXEC);
    assert_true(watch >= 0 && inotify_add_watch(watch, path, IN_MOVED_TO) >= 0);

    pthread_t thread;
    client c = {.s = s};
    assert_int_equal(pthread_create(&thread, NULL, insert_one, &c), 0);
    assert_true(read(watch, event, sizeof event) > 0); /* the file is there */
    test_job j;
    char hex[65];
    test_job_fill(&j, "late", 1, 1);
    cuzk_hex_format(hex, j.job.payload_hash, 32);
    strcat(strcat(path, "/"), hex);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    pthread_join(thread, NULL);
    assert_true(c.seq[0] > 0);
    cuzk_store_job *job = get(s, c.seq[0]);
    assert_true(test_store_payload_ok(s, job));
    cuzk_store_job_free(job);
    sqlite3_close(db);
    close(watch);
    cuzk_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_found_as_it_came_also_after_a_restart),
        cmocka_unit_test(a_job_goes_through_its_states_with_partitions_and_proof),
        cmocka_unit_test(a_failure_carries_partition_phase_and_reason),
        cmocka_unit_test(an_id_is_joined_refused_or_free_again),
        cmocka_unit_test(an_identity_finds_the_done_job_first),
        cmocka_unit_test(jobs_of_one_payload_share_its_file_and_the_last_takes_it_away),
        cmocka_unit_test(old_jobs_go_and_unfinished_ones_stay),
        cmocka_unit_test(pages_show_each_job_once_and_resuming_goes_by_priority_then_age),
        cmocka_unit_test(counts_follow_every_change),
        cmocka_unit_test(what_is_out_of_bounds_is_refused),
        cmocka_unit_test(threads_share_transactions_and_payloads),
        cmocka_unit_test(a_payload_that_goes_before_the_commit_is_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
