#include "observe/timeline.h"

#include "base/system.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/*
 * Slot i of the ring holds the events whose seq is i modulo the ring's size, one at a time. Its
 * stamp is 2 seq + 1 while event seq is being written and 2 seq + 2 when it is there (0: none yet),
 * and only grows. A writer takes its seq from `head` and the slot by a compare-and-swap of an even
 * stamp; if the writer of the lap before has not finished, the event is dropped and the slot says
 * so. A reader copies the words and trusts them if the stamp was the same before and after: words
 * are stored with release and loaded with acquire so that neither crosses the stamp.
 */

enum { DETAIL_WORDS = CUZK_EVENT_DETAIL / 8, WORDS = 5 + DETAIL_WORDS };

typedef struct slot {
    alignas(128) _Atomic uint64_t stamp;
    _Atomic uint64_t dropped; /* 1 + the last seq that was dropped here; 0: none */
    _Atomic uint64_t word[WORDS];
} slot;

/* How long the drain thread lets events gather. */
enum { PACE_MS = 4 };

struct cuzk_timeline {
    alignas(128) _Atomic uint64_t head;    /* next seq */
    alignas(128) atomic_bool drain_sleeps; /* the next event must wake the drain thread */
    slot *ring;
    uint64_t mask; /* of the ring's size */
    uint64_t epoch_ns, epoch_wall_us;
    cuzk_timeline_sink *sink;
    void *sink_ctx;

    pthread_mutex_t names_mu;
    cuzk_job_name *names; /* guarded by names_mu: [number % max_jobs]; number 0: free */
    size_t max_jobs;

    int wake_fd; /* eventfd: events after a sleep, flush, stop */
    pthread_t drain;
    pthread_mutex_t mu;
    pthread_cond_t pace;    /* flush_to or stop changed */
    pthread_cond_t drained; /* drained_to changed */
    uint64_t drained_to;    /* guarded by mu: events before it are with the sink */
    uint64_t flush_to;      /* guarded by mu: somebody waits for this */
    bool stop;              /* guarded by mu */
};

/* The name table ------------------------------------------------------------------------------ */

static void copy_cut(char *to, size_t cap, const char *from)
{
    size_t n = from ? strnlen(from, cap - 1) : 0;
    if (n) {
        memcpy(to, from, n);
    }
    memset(to + n, 0, cap - n);
}

void cuzk_timeline_job(cuzk_timeline *t, uint64_t number, const char *id, const char *kind_name)
{
    if (!t || number == 0) {
        return;
    }
    pthread_mutex_lock(&t->names_mu);
    cuzk_job_name *name = &t->names[number % t->max_jobs];
    if (name->number <= number) { /* an older job does not drive out a newer one */
        name->number = number;
        copy_cut(name->id, sizeof name->id, id);
        copy_cut(name->kind, sizeof name->kind, kind_name);
    }
    pthread_mutex_unlock(&t->names_mu);
}

bool cuzk_timeline_job_name(cuzk_timeline *t, uint64_t number, cuzk_job_name *ret)
{
    if (number == 0) {
        return false;
    }
    pthread_mutex_lock(&t->names_mu);
    const cuzk_job_name *name = &t->names[number % t->max_jobs];
    bool found = name->number == number;
    if (found) {
        *ret = *name;
    }
    pthread_mutex_unlock(&t->names_mu);
    return found;
}

/* Writing ------------------------------------------------------------------------------------- */

static void put_words(slot *s, const uint64_t head[5], const char *detail)
{
    for (int i = 0; i < 5; i++) {
        atomic_store_explicit(&s->word[i], head[i], memory_order_release);
    }
    size_t n = detail ? strnlen(detail, CUZK_EVENT_DETAIL - 1) : 0;
    size_t used = n / 8 + 1; /* the words up to the NUL */
    uint64_t words[DETAIL_WORDS] = {0};
    if (n) {
        memcpy(words, detail, n);
    }
    for (size_t i = 0; i < used; i++) {
        atomic_store_explicit(&s->word[5 + i], words[i], memory_order_release);
    }
}

static void say_dropped(slot *s, uint64_t seq)
{
    uint64_t old = atomic_load_explicit(&s->dropped, memory_order_relaxed);
    while (old < seq + 1 &&
           !atomic_compare_exchange_weak_explicit(&s->dropped, &old, seq + 1, memory_order_release,
                                                  memory_order_relaxed)) {
    }
}

static void wake_drain(cuzk_timeline *t)
{
    uint64_t one = 1;
    ssize_t n = write(t->wake_fd, &one, sizeof one);
    (void)n; /* a full counter wakes as well */
}

void cuzk_timeline_record_at(cuzk_timeline *t, uint64_t mono_ns, cuzk_event_kind kind, uint64_t job,
                             int32_t partition, int16_t worker, int16_t device, int64_t value,
                             const char *detail)
{
    if (!t) {
        return;
    }
    uint64_t t_us = mono_ns > t->epoch_ns ? (mono_ns - t->epoch_ns) / 1000 : 0;
    uint64_t words[5] = {t_us, job,
                         (uint64_t)(uint32_t)partition | (uint64_t)(uint16_t)worker << 32 |
                             (uint64_t)(uint16_t)device << 48,
                         (uint64_t)value, (uint64_t)kind};
    /* Sequentially consistent, like the two accesses to drain_sleeps: either the drain thread sees
     * the new head before it sleeps, or this thread sees that it sleeps. */
    uint64_t seq = atomic_fetch_add(&t->head, 1);
    slot *s = &t->ring[seq & t->mask];
    uint64_t stamp = atomic_load_explicit(&s->stamp, memory_order_relaxed);
    if (stamp % 2 == 0 && stamp <= 2 * seq &&
        atomic_compare_exchange_strong_explicit(&s->stamp, &stamp, 2 * seq + 1,
                                                memory_order_acq_rel, memory_order_relaxed)) {
        put_words(s, words, detail);
        atomic_store_explicit(&s->stamp, 2 * seq + 2, memory_order_release);
    } else {
        say_dropped(s, seq);
    }
    if (atomic_load(&t->drain_sleeps) && atomic_exchange(&t->drain_sleeps, false)) {
        wake_drain(t);
    }
}

void cuzk_timeline_record(cuzk_timeline *t, cuzk_event_kind kind, uint64_t job, int32_t partition,
                          int16_t worker, int16_t device, int64_t value, const char *detail)
{
    cuzk_timeline_record_at(t, cuzk_clock_ns(), kind, job, partition, worker, device, value,
                            detail);
}

/* Reading ------------------------------------------------------------------------------------- */

typedef enum outcome { GOT, GONE, PENDING } outcome;

static outcome read_slot(slot *s, uint64_t seq, cuzk_event *e)
{
    uint64_t before = atomic_load_explicit(&s->stamp, memory_order_acquire);
    if (before > 2 * seq + 2) {
        return GONE;
    }
    if (before < 2 * seq + 2) {
        /* Dropped slots are only looked at here: a seq that was dropped never gets its stamp. */
        return atomic_load_explicit(&s->dropped, memory_order_acquire) >= seq + 1 ? GONE : PENDING;
    }
    uint64_t w[WORDS];
    for (int i = 0; i < WORDS; i++) {
        w[i] = atomic_load_explicit(&s->word[i], memory_order_acquire);
    }
    if (atomic_load_explicit(&s->stamp, memory_order_relaxed) != before) {
        return GONE;
    }
    *e = (cuzk_event){.seq = seq,
                      .t_us = w[0],
                      .job = w[1],
                      .partition = (int32_t)(uint32_t)w[2],
                      .worker = (int16_t)(uint16_t)(w[2] >> 32),
                      .device = (int16_t)(uint16_t)(w[2] >> 48),
                      .value = (int64_t)w[3],
                      .kind = (uint8_t)w[4]};
    /* The writer left alone the words after the NUL. */
    char detail[CUZK_EVENT_DETAIL];
    memcpy(detail, &w[5], sizeof detail);
    memcpy(e->detail, detail, strnlen(detail, sizeof detail - 1));
    return GOT;
}

size_t cuzk_timeline_read(cuzk_timeline *t, uint64_t *cursor, uint64_t job, cuzk_event *ret,
                          size_t cap, uint64_t *lost)
{
    uint64_t head = atomic_load_explicit(&t->head, memory_order_acquire);
    uint64_t at = *cursor, size = t->mask + 1;
    if (head > size && at < head - size) {
        *lost += head - size - at;
        at = head - size;
    }
    size_t n = 0;
    for (; at < head && n < cap; at++) {
        cuzk_event e;
        outcome o = read_slot(&t->ring[at & t->mask], at, &e);
        if (o == PENDING) {
            break;
        }
        if (o == GONE) {
            ++*lost;
        } else if (job == 0 || e.job == job) {
            ret[n++] = e;
        }
    }
    *cursor = at;
    return n;
}

uint64_t cuzk_timeline_next(const cuzk_timeline *t)
{
    return atomic_load_explicit(&t->head, memory_order_acquire);
}

uint64_t cuzk_timeline_oldest(const cuzk_timeline *t)
{
    uint64_t next = cuzk_timeline_next(t), size = t->mask + 1;
    return next > size ? next - size : 0;
}

static bool is_there(cuzk_timeline *t, uint64_t cursor)
{
    cuzk_event e;
    return cursor < cuzk_timeline_next(t) &&
           read_slot(&t->ring[cursor & t->mask], cursor, &e) != PENDING;
}

static struct timespec ms_from_now(unsigned ms)
{
    uint64_t ns = cuzk_clock_ns() + (uint64_t)ms * 1000000;
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

bool cuzk_timeline_wait(cuzk_timeline *t, uint64_t cursor, unsigned timeout_ms)
{
    if (is_there(t, cursor)) {
        return true;
    }
    struct timespec until = ms_from_now(timeout_ms);
    int status = 0;
    pthread_mutex_lock(&t->mu);
    while (t->drained_to <= cursor && status != ETIMEDOUT) {
        status = pthread_cond_timedwait(&t->drained, &t->mu, &until);
    }
    bool there = t->drained_to > cursor;
    pthread_mutex_unlock(&t->mu);
    return there;
}

void cuzk_timeline_flush(cuzk_timeline *t)
{
    uint64_t target = cuzk_timeline_next(t);
    pthread_mutex_lock(&t->mu);
    if (t->flush_to < target) {
        t->flush_to = target;
    }
    pthread_cond_signal(&t->pace);
    wake_drain(t);
    while (t->drained_to < target) {
        pthread_cond_wait(&t->drained, &t->mu);
    }
    pthread_mutex_unlock(&t->mu);
}

/* The drain thread ---------------------------------------------------------------------------- */

static void sink_lost(cuzk_timeline *t, uint64_t lost)
{
    char json[CUZK_EVENT_JSON_MAX];
    int n = snprintf(json, sizeof json, "{\"target\":\"TIMELINE\",\"lost\":%" PRIu64 "}", lost);
    t->sink(t->sink_ctx, json, (size_t)n);
}

/* Hands one batch to the sink; returns the cursor after it. */
static uint64_t drain_batch(cuzk_timeline *t, uint64_t cursor)
{
    cuzk_event batch[64];
    uint64_t lost = 0;
    size_t n = cuzk_timeline_read(t, &cursor, 0, batch, sizeof batch / sizeof batch[0], &lost);
    if (t->sink && lost) {
        sink_lost(t, lost);
    }
    for (size_t i = 0; t->sink && i < n; i++) {
        char json[CUZK_EVENT_JSON_MAX];
        cuzk_job_name name;
        bool named = cuzk_timeline_job_name(t, batch[i].job, &name);
        size_t len = cuzk_event_json(json, &batch[i], named ? &name : NULL);
        t->sink(t->sink_ctx, json, len);
    }
    return cursor;
}

static void publish(cuzk_timeline *t, uint64_t cursor)
{
    pthread_mutex_lock(&t->mu);
    if (t->drained_to != cursor) {
        t->drained_to = cursor;
        pthread_cond_broadcast(&t->drained);
    }
    pthread_mutex_unlock(&t->mu);
}

/* Drains all that there is; what it stops at is being written. */
static uint64_t drain_all(cuzk_timeline *t, uint64_t cursor)
{
    uint64_t before;
    do {
        before = cursor;
        cursor = drain_batch(t, before);
        publish(t, cursor);
    } while (cursor != before);
    return cursor;
}

/* Lets events gather, for less long when somebody waits; false: stop. */
static bool pace(cuzk_timeline *t, uint64_t cursor)
{
    pthread_mutex_lock(&t->mu);
    bool behind = cursor < cuzk_timeline_next(t);
    bool hurry = t->stop || t->flush_to > cursor;
    if (!hurry || behind) {
        struct timespec until = ms_from_now(hurry ? 1 : PACE_MS);
        pthread_cond_timedwait(&t->pace, &t->mu, &until);
    }
    bool go_on = !t->stop || cursor < cuzk_timeline_next(t);
    pthread_mutex_unlock(&t->mu);
    return go_on;
}

static void sleep_until_event(cuzk_timeline *t, uint64_t cursor)
{
    atomic_store(&t->drain_sleeps, true);
    if (atomic_load(&t->head) == cursor) {
        struct pollfd fd = {.fd = t->wake_fd, .events = POLLIN};
        poll(&fd, 1, -1);
    }
    atomic_store(&t->drain_sleeps, false);
    uint64_t count;
    ssize_t n = read(t->wake_fd, &count, sizeof count);
    (void)n; /* nothing to read: it did not sleep */
}

static void *drain_main(void *arg)
{
    cuzk_timeline *t = arg;
    uint64_t cursor = 0;
    do {
        if (cursor == atomic_load(&t->head)) {
            sleep_until_event(t, cursor);
        }
        cursor = drain_all(t, cursor);
    } while (pace(t, cursor));
    return NULL;
}

/* Creation ------------------------------------------------------------------------------------ */

static void release(cuzk_timeline *t)
{
    if (t->wake_fd >= 0) {
        close(t->wake_fd);
    }
    free(t->ring);
    free(t->names);
    free(t);
}

static void make_locks(cuzk_timeline *t)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->names_mu, NULL);
    pthread_mutex_init(&t->mu, NULL);
    pthread_cond_init(&t->pace, &monotonic);
    pthread_cond_init(&t->drained, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void destroy_locks(cuzk_timeline *t)
{
    pthread_cond_destroy(&t->drained);
    pthread_cond_destroy(&t->pace);
    pthread_mutex_destroy(&t->mu);
    pthread_mutex_destroy(&t->names_mu);
}

static cuzk_code allocate(cuzk_timeline **ret, const cuzk_timeline_options *o, cuzk_err *err)
{
    unsigned log2 = o->ring_log2 ? o->ring_log2 : 16;
    if (log2 > 24) {
        return CUZK_FAIL(err, CUZK_E_ARG, "a timeline of 2^%u events: at most 2^24", log2);
    }
    cuzk_timeline *t = aligned_alloc(alignof(cuzk_timeline), sizeof *t);
    if (!t) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a timeline");
    }
    memset(t, 0, sizeof *t);
    t->mask = ((uint64_t)1 << log2) - 1;
    t->max_jobs = o->max_jobs ? o->max_jobs : 4096;
    t->sink = o->sink;
    t->sink_ctx = o->sink_ctx;
    size_t bytes = sizeof(slot) << log2;
    t->ring = aligned_alloc(alignof(slot), bytes);
    t->names = calloc(t->max_jobs, sizeof *t->names);
    t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!t->ring || !t->names || t->wake_fd < 0) {
        int why = errno;
        release(t);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory or descriptor for a timeline: %s",
                         strerror(why));
    }
    memset(t->ring, 0, bytes); /* touched now, not by the first lap of events */
    *ret = t;
    return CUZK_OK;
}

static uint64_t wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

cuzk_code cuzk_timeline_new(cuzk_timeline **ret, const cuzk_timeline_options *options,
                            cuzk_err *err)
{
    cuzk_timeline *t;
    CUZK_TRY(allocate(&t, options ? options : &(cuzk_timeline_options){0}, err));
    make_locks(t);
    t->epoch_ns = cuzk_clock_ns();
    t->epoch_wall_us = wall_us();
    if (t->sink) {
        char json[CUZK_EVENT_JSON_MAX];
        t->sink(t->sink_ctx, json, cuzk_epoch_json(json, t->epoch_wall_us));
    }
    int status = pthread_create(&t->drain, NULL, drain_main, t);
    if (status != 0) {
        destroy_locks(t);
        release(t);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no thread for a timeline: %s", strerror(status));
    }
    pthread_setname_np(t->drain, "timeline");
    *ret = t;
    return CUZK_OK;
}

void cuzk_timeline_free(cuzk_timeline *t)
{
    if (!t) {
        return;
    }
    pthread_mutex_lock(&t->mu);
    t->stop = true;
    pthread_cond_signal(&t->pace);
    pthread_mutex_unlock(&t->mu);
    wake_drain(t);
    pthread_join(t->drain, NULL);
    destroy_locks(t);
    release(t);
}

uint64_t cuzk_timeline_now_us(const cuzk_timeline *t)
{
    return (cuzk_clock_ns() - t->epoch_ns) / 1000;
}

uint64_t cuzk_timeline_epoch_ns(const cuzk_timeline *t) { return t->epoch_ns; }

uint64_t cuzk_timeline_epoch_wall_us(const cuzk_timeline *t) { return t->epoch_wall_us; }
