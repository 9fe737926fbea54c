#include "backend/worker/worker.h"

#include "backend/worker/worker_wire.h"
#include "base/system.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct server {
    int fd;
    cuzk_backend *backend;
    pthread_mutex_t mu;
    pthread_cond_t fewer;
    unsigned active; /* guarded by mu: calls in work */
} server;

typedef struct call {
    server *s;
    cuzk_wire_request request;
    int memory; /* -1: none */
} call;

/* ---- one call ---- */

static cuzk_code check(const cuzk_wire_request *q, cuzk_err *err)
{
    if (!memchr(q->circuit, 0, sizeof q->circuit) || !memchr(q->shape, 0, sizeof q->shape) ||
        !memchr(q->params, 0, sizeof q->params)) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a request's string does not end");
    }
    return CUZK_OK;
}

/* Maps the ports of a task. The parent cannot shrink what is sealed. */
static cuzk_code map_ports(const call *c, cuzk_partition_task *task, void **ret, size_t *ret_n,
                           cuzk_err *err)
{
    const cuzk_wire_request *q = &c->request;
    struct stat st;
    uint64_t n;
    int seals = fcntl(c->memory, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(c->memory, &st) != 0 ||
        __builtin_add_overflow(q->inputs_bytes, q->records_bytes, &n) || n == 0 ||
        n > (uint64_t)st.st_size) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a request to prove without the memory of its ports");
    }
    void *p = mmap(NULL, n, PROT_READ, MAP_SHARED, c->memory, 0);
    if (p == MAP_FAILED) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "cannot map the ports: %s", strerror(errno));
    }
    *ret = p;
    *ret_n = n;
    task->inputs = (cuzk_span){p, q->inputs_bytes};
    task->records = (cuzk_span){(const uint8_t *)p + q->inputs_bytes, q->records_bytes};
    return CUZK_OK;
}

static cuzk_code prove(const call *c, cuzk_partition_result *ret, cuzk_err *err)
{
    const cuzk_wire_request *q = &c->request;
    cuzk_partition_task task = {.circuit = q->circuit, .deadline_ns = q->deadline_ns};
    void *p;
    size_t n;
    CUZK_TRY(map_ports(c, &task, &p, &n, err));
    memcpy(task.r, q->r, sizeof task.r);
    memcpy(task.s, q->s, sizeof task.s);
    cuzk_code code = c->s->backend->ops->prove(c->s->backend, ret, &task, err);
    cuzk_wipe(&task, sizeof task);
    munmap(p, n);
    return code;
}

static cuzk_code serve(const call *c, cuzk_wire_reply *ret, cuzk_err *err)
{
    cuzk_backend *b = c->s->backend;
    const cuzk_wire_request *q = &c->request;
    cuzk_circuit_files files = {q->circuit, q->shape, q->params};
    bool was_loaded = false;
    cuzk_code code;
    CUZK_TRY(check(q, err));
    switch (q->kind) {
    case CUZK_WIRE_INFO:
        return b->ops->info(b, &ret->is.info, err);
    case CUZK_WIRE_COST:
        return b->ops->cost(b, &ret->is.cost, &files, err);
    case CUZK_WIRE_LOAD:
        return b->ops->load(b, &ret->is.load, &files, err);
    case CUZK_WIRE_UNLOAD:
        code = b->ops->unload(b, q->circuit, &was_loaded, err);
        ret->is.was_loaded = was_loaded;
        return code;
    case CUZK_WIRE_PROVE:
        return prove(c, &ret->is.result, err);
    default:
        return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "no call has the number %u", q->kind);
    }
}

/* A reply that cannot be sent has no reader any more. */
static void reply(const server *s, const cuzk_wire_reply *r)
{
    while (send(s->fd, r, sizeof *r, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) {
            _exit(1);
        }
    }
}

static void *call_main(void *ctx)
{
    call *c = ctx;
    server *s = c->s;
    cuzk_err err = {0};
    cuzk_wire_reply r = {.magic = CUZK_WIRE_MAGIC,
                         .version = CUZK_WIRE_VERSION,
                         .kind = c->request.kind,
                         .id = c->request.id};
    cuzk_code code = serve(c, &r, &err);
    if (code != CUZK_OK) {
        memset(&r.is, 0, sizeof r.is);
        snprintf(r.msg, sizeof r.msg, "%s", err.msg);
    }
    r.code = (int32_t)code;
    reply(s, &r);
    if (c->memory >= 0) {
        close(c->memory);
    }
    cuzk_wipe(&c->request, sizeof c->request);
    free(c);
    pthread_mutex_lock(&s->mu);
    s->active--;
    pthread_cond_signal(&s->fewer);
    pthread_mutex_unlock(&s->mu);
    return NULL;
}

/* ---- requests ---- */

/* Receives one request and perhaps a descriptor; false when the parent is gone. */
static bool receive(const server *s, cuzk_wire_request *ret, int *ret_fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {ret, sizeof *ret};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    ssize_t n;
    do {
        n = recvmsg(s->fd, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    const struct cmsghdr *h = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    *ret_fd = -1;
    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
        h->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(ret_fd, CMSG_DATA(h), sizeof *ret_fd);
    }
    return n == (ssize_t)sizeof *ret && !(m.msg_flags & MSG_TRUNC) &&
           ret->magic == CUZK_WIRE_MAGIC && ret->version == CUZK_WIRE_VERSION;
}

static void start_call(server *s, const cuzk_wire_request *q, int memory)
{
    call *c = malloc(sizeof *c);
    pthread_t thread;
    if (!c) {
        _exit(1); /* a child without memory is of no use */
    }
    *c = (call){s, *q, memory};
    pthread_mutex_lock(&s->mu);
    while (s->active >= CUZK_WIRE_CALLS) {
        pthread_cond_wait(&s->fewer, &s->mu);
    }
    s->active++;
    pthread_mutex_unlock(&s->mu);
    if (pthread_create(&thread, NULL, call_main, c) != 0) {
        _exit(1);
    }
    pthread_setname_np(thread, "worker-call");
    pthread_detach(thread);
}

static void finish(server *s)
{
    pthread_mutex_lock(&s->mu);
    while (s->active > 0) {
        pthread_cond_wait(&s->fewer, &s->mu);
    }
    pthread_mutex_unlock(&s->mu);
}

int cuzk_worker_main(int fd, cuzk_backend *backend)
{
    server s = {.fd = fd,
                .backend = backend,
                .mu = PTHREAD_MUTEX_INITIALIZER,
                .fewer = PTHREAD_COND_INITIALIZER};
    cuzk_wire_reply hello = {.magic = CUZK_WIRE_MAGIC, .version = CUZK_WIRE_VERSION};
    /* A parent that died before this has closed its end: the first receive says so. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    reply(&s, &hello);
    for (;;) {
        cuzk_wire_request q;
        int memory;
        if (!receive(&s, &q, &memory)) {
            _exit(0); /* calls in work have nobody to reply to */
        }
        if (q.kind == CUZK_WIRE_GOODBYE) {
            finish(&s);
            return 0;
        }
        start_call(&s, &q, memory);
        cuzk_wipe(&q, sizeof q);
    }
}
