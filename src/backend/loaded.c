#include "backend/loaded.h"

#include "r1cs/template.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cuzk_loaded_circuit {
    struct cuzk_loaded_circuit *next;
    char name[CUZK_SHAPE_NAME_MAX];
    bool loaded;    /* guarded by mu */
    unsigned users; /* guarded by mu: calls that use it, the list counts as one */
    cuzk_err why;   /* guarded by mu: of a load that failed; code CUZK_OK before */
    void *object;   /* written before it is loaded */
};

struct cuzk_loaded {
    const cuzk_loaded_ops *ops;
    void *ctx;
    pthread_mutex_t mu;
    pthread_cond_t changed;        /* a load ended */
    cuzk_loaded_circuit *circuits; /* guarded by mu */
};

/* ---- with the mutex held ---- */

static cuzk_loaded_circuit *find(const cuzk_loaded *l, const char *name)
{
    cuzk_loaded_circuit *c = l->circuits;
    while (c && strcmp(c->name, name) != 0) {
        c = c->next;
    }
    return c;
}

/* Ends a use; returns the circuit when it was the last, to be freed without the mutex. */
static cuzk_loaded_circuit *end_use(cuzk_loaded_circuit *c) { return --c->users == 0 ? c : NULL; }

static cuzk_loaded_circuit *unlink_circuit(cuzk_loaded *l, cuzk_loaded_circuit *c)
{
    cuzk_loaded_circuit **at = &l->circuits;
    while (*at != c) {
        at = &(*at)->next;
    }
    *at = c->next;
    return end_use(c);
}

/* ---- without it ---- */

static void circuit_free(const cuzk_loaded *l, cuzk_loaded_circuit *c)
{
    if (c) {
        if (c->object) {
            l->ops->free(l->ctx, c->object);
        }
        free(c);
    }
}

void cuzk_loaded_end(cuzk_loaded *l, cuzk_loaded_circuit *c)
{
    pthread_mutex_lock(&l->mu);
    cuzk_loaded_circuit *last = end_use(c);
    pthread_mutex_unlock(&l->mu);
    circuit_free(l, last);
}

static cuzk_code load_new(cuzk_loaded *l, cuzk_loaded_circuit *c, cuzk_load_times *ret,
                          const cuzk_circuit_files *files, cuzk_err *err)
{
    cuzk_load_times times = {0};
    cuzk_err why = {0};
    void *object = NULL;
    cuzk_code code = l->ops->load(l->ctx, &object, &times, files, &why);
    pthread_mutex_lock(&l->mu);
    c->object = object;
    c->loaded = code == CUZK_OK;
    c->why = why;
    c->why.code = code;
    if (code != CUZK_OK) {
        unlink_circuit(l, c); /* this call and those that wait still hold it */
    }
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->mu);
    if (code == CUZK_OK) {
        *ret = times;
    } else if (err) {
        *err = why;
    }
    return code;
}

/* Waits for another call's load; with the mutex held. */
static cuzk_code join_load(cuzk_loaded *l, cuzk_loaded_circuit *c, cuzk_load_times *ret,
                           cuzk_err *err)
{
    c->users++;
    while (!c->loaded && c->why.code == CUZK_OK) {
        pthread_cond_wait(&l->changed, &l->mu);
    }
    cuzk_code code = c->why.code;
    if (code == CUZK_OK) {
        *ret = (cuzk_load_times){0};
    } else if (err) {
        *err = c->why;
    }
    return code;
}

cuzk_code cuzk_loaded_load(cuzk_loaded *l, cuzk_load_times *ret, const cuzk_circuit_files *files,
                           cuzk_err *err)
{
    pthread_mutex_lock(&l->mu);
    cuzk_loaded_circuit *c = find(l, files->circuit);
    if (c) {
        cuzk_code code = join_load(l, c, ret, err);
        pthread_mutex_unlock(&l->mu);
        cuzk_loaded_end(l, c);
        return code;
    }
    c = calloc(1, sizeof *c);
    if (!c || strlen(files->circuit) >= sizeof c->name) {
        pthread_mutex_unlock(&l->mu);
        free(c);
        return CUZK_FAIL(err, CUZK_E_ARG, "%.80s: too long a name, or no memory for it",
                         files->circuit);
    }
    snprintf(c->name, sizeof c->name, "%s", files->circuit);
    c->users = 2; /* the list, and this call */
    c->next = l->circuits;
    l->circuits = c;
    pthread_mutex_unlock(&l->mu);
    cuzk_code code = load_new(l, c, ret, files, err);
    cuzk_loaded_end(l, c);
    return code;
}

bool cuzk_loaded_unload(cuzk_loaded *l, const char *circuit)
{
    pthread_mutex_lock(&l->mu);
    cuzk_loaded_circuit *c = find(l, circuit);
    bool loaded = c && c->loaded;
    cuzk_loaded_circuit *last = loaded ? unlink_circuit(l, c) : NULL;
    pthread_mutex_unlock(&l->mu);
    circuit_free(l, last);
    return loaded;
}

void cuzk_loaded_clear(cuzk_loaded *l)
{
    cuzk_loaded_circuit *unused = NULL, *next;
    pthread_mutex_lock(&l->mu);
    for (cuzk_loaded_circuit *c = l->circuits; c; c = next) {
        next = c->next;
        if (c->loaded && unlink_circuit(l, c)) {
            c->next = unused;
            unused = c;
        }
    }
    pthread_mutex_unlock(&l->mu);
    for (; unused; unused = next) {
        next = unused->next;
        circuit_free(l, unused);
    }
}

cuzk_code cuzk_loaded_use(cuzk_loaded *l, cuzk_loaded_circuit **ret, void **ret_object,
                          const char *circuit, cuzk_err *err)
{
    pthread_mutex_lock(&l->mu);
    cuzk_loaded_circuit *c = find(l, circuit);
    c = c && c->loaded ? c : NULL;
    if (c) {
        c->users++;
    }
    pthread_mutex_unlock(&l->mu);
    if (!c) {
        return CUZK_FAIL(err, CUZK_E_UNAVAILABLE, "%s is not loaded", circuit);
    }
    *ret = c;
    *ret_object = c->object;
    return CUZK_OK;
}

/* ---- the list ---- */

cuzk_code cuzk_loaded_new(cuzk_loaded **ret, const cuzk_loaded_ops *ops, void *ctx, cuzk_err *err)
{
    cuzk_loaded *l = calloc(1, sizeof *l);
    if (!l) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for a list of circuits");
    }
    l->ops = ops;
    l->ctx = ctx;
    pthread_mutex_init(&l->mu, NULL);
    pthread_cond_init(&l->changed, NULL);
    *ret = l;
    return CUZK_OK;
}

void cuzk_loaded_free(cuzk_loaded *l)
{
    if (l) {
        cuzk_loaded_clear(l);
        pthread_cond_destroy(&l->changed);
        pthread_mutex_destroy(&l->mu);
        free(l);
    }
}
