#ifndef CUZK_SERVICE_PROCESS_METRICS_H
#define CUZK_SERVICE_PROCESS_METRICS_H

#include "observe/metrics.h"

/** Gauges of what the system says of the daemon and its worker processes, read from /proc for each
 *  exposition. */
typedef struct cuzk_process_metrics cuzk_process_metrics;

/** Adds cuzk_memory_resident_bytes and cuzk_memory_peak_bytes (sums over the processes),
 *  cuzk_open_descriptors and cuzk_threads (of the daemon alone) to a registry. */
cuzk_code cuzk_process_metrics_new(cuzk_process_metrics **ret, cuzk_metrics *m, cuzk_err *err);

/** After the registry has gone. Accepts NULL. */
void cuzk_process_metrics_free(cuzk_process_metrics *p);

#endif
