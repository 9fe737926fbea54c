#include "backend/fault/fault_backend.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RULES_MAX = 16 };

typedef enum action {
    ACTION_NONE,
    ACTION_WRONG,
    ACTION_ERROR,
    ACTION_INPUT,
    ACTION_MEMORY,
    ACTION_UNAVAILABLE,
    ACTION_SLOW,
    ACTION_HANG,
    ACTION_EXIT,
    ACTION_ABORT,
    ACTION_SEGV,
} action;

static const struct {
    const char *name;
    action action;
} actions[] = {
    {"wrong", ACTION_WRONG},
    {"error", ACTION_ERROR},
    {"input", ACTION_INPUT},
    {"memory", ACTION_MEMORY},
    {"unavailable", ACTION_UNAVAILABLE},
    {"hang", ACTION_HANG},
    {"exit", ACTION_EXIT},
    {"abort", ACTION_ABORT},
    {"segv", ACTION_SEGV},
};

typedef struct rule {
    bool prove; /* else load */
    char circuit[64];
    unsigned long number, every; /* 0: not given */
    action action;
    unsigned long ms;
    uint64_t count; /* guarded by mu */
    int state;      /* descriptor of the file that keeps the count; -1: none */
} rule;

typedef struct fault_backend {
    cuzk_backend base;
    cuzk_backend *inner; /* owned */
    pthread_mutex_t mu;
    pthread_cond_t closed;
    bool closing;        /* guarded by mu */
    unsigned hanging;    /* guarded by mu */
    char loaded[16][64]; /* guarded by mu: names, "" for none */
    rule rules[RULES_MAX];
    unsigned n_rules;
} fault_backend;

static fault_backend *fault_of(cuzk_backend *b) { return (fault_backend *)b; }

/* ---- the plan ---- */

static bool parse_number(const char *text, unsigned long *ret)
{
    char *end;
    errno = 0;
    *ret = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == 0 && *text >= '0' && *text <= '9';
}

static bool parse_action(rule *r, const char *text)
{
    if (strncmp(text, "slow-", 5) == 0) {
        r->action = ACTION_SLOW;
        return parse_number(text + 5, &r->ms);
    }
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(actions[i].name, text) == 0) {
            r->action = actions[i].action;
        }
    }
    return r->action != ACTION_NONE && (r->prove || r->action != ACTION_WRONG);
}

/* CALL[@CIRCUIT][:N|:*K]=ACTION, in place. */
static bool parse_rule(rule *r, char *text)
{
    char *value = strchr(text, '=');
    if (!value) {
        return false;
    }
    *value++ = 0;
    char *number = strchr(text, ':');
    if (number) {
        *number++ = 0;
        bool every = *number == '*';
        unsigned long *to = every ? &r->every : &r->number;
        if (!parse_number(number + every, to) || *to == 0) {
            return false;
        }
    }
    char *circuit = strchr(text, '@');
    if (circuit) {
        *circuit++ = 0;
        if (strlen(circuit) >= sizeof r->circuit) {
            return false;
        }
        memcpy(r->circuit, circuit, strlen(circuit) + 1);
    }
    r->prove = strcmp(text, "prove") == 0;
    return (r->prove || strcmp(text, "load") == 0) && parse_action(r, value);
}

static cuzk_code open_state(rule *r, const char *file, unsigned number, cuzk_err *err)
{
    char *name;
    if (asprintf(&name, "%s.%u", file, number) < 0) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a name");
    }
    r->state = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    cuzk_code code = CUZK_OK;
    if (r->state < 0) {
        code = CUZK_FAIL(err, CUZK_E_IO, "%s: cannot open: %s", name, strerror(errno));
    }
    free(name);
    return code;
}

static cuzk_code parse_plan(fault_backend *b, char *plan, cuzk_err *err)
{
    char *rest = plan, *text, *state = NULL;
    while ((text = strsep(&rest, ",")) != NULL) {
        if (strncmp(text, "state=", 6) == 0 && b->n_rules == 0) {
            state = text + 6;
            continue;
        }
        if (b->n_rules == RULES_MAX) {
            return CUZK_FAIL(err, CUZK_E_ARG, "a plan has at most %d rules", RULES_MAX);
        }
        rule *r = &b->rules[b->n_rules++];
        *r = (rule){.state = -1};
        char shown[64];
        snprintf(shown, sizeof shown, "%.63s", text);
        if (!parse_rule(r, text)) {
            return CUZK_FAIL(err, CUZK_E_ARG, "rule \"%s\": expected CALL[@CIRCUIT][:N|:*K]=ACTION",
                             shown);
        }
        if (state) {
            CUZK_TRY(open_state(r, state, b->n_rules, err));
        }
    }
    return CUZK_OK;
}

/* Counts a matching call; with the mutex. */
static uint64_t count(rule *r)
{
    struct stat st;
    if (r->state >= 0 && write(r->state, "x", 1) == 1 && fstat(r->state, &st) == 0) {
        return (uint64_t)st.st_size;
    }
    return ++r->count;
}

/* The rule that means this call; all that match count it. */
static const rule *rule_for(fault_backend *b, bool prove, const char *circuit)
{
    const rule *found = NULL;
    pthread_mutex_lock(&b->mu);
    for (unsigned i = 0; i < b->n_rules; i++) {
        rule *r = &b->rules[i];
        if (r->prove != prove || (r->circuit[0] && strcmp(r->circuit, circuit) != 0)) {
            continue;
        }
        uint64_t n = count(r);
        bool meant = r->number ? n == r->number : r->every ? n % r->every == 0 : true;
        found = found || !meant ? found : r;
    }
    pthread_mutex_unlock(&b->mu);
    return found;
}

/* ---- what is loaded, to be lost ---- */

static void note_loaded(fault_backend *b, const char *circuit, bool loaded)
{
    pthread_mutex_lock(&b->mu);
    char *place = NULL;
    for (size_t i = 0; i < sizeof b->loaded / sizeof *b->loaded; i++) {
        if (strcmp(b->loaded[i], circuit) == 0 || (!place && !b->loaded[i][0])) {
            place = b->loaded[i];
        }
    }
    if (place) {
        snprintf(place, sizeof *b->loaded, "%s", loaded ? circuit : "");
    }
    pthread_mutex_unlock(&b->mu);
}

static void lose_all(fault_backend *b)
{
    for (size_t i = 0; i < sizeof b->loaded / sizeof *b->loaded; i++) {
        char name[64];
        bool was_loaded;
        pthread_mutex_lock(&b->mu);
        memcpy(name, b->loaded[i], sizeof name);
        b->loaded[i][0] = 0;
        pthread_mutex_unlock(&b->mu);
        if (name[0]) {
            b->inner->ops->unload(b->inner, name, &was_loaded, NULL);
        }
    }
}

/* ---- acting ---- */

static void hang(fault_backend *b)
{
    pthread_mutex_lock(&b->mu);
    b->hanging++;
    while (!b->closing) {
        pthread_cond_wait(&b->closed, &b->mu);
    }
    b->hanging--;
    pthread_cond_broadcast(&b->closed);
    pthread_mutex_unlock(&b->mu);
}

static void slow(unsigned long ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {
    }
}

/* What happens before the real call, which is not made unless this is CUZK_OK. */
static cuzk_code act(fault_backend *b, const rule *r, cuzk_err *err)
{
    switch (r ? r->action : ACTION_NONE) {
    case ACTION_ERROR:
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "an error by plan");
    case ACTION_INPUT:
        return CUZK_FAIL(err, CUZK_E_INPUT, "an error of the input by plan");
    case ACTION_MEMORY:
        return CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory by plan");
    case ACTION_UNAVAILABLE:
        lose_all(b);
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "the device is lost by plan");
    case ACTION_SLOW:
        slow(r->ms);
        return CUZK_OK;
    case ACTION_HANG:
        hang(b);
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "closed while it hung by plan");
    case ACTION_EXIT:
        _exit(3);
    case ACTION_ABORT:
        abort();
    case ACTION_SEGV:
        signal(SIGSEGV, SIG_DFL); /* whatever a sanitizer has set */
        raise(SIGSEGV);
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "this process outlived a SIGSEGV");
    case ACTION_NONE:
    case ACTION_WRONG:
        return CUZK_OK;
    }
    return CUZK_OK;
}

/* ---- calls ---- */

static cuzk_code fault_info(cuzk_backend *base, cuzk_device_info *ret, cuzk_err *err)
{
    cuzk_backend *inner = fault_of(base)->inner;
    return inner->ops->info(inner, ret, err);
}

static cuzk_code fault_cost(cuzk_backend *base, cuzk_circuit_cost *ret,
                            const cuzk_circuit_files *files, cuzk_err *err)
{
    cuzk_backend *inner = fault_of(base)->inner;
    return inner->ops->cost(inner, ret, files, err);
}

static cuzk_code fault_load(cuzk_backend *base, cuzk_load_times *ret,
                            const cuzk_circuit_files *files, cuzk_err *err)
{
    fault_backend *b = fault_of(base);
    CUZK_TRY(act(b, rule_for(b, false, files->circuit), err));
    CUZK_TRY(b->inner->ops->load(b->inner, ret, files, err));
    note_loaded(b, files->circuit, true);
    return CUZK_OK;
}

static cuzk_code fault_unload(cuzk_backend *base, const char *circuit, bool *ret_was_loaded,
                              cuzk_err *err)
{
    fault_backend *b = fault_of(base);
    note_loaded(b, circuit, false);
    return b->inner->ops->unload(b->inner, circuit, ret_was_loaded, err);
}

static cuzk_code fault_prove(cuzk_backend *base, cuzk_partition_result *ret,
                             const cuzk_partition_task *task, cuzk_err *err)
{
    enum { SIGN = 0x20 }; /* of a compressed point: which of the two y it means */
    fault_backend *b = fault_of(base);
    const rule *r = rule_for(b, true, task->circuit);
    CUZK_TRY(act(b, r, err));
    CUZK_TRY(b->inner->ops->prove(b->inner, ret, task, err));
    if (r && r->action == ACTION_WRONG) {
        ret->proof[0] ^= SIGN;
    }
    return CUZK_OK;
}

static void fault_close(cuzk_backend *base)
{
    fault_backend *b = fault_of(base);
    pthread_mutex_lock(&b->mu);
    b->closing = true;
    pthread_cond_broadcast(&b->closed);
    while (b->hanging > 0) {
        pthread_cond_wait(&b->closed, &b->mu);
    }
    pthread_mutex_unlock(&b->mu);
    b->inner->ops->close(b->inner);
    for (unsigned i = 0; i < b->n_rules; i++) {
        if (b->rules[i].state >= 0) {
            close(b->rules[i].state);
        }
    }
    pthread_cond_destroy(&b->closed);
    pthread_mutex_destroy(&b->mu);
    free(b);
}

cuzk_code cuzk_backend_fault_open(cuzk_backend **ret, cuzk_backend *inner, const char *plan,
                                  cuzk_err *err)
{
    static const cuzk_backend_ops ops = {
        .info = fault_info,
        .cost = fault_cost,
        .load = fault_load,
        .unload = fault_unload,
        .prove = fault_prove,
        .close = fault_close,
    };
    fault_backend *b = calloc(1, sizeof *b);
    char *copy = strdup(plan);
    if (!b || !copy) {
        free(b);
        free(copy);
        inner->ops->close(inner);
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a plan of faults");
    }
    b->base.ops = &ops;
    b->inner = inner;
    pthread_mutex_init(&b->mu, NULL);
    pthread_cond_init(&b->closed, NULL);
    cuzk_code code = parse_plan(b, copy, err);
    free(copy);
    if (code != CUZK_OK) {
        fault_close(&b->base);
        return code;
    }
    *ret = &b->base;
    return CUZK_OK;
}
