#ifndef CUZK_STORE_STORE_IMPL_H
#define CUZK_STORE_STORE_IMPL_H

#include "store/store.h"

#include <pthread.h>
#include <sqlite3.h>

/* What the store's own files share; nobody else needs this. */

/* Statements: name, text. Each connection prepares one when it first needs it. */
#define STORE_COLUMNS                                                                              \
    "seq, id, identity, kind, sector_size, priority, state, created_us, started_us, ended_us, "    \
    "payload_hash, payload_bytes, error, error_partition, phase, "                                 \
    "queue_ms, srs_ms, synthesis_ms, gpu_ms, total_ms"

#define STORE_STATEMENTS(X)                                                                        \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                    \
    X(COMMIT, "COMMIT")                                                                            \
    X(ROLLBACK, "ROLLBACK")                                                                        \
    X(SAVE, "SAVEPOINT one")                                                                       \
    X(KEEP, "RELEASE one")                                                                         \
    X(UNDO, "ROLLBACK TO one")                                                                     \
    X(INSERT, "INSERT INTO job(id, identity, kind, sector_size, priority, state, created_us, "     \
              "payload_hash, payload_bytes, meta) VALUES(?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9)")  \
    X(ID_STATE, "SELECT seq, state, identity, payload_hash FROM job WHERE id = ?1")                \
    X(SEQ_STATE, "SELECT state, payload_hash FROM job WHERE seq = ?1")                             \
    X(DELETE, "DELETE FROM job WHERE seq = ?1")                                                    \
    X(PAYLOAD_USED, "SELECT 1 FROM job WHERE payload_hash = ?1 AND state IN (0, 1, 3) LIMIT 1")    \
    X(RUNNING, "UPDATE job SET state = 1, phase = ?2, "                                            \
               "started_us = CASE started_us WHEN 0 THEN ?3 ELSE started_us END WHERE seq = ?1")   \
    X(QUEUED, "UPDATE job SET state = 0, phase = '' WHERE seq = ?1")                               \
    X(PUT_PARTITION, "INSERT INTO partition(job, k, proof) VALUES(?1, ?2, ?3) "                    \
                     "ON CONFLICT DO UPDATE SET proof = excluded.proof")                           \
    X(END, "UPDATE job SET state = ?2, ended_us = ?3, proof = ?4, error = ?5, phase = ?6, "        \
           "error_partition = ?7, queue_ms = ?8, srs_ms = ?9, synthesis_ms = ?10, gpu_ms = ?11, "  \
           "total_ms = ?12 WHERE seq = ?1")                                                        \
    X(EXPIRED, "SELECT seq, payload_hash FROM job WHERE state >= 2 AND ended_us < ?1 "             \
               "ORDER BY ended_us LIMIT ?2")                                                       \
    X(GET, "SELECT " STORE_COLUMNS ", meta, proof FROM job WHERE seq = ?1")                        \
    X(FIND, "SELECT " STORE_COLUMNS ", meta, proof FROM job WHERE id = ?1")                        \
    X(FIND_IDENTITY, "SELECT " STORE_COLUMNS ", meta, proof FROM job WHERE identity = ?1 "         \
                     "ORDER BY state = 2 DESC, state < 2 DESC, seq DESC LIMIT 1")                  \
    X(LIST, "SELECT " STORE_COLUMNS " FROM job WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2")         \
    X(LIST_STATE, "SELECT " STORE_COLUMNS " FROM job WHERE seq < ?1 AND state = ?3 "               \
                  "ORDER BY seq DESC LIMIT ?2")                                                    \
    X(UNFINISHED, "SELECT " STORE_COLUMNS                                                          \
                  ", meta, proof FROM job INDEXED BY job_unfinished WHERE state IN (0, 1) "        \
                  "ORDER BY priority DESC, seq")                                                   \
    X(PARTITIONS, "SELECT k, proof FROM partition WHERE job = ?1 ORDER BY k")                      \
    X(COUNT, "SELECT kind, state, now, ever FROM counter ORDER BY kind, state")

typedef enum store_statement {
#define X(name, text) STORE_##name,
    STORE_STATEMENTS(X)
#undef X
        STORE_STATEMENT_COUNT
} store_statement;

/** A connection and its statements; one thread at a time. */
typedef struct store_db {
    sqlite3 *db;
    sqlite3_stmt *statements[STORE_STATEMENT_COUNT];
    const char *path; /* borrowed from the store */
} store_db;

typedef struct store_hash {
    uint8_t bytes[32];
} store_hash;

/** A change on its way into a transaction. Lives on the stack of the thread that waits for it. */
typedef struct store_change {
    /** Does the change on the writer within the open transaction. When it fails, what it did is
     *  undone and the changes of others go on. */
    cuzk_code (*apply)(cuzk_store *s, struct store_change *c, cuzk_err *err);
    void *arg;
    bool adds_payload;   /* the name of a payload file has to be on disk before the commit */
    store_hash *dropped; /* payloads that may have lost their last job; owned, freed with free */
    size_t n_dropped;
    cuzk_err *err; /* borrowed; may be NULL */
    cuzk_code code;
    bool done;                 /* guarded by the store's mu */
    pthread_cond_t changed;    /* done, or the turn to lead */
    struct store_change *next; /* guarded by the store's mu */
} store_change;

/* Lock order: none of these is taken while another is held. */
struct cuzk_store {
    char *folder, *path; /* the folder, and jobs.db in it */
    int lock_fd, payload_fd;
    _Atomic uint64_t temporary; /* numbers temporary names */

    pthread_mutex_t mu;
    store_change *first, *last; /* guarded by mu: changes that wait */
    bool leading;               /* guarded by mu: a thread commits */
    uint64_t commits;           /* guarded by mu */
    store_db writer;            /* the leading thread's */

    pthread_mutex_t read_mu;
    store_db reader; /* guarded by read_mu */
};

/** The text of a statement. */
const char *cuzk_store_sql(store_statement name);

/** A statement, reset, ready to be bound. */
cuzk_code cuzk_store_prepare(store_db *d, sqlite3_stmt **ret, store_statement name, cuzk_err *err);

/** Runs a statement without result rows and resets it. */
cuzk_code cuzk_store_run(store_db *d, sqlite3_stmt *q, const char *what, cuzk_err *err);

/** Fills *err from the connection's last error; `what` follows "cannot". */
cuzk_code cuzk_store_sqlite_fail(const store_db *d, const char *what, cuzk_err *err);

/** Opens a connection to the store's database. */
cuzk_code cuzk_store_db_open(store_db *ret, const char *path, bool writer, cuzk_err *err);
void cuzk_store_db_close(store_db *d);

/** Checks that the database is a store of a known version, whole, and brings it up to date. */
cuzk_code cuzk_store_schema(store_db *writer, cuzk_err *err);

/** Brings a change to disk, together with those of other threads. */
cuzk_code cuzk_store_change(cuzk_store *s, store_change *c, cuzk_err *err);

/** Whether a payload's file is there. */
bool cuzk_store_payload_there(const cuzk_store *s, const uint8_t hash[32]);

/** Writes a payload's file unless it is there with these bytes; the name is not yet on disk. */
cuzk_code cuzk_store_payload_write(cuzk_store *s, const uint8_t hash[32], cuzk_span payload,
                                   cuzk_err *err);

/** Removes a payload's file, if it is there. */
void cuzk_store_payload_remove(cuzk_store *s, const uint8_t hash[32]);

/** Removes temporary files and payloads of no job; before anything else uses the store. */
cuzk_code cuzk_store_payload_sweep(cuzk_store *s, cuzk_err *err);

/** Whether a job that still needs it has this payload. On the writer. */
cuzk_code cuzk_store_payload_used(cuzk_store *s, bool *ret, const uint8_t hash[32], cuzk_err *err);

/** The present, in microseconds since 1970, unless t is a time already. */
int64_t cuzk_store_time(int64_t t);

/** Copies text of at most cap - 1 bytes, cut between characters when there is more. */
void cuzk_store_cut(char *ret, size_t cap, const char *text);

#endif
