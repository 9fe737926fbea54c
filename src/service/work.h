#ifndef CUZK_SERVICE_WORK_H
#define CUZK_SERVICE_WORK_H

#include "cuzk/err.h"

/** Threads that run what must not run on the I/O thread, in the order in which it came. */
typedef struct cuzk_work cuzk_work;

typedef void cuzk_work_fn(void *arg);

/** Starts `threads` threads named `name` (15 letters) with room for `capacity` items. */
cuzk_code cuzk_work_new(cuzk_work **ret, const char *name, unsigned threads, size_t capacity,
                        cuzk_err *err);

/** Queues fn(arg); never blocks. CUZK_E_FULL when there is no room, CUZK_E_UNAVAILABLE after
 *  cuzk_work_stop. Any thread. */
cuzk_code cuzk_work_add(cuzk_work *w, cuzk_work_fn *fn, void *arg, cuzk_err *err);

/** Takes no more items, runs all that are queued, joins the threads and frees; accepts NULL. */
void cuzk_work_free(cuzk_work *w);

#endif
