#ifndef CUZK_OBSERVE_LIVE_H
#define CUZK_OBSERVE_LIVE_H

#include "observe/analysis.h"

/*
 * What the daemon's HTTP port says of a running timeline; src/service/status_json.md describes the
 * JSON. Each call makes one text: *ret is malloc'ed, NUL-terminated, of *ret_n bytes, and the
 * caller frees it. Thread-safe, like reading a timeline.
 */

/** Events of one answer, and the cursor that stands for the newest of these. */
enum { CUZK_LIVE_EVENTS = 2000 };
#define CUZK_LIVE_NEWEST UINT64_MAX

/** The answer to GET /timeline. */
cuzk_code cuzk_live_timeline(char **ret, size_t *ret_n, cuzk_timeline *t, uint64_t cursor,
                             cuzk_err *err);

/** The value of `utilisation` in GET /status. Both calls analyse the ring, which takes up to a
 * tenth of a second when it is full: keep an answer for a second rather than ask for each client.
 */
cuzk_code cuzk_live_utilisation(char **ret, size_t *ret_n, cuzk_timeline *t, cuzk_err *err);

#endif
