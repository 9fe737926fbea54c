#include "rpc/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

cuzk_code cuzk_rpc_hub_new(cuzk_rpc_hub **ret, size_t max_queued_bytes, cuzk_err *err)
{
    cuzk_rpc_hub *h = calloc(1, sizeof *h);
    if (!h) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a server");
    }
    h->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (h->wake_fd < 0) {
        free(h);
        return CUZK_FAIL(err, CUZK_E_IO, "eventfd: %s", strerror(errno));
    }
    atomic_init(&h->refs, 1);
    h->max_queued_bytes = max_queued_bytes;
    pthread_mutex_init(&h->mu, NULL);
    *ret = h;
    return CUZK_OK;
}

void cuzk_rpc_hub_unref(cuzk_rpc_hub *hub)
{
    /* acq_rel: the last one sees what all others did before they let go. */
    if (hub && atomic_fetch_sub_explicit(&hub->refs, 1, memory_order_acq_rel) == 1) {
        close(hub->wake_fd);
        pthread_mutex_destroy(&hub->mu);
        free(hub);
    }
}

void cuzk_rpc_hub_wake(cuzk_rpc_hub *hub)
{
    uint64_t one = 1;
    ssize_t n = write(hub->wake_fd, &one, sizeof one); /* a full counter has woken it already */
    (void)n;
}

cuzk_rpc_call *cuzk_rpc_hub_next(cuzk_rpc_hub *hub, bool sleep)
{
    pthread_mutex_lock(&hub->mu);
    cuzk_rpc_call *call = hub->dirty;
    if (call) {
        hub->dirty = call->next_dirty;
        call->is_dirty = false;
    }
    hub->awake = call != NULL || !sleep;
    pthread_mutex_unlock(&hub->mu);
    return call;
}

/* Tells the I/O thread that the call has news. hub->mu is held; true: wake it after unlocking. */
static bool mark_dirty(cuzk_rpc_call *call)
{
    cuzk_rpc_hub *hub = call->hub;
    if (call->is_dirty) {
        return false;
    }
    call->is_dirty = true;
    cuzk_rpc_call_ref(call);
    call->next_dirty = hub->dirty;
    hub->dirty = call;
    bool wake = !hub->awake;
    hub->awake = true; /* one signal is enough */
    return wake;
}

cuzk_rpc_call *cuzk_rpc_call_new(cuzk_rpc_hub *hub, const char *path, const char *peer,
                                 uint64_t deadline_ns)
{
    size_t n_path = strlen(path) + 1, n_peer = strlen(peer) + 1;
    cuzk_rpc_call *call = calloc(1, sizeof *call + n_path + n_peer);
    if (!call) {
        return NULL;
    }
    char *text = (char *)(call + 1);
    memcpy(text, path, n_path);
    memcpy(text + n_path, peer, n_peer);
    call->path = text;
    call->peer = text + n_path;
    call->deadline_ns = deadline_ns;
    call->hub = hub;
    atomic_init(&call->refs, 1);
    atomic_fetch_add_explicit(&hub->refs, 1, memory_order_relaxed); /* ours keeps it alive */
    return call;
}

cuzk_rpc_call *cuzk_rpc_call_ref(cuzk_rpc_call *call)
{
    atomic_fetch_add_explicit(&call->refs, 1, memory_order_relaxed); /* the caller has one */
    return call;
}

void cuzk_rpc_call_unref(cuzk_rpc_call *call)
{
    /* acq_rel: as in cuzk_rpc_hub_unref. */
    if (!call || atomic_fetch_sub_explicit(&call->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    cuzk_rpc_chunks_free(call->first);
    free(call->message);
    cuzk_rpc_hub_unref(call->hub);
    free(call);
}

void cuzk_rpc_chunks_free(cuzk_rpc_chunk *first)
{
    while (first) {
        cuzk_rpc_chunk *next = first->next;
        free(first);
        first = next;
    }
}

bool cuzk_rpc_call_send(cuzk_rpc_call *call, const void *bytes, size_t n)
{
    cuzk_rpc_chunk *chunk =
        n > UINT32_MAX ? NULL : malloc(sizeof *chunk + CUZK_RPC_PREFIX_BYTES + n);
    if (!chunk) {
        return false;
    }
    chunk->next = NULL;
    chunk->n = CUZK_RPC_PREFIX_BYTES + n;
    chunk->sent = 0;
    cuzk_rpc_framing_prefix(chunk->bytes, (uint32_t)n);
    if (n > 0) {
        memcpy(chunk->bytes + CUZK_RPC_PREFIX_BYTES, bytes, n);
    }
    pthread_mutex_lock(&call->hub->mu);
    size_t queued = atomic_load_explicit(&call->queued, memory_order_relaxed);
    bool good = !call->over && !call->finished &&
                (queued == 0 || queued + chunk->n <= call->hub->max_queued_bytes);
    bool wake = false;
    if (good) {
        *(call->last ? &call->last->next : &call->first) = chunk;
        call->last = chunk;
        atomic_fetch_add_explicit(&call->queued, chunk->n, memory_order_relaxed);
        wake = mark_dirty(call);
    }
    pthread_mutex_unlock(&call->hub->mu);
    if (!good) {
        free(chunk);
    }
    if (wake) {
        cuzk_rpc_hub_wake(call->hub);
    }
    return good;
}

void cuzk_rpc_call_finish(cuzk_rpc_call *call, cuzk_rpc_status status, const char *message)
{
    char *copy = message && message[0] ? strdup(message) : NULL; /* without memory: no words */
    pthread_mutex_lock(&call->hub->mu);
    bool wake = false;
    if (!call->over && !call->finished) {
        call->finished = true;
        call->status = status;
        call->message = copy;
        copy = NULL;
        wake = mark_dirty(call);
    }
    pthread_mutex_unlock(&call->hub->mu);
    free(copy);
    if (wake) {
        cuzk_rpc_hub_wake(call->hub);
    }
}

void cuzk_rpc_call_fail(cuzk_rpc_call *call, const cuzk_err *err)
{
    cuzk_rpc_call_finish(call, cuzk_rpc_status_of(err->code), err->msg);
}

void cuzk_rpc_call_on_end(cuzk_rpc_call *call, cuzk_rpc_end_fn *fn, void *ctx)
{
    pthread_mutex_lock(&call->hub->mu);
    bool over = call->over;
    if (!over) {
        call->end_fn = fn;
        call->end_ctx = ctx;
    }
    cuzk_rpc_end end = call->end;
    pthread_mutex_unlock(&call->hub->mu);
    if (over) {
        fn(ctx, call, end);
    }
}

void cuzk_rpc_call_end(cuzk_rpc_call *call, cuzk_rpc_end end)
{
    pthread_mutex_lock(&call->hub->mu);
    if (call->over) {
        pthread_mutex_unlock(&call->hub->mu);
        return;
    }
    call->over = true;
    call->end = call->finished ? CUZK_RPC_END_FINISHED : end;
    cuzk_rpc_end_fn *fn = call->end_fn;
    void *ctx = call->end_ctx;
    end = call->end;
    cuzk_rpc_chunk *dropped = call->first;
    call->first = call->last = NULL;
    pthread_mutex_unlock(&call->hub->mu);
    cuzk_rpc_chunks_free(dropped);
    if (fn) {
        fn(ctx, call, end);
    }
}

void cuzk_rpc_call_take_news(cuzk_rpc_call *call, cuzk_rpc_news *ret)
{
    pthread_mutex_lock(&call->hub->mu);
    *ret = (cuzk_rpc_news){call->first, call->last, call->finished, call->status, call->message};
    call->first = call->last = NULL;
    call->message = NULL;
    pthread_mutex_unlock(&call->hub->mu);
}

bool cuzk_rpc_call_is_over(cuzk_rpc_call *call)
{
    pthread_mutex_lock(&call->hub->mu);
    bool over = call->over || call->finished;
    pthread_mutex_unlock(&call->hub->mu);
    return over;
}

const char *cuzk_rpc_call_peer(const cuzk_rpc_call *call) { return call->peer; }

uint64_t cuzk_rpc_call_deadline_ns(const cuzk_rpc_call *call) { return call->deadline_ns; }

const char *cuzk_rpc_call_path(const cuzk_rpc_call *call) { return call->path; }
