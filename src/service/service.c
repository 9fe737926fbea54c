#include "service/calls.h"

#include <stdlib.h>

enum {
    WORK_THREADS = 16, /* submissions wait for the disk: together they share a flush */
    WORK_CAPACITY = 4096,
    LOAD_THREADS = 2,
    LOAD_CAPACITY = 64,
};

typedef struct job {
    cuzk_inbound in;
    cuzk_call_fn *fn;
} job;

static void run(void *arg)
{
    job *j = arg;
    if (!cuzk_rpc_call_is_over(j->in.call)) {
        j->fn(&j->in);
    } else {
        cuzk_rpc_call_finish(j->in.call, CUZK_RPC_CANCELLED, "nobody waits for this call");
    }
    cuzk_rpc_message_free(&j->in.message);
    cuzk_rpc_call_unref(j->in.call);
    free(j);
}

/* On the I/O thread. */
static void enqueue(cuzk_service *s, cuzk_work *work, cuzk_rpc_call *call,
                    cuzk_rpc_message *message, cuzk_call_fn *fn)
{
    cuzk_err err;
    job *j = malloc(sizeof *j);
    if (!j) {
        cuzk_rpc_call_finish(call, CUZK_RPC_RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    *j = (job){{s, cuzk_rpc_call_ref(call), *message}, fn};
    *message = (cuzk_rpc_message){0};
    if (cuzk_work_add(work, run, j, &err) != CUZK_OK) {
        cuzk_rpc_call_fail(call, &err);
        cuzk_rpc_message_free(&j->in.message);
        cuzk_rpc_call_unref(call);
        free(j);
    }
}

/* Every RPC: name, function, kind, queue. */
#define METHODS(X)                                                                                 \
    X(SubmitProof, submit, UNARY, work)                                                            \
    X(AwaitProof, await, UNARY, work)                                                              \
    X(Prove, prove, UNARY, work)                                                                   \
    X(CancelProof, cancel, UNARY, work)                                                            \
    X(GetStatus, status, UNARY, work)                                                              \
    X(GetMetrics, metrics, UNARY, work)                                                            \
    X(PreloadSRS, preload, UNARY, loads)                                                           \
    X(EvictSRS, evict, UNARY, loads)                                                               \
    X(GetTimeline, timeline, UNARY, work)                                                          \
    X(WatchJob, watch, SERVER_STREAM, work)                                                        \
    X(ListJobs, list, UNARY, work)

#define X(rpc, fn, kind, queue)                                                                    \
    static void on_##fn(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)                 \
    {                                                                                              \
        cuzk_service *s = ctx;                                                                     \
        enqueue(s, s->queue, call, message, cuzk_call_##fn);                                       \
    }
METHODS(X)
#undef X

/* Only these two carry vanilla proofs. */
enum { SMALL_REQUEST = 64 << 10 };

void cuzk_service_methods(cuzk_service *s, cuzk_rpc_method ret[CUZK_SERVICE_METHODS])
{
    size_t n = 0;
#define X(rpc, fn, call_kind, queue)                                                               \
    ret[n++] = (cuzk_rpc_method){                                                                  \
        .path = "/" CUZK_SERVICE_NAME "/" #rpc,                                                    \
        .handler = on_##fn,                                                                        \
        .ctx = s,                                                                                  \
        .kind = CUZK_RPC_##call_kind,                                                              \
        .max_request_bytes =                                                                       \
            cuzk_call_##fn == cuzk_call_submit || cuzk_call_##fn == cuzk_call_prove                \
                ? 0                                                                                \
                : SMALL_REQUEST,                                                                   \
    };
    METHODS(X)
#undef X
    _Static_assert(CUZK_SERVICE_METHODS == 11, "as many as METHODS has");
}

cuzk_code cuzk_service_new(cuzk_service **ret, cuzk_engine *engine, cuzk_err *err)
{
    cuzk_service *s = calloc(1, sizeof *s);
    if (!s) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the service");
    }
    s->engine = engine;
    cuzk_code code = cuzk_work_new(&s->work, "calls", WORK_THREADS, WORK_CAPACITY, err);
    if (code == CUZK_OK) {
        code = cuzk_work_new(&s->loads, "key-calls", LOAD_THREADS, LOAD_CAPACITY, err);
    }
    if (code != CUZK_OK) {
        cuzk_service_free(s);
        return code;
    }
    *ret = s;
    return CUZK_OK;
}

void cuzk_service_free(cuzk_service *s)
{
    if (s) {
        cuzk_work_free(s->work);
        cuzk_work_free(s->loads);
        free(s);
    }
}

/* ---- messages ---- */

bool cuzk_call_send(cuzk_rpc_call *call, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = malloc(n ? n : 1);
    if (!bytes) {
        cuzk_rpc_call_finish(call, CUZK_RPC_RESOURCE_EXHAUSTED, "no memory for the answer");
        return false;
    }
    protobuf_c_message_pack(m, bytes);
    bool sent = cuzk_rpc_call_send(call, bytes, n);
    free(bytes);
    return sent;
}

void cuzk_call_reply(cuzk_rpc_call *call, const ProtobufCMessage *m)
{
    if (cuzk_call_send(call, m)) {
        cuzk_rpc_call_finish(call, CUZK_RPC_OK, NULL);
    }
}

ProtobufCMessage *cuzk_call_unpack(cuzk_inbound *in, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *m =
        protobuf_c_message_unpack(type, NULL, in->message.n, in->message.n ? in->message.p : NULL);
    if (!m) {
        cuzk_rpc_call_finish(in->call, CUZK_RPC_INVALID_ARGUMENT, "the request is malformed");
    }
    return m;
}
