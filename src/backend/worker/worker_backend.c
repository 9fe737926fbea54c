#include "backend/worker/worker.h"

#include "backend/worker/worker_child.h"
#include "backend/worker/worker_region.h"
#include "base/system.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t MS = 1000000;

/* A call that waits for its reply; on the caller's stack. Guarded by mu. */
typedef struct call {
    struct call *next;
    uint64_t id;
    uint32_t kind;
    uint64_t deadline_ns;
    bool done;
    cuzk_code code;       /* when it ended without a reply */
    char why[300];        /* then */
    cuzk_wire_reply *ret; /* the caller's */
} call;

typedef enum state { DOWN, STARTING, UP } state;

typedef struct worker_backend {
    cuzk_backend base;
    cuzk_worker_options options;
    char **argv; /* owned */
    pthread_t thread;
    int wake; /* eventfd: the thread shall look */
    pthread_mutex_t mu;
    pthread_cond_t changed; /* the state, or a call is done */
    state state;            /* guarded by mu */
    bool wanted, closing;   /* guarded by mu */
    uint64_t last_id;       /* guarded by mu */
    call *calls;            /* guarded by mu: sent, without a reply */
    unsigned n_calls;       /* guarded by mu */
    uint64_t losses;        /* guarded by mu */
    uint64_t served;        /* guarded by mu: replies of this child */
    unsigned failures;      /* guarded by mu: starts in a row that served nothing */
    uint64_t not_before_ns; /* guarded by mu: of the next start */
    char why_down[300];     /* guarded by mu */
    cuzk_region *regions;   /* guarded by mu: not in use */
    cuzk_child child;       /* of the thread; others send on its socket, with mu, while UP */
} worker_backend;

static worker_backend *worker_of(cuzk_backend *b) { return (worker_backend *)b; }

static void nudge(const worker_backend *b)
{
    uint64_t one = 1;
    if (write(b->wake, &one, sizeof one) < 0) {
        return; /* the counter is full: the thread is going to look anyway */
    }
}

/* ---- the thread that owns the child; with the mutex, which waits release ---- */

static void end_call(worker_backend *b, call *c, cuzk_code code, const char *why)
{
    call **at = &b->calls;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    b->n_calls--;
    c->code = code;
    snprintf(c->why, sizeof c->why, "%s", why);
    c->done = true;
}

static void tell(worker_backend *b, int pid, const char *reason)
{
    if (b->options.event) {
        pthread_mutex_unlock(&b->mu);
        b->options.event(b->options.ctx, pid, reason);
        pthread_mutex_lock(&b->mu);
    }
}

/* The child did not get as far as to serve a call: the next start waits, longer each time. */
static void back_off(worker_backend *b)
{
    unsigned doubled = b->failures < 6 ? b->failures : 6;
    b->failures++;
    b->not_before_ns = cuzk_clock_ns() + (b->options.backoff_ms << doubled) * MS;
}

/* Ends the child and all calls that it had. */
static void lose(worker_backend *b, const char *reason)
{
    char how[200];
    int pid = (int)b->child.pid;
    b->state = STARTING; /* nobody sends any more, nobody starts another */
    pthread_mutex_unlock(&b->mu);
    cuzk_child_end(&b->child, how);
    pthread_mutex_lock(&b->mu);
    snprintf(b->why_down, sizeof b->why_down, "the worker process is gone (%.90s; %.160s)", reason,
             how);
    b->losses++;
    if (b->served == 0) {
        back_off(b);
    }
    while (b->calls) {
        end_call(b, b->calls, CUZK_E_UNAVAILABLE, b->why_down);
    }
    b->state = DOWN;
    pthread_cond_broadcast(&b->changed);
    tell(b, pid, b->why_down);
}

/* Waits for the child's first word; false with the reason. Without the mutex. */
static bool await_hello(worker_backend *b, char why[200])
{
    uint64_t end = cuzk_clock_ns() + b->options.start_ms * MS;
    for (;;) {
        cuzk_wire_reply hello;
        bool empty;
        uint64_t now = cuzk_clock_ns();
        if (now >= end) {
            snprintf(why, 200, "it did not answer in %" PRIu64 " ms", b->options.start_ms);
            return false;
        }
        struct pollfd fds[] = {{b->child.socket, POLLIN, 0}, {b->child.errors, POLLIN, 0}};
        poll(fds, 2, (int)((end - now) / MS) + 1);
        cuzk_child_hear_errors(&b->child);
        if (!cuzk_child_hear(&b->child, &hello, &empty, why)) {
            return false;
        }
        if (!empty) {
            return true;
        }
    }
}

static void start(worker_backend *b)
{
    cuzk_err err = {0};
    char why[200], how[200];
    b->wanted = false;
    b->state = STARTING;
    pthread_mutex_unlock(&b->mu);
    bool up = cuzk_child_start(&b->child, b->argv, &err) == CUZK_OK;
    snprintf(why, sizeof why, "%.190s", err.msg);
    if (up && !await_hello(b, why)) {
        up = false;
        cuzk_child_end(&b->child, how);
        snprintf(err.msg, sizeof err.msg, "%.60s does not start (%.90s; %.180s)", b->argv[0], why,
                 how);
    }
    pthread_mutex_lock(&b->mu);
    b->served = 0;
    b->state = up ? UP : DOWN;
    if (!up) {
        snprintf(b->why_down, sizeof b->why_down, "%.290s", err.msg);
        back_off(b);
    }
    pthread_cond_broadcast(&b->changed);
    tell(b, (int)b->child.pid, up ? NULL : b->why_down);
}

/* Gives a reply to its call; false when there is none that it could be for. */
static bool deliver(worker_backend *b, const cuzk_wire_reply *r)
{
    call *c = b->calls;
    while (c && c->id != r->id) {
        c = c->next;
    }
    if (!c || c->kind != r->kind) {
        return false;
    }
    *c->ret = *r;
    b->served++;
    b->failures = 0;
    end_call(b, c, CUZK_OK, "");
    pthread_cond_broadcast(&b->changed);
    return true;
}

static void hear(worker_backend *b)
{
    char why[200];
    for (;;) {
        cuzk_wire_reply r;
        bool empty;
        if (!cuzk_child_hear(&b->child, &r, &empty, why)) {
            lose(b, why);
            return;
        }
        if (empty) {
            return;
        }
        if (!deliver(b, &r)) {
            lose(b, "it answered what nobody asked");
            return;
        }
    }
}

/* The call whose time is up first. */
static call *first_due(const worker_backend *b)
{
    call *due = NULL;
    for (call *c = b->calls; c; c = c->next) {
        if (c->deadline_ns && (!due || c->deadline_ns < due->deadline_ns)) {
            due = c;
        }
    }
    return due;
}

static void cut_overdue(worker_backend *b)
{
    uint64_t now = cuzk_clock_ns();
    bool any = false;
    for (call *c = first_due(b); c && c->deadline_ns <= now; c = first_due(b)) {
        end_call(b, c, CUZK_E_TIMEOUT, "the deadline passed; the worker process was killed");
        any = true;
    }
    if (any) {
        lose(b, "a call took longer than its deadline");
    }
}

static int wait_ms(const worker_backend *b)
{
    const call *due = first_due(b);
    uint64_t now = cuzk_clock_ns();
    if (!due) {
        return -1;
    }
    uint64_t ms = due->deadline_ns > now ? (due->deadline_ns - now) / MS + 1 : 0;
    return ms < 1000000 ? (int)ms : 1000000;
}

/* Says goodbye and waits a little. */
static void farewell(worker_backend *b)
{
    char how[200];
    if (b->state == UP) {
        cuzk_wire_request q = {
            .magic = CUZK_WIRE_MAGIC, .version = CUZK_WIRE_VERSION, .kind = CUZK_WIRE_GOODBYE};
        if (send(b->child.socket, &q, sizeof q, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof q) {
            cuzk_child_await(&b->child, b->options.farewell_ms);
        }
        cuzk_child_end(&b->child, how);
        b->state = DOWN;
    }
}

static void *supervise(void *ctx)
{
    worker_backend *b = ctx;
    pthread_mutex_lock(&b->mu);
    while (!b->closing) {
        if (b->state == DOWN && b->wanted) {
            start(b);
            continue;
        }
        bool up = b->state == UP;
        struct pollfd fds[] = {{b->wake, POLLIN, 0},
                               {up ? b->child.socket : -1, POLLIN, 0},
                               {up ? b->child.errors : -1, POLLIN, 0}};
        int ms = wait_ms(b);
        pthread_mutex_unlock(&b->mu);
        poll(fds, 3, ms);
        uint64_t count;
        if ((fds[0].revents & POLLIN) && read(b->wake, &count, sizeof count) < 0) {
            count = 0; /* another wake-up took it: there is none to take */
        }
        cuzk_child_hear_errors(&b->child);
        pthread_mutex_lock(&b->mu);
        if (up) {
            hear(b);
            cut_overdue(b);
        }
    }
    farewell(b);
    pthread_mutex_unlock(&b->mu);
    return NULL;
}

/* ---- calls ---- */

/* Waits until there is a child; with the mutex. */
static cuzk_code want_child(worker_backend *b, cuzk_err *err)
{
    while (b->state != UP) {
        uint64_t now = cuzk_clock_ns();
        if (b->state == DOWN && !b->wanted && now < b->not_before_ns) {
            return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "%.260s; the next start is in %" PRIu64 " ms",
                             b->why_down, (b->not_before_ns - now) / MS + 1);
        }
        if (b->state == DOWN) {
            b->wanted = true;
            nudge(b);
        }
        pthread_cond_wait(&b->changed, &b->mu);
    }
    return CUZK_OK;
}

static cuzk_code send_request(const worker_backend *b, const cuzk_wire_request *q, int memory,
                              cuzk_err *err)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {(void *)(uintptr_t)q, sizeof *q};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (memory >= 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = sizeof control.bytes;
        struct cmsghdr *h = CMSG_FIRSTHDR(&m);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(h), &memory, sizeof memory);
    }
    if (sendmsg(b->child.socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *q) {
        return CUZK_OK;
    }
    bool gone = errno == EPIPE || errno == ECONNRESET;
    return CUZK_FAIL(err,
                     gone              ? CUZK_E_UNAVAILABLE
                     : errno == EAGAIN ? CUZK_E_FULL
                                       : CUZK_E_IO,
                     "cannot reach the worker process: %s", strerror(errno));
}

/* Sends the request and waits for its reply, which is CUZK_OK when this is. */
static cuzk_code exchange(worker_backend *b, cuzk_wire_request *q, int memory, cuzk_wire_reply *ret,
                          cuzk_err *err)
{
    call c = {.kind = q->kind, .deadline_ns = q->deadline_ns, .ret = ret};
    q->magic = CUZK_WIRE_MAGIC;
    q->version = CUZK_WIRE_VERSION;
    pthread_mutex_lock(&b->mu);
    cuzk_code code = want_child(b, err);
    if (code == CUZK_OK && q->deadline_ns && cuzk_clock_ns() >= q->deadline_ns) {
        code = CUZK_FAIL(err, CUZK_E_TIMEOUT, "the deadline passed before the call was made");
    }
    if (code == CUZK_OK && b->n_calls >= CUZK_WIRE_CALLS) {
        code =
            CUZK_FAIL(err, CUZK_E_FULL, "%u calls are in work in the worker process", b->n_calls);
    }
    if (code == CUZK_OK) {
        q->id = c.id = ++b->last_id;
        code = send_request(b, q, memory, err);
    }
    if (code == CUZK_E_UNAVAILABLE) { /* when this returns, the next call gets a new child */
        uint64_t losses = b->losses;
        while (b->state == UP && b->losses == losses) {
            pthread_cond_wait(&b->changed, &b->mu);
        }
    }
    if (code == CUZK_OK) {
        c.next = b->calls;
        b->calls = &c;
        b->n_calls++;
        nudge(b); /* for the deadline */
        while (!c.done) {
            pthread_cond_wait(&b->changed, &b->mu);
        }
        code = c.code == CUZK_OK ? CUZK_OK : CUZK_FAIL(err, c.code, "%s", c.why);
    }
    pthread_mutex_unlock(&b->mu);
    if (code == CUZK_OK && ret->code != CUZK_OK) {
        return CUZK_FAIL(err, (cuzk_code)ret->code, "%s", ret->msg);
    }
    return code;
}

static cuzk_code copy_text(char *ret, size_t max, const char *text, const char *what, cuzk_err *err)
{
    size_t n = strlen(text);
    if (n >= max) {
        return CUZK_FAIL(err, CUZK_E_ARG, "%s: a name of %zu bytes, at most %zu", what, n, max - 1);
    }
    memcpy(ret, text, n + 1);
    return CUZK_OK;
}

static cuzk_code name_files(cuzk_wire_request *q, const cuzk_circuit_files *files, cuzk_err *err)
{
    CUZK_TRY(copy_text(q->circuit, sizeof q->circuit, files->circuit, "circuit", err));
    CUZK_TRY(copy_text(q->shape, sizeof q->shape, files->shape, "circuit file", err));
    return copy_text(q->params, sizeof q->params, files->params, "key file", err);
}

static cuzk_code worker_info(cuzk_backend *base, cuzk_device_info *ret, cuzk_err *err)
{
    worker_backend *b = worker_of(base);
    cuzk_wire_request q = {.kind = CUZK_WIRE_INFO,
                           .deadline_ns = cuzk_clock_ns() + b->options.call_ms * MS};
    cuzk_wire_reply r;
    CUZK_TRY(exchange(b, &q, -1, &r, err));
    r.is.info.backend[sizeof r.is.info.backend - 1] = 0;
    r.is.info.name[sizeof r.is.info.name - 1] = 0;
    pthread_mutex_lock(&b->mu);
    r.is.info.losses = b->losses;
    pthread_mutex_unlock(&b->mu);
    *ret = r.is.info;
    return CUZK_OK;
}

static cuzk_code worker_cost(cuzk_backend *base, cuzk_circuit_cost *ret,
                             const cuzk_circuit_files *files, cuzk_err *err)
{
    worker_backend *b = worker_of(base);
    cuzk_wire_request q = {.kind = CUZK_WIRE_COST,
                           .deadline_ns = cuzk_clock_ns() + b->options.call_ms * MS};
    cuzk_wire_reply r;
    CUZK_TRY(name_files(&q, files, err));
    CUZK_TRY(exchange(b, &q, -1, &r, err));
    *ret = r.is.cost;
    return CUZK_OK;
}

static cuzk_code worker_load(cuzk_backend *base, cuzk_load_times *ret,
                             const cuzk_circuit_files *files, cuzk_err *err)
{
    worker_backend *b = worker_of(base);
    cuzk_wire_request q = {.kind = CUZK_WIRE_LOAD,
                           .deadline_ns = cuzk_clock_ns() + b->options.load_ms * MS};
    cuzk_wire_reply r;
    CUZK_TRY(name_files(&q, files, err));
    CUZK_TRY(exchange(b, &q, -1, &r, err));
    *ret = r.is.load;
    return CUZK_OK;
}

static cuzk_code worker_unload(cuzk_backend *base, const char *circuit, bool *ret_was_loaded,
                               cuzk_err *err)
{
    worker_backend *b = worker_of(base);
    cuzk_wire_request q = {.kind = CUZK_WIRE_UNLOAD,
                           .deadline_ns = cuzk_clock_ns() + b->options.call_ms * MS};
    cuzk_wire_reply r;
    CUZK_TRY(copy_text(q.circuit, sizeof q.circuit, circuit, "circuit", err));
    CUZK_TRY(exchange(b, &q, -1, &r, err));
    *ret_was_loaded = r.is.was_loaded != 0;
    return CUZK_OK;
}

/* ---- memory of ports ---- */

/* A region of at least n bytes: one that is kept, else a new one in the place of one too small. */
static cuzk_region *region_take(worker_backend *b, size_t n)
{
    pthread_mutex_lock(&b->mu);
    cuzk_region **at = &b->regions;
    while (*at && (*at)->n < n && (*at)->next) {
        at = &(*at)->next;
    }
    cuzk_region *r = *at;
    if (r) {
        *at = r->next;
    }
    pthread_mutex_unlock(&b->mu);
    if (r && r->n < n) {
        cuzk_region_free(r);
        r = NULL;
    }
    return r ? r : cuzk_region_new(n);
}

static void region_keep(worker_backend *b, cuzk_region *r)
{
    pthread_mutex_lock(&b->mu);
    r->next = b->regions;
    b->regions = r;
    pthread_mutex_unlock(&b->mu);
}

static cuzk_code worker_prove(cuzk_backend *base, cuzk_partition_result *ret,
                              const cuzk_partition_task *task, cuzk_err *err)
{
    worker_backend *b = worker_of(base);
    cuzk_wire_request q = {.kind = CUZK_WIRE_PROVE,
                           .deadline_ns = task->deadline_ns,
                           .inputs_bytes = task->inputs.n,
                           .records_bytes = task->records.n};
    cuzk_wire_reply r;
    CUZK_TRY(copy_text(q.circuit, sizeof q.circuit, task->circuit, "circuit", err));
    memcpy(q.r, task->r, sizeof q.r);
    memcpy(q.s, task->s, sizeof q.s);
    cuzk_region *ports = region_take(b, task->inputs.n + task->records.n + 1);
    if (!ports) {
        cuzk_wipe(&q, sizeof q);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no shared memory for %zu bytes of ports",
                         task->inputs.n + task->records.n);
    }
    memcpy(ports->p, task->inputs.p, task->inputs.n);
    memcpy(ports->p + task->inputs.n, task->records.p, task->records.n);
    cuzk_code code = exchange(b, &q, ports->fd, &r, err);
    cuzk_wipe(&q, sizeof q);
    region_keep(b, ports);
    if (code == CUZK_OK) {
        *ret = r.is.result;
    }
    return code;
}

/* ---- opening and closing ---- */

static void worker_free(worker_backend *b)
{
    for (cuzk_region *r = b->regions, *next; r; r = next) {
        next = r->next;
        cuzk_region_free(r);
    }
    for (size_t i = 0; b->argv && b->argv[i]; i++) {
        free(b->argv[i]);
    }
    free(b->argv);
    if (b->wake >= 0) {
        close(b->wake);
    }
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mu);
    free(b);
}

static void worker_close(cuzk_backend *base)
{
    worker_backend *b = worker_of(base);
    pthread_mutex_lock(&b->mu);
    b->closing = true;
    nudge(b);
    pthread_mutex_unlock(&b->mu);
    pthread_join(b->thread, NULL);
    worker_free(b);
}

static bool copy_argv(worker_backend *b, const char *const *argv)
{
    size_t n = 0;
    while (argv[n]) {
        n++;
    }
    b->argv = calloc(n + 1, sizeof(char *));
    for (size_t i = 0; b->argv && i < n; i++) {
        b->argv[i] = strdup(argv[i]);
        if (!b->argv[i]) {
            return false;
        }
    }
    return b->argv != NULL;
}

static void set_default(uint64_t *v, uint64_t otherwise) { *v = *v ? *v : otherwise; }

cuzk_code cuzk_backend_worker_open(cuzk_backend **ret, const cuzk_worker_options *options,
                                   cuzk_err *err)
{
    static const cuzk_backend_ops ops = {
        .info = worker_info,
        .cost = worker_cost,
        .load = worker_load,
        .unload = worker_unload,
        .prove = worker_prove,
        .close = worker_close,
    };
    worker_backend *b = calloc(1, sizeof *b);
    if (!b) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a worker");
    }
    b->base.ops = &ops;
    b->options = *options;
    set_default(&b->options.start_ms, 30000);
    set_default(&b->options.load_ms, 3600000);
    set_default(&b->options.call_ms, 600000);
    set_default(&b->options.backoff_ms, 500);
    set_default(&b->options.farewell_ms, 5000);
    b->child = (cuzk_child){.socket = -1, .errors = -1};
    pthread_mutex_init(&b->mu, NULL);
    pthread_cond_init(&b->changed, NULL);
    b->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (b->wake < 0 || !copy_argv(b, options->argv) ||
        pthread_create(&b->thread, NULL, supervise, b) != 0) {
        worker_free(b);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no descriptor, memory or thread for a worker");
    }
    pthread_setname_np(b->thread, "worker-watch");
    *ret = &b->base;
    return CUZK_OK;
}
