#ifndef CUZK_SERVICE_STATUS_JSON_H
#define CUZK_SERVICE_STATUS_JSON_H

#include "cuzk/snapshot.h"
#include "observe/timeline.h"

/** An engine's snapshot and the use of its devices by its timeline as the JSON of /status
 *  (status_json.md). *ret is malloc'ed and NUL-terminated. */
cuzk_code cuzk_status_json(char **ret, const cuzk_engine_snapshot *s, cuzk_timeline *t,
                           cuzk_err *err);

#endif
