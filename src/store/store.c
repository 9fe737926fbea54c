#include "store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BATCH_MAX = 512 }; /* changes of one transaction */

int64_t cuzk_store_time(int64_t t)
{
    if (t != 0) {
        return t;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void cuzk_store_cut(char *ret, size_t cap, const char *text)
{
    size_t n = strnlen(text, cap);
    if (n == cap) {
        n = cap - 1;
        size_t start = n; /* of the character that the cut may split */
        while (start > 0 && n - start < 4 && ((uint8_t)text[start] & 0xc0) == 0x80) {
            start--;
        }
        n = start;
    }
    memcpy(ret, text, n);
    ret[n] = '\0';
}

/* --- opening --- */

static cuzk_code make_folder(const char *name, cuzk_err *err)
{
    struct stat st;
    if (mkdir(name, 0750) != 0 && errno != EEXIST) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot make the folder: %s", name, strerror(errno));
    }
    if (stat(name, &st) != 0 || !S_ISDIR(st.st_mode)) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a folder", name);
    }
    return CUZK_OK;
}

static cuzk_code take_lock(cuzk_store *s, cuzk_err *err)
{
    char name[4096], pid[24];
    snprintf(name, sizeof name, "%s/lock", s->folder);
    s->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (s->lock_fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot open: %s", name, strerror(errno));
    }
    if (flock(s->lock_fd, LOCK_EX | LOCK_NB) != 0) {
        ssize_t n = pread(s->lock_fd, pid, sizeof pid - 1, 0);
        pid[n > 0 ? n : 0] = '\0';
        pid[strcspn(pid, "\n")] = '\0';
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "%s: process %s has the store open", s->folder,
                         pid[0] ? pid : "?");
    }
    int n = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (ftruncate(s->lock_fd, 0) != 0 || pwrite(s->lock_fd, pid, (size_t)n, 0) != n) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot write: %s", name, strerror(errno));
    }
    return CUZK_OK;
}

/* Makes the names in a folder durable. */
static cuzk_code sync_folder(const char *folder, cuzk_err *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    int saved = errno;
    if (fd >= 0) {
        close(fd);
    }
    return ok ? CUZK_OK
              : CUZK_FAIL(err, CUZK_E_IO, "%s: cannot flush: %s", folder, strerror(saved));
}

static cuzk_code open_in(cuzk_store *s, cuzk_err *err)
{
    char payload[4096];
    snprintf(payload, sizeof payload, "%s/payload", s->folder);
    CUZK_TRY(make_folder(s->folder, err));
    CUZK_TRY(take_lock(s, err));
    CUZK_TRY(cuzk_store_db_open(&s->writer, s->path, true, err));
    CUZK_TRY(cuzk_store_schema(&s->writer, err));
    CUZK_TRY(cuzk_store_db_open(&s->reader, s->path, false, err));
    CUZK_TRY(make_folder(payload, err));
    s->payload_fd = open(payload, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->payload_fd < 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s: cannot open: %s", payload, strerror(errno));
    }
    CUZK_TRY(cuzk_store_payload_sweep(s, err));
    return sync_folder(s->folder, err);
}

cuzk_code cuzk_store_open(cuzk_store **ret, const char *folder, cuzk_err *err)
{
    if (folder[0] == '\0' || strlen(folder) > 4000) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the store's folder needs a name of 1 to 4000 bytes");
    }
    cuzk_store *s = calloc(1, sizeof *s);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a store", folder);
    }
    s->lock_fd = s->payload_fd = -1;
    pthread_mutex_init(&s->mu, NULL);
    pthread_mutex_init(&s->read_mu, NULL);
    s->folder = strdup(folder);
    if (asprintf(&s->path, "%s/jobs.db", folder) < 0) {
        s->path = NULL;
    }
    if (!s->folder || !s->path) {
        cuzk_store_close(s);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "%s: no memory for a store", folder);
    }
    cuzk_code code = open_in(s, err);
    if (code != CUZK_OK) {
        cuzk_store_close(s);
        return code;
    }
    *ret = s;
    return CUZK_OK;
}

void cuzk_store_close(cuzk_store *s)
{
    if (!s) {
        return;
    }
    cuzk_store_db_close(&s->reader);
    cuzk_store_db_close(&s->writer);
    if (s->payload_fd >= 0) {
        close(s->payload_fd);
    }
    if (s->lock_fd >= 0) {
        close(s->lock_fd);
    }
    pthread_mutex_destroy(&s->read_mu);
    pthread_mutex_destroy(&s->mu);
    free(s->path);
    free(s->folder);
    free(s);
}

/* --- group commit --- */

static cuzk_code simple(cuzk_store *s, store_statement name, const char *what, cuzk_err *err)
{
    sqlite3_stmt *q;
    CUZK_TRY(cuzk_store_prepare(&s->writer, &q, name, err));
    return cuzk_store_run(&s->writer, q, what, err);
}

/* One change within the open transaction. Fails when the transaction itself is lost. */
static cuzk_code apply_one(cuzk_store *s, store_change *c, cuzk_err *err)
{
    CUZK_TRY(simple(s, STORE_SAVE, "begin a change", err));
    c->code = c->apply(s, c, c->err);
    if (sqlite3_get_autocommit(s->writer.db)) { /* SQLite has rolled back: disk full, no memory … */
        return CUZK_FAIL(err, c->code ? c->code : CUZK_E_IO, "%s: the transaction was lost",
                         s->path);
    }
    if (c->code != CUZK_OK) {
        c->n_dropped = 0;
        CUZK_TRY(simple(s, STORE_UNDO, "undo a change", err));
    }
    return simple(s, STORE_KEEP, "end a change", err);
}

static cuzk_code apply_all(cuzk_store *s, store_change *first, cuzk_err *err)
{
    bool sync = false;
    CUZK_TRY(simple(s, STORE_BEGIN, "begin a transaction", err));
    for (store_change *c = first; c; c = c->next) {
        CUZK_TRY(apply_one(s, c, err));
        sync |= c->adds_payload;
    }
    if (sync && fsync(s->payload_fd) != 0) {
        return CUZK_FAIL(err, CUZK_E_IO, "%s/payload: cannot flush: %s", s->folder,
                         strerror(errno));
    }
    return simple(s, STORE_COMMIT, "commit", err);
}

/* Removes the files of payloads that no job needs now. One that stays behind because of an error
 * goes when the store is opened the next time. */
static void drop_payloads(cuzk_store *s, const store_change *c)
{
    for (size_t i = 0; i < c->n_dropped; i++) {
        bool used = true;
        if (cuzk_store_payload_used(s, &used, c->dropped[i].bytes, NULL) == CUZK_OK && !used) {
            cuzk_store_payload_remove(s, c->dropped[i].bytes);
        }
    }
}

/* Commits a list of changes and fills in their outcomes. */
static void commit(cuzk_store *s, store_change *first)
{
    cuzk_err err;
    cuzk_code code = apply_all(s, first, &err);
    if (code != CUZK_OK) {
        sqlite3_exec(s->writer.db, "ROLLBACK", NULL, NULL,
                     NULL); /* fails when it is done already */
    }
    for (store_change *c = first; c; c = c->next) {
        if (code == CUZK_OK) {
            drop_payloads(s, c);
        } else {
            c->code = code;
            if (c->err) {
                *c->err = err;
            }
        }
    }
}

/* Takes up to BATCH_MAX of the changes that wait. Called with mu. */
static store_change *take_batch(cuzk_store *s)
{
    store_change *first = s->first, *last = first;
    for (int n = 1; n < BATCH_MAX && last->next; n++) {
        last = last->next;
    }
    s->first = last->next;
    if (!s->first) {
        s->last = NULL;
    }
    last->next = NULL;
    return first;
}

/* Commits one batch, and hands the lead to the first that still waits. Called with mu. */
static void lead(cuzk_store *s)
{
    s->leading = true;
    store_change *batch = take_batch(s);
    pthread_mutex_unlock(&s->mu);
    commit(s, batch);
    pthread_mutex_lock(&s->mu);
    s->leading = false;
    s->commits++;
    while (batch) {
        store_change *next = batch->next; /* batch is gone once its thread sees that it is done */
        batch->done = true;
        pthread_cond_signal(&batch->changed);
        batch = next;
    }
    if (s->first) {
        pthread_cond_signal(&s->first->changed);
    }
}

cuzk_code cuzk_store_change(cuzk_store *s, store_change *c, cuzk_err *err)
{
    c->err = err;
    c->next = NULL;
    c->done = false;
    pthread_cond_init(&c->changed, NULL);
    pthread_mutex_lock(&s->mu);
    if (s->last) {
        s->last->next = c;
    } else {
        s->first = c;
    }
    s->last = c;
    while (!c->done) {
        if (s->leading) {
            pthread_cond_wait(&c->changed, &s->mu);
        } else {
            lead(s);
        }
    }
    pthread_mutex_unlock(&s->mu);
    pthread_cond_destroy(&c->changed);
    free(c->dropped);
    c->dropped = NULL;
    return c->code;
}

uint64_t cuzk_store_commits(cuzk_store *s)
{
    pthread_mutex_lock(&s->mu);
    uint64_t n = s->commits;
    pthread_mutex_unlock(&s->mu);
    return n;
}
