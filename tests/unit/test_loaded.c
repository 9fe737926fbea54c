#include "backend/loaded.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support/support.h"

/* A device whose loads wait until they may end, and that counts. */
typedef struct device {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    bool may_end;           /* guarded by mu */
    unsigned begun;         /* guarded by mu: loads */
    cuzk_code ends;         /* of the loads */
    _Atomic unsigned freed; /* objects */
    char object;            /* what a circuit is: its address */
    cuzk_loaded *list;
} device;

static cuzk_code load(void *ctx, void **ret, cuzk_load_times *ret_times,
                      const cuzk_circuit_files *files, cuzk_err *err)
{
    device *d = ctx;
    pthread_mutex_lock(&d->mu);
    d->begun++;
    pthread_cond_broadcast(&d->changed);
    while (!d->may_end) {
        pthread_cond_wait(&d->changed, &d->mu);
    }
    pthread_mutex_unlock(&d->mu);
    if (d->ends != CUZK_OK) {
        return CUZK_FAIL(err, d->ends, "no luck with %s", files->circuit);
    }
    *ret_times = (cuzk_load_times){3, 4};
    *ret = &d->object;
    return CUZK_OK;
}

static void release(void *ctx, void *object)
{
    device *d = ctx;
    assert_ptr_equal(object, &d->object);
    atomic_fetch_add(&d->freed, 1);
}

static void device_init(device *d, cuzk_code ends)
{
    static const cuzk_loaded_ops ops = {load, release};
    *d = (device){.may_end = true, .ends = ends};
    pthread_mutex_init(&d->mu, NULL);
    pthread_cond_init(&d->changed, NULL);
    assert_int_equal(cuzk_loaded_new(&d->list, &ops, d, NULL), CUZK_OK);
}

static void device_clear(device *d)
{
    cuzk_loaded_free(d->list);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->mu);
}

static cuzk_code load_named(device *d, const char *name, cuzk_load_times *ret, cuzk_err *err)
{
    const cuzk_circuit_files files = {.circuit = name, .shape = "", .params = ""};
    return cuzk_loaded_load(d->list, ret, &files, err);
}

static void what_is_loaded_is_found_by_name_until_it_is_unloaded(void **state)
{
    (void)state;
    device d;
    cuzk_load_times times;
    cuzk_loaded_circuit *use;
    cuzk_err err;
    void *object = NULL;
    device_init(&d, CUZK_OK);
    assert_int_equal(cuzk_loaded_use(d.list, &use, &object, "one", &err), CUZK_E_UNAVAILABLE);
    assert_string_equal(err.msg, "one is not loaded");
    assert_null(object);
    assert_int_equal(load_named(&d, "one", &times, NULL), CUZK_OK);
    assert_int_equal(times.key_ns, 4);
    assert_int_equal(load_named(&d, "one", &times, NULL), CUZK_OK);
    assert_int_equal(times.key_ns, 0);
    assert_int_equal(d.begun, 1);
    assert_int_equal(load_named(&d, "two", &times, NULL), CUZK_OK);
    assert_int_equal(cuzk_loaded_use(d.list, &use, &object, "one", &err), CUZK_OK);
    assert_ptr_equal(object, &d.object);
    cuzk_loaded_end(d.list, use);
    assert_true(cuzk_loaded_unload(d.list, "one"));
    assert_int_equal(d.freed, 1);
    assert_false(cuzk_loaded_unload(d.list, "one"));
    assert_int_equal(cuzk_loaded_use(d.list, &use, &object, "one", NULL), CUZK_E_UNAVAILABLE);
    device_clear(&d); /* with "two" */
    assert_int_equal(d.freed, 2);
}

static void what_is_unloaded_in_use_is_freed_by_its_last_user(void **state)
{
    (void)state;
    device d;
    cuzk_load_times times;
    cuzk_loaded_circuit *use[2];
    void *object;
    device_init(&d, CUZK_OK);
    assert_int_equal(load_named(&d, "one", &times, NULL), CUZK_OK);
    assert_int_equal(cuzk_loaded_use(d.list, &use[0], &object, "one", NULL), CUZK_OK);
    assert_int_equal(cuzk_loaded_use(d.list, &use[1], &object, "one", NULL), CUZK_OK);
    cuzk_loaded_clear(d.list);
    assert_false(cuzk_loaded_unload(d.list, "one"));
    assert_int_equal(load_named(&d, "one", &times, NULL), CUZK_OK); /* another one */
    assert_int_equal(d.begun, 2);
    cuzk_loaded_end(d.list, use[0]);
    assert_int_equal(d.freed, 0);
    cuzk_loaded_end(d.list, use[1]);
    assert_int_equal(d.freed, 1);
    device_clear(&d);
    assert_int_equal(d.freed, 2);
}

/* ---- loads at the same time ---- */

enum { CALLERS = 4 };

typedef struct caller {
    device *d;
    pthread_t thread;
    cuzk_code code;
    cuzk_load_times times;
    cuzk_err err;
} caller;

static void *call(void *ctx)
{
    caller *c = ctx;
    c->code = load_named(c->d, "one", &c->times, &c->err);
    return NULL;
}

/* One load begins and is held; the others come; then it may end. */
static void load_together(device *d, caller callers[CALLERS])
{
    d->may_end = false;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.d = d};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
        pthread_mutex_lock(&d->mu);
        while (d->begun == 0) {
            pthread_cond_wait(&d->changed, &d->mu);
        }
        pthread_mutex_unlock(&d->mu);
    }
    assert_false(cuzk_loaded_unload(d->list, "one")); /* it is not there yet */
    cuzk_loaded_clear(d->list);
    pthread_mutex_lock(&d->mu);
    d->may_end = true;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->mu);
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
    }
}

static void a_load_is_joined_by_those_who_want_the_same(void **state)
{
    (void)state;
    device d;
    caller callers[CALLERS];
    device_init(&d, CUZK_OK);
    load_together(&d, callers);
    int read = 0;
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(callers[i].code, CUZK_OK);
        read += callers[i].times.key_ns > 0;
    }
    assert_int_equal(read, 1);
    assert_int_equal(d.begun, 1);
    device_clear(&d);
    assert_int_equal(d.freed, 1);
}

static void a_load_that_fails_is_told_to_all_and_leaves_nothing(void **state)
{
    (void)state;
    device d;
    caller callers[CALLERS];
    cuzk_load_times times;
    device_init(&d, CUZK_E_MEMORY);
    load_together(&d, callers);
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(callers[i].code, CUZK_E_MEMORY);
        assert_string_equal(callers[i].err.msg, "no luck with one");
        assert_int_equal(callers[i].times.key_ns, 0);
    }
    assert_false(cuzk_loaded_unload(d.list, "one"));
    d.ends = CUZK_OK;
    assert_int_equal(load_named(&d, "one", &times, NULL), CUZK_OK);
    device_clear(&d);
    assert_int_equal(d.freed, 1);
}

static void a_name_that_is_too_long_is_refused(void **state)
{
    (void)state;
    device d;
    char name[4096];
    cuzk_load_times times;
    cuzk_err err;
    device_init(&d, CUZK_OK);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(load_named(&d, name, &times, &err), CUZK_E_ARG);
    assert_int_equal(d.begun, 0);
    device_clear(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_loaded_is_found_by_name_until_it_is_unloaded),
        cmocka_unit_test(what_is_unloaded_in_use_is_freed_by_its_last_user),
        cmocka_unit_test(a_load_is_joined_by_those_who_want_the_same),
        cmocka_unit_test(a_load_that_fails_is_told_to_all_and_leaves_nothing),
        cmocka_unit_test(a_name_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
