#include "store/store.h"

#include "base/sha256.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * fill_store FOLDER ID N: puts N jobs into the store of a daemon that does not run, each with what
 * its finished job ID has, under the names ID.0, ID.1, … Many threads, as they share flushes.
 */

enum { THREADS = 64 };

typedef struct filling {
    cuzk_store *store;
    const cuzk_store_job *like;
    cuzk_span payload; /* of the right length; it goes when a job is done */
    unsigned long n;
    atomic_ulong next; /* only counts, so relaxed */
    atomic_bool failed;
} filling;

static cuzk_code add(const filling *f, unsigned long i, cuzk_err *err)
{
    char id[CUZK_STORE_ID_MAX + 1];
    int64_t seq;
    cuzk_store_outcome outcome;
    const cuzk_store_job *like = f->like;
    snprintf(id, sizeof id, "%.200s.%lu", like->id, i);
    cuzk_store_new_job job = {
        .id = id,
        .kind = like->kind,
        .sector_size = like->sector_size,
        .priority = like->priority,
        .created_us = like->created_us,
        .meta = like->meta,
        .payload = f->payload,
    };
    memcpy(job.identity, like->identity, sizeof job.identity);
    cuzk_sha256_digest(job.payload_hash, job.payload.p, job.payload.n);
    CUZK_TRY(cuzk_store_insert(f->store, &outcome, &seq, &job, err));
    CUZK_TRY(cuzk_store_set_running(f->store, seq, "proving", err));
    return cuzk_store_set_done(f->store, seq, like->proof, &like->timings, 0, err);
}

static void *fill(void *arg)
{
    filling *f = arg;
    cuzk_err err;
    unsigned long i;
    while ((i = atomic_fetch_add_explicit(&f->next, 1, memory_order_relaxed)) < f->n) {
        if (add(f, i, &err) != CUZK_OK) {
            fprintf(stderr, "fill_store: %s\n", err.msg);
            atomic_store_explicit(&f->failed, true, memory_order_relaxed);
            break;
        }
    }
    return NULL;
}

static bool fill_all(filling *f)
{
    pthread_t threads[THREADS];
    unsigned started = 0;
    while (started < THREADS && pthread_create(&threads[started], NULL, fill, f) == 0) {
        started++;
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    return started > 0 && !atomic_load_explicit(&f->failed, memory_order_relaxed);
}

int main(int argc, char **argv)
{
    filling f = {0};
    cuzk_store_job *like = NULL;
    cuzk_err err = {0};
    if (argc != 4) {
        fprintf(stderr, "fill_store FOLDER ID N\n");
        return 2;
    }
    f.n = strtoul(argv[3], NULL, 10);
    cuzk_code code = cuzk_store_open(&f.store, argv[1], &err);
    if (code == CUZK_OK) {
        code = cuzk_store_find(f.store, &like, argv[2], &err);
    }
    uint8_t *payload = code == CUZK_OK ? calloc(1, like->payload_bytes) : NULL;
    if (payload) {
        f.like = like;
        f.payload = (cuzk_span){payload, like->payload_bytes};
    }
    bool good = payload && like->state == CUZK_JOB_DONE && fill_all(&f);
    if (!good) {
        fprintf(stderr, "fill_store: %s\n", code == CUZK_OK ? "the jobs are not in" : err.msg);
    }
    free(payload);
    cuzk_store_job_free(like);
    cuzk_store_close(f.store);
    return good ? 0 : 1;
}
