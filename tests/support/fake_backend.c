#include "support/fake_backend.h"

#include <stdio.h>
#include <string.h>

static fake_backend *fake_of(cuzk_backend *b) { return (fake_backend *)b; }

static fake_circuit *find(fake_backend *f, const char *name)
{
    for (unsigned i = 0; i < f->n_circuits; i++) {
        if (strcmp(f->circuits[i].name, name) == 0) {
            return &f->circuits[i];
        }
    }
    return NULL;
}

static cuzk_code info(cuzk_backend *b, cuzk_device_info *ret, cuzk_err *err)
{
    (void)b;
    (void)err;
    *ret = (cuzk_device_info){.backend = "fake", .name = "fake"};
    return CUZK_OK;
}

static cuzk_code cost(cuzk_backend *b, cuzk_circuit_cost *ret, const cuzk_circuit_files *files,
                      cuzk_err *err)
{
    fake_circuit *c = find(fake_of(b), files->circuit);
    if (!c) {
        return CUZK_FAIL(err, CUZK_E_NOT_FOUND, "%s: no such key", files->params);
    }
    *ret = c->cost;
    return CUZK_OK;
}

static cuzk_code load(cuzk_backend *b, cuzk_load_times *ret, const cuzk_circuit_files *files,
                      cuzk_err *err)
{
    fake_backend *f = fake_of(b);
    fake_circuit *c = find(f, files->circuit);
    cuzk_code code = CUZK_OK;
    pthread_mutex_lock(&f->mu);
    f->in_load++;
    f->most_in_load = f->in_load > f->most_in_load ? f->in_load : f->most_in_load;
    pthread_cond_broadcast(&f->changed);
    while (f->hold_loads) {
        pthread_cond_wait(&f->changed, &f->mu);
    }
    f->in_load--;
    c->loads++;
    size_t at = strlen(f->loaded);
    snprintf(f->loaded + at, sizeof f->loaded - at, "%s ", c->name);
    if (c->fail_loads) {
        c->fail_loads--;
        code = CUZK_FAIL(err, c->fail_code, "%s does not load", c->name);
    } else {
        c->loaded = true;
        *ret = (cuzk_load_times){1, 2};
    }
    pthread_mutex_unlock(&f->mu);
    return code;
}

static cuzk_code unload(cuzk_backend *b, const char *circuit, bool *ret_was_loaded, cuzk_err *err)
{
    (void)err;
    fake_backend *f = fake_of(b);
    fake_circuit *c = find(f, circuit);
    pthread_mutex_lock(&f->mu);
    f->in_unload++;
    pthread_cond_broadcast(&f->changed);
    while (f->hold_unloads) {
        pthread_cond_wait(&f->changed, &f->mu);
    }
    f->in_unload--;
    *ret_was_loaded = c->loaded;
    c->loaded = false;
    c->unloads++;
    pthread_mutex_unlock(&f->mu);
    return CUZK_OK;
}

static cuzk_code prove(cuzk_backend *b, cuzk_partition_result *ret, const cuzk_partition_task *task,
                       cuzk_err *err)
{
    (void)b;
    (void)ret;
    return CUZK_FAIL(err, CUZK_E_UNSUPPORTED, "%s: this device does not prove", task->circuit);
}

static void close_fake(cuzk_backend *b) { (void)b; }

void fake_init(fake_backend *f)
{
    static const cuzk_backend_ops ops = {info, cost, load, unload, prove, close_fake};
    memset(f, 0, sizeof *f);
    f->base.ops = &ops;
    pthread_mutex_init(&f->mu, NULL);
    pthread_cond_init(&f->changed, NULL);
}

void fake_clear(fake_backend *f)
{
    pthread_mutex_destroy(&f->mu);
    pthread_cond_destroy(&f->changed);
}

fake_circuit *fake_add(fake_backend *f, const char *name, uint64_t resident, uint64_t working)
{
    fake_circuit *c = &f->circuits[f->n_circuits++];
    c->name = name;
    c->cost.resident[CUZK_MEMORY_DEVICE] = resident;
    c->cost.working[CUZK_MEMORY_DEVICE] = working;
    return c;
}

void fake_hold(fake_backend *f, bool loads, bool unloads)
{
    pthread_mutex_lock(&f->mu);
    f->hold_loads = loads;
    f->hold_unloads = unloads;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->mu);
}

static void wait_for(fake_backend *f, const unsigned *counter, unsigned n)
{
    pthread_mutex_lock(&f->mu);
    while (*counter < n) {
        pthread_cond_wait(&f->changed, &f->mu);
    }
    pthread_mutex_unlock(&f->mu);
}

void fake_wait_loading(fake_backend *f, unsigned n) { wait_for(f, &f->in_load, n); }
void fake_wait_unloading(fake_backend *f, unsigned n) { wait_for(f, &f->in_unload, n); }

bool fake_is_loaded(fake_backend *f, const char *name)
{
    pthread_mutex_lock(&f->mu);
    bool loaded = find(f, name)->loaded;
    pthread_mutex_unlock(&f->mu);
    return loaded;
}

void fake_lose(fake_backend *f)
{
    pthread_mutex_lock(&f->mu);
    for (unsigned i = 0; i < f->n_circuits; i++) {
        f->circuits[i].loaded = false;
    }
    pthread_mutex_unlock(&f->mu);
}
