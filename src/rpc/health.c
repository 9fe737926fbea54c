#include "rpc/health.h"

#include "rpc/pb_wire.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SERVICE_UNKNOWN = 3, NAME_MAX_BYTES = 256 };

typedef struct entry {
    struct entry *next;
    cuzk_rpc_serving serving;
    char name[];
} entry;

/* A call of Watch. Freed by the end of its call. */
typedef struct watcher {
    struct watcher *prev, *next;
    cuzk_rpc_health *health;
    cuzk_rpc_call *call; /* owned reference */
    char name[];
} watcher;

/* Lock order: mu, then what cuzk_rpc_call_send takes. */
struct cuzk_rpc_health {
    pthread_mutex_t mu;
    entry *entries;    /* guarded by mu */
    watcher *watchers; /* guarded by mu */
};

/* mu is held. */
static entry *find(cuzk_rpc_health *h, const char *name)
{
    for (entry *e = h->entries; e; e = e->next) {
        if (strcmp(e->name, name) == 0) {
            return e;
        }
    }
    return NULL;
}

cuzk_code cuzk_rpc_health_new(cuzk_rpc_health **ret, cuzk_err *err)
{
    cuzk_rpc_health *h = calloc(1, sizeof *h);
    if (!h) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the health service");
    }
    pthread_mutex_init(&h->mu, NULL);
    cuzk_code code = cuzk_rpc_health_set(h, "", CUZK_RPC_NOT_SERVING, err);
    if (code != CUZK_OK) {
        cuzk_rpc_health_free(h);
        return code;
    }
    *ret = h;
    return CUZK_OK;
}

void cuzk_rpc_health_free(cuzk_rpc_health *health)
{
    if (!health) {
        return;
    }
    while (health->entries) {
        entry *e = health->entries;
        health->entries = e->next;
        free(e);
    }
    pthread_mutex_destroy(&health->mu);
    free(health);
}

/* Sends a HealthCheckResponse. */
static void send_serving(cuzk_rpc_call *call, unsigned serving)
{
    cuzk_rpc_pb_writer w = {0};
    if (serving != 0) { /* proto3 leaves zeros out */
        cuzk_rpc_pb_put_value(&w, 1, serving);
    }
    cuzk_rpc_call_send(call, w.p, w.n); /* a watcher too slow for this misses it */
    free(w.p);
}

cuzk_code cuzk_rpc_health_set(cuzk_rpc_health *health, const char *service,
                              cuzk_rpc_serving serving, cuzk_err *err)
{
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&health->mu);
    entry *e = find(health, service);
    bool changed = !e || e->serving != serving;
    if (!e) {
        size_t n = strlen(service) + 1;
        e = malloc(sizeof *e + n);
        if (e) {
            memcpy(e->name, service, n);
            e->next = health->entries;
            health->entries = e;
        } else {
            code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the health of %s", service);
        }
    }
    if (e && changed) {
        e->serving = serving;
        for (watcher *w = health->watchers; w; w = w->next) {
            if (strcmp(w->name, service) == 0) {
                send_serving(w->call, serving);
            }
        }
    }
    pthread_mutex_unlock(&health->mu);
    return code;
}

/* Reads a HealthCheckRequest; false after finishing the call. */
static bool read_name(cuzk_rpc_call *call, cuzk_rpc_message *message, char name[NAME_MAX_BYTES])
{
    cuzk_rpc_pb_reader r = {.bytes = {message->p, message->n}};
    cuzk_rpc_pb_field f;
    bool good = true;
    name[0] = 0;
    while (good && cuzk_rpc_pb_next(&r, &f)) {
        if (f.number == 1) {
            good = f.has_bytes && f.bytes.n < NAME_MAX_BYTES && !memchr(f.bytes.p, 0, f.bytes.n);
            if (good) {
                memcpy(name, f.bytes.p, f.bytes.n);
                name[f.bytes.n] = 0;
            }
        }
    }
    cuzk_rpc_message_free(message);
    if (!good || r.bad) {
        cuzk_rpc_call_finish(call, CUZK_RPC_INVALID_ARGUMENT, "this is no HealthCheckRequest");
        return false;
    }
    return true;
}

static void check(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    cuzk_rpc_health *h = ctx;
    char name[NAME_MAX_BYTES];
    if (!read_name(call, message, name)) {
        return;
    }
    pthread_mutex_lock(&h->mu);
    const entry *e = find(h, name);
    unsigned serving = e ? (unsigned)e->serving : SERVICE_UNKNOWN;
    pthread_mutex_unlock(&h->mu);
    if (serving == SERVICE_UNKNOWN) {
        cuzk_rpc_call_finish(call, CUZK_RPC_NOT_FOUND, "there is no such service");
        return;
    }
    send_serving(call, serving);
    cuzk_rpc_call_finish(call, CUZK_RPC_OK, NULL);
}

static void stop_watching(void *ctx, cuzk_rpc_call *call, cuzk_rpc_end end)
{
    (void)call;
    (void)end;
    watcher *w = ctx;
    pthread_mutex_lock(&w->health->mu);
    *(w->prev ? &w->prev->next : &w->health->watchers) = w->next;
    if (w->next) {
        w->next->prev = w->prev;
    }
    pthread_mutex_unlock(&w->health->mu);
    cuzk_rpc_call_unref(w->call);
    free(w);
}

static void watch(void *ctx, cuzk_rpc_call *call, cuzk_rpc_message *message)
{
    cuzk_rpc_health *h = ctx;
    char name[NAME_MAX_BYTES];
    if (!read_name(call, message, name)) {
        return;
    }
    size_t n = strlen(name) + 1;
    watcher *w = malloc(sizeof *w + n);
    if (!w) {
        cuzk_rpc_call_finish(call, CUZK_RPC_RESOURCE_EXHAUSTED, "no memory for a watcher");
        return;
    }
    memcpy(w->name, name, n);
    w->health = h;
    w->call = cuzk_rpc_call_ref(call);
    w->prev = NULL;
    pthread_mutex_lock(&h->mu);
    w->next = h->watchers;
    if (w->next) {
        w->next->prev = w;
    }
    h->watchers = w;
    const entry *e = find(h, name);
    send_serving(call, e ? (unsigned)e->serving : SERVICE_UNKNOWN);
    pthread_mutex_unlock(&h->mu);
    cuzk_rpc_call_on_end(call, stop_watching, w);
}

void cuzk_rpc_health_methods(cuzk_rpc_health *health, cuzk_rpc_method ret[CUZK_RPC_HEALTH_METHODS])
{
    ret[0] = (cuzk_rpc_method){.path = "/grpc.health.v1.Health/Check",
                               .handler = check,
                               .ctx = health,
                               .kind = CUZK_RPC_UNARY,
                               .open = true,
                               .max_request_bytes = 4096};
    ret[1] = (cuzk_rpc_method){.path = "/grpc.health.v1.Health/Watch",
                               .handler = watch,
                               .ctx = health,
                               .kind = CUZK_RPC_SERVER_STREAM,
                               .open = true,
                               .max_request_bytes = 4096};
}
