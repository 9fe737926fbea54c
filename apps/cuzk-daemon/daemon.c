#include "daemon.h"

#include "base/file.h"
#include "base/notify.h"
#include "base/system.h"
#include "cuzk/v1/descriptors.h"
#include "observe/metrics.h"
#include "rpc/health.h"
#include "rpc/reflection.h"
#include "rpc/rpc_server.h"
#include "service/http.h"
#include "service/message_pool.h"
#include "service/process_metrics.h"
#include "service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    METHODS =
        CUZK_SERVICE_METHODS + (int)CUZK_RPC_HEALTH_METHODS + (int)CUZK_RPC_REFLECTION_METHODS,
    TOKEN_MAX = 4096,
    POOL_MESSAGES = 4, /* of the largest size at once */
};

struct cuzkd {
    cuzk_log *log;
    daemon_workers *workers;
    cuzk_engine *engine;
    cuzk_service *service;
    cuzk_rpc_health *health;
    cuzk_rpc_reflection *reflection;
    cuzk_message_pool *messages;
    cuzk_rpc_server *server;
    cuzk_http *http;
    cuzk_notifier notify;
    cuzk_process_metrics *process;
};

/* ---- the engine ---- */

static void on_log(void *ctx, cuzk_engine_level level, const char *job_id, const char *message)
{
    cuzk_log *log = ctx;
    cuzk_log_level l = (cuzk_log_level)level; /* the same numbers */
    if (job_id[0]) {
        CUZK_LOG(log, l, "engine", message, cuzk_log_str("job", job_id));
    } else {
        CUZK_LOG(log, l, "engine", message);
    }
}

static void on_event(void *ctx, const char *json, size_t n)
{
    cuzk_log_raw(ctx, CUZK_LOG_INFO, json, n);
}

static uint64_t budget_of(uint64_t configured)
{
    return configured == CUZK_CONFIG_AUTO ? 0 : configured;
}

static void fill_engine_config(cuzk_engine_config *e, const cuzk_config *c)
{
    cuzk_engine_config_init(e);
    e->param_cache = c->srs.param_cache;
    e->circuit_cache = c->srs.circuit_cache[0] ? c->srs.circuit_cache : NULL;
    e->store = c->store.path;
    e->gpu_workers_per_device = c->gpus.gpu_workers_per_device;
    e->critical_lane = c->scheduler.reserved_critical_lane;
    e->synthesis_threads = c->synthesis.threads;
    e->max_parallel_synthesis = c->pipeline.max_parallel_synthesis;
    e->synthesis_concurrency = c->pipeline.synthesis_concurrency;
    e->slot_size = c->pipeline.slot_size;
    e->channel_capacity = c->pipeline.channel_capacity;
    e->lookahead = c->scheduler.lookahead;
    e->max_batch_size = c->scheduler.max_batch_size;
    e->max_batch_wait_ms = c->scheduler.max_batch_wait_ms;
    e->partition_timeout_ms = c->gpus.partition_timeout_ms;
    e->partition_retries = c->scheduler.partition_retries;
    e->budget[CUZK_MEMORY_HOST] = budget_of(c->memory.total_budget);
    e->budget[CUZK_MEMORY_PINNED] = budget_of(c->memory.pinned_budget);
    e->budget[CUZK_MEMORY_DEVICE] = budget_of(c->memory.vram_budget);
    e->safety_margin = c->memory.safety_margin;
    e->eviction_min_idle_ms = c->memory.eviction_min_idle_ms;
    e->max_queued_jobs = c->daemon.max_queued_jobs;
    e->keep_results_ms = c->store.keep_results_ms;
    e->quarantine_after = c->gpus.quarantine_after;
    e->synthesis_cpus = c->synthesis.cpus.n ? c->synthesis.cpus.v : NULL;
    e->n_synthesis_cpus = c->synthesis.cpus.n;
    e->preload = c->srs.preload.v;
    e->n_preload = c->srs.preload.n;
}

static cuzk_code start_engine(cuzkd *d, const cuzk_config *c, const char *fault, cuzk_err *err)
{
    cuzk_engine_config e;
    cuzk_backend **devices;
    fill_engine_config(&e, c);
    CUZK_TRY(daemon_devices(&devices, &e.n_devices, &d->workers, c, fault, d->log, err));
    e.devices = devices;
    e.log = on_log;
    e.log_ctx = d->log;
    e.on_event = on_event;
    e.event_ctx = d->log;
    cuzk_code code = cuzk_engine_open(&d->engine, &e, err);
    free(devices);
    if (code == CUZK_OK) {
        daemon_workers_record(d->workers, cuzk_engine_timeline(d->engine), e.n_devices);
    }
    return code;
}

/* ---- the server ---- */

/* First line of the token's file; "" without one. */
static cuzk_code read_token(char ret[TOKEN_MAX], const char *file, cuzk_err *err)
{
    cuzk_file_map map;
    ret[0] = '\0';
    if (!file[0]) {
        return CUZK_OK;
    }
    CUZK_TRY(cuzk_file_map_open(&map, file, err));
    size_t n = 0;
    while (n < map.bytes.n && map.bytes.p[n] > ' ' && map.bytes.p[n] <= '~') {
        n++;
    }
    bool good = n > 0 && n < TOKEN_MAX;
    for (size_t i = n; i < map.bytes.n; i++) {
        good = good && strchr(" \r\n", map.bytes.p[i]) && map.bytes.p[i];
    }
    if (good) {
        memcpy(ret, map.bytes.p, n);
        ret[n] = '\0';
    }
    cuzk_file_map_close(&map);
    return good ? CUZK_OK
                : CUZK_FAIL(err, CUZK_E_INPUT,
                            "%s: expected a token of 1 to %d printable characters on one line",
                            file, TOKEN_MAX - 1);
}

static const char *or_null(const char *s) { return s[0] ? s : NULL; }

static void list_methods(cuzkd *d, cuzk_rpc_method methods[METHODS])
{
    cuzk_service_methods(d->service, methods);
    cuzk_rpc_health_methods(d->health, methods + CUZK_SERVICE_METHODS);
    cuzk_rpc_reflection_methods(d->reflection, methods + METHODS - CUZK_RPC_REFLECTION_METHODS);
}

static cuzk_code make_services(cuzkd *d, uint64_t max_message, cuzk_err *err)
{
    const cuzk_span descriptors = {cuzk_proto_descriptors, cuzk_proto_descriptors_size};
    CUZK_TRY(cuzk_service_new(&d->service, d->engine, err));
    CUZK_TRY(cuzk_rpc_health_new(&d->health, err));
    CUZK_TRY(cuzk_rpc_reflection_new(&d->reflection, &descriptors, 1, err));
    return cuzk_message_pool_new(&d->messages, POOL_MESSAGES * max_message, max_message, err);
}

static cuzk_code start_server(cuzkd *d, const cuzk_config *c, cuzk_err *err)
{
    char token[TOKEN_MAX];
    cuzk_rpc_method methods[METHODS];
    CUZK_TRY(make_services(d, c->daemon.max_message, err));
    CUZK_TRY(read_token(token, c->daemon.token_file, err));
    list_methods(d, methods);
    const cuzk_rpc_server_config config = {
        .listen = c->daemon.listen.v,
        .n_listen = c->daemon.listen.n,
        .cert_file = or_null(c->daemon.tls_cert),
        .key_file = or_null(c->daemon.tls_key),
        .client_ca_file = or_null(c->daemon.tls_client_ca),
        .token = or_null(token),
        .allow_insecure = c->daemon.allow_insecure,
        .limits = {.max_message_bytes = c->daemon.max_message},
        .memory = cuzk_message_pool_allocator(d->messages),
    };
    cuzk_code code = cuzk_rpc_server_start(&d->server, &config, methods, METHODS, err);
    cuzk_wipe(token, sizeof token);
    CUZK_TRY(code);
    cuzk_message_pool_set_server(d->messages, d->server);
    CUZK_TRY(cuzk_rpc_health_set(d->health, "", CUZK_RPC_SERVING, err));
    return cuzk_rpc_health_set(d->health, CUZK_SERVICE_NAME, CUZK_RPC_SERVING, err);
}

static void say_ready(const cuzkd *d, const cuzk_config *c)
{
    for (size_t i = 0; cuzk_rpc_server_bound(d->server, i); i++) {
        char line[512];
        snprintf(line, sizeof line, "cuzk-daemon ready, serving on %s",
                 cuzk_rpc_server_bound(d->server, i));
        CUZK_LOG(d->log, CUZK_LOG_INFO, "daemon", line);
    }
    if (d->http) {
        CUZK_LOG(d->log, CUZK_LOG_INFO, "daemon", "status page is up",
                 cuzk_log_str("listen", c->daemon.status_listen),
                 cuzk_log_uint("port", cuzk_http_port(d->http)));
    }
}

/* What the daemon writes to. The parameter files are others' to bring. */
static cuzk_code make_folders(const cuzk_config *c, cuzk_err *err)
{
    if (c->srs.circuit_cache[0]) {
        CUZK_TRY(cuzk_make_folder(c->srs.circuit_cache, err));
    }
    return cuzk_make_folder(c->store.path, err);
}

static cuzk_code start_all(cuzkd *d, const cuzk_config *c, const char *fault, cuzk_err *err)
{
    CUZK_TRY(cuzk_notifier_open(&d->notify, err));
    CUZK_TRY(make_folders(c, err));
    CUZK_TRY(start_engine(d, c, fault, err));
    CUZK_TRY(cuzk_process_metrics_new(&d->process, cuzk_engine_metrics(d->engine), err));
    CUZK_TRY(start_server(d, c, err));
    if (c->daemon.status_listen[0]) {
        CUZK_TRY(cuzk_http_start(&d->http, c->daemon.status_listen, c->daemon.allow_insecure,
                                 d->engine, err));
    }
    say_ready(d, c);
    return cuzk_notify(&d->notify, "READY=1\nSTATUS=serving", err);
}

cuzk_code daemon_start(cuzkd **ret, const cuzk_config *config, const daemon_args *args,
                       cuzk_log *log, cuzk_err *err)
{
    cuzkd *d = calloc(1, sizeof *d);
    if (!d) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the daemon");
    }
    d->log = log;
    d->notify.fd = -1;
    cuzk_code code = start_all(d, config, args->fault, err);
    if (code != CUZK_OK) {
        daemon_free(d);
        return code;
    }
    *ret = d;
    return CUZK_OK;
}

cuzk_code daemon_reload(cuzkd *d, const cuzk_config *c, cuzk_err *err)
{
    char token[TOKEN_MAX];
    CUZK_TRY(read_token(token, c->daemon.token_file, err));
    cuzk_code code =
        cuzk_rpc_server_reload(d->server, or_null(token), or_null(c->daemon.tls_cert),
                               or_null(c->daemon.tls_key), or_null(c->daemon.tls_client_ca), err);
    cuzk_wipe(token, sizeof token);
    CUZK_TRY(code);
    cuzk_log_set_level(d->log, c->logging.level);
    return CUZK_OK;
}

/* Clients that wait for a job are told that the daemon goes away after those that are served have
 * been: the server ends last. */
cuzk_code daemon_drain(cuzkd *d, uint64_t timeout_ms, cuzk_err *err)
{
    uint64_t begin = cuzk_clock_ns();
    cuzk_notify(&d->notify, "STOPPING=1\nSTATUS=draining", NULL);
    cuzk_rpc_health_set(d->health, "", CUZK_RPC_NOT_SERVING, NULL);
    cuzk_rpc_health_set(d->health, CUZK_SERVICE_NAME, CUZK_RPC_NOT_SERVING, NULL);
    CUZK_TRY(cuzk_engine_drain(d->engine, timeout_ms, err));
    uint64_t spent = (cuzk_clock_ns() - begin) / 1000000;
    enum { FAREWELL_MS = 500 }; /* for answers that are on their way */
    uint64_t left = timeout_ms > spent ? timeout_ms - spent : 0;
    cuzk_rpc_server_drain(d->server, left < FAREWELL_MS ? left : FAREWELL_MS);
    return CUZK_OK;
}

void daemon_free(cuzkd *d)
{
    if (!d) {
        return;
    }
    cuzk_http_free(d->http);
    if (d->messages) {
        cuzk_message_pool_set_server(d->messages, NULL);
    }
    cuzk_rpc_server_free(d->server);
    cuzk_service_free(d->service);
    cuzk_rpc_reflection_free(d->reflection);
    cuzk_rpc_health_free(d->health);
    cuzk_message_pool_free(d->messages);
    cuzk_engine_close(d->engine);
    daemon_workers_free(d->workers);
    cuzk_process_metrics_free(d->process);
    cuzk_notifier_close(&d->notify);
    free(d);
}

void daemon_watchdog(cuzkd *d)
{
    if (d->notify.watchdog_us) {
        cuzk_notify(&d->notify, "WATCHDOG=1", NULL);
    }
}

uint64_t daemon_watchdog_ms(const cuzkd *d)
{
    return d->notify.watchdog_us ? d->notify.watchdog_us / 2000 + 1 : 0;
}
