#include "service/process_metrics.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuzk_process_metrics {
    cuzk_series *resident, *peak, *descriptors, *threads; /* of the registry */
};

typedef struct process {
    uint64_t resident_kb, peak_kb, threads;
} process;

/* /proc/PID/status, proc(5). A process that is gone counts as nothing. */
static process read_process(const char *pid)
{
    char name[64], line[256];
    process p = {0};
    snprintf(name, sizeof name, "/proc/%.20s/status", pid);
    FILE *in = fopen(name, "re");
    while (in && fgets(line, sizeof line, in)) {
        unsigned long long v;
        if (sscanf(line, "VmRSS: %llu", &v) == 1) {
            p.resident_kb = v;
        } else if (sscanf(line, "VmHWM: %llu", &v) == 1) {
            p.peak_kb = v;
        } else if (sscanf(line, "Threads: %llu", &v) == 1) {
            p.threads = v;
        }
    }
    if (in) {
        fclose(in);
    }
    return p;
}

/* Adds the children that each thread has started. */
static void add_children(process *sum)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    while (tasks && (task = readdir(tasks))) {
        char name[300], pid[32];
        snprintf(name, sizeof name, "/proc/self/task/%s/children", task->d_name);
        FILE *in = task->d_name[0] == '.' ? NULL : fopen(name, "re");
        while (in && fscanf(in, "%31s", pid) == 1) {
            process child = read_process(pid);
            sum->resident_kb += child.resident_kb;
            sum->peak_kb += child.peak_kb;
        }
        if (in) {
            fclose(in);
        }
    }
    if (tasks) {
        closedir(tasks);
    }
}

static unsigned count_descriptors(void)
{
    unsigned n = 0;
    DIR *fds = opendir("/proc/self/fd");
    while (fds && readdir(fds)) {
        n++;
    }
    if (fds) {
        closedir(fds);
    }
    return n > 3 ? n - 3 : 0; /* not ".", ".." and the folder's own */
}

static void collect(void *ctx)
{
    const cuzk_process_metrics *g = ctx;
    process p = read_process("self");
    cuzk_series_set(g->threads, (double)p.threads);
    add_children(&p);
    cuzk_series_set(g->resident, (double)p.resident_kb * 1024);
    cuzk_series_set(g->peak, (double)p.peak_kb * 1024);
    cuzk_series_set(g->descriptors, count_descriptors());
}

static cuzk_code add(cuzk_metrics *m, cuzk_series **ret, const char *name, const char *help,
                     cuzk_err *err)
{
    cuzk_metric *family;
    const cuzk_metric_spec spec = {.type = CUZK_GAUGE, .name = name, .help = help};
    CUZK_TRY(cuzk_metrics_add(m, &family, &spec, err));
    return cuzk_metric_series(family, ret, NULL, err);
}

cuzk_code cuzk_process_metrics_new(cuzk_process_metrics **ret, cuzk_metrics *m, cuzk_err *err)
{
    cuzk_process_metrics *g = calloc(1, sizeof *g);
    if (!g) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for metrics");
    }
    const struct {
        cuzk_series **series;
        const char *name, *help;
    } all[] = {
        {&g->resident, "cuzk_memory_resident_bytes",
         "Memory of the daemon and its worker processes."},
        {&g->peak, "cuzk_memory_peak_bytes", "The most that each of them had, summed."},
        {&g->descriptors, "cuzk_open_descriptors", "Open file descriptors of the daemon."},
        {&g->threads, "cuzk_threads", "Threads of the daemon."},
    };
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && code == CUZK_OK; i++) {
        code = add(m, all[i].series, all[i].name, all[i].help, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_metrics_on_collect(m, collect, g, err);
    }
    if (code != CUZK_OK) {
        free(g);
        return code;
    }
    *ret = g;
    return CUZK_OK;
}

void cuzk_process_metrics_free(cuzk_process_metrics *p) { free(p); }
