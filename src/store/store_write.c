#include "store/store_impl.h"

#include <stdlib.h>
#include <string.h>

/* Changes of jobs. Each is a function that works within the leader's transaction, and a call that
 * checks its arguments and waits for the commit. */

enum { INSERT_TRIES = 16, PURGE_STEP = 32 };

static int bind_span(sqlite3_stmt *q, int i, cuzk_span b)
{
    return sqlite3_bind_blob64(q, i, b.n ? b.p : (const uint8_t *)"", b.n, SQLITE_STATIC);
}

static int bind_hash(sqlite3_stmt *q, int i, const uint8_t hash[32])
{
    return sqlite3_bind_blob(q, i, hash, 32, SQLITE_STATIC);
}

/* Runs a statement whose values were bound; rc is SQLITE_OK or what one of the bindings said. */
static cuzk_code run_bound(cuzk_store *s, sqlite3_stmt *q, int rc, const char *what, cuzk_err *err)
{
    if (rc != SQLITE_OK) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: cannot %s: %s", s->path, what,
                         sqlite3_errmsg(s->writer.db));
    }
    return cuzk_store_run(&s->writer, q, what, err);
}

/* Notes that a payload may be out of use after this change. */
static cuzk_code note_dropped(store_change *c, const void *hash, cuzk_err *err)
{
    store_hash *grown = realloc(c->dropped, (c->n_dropped + 1) * sizeof *grown);
    if (!grown) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the name of a payload");
    }
    memcpy(grown[c->n_dropped].bytes, hash, 32);
    c->dropped = grown;
    c->n_dropped++;
    return CUZK_OK;
}

/* A hash in a row: 32 bytes, or the row is damaged. */
static cuzk_code column_hash(cuzk_store *s, sqlite3_stmt *q, int i, uint8_t ret[32], cuzk_err *err)
{
    if (sqlite3_column_bytes(q, i) != 32) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a hash of 32 bytes, found %d", s->path,
                         sqlite3_column_bytes(q, i));
    }
    memcpy(ret, sqlite3_column_blob(q, i), 32);
    return CUZK_OK;
}

cuzk_code cuzk_store_payload_used(cuzk_store *s, bool *ret, const uint8_t hash[32], cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_PAYLOAD_USED, err));
    bind_hash(q, 1, hash);
    int rc = sqlite3_step(q);
    cuzk_code code = CUZK_OK;
    if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
        *ret = rc == SQLITE_ROW;
    } else {
        code = cuzk_store_sqlite_fail(&s->writer, "look for a payload's jobs", err);
    }
    sqlite3_reset(q);
    return code;
}

static cuzk_code delete_job(cuzk_store *s, store_change *c, int64_t seq, const uint8_t hash[32],
                            cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_DELETE, err));
    CUZK_TRY(run_bound(s, q, sqlite3_bind_int64(q, 1, seq), "delete a job", err));
    return note_dropped(c, hash, err);
}

/* --- insertion --- */

typedef struct insertion {
    const cuzk_store_new_job *job;
    int64_t created_us;
    int64_t seq; /* out */
    bool joined; /* out: a job of the id was there that proves the same */
    bool other;  /* out: one was there that proves something else */
    bool again;  /* out: the payload's file has gone, write it once more */
} insertion;

/* A job that has the id: joins it, removes it to make room, or refuses. */
static cuzk_code meet(cuzk_store *s, store_change *c, insertion *in, bool *ret_free, cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_ID_STATE, err));
    if (sqlite3_bind_text(q, 1, in->job->id, -1, SQLITE_STATIC) != SQLITE_OK) {
        return cuzk_store_sqlite_fail(&s->writer, "look for a job", err);
    }
    int rc = sqlite3_step(q);
    if (rc != SQLITE_ROW) {
        cuzk_code code =
            rc == SQLITE_DONE ? CUZK_OK : cuzk_store_sqlite_fail(&s->writer, "look for a job", err);
        sqlite3_reset(q);
        *ret_free = true;
        return code;
    }
    int64_t seq = sqlite3_column_int64(q, 0);
    int state = sqlite3_column_int(q, 1);
    uint8_t identity[32], hash[32];
    cuzk_code code = column_hash(s, q, 2, identity, err);
    if (code == CUZK_OK) {
        code = column_hash(s, q, 3, hash, err);
    }
    sqlite3_reset(q);
    if (code != CUZK_OK) {
        return code;
    }
    bool same = memcmp(identity, in->job->identity, 32) == 0;
    *ret_free = state == CUZK_JOB_CANCELLED || (state == CUZK_JOB_FAILED && same);
    if (*ret_free) {
        return delete_job(s, c, seq, hash, err);
    }
    in->seq = seq;
    in->joined = same;
    in->other = !same;
    return CUZK_OK;
}

static cuzk_code apply_insert(cuzk_store *s, store_change *c, cuzk_err *err)
{
    insertion *in = c->arg;
    const cuzk_store_new_job *job = in->job;
    bool vacant = false;
    in->again = !cuzk_store_payload_there(s, job->payload_hash);
    if (in->again) {
        return CUZK_OK;
    }
    CUZK_TRY(meet(s, c, in, &vacant, err));
    if (!vacant) {
        return note_dropped(c, job->payload_hash,
                            err); /* perhaps another payload than that job's */
    }
    sqlite3_stmt *q;
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_INSERT, err));
    int rc = sqlite3_bind_text(q, 1, job->id, -1, SQLITE_STATIC);
    rc |= bind_hash(q, 2, job->identity);
    rc |= sqlite3_bind_int64(q, 3, job->kind);
    rc |= sqlite3_bind_int64(q, 4, (int64_t)job->sector_size);
    rc |= sqlite3_bind_int64(q, 5, job->priority);
    rc |= sqlite3_bind_int64(q, 6, in->created_us);
    rc |= bind_hash(q, 7, job->payload_hash);
    rc |= sqlite3_bind_int64(q, 8, (int64_t)job->payload.n);
    rc |= bind_span(q, 9, job->meta);
    CUZK_TRY(run_bound(s, q, rc, "insert a job", err));
    in->seq = sqlite3_last_insert_rowid(s->writer.db);
    c->adds_payload = true;
    return CUZK_OK;
}

static cuzk_code check_new(const cuzk_store_new_job *job, cuzk_err *err)
{
    size_t id = strnlen(job->id, CUZK_STORE_ID_MAX + 1);
    if (id == 0 || id > CUZK_STORE_ID_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a job's id needs 1 to %d bytes", CUZK_STORE_ID_MAX);
    }
    if (job->meta.n > CUZK_STORE_META_MAX || job->payload.n > CUZK_STORE_PAYLOAD_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "job \"%s\": at most %d bytes of metadata and %d of payload, found %zu "
                         "and %zu",
                         job->id, CUZK_STORE_META_MAX, CUZK_STORE_PAYLOAD_MAX, job->meta.n,
                         job->payload.n);
    }
    return CUZK_OK;
}

/* Looks for a job of the id without a transaction, so that nobody writes 50 MB to learn that the
 * job is there. */
static cuzk_code look_first(cuzk_store *s, insertion *in, cuzk_err *err)
{
    cuzk_store_job *found = NULL;
    cuzk_code code = cuzk_store_find(s, &found, in->job->id, err);
    if (code == CUZK_OK && found->state != CUZK_JOB_CANCELLED) {
        bool same = memcmp(found->identity, in->job->identity, 32) == 0;
        in->other = !same;
        in->joined = same && found->state != CUZK_JOB_FAILED;
        in->seq = found->seq;
    }
    cuzk_store_job_free(found);
    return code == CUZK_E_NOT_FOUND ? CUZK_OK : code;
}

cuzk_code cuzk_store_insert(cuzk_store *s, cuzk_store_outcome *ret, int64_t *ret_seq,
                            const cuzk_store_new_job *job, cuzk_err *err)
{
    CUZK_TRY(check_new(job, err));
    insertion in = {.job = job, .created_us = cuzk_store_time(job->created_us)};
    CUZK_TRY(look_first(s, &in, err));
    in.again = !in.joined && !in.other;
    for (int i = 0; in.again && i < INSERT_TRIES; i++) {
        CUZK_TRY(cuzk_store_payload_write(s, job->payload_hash, job->payload, err));
        store_change c = {.apply = apply_insert, .arg = &in};
        CUZK_TRY(cuzk_store_change(s, &c, err));
    }
    if (in.again) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: the payload of job \"%s\" vanishes as it is written",
                         s->folder, job->id);
    }
    if (in.other) {
        return CUZK_FAIL(err, CUZK_E_EXISTS,
                         "job \"%s\" is there already and proves something else", job->id);
    }
    *ret = in.joined ? CUZK_STORE_JOINED : CUZK_STORE_NEW;
    *ret_seq = in.seq;
    return CUZK_OK;
}

/* --- changes of a job --- */

typedef struct update {
    int64_t seq;
    cuzk_job_state state; /* to be */
    int64_t time_us;
    const char *phase, *error;
    int32_t partition;
    cuzk_span proof;
    cuzk_job_timings timings;
} update;

/* Checks that a job is there and has not ended; tells its payload. */
static cuzk_code expect_unfinished(cuzk_store *s, int64_t seq, uint8_t ret_hash[32], cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_SEQ_STATE, err));
    sqlite3_bind_int64(q, 1, seq);
    cuzk_code code;
    switch (sqlite3_step(q)) {
    case SQLITE_ROW:
        if (sqlite3_column_int(q, 0) == CUZK_JOB_CANCELLED) {
            code = CUZK_FAIL(err, CUZK_E_CANCELLED, "job %lld was cancelled", (long long)seq);
        } else if (sqlite3_column_int(q, 0) >= CUZK_JOB_DONE) {
            code = CUZK_FAIL(err, CUZK_E_EXISTS, "job %lld has ended already", (long long)seq);
        } else {
            code = column_hash(s, q, 1, ret_hash, err);
        }
        break;
    case SQLITE_DONE:
        code = CUZK_FAIL(err, CUZK_E_NOT_FOUND, "job %lld is not in the store", (long long)seq);
        break;
    default:
        code = cuzk_store_sqlite_fail(&s->writer, "look for a job", err);
    }
    sqlite3_reset(q);
    return code;
}

static cuzk_code apply_running(cuzk_store *s, store_change *c, cuzk_err *err)
{
    const update *u = c->arg;
    uint8_t hash[32];
    sqlite3_stmt *q;
    CUZK_TRY(expect_unfinished(s, u->seq, hash, err));
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_RUNNING, err));
    int rc = sqlite3_bind_int64(q, 1, u->seq);
    rc |= sqlite3_bind_text(q, 2, u->phase, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_int64(q, 3, u->time_us);
    return run_bound(s, q, rc, "update a job", err);
}

static cuzk_code apply_queued(cuzk_store *s, store_change *c, cuzk_err *err)
{
    const update *u = c->arg;
    uint8_t hash[32];
    sqlite3_stmt *q;
    CUZK_TRY(expect_unfinished(s, u->seq, hash, err));
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_QUEUED, err));
    return run_bound(s, q, sqlite3_bind_int64(q, 1, u->seq), "update a job", err);
}

static cuzk_code apply_partition(cuzk_store *s, store_change *c, cuzk_err *err)
{
    const update *u = c->arg;
    uint8_t hash[32];
    sqlite3_stmt *q;
    CUZK_TRY(expect_unfinished(s, u->seq, hash, err));
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_PUT_PARTITION, err));
    int rc = sqlite3_bind_int64(q, 1, u->seq);
    rc |= sqlite3_bind_int64(q, 2, u->partition);
    rc |= bind_span(q, 3, u->proof);
    return run_bound(s, q, rc, "keep a partition's proof", err);
}

static cuzk_code apply_end(cuzk_store *s, store_change *c, cuzk_err *err)
{
    const update *u = c->arg;
    uint8_t hash[32];
    sqlite3_stmt *q;
    CUZK_TRY(expect_unfinished(s, u->seq, hash, err));
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_END, err));
    int rc = sqlite3_bind_int64(q, 1, u->seq);
    rc |= sqlite3_bind_int(q, 2, (int)u->state);
    rc |= sqlite3_bind_int64(q, 3, u->time_us);
    rc |= u->state == CUZK_JOB_DONE ? bind_span(q, 4, u->proof) : sqlite3_bind_null(q, 4);
    rc |= sqlite3_bind_text(q, 5, u->error, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_text(q, 6, u->phase, -1, SQLITE_STATIC);
    rc |= sqlite3_bind_int64(q, 7, u->partition);
    rc |= sqlite3_bind_int64(q, 8, (int64_t)u->timings.queue_ms);
    rc |= sqlite3_bind_int64(q, 9, (int64_t)u->timings.srs_ms);
    rc |= sqlite3_bind_int64(q, 10, (int64_t)u->timings.synthesis_ms);
    rc |= sqlite3_bind_int64(q, 11, (int64_t)u->timings.gpu_ms);
    rc |= sqlite3_bind_int64(q, 12, (int64_t)u->timings.total_ms);
    CUZK_TRY(run_bound(s, q, rc, "end a job", err));
    return u->state == CUZK_JOB_FAILED ? CUZK_OK : note_dropped(c, hash, err);
}

static cuzk_code change(cuzk_store *s, cuzk_code (*apply)(cuzk_store *, store_change *, cuzk_err *),
                        update *u, cuzk_err *err)
{
    u->time_us = cuzk_store_time(u->time_us);
    store_change c = {.apply = apply, .arg = u};
    return cuzk_store_change(s, &c, err);
}

cuzk_code cuzk_store_set_running(cuzk_store *s, int64_t seq, const char *phase, cuzk_err *err)
{
    char cut[CUZK_STORE_PHASE_MAX + 1];
    cuzk_store_cut(cut, sizeof cut, phase);
    return change(s, apply_running, &(update){.seq = seq, .phase = cut}, err);
}

cuzk_code cuzk_store_set_queued(cuzk_store *s, int64_t seq, cuzk_err *err)
{
    return change(s, apply_queued, &(update){.seq = seq}, err);
}

cuzk_code cuzk_store_put_partition(cuzk_store *s, int64_t seq, uint32_t k,
                                   const uint8_t proof[CUZK_STORE_PARTITION_BYTES], cuzk_err *err)
{
    if (k >= CUZK_STORE_PARTITION_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "partition %u: expected one below %d", k,
                         CUZK_STORE_PARTITION_MAX);
    }
    update u = {.seq = seq, .partition = (int32_t)k, .proof = {proof, CUZK_STORE_PARTITION_BYTES}};
    return change(s, apply_partition, &u, err);
}

cuzk_code cuzk_store_set_done(cuzk_store *s, int64_t seq, cuzk_span proof,
                              const cuzk_job_timings *timings, int64_t ended_us, cuzk_err *err)
{
    if (proof.n > CUZK_STORE_PROOF_MAX) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a proof of %zu bytes: expected at most %d", proof.n,
                         CUZK_STORE_PROOF_MAX);
    }
    update u = {.seq = seq,
                .state = CUZK_JOB_DONE,
                .time_us = ended_us,
                .phase = "",
                .error = "",
                .partition = -1,
                .proof = proof,
                .timings = timings ? *timings : (cuzk_job_timings){0}};
    return change(s, apply_end, &u, err);
}

cuzk_code cuzk_store_set_failed(cuzk_store *s, int64_t seq, const char *error, const char *phase,
                                int32_t partition, const cuzk_job_timings *timings,
                                int64_t ended_us, cuzk_err *err)
{
    char cut_error[CUZK_STORE_ERROR_MAX + 1], cut_phase[CUZK_STORE_PHASE_MAX + 1];
    cuzk_store_cut(cut_error, sizeof cut_error, error);
    cuzk_store_cut(cut_phase, sizeof cut_phase, phase);
    update u = {.seq = seq,
                .state = CUZK_JOB_FAILED,
                .time_us = ended_us,
                .phase = cut_phase,
                .error = cut_error,
                .partition = partition,
                .timings = timings ? *timings : (cuzk_job_timings){0}};
    return change(s, apply_end, &u, err);
}

cuzk_code cuzk_store_set_cancelled(cuzk_store *s, int64_t seq, int64_t ended_us, cuzk_err *err)
{
    update u = {.seq = seq,
                .state = CUZK_JOB_CANCELLED,
                .time_us = ended_us,
                .phase = "",
                .error = "",
                .partition = -1};
    return change(s, apply_end, &u, err);
}

/* --- expiry --- */

typedef struct purge {
    int64_t before_us;
    size_t n; /* out: deleted by this step */
} purge;

static cuzk_code apply_purge(cuzk_store *s, store_change *c, cuzk_err *err)
{
    purge *p = c->arg;
    int64_t seqs[PURGE_STEP];
    store_hash hashes[PURGE_STEP];
    size_t n = 0;
    sqlite3_stmt *q;
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, STORE_EXPIRED, err));
    sqlite3_bind_int64(q, 1, p->before_us);
    sqlite3_bind_int(q, 2, PURGE_STEP);
    int rc;
    cuzk_code code = CUZK_OK;
    while (code == CUZK_OK && n < PURGE_STEP && (rc = sqlite3_step(q)) != SQLITE_DONE) {
        code = rc == SQLITE_ROW ? column_hash(s, q, 1, hashes[n].bytes, err)
                                : cuzk_store_sqlite_fail(&s->writer, "look for old jobs", err);
        seqs[n] = code == CUZK_OK ? sqlite3_column_int64(q, 0) : 0;
        n += code == CUZK_OK;
    }
    sqlite3_reset(q);
    for (size_t i = 0; code == CUZK_OK && i < n; i++) {
        code = delete_job(s, c, seqs[i], hashes[i].bytes, err);
    }
    p->n = n;
    return code;
}

cuzk_code cuzk_store_purge(cuzk_store *s, size_t *ret_n, int64_t ended_before_us, cuzk_err *err)
{
    purge p = {.before_us = ended_before_us, .n = PURGE_STEP};
    size_t total = 0;
    while (p.n == PURGE_STEP) { /* in steps, so that nobody waits long for a commit */
        store_change c = {.apply = apply_purge, .arg = &p};
        CUZK_TRY(cuzk_store_change(s, &c, err));
        total += p.n;
    }
    *ret_n = total;
    return CUZK_OK;
}
