#ifndef TESTS_STORE_JOB_H
#define TESTS_STORE_JOB_H

#include "store/store.h"

/** A job for tests: everything about it follows from its number, and its payload from `content`,
 *  so that jobs may share one. */
typedef struct test_job {
    cuzk_store_new_job job;
    char id[32];
    uint8_t meta[40];
    uint8_t payload[3000];
} test_job;

/** Fills *ret; it must not move afterwards. The id is PREFIX-NUMBER. */
void test_job_fill(test_job *ret, const char *prefix, unsigned number, unsigned content);

/** The proof of partition k of a job of that number. */
void test_job_partition(uint8_t ret[CUZK_STORE_PARTITION_BYTES], unsigned number, unsigned k);

/** Opens the store in a folder, or fails the test with the reason. */
cuzk_store *test_store_open(const char *folder);

/** Inserts a job that is new, or fails the test; its seq. */
int64_t test_store_insert(cuzk_store *s, const test_job *j);

/** Whether a job's payload can be read and is that of `content`. */
bool test_store_payload_ok(cuzk_store *s, const cuzk_store_job *job);

/** Files in the folder's payload folder. */
size_t test_store_payloads(const char *folder);

#endif
