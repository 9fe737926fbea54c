#include "engine/engine_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "filecoin/circuits/catalog.h"
#include "groth16/formats/formats.h"

/* The names that clients of the reference use. */
static const char *const reference_names[][2] = {
    {"porep-32g", "porep-32GiB"},     {"porep-64g", "porep-64GiB"},
    {"wpost-32g", "window-32GiB"},    {"wpost-64g", "window-64GiB"},
    {"winning-32g", "winning-32GiB"}, {"winning-64g", "winning-64GiB"},
    {"snap-32g", "update-32GiB"},     {"snap-64g", "update-64GiB"},
};

enum { N_NAMES = sizeof reference_names / sizeof *reference_names };

cuzk_code cuzk_engine_circuit_name(char ret[CUZK_CIRCUIT_NAME_MAX], const char *name, cuzk_err *err)
{
    cuzk_circuit_id id;
    const char *own = name;
    for (size_t i = 0; i < N_NAMES; i++) {
        if (strcmp(name, reference_names[i][0]) == 0) {
            own = reference_names[i][1];
        }
    }
    if (cuzk_circuit_named(&id, own, NULL) != CUZK_OK || id.cut ||
        id.kind == CUZK_UPDATE_POSEIDON) {
        return CUZK_FAIL(err, CUZK_E_ARG,
                         "circuit_id: no circuit %.60s; expected a name such as porep-32g or "
                         "winning-2KiB",
                         name);
    }
    snprintf(ret, CUZK_CIRCUIT_NAME_MAX, "%s", own);
    return CUZK_OK;
}

static const char *reference_name(const char *own)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        if (strcmp(own, reference_names[i][1]) == 0) {
            return reference_names[i][0];
        }
    }
    return "";
}

/* ---- the table ---- */

static char *path_of(const char *folder, const char *stem, const char *suffix)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s%s", folder, stem, suffix) < 0 ? NULL : path;
}

static cuzk_code circuit_init(cuzk_engine_circuit *c, const cuzk_circuit_id *id,
                              const cuzk_engine_config *config, cuzk_err *err)
{
    char stem[CUZK_PARAM_NAME_MAX], name[CUZK_SHAPE_NAME_MAX];
    c->id = *id;
    cuzk_circuit_name(name, id);
    snprintf(c->name, sizeof c->name, "%.*s", CUZK_CIRCUIT_NAME_MAX - 1, name);
    c->reference = reference_name(c->name);
    cuzk_param_stem(stem, id->kind, id->sector);
    c->shape_path = path_of(config->circuit_cache, c->name, ".circuit");
    c->params_path = path_of(config->param_cache, stem, ".params");
    c->vk_path = path_of(config->param_cache, stem, ".vk");
    c->files = (cuzk_circuit_files){c->name, c->shape_path, c->params_path};
    return c->shape_path && c->params_path && c->vk_path
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the table of circuits");
}

cuzk_code cuzk_circuits_init(cuzk_engine *e, const cuzk_engine_config *config, cuzk_err *err)
{
    char name[CUZK_SHAPE_NAME_MAX];
    unsigned all = 0;
    while (cuzk_circuit_at(all, name)) {
        all++;
    }
    e->circuits = calloc(all, sizeof *e->circuits);
    if (!e->circuits) {
        return CUZK_FAIL(err, CUZK_E_MEMORY, "no memory for the table of circuits");
    }
    for (unsigned i = 0; i < all; i++) {
        cuzk_circuit_id id;
        cuzk_circuit_at(i, name);
        CUZK_TRY(cuzk_circuit_named(&id, name, err));
        if (id.kind != CUZK_UPDATE_POSEIDON) {
            CUZK_TRY(circuit_init(&e->circuits[e->n_circuits++], &id, config, err));
        }
    }
    return CUZK_OK;
}

void cuzk_circuits_clear(cuzk_engine *e)
{
    for (size_t i = 0; i < e->n_circuits; i++) {
        cuzk_engine_circuit *c = &e->circuits[i];
        if (c->has_thread) {
            pthread_join(c->thread, NULL);
        }
        cuzk_shape_free(c->shape);
        cuzk_verifier_free(c->verifier);
        free(c->shape_path);
        free(c->params_path);
        free(c->vk_path);
    }
    free(e->circuits);
}

cuzk_engine_circuit *cuzk_circuits_find(cuzk_engine *e, const cuzk_circuit_id *id)
{
    for (size_t i = 0; i < e->n_circuits; i++) {
        const cuzk_circuit_id *own = &e->circuits[i].id;
        if (own->kind == id->kind && own->sector == id->sector && own->cut == id->cut) {
            return &e->circuits[i];
        }
    }
    return NULL;
}

cuzk_engine_circuit *cuzk_circuits_named(cuzk_engine *e, const char *name)
{
    char own[CUZK_CIRCUIT_NAME_MAX];
    for (size_t i = 0; cuzk_engine_circuit_name(own, name, NULL) == CUZK_OK && i < e->n_circuits;
         i++) {
        if (strcmp(e->circuits[i].name, own) == 0) {
            return &e->circuits[i];
        }
    }
    return NULL;
}

cuzk_code cuzk_circuit_require(const cuzk_engine_circuit *c, cuzk_err *err)
{
    return access(c->params_path, R_OK) == 0
               ? CUZK_OK
               : CUZK_FAIL(err, CUZK_E_NOT_FOUND, "the key of %s is not there: no file %s", c->name,
                           c->params_path);
}

/* ---- loading ---- */

/* The verifying key from its own file, or from the head of the parameters. */
static cuzk_code load_verifier(cuzk_engine_circuit *c, cuzk_err *err)
{
    cuzk_vk vk;
    cuzk_code code;
    if (access(c->vk_path, R_OK) == 0) {
        CUZK_TRY(cuzk_vk_read(&vk, c->vk_path, POINT_CHECK_SUBGROUP, err));
    } else {
        cuzk_file_map map;
        CUZK_TRY(cuzk_file_map_open(&map, c->params_path, err));
        cuzk_cursor at = cuzk_cursor_of(map.bytes, c->params_path);
        code = cuzk_vk_parse(&at, &vk, POINT_CHECK_SUBGROUP, err);
        cuzk_file_map_close(&map);
        CUZK_TRY(code);
    }
    if (vk.n_ic - 1 != cuzk_statement_input_count(&c->id)) {
        code = CUZK_FAIL(err, CUZK_E_INPUT, "%s: expected a key of %zu public inputs, found %u",
                         c->vk_path, cuzk_statement_input_count(&c->id), vk.n_ic - 1);
    } else {
        code = cuzk_verifier_new(&c->verifier, &vk, err);
    }
    cuzk_vk_clear(&vk);
    return code;
}

static cuzk_code load(cuzk_engine_circuit *c, cuzk_err *err)
{
    CUZK_TRY(load_verifier(c, err));
    CUZK_TRY(cuzk_circuit_shape_cached(&c->shape, &c->id, c->shape_path, NULL, err));
    if (c->shape->n_inputs - 1 != cuzk_statement_input_count(&c->id)) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "the circuit %s has %u inputs, expected %zu",
                         c->name, c->shape->n_inputs - 1, cuzk_statement_input_count(&c->id));
    }
    c->unit_bytes = cuzk_shape_record_bytes(c->shape) +
                    (uint64_t)c->shape->n_inputs * (sizeof(fr) + sizeof(fr_repr));
    return CUZK_OK;
}

/* All jobs in the queue that need a circuit which cannot be had. */
static void fail_jobs_locked(cuzk_engine *e, const cuzk_engine_circuit *c, const cuzk_err *err)
{
    for (int p = CUZK_PRIORITY_CRITICAL; p > CUZK_PRIORITY_DEFAULT; p--) {
        for (cuzk_job *job = e->queue[p].first, *next; job; job = next) {
            next = job->queue_next;
            if (job->circuit == c) {
                cuzk_job_fail_locked(e, job, -1, "circuit", err->msg);
            }
        }
    }
}

typedef struct load_task {
    cuzk_engine *e;
    cuzk_engine_circuit *c;
} load_task;

static void *load_main(void *arg)
{
    load_task task = *(load_task *)arg;
    cuzk_engine *e = task.e;
    cuzk_engine_circuit *c = task.c;
    cuzk_err err = {0};
    free(arg);
    cuzk_timeline_record(e->timeline, CUZK_EV_PCE_LOAD_START, 0, -1, -1, -1, 0, c->name);
    cuzk_code code = load(c, &err);
    cuzk_timeline_record(e->timeline, CUZK_EV_PCE_LOAD_END, 0, -1, -1, -1,
                         c->shape ? (int64_t)c->shape->image.n : 0, c->name);
    if (code != CUZK_OK) {
        cuzk_shape_free(c->shape);
        cuzk_verifier_free(c->verifier);
        c->shape = NULL;
        c->verifier = NULL;
        cuzk_engine_say(e, CUZK_ENGINE_ERROR, "", "circuit %s cannot be used: %s", c->name,
                        err.msg);
    }
    pthread_mutex_lock(&e->mu);
    c->state = code == CUZK_OK ? CUZK_CIRCUIT_READY : CUZK_CIRCUIT_NEW;
    if (code != CUZK_OK) {
        fail_jobs_locked(e, c, &err);
    }
    cuzk_engine_wake_locked(e);
    pthread_mutex_unlock(&e->mu);
    return NULL;
}

bool cuzk_circuit_want_locked(cuzk_engine *e, cuzk_engine_circuit *c)
{
    if (c->state != CUZK_CIRCUIT_NEW) {
        return c->state == CUZK_CIRCUIT_READY;
    }
    load_task *task = malloc(sizeof *task);
    if (!task) {
        return false; /* tried again with the next look at the queue */
    }
    if (c->has_thread) { /* of an earlier try, which is over */
        pthread_join(c->thread, NULL);
        c->has_thread = false;
    }
    *task = (load_task){e, c};
    if (cuzk_thread_start(&c->thread, load_main, task, "cuzk-circuit", NULL) != CUZK_OK) {
        free(task);
        return false;
    }
    c->has_thread = true;
    c->state = CUZK_CIRCUIT_LOADING;
    return false;
}
