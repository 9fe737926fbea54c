#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H

#include "cuzk/engine.h"
#include "observe/timeline.h"
#include "support/proving_device.h"
#include "support/support.h"

enum { FIXTURE_DEVICES = 2, TEST_JOB_PROOFS = 32 };

/** An engine on a store and test devices of its own; what a test changes in config before
 *  fixture_open holds. */
typedef struct fixture {
    char store[512];
    proving_device device[FIXTURE_DEVICES];
    cuzk_backend *backends[FIXTURE_DEVICES];
    cuzk_engine_config config; /* one device, two synthesis threads */
    cuzk_engine *e;
} fixture;

void fixture_init(fixture *f);
void fixture_open(fixture *f);
/** Closes the engine; fixture_open may follow and finds the same store. */
void fixture_close(fixture *f);
void fixture_clear(fixture *f);

/** A request for window-2KiB or winning-2KiB that can be proved. */
typedef struct test_job {
    cuzk_job_request r; /* points into the rest */
    char id[64];
    cuzk_span spans[TEST_JOB_PROOFS];
    uint8_t randomness[32];
} test_job;

/** A window PoSt of `partitions` partitions, the same two sectors in each, of which the reference's
 *  proof is known. `salt` makes the content another one without changing the statements. */
void test_job_window(test_job *ret, const char *id, unsigned partitions, uint64_t salt);
/** One whose partitions differ, and have to be proved. */
void test_job_distinct(test_job *ret, const char *id, unsigned partitions);
void test_job_winning(test_job *ret, const char *id, uint64_t salt);

/** Submits; the test fails when it is refused. */
cuzk_submitted fixture_submit(fixture *f, const test_job *job);
/** Submits a window PoSt of that id. */
void fixture_window(fixture *f, const char *id, unsigned partitions, uint64_t salt,
                    cuzk_priority priority);

/** What became of a job. */
typedef struct job_end {
    cuzk_job_view view; /* its proof and error are the copies below */
    uint8_t proof[192 * TEST_JOB_PROOFS];
    char error[1100];
} job_end;

/** Waits for the end of a job, a minute at most, and checks that a proof verifies. */
job_end fixture_wait(fixture *f, const char *id);
/** Waits, and the job must be done. */
void fixture_done(fixture *f, const char *id);
/** The job as it is now. */
job_end fixture_look(fixture *f, const char *id);

/** True when a proof of a test job verifies. */
bool fixture_verify(const job_end *end);

/** Number of events of a kind; of a job (0: of all). */
unsigned fixture_count(fixture *f, cuzk_event_kind kind, uint64_t job);
/** Copies the events of these kinds, oldest first; returns how many there are. */
size_t fixture_events(fixture *f, cuzk_event *ret, size_t cap, unsigned n_kinds,
                      const cuzk_event_kind *kinds);
/** Waits until there are so many events of a kind, a minute at most. */
void fixture_wait_events(fixture *f, cuzk_event_kind kind, unsigned n);
/** The same for events of one job. */
void fixture_wait_job_events(fixture *f, cuzk_event_kind kind, uint64_t job, unsigned n);

#endif
