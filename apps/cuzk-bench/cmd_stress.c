#include "bench.h"

#include "base/system.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Jobs of several kinds arrive at given rates, whether or not the daemon keeps up: an open loop, as
 * storage providers' deadlines are one.
 */

enum { STREAMS_MAX = 16, RATE_MAX = 1000000, CLIENTS_MAX = 1024, KEY_JOB = 0x5000, KEY_DURATION };

/* One kind of job. */
typedef struct stream {
    char *spec; /* what proof.* point into; owned */
    bench_proof_args args;
    bench_proof proof;
    double per_minute;
    uint64_t next_ns; /* when the next one is due */
    unsigned submitted, completed, failed, skipped;
    double *latency_s; /* of the completed ones */
    size_t n, cap;
} stream;

typedef struct arrival {
    unsigned stream;
    uint64_t due_ns;
} arrival;

typedef struct load {
    bench_target target;
    stream streams[STREAMS_MAX];
    unsigned n_streams;
    uint64_t duration_s, clients;
    pthread_mutex_t mu;
    pthread_cond_t due;         /* an arrival, or the end */
    arrival queue[CLIENTS_MAX]; /* waiting for a client; guarded by mu, and so are the counts */
    size_t first, queued;
    bool over;
    cuzk_code code; /* of the first call that failed */
    cuzk_err err;
} load;

/* ---- options ---- */

static const struct argp_option list[] = {
    {"job", KEY_JOB, "SPEC", 0,
     "A kind of job: rate=N (a minute) and the options of `single', without dashes, comma between "
     "them; may be repeated",
     0},
    {"duration", KEY_DURATION, "SECONDS", 0, "For how long jobs arrive (default 60)", 0},
    {"concurrency", 'j', "N", 0, "Most jobs at a time (default 64); those above are skipped", 0},
    {0},
};

/* "type=wpost,rate=30,vanilla=a.vproof": the text is cut at its commas. */
static cuzk_code parse_spec(stream *s, const char *text, cuzk_err *err)
{
    s->spec = strdup(text);
    if (!s->spec) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for --job");
    }
    for (char *rest = s->spec, *part; (part = strsep(&rest, ","));) {
        char *value = strchr(part, '=');
        if (!value) {
            return CUZK_FAIL(err, CUZK_E_ARG, "--job: expected NAME=VALUE, found \"%s\"", part);
        }
        *value++ = '\0';
        if (strcmp(part, "rate") == 0) {
            char *end;
            s->per_minute = strtod(value, &end);
            if (*end || !(s->per_minute > 0 && s->per_minute <= RATE_MAX)) {
                return CUZK_FAIL(err, CUZK_E_ARG, "--job: rate is a number up to %d, not \"%s\"",
                                 RATE_MAX, value);
            }
        } else if (!bench_proof_option(&s->args, part, value)) {
            return CUZK_FAIL(err, CUZK_E_ARG, "--job: \"%s\" is not an option of a job", part);
        }
    }
    return s->per_minute > 0 ? CUZK_OK : CUZK_FAIL(err, CUZK_E_ARG, "--job: rate=N is missing");
}

typedef struct options {
    load *load;
    const char *duration, *concurrency;
    const char *jobs[STREAMS_MAX];
    unsigned n_jobs;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_JOB:
        if (o->n_jobs == STREAMS_MAX) {
            argp_error(state, "more than %d --job", STREAMS_MAX);
        } else {
            o->jobs[o->n_jobs++] = arg;
        }
        return 0;
    case KEY_DURATION:
        o->duration = arg;
        return 0;
    case 'j':
        o->concurrency = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = list,
    .parser = parse,
    .doc = "Lets jobs of several kinds arrive at given rates and shows how long each kind took.\v"
           "  cuzk-bench stress --duration 60 --job type=porep,c1=c1.json,rate=2 \\\n"
           "    --job type=winning,vanilla=w.vproof,sector-size=2KiB,rate=10",
};

static cuzk_code open_load(load *l, const options *o, cuzk_err *err)
{
    l->duration_s = 60;
    l->clients = 64;
    if (o->duration) {
        CUZK_TRY(bench_number(&l->duration_s, o->duration, "--duration", 1, 1000000, err));
    }
    if (o->concurrency) {
        CUZK_TRY(bench_number(&l->clients, o->concurrency, "--concurrency", 1, CLIENTS_MAX, err));
    }
    if (o->n_jobs == 0) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--job is missing");
    }
    for (unsigned i = 0; i < o->n_jobs; i++) {
        stream *s = &l->streams[l->n_streams++];
        CUZK_TRY(parse_spec(s, o->jobs[i], err));
        CUZK_TRY(bench_proof_open(&s->proof, &s->args, err));
    }
    return CUZK_OK;
}

/* ---- clients ---- */

/* With the mutex held. */
static void count(load *l, stream *s, const bench_result *r, uint64_t due_ns)
{
    if (r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
        s->failed++;
        return;
    }
    s->completed++;
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 256;
        double *grown = realloc(s->latency_s, cap * sizeof *grown);
        if (!grown) {
            l->code = CUZK_FAIL(&l->err, CUZK_E_MEMORY, "no memory for %zu times", cap);
            return;
        }
        s->latency_s = grown;
        s->cap = cap;
    }
    s->latency_s[s->n++] = (double)(cuzk_clock_ns() - due_ns) / 1e9;
}

static cuzk_code prove(load *l, cuzk_rpc_client *client, arrival a, cuzk_err *err)
{
    bench_result r;
    stream *s = &l->streams[a.stream];
    CUZK_TRY(bench_prove(client, &s->proof, &r, err));
    pthread_mutex_lock(&l->mu);
    count(l, s, &r, a.due_ns);
    pthread_mutex_unlock(&l->mu);
    bench_result_clear(&r);
    return CUZK_OK;
}

static bool take(load *l, arrival *ret)
{
    pthread_mutex_lock(&l->mu);
    while (l->queued == 0 && !l->over) {
        pthread_cond_wait(&l->due, &l->mu);
    }
    bool found = l->queued > 0;
    if (found) {
        *ret = l->queue[l->first];
        l->first = (l->first + 1) % CLIENTS_MAX;
        l->queued--;
    }
    pthread_mutex_unlock(&l->mu);
    return found;
}

static void *client_loop(void *arg)
{
    load *l = arg;
    cuzk_err err;
    cuzk_rpc_client *client = NULL;
    arrival a;
    cuzk_code code = bench_connect(&client, &l->target, &err);
    while (code == CUZK_OK && take(l, &a)) {
        code = prove(l, client, a, &err);
    }
    cuzk_rpc_client_close(client);
    pthread_mutex_lock(&l->mu);
    if (code != CUZK_OK && l->code == CUZK_OK) {
        l->code = code;
        l->err = err;
    }
    pthread_mutex_unlock(&l->mu);
    return NULL;
}

/* ---- arrivals ---- */

static unsigned soonest(const load *l)
{
    unsigned best = 0;
    for (unsigned i = 1; i < l->n_streams; i++) {
        best = l->streams[i].next_ns < l->streams[best].next_ns ? i : best;
    }
    return best;
}

static void wait_until(uint64_t ns)
{
    const struct timespec t = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) {
    }
}

static void arrive(load *l)
{
    uint64_t end = cuzk_clock_ns() + l->duration_s * 1000000000;
    for (unsigned i = 0; i < l->n_streams; i++) {
        l->streams[i].next_ns = cuzk_clock_ns();
    }
    for (bool failed = false;;) {
        unsigned i = soonest(l);
        stream *s = &l->streams[i];
        if (s->next_ns >= end || failed) {
            break;
        }
        wait_until(s->next_ns);
        pthread_mutex_lock(&l->mu);
        failed = l->code != CUZK_OK;
        if (l->queued < l->clients) {
            l->queue[(l->first + l->queued++) % CLIENTS_MAX] = (arrival){i, s->next_ns};
            s->submitted++;
            pthread_cond_signal(&l->due);
        } else {
            s->skipped++;
        }
        pthread_mutex_unlock(&l->mu);
        s->next_ns += (uint64_t)(60e9 / s->per_minute);
    }
    pthread_mutex_lock(&l->mu);
    l->over = true;
    pthread_cond_broadcast(&l->due);
    pthread_mutex_unlock(&l->mu);
}

static cuzk_code run(load *l, cuzk_err *err)
{
    unsigned n = 0;
    pthread_t threads[CLIENTS_MAX];
    pthread_mutex_init(&l->mu, NULL);
    pthread_cond_init(&l->due, NULL);
    while (n < l->clients && pthread_create(&threads[n], NULL, client_loop, l) == 0) {
        n++;
    }
    if (n > 0) {
        arrive(l);
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_cond_destroy(&l->due);
    pthread_mutex_destroy(&l->mu);
    if (n == 0) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no thread can be started");
    }
    if (l->code != CUZK_OK && err) {
        *err = l->err;
    }
    return l->code;
}

/* ---- the table ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const stream *s, double q)
{
    size_t i = (size_t)(q * (double)(s->n - 1) + 0.5);
    return s->n ? s->latency_s[i] : 0;
}

static void print(load *l)
{
    bench_say("%-8s %9s %9s %9s %7s %7s %8s %8s %8s %8s", "kind", "rate/min", "submitted",
              "completed", "failed", "skipped", "p50 s", "p90 s", "p99 s", "max s");
    for (unsigned i = 0; i < l->n_streams; i++) {
        stream *s = &l->streams[i];
        if (s->n) {
            qsort(s->latency_s, s->n, sizeof *s->latency_s, ascending);
        }
        bench_say("%-8s %9.1f %9u %9u %7u %7u %8.2f %8.2f %8.2f %8.2f",
                  bench_kind_name(s->proof.message.proof_kind), s->per_minute, s->submitted,
                  s->completed, s->failed, s->skipped, quantile(s, .5), quantile(s, .9),
                  quantile(s, .99), quantile(s, 1));
    }
}

cuzk_code bench_stress(int argc, char **argv, cuzk_err *err)
{
    load *l = calloc(1, sizeof *l);
    if (!l) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the run");
    }
    options o = {.load = l};
    cuzk_code code = bench_parse(&argp, argc, argv, &o, &l->target, err);
    if (code == CUZK_OK) {
        code = open_load(l, &o, err);
    }
    if (code == CUZK_OK) {
        code = run(l, err);
    }
    if (code == CUZK_OK) {
        print(l);
    }
    for (unsigned i = 0; i < l->n_streams; i++) {
        bench_proof_clear(&l->streams[i].proof);
        free(l->streams[i].spec);
        free(l->streams[i].latency_s);
    }
    free(l);
    return code;
}
