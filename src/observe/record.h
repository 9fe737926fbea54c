#ifndef CUZK_OBSERVE_RECORD_H
#define CUZK_OBSERVE_RECORD_H

#include "base/bytes.h"
#include "observe/timeline.h"

/** Events that were taken out of a timeline, in the order of seq, with the names of their jobs. */
typedef struct cuzk_record {
    cuzk_event *events;
    size_t n;
    cuzk_job_name *jobs; /* ascending numbers */
    size_t n_jobs;
    uint64_t lost;          /* events known to be missing */
    uint64_t epoch_wall_us; /* 0: unknown */
    /* What cuzk_record_add needs. */
    size_t cap, jobs_cap;
} cuzk_record;

/** Copies a running timeline from `cursor` on (0: all that it still has, whatever was before). The
 *  caller clears. */
cuzk_code cuzk_record_take(cuzk_record *ret, cuzk_timeline *t, uint64_t cursor, cuzk_err *err);

/** Frees what the record owns; accepts one that is all zero. */
void cuzk_record_clear(cuzk_record *r);

/** Appends an event; the seq that it has is kept. */
cuzk_code cuzk_record_add(cuzk_record *r, const cuzk_event *e, cuzk_err *err);

/** Names a job. A number that has a name keeps the first one. */
cuzk_code cuzk_record_name(cuzk_record *r, const cuzk_job_name *name, cuzk_err *err);

/** Name of a job, borrowed; NULL when unknown. */
const cuzk_job_name *cuzk_record_job(const cuzk_record *r, uint64_t number);

/**
 * Reads JSON lines: a log with other lines in between, or a saved timeline. Lines without target
 * TIMELINE are passed over, as is a last line that was cut. A line that gives an epoch begins a new
 * run of the daemon, and the latest run is what counts. CUZK_E_INPUT, with line and offset, for a
 * TIMELINE line that is malformed, and for a text without any event. `name` is for messages.
 */
cuzk_code cuzk_record_parse(cuzk_record *ret, cuzk_span text, const char *name, cuzk_err *err);

/** Writes a record as JSON lines, epoch first, such that cuzk_record_parse gives it back. */
cuzk_code cuzk_record_format(const cuzk_record *r, char **ret, size_t *ret_n, cuzk_err *err);

#endif
