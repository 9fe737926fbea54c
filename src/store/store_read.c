#include "store/store_impl.h"

#include <stdlib.h>
#include <string.h>

/* Reads, on a connection of their own: they do not wait for commits. */

enum { COLUMN_META = 20, COLUMN_PROOF = 21 }; /* after STORE_COLUMNS */

void cuzk_store_job_free(cuzk_store_job *job) { free(job); }

void cuzk_store_jobs_free(cuzk_store_jobs *jobs)
{
    for (size_t i = 0; i < jobs->n; i++) {
        free(jobs->v[i]);
    }
    free(jobs->v);
    *jobs = (cuzk_store_jobs){0};
}

static bool copy_hash(sqlite3_stmt *q, int i, uint8_t ret[32])
{
    if (sqlite3_column_bytes(q, i) != 32) {
        return false;
    }
    memcpy(ret, sqlite3_column_blob(q, i), 32);
    return true;
}

static bool copy_text(sqlite3_stmt *q, int i, char *ret, size_t cap)
{
    const unsigned char *text = sqlite3_column_text(q, i);
    size_t n = (size_t)sqlite3_column_bytes(q, i);
    if (!text || n >= cap) {
        return false;
    }
    memcpy(ret, text, n);
    ret[n] = '\0';
    return true;
}

/* A blob as a span, copied to *room, which moves on. */
static cuzk_span copy_blob(sqlite3_stmt *q, int i, uint8_t **room)
{
    cuzk_span b = {*room, (size_t)sqlite3_column_bytes(q, i)};
    if (b.n > 0) {
        memcpy(*room, sqlite3_column_blob(q, i), b.n);
    }
    *room += b.n;
    return b;
}

static bool copy_columns(sqlite3_stmt *q, cuzk_store_job *job)
{
    job->seq = sqlite3_column_int64(q, 0);
    job->kind = (uint32_t)sqlite3_column_int64(q, 3);
    job->sector_size = (uint64_t)sqlite3_column_int64(q, 4);
    job->priority = sqlite3_column_int(q, 5);
    int state = sqlite3_column_int(q, 6);
    job->state = (cuzk_job_state)state;
    job->created_us = sqlite3_column_int64(q, 7);
    job->started_us = sqlite3_column_int64(q, 8);
    job->ended_us = sqlite3_column_int64(q, 9);
    job->payload_bytes = (uint64_t)sqlite3_column_int64(q, 11);
    job->error_partition = sqlite3_column_int(q, 13);
    uint64_t *ms[] = {&job->timings.queue_ms, &job->timings.srs_ms, &job->timings.synthesis_ms,
                      &job->timings.gpu_ms, &job->timings.total_ms};
    for (int i = 0; i < 5; i++) {
        *ms[i] = (uint64_t)sqlite3_column_int64(q, 15 + i);
    }
    return state >= 0 && state < CUZK_JOB_STATES && job->payload_bytes <= CUZK_STORE_PAYLOAD_MAX &&
           copy_text(q, 1, job->id, sizeof job->id) && copy_hash(q, 2, job->identity) &&
           copy_hash(q, 10, job->payload_hash) && copy_text(q, 12, job->error, sizeof job->error) &&
           copy_text(q, 14, job->phase, sizeof job->phase);
}

/* The job of the row that a statement is at. */
static cuzk_code read_row(const store_db *d, sqlite3_stmt *q, cuzk_store_job **ret, cuzk_err *err)
{
    bool whole = sqlite3_column_count(q) > COLUMN_PROOF;
    size_t blobs = 0;
    if (whole) {
        blobs = (size_t)sqlite3_column_bytes(q, COLUMN_META) +
                (size_t)sqlite3_column_bytes(q, COLUMN_PROOF);
    }
    cuzk_store_job *job = calloc(1, sizeof *job + blobs);
    if (!job) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a job", d->path);
    }
    if (!copy_columns(q, job)) {
        free(job);
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: job %lld is damaged", d->path,
                         (long long)sqlite3_column_int64(q, 0));
    }
    if (whole) {
        uint8_t *room = (uint8_t *)(job + 1);
        job->meta = copy_blob(q, COLUMN_META, &room);
        job->proof = copy_blob(q, COLUMN_PROOF, &room);
    }
    *ret = job;
    return CUZK_OK;
}

/* A read under way: the connection is this thread's until end_read. */
static cuzk_code begin_read(cuzk_store *s, sqlite3_stmt **ret, store_statement name, cuzk_err *err)
{
    pthread_mutex_lock(&s->read_mu);
    cuzk_code code = cuzk_store_prepare(&s->reader, ret, name, err);
    if (code != CUZK_OK) {
        pthread_mutex_unlock(&s->read_mu);
    }
    return code;
}

static void end_read(cuzk_store *s, sqlite3_stmt *q)
{
    sqlite3_reset(q); /* ends the read transaction too: the log can be folded into the database */
    pthread_mutex_unlock(&s->read_mu);
}

/* The one job that a bound statement finds. */
static cuzk_code read_one(cuzk_store *s, sqlite3_stmt *q, cuzk_store_job **ret, cuzk_err *err)
{
    switch (sqlite3_step(q)) {
    case SQLITE_ROW:
        return read_row(&s->reader, q, ret, err);
    case SQLITE_DONE:
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "no such job");
    default:
        return cuzk_store_sqlite_fail(&s->reader, "look for a job", err);
    }
}

cuzk_code cuzk_store_find(cuzk_store *s, cuzk_store_job **ret, const char *id, cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(begin_read(s, &q, STORE_FIND, err));
    sqlite3_bind_text(q, 1, id, -1, SQLITE_STATIC);
    cuzk_code code = read_one(s, q, ret, err);
    end_read(s, q);
    return code == CUZK_E_NOT_FOUND ? CUZK_FAIL(err, code, "no job \"%.256s\"", id) : code;
}

cuzk_code cuzk_store_get(cuzk_store *s, cuzk_store_job **ret, int64_t seq, cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(begin_read(s, &q, STORE_GET, err));
    sqlite3_bind_int64(q, 1, seq);
    cuzk_code code = read_one(s, q, ret, err);
    end_read(s, q);
    return code;
}

cuzk_code cuzk_store_find_identity(cuzk_store *s, cuzk_store_job **ret, const uint8_t identity[32],
                                   cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(begin_read(s, &q, STORE_FIND_IDENTITY, err));
    sqlite3_bind_blob(q, 1, identity, 32, SQLITE_STATIC);
    cuzk_code code = read_one(s, q, ret, err);
    end_read(s, q);
    return code;
}

/* Room for one more element in an array that doubles; NULL when there is none. */
static void *grown(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) {
        return array;
    }
    size_t more = *cap ? 2 * *cap : 16;
    void *p = reallocarray(array, more, size);
    *cap = p ? more : *cap;
    return p;
}

/* All jobs that a bound statement finds. */
static cuzk_code read_many(const store_db *d, sqlite3_stmt *q, cuzk_store_jobs *ret, cuzk_err *err)
{
    cuzk_store_jobs jobs = {0};
    size_t cap = 0;
    cuzk_code code = CUZK_OK;
    int rc = SQLITE_DONE;
    while (code == CUZK_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        cuzk_store_job **v = grown(jobs.v, jobs.n, &cap, sizeof *v);
        if (!v) {
            code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a list of jobs", d->path);
            break;
        }
        jobs.v = v;
        code = read_row(d, q, &jobs.v[jobs.n], err);
        jobs.n += code == CUZK_OK;
    }
    if (code == CUZK_OK && rc != SQLITE_DONE) {
        code = cuzk_store_sqlite_fail(d, "list jobs", err);
    }
    if (code != CUZK_OK) {
        cuzk_store_jobs_free(&jobs);
        return code;
    }
    *ret = jobs;
    return CUZK_OK;
}

cuzk_code cuzk_store_list(cuzk_store *s, cuzk_store_jobs *ret, int64_t *ret_next, int state,
                          int64_t after, size_t limit, cuzk_err *err)
{
    if (limit == 0 || state >= CUZK_JOB_STATES) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a list needs a limit above 0 and a state below %d",
                         CUZK_JOB_STATES);
    }
    limit = limit < CUZK_STORE_PAGE_MAX ? limit : CUZK_STORE_PAGE_MAX;
    sqlite3_stmt *q;
    CUZK_TRY(begin_read(s, &q, state < 0 ? STORE_LIST : STORE_LIST_STATE, err));
    sqlite3_bind_int64(q, 1, after ? after : INT64_MAX);
    sqlite3_bind_int64(q, 2, (int64_t)limit + 1); /* one more tells whether there is a next page */
    if (state >= 0) {
        sqlite3_bind_int(q, 3, state);
    }
    cuzk_code code = read_many(&s->reader, q, ret, err);
    end_read(s, q);
    if (code != CUZK_OK) {
        return code;
    }
    *ret_next = 0;
    if (ret->n > limit) {
        free(ret->v[--ret->n]);
        *ret_next = ret->v[ret->n - 1]->seq;
    }
    return CUZK_OK;
}

cuzk_code cuzk_store_unfinished(cuzk_store *s, cuzk_store_jobs *ret, cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(begin_read(s, &q, STORE_UNFINISHED, err));
    cuzk_code code = read_many(&s->reader, q, ret, err);
    end_read(s, q);
    return code;
}

static cuzk_code read_partition(const store_db *d, sqlite3_stmt *q, cuzk_store_partition *ret,
                                cuzk_err *err)
{
    int64_t k = sqlite3_column_int64(q, 0);
    if (k < 0 || k >= CUZK_STORE_PARTITION_MAX ||
        sqlite3_column_bytes(q, 1) != CUZK_STORE_PARTITION_BYTES) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: the proof of partition %lld is damaged", d->path,
                         (long long)k);
    }
    ret->k = (uint32_t)k;
    memcpy(ret->proof, sqlite3_column_blob(q, 1), CUZK_STORE_PARTITION_BYTES);
    return CUZK_OK;
}

cuzk_code cuzk_store_partitions(cuzk_store *s, cuzk_store_partition **ret, size_t *ret_n,
                                int64_t seq, cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(begin_read(s, &q, STORE_PARTITIONS, err));
    sqlite3_bind_int64(q, 1, seq);
    cuzk_store_partition *v = NULL;
    size_t n = 0, cap = 0;
    cuzk_code code = CUZK_OK;
    int rc = SQLITE_DONE;
    while (code == CUZK_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        cuzk_store_partition *more = grown(v, n, &cap, sizeof *v);
        if (!more) {
            code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for partitions", s->path);
            break;
        }
        v = more;
        code = read_partition(&s->reader, q, &v[n], err);
        n += code == CUZK_OK;
    }
    if (code == CUZK_OK && rc != SQLITE_DONE) {
        code = cuzk_store_sqlite_fail(&s->reader, "read partitions", err);
    }
    end_read(s, q);
    if (code != CUZK_OK) {
        free(v);
        return code;
    }
    *ret = v;
    *ret_n = n;
    return CUZK_OK;
}

cuzk_code cuzk_store_count(cuzk_store *s, cuzk_store_counts **ret, size_t *ret_n, cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(begin_read(s, &q, STORE_COUNT, err));
    cuzk_store_counts *v = NULL;
    size_t n = 0, cap = 0;
    cuzk_code code = CUZK_OK;
    int rc = SQLITE_DONE;
    while (code == CUZK_OK && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        uint32_t kind = (uint32_t)sqlite3_column_int64(q, 0);
        int state = sqlite3_column_int(q, 1);
        if (n == 0 || v[n - 1].kind != kind) {
            cuzk_store_counts *more = grown(v, n, &cap, sizeof *v);
            if (!more) {
                code = CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for counts", s->path);
                break;
            }
            v = more;
            v[n++] = (cuzk_store_counts){.kind = kind};
        }
        if (state >= 0 && state < CUZK_JOB_STATES) {
            v[n - 1].now[state] = (uint64_t)sqlite3_column_int64(q, 2);
            v[n - 1].ever[state] = (uint64_t)sqlite3_column_int64(q, 3);
        }
    }
    if (code == CUZK_OK && rc != SQLITE_DONE) {
        code = cuzk_store_sqlite_fail(&s->reader, "count jobs", err);
    }
    end_read(s, q);
    if (code != CUZK_OK) {
        free(v);
        return code;
    }
    *ret = v;
    *ret_n = n;
    return CUZK_OK;
}
