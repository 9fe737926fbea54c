#include "observe/metrics.h"

#include "observe/text.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLLECTORS = 16, DEFAULT_MAX_SERIES = 256 };

struct cuzk_series {
    const cuzk_metric *family;
    cuzk_series *_Atomic next; /* older series of the family; release on insertion */
    _Atomic uint64_t bits;     /* counter, gauge: the value's bits; histogram: the sum's */
    _Atomic uint64_t *buckets; /* histogram: counts of each bucket alone, the last is +Inf */
    char *values[CUZK_METRIC_LABELS];
};

struct cuzk_metric {
    cuzk_metrics *registry;
    cuzk_metric *next; /* by name; guarded by the registry's mu */
    cuzk_metric_type type;
    char *name, *help;
    char *labels[CUZK_METRIC_LABELS];
    size_t n_labels;
    double *limits; /* of the buckets */
    size_t n_limits;
    size_t max_series;
    cuzk_series *_Atomic series; /* newest first */
    size_t n_series;             /* guarded by the registry's mu */
};

struct cuzk_metrics {
    pthread_mutex_t mu;   /* lock before making families, series or an exposition */
    cuzk_metric *metrics; /* guarded by mu: by name */
    struct {
        cuzk_metrics_collect *fn;
        void *ctx;
    } collectors[MAX_COLLECTORS]; /* guarded by mu */
    size_t n_collectors;          /* guarded by mu */
};

/* Values -------------------------------------------------------------------------------------- */

/* All loads and stores of values are relaxed: a value stands for itself and orders nothing. */

static double of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint64_t to_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static void add_to(_Atomic uint64_t *bits, double v)
{
    uint64_t old = atomic_load_explicit(bits, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(bits, &old, to_bits(of_bits(old) + v),
                                                  memory_order_relaxed, memory_order_relaxed)) {
    }
}

void cuzk_series_add(cuzk_series *s, double v)
{
    cuzk_metric_type type = s->family->type;
    if (type == CUZK_GAUGE || (type == CUZK_COUNTER && v >= 0)) {
        add_to(&s->bits, v);
    }
}

void cuzk_series_set(cuzk_series *s, double v)
{
    if (s->family->type == CUZK_GAUGE) {
        atomic_store_explicit(&s->bits, to_bits(v), memory_order_relaxed);
    } else if (s->family->type == CUZK_COUNTER) {
        uint64_t old = atomic_load_explicit(&s->bits, memory_order_relaxed);
        while (v > of_bits(old) &&
               !atomic_compare_exchange_weak_explicit(&s->bits, &old, to_bits(v),
                                                      memory_order_relaxed, memory_order_relaxed)) {
        }
    }
}

void cuzk_series_observe(cuzk_series *s, double v)
{
    const cuzk_metric *f = s->family;
    if (f->type != CUZK_HISTOGRAM || isnan(v)) {
        return;
    }
    size_t i = 0;
    while (i < f->n_limits && v > f->limits[i]) {
        i++;
    }
    atomic_fetch_add_explicit(&s->buckets[i], 1, memory_order_relaxed);
    add_to(&s->bits, v);
}

static uint64_t histogram_count(const cuzk_series *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i <= s->family->n_limits; i++) {
        n += atomic_load_explicit(&s->buckets[i], memory_order_relaxed);
    }
    return n;
}

double cuzk_series_value(const cuzk_series *s)
{
    if (s->family->type == CUZK_HISTOGRAM) {
        return (double)histogram_count(s);
    }
    return of_bits(atomic_load_explicit(&s->bits, memory_order_relaxed));
}

/* Families and series ------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *s, bool colons)
{
    for (size_t i = 0; s[i]; i++) {
        bool digit = s[i] >= '0' && s[i] <= '9' && i > 0;
        if (!is_letter(s[i]) && !digit && !(colons && s[i] == ':')) {
            return false;
        }
    }
    return s[0] != 0;
}

static cuzk_code check_labels(const cuzk_metric_spec *spec, size_t *ret_n, cuzk_err *err)
{
    size_t n = 0;
    for (; n < CUZK_METRIC_LABELS && spec->labels[n]; n++) {
        const char *label = spec->labels[n];
        bool reserved = strncmp(label, "__", 2) == 0 ||
                        (spec->type == CUZK_HISTOGRAM && strcmp(label, "le") == 0);
        if (!is_name(label, false) || reserved) {
            return CUZK_FAIL(err, CUZK_E_ARG, "metric %s: \"%s\" cannot be a label", spec->name,
                             label);
        }
        for (size_t i = 0; i < n; i++) {
            if (strcmp(spec->labels[i], label) == 0) {
                return CUZK_FAIL(err, CUZK_E_ARG, "metric %s: two labels \"%s\"", spec->name,
                                 label);
            }
        }
    }
    *ret_n = n;
    return CUZK_OK;
}

static cuzk_code check_buckets(const cuzk_metric_spec *spec, cuzk_err *err)
{
    if (spec->type != CUZK_HISTOGRAM) {
        return spec->n_buckets == 0 ? CUZK_OK
                                    : CUZK_FAIL(err, CUZK_E_ARG,
                                                "metric %s has buckets but is no "
                                                "histogram",
                                                spec->name);
    }
    if (spec->n_buckets == 0 || spec->n_buckets > CUZK_METRIC_BUCKETS) {
        return CUZK_FAIL(err, CUZK_E_ARG, "metric %s: want 1 to %d buckets, got %zu", spec->name,
                         CUZK_METRIC_BUCKETS, spec->n_buckets);
    }
    for (size_t i = 0; i < spec->n_buckets; i++) {
        if (!isfinite(spec->buckets[i]) || (i > 0 && spec->buckets[i] <= spec->buckets[i - 1])) {
            return CUZK_FAIL(err, CUZK_E_ARG, "metric %s: bucket %zu does not ascend", spec->name,
                             i);
        }
    }
    return CUZK_OK;
}

static void free_series(cuzk_series *s)
{
    if (s) {
        for (size_t i = 0; i < CUZK_METRIC_LABELS; i++) {
            free(s->values[i]);
        }
        free(s->buckets);
        free(s);
    }
}

static void free_metric(cuzk_metric *f)
{
    cuzk_series *s = atomic_load_explicit(&f->series, memory_order_relaxed);
    while (s) {
        cuzk_series *next = atomic_load_explicit(&s->next, memory_order_relaxed);
        free_series(s);
        s = next;
    }
    for (size_t i = 0; i < CUZK_METRIC_LABELS; i++) {
        free(f->labels[i]);
    }
    free(f->limits);
    free(f->name);
    free(f->help);
    free(f);
}

/* A family that is in no registry yet; NULL when there is no memory. */
static cuzk_metric *make_metric(cuzk_metrics *m, const cuzk_metric_spec *spec, size_t n_labels)
{
    cuzk_metric *f = calloc(1, sizeof *f);
    if (!f) {
        return NULL;
    }
    f->registry = m;
    f->type = spec->type;
    f->n_labels = n_labels;
    f->n_limits = spec->n_buckets;
    f->max_series = spec->max_series ? spec->max_series : DEFAULT_MAX_SERIES;
    f->name = strdup(spec->name);
    f->help = strdup(spec->help ? spec->help : "");
    f->limits = calloc(f->n_limits + 1, sizeof *f->limits);
    bool whole = f->name && f->help && f->limits;
    for (size_t i = 0; i < n_labels; i++) {
        f->labels[i] = strdup(spec->labels[i]);
        whole = whole && f->labels[i];
    }
    if (!whole) {
        free_metric(f);
        return NULL;
    }
    if (f->n_limits) {
        memcpy(f->limits, spec->buckets, f->n_limits * sizeof *f->limits);
    }
    return f;
}

static cuzk_series *make_series(const cuzk_metric *f, const char *const *values)
{
    cuzk_series *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->family = f;
    bool whole = true;
    if (f->type == CUZK_HISTOGRAM) {
        s->buckets = calloc(f->n_limits + 1, sizeof *s->buckets);
        whole = s->buckets != NULL;
    }
    for (size_t i = 0; i < f->n_labels; i++) {
        s->values[i] = strdup(values[i]);
        whole = whole && s->values[i];
    }
    if (!whole) {
        free_series(s);
        return NULL;
    }
    return s;
}

static cuzk_series *find_series(const cuzk_metric *f, const char *const *values)
{
    cuzk_series *s = atomic_load_explicit(&f->series, memory_order_acquire);
    for (; s; s = atomic_load_explicit(&s->next, memory_order_acquire)) {
        size_t i = 0;
        while (i < f->n_labels && strcmp(s->values[i], values[i]) == 0) {
            i++;
        }
        if (i == f->n_labels) {
            return s;
        }
    }
    return NULL;
}

cuzk_code cuzk_metric_series(cuzk_metric *f, cuzk_series **ret, const char *const *values,
                             cuzk_err *err)
{
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&f->registry->mu);
    cuzk_series *s = find_series(f, values);
    if (!s && f->n_series >= f->max_series) {
        code = CUZK_FAIL(err, CUZK_E_ARG, "metric %s has %zu series already", f->name, f->n_series);
    } else if (!s) {
        s = make_series(f, values);
        if (s) {
            atomic_store_explicit(&s->next, atomic_load_explicit(&f->series, memory_order_relaxed),
                                  memory_order_release);
            atomic_store_explicit(&f->series, s, memory_order_release);
            f->n_series++;
        } else {
            code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a series of metric %s", f->name);
        }
    }
    pthread_mutex_unlock(&f->registry->mu);
    if (code == CUZK_OK) {
        *ret = s;
    }
    return code;
}

/* Whether the sample names of two families meet: those of a histogram are three. */
static bool names_meet(const cuzk_metric *f, const cuzk_metric_spec *spec)
{
    static const char *const suffixes[] = {"", "_bucket", "_sum", "_count"};
    size_t mine = f->type == CUZK_HISTOGRAM ? 4 : 1, its = spec->type == CUZK_HISTOGRAM ? 4 : 1;
    size_t f_n = strlen(f->name), n = strlen(spec->name);
    for (size_t i = 0; i < mine; i++) {
        for (size_t k = 0; k < its; k++) {
            size_t a = strlen(suffixes[i]), b = strlen(suffixes[k]);
            if (f_n + a != n + b) {
                continue;
            }
            /* One name with its suffix is the other: compare them byte by byte. */
            bool same = true;
            for (size_t c = 0; c < f_n + a; c++) {
                char x = c < f_n ? f->name[c] : suffixes[i][c - f_n];
                char y = c < n ? spec->name[c] : suffixes[k][c - n];
                same = same && x == y;
            }
            if (same) {
                return true;
            }
        }
    }
    return false;
}

static cuzk_code insert(cuzk_metrics *m, cuzk_metric *f, const cuzk_metric_spec *spec,
                        cuzk_err *err)
{
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&m->mu);
    cuzk_metric **place = &m->metrics;
    for (const cuzk_metric *x = m->metrics; x && code == CUZK_OK; x = x->next) {
        if (names_meet(x, spec)) {
            code = CUZK_FAIL(err, CUZK_E_ARG, "metric %s: the name is that of %s", spec->name,
                             x->name);
        }
    }
    while (*place && strcmp((*place)->name, f->name) < 0) {
        place = &(*place)->next;
    }
    if (code == CUZK_OK) {
        f->next = *place;
        *place = f;
    }
    pthread_mutex_unlock(&m->mu);
    return code;
}

cuzk_code cuzk_metrics_add(cuzk_metrics *m, cuzk_metric **ret, const cuzk_metric_spec *spec,
                           cuzk_err *err)
{
    size_t n_labels;
    if (!spec->name || !is_name(spec->name, true)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "\"%s\" cannot be the name of a metric",
                         spec->name ? spec->name : "");
    }
    CUZK_TRY(check_labels(spec, &n_labels, err));
    CUZK_TRY(check_buckets(spec, err));
    cuzk_metric *f = make_metric(m, spec, n_labels);
    if (!f) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for metric %s", spec->name);
    }
    cuzk_series *only = NULL;
    cuzk_code code = n_labels ? CUZK_OK : cuzk_metric_series(f, &only, NULL, err);
    if (code == CUZK_OK) {
        code = insert(m, f, spec, err);
    }
    if (code != CUZK_OK) {
        free_metric(f);
        return code;
    }
    *ret = f;
    return CUZK_OK;
}

cuzk_code cuzk_metrics_new(cuzk_metrics **ret, cuzk_err *err)
{
    cuzk_metrics *m = calloc(1, sizeof *m);
    if (!m) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for metrics");
    }
    pthread_mutex_init(&m->mu, NULL);
    *ret = m;
    return CUZK_OK;
}

void cuzk_metrics_free(cuzk_metrics *m)
{
    if (!m) {
        return;
    }
    while (m->metrics) {
        cuzk_metric *f = m->metrics;
        m->metrics = f->next;
        free_metric(f);
    }
    pthread_mutex_destroy(&m->mu);
    free(m);
}

cuzk_code cuzk_metrics_on_collect(cuzk_metrics *m, cuzk_metrics_collect *fn, void *ctx,
                                  cuzk_err *err)
{
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&m->mu);
    if (m->n_collectors == MAX_COLLECTORS) {
        code = CUZK_FAIL(err, CUZK_E_ARG, "more than %d collectors of metrics", MAX_COLLECTORS);
    } else {
        m->collectors[m->n_collectors].fn = fn;
        m->collectors[m->n_collectors].ctx = ctx;
        m->n_collectors++;
    }
    pthread_mutex_unlock(&m->mu);
    return code;
}

/* Exposition ---------------------------------------------------------------------------------- */

/* Escaped as the format wants: backslash and newline, in label values the quote too. Bytes that are
 * not UTF-8 become U+FFFD. */
static void put_escaped(cuzk_text *t, const char *s, bool quotes)
{
    while (*s) {
        size_t n = cuzk_text_char(s);
        if (*s == '\\') {
            cuzk_text_str(t, "\\\\");
        } else if (*s == '\n') {
            cuzk_text_str(t, "\\n");
        } else if (*s == '"' && quotes) {
            cuzk_text_str(t, "\\\"");
        } else if (n == 0) {
            cuzk_text_str(t, "\xef\xbf\xbd");
        } else {
            cuzk_text_put(t, s, n);
        }
        s += n ? n : 1;
    }
}

static void put_value(cuzk_text *t, double v)
{
    if (isnan(v)) {
        cuzk_text_str(t, "NaN");
    } else if (isinf(v)) {
        cuzk_text_str(t, v > 0 ? "+Inf" : "-Inf");
    } else if (v == floor(v) && fabs(v) < 9007199254740992.0) {
        cuzk_text_printf(t, "%" PRId64, (int64_t)v);
    } else {
        /* The fewest digits that give the same number back. */
        char s[32];
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(s, sizeof s, "%.*g", digits, v);
            if (strtod(s, NULL) == v) { /* NOLINT: equality is the point */
                break;
            }
        }
        cuzk_text_str(t, s);
    }
}

static void put_sample(cuzk_text *t, const cuzk_series *s, const char *suffix, const double *le)
{
    const cuzk_metric *f = s->family;
    cuzk_text_printf(t, "%s%s", f->name, suffix);
    const char *before = "{";
    for (size_t i = 0; i < f->n_labels; i++) {
        cuzk_text_printf(t, "%s%s=\"", before, f->labels[i]);
        put_escaped(t, s->values[i], true);
        cuzk_text_str(t, "\"");
        before = ",";
    }
    if (le) {
        cuzk_text_printf(t, "%sle=\"", before);
        put_value(t, *le);
        cuzk_text_str(t, "\"");
    }
    cuzk_text_str(t, f->n_labels || le ? "} " : " ");
}

static void put_histogram(cuzk_text *t, const cuzk_series *s)
{
    const cuzk_metric *f = s->family;
    uint64_t below = 0;
    for (size_t i = 0; i <= f->n_limits; i++) {
        double le = i < f->n_limits ? f->limits[i] : HUGE_VAL;
        below += atomic_load_explicit(&s->buckets[i], memory_order_relaxed);
        put_sample(t, s, "_bucket", &le);
        cuzk_text_printf(t, "%" PRIu64 "\n", below);
    }
    put_sample(t, s, "_sum", NULL);
    put_value(t, of_bits(atomic_load_explicit(&s->bits, memory_order_relaxed)));
    cuzk_text_str(t, "\n");
    put_sample(t, s, "_count", NULL);
    cuzk_text_printf(t, "%" PRIu64 "\n", below); /* the very number that +Inf has */
}

static int compare_series(const void *a, const void *b)
{
    const cuzk_series *x = *(cuzk_series *const *)a, *y = *(cuzk_series *const *)b;
    for (size_t i = 0; i < x->family->n_labels; i++) {
        int c = strcmp(x->values[i], y->values[i]);
        if (c != 0) {
            return c;
        }
    }
    return 0;
}

/* One family, its series by their labels. Called with the lock. */
static bool put_metric(cuzk_text *t, const cuzk_metric *f)
{
    static const char *const types[] = {"counter", "gauge", "histogram"};
    cuzk_series **all = calloc(f->n_series + 1, sizeof(cuzk_series *));
    if (!all) {
        return false;
    }
    size_t n = 0;
    cuzk_series *s = atomic_load_explicit(&f->series, memory_order_acquire);
    for (; s; s = atomic_load_explicit(&s->next, memory_order_acquire)) {
        all[n++] = s;
    }
    qsort(all, n, sizeof(cuzk_series *), compare_series);
    cuzk_text_printf(t, "# HELP %s ", f->name);
    put_escaped(t, f->help, false);
    cuzk_text_printf(t, "\n# TYPE %s %s\n", f->name, types[f->type]);
    for (size_t i = 0; i < n; i++) {
        if (f->type == CUZK_HISTOGRAM) {
            put_histogram(t, all[i]);
        } else {
            put_sample(t, all[i], "", NULL);
            put_value(t, cuzk_series_value(all[i]));
            cuzk_text_str(t, "\n");
        }
    }
    free(all);
    return true;
}

cuzk_code cuzk_metrics_text(cuzk_metrics *m, char **ret, size_t *ret_n, cuzk_err *err)
{
    cuzk_text t = {0};
    /* Collectors run without the lock, for they may make series. */
    pthread_mutex_lock(&m->mu);
    size_t n = m->n_collectors;
    pthread_mutex_unlock(&m->mu);
    for (size_t i = 0; i < n; i++) {
        m->collectors[i].fn(m->collectors[i].ctx); /* entries below n never change */
    }
    pthread_mutex_lock(&m->mu);
    for (const cuzk_metric *f = m->metrics; f; f = f->next) {
        t.failed = !put_metric(&t, f) || t.failed;
    }
    pthread_mutex_unlock(&m->mu);
    return cuzk_text_take(&t, ret, ret_n, err);
}
