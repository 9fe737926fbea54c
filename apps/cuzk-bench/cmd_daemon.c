#include "bench.h"

#include <stdio.h>
#include <string.h>

#define FREE(m) protobuf_c_message_free_unpacked(&(m)->base, NULL)

enum { QUICK_MS = 30000 };

/* A command with at most one argument of its own. */
typedef struct one_options {
    const char *value;
} one_options;

static error_t parse_none(int key, char *arg, struct argp_state *state)
{
    (void)key;
    (void)arg;
    (void)state;
    return ARGP_ERR_UNKNOWN;
}

static cuzk_code open_plain(cuzk_rpc_client **ret, const char *doc, int argc, char **argv,
                            cuzk_err *err)
{
    const struct argp argp = {.parser = parse_none, .doc = doc};
    bench_target target;
    CUZK_TRY(bench_parse(&argp, argc, argv, NULL, &target, err));
    return bench_connect(ret, &target, err);
}

/* ---- status ---- */

static double gib(uint64_t bytes) { return (double)bytes / (1 << 30); }

static void print_status(const Cuzk__V1__GetStatusResponse *m)
{
    static const char *const tiers[] = {"HOT", "WARM", "COLD"};
    bench_say("uptime: %llu s", (unsigned long long)m->uptime_seconds);
    bench_say("proofs: %llu completed, %llu failed", (unsigned long long)m->total_proofs_completed,
              (unsigned long long)m->total_proofs_failed);
    bench_say("pinned memory: %.2f of %.2f GiB", gib(m->pinned_memory_bytes),
              gib(m->pinned_memory_limit_bytes));
    bench_say("devices:");
    for (size_t i = 0; i < m->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = m->gpus[i];
        bench_say("  %u: %s, %.2f of %.2f GiB free, %s%s%s", g->ordinal, g->name,
                  gib(g->vram_free_bytes), gib(g->vram_total_bytes),
                  g->current_job_id[0] ? g->current_job_id : "idle",
                  g->current_job_id[0] ? ", " : "", g->current_proof_kind);
    }
    bench_say("keys:");
    for (size_t i = 0; i < m->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *k = m->loaded_srs[i];
        bench_say("  %s: %s, %.2f GiB, %u users", k->circuit_id,
                  (unsigned)k->tier < 3 ? tiers[k->tier] : "?", gib(k->size_bytes), k->ref_count);
    }
    bench_say("queues:");
    for (size_t i = 0; i < m->n_queues; i++) {
        bench_say("  %s: %u pending, %u in progress", m->queues[i]->proof_kind,
                  m->queues[i]->pending, m->queues[i]->in_progress);
    }
}

cuzk_code bench_status(int argc, char **argv, cuzk_err *err)
{
    cuzk_rpc_client *client;
    Cuzk__V1__GetStatusRequest request = CUZK__V1__GET_STATUS_REQUEST__INIT;
    Cuzk__V1__GetStatusResponse *m;
    CUZK_TRY(open_plain(&client, "Shows what the daemon does.", argc, argv, err));
    cuzk_code code = bench_call(client, "GetStatus", &request.base, QUICK_MS,
                                &cuzk__v1__get_status_response__descriptor, &m, err);
    if (code == CUZK_OK) {
        print_status(m);
        FREE(m);
    }
    cuzk_rpc_client_close(client);
    return code;
}

/* ---- metrics ---- */

cuzk_code bench_metrics(int argc, char **argv, cuzk_err *err)
{
    cuzk_rpc_client *client;
    Cuzk__V1__GetMetricsRequest request = CUZK__V1__GET_METRICS_REQUEST__INIT;
    Cuzk__V1__GetMetricsResponse *m;
    CUZK_TRY(
        open_plain(&client, "Prints the daemon's metrics (Prometheus text).", argc, argv, err));
    cuzk_code code = bench_call(client, "GetMetrics", &request.base, QUICK_MS,
                                &cuzk__v1__get_metrics_response__descriptor, &m, err);
    if (code == CUZK_OK) {
        fputs(m->prometheus_text, stdout);
        FREE(m);
    }
    cuzk_rpc_client_close(client);
    return code;
}

/* ---- keys ---- */

static error_t parse_circuit(int key, char *arg, struct argp_state *state)
{
    one_options *o = state->input;
    if (key != 'c' && (key != ARGP_KEY_ARG || o->value)) {
        return ARGP_ERR_UNKNOWN;
    }
    o->value = arg;
    return 0;
}

static const struct argp_option circuit_list[] = {
    {"circuit-id", 'c', "NAME", 0, "Such as porep-32g, or porep-32GiB", 0},
    {0},
};

static cuzk_code open_circuit(cuzk_rpc_client **ret, one_options *o, const char *doc, int argc,
                              char **argv, cuzk_err *err)
{
    const struct argp argp = {
        .options = circuit_list, .parser = parse_circuit, .args_doc = "[NAME]", .doc = doc};
    bench_target target;
    CUZK_TRY(bench_parse(&argp, argc, argv, o, &target, err));
    if (!o->value) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--circuit-id is missing");
    }
    return bench_connect(ret, &target, err);
}

cuzk_code bench_preload(int argc, char **argv, cuzk_err *err)
{
    one_options o = {0};
    cuzk_rpc_client *client;
    Cuzk__V1__PreloadSrsRequest request = CUZK__V1__PRELOAD_SRS_REQUEST__INIT;
    Cuzk__V1__PreloadSrsResponse *m;
    CUZK_TRY(open_circuit(&client, &o, "Loads a circuit and its key, and waits for it.", argc, argv,
                          err));
    request.circuit_id = (char *)(uintptr_t)o.value;
    cuzk_code code = bench_call(client, "PreloadSRS", &request.base, 0,
                                &cuzk__v1__preload_srs_response__descriptor, &m, err);
    if (code == CUZK_OK) {
        if (m->already_loaded) {
            bench_say("%s was loaded already", o.value);
        } else {
            bench_say("%s loaded in %llu ms", o.value, (unsigned long long)m->load_time_ms);
        }
        FREE(m);
    }
    cuzk_rpc_client_close(client);
    return code;
}

cuzk_code bench_evict(int argc, char **argv, cuzk_err *err)
{
    one_options o = {0};
    cuzk_rpc_client *client;
    Cuzk__V1__EvictSrsRequest request = CUZK__V1__EVICT_SRS_REQUEST__INIT;
    Cuzk__V1__EvictSrsResponse *m;
    CUZK_TRY(open_circuit(&client, &o, "Frees a circuit and its key.", argc, argv, err));
    request.circuit_id = (char *)(uintptr_t)o.value;
    cuzk_code code = bench_call(client, "EvictSRS", &request.base, 0,
                                &cuzk__v1__evict_srs_response__descriptor, &m, err);
    if (code == CUZK_OK) {
        if (m->was_loaded) {
            bench_say("%s evicted, %.2f GiB freed", o.value, gib(m->freed_bytes));
        } else {
            bench_say("%s was not loaded", o.value);
        }
        FREE(m);
    }
    cuzk_rpc_client_close(client);
    return code;
}

/* ---- jobs ---- */

static const struct argp_option jobs_list[] = {
    {"state", 's', "STATE", 0, "Only queued, running, completed, failed or cancelled ones", 0},
    {0},
};

static error_t parse_jobs(int key, char *arg, struct argp_state *state)
{
    one_options *o = state->input;
    if (key != 's') {
        return ARGP_ERR_UNKNOWN;
    }
    o->value = arg;
    return 0;
}

static cuzk_code print_page(cuzk_rpc_client *client, const char *state, char token[64],
                            cuzk_err *err)
{
    Cuzk__V1__ListJobsRequest request = CUZK__V1__LIST_JOBS_REQUEST__INIT;
    Cuzk__V1__ListJobsResponse *m;
    request.state = (char *)(uintptr_t)(state ? state : "");
    request.page_token = token;
    request.limit = 500;
    CUZK_TRY(bench_call(client, "ListJobs", &request.base, QUICK_MS,
                        &cuzk__v1__list_jobs_response__descriptor, &m, err));
    for (size_t i = 0; i < m->n_jobs; i++) {
        const Cuzk__V1__JobInfo *j = m->jobs[i];
        bench_say("%s  %-8s %-10s %u/%u%s%s", j->job_id, bench_kind_name(j->proof_kind), j->state,
                  j->partitions_done, j->partitions_total, j->error_message[0] ? "  " : "",
                  j->error_message);
    }
    snprintf(token, 64, "%s", m->next_page_token);
    FREE(m);
    return CUZK_OK;
}

cuzk_code bench_jobs(int argc, char **argv, cuzk_err *err)
{
    one_options o = {0};
    bench_target target;
    cuzk_rpc_client *client;
    char token[64] = "";
    const struct argp argp = {.options = jobs_list,
                              .parser = parse_jobs,
                              .doc = "Lists the jobs that the daemon knows, newest first."};
    CUZK_TRY(bench_parse(&argp, argc, argv, &o, &target, err));
    CUZK_TRY(bench_connect(&client, &target, err));
    cuzk_code code;
    do {
        code = print_page(client, o.value, token, err);
    } while (code == CUZK_OK && token[0]);
    cuzk_rpc_client_close(client);
    return code;
}

static error_t parse_job(int key, char *arg, struct argp_state *state)
{
    one_options *o = state->input;
    if (key != ARGP_KEY_ARG || o->value) {
        return ARGP_ERR_UNKNOWN;
    }
    o->value = arg;
    return 0;
}

cuzk_code bench_cancel(int argc, char **argv, cuzk_err *err)
{
    one_options o = {0};
    bench_target target;
    cuzk_rpc_client *client;
    Cuzk__V1__CancelProofRequest request = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    Cuzk__V1__CancelProofResponse *m;
    const struct argp argp = {.parser = parse_job, .args_doc = "JOB", .doc = "Cancels a job."};
    CUZK_TRY(bench_parse(&argp, argc, argv, &o, &target, err));
    if (!o.value) {
        return CUZK_FAIL(err, CUZK_E_ARG, "the job's id is missing");
    }
    CUZK_TRY(bench_connect(&client, &target, err));
    request.job_id = (char *)(uintptr_t)o.value;
    cuzk_code code = bench_call(client, "CancelProof", &request.base, QUICK_MS,
                                &cuzk__v1__cancel_proof_response__descriptor, &m, err);
    if (code == CUZK_OK) {
        bench_say("%s", m->was_running ? "cancelled" : "it had ended already");
        FREE(m);
    }
    cuzk_rpc_client_close(client);
    return code;
}
