#include "store/store_impl.h"

#include <stdio.h>
#include <string.h>

/* The connection to SQLite, and the versions of the schema. */

enum { APPLICATION_ID = 0x63757a6b, BUSY_MS = 10000 }; /* "cuzk" */

/* What brings version i to version i + 1. States are numbers of cuzk/job.h. Long values stand
 * last in a row, so that lists do not have to read past them. */
static const char *const migrations[] = {
    "CREATE TABLE job("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id TEXT NOT NULL UNIQUE,"
    " identity BLOB NOT NULL,"
    " kind INTEGER NOT NULL,"
    " sector_size INTEGER NOT NULL,"
    " priority INTEGER NOT NULL,"
    " state INTEGER NOT NULL,"
    " created_us INTEGER NOT NULL,"
    " started_us INTEGER NOT NULL DEFAULT 0,"
    " ended_us INTEGER NOT NULL DEFAULT 0,"
    " payload_hash BLOB NOT NULL,"
    " payload_bytes INTEGER NOT NULL,"
    " error TEXT NOT NULL DEFAULT '',"
    " error_partition INTEGER NOT NULL DEFAULT -1,"
    " phase TEXT NOT NULL DEFAULT '',"
    " queue_ms INTEGER NOT NULL DEFAULT 0,"
    " srs_ms INTEGER NOT NULL DEFAULT 0,"
    " synthesis_ms INTEGER NOT NULL DEFAULT 0,"
    " gpu_ms INTEGER NOT NULL DEFAULT 0,"
    " total_ms INTEGER NOT NULL DEFAULT 0,"
    " meta BLOB NOT NULL,"
    " proof BLOB"
    ") STRICT;"
    "CREATE INDEX job_state ON job(state, seq);"
    "CREATE INDEX job_identity ON job(identity);"
    "CREATE INDEX job_unfinished ON job(priority DESC, seq) WHERE state IN (0, 1);"
    "CREATE INDEX job_ended ON job(ended_us) WHERE state >= 2;"
    "CREATE INDEX job_payload ON job(payload_hash) WHERE state IN (0, 1, 3);"
    "CREATE TABLE partition("
    " job INTEGER NOT NULL REFERENCES job(seq) ON DELETE CASCADE,"
    " k INTEGER NOT NULL,"
    " proof BLOB NOT NULL,"
    " PRIMARY KEY(job, k)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE counter("
    " kind INTEGER NOT NULL,"
    " state INTEGER NOT NULL,"
    " now INTEGER NOT NULL,"
    " ever INTEGER NOT NULL,"
    " PRIMARY KEY(kind, state)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TRIGGER job_in AFTER INSERT ON job BEGIN"
    " INSERT INTO counter VALUES(new.kind, new.state, 1, 1)"
    "  ON CONFLICT DO UPDATE SET now = now + 1, ever = ever + 1;"
    "END;"
    "CREATE TRIGGER job_moved AFTER UPDATE OF state ON job WHEN old.state <> new.state BEGIN"
    " UPDATE counter SET now = now - 1 WHERE kind = old.kind AND state = old.state;"
    " INSERT INTO counter VALUES(new.kind, new.state, 1, 1)"
    "  ON CONFLICT DO UPDATE SET now = now + 1, ever = ever + 1;"
    "END;"
    "CREATE TRIGGER job_out AFTER DELETE ON job BEGIN"
    " UPDATE counter SET now = now - 1 WHERE kind = old.kind AND state = old.state;"
    "END;",
};

enum { VERSION = sizeof migrations / sizeof migrations[0] };

const char *cuzk_store_sql(store_statement name)
{
    static const char *const texts[] = {
#define X(name, text) text,
        STORE_STATEMENTS(X)
#undef X
    };
    return texts[name];
}

cuzk_code cuzk_store_sqlite_fail(const store_db *d, const char *what, cuzk_err *err)
{
    int rc = sqlite3_errcode(d->db) & 0xff;
    cuzk_code code = rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB ? CUZK_E_INPUT
                     : rc == SQLITE_NOMEM                        ? CUZK_E_MEMORY
                     : rc == SQLITE_BUSY                         ? CUZK_E_UNAVAILABLE
                                                                 : CUZK_E_IO;
    return CUZK_FAIL(err, code, "%s: cannot %s: %s", d->path, what, sqlite3_errmsg(d->db));
}

cuzk_code cuzk_store_prepare(store_db *d, sqlite3_stmt **ret, store_statement name, cuzk_err *err)
{
    sqlite3_stmt **q = &d->statements[name];
    if (*q) {
        sqlite3_reset(*q);
        sqlite3_clear_bindings(*q);
    } else if (sqlite3_prepare_v3(d->db, cuzk_store_sql(name), -1, SQLITE_PREPARE_PERSISTENT, q,
                                  NULL) != SQLITE_OK) {
        return cuzk_store_sqlite_fail(d, "prepare a statement", err);
    }
    *ret = *q;
    return CUZK_OK;
}

cuzk_code cuzk_store_run(store_db *d, sqlite3_stmt *q, const char *what, cuzk_err *err)
{
    int rc = sqlite3_step(q);
    cuzk_code code =
        rc == SQLITE_DONE || rc == SQLITE_ROW ? CUZK_OK : cuzk_store_sqlite_fail(d, what, err);
    sqlite3_reset(q);
    return code;
}

static cuzk_code execute(store_db *d, const char *sql, const char *what, cuzk_err *err)
{
    if (sqlite3_exec(d->db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return cuzk_store_sqlite_fail(d, what, err);
    }
    return CUZK_OK;
}

cuzk_code cuzk_store_db_open(store_db *ret, const char *path, bool writer, cuzk_err *err)
{
    store_db d = {.path = path};
    int flags = SQLITE_OPEN_READWRITE | (writer ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &d.db, flags, NULL) != SQLITE_OK) {
        if (!d.db) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory to open it", path);
        }
        cuzk_code code = cuzk_store_sqlite_fail(&d, "open the database", err);
        sqlite3_close(d.db);
        return code;
    }
    sqlite3_busy_timeout(d.db, BUSY_MS);
    sqlite3_db_config(d.db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d.db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    cuzk_code code = execute(&d,
                             writer ? "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                                      "PRAGMA cell_size_check = ON"
                                    : "PRAGMA query_only = ON; PRAGMA cell_size_check = ON",
                             "set up the connection", err);
    if (code != CUZK_OK) {
        cuzk_store_db_close(&d);
        return code;
    }
    *ret = d;
    return CUZK_OK;
}

void cuzk_store_db_close(store_db *d)
{
    for (int i = 0; i < STORE_STATEMENT_COUNT; i++) {
        sqlite3_finalize(d->statements[i]);
    }
    sqlite3_close(d->db);
    *d = (store_db){0};
}

/* The first column of a statement's only row: a number, and a copy of its text. */
static cuzk_code ask(store_db *d, const char *sql, int64_t *ret, char *text, size_t cap,
                     cuzk_err *err)
{
    sqlite3_stmt *q = NULL;
    cuzk_code code = CUZK_OK;
    if (sqlite3_prepare_v2(d->db, sql, -1, &q, NULL) != SQLITE_OK ||
        sqlite3_step(q) != SQLITE_ROW) {
        code = cuzk_store_sqlite_fail(d, "read the database", err);
    } else {
        *ret = sqlite3_column_int64(q, 0);
        const unsigned char *found = sqlite3_column_text(q, 0);
        if (text) {
            cuzk_store_cut(text, cap, found ? (const char *)found : "");
        }
    }
    sqlite3_finalize(q);
    return code;
}

static cuzk_code check(store_db *d, int64_t *ret_version, cuzk_err *err)
{
    int64_t version, application, tables, ignored;
    char found[160];
    CUZK_TRY(ask(d, "PRAGMA user_version", &version, NULL, 0, err));
    CUZK_TRY(ask(d, "PRAGMA application_id", &application, NULL, 0, err));
    CUZK_TRY(ask(d, "SELECT count(*) FROM sqlite_schema", &tables, NULL, 0, err));
    bool fresh = application == 0 && version == 0 && tables == 0;
    if (!fresh && application != APPLICATION_ID) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "%s: expected a job store, found another program's database (application "
                         "id 0x%08x, %lld tables)",
                         d->path, (unsigned)application, (long long)tables);
    }
    if (version > VERSION) {
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED,
                         "%s: expected version %d or older, found %lld: a newer cuzk wrote it",
                         d->path, VERSION, (long long)version);
    }
    CUZK_TRY(ask(d, "PRAGMA quick_check(1)", &ignored, found, sizeof found, err));
    if (strcmp(found, "ok") != 0) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: the database is damaged: %s", d->path, found);
    }
    *ret_version = version;
    return CUZK_OK;
}

cuzk_code cuzk_store_schema(store_db *writer, cuzk_err *err)
{
    int64_t version, ignored;
    char mode[16];
    CUZK_TRY(check(writer, &version, err));
    CUZK_TRY(ask(writer, "PRAGMA journal_mode = WAL", &ignored, mode, sizeof mode, err));
    if (strcmp(mode, "wal") != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: the write-ahead log cannot be used here (%s)",
                         writer->path, mode);
    }
    for (; version < VERSION; version++) {
        char done[96];
        snprintf(done, sizeof done, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                 APPLICATION_ID, (int)version + 1);
        cuzk_code code = execute(writer, "BEGIN IMMEDIATE", "bring it up to date", err);
        if (code == CUZK_OK) {
            code = execute(writer, migrations[version], "bring it up to date", err);
        }
        if (code == CUZK_OK) {
            code = execute(writer, done, "bring it up to date", err);
        }
        if (code != CUZK_OK) {
            sqlite3_exec(writer->db, "ROLLBACK", NULL, NULL, NULL);
            return code;
        }
    }
    return CUZK_OK;
}
