#ifndef TESTS_TIMELINES_H
#define TESTS_TIMELINES_H

#include "observe/record.h"

/** Appends an event to a record; seq follows the last one's. Ends the program without memory. */
void at(cuzk_record *r, uint64_t t_ms, cuzk_event_kind kind, uint64_t job, int32_t partition,
        int16_t worker, int16_t device, int64_t value, const char *detail);

/** A pipeline whose times are all known: one synthesis worker, one device, jobs queued at once. */
typedef struct pipeline {
    uint64_t jobs;
    int32_t partitions;
    uint64_t synth_ms, gpu_ms; /* for each partition */
    int slot;                  /* partitions that are sent together; 0: all of a job */
} pipeline;

/** The events of such a pipeline, simulated, in order of time; jobs 1, 2, … have names. */
cuzk_record run_pipeline(const pipeline *p);

#endif
