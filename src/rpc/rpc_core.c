#include "rpc/core.h"

#include "base/system.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static size_t or_size(size_t value, size_t otherwise) { return value ? value : otherwise; }
static uint32_t or_u32(uint32_t value, uint32_t otherwise) { return value ? value : otherwise; }
static uint64_t or_u64(uint64_t value, uint64_t otherwise) { return value ? value : otherwise; }

static cuzk_rpc_limits with_defaults(cuzk_rpc_limits l)
{
    return (cuzk_rpc_limits){
        .max_message_bytes = or_size(l.max_message_bytes, (size_t)256 << 20),
        .max_queued_bytes = or_size(l.max_queued_bytes, (size_t)16 << 20),
        .max_header_bytes = or_size(l.max_header_bytes, (size_t)16 << 10),
        .max_connections = or_u32(l.max_connections, 256),
        .max_streams = or_u32(l.max_streams, 256),
        .handshake_timeout_ms = or_u64(l.handshake_timeout_ms, 10000),
        .header_timeout_ms = or_u64(l.header_timeout_ms, 10000),
        .idle_timeout_ms = or_u64(l.idle_timeout_ms, 1800000),
        .slow_timeout_ms = or_u64(l.slow_timeout_ms, 30000),
        .min_rate_bytes = or_u64(l.min_rate_bytes, 16 << 10),
        .ping_after_ms = or_u64(l.ping_after_ms, 20000),
        .ping_timeout_ms = or_u64(l.ping_timeout_ms, 10000),
    };
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const cuzk_rpc_method *)a)->path, ((const cuzk_rpc_method *)b)->path);
}

static cuzk_code copy_methods(cuzk_rpc_core *core, const cuzk_rpc_method *methods, size_t n,
                              cuzk_err *err)
{
    core->methods = calloc(n + 1, sizeof *methods);
    if (!core->methods) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu methods", n);
    }
    for (size_t i = 0; i < n; i++) {
        if (methods[i].path[0] != '/' || !methods[i].handler) {
            return CUZK_FAIL(err, CUZK_E_ARG,
                             "method %zu, \"%s\": want a path with a slash and a "
                             "handler",
                             i, methods[i].path);
        }
        core->methods[i] = methods[i];
        core->methods[i].path = strdup(methods[i].path);
        if (!core->methods[i].path) {
            return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for %zu methods", n);
        }
        core->n_methods = i + 1;
    }
    qsort(core->methods, n, sizeof *methods, by_path);
    for (size_t i = 1; i < n; i++) {
        if (by_path(&core->methods[i - 1], &core->methods[i]) == 0) {
            return CUZK_FAIL(err, CUZK_E_ARG, "two methods have the path %s",
                             core->methods[i].path);
        }
    }
    return CUZK_OK;
}

cuzk_code cuzk_rpc_core_init(cuzk_rpc_core *core, const cuzk_rpc_server_config *config,
                             const cuzk_rpc_method *methods, size_t n_methods, cuzk_err *err)
{
    memset(core, 0, sizeof *core);
    pthread_mutex_init(&core->mu, NULL);
    core->limits = with_defaults(config->limits);
    core->memory = config->memory;
    core->now_ns = cuzk_clock_ns();
    core->next_deadline_ns = UINT64_MAX;
    cuzk_code code = copy_methods(core, methods, n_methods, err);
    if (code == CUZK_OK) {
        code = cuzk_rpc_core_set_token(core, config->token, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_rpc_hub_new(&core->hub, core->limits.max_queued_bytes, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_rpc_session_setup(&core->callbacks, &core->options, err);
    }
    if (code != CUZK_OK) {
        cuzk_rpc_core_close(core);
    }
    return code;
}

void cuzk_rpc_core_close(cuzk_rpc_core *core)
{
    if (!core->methods) { /* all zero */
        return;
    }
    while (core->conns) {
        cuzk_rpc_conn_free(core->conns, CUZK_RPC_END_SHUTDOWN);
    }
    if (core->hub) {
        cuzk_rpc_core_news(core, false); /* drops the references of calls with news */
    }
    cuzk_rpc_hub_unref(core->hub);
    nghttp2_session_callbacks_del(core->callbacks);
    nghttp2_option_del(core->options);
    for (size_t i = 0; i < core->n_methods; i++) {
        free((void *)(uintptr_t)core->methods[i].path);
    }
    free(core->methods);
    cuzk_wipe(core->token_hash, sizeof core->token_hash);
    pthread_mutex_destroy(&core->mu);
    core->methods = NULL;
}

cuzk_code cuzk_rpc_core_set_token(cuzk_rpc_core *core, const char *token, cuzk_err *err)
{
    uint8_t hash[32] = {0};
    if (token) {
        if (!token[0] || strpbrk(token, " \t\r\n")) {
            return CUZK_FAIL(err, CUZK_E_ARG, "the token is empty or has white space in it");
        }
        CUZK_TRY(cuzk_sha256(hash, token, strlen(token), err));
    }
    pthread_mutex_lock(&core->mu);
    core->has_token = token != NULL;
    memcpy(core->token_hash, hash, sizeof hash);
    pthread_mutex_unlock(&core->mu);
    return CUZK_OK;
}

bool cuzk_rpc_core_token_is_good(cuzk_rpc_core *core, const char *token, size_t n)
{
    /* Digests are compared, so that neither the time nor the length says anything of the token. */
    uint8_t hash[32], want[32];
    if (cuzk_sha256(hash, token, n, NULL) != CUZK_OK) {
        return false;
    }
    pthread_mutex_lock(&core->mu);
    bool good = core->has_token;
    memcpy(want, core->token_hash, sizeof want);
    pthread_mutex_unlock(&core->mu);
    return CRYPTO_memcmp(hash, want, sizeof hash) == 0 && good;
}

const cuzk_rpc_method *cuzk_rpc_core_find(const cuzk_rpc_core *core, const char *path, size_t n)
{
    size_t low = 0, high = core->n_methods;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const char *at = core->methods[mid].path;
        int order = strncmp(at, path, n);
        if (order == 0 && at[n] == 0) {
            return &core->methods[mid];
        }
        if (order >= 0) { /* equal so far means that `at` is longer */
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return NULL;
}

void cuzk_rpc_core_news(cuzk_rpc_core *core, bool sleep)
{
    cuzk_rpc_call *call;
    while ((call = cuzk_rpc_hub_next(core->hub, sleep)) != NULL) {
        if (call->stream) {
            cuzk_rpc_stream_news(call->stream);
        }
        cuzk_rpc_call_unref(call);
    }
}

void cuzk_rpc_core_retry(cuzk_rpc_core *core)
{
    while (core->waiting && cuzk_rpc_stream_retry(core->waiting)) {
    }
}

void cuzk_rpc_core_deadlines(cuzk_rpc_core *core)
{
    if (core->now_ns < core->next_deadline_ns) {
        return;
    }
    core->next_deadline_ns = UINT64_MAX;
    for (cuzk_rpc_conn *c = core->conns; c; c = c->next) {
        for (cuzk_rpc_stream *s = c->streams; s; s = s->next) {
            if (s->finished || s->ended) {
                continue;
            }
            if (s->deadline_ns <= core->now_ns) {
                cuzk_rpc_stream_abort(s, CUZK_RPC_END_DEADLINE, CUZK_RPC_DEADLINE_EXCEEDED,
                                      "the deadline has passed");
            } else if (s->deadline_ns < core->next_deadline_ns) {
                core->next_deadline_ns = s->deadline_ns;
            }
        }
    }
}
