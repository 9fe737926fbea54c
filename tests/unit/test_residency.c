#include "engine/residency.h"

#include "base/system.h"
#include "support/fake_backend.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

#define MS 1000000ULL

/* One device of 100 bytes with circuits a 60 + 10, b 50 + 10, c 30 + 5, d 20 + 5. */
typedef struct bench {
    fake_backend fake;
    cuzk_budget *budget;
    cuzk_residency *r;
    atomic_uint starts, ends, evictions;
} bench;

static void count_event(void *ctx, const cuzk_residency_note *note)
{
    bench *b = ctx;
    atomic_uint *counters[] = {&b->starts, &b->ends, &b->evictions};
    atomic_fetch_add(counters[note->event], 1);
}

static void open_bench(bench *b, uint64_t min_idle_ns)
{
    memset(b, 0, sizeof *b);
    fake_init(&b->fake);
    fake_add(&b->fake, "a", 60, 10);
    fake_add(&b->fake, "b", 50, 10);
    fake_add(&b->fake, "c", 30, 5);
    fake_add(&b->fake, "d", 20, 5);
    fake_add(&b->fake, "huge", 95, 6);
    cuzk_amounts totals = {.bytes = {[CUZK_ACCOUNT_HOST] = 1000, [CUZK_ACCOUNT_DEVICE] = 100}};
    assert_int_equal(cuzk_budget_new(&b->budget, &totals, NULL), CUZK_OK);
    cuzk_backend *devices[] = {&b->fake.base};
    cuzk_residency_config config = {.event = count_event, .ctx = b, .min_idle_ns = min_idle_ns};
    assert_int_equal(cuzk_residency_new(&b->r, b->budget, devices, 1, &config, NULL), CUZK_OK);
}

static void close_bench(bench *b)
{
    cuzk_residency_free(b->r);
    cuzk_budget_free(b->budget);
    fake_clear(&b->fake);
}

static uint64_t device_used(bench *b)
{
    cuzk_budget_state s;
    cuzk_budget_snapshot(b->budget, &s);
    return s.accounts[1].used;
}

static unsigned waiting(bench *b)
{
    cuzk_budget_state s;
    cuzk_budget_snapshot(b->budget, &s);
    return s.n_waiting;
}

static cuzk_resident state_of(bench *b, const char *circuit)
{
    cuzk_resident all[FAKE_CIRCUITS];
    size_t n = cuzk_residency_snapshot(b->r, all, FAKE_CIRCUITS);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].circuit, circuit) == 0) {
            return all[i];
        }
    }
    return (cuzk_resident){.heat = CUZK_COLD};
}

/* Waits until a circuit is so: what a thread of the residency does comes a little later. */
static void until(bench *b, const char *circuit, cuzk_heat heat)
{
    while (state_of(b, circuit).heat != heat) {
        sched_yield();
    }
}

/* An acquire in a thread of its own. */
typedef struct user {
    bench *b;
    cuzk_circuit_files files;
    cuzk_lease_request request;
    cuzk_lease *lease;
    cuzk_code code;
    cuzk_err err;
    atomic_bool cancelled, done;
    pthread_t thread;
} user;

static void prepare(user *u, bench *b, const char *circuit, int priority, uint64_t job)
{
    memset(u, 0, sizeof *u);
    u->b = b;
    u->files = (cuzk_circuit_files){circuit, "shape", "params"};
    u->request = (cuzk_lease_request){.files = &u->files,
                                      .partitions = 1,
                                      .order = {priority, job, 0},
                                      .cancelled = &u->cancelled};
}

static void *user_main(void *ctx)
{
    user *u = ctx;
    u->code = cuzk_residency_acquire(u->b->r, &u->lease, &u->request, &u->err);
    atomic_store(&u->done, true);
    return NULL;
}

static void start(user *u, bench *b, const char *circuit, int priority, uint64_t job)
{
    prepare(u, b, circuit, priority, job);
    assert_int_equal(pthread_create(&u->thread, NULL, user_main, u), 0);
}

static void join(user *u, cuzk_code code)
{
    assert_int_equal(pthread_join(u->thread, NULL), 0);
    assert_int_equal(u->code, code);
}

static void acquire(user *u, bench *b, const char *circuit)
{
    prepare(u, b, circuit, 2, 1);
    user_main(u);
    assert_int_equal(u->code, CUZK_OK);
}

static void release(user *u) { cuzk_residency_release(u->b->r, u->lease); }

static void until_waiting(bench *b, unsigned n)
{
    while (waiting(b) != n) {
        sched_yield();
    }
}

static void until_users(bench *b, const char *circuit, unsigned n)
{
    while (state_of(b, circuit).users != n) {
        sched_yield();
    }
}

/* ---- tests ---- */

static void the_first_use_loads_and_the_next_finds_it_hot(void **state)
{
    (void)state;
    bench b;
    user u, v;
    open_bench(&b, 0);
    acquire(&u, &b, "a");
    assert_true(cuzk_lease_load_ns(u.lease) > 0);
    assert_true(cuzk_residency_is_hot(b.r, 0, "a"));
    assert_int_equal(device_used(&b), 70);
    acquire(&v, &b, "a");
    assert_int_equal(cuzk_lease_load_ns(v.lease), 0);
    assert_int_equal(device_used(&b), 80);
    assert_int_equal(state_of(&b, "a").users, 2);
    release(&u);
    release(&v);
    assert_int_equal(device_used(&b), 60); /* it stays */
    cuzk_resident s = state_of(&b, "a");
    assert_int_equal(s.heat, CUZK_HOT);
    assert_int_equal(s.loads, 1);
    assert_int_equal(s.times.key_ns, 2);
    assert_int_equal(b.starts, 1);
    assert_int_equal(b.ends, 1);
    close_bench(&b);
}

static void a_load_under_way_is_joined(void **state)
{
    (void)state;
    bench b;
    user u[3];
    open_bench(&b, 0);
    fake_hold(&b.fake, true, false);
    for (int i = 0; i < 3; i++) {
        start(&u[i], &b, "a", 2, 1);
    }
    until_users(&b, "a", 3);
    fake_wait_loading(&b.fake, 1);
    assert_int_equal(device_used(&b), 90); /* the circuit once */
    fake_hold(&b.fake, false, false);
    for (int i = 0; i < 3; i++) {
        join(&u[i], CUZK_OK);
        release(&u[i]);
    }
    assert_int_equal(b.fake.circuits[0].loads, 1);
    close_bench(&b);
}

static void a_failed_load_is_told_to_all_who_joined_and_the_next_acquire_tries_again(void **state)
{
    (void)state;
    bench b;
    user u[3], again;
    open_bench(&b, 0);
    b.fake.circuits[0].fail_loads = 1;
    b.fake.circuits[0].fail_code = CUZK_E_INPUT;
    fake_hold(&b.fake, true, false);
    for (int i = 0; i < 3; i++) {
        start(&u[i], &b, "a", 2, 1);
    }
    until_users(&b, "a", 3);
    fake_hold(&b.fake, false, false);
    for (int i = 0; i < 3; i++) {
        join(&u[i], CUZK_E_INPUT);
        assert_string_equal(u[i].err.msg, "a does not load");
    }
    assert_int_equal(device_used(&b), 0);
    assert_string_equal(state_of(&b, "a").last_error, "a does not load");
    acquire(&again, &b, "a");
    assert_string_equal(state_of(&b, "a").last_error, "");
    release(&again);
    close_bench(&b);
}

static void a_missing_key_and_a_circuit_too_large_fail_at_once(void **state)
{
    (void)state;
    bench b;
    user u;
    open_bench(&b, 0);
    prepare(&u, &b, "nothing", 2, 1);
    user_main(&u);
    assert_int_equal(u.code, CUZK_E_NOT_FOUND);
    prepare(&u, &b, "huge", 2, 1);
    assert_int_equal(cuzk_residency_can_fit(b.r, &u.request, &u.err), CUZK_E_FULL);
    user_main(&u);
    assert_int_equal(u.code, CUZK_E_FULL);
    assert_string_equal(u.err.msg, "huge: device 0 memory: 101 bytes are needed, the whole budget "
                                   "is 100");
    u.request.partitions = 0; /* alone it fits */
    user_main(&u);
    assert_int_equal(u.code, CUZK_OK);
    release(&u);
    close_bench(&b);
}

static void room_is_made_from_idle_circuits_the_longest_unused_first(void **state)
{
    (void)state;
    bench b;
    user c, d, u;
    open_bench(&b, 0);
    acquire(&d, &b, "d");
    acquire(&c, &b, "c");
    release(&c);
    release(&d); /* the last that was used */
    acquire(&u, &b, "a");
    assert_false(fake_is_loaded(&b.fake, "c"));
    assert_true(fake_is_loaded(&b.fake, "d"));
    assert_int_equal(device_used(&b), 90);
    assert_int_equal(b.evictions, 1);
    release(&u);
    close_bench(&b);
}

static void what_is_in_use_stays_and_a_waiter_gets_it_when_it_is_idle(void **state)
{
    (void)state;
    bench b;
    user a, d, u;
    open_bench(&b, 0);
    acquire(&a, &b, "a"); /* 70 */
    acquire(&d, &b, "d"); /* 25 */
    release(&d);
    start(&u, &b, "b", 2, 2); /* 60: even without d it would have to wait for a */
    until_waiting(&b, 1);
    assert_true(fake_is_loaded(&b.fake, "a"));
    assert_true(fake_is_loaded(&b.fake, "d")); /* so d is not sent away for nothing */
    release(&a);
    join(&u, CUZK_OK);
    assert_false(fake_is_loaded(&b.fake, "a"));
    release(&u);
    close_bench(&b);
}

static void nobody_gets_in_before_one_that_waits_for_an_eviction(void **state)
{
    (void)state;
    bench b;
    user a, u, late;
    open_bench(&b, 0);
    acquire(&a, &b, "a");
    start(&u, &b, "b", 2, 2);
    until_waiting(&b, 1);
    start(&late, &b, "a", 2, 3); /* hot, with room for its working set, yet b is next */
    until_waiting(&b, 2);
    release(&a);
    join(&u, CUZK_OK);
    assert_false(atomic_load(&late.done));
    release(&u);
    join(&late, CUZK_OK);
    release(&late);
    assert_int_equal(b.fake.circuits[0].loads, 2);
    close_bench(&b);
}

static void a_critical_acquire_overtakes_queued_loads_and_waits(void **state)
{
    (void)state;
    bench b;
    user c, d, u;
    open_bench(&b, 0);
    fake_hold(&b.fake, true, false);
    start(&d, &b, "d", 2, 1);
    fake_wait_loading(&b.fake, 1);
    start(&c, &b, "c", 2, 2);
    until(&b, "c", CUZK_LOAD_QUEUED);
    fake_add(&b.fake, "e", 20, 5);
    start(&u, &b, "e", 4, 3);
    until(&b, "e", CUZK_LOAD_QUEUED);
    fake_hold(&b.fake, false, false);
    join(&c, CUZK_OK);
    join(&d, CUZK_OK);
    join(&u, CUZK_OK);
    assert_string_equal(b.fake.loaded, "d e c ");
    assert_int_equal(b.fake.most_in_load, 1);
    release(&c);
    release(&d);
    release(&u);
    close_bench(&b);
}

static void joining_a_queued_load_lends_it_the_order_of_the_most_urgent(void **state)
{
    (void)state;
    bench b;
    user d, c, e, urgent;
    open_bench(&b, 0);
    fake_add(&b.fake, "e", 20, 5);
    fake_hold(&b.fake, true, false);
    start(&d, &b, "d", 2, 1);
    fake_wait_loading(&b.fake, 1);
    start(&c, &b, "c", 3, 2);
    until(&b, "c", CUZK_LOAD_QUEUED);
    start(&e, &b, "e", 2, 3);
    until(&b, "e", CUZK_LOAD_QUEUED);
    start(&urgent, &b, "e", 4, 4);
    until_users(&b, "e", 2);
    fake_hold(&b.fake, false, false);
    user *all[] = {&d, &c, &e, &urgent};
    for (int i = 0; i < 4; i++) {
        join(all[i], CUZK_OK);
        release(all[i]);
    }
    assert_string_equal(b.fake.loaded, "d e c ");
    close_bench(&b);
}

static void a_cancelled_acquire_leaves_nothing_behind(void **state)
{
    (void)state;
    bench b;
    user d, c, late;
    open_bench(&b, 0);
    fake_hold(&b.fake, true, false);
    start(&d, &b, "d", 2, 1);
    fake_wait_loading(&b.fake, 1);
    start(&c, &b, "c", 2, 2);
    until(&b, "c", CUZK_LOAD_QUEUED);
    atomic_store(&c.cancelled, true);
    cuzk_residency_wake(b.r);
    join(&c, CUZK_E_CANCELLED);
    assert_int_equal(state_of(&b, "c").heat, CUZK_COLD); /* nobody else wanted it */
    assert_int_equal(device_used(&b), 25);
    prepare(&late, &b, "d", 2, 3);
    late.request.deadline_ns = cuzk_clock_ns() + 10 * MS;
    user_main(&late);
    assert_int_equal(late.code, CUZK_E_TIMEOUT);
    assert_int_equal(device_used(&b), 25);
    fake_hold(&b.fake, false, false);
    join(&d, CUZK_OK);
    release(&d);
    assert_int_equal(b.fake.circuits[2].loads, 0);
    close_bench(&b);
}

typedef struct eviction {
    bench *b;
    bool was_loaded;
    uint64_t freed;
    cuzk_code code;
} eviction;

static void *evict_main(void *ctx)
{
    eviction *e = ctx;
    e->code = cuzk_residency_evict(e->b->r, &e->was_loaded, &e->freed, 0, "a", 0, NULL);
    return NULL;
}

static void an_evict_waits_for_users_and_later_acquires_wait_for_it(void **state)
{
    (void)state;
    bench b;
    user a, late;
    open_bench(&b, 0);
    eviction e = {.b = &b};
    bool was_loaded = true;
    uint64_t freed = 1;
    assert_int_equal(cuzk_residency_evict(b.r, &was_loaded, &freed, 0, "a", 0, NULL), CUZK_OK);
    assert_false(was_loaded);
    assert_int_equal(freed, 0);
    acquire(&a, &b, "a");
    cuzk_err err = {0};
    assert_int_equal(
        cuzk_residency_evict(b.r, &was_loaded, &freed, 0, "a", cuzk_clock_ns() + 5 * MS, &err),
        CUZK_E_TIMEOUT);
    assert_false(cuzk_residency_is_hot(b.r, 0, "a")); /* not for new ones */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, evict_main, &e), 0);
    start(&late, &b, "a", 4, 2);
    until_waiting(&b, 1);
    assert_true(fake_is_loaded(&b.fake, "a"));
    release(&a);
    join(&late, CUZK_OK);
    assert_int_equal(b.fake.circuits[0].loads, 2);
    assert_int_equal(b.fake.circuits[0].unloads, 1);
    release(&late); /* for the thread as well, should it have begun only now */
    pthread_join(thread, NULL);
    assert_int_equal(e.code, CUZK_OK);
    assert_int_equal(cuzk_residency_evict(b.r, &was_loaded, &freed, 0, "a", 0, NULL), CUZK_OK);
    assert_int_equal(b.fake.circuits[0].unloads, 2);
    assert_int_equal(device_used(&b), 0);
    close_bench(&b);
}

static void a_lost_device_is_cold_once_and_its_leases_can_still_be_released(void **state)
{
    (void)state;
    bench b;
    user u, v, again;
    open_bench(&b, 0);
    acquire(&u, &b, "c");
    acquire(&v, &b, "d");
    fake_lose(&b.fake);
    cuzk_residency_lost(b.r, u.lease);
    assert_int_equal(state_of(&b, "c").heat, CUZK_COLD);
    assert_int_equal(state_of(&b, "d").heat, CUZK_COLD);
    assert_int_equal(device_used(&b), 10); /* both working sets */
    acquire(&again, &b, "c");
    cuzk_residency_lost(b.r, v.lease); /* of the same loss */
    assert_true(cuzk_residency_is_hot(b.r, 0, "c"));
    release(&u);
    release(&v);
    assert_int_equal(state_of(&b, "c").users, 1);
    assert_int_equal(device_used(&b), 35);
    release(&again);
    cuzk_residency_forget(b.r, 0);
    assert_int_equal(device_used(&b), 0);
    close_bench(&b);
}

static void a_load_that_loses_the_device_makes_all_of_it_cold(void **state)
{
    (void)state;
    bench b;
    user c, d;
    open_bench(&b, 0);
    acquire(&c, &b, "c");
    release(&c);
    b.fake.circuits[3].fail_loads = 1;
    b.fake.circuits[3].fail_code = CUZK_E_UNAVAILABLE;
    prepare(&d, &b, "d", 2, 1);
    user_main(&d);
    assert_int_equal(d.code, CUZK_E_UNAVAILABLE);
    assert_int_equal(state_of(&b, "c").heat, CUZK_COLD);
    assert_int_equal(device_used(&b), 0);
    close_bench(&b);
}

static void look_ahead_loads_what_fits_and_evicts_nothing_that_is_needed_sooner(void **state)
{
    (void)state;
    bench b;
    user u;
    open_bench(&b, 0);
    cuzk_circuit_files list[] = {{"c", "s", "p"}, {"b", "s", "p"}, {"a", "s", "p"}};
    cuzk_residency_prefetch(b.r, 0, list, 3);
    until(&b, "c", CUZK_HOT);
    until(&b, "b", CUZK_HOT);
    assert_int_equal(device_used(&b), 80); /* no room for a, and nothing may go for it */
    assert_int_equal(state_of(&b, "a").heat, CUZK_COLD);
    acquire(&u, &b, "c");
    assert_int_equal(cuzk_lease_load_ns(u.lease), 0);
    list[0].circuit = "a"; /* now a is next, then b: c is in use, so b goes */
    cuzk_residency_prefetch(b.r, 0, list, 2);
    until(&b, "a", CUZK_HOT);
    assert_false(fake_is_loaded(&b.fake, "b"));
    release(&u);
    assert_true(fake_is_loaded(&b.fake, "c")); /* 60 + 30, b does not fit beside a alone */
    until(&b, "c", CUZK_HOT);
    close_bench(&b);
}

static void what_was_evicted_does_not_come_back_for_an_old_look_ahead(void **state)
{
    (void)state;
    bench b;
    user u;
    bool was_loaded;
    uint64_t freed;
    open_bench(&b, 0);
    cuzk_circuit_files list[] = {{"c", "s", "p"}, {"b", "s", "p"}};
    cuzk_residency_prefetch(b.r, 0, list, 2);
    until(&b, "c", CUZK_HOT);
    until(&b, "b", CUZK_HOT);
    assert_int_equal(cuzk_residency_evict(b.r, &was_loaded, &freed, 0, "b", 0, NULL), CUZK_OK);
    assert_true(was_loaded);
    acquire(&u, &b, "d"); /* goes through the thread that would have loaded b again */
    release(&u);
    assert_int_equal(state_of(&b, "b").heat, CUZK_COLD);
    assert_true(fake_is_loaded(&b.fake, "c"));
    cuzk_residency_prefetch(b.r, 0, list, 2); /* said anew, it does */
    until(&b, "b", CUZK_HOT);
    close_bench(&b);
}

static void look_ahead_leaves_alone_what_was_used_a_moment_ago(void **state)
{
    (void)state;
    bench b;
    user u;
    open_bench(&b, 3600000 * MS);
    acquire(&u, &b, "a");
    release(&u);
    cuzk_circuit_files list[] = {{"b", "s", "p"}};
    cuzk_residency_prefetch(b.r, 0, list, 1);
    acquire(&u, &b, "d"); /* goes through the same thread, after what the prefetch began */
    release(&u);
    assert_true(fake_is_loaded(&b.fake, "a"));
    acquire(&u, &b, "b"); /* one that waits is another matter */
    assert_false(fake_is_loaded(&b.fake, "a"));
    release(&u);
    close_bench(&b);
}

static void without_room_a_key_file_becomes_warm(void **state)
{
    (void)state;
    bench b;
    user u;
    char name[256];
    snprintf(name, sizeof name, "%s/key", test_tmpdir());
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs("key", f);
    fclose(f);
    open_bench(&b, 0);
    b.r = (cuzk_residency_free(b.r), NULL);
    cuzk_backend *devices[] = {&b.fake.base};
    cuzk_residency_config config = {.warm_max_bytes = 1000};
    assert_int_equal(cuzk_residency_new(&b.r, b.budget, devices, 1, &config, NULL), CUZK_OK);
    acquire(&u, &b, "a");
    cuzk_circuit_files list[] = {{"b", "s", name}};
    cuzk_residency_prefetch(b.r, 0, list, 1);
    until(&b, "b", CUZK_WARM);
    release(&u); /* a may go for it now */
    until(&b, "b", CUZK_HOT);
    close_bench(&b);
}

/* ---- many threads ---- */

enum { THREADS = 8 };

typedef struct member {
    bench *b;
    test_rng rng;
    pthread_t thread;
    unsigned good, bad, expected;
} member;

static void *member_main(void *ctx)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    member *m = ctx;
    for (int i = 0; i < (test_is_slow() ? 100 : 600); i++) {
        user u;
        const char *name = names[test_below(&m->rng, 4)];
        prepare(&u, m->b, name, 1 + (int)test_below(&m->rng, 4), test_u64(&m->rng) % 100);
        if (test_below(&m->rng, 6) == 0) {
            u.request.deadline_ns = cuzk_clock_ns() + test_below(&m->rng, MS);
        }
        user_main(&u);
        bool ok = u.code == CUZK_OK;
        m->good += ok && fake_is_loaded(&m->b->fake, name);
        m->bad += ok && !fake_is_loaded(&m->b->fake, name); /* evicted while in use */
        m->expected += u.code == CUZK_E_TIMEOUT || u.code == CUZK_E_MEMORY;
        m->bad += !ok && u.code != CUZK_E_TIMEOUT && u.code != CUZK_E_MEMORY;
        if (ok) {
            release(&u);
        }
        if (test_below(&m->rng, 20) == 0) {
            bool was;
            uint64_t freed;
            cuzk_residency_evict(m->b->r, &was, &freed, 0, name, cuzk_clock_ns() + MS, NULL);
        }
        if (test_below(&m->rng, 10) == 0) {
            cuzk_circuit_files list[2] = {{names[test_below(&m->rng, 4)], "s", "p"},
                                          {names[test_below(&m->rng, 4)], "s", "p"}};
            cuzk_residency_prefetch(m->b->r, 0, list, 2);
        }
        if (test_below(&m->rng, 15) == 0) {
            pthread_mutex_lock(&m->b->fake.mu);
            fake_circuit *c = &m->b->fake.circuits[test_below(&m->rng, 4)];
            c->fail_loads = 1;
            c->fail_code = CUZK_E_MEMORY;
            pthread_mutex_unlock(&m->b->fake.mu);
        }
    }
    return NULL;
}

static void many_users_of_too_many_circuits_all_get_on(void **state)
{
    (void)state;
    bench b;
    open_bench(&b, 0);
    test_rng rng = test_rng_new("residency");
    member members[THREADS];
    for (int i = 0; i < THREADS; i++) {
        members[i] = (member){.b = &b, .rng = {test_u64(&rng)}};
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_main, &members[i]), 0);
    }
    unsigned good = 0, bad = 0, expected = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
        good += members[i].good;
        bad += members[i].bad;
        expected += members[i].expected;
    }
    print_message("%u uses, %u ended early, %u evictions\n", good, expected, b.evictions);
    assert_int_equal(bad, 0);
    assert_true(good > 0 && b.evictions > 0);
    cuzk_residency_prefetch(b.r, 0, NULL, 0);
    for (const char *const *name = (const char *const[]){"a", "b", "c", "d", NULL}; *name; name++) {
        bool was;
        uint64_t freed;
        assert_int_equal(cuzk_residency_evict(b.r, &was, &freed, 0, *name, 0, NULL), CUZK_OK);
    }
    assert_int_equal(device_used(&b), 0);
    assert_int_equal(waiting(&b), 0);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_use_loads_and_the_next_finds_it_hot),
        cmocka_unit_test(a_load_under_way_is_joined),
        cmocka_unit_test(a_failed_load_is_told_to_all_who_joined_and_the_next_acquire_tries_again),
        cmocka_unit_test(a_missing_key_and_a_circuit_too_large_fail_at_once),
        cmocka_unit_test(room_is_made_from_idle_circuits_the_longest_unused_first),
        cmocka_unit_test(what_is_in_use_stays_and_a_waiter_gets_it_when_it_is_idle),
        cmocka_unit_test(nobody_gets_in_before_one_that_waits_for_an_eviction),
        cmocka_unit_test(a_critical_acquire_overtakes_queued_loads_and_waits),
        cmocka_unit_test(joining_a_queued_load_lends_it_the_order_of_the_most_urgent),
        cmocka_unit_test(a_cancelled_acquire_leaves_nothing_behind),
        cmocka_unit_test(an_evict_waits_for_users_and_later_acquires_wait_for_it),
        cmocka_unit_test(a_lost_device_is_cold_once_and_its_leases_can_still_be_released),
        cmocka_unit_test(a_load_that_loses_the_device_makes_all_of_it_cold),
        cmocka_unit_test(look_ahead_loads_what_fits_and_evicts_nothing_that_is_needed_sooner),
        cmocka_unit_test(what_was_evicted_does_not_come_back_for_an_old_look_ahead),
        cmocka_unit_test(look_ahead_leaves_alone_what_was_used_a_moment_ago),
        cmocka_unit_test(without_room_a_key_file_becomes_warm),
        cmocka_unit_test(many_users_of_too_many_circuits_all_get_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
