#include "sweep.h"

#include "base/file.h"
#include "observe/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES_MAX = 6, VALUES_MAX = 16, KEY_SWEEP = 0x5000, KEY_CONFIG, KEY_DAEMON, KEY_SIZES };

/* A setting and the values that it takes. */
typedef struct axis {
    char *text; /* owned; what key and values point into */
    const char *key;
    const char *values[VALUES_MAX];
    unsigned n;
} axis;

typedef struct options {
    bench_proof_args proof;
    const char *files[2];
    unsigned n_files;
    const char *sweep[AXES_MAX];
    unsigned n_sweep;
    const char *count, *concurrency, *config, *daemon, *sizes;
} options;

static const struct argp_option compare_list[] = {
    {"sweep", KEY_SWEEP, "KEY=V1,V2,…", 0,
     "A setting of the daemon and the values to try; repeated for all combinations", 0},
    {"config", KEY_CONFIG, "FILE", 0, "Configuration that a sweep starts from", 0},
    {"daemon", KEY_DAEMON, "FILE", 0, "The daemon's program (default: beside this one)", 0},
    {"count", 'c', "N", 0, "Proofs of each run of a sweep (default 3)", 20},
    {"concurrency", 'j', "N", 0, "How many at a time (default 1)", 20},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->proof;
        return 0;
    case ARGP_KEY_ARG:
        if (o->n_files == 2) {
            return ARGP_ERR_UNKNOWN;
        }
        o->files[o->n_files++] = arg;
        return 0;
    case KEY_SWEEP:
        if (o->n_sweep == AXES_MAX) {
            argp_error(state, "more than %d --sweep", AXES_MAX);
        } else {
            o->sweep[o->n_sweep++] = arg;
        }
        return 0;
    case KEY_CONFIG:
        o->config = arg;
        return 0;
    case KEY_DAEMON:
        o->daemon = arg;
        return 0;
    case KEY_SIZES:
        o->sizes = arg;
        return 0;
    case 'c':
    case 'n':
        o->count = arg;
        return 0;
    case 'j':
        o->concurrency = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child proof_children[] = {{&bench_proof_argp, 0, NULL, 0}, {0}};

static const struct argp compare_argp = {
    .options = compare_list,
    .parser = parse,
    .children = proof_children,
    .args_doc = "[TIMELINE TIMELINE]",
    .doc = "Puts two saved timelines beside each other, or starts a daemon for each combination of "
           "settings, proves with it, and prints one table.\v"
           "  cuzk-bench compare before.jsonl after.jsonl\n"
           "  cuzk-bench compare --config cuzk.toml --sweep pipeline.slot_size=0,1 \\\n"
           "    --sweep synthesis.threads=1,2 -t porep --c1 c1.json -c 5 -j 2",
};

/* ---- the table ---- */

static void print_head(const char *what)
{
    bench_say("%-40s %6s %9s %9s %9s %7s %7s %8s  %s", what, "proofs", "wall s", "s/proof",
              "steady s", "busy %", "st.b %", "peak GiB", "idle by cause");
}

static void print_idle(char ret[160], const cuzk_analysis *a)
{
    uint64_t idle[CUZK_IDLE_COUNT] = {0};
    size_t n = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < a->n_devices; i++) {
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            idle[c] += a->devices[i].idle_us[c];
        }
    }
    for (unsigned c = 0; c < CUZK_IDLE_COUNT && n < 160; c++) {
        if (idle[c] >= 1000) {
            n += (size_t)snprintf(ret + n, 160 - n, "%s%s %.2fs", n ? ", " : "",
                                  cuzk_idle_name((cuzk_idle_cause)c), (double)idle[c] / 1e6);
        }
    }
}

static cuzk_code print_row(const char *label, const cuzk_record *record, uint64_t peak_bytes,
                           cuzk_err *err)
{
    cuzk_analysis a;
    char idle[160], peak[16] = "-";
    CUZK_TRY(cuzk_analyse(&a, record, 0, 0, err));
    double elapsed = (double)(a.to_us - a.from_us) / 1e6;
    double steady = cuzk_proofs_per_minute(&a, true);
    print_idle(idle, &a);
    if (peak_bytes) {
        snprintf(peak, sizeof peak, "%.2f", (double)peak_bytes / (1 << 30));
    }
    bench_say("%-40s %6llu %9.2f %9.2f %9.2f %7.1f %7.1f %8s  %s", label,
              (unsigned long long)a.done, elapsed, a.done ? elapsed / (double)a.done : 0,
              steady > 0 ? 60 / steady : 0, 100 * cuzk_utilisation_all(&a, false),
              100 * cuzk_utilisation_all(&a, true), peak, idle);
    cuzk_analysis_clear(&a);
    return CUZK_OK;
}

static cuzk_code print_file(const char *name, cuzk_err *err)
{
    cuzk_file_map map;
    cuzk_record record = {0};
    CUZK_TRY(cuzk_file_map_open(&map, name, err));
    cuzk_code code = cuzk_record_parse(&record, map.bytes, name, err);
    cuzk_file_map_close(&map);
    if (code == CUZK_OK) {
        code = print_row(name, &record, 0, err);
    }
    cuzk_record_clear(&record);
    return code;
}

/* ---- the sweep ---- */

static cuzk_code read_axis(axis *ret, const char *text, cuzk_err *err)
{
    char *rest = ret->text = strdup(text);
    if (!rest) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for --sweep");
    }
    ret->key = strsep(&rest, "=");
    while (rest && ret->n < VALUES_MAX) {
        ret->values[ret->n++] = strsep(&rest, ",");
    }
    if (rest || ret->n == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "--sweep wants KEY=V1,V2,… with 1 to %d values, not \"%s\"", VALUES_MAX,
                         text);
    }
    return CUZK_OK;
}

/* The i-th combination as settings and as a label. */
static void combine(const axis *axes, unsigned n, unsigned i, char settings[][128], char label[256])
{
    size_t at = 0;
    label[0] = '\0';
    for (unsigned k = 0; k < n; k++) {
        const char *value = axes[k].values[i % axes[k].n];
        const char *dot = strrchr(axes[k].key, '.');
        i /= axes[k].n;
        snprintf(settings[k], 128, "%s=%s", axes[k].key, value);
        if (at < 256) {
            at += (size_t)snprintf(label + at, 256 - at, "%s%s=%s", k ? " " : "",
                                   dot ? dot + 1 : axes[k].key, value);
        }
    }
}

static cuzk_code sweep(const options *o, const axis *axes, unsigned n, const bench_proof *proof,
                       const bench_run_args *args, cuzk_err *err)
{
    unsigned combinations = 1;
    for (unsigned k = 0; k < n; k++) {
        combinations *= axes[k].n;
    }
    print_head("settings");
    for (unsigned i = 0; i < combinations; i++) {
        char settings[AXES_MAX][128], label[256];
        const char *list[AXES_MAX];
        combine(axes, n, i, settings, label);
        for (unsigned k = 0; k < n; k++) {
            list[k] = settings[k];
        }
        const bench_daemon_args daemon = {o->daemon, o->config, list, n};
        bench_run run;
        CUZK_TRY(bench_run_daemon(&run, &daemon, proof, args, err));
        cuzk_code code = print_row(label, &run.record, run.peak_bytes, err);
        if (run.failed) {
            bench_say("  %u proofs failed", run.failed);
        }
        bench_run_clear(&run);
        CUZK_TRY(code);
    }
    return CUZK_OK;
}

static cuzk_code sweep_axes(const options *o, const char *const *texts, unsigned n, cuzk_err *err)
{
    uint64_t count = 3, concurrency = 1;
    bench_proof proof;
    axis axes[AXES_MAX] = {0};
    if (o->count) {
        CUZK_TRY(bench_number(&count, o->count, "--count", 1, 100000, err));
    }
    if (o->concurrency) {
        CUZK_TRY(bench_number(&concurrency, o->concurrency, "--concurrency", 1, 1024, err));
    }
    const bench_run_args args = {(unsigned)count, (unsigned)concurrency, NULL, NULL, true};
    cuzk_code code = bench_proof_open(&proof, &o->proof, err);
    for (unsigned k = 0; k < n && code == CUZK_OK; k++) {
        code = read_axis(&axes[k], texts[k], err);
    }
    if (code == CUZK_OK) {
        code = sweep(o, axes, n, &proof, &args, err);
    }
    for (unsigned k = 0; k < n; k++) {
        free(axes[k].text);
    }
    bench_proof_clear(&proof);
    return code;
}

cuzk_code bench_compare(int argc, char **argv, cuzk_err *err)
{
    options o = {0};
    bench_target target;
    CUZK_TRY(bench_parse(&compare_argp, argc, argv, &o, &target, err));
    if (o.n_sweep) {
        return sweep_axes(&o, o.sweep, o.n_sweep, err);
    }
    if (o.n_files != 2) {
        return CUZK_FAIL(err, CUZK_E_ARG, "two timelines are wanted, or --sweep");
    }
    print_head("timeline");
    CUZK_TRY(print_file(o.files[0], err));
    return print_file(o.files[1], err);
}

/* ---- slotted-bench: the sweep that the reference has ---- */

static const struct argp_option slotted_list[] = {
    {"slot-sizes", KEY_SIZES, "N,N,…", 0, "Slot sizes to try (default 1,2,3,10)", 0},
    {"num-proofs", 'n', "N", 0, "Proofs of each (default 1)", 0},
    {"concurrency", 'j', "N", 0, "How many at a time (default 1)", 0},
    {"config", KEY_CONFIG, "FILE", 0, "Configuration to start from", 0},
    {"daemon", KEY_DAEMON, "FILE", 0, "The daemon's program (default: beside this one)", 0},
    {0},
};

static const struct argp slotted_argp = {
    .options = slotted_list,
    .parser = parse,
    .children = proof_children,
    .doc = "Starts a daemon for each slot size, proves a PoRep with it, and prints one table.",
};

cuzk_code bench_slotted(int argc, char **argv, cuzk_err *err)
{
    options o = {.sizes = "1,2,3,10", .count = "1", .proof = {.type = "porep"}};
    bench_target target;
    char text[256];
    CUZK_TRY(bench_parse(&slotted_argp, argc, argv, &o, &target, err));
    if ((size_t)snprintf(text, sizeof text, "pipeline.slot_size=%s", o.sizes) >= sizeof text) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--slot-sizes is too long");
    }
    const char *texts[] = {text};
    return sweep_axes(&o, texts, 1, err);
}
