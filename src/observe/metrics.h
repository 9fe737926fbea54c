#ifndef CUZK_OBSERVE_METRICS_H
#define CUZK_OBSERVE_METRICS_H

#include "cuzk/err.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A registry of counters, gauges and histograms with the Prometheus text exposition (version
 * 0.0.4). Families are declared when the program starts; the series of a family (one for each set
 * of label values) are made on first use, up to a limit. Updates are atomic and take no lock.
 */

typedef struct cuzk_metrics cuzk_metrics;
typedef struct cuzk_metric cuzk_metric; /* a family; lives as long as its registry */
typedef struct cuzk_series cuzk_series; /* one set of label values; lives as long as well */

typedef enum cuzk_metric_type { CUZK_COUNTER, CUZK_GAUGE, CUZK_HISTOGRAM } cuzk_metric_type;

enum { CUZK_METRIC_LABELS = 4, CUZK_METRIC_BUCKETS = 32 };

/** What a family is; all strings and arrays are copied. */
typedef struct cuzk_metric_spec {
    cuzk_metric_type type;
    const char *name; /* [a-zA-Z_:][a-zA-Z0-9_:]*, unique in the registry */
    const char *help;
    const char *labels[CUZK_METRIC_LABELS]; /* names, [a-zA-Z_][a-zA-Z0-9_]*; NULL ends them */
    const double *buckets;                  /* histogram: ascending upper limits, without +Inf */
    size_t n_buckets;                       /* 1 to CUZK_METRIC_BUCKETS; 0 for the other types */
    size_t max_series;                      /* 0: 256 */
} cuzk_metric_spec;

/** The caller owns *ret. */
cuzk_code cuzk_metrics_new(cuzk_metrics **ret, cuzk_err *err);

/** Frees all families and series; accepts NULL. */
void cuzk_metrics_free(cuzk_metrics *m);

/** Declares a family. CUZK_E_ARG for a name that is malformed or taken, and for bad buckets. A
 *  family without labels has its one series at once, with value 0. Thread-safe. */
cuzk_code cuzk_metrics_add(cuzk_metrics *m, cuzk_metric **ret, const cuzk_metric_spec *spec,
                           cuzk_err *err);

/** The series with these label values, as many as the family has labels (copied; any UTF-8), made
 *  when new. CUZK_E_ARG when the family has max_series already. Thread-safe, takes a lock: keep the
 *  series for the hot path. */
cuzk_code cuzk_metric_series(cuzk_metric *f, cuzk_series **ret, const char *const *values,
                             cuzk_err *err);

/** Adds to a counter (v >= 0; anything else is dropped) or a gauge. Atomic. */
void cuzk_series_add(cuzk_series *s, double v);

/** Sets a gauge; a counter only rises to v, for counts that are kept elsewhere. Atomic. */
void cuzk_series_set(cuzk_series *s, double v);

/** Counts a value into a histogram; NaN is dropped. Atomic. */
void cuzk_series_observe(cuzk_series *s, double v);

/** Value of a counter or gauge; count of a histogram. */
double cuzk_series_value(const cuzk_series *s);

/** Runs before each exposition, in the order of registration, e.g. to set gauges. */
typedef void cuzk_metrics_collect(void *ctx);
cuzk_code cuzk_metrics_on_collect(cuzk_metrics *m, cuzk_metrics_collect *fn, void *ctx,
                                  cuzk_err *err);

/** The text exposition, families by name; *ret is malloc'ed, NUL-terminated, of *ret_n bytes. */
cuzk_code cuzk_metrics_text(cuzk_metrics *m, char **ret, size_t *ret_n, cuzk_err *err);

#endif
