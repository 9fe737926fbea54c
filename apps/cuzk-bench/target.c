#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

bench_target bench_global = {.address = "http://127.0.0.1:9820"};

enum { KEY_TOKEN = 0x3000, KEY_CA, KEY_CERT, KEY_KEY, KEY_LEVEL };

static const struct argp_option options[] = {
    {"addr", 'a', "ADDRESS", 0,
     "The daemon: http://host:port, https://host:port or unix:///path (default "
     "http://127.0.0.1:9820)",
     100},
    {"token", KEY_TOKEN, "TOKEN", 0, "Bearer token that the daemon asks for", 100},
    {"ca", KEY_CA, "FILE", 0, "Authority that signed the daemon's certificate (PEM)", 100},
    {"cert", KEY_CERT, "FILE", 0, "Certificate to show (PEM)", 100},
    {"key", KEY_KEY, "FILE", 0, "Its key (PEM)", 100},
    {"log-level", KEY_LEVEL, "LEVEL", OPTION_HIDDEN, NULL, 100},
    {0},
};

static error_t parse_target(int key, char *arg, struct argp_state *state)
{
    bench_target *t = state->input;
    switch (key) {
    case 'a':
        t->address = arg;
        return 0;
    case KEY_TOKEN:
        t->token = arg;
        return 0;
    case KEY_CA:
        t->ca = arg;
        return 0;
    case KEY_CERT:
        t->cert = arg;
        return 0;
    case KEY_KEY:
        t->key = arg;
        return 0;
    case KEY_LEVEL: /* the reference's option; nothing is logged here */
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp bench_target_argp = {.options = options, .parser = parse_target};

cuzk_code bench_parse(const struct argp *argp, int argc, char **argv, void *own_options,
                      bench_target *target, cuzk_err *err)
{
    *target = bench_global;
    return program_parse(argp, own_options, &bench_target_argp, target, argc, argv, err);
}

cuzk_code bench_number(uint64_t *ret, const char *text, const char *option, uint64_t min,
                       uint64_t max, cuzk_err *err)
{
    char *end;
    unsigned long long v = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || v < min || v > max) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s is a number from %llu to %llu, not \"%s\"", option,
                         (unsigned long long)min, (unsigned long long)max, text);
    }
    *ret = v;
    return CUZK_OK;
}

void bench_say(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
    fflush(stdout); /* lines are watched while a run goes on */
}

/* ---- calls ---- */

cuzk_code bench_connect(cuzk_rpc_client **ret, const bench_target *target, cuzk_err *err)
{
    const cuzk_rpc_client_config config = {
        .address = target->address,
        .ca_file = target->ca,
        .cert_file = target->cert,
        .key_file = target->key,
        .token = target->token,
    };
    return cuzk_rpc_client_open(ret, &config, err);
}

/* Ours for the server's status, as far as a command's exit status goes. */
static cuzk_code code_of(cuzk_rpc_status status)
{
    switch (status) {
    case CUZK_RPC_INVALID_ARGUMENT:
        return CUZK_E_INPUT;
    case CUZK_RPC_NOT_FOUND:
        return CUZK_E_NOT_FOUND;
    case CUZK_RPC_ALREADY_EXISTS:
        return CUZK_E_EXISTS;
    case CUZK_RPC_DEADLINE_EXCEEDED:
        return CUZK_E_TIMEOUT;
    case CUZK_RPC_RESOURCE_EXHAUSTED:
        return CUZK_E_FULL;
    case CUZK_RPC_UNAUTHENTICATED:
    case CUZK_RPC_PERMISSION_DENIED:
        return CUZK_E_DENIED;
    case CUZK_RPC_UNAVAILABLE:
        return CUZK_E_UNAVAILABLE;
    default:
        return CUZK_E_INTERNAL;
    }
}

static cuzk_code take_reply(cuzk_rpc_reply *reply, const char *method,
                            const ProtobufCMessageDescriptor *type, void *ret, cuzk_err *err)
{
    if (reply->status != CUZK_RPC_OK) {
        return CUZK_FAIL(err, code_of(reply->status), "%s: %s: %s", method,
                         cuzk_rpc_status_name(reply->status), reply->message);
    }
    ProtobufCMessage *m = protobuf_c_message_unpack(type, NULL, reply->n, reply->p);
    if (!m) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "%s: the daemon's answer is malformed", method);
    }
    *(ProtobufCMessage **)ret = m;
    return CUZK_OK;
}

cuzk_code bench_call(cuzk_rpc_client *client, const char *method, const ProtobufCMessage *request,
                     uint64_t timeout_ms, const ProtobufCMessageDescriptor *type, void *ret,
                     cuzk_err *err)
{
    char path[96];
    size_t n = protobuf_c_message_get_packed_size(request);
    uint8_t *bytes = malloc(n ? n : 1);
    if (!bytes) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a request of %zu bytes", n);
    }
    protobuf_c_message_pack(request, bytes);
    snprintf(path, sizeof path, "/cuzk.v1.ProvingEngine/%s", method);
    cuzk_rpc_reply reply = {0};
    cuzk_code code =
        cuzk_rpc_client_call(client, path, (cuzk_span){bytes, n}, timeout_ms, &reply, err);
    free(bytes);
    if (code == CUZK_OK) {
        code = take_reply(&reply, method, type, ret, err);
    }
    cuzk_rpc_reply_free(&reply);
    return code;
}

/* ---- events ---- */

static void copy_text(char *to, size_t cap, const char *from) { snprintf(to, cap, "%s", from); }

static unsigned event_kind(const char *name)
{
    unsigned kind = 0;
    while (kind < CUZK_EV_COUNT && strcmp(cuzk_event_name(kind), name) != 0) {
        kind++;
    }
    return kind;
}

/* The wire has ids where a record has numbers: an id's place among those seen so far is its number
 * here. */
static cuzk_code job_number(cuzk_record *record, const Cuzk__V1__TimelineEvent *m, uint64_t *ret,
                            cuzk_err *err)
{
    cuzk_job_name name = {0};
    *ret = 0;
    if (!m->job_id[0]) {
        return CUZK_OK;
    }
    copy_text(name.id, sizeof name.id, m->job_id);
    copy_text(name.kind, sizeof name.kind, m->proof_kind);
    for (size_t i = record->n_jobs; i-- > 0;) {
        if (strcmp(record->jobs[i].id, name.id) == 0) {
            *ret = record->jobs[i].number;
            return CUZK_OK;
        }
    }
    name.number = *ret = record->n_jobs + 1;
    return cuzk_record_name(record, &name, err);
}

static cuzk_code add_event(cuzk_record *record, const Cuzk__V1__TimelineEvent *m, cuzk_err *err)
{
    cuzk_event e = {
        .seq = m->seq,
        .t_us = m->t_us,
        .partition = m->partition,
        .worker = (int16_t)m->worker,
        .device = (int16_t)m->device,
        .value = (int64_t)m->value,
    };
    unsigned kind = event_kind(m->event);
    if (kind == CUZK_EV_COUNT) {
        return CUZK_OK; /* of a newer daemon */
    }
    e.kind = (uint8_t)kind;
    copy_text(e.detail, sizeof e.detail, m->detail);
    CUZK_TRY(job_number(record, m, &e.job, err));
    return cuzk_record_add(record, &e, err);
}

static cuzk_code some_events(cuzk_rpc_client *client, uint64_t *cursor, const char *job_id,
                             cuzk_record *record, bool *ret_more, cuzk_err *err)
{
    Cuzk__V1__GetTimelineRequest request = CUZK__V1__GET_TIMELINE_REQUEST__INIT;
    Cuzk__V1__GetTimelineResponse *m;
    request.cursor = *cursor;
    request.job_id = (char *)(uintptr_t)(job_id ? job_id : "");
    CUZK_TRY(bench_call(client, "GetTimeline", &request.base, 30000,
                        &cuzk__v1__get_timeline_response__descriptor, &m, err));
    cuzk_code code = CUZK_OK;
    for (size_t i = 0; record && i < m->n_events && code == CUZK_OK; i++) {
        code = add_event(record, m->events[i], err);
    }
    if (record) {
        record->epoch_wall_us = m->epoch_unix_us;
        record->lost += m->lost;
    }
    *ret_more = m->next_cursor != *cursor;
    *cursor = m->next_cursor;
    protobuf_c_message_free_unpacked(&m->base, NULL);
    return code;
}

cuzk_code bench_events(cuzk_rpc_client *client, uint64_t *cursor, const char *job_id,
                       cuzk_record *record, cuzk_err *err)
{
    bool more = true;
    while (more) {
        CUZK_TRY(some_events(client, cursor, job_id, record, &more, err));
    }
    return CUZK_OK;
}

uint64_t bench_peak_bytes(cuzk_rpc_client *client)
{
    static const char name[] = "\ncuzk_memory_peak_bytes ";
    Cuzk__V1__GetMetricsRequest request = CUZK__V1__GET_METRICS_REQUEST__INIT;
    Cuzk__V1__GetMetricsResponse *m;
    if (bench_call(client, "GetMetrics", &request.base, 30000,
                   &cuzk__v1__get_metrics_response__descriptor, &m, NULL) != CUZK_OK) {
        return 0;
    }
    const char *line = strstr(m->prometheus_text, name);
    double peak = line ? strtod(line + sizeof name - 1, NULL) : 0;
    protobuf_c_message_free_unpacked(&m->base, NULL);
    return peak > 0 ? (uint64_t)peak : 0;
}
