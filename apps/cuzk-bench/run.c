#include "bench.h"

#include "base/file.h"
#include "base/system.h"
#include "observe/analysis.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_stat_add(bench_stat *s, double v)
{
    s->min = s->n == 0 || v < s->min ? v : s->min;
    s->max = s->n == 0 || v > s->max ? v : s->max;
    s->sum += v;
    s->n++;
}

/* What the threads of a run share. */
typedef struct shared {
    const bench_target *target;
    const bench_proof *proof;
    const bench_run_args *args;
    pthread_mutex_t mu;
    unsigned begun, ended; /* proofs; guarded by mu, and so is what follows */
    bench_run *run;
    cuzk_code code; /* of the first call that failed: the run ends */
    cuzk_err err;
} shared;

static cuzk_code keep_proof(const shared *s, const bench_result *r, unsigned i, cuzk_err *err)
{
    char name[4096];
    if (!s->args->out || r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
        return CUZK_OK;
    }
    if ((size_t)snprintf(name, sizeof name, "%s/%u.proof", s->args->out, i) >= sizeof name) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--out: the name is too long");
    }
    return cuzk_file_write(name, r->proof, r->proof_bytes, err);
}

/* With the mutex held. */
static void count(shared *s, const bench_result *r)
{
    bench_run *run = s->run;
    double wall = (double)r->wall_ns / 1e9;
    s->ended++;
    if (r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
        run->completed++;
        bench_stat_add(&run->wall_s, wall);
        bench_stat_add(&run->prove_ms, (double)r->gpu_ms);
        bench_stat_add(&run->queue_ms, (double)r->queue_ms);
        bench_stat_add(&run->synth_ms, (double)r->synth_ms);
    } else {
        run->failed++;
    }
    if (!s->args->quiet) {
        bool failed = r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
        bench_say("  [%u/%u] %s \xe2\x80\x94 %.1fs (prove=%llu ms, queue=%llu ms)%s%s", s->ended,
                  s->args->count, bench_status_name(r->status), wall, (unsigned long long)r->gpu_ms,
                  (unsigned long long)r->queue_ms, failed ? ": " : "", failed ? r->error : "");
    }
}

static cuzk_code prove_next(shared *s, cuzk_rpc_client *client, unsigned i, cuzk_err *err)
{
    bench_result r;
    CUZK_TRY(bench_prove(client, s->proof, &r, err));
    cuzk_code code = keep_proof(s, &r, i, err);
    pthread_mutex_lock(&s->mu);
    count(s, &r);
    pthread_mutex_unlock(&s->mu);
    bench_result_clear(&r);
    return code;
}

static bool begin_next(shared *s, unsigned *ret)
{
    pthread_mutex_lock(&s->mu);
    bool more = s->code == CUZK_OK && s->begun < s->args->count;
    *ret = s->begun;
    s->begun += more;
    pthread_mutex_unlock(&s->mu);
    return more;
}

static void *client_loop(void *arg)
{
    shared *s = arg;
    cuzk_err err;
    cuzk_rpc_client *client;
    unsigned i;
    cuzk_code code = bench_connect(&client, s->target, &err);
    if (code == CUZK_OK) {
        while (code == CUZK_OK && begin_next(s, &i)) {
            code = prove_next(s, client, i, &err);
        }
        cuzk_rpc_client_close(client);
    }
    pthread_mutex_lock(&s->mu);
    if (code != CUZK_OK && s->code == CUZK_OK) {
        s->code = code;
        s->err = err;
    }
    pthread_mutex_unlock(&s->mu);
    return NULL;
}

static cuzk_code run_clients(shared *s, cuzk_err *err)
{
    unsigned n = 0;
    pthread_t *threads = calloc(s->args->concurrency, sizeof *threads);
    if (!threads) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %u threads", s->args->concurrency);
    }
    pthread_mutex_init(&s->mu, NULL);
    while (n < s->args->concurrency && pthread_create(&threads[n], NULL, client_loop, s) == 0) {
        n++;
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&s->mu);
    free(threads);
    if (n == 0) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no thread can be started");
    }
    if (s->code != CUZK_OK && err) {
        *err = s->err;
    }
    return s->code;
}

static cuzk_code save_events(const bench_run *run, const char *name, cuzk_err *err)
{
    char *text;
    size_t n;
    CUZK_TRY(cuzk_record_format(&run->record, &text, &n, err));
    cuzk_code code = cuzk_file_write(name, text, n, err);
    free(text);
    return code;
}

cuzk_code bench_run_batch(bench_run *ret, const bench_target *target, const bench_proof *proof,
                          const bench_run_args *args, cuzk_err *err)
{
    cuzk_rpc_client *client;
    uint64_t cursor = 0;
    bench_run run = {0};
    shared s = {.target = target, .proof = proof, .args = args, .run = &run};
    CUZK_TRY(bench_connect(&client, target, err));
    cuzk_code code = bench_events(client, &cursor, NULL, NULL, err);
    if (code == CUZK_OK) {
        uint64_t begin = cuzk_clock_ns();
        code = run_clients(&s, err);
        run.elapsed_s = (double)(cuzk_clock_ns() - begin) / 1e9;
    }
    if (code == CUZK_OK) {
        code = bench_events(client, &cursor, NULL, &run.record, err);
        run.peak_bytes = bench_peak_bytes(client);
    }
    if (code == CUZK_OK && args->timeline) {
        code = save_events(&run, args->timeline, err);
    }
    cuzk_rpc_client_close(client);
    if (code != CUZK_OK) {
        bench_run_clear(&run);
        return code;
    }
    *ret = run;
    return CUZK_OK;
}

void bench_run_clear(bench_run *r)
{
    cuzk_record_clear(&r->record);
    *r = (bench_run){0};
}

/* ---- the summary ---- */

static void print_gaps(const cuzk_analysis *a)
{
    for (size_t i = 0; i < a->n_devices; i++) {
        const cuzk_device_summary *d = &a->devices[i];
        char causes[256] = "";
        for (unsigned c = 0; c < CUZK_IDLE_COUNT; c++) {
            size_t n = strlen(causes);
            if (d->idle_us[c] > 0) {
                snprintf(causes + n, sizeof causes - n, "%s%s %.2fs", n ? ", " : "",
                         cuzk_idle_name((cuzk_idle_cause)c), (double)d->idle_us[c] / 1e6);
            }
        }
        bench_say("  device %d:    %.1f %% busy, %.1f %% in steady state; idle: %s", d->device,
                  100 * cuzk_utilisation(a, d, false), 100 * cuzk_utilisation(a, d, true),
                  causes[0] ? causes : "never");
    }
}

static void print_stat(const char *label, const bench_stat *s, const char *unit, int digits)
{
    bench_say("  %-12s avg %.*f%s, min %.*f%s, max %.*f%s", label, digits, bench_stat_avg(s), unit,
              digits, s->min, unit, digits, s->max, unit);
}

cuzk_code bench_run_print(const bench_run *r, cuzk_err *err)
{
    bench_say("=== Batch Summary ===");
    bench_say("  total: %u, completed: %u, failed: %u", r->completed + r->failed, r->completed,
              r->failed);
    if (r->completed == 0) {
        return CUZK_OK;
    }
    print_stat("wall:", &r->wall_s, "s", 1);
    print_stat("prove:", &r->prove_ms, " ms", 0);
    print_stat("queue:", &r->queue_ms, " ms", 0);
    bench_say("  throughput:  %.3f proofs/min (%.2f s/proof)", r->completed * 60 / r->elapsed_s,
              r->elapsed_s / r->completed);
    cuzk_analysis a;
    CUZK_TRY(cuzk_analyse(&a, &r->record, 0, 0, err));
    double steady = cuzk_proofs_per_minute(&a, true);
    if (steady > 0) {
        bench_say("  steady:      %.3f proofs/min (%.2f s/proof)", steady, 60 / steady);
    }
    print_gaps(&a);
    char verdict[512];
    cuzk_verdict(&a, verdict, sizeof verdict);
    bench_say("  bound by:    %s", verdict);
    cuzk_analysis_clear(&a);
    if (r->peak_bytes) {
        bench_say("  peak memory: %.2f GiB", (double)r->peak_bytes / (1 << 30));
    }
    return CUZK_OK;
}
