#include "store/store_impl.h"
#include "support/store_job.h"
#include "support/support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the store asks of SQLite, and what it does when SQLite refuses. */

static const char *folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", test_tmpdir(), name);
    return path;
}

static int64_t pragma(cuzk_store *s, const char *sql, char *text, size_t cap)
{
    sqlite3_stmt *q = NULL;
    assert_int_equal(sqlite3_prepare_v2(s->writer.db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(q, 0);
    if (text) {
        snprintf(text, cap, "%s", (const char *)sqlite3_column_text(q, 0));
    }
    sqlite3_finalize(q);
    return v;
}

static void every_commit_is_flushed_and_nothing_blocks_readers(void **state)
{
    (void)state;
    cuzk_store *s = test_store_open(folder("pragmas"));
    char mode[16];
    assert_int_equal(pragma(s, "PRAGMA synchronous", NULL, 0), 2); /* FULL */
    pragma(s, "PRAGMA journal_mode", mode, sizeof mode);
    assert_string_equal(mode, "wal");
    assert_int_equal(pragma(s, "PRAGMA foreign_keys", NULL, 0), 1);
    cuzk_store_close(s);
}

static void no_statement_reads_all_jobs(void **state)
{
    (void)state;
    cuzk_store *s = test_store_open(folder("plans"));
    for (int i = STORE_INSERT; i < STORE_STATEMENT_COUNT; i++) {
        char sql[1024];
        const char *text = cuzk_store_sql((store_statement)i);
        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", text);
        sqlite3_stmt *q = NULL;
        assert_int_equal(sqlite3_prepare_v2(s->writer.db, sql, -1, &q, NULL), SQLITE_OK);
        while (sqlite3_step(q) == SQLITE_ROW) {
            const char *step = (const char *)sqlite3_column_text(q, 3);
            bool whole_index = strstr(step, "USING INDEX job_unfinished");        /* in its order */
            bool sorts = strstr(step, "TEMP B-TREE") && i != STORE_FIND_IDENTITY; /* a few rows */
            if (sorts || (strstr(step, "SCAN job") && !whole_index)) {
                fail_msg("%s: %s", step, text);
            }
        }
        sqlite3_finalize(q);
    }
    cuzk_store_close(s);
}

enum { THREADS = 4, JOBS = 40 };

typedef struct client {
    cuzk_store *s;
    unsigned id;
    cuzk_code code[JOBS];
    int64_t seq[JOBS];
} client;

static void *fill_up(void *ctx)
{
    client *c = ctx;
    static const uint8_t meta[20000];
    char prefix[16];
    snprintf(prefix, sizeof prefix, "c%u", c->id);
    for (unsigned i = 0; i < JOBS; i++) {
        test_job j;
        cuzk_store_outcome outcome;
        test_job_fill(&j, prefix, i, i);
        j.job.meta = (cuzk_span){meta, sizeof meta};
        c->code[i] = cuzk_store_insert(c->s, &outcome, &c->seq[i], &j.job, NULL);
    }
    return NULL;
}

static void a_full_disk_loses_what_was_refused_and_nothing_else(void **state)
{
    (void)state;
    const char *f = folder("full");
    cuzk_store *s = test_store_open(f);
    char sql[64];
    int64_t pages = pragma(s, "PRAGMA page_count", NULL, 0);
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %lld", (long long)pages + 200);
    pragma(s, sql, NULL, 0);
    pthread_t threads[THREADS];
    static client clients[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        clients[i] = (client){.s = s, .id = i};
        assert_int_equal(pthread_create(&threads[i], NULL, fill_up, &clients[i]), 0);
    }
    size_t accepted = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned k = 0; k < JOBS; k++) {
            assert_true(clients[i].code[k] == CUZK_OK || clients[i].code[k] == CUZK_E_IO);
            accepted += clients[i].code[k] == CUZK_OK;
        }
    }
    assert_true(accepted > 10 && accepted < THREADS * JOBS); /* 5 pages each */
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %lld", (long long)pages + 100000);
    pragma(s, sql, NULL, 0);
    test_job j;
    test_job_fill(&j, "after", 0, 0);
    test_store_insert(s, &j);
    cuzk_store_close(s);

    s = test_store_open(f);
    cuzk_store_jobs jobs;
    assert_int_equal(cuzk_store_unfinished(s, &jobs, NULL), CUZK_OK);
    assert_int_equal(jobs.n, accepted + 1);
    for (size_t i = 0; i < jobs.n; i++) {
        assert_true(test_store_payload_ok(s, jobs.v[i]));
    }
    cuzk_store_jobs_free(&jobs);
    cuzk_store_close(s);
}

static cuzk_code half_then_fail(cuzk_store *s, store_change *c, cuzk_err *err)
{
    (void)c;
    assert_int_equal(sqlite3_exec(s->writer.db, "UPDATE job SET phase = 'half'", NULL, NULL, NULL),
                     SQLITE_OK);
    return CUZK_FAIL(err, CUZK_E_INTERNAL, "half way");
}

static void a_change_that_fails_half_way_is_undone_alone(void **state)
{
    (void)state;
    cuzk_store *s = test_store_open(folder("undo"));
    test_job j;
    test_job_fill(&j, "job", 0, 0);
    int64_t seq = test_store_insert(s, &j);
    cuzk_err err;
    store_change c = {.apply = half_then_fail};
    assert_int_equal(cuzk_store_change(s, &c, &err), CUZK_E_INTERNAL);
    assert_string_equal(err.msg, "half way");
    cuzk_store_job *job = NULL;
    assert_int_equal(cuzk_store_get(s, &job, seq, NULL), CUZK_OK);
    assert_string_equal(job->phase, "");
    cuzk_store_job_free(job);
    cuzk_store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_commit_is_flushed_and_nothing_blocks_readers),
        cmocka_unit_test(no_statement_reads_all_jobs),
        cmocka_unit_test(a_full_disk_loses_what_was_refused_and_nothing_else),
        cmocka_unit_test(a_change_that_fails_half_way_is_undone_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
