#include "support/store_job.h"
#include "base/sha256.h"
#include "support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void test_job_fill(test_job *ret, const char *prefix, unsigned number, unsigned content)
{
    snprintf(ret->id, sizeof ret->id, "%s-%u", prefix, number);
    memset(ret->meta, (int)(number & 0xff), sizeof ret->meta);
    size_t n = 1 + content % sizeof ret->payload;
    for (size_t i = 0; i < n; i++) {
        ret->payload[i] = (uint8_t)(content * 7 + i * (content + 1));
    }
    cuzk_store_new_job *j = &ret->job;
    *j = (cuzk_store_new_job){.id = ret->id,
                              .kind = 1 + number % 4,
                              .sector_size = 2048,
                              .priority = (int32_t)(number % 3),
                              .created_us = 1000000 + number,
                              .meta = {ret->meta, sizeof ret->meta},
                              .payload = {ret->payload, n}};
    cuzk_sha256_digest(j->payload_hash, ret->payload, n);
    cuzk_sha256_digest(j->identity, ret->payload, n);
}

void test_job_partition(uint8_t ret[CUZK_STORE_PARTITION_BYTES], unsigned number, unsigned k)
{
    for (size_t i = 0; i < CUZK_STORE_PARTITION_BYTES; i++) {
        ret[i] = (uint8_t)(number * 31 + k * 5 + i);
    }
}

cuzk_store *test_store_open(const char *folder)
{
    cuzk_store *s = NULL;
    cuzk_err err;
    if (cuzk_store_open(&s, folder, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    return s;
}

int64_t test_store_insert(cuzk_store *s, const test_job *j)
{
    cuzk_store_outcome outcome = CUZK_STORE_JOINED;
    int64_t seq = 0;
    cuzk_err err = {.msg = ""};
    if (cuzk_store_insert(s, &outcome, &seq, &j->job, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(outcome, CUZK_STORE_NEW);
    assert_true(seq > 0);
    return seq;
}

bool test_store_payload_ok(cuzk_store *s, const cuzk_store_job *job)
{
    uint8_t buf[3000];
    return job->payload_bytes <= sizeof buf &&
           cuzk_store_read_payload(s, buf, job->payload_bytes, job->payload_hash, NULL) == CUZK_OK;
}

size_t test_store_payloads(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/payload", folder);
    size_t n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}
