#include "base/file.h"
#include "base/sha256.h"
#include "base/system.h"
#include "store/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * bench_store [FOLDER]: how many small jobs a second CLIENTS threads bring into a store, each of
 * them on disk before the next of its thread; and how many transactions, hence flushes, that took.
 */

enum { CLIENTS = 64, JOBS = 32, PAYLOAD_BYTES = 4096 };

typedef struct client {
    cuzk_store *s;
    unsigned id;
    bool failed;
} client;

static void *submit(void *ctx)
{
    client *c = ctx;
    uint8_t payload[PAYLOAD_BYTES];
    char id[32];
    for (unsigned i = 0; i < JOBS; i++) {
        cuzk_store_outcome outcome;
        int64_t seq;
        snprintf(id, sizeof id, "%u-%u", c->id, i);
        memset(payload, 0, sizeof payload);
        snprintf((char *)payload, sizeof payload, "%s", id);
        cuzk_store_new_job job = {.id = id, .kind = 4, .payload = {payload, sizeof payload}};
        cuzk_sha256_digest(job.payload_hash, payload, sizeof payload);
        memcpy(job.identity, job.payload_hash, 32);
        c->failed |= cuzk_store_insert(c->s, &outcome, &seq, &job, NULL) != CUZK_OK;
    }
    return NULL;
}

/* One line for a number of clients. */
static int measure(const char *folder, unsigned clients)
{
    static client c[CLIENTS];
    pthread_t threads[CLIENTS];
    char path[4000];
    cuzk_store *s;
    cuzk_err err;
    snprintf(path, sizeof path, "%s/%u", folder, clients);
    if (cuzk_store_open(&s, path, &err) != CUZK_OK) {
        fprintf(stderr, "bench_store: %s\n", err.msg);
        return 1;
    }
    uint64_t start = cuzk_clock_ns();
    for (unsigned i = 0; i < clients; i++) {
        c[i] = (client){.s = s, .id = i};
        pthread_create(&threads[i], NULL, submit, &c[i]);
    }
    bool failed = false;
    for (unsigned i = 0; i < clients; i++) {
        pthread_join(threads[i], NULL);
        failed |= c[i].failed;
    }
    double seconds = (double)(cuzk_clock_ns() - start) * 1e-9;
    unsigned jobs = clients * JOBS;
    printf("%2u clients: %4u jobs in %5.2f s, %5.0f jobs/s, %4llu transactions%s\n", clients, jobs,
           seconds, jobs / seconds, (unsigned long long)cuzk_store_commits(s),
           failed ? ", FAILED" : "");
    cuzk_store_close(s);
    return failed;
}

int main(int argc, char **argv)
{
    char folder[CUZK_TEMPORARY_MAX];
    cuzk_err err;
    if (argc < 2 && cuzk_temporary_folder(folder, "bench_store", &err) != CUZK_OK) {
        fprintf(stderr, "bench_store: %s\n", err.msg);
        return 1;
    }
    int failed = 0;
    for (unsigned clients = 1; clients <= CLIENTS; clients *= 4) {
        failed |= measure(argc < 2 ? folder : argv[1], clients);
    }
    if (argc < 2) {
        cuzk_remove_folder(folder);
    }
    return failed;
}
