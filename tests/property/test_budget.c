#include "engine/budget.h"

#include "base/system.h"
#include "support/support.h"

#include <string.h>

#define MS 1000000ULL

static cuzk_amounts amounts(uint64_t host, uint64_t pinned, uint64_t device)
{
    return (cuzk_amounts){{host, pinned, device}};
}

static cuzk_budget *budget_of(uint64_t host, uint64_t pinned, uint64_t device)
{
    cuzk_budget *b;
    cuzk_amounts totals = amounts(host, pinned, device);
    assert_int_equal(cuzk_budget_new(&b, &totals, NULL), CUZK_OK);
    return b;
}

static uint64_t used(cuzk_budget *b, const char *name)
{
    cuzk_budget_state s;
    cuzk_budget_snapshot(b, &s);
    for (unsigned i = 0; i < s.n_accounts; i++) {
        if (strcmp(s.accounts[i].name, name) == 0) {
            return s.accounts[i].used;
        }
    }
    fail_msg("no account %s", name);
    return 0;
}

/* A thread that reserves once; it gives back when told. */
typedef struct user {
    cuzk_budget *b;
    cuzk_budget_request request;
    cuzk_reservation r;
    cuzk_code code;
    cuzk_err err;
    atomic_int *order; /* counts grants */
    atomic_int place;  /* 0 until granted */
    atomic_bool cancelled;
    pthread_t thread;
} user;

static void *user_main(void *ctx)
{
    user *u = ctx;
    u->code = cuzk_budget_reserve(u->b, &u->r, &u->request, &u->err);
    if (u->code == CUZK_OK) {
        atomic_store(&u->place, atomic_fetch_add(u->order, 1) + 1);
    }
    return NULL;
}

static unsigned waiting(cuzk_budget *b)
{
    cuzk_budget_state s;
    cuzk_budget_snapshot(b, &s);
    return s.n_waiting;
}

/* Starts a user and returns when it stands in the queue (or has what it wants). */
static void start(user *u, cuzk_budget *b, atomic_int *order, cuzk_amounts need, int priority,
                  uint64_t job, uint32_t partition)
{
    unsigned before = waiting(b);
    memset(u, 0, sizeof *u);
    u->b = b;
    u->order = order;
    u->request = (cuzk_budget_request){
        .order = {priority, job, partition}, .need = need, .cancelled = &u->cancelled};
    assert_int_equal(pthread_create(&u->thread, NULL, user_main, u), 0);
    while (waiting(b) == before && atomic_load(&u->place) == 0) {
        sched_yield();
    }
}

static void join(user *u) { assert_int_equal(pthread_join(u->thread, NULL), 0); }

static void a_reservation_is_whole_or_not_at_all(void **state)
{
    (void)state;
    cuzk_budget *b = budget_of(100, 50, 1000);
    cuzk_reservation r, other = {{{7}}};
    cuzk_amounts fits = amounts(60, 50, 900), lacks_pinned = amounts(40, 1, 100);
    assert_true(cuzk_budget_try(b, &r, &fits));
    assert_false(cuzk_budget_try(b, &other, &lacks_pinned));
    assert_int_equal(other.held.bytes[0], 7); /* untouched */
    assert_int_equal(used(b, "host"), 60);
    assert_int_equal(used(b, "device 0"), 900);
    cuzk_amounts part = amounts(10, 500, 0); /* more than is held: all of it */
    cuzk_budget_release_part(b, &r, &part);
    assert_int_equal(used(b, "host"), 50);
    assert_int_equal(used(b, "pinned"), 0);
    assert_true(cuzk_budget_try(b, &other, &lacks_pinned));
    cuzk_budget_release(b, &r);
    cuzk_budget_release(b, &r); /* empty now */
    cuzk_budget_release(b, &other);
    assert_int_equal(used(b, "host") + used(b, "pinned") + used(b, "device 0"), 0);
    cuzk_budget_free(b);
}

static void what_can_never_fit_fails_at_once_with_the_numbers(void **state)
{
    (void)state;
    cuzk_budget *b = budget_of(100, 0, 1000);
    cuzk_err err = {0};
    cuzk_reservation r;
    cuzk_budget_request q = {.need = amounts(1, 0, 1001)};
    assert_int_equal(cuzk_budget_reserve(b, &r, &q, &err), CUZK_E_FULL);
    assert_string_equal(err.msg,
                        "device 0 memory: 1001 bytes are needed, the whole budget is 1000");
    q.need = amounts(0, 1, 0);
    assert_int_equal(cuzk_budget_reserve(b, &r, &q, &err), CUZK_E_FULL);
    cuzk_amounts fixed = amounts(30, 0, 0);
    assert_int_equal(cuzk_budget_fix(b, &fixed, NULL), CUZK_OK);
    q.need = amounts(71, 0, 0);
    assert_int_equal(cuzk_budget_reserve(b, &r, &q, &err), CUZK_E_FULL);
    fixed = amounts(71, 0, 0);
    assert_int_equal(cuzk_budget_fix(b, &fixed, &err), CUZK_E_FULL);
    cuzk_budget_free(b);
}

static void one_that_waits_learns_that_the_budget_shrank_below_it(void **state)
{
    (void)state;
    cuzk_budget *b = budget_of(100, 0, 0);
    atomic_int order = 0;
    user u;
    cuzk_reservation r;
    cuzk_amounts ten = amounts(10, 0, 0), fixed = amounts(20, 0, 0);
    assert_true(cuzk_budget_try(b, &r, &ten));
    start(&u, b, &order, amounts(95, 0, 0), 0, 0, 0);
    assert_int_equal(cuzk_budget_fix(b, &fixed, NULL), CUZK_OK);
    join(&u);
    assert_int_equal(u.code, CUZK_E_FULL);
    cuzk_budget_release(b, &r);
    cuzk_budget_free(b);
}

static void the_queue_is_by_priority_then_job_then_partition(void **state)
{
    (void)state;
    static const struct {
        int priority;
        uint64_t job;
        uint32_t partition;
        int place;
    } rows[] = {{2, 7, 1, 6}, {2, 7, 0, 5},  {4, 90, 3, 1}, {1, 1, 0, 7},
                {2, 5, 9, 4}, {3, 50, 0, 2}, {2, 5, 8, 3}};
    enum { N = sizeof rows / sizeof *rows };
    cuzk_budget *b = budget_of(10, 0, 0);
    atomic_int order = 0;
    user users[N];
    cuzk_reservation all;
    cuzk_amounts ten = amounts(10, 0, 0);
    assert_true(cuzk_budget_try(b, &all, &ten));
    for (int i = 0; i < N; i++) {
        start(&users[i], b, &order, ten, rows[i].priority, rows[i].job, rows[i].partition);
    }
    assert_int_equal(waiting(b), N);
    cuzk_budget_release(b, &all);
    for (int place = 1; place <= N; place++) { /* each needs all: one after the other */
        for (int i = 0; i < N; i++) {
            if (rows[i].place == place) {
                join(&users[i]);
                assert_int_equal(atomic_load(&users[i].place), place);
                cuzk_budget_release(b, &users[i].r);
            }
        }
    }
    cuzk_budget_free(b);
}

static void a_later_request_goes_ahead_only_where_it_takes_nothing_from_an_earlier_one(void **state)
{
    (void)state;
    cuzk_budget *b = budget_of(100, 0, 100);
    atomic_int order = 0;
    user big, beside, behind;
    cuzk_reservation held;
    cuzk_amounts most = amounts(0, 0, 60);
    assert_true(cuzk_budget_try(b, &held, &most));
    start(&big, b, &order, amounts(70, 0, 90), 2, 1, 0);   /* waits for the device */
    start(&behind, b, &order, amounts(0, 0, 20), 2, 2, 0); /* would fit, but the device is next */
    start(&beside, b, &order, amounts(30, 0, 0), 2, 3, 0); /* 30 host bytes are beyond the 70 */
    join(&beside);
    assert_int_equal(atomic_load(&beside.place), 1);
    cuzk_amounts one = amounts(1, 0, 0);
    cuzk_reservation r;
    assert_false(cuzk_budget_try(b, &r, &one));
    assert_int_equal(waiting(b), 2);
    cuzk_budget_release(b, &held);
    join(&big);
    assert_int_equal(atomic_load(&big.place), 2);
    cuzk_budget_release(b, &big.r);
    join(&behind);
    cuzk_budget_release(b, &behind.r);
    cuzk_budget_release(b, &beside.r);
    cuzk_budget_free(b);
}

static void a_wait_ends_by_cancel_or_deadline_and_lets_others_go_on(void **state)
{
    (void)state;
    cuzk_budget *b = budget_of(100, 0, 0);
    atomic_int order = 0;
    user first, second;
    cuzk_reservation held;
    cuzk_amounts half = amounts(50, 0, 0);
    assert_true(cuzk_budget_try(b, &held, &half));
    start(&first, b, &order, amounts(60, 0, 0), 2, 1, 0);
    start(&second, b, &order, amounts(50, 0, 0), 2, 2, 0);
    cuzk_budget_wake(b); /* nobody's flag is set */
    assert_int_equal(waiting(b), 2);
    atomic_store(&first.cancelled, true);
    cuzk_budget_wake(b);
    join(&first);
    assert_int_equal(first.code, CUZK_E_CANCELLED);
    join(&second);
    assert_int_equal(second.code, CUZK_OK);
    cuzk_budget_request q = {.need = half, .deadline_ns = cuzk_clock_ns() + 20 * MS};
    cuzk_err err = {0};
    assert_int_equal(cuzk_budget_reserve(b, &held, &q, &err), CUZK_E_TIMEOUT);
    assert_true(cuzk_clock_ns() >= q.deadline_ns);
    cuzk_budget_release(b, &second.r);
    cuzk_budget_release(b, &held);
    assert_int_equal(used(b, "host"), 0);
    cuzk_budget_free(b);
}

/* ---- many threads ---- */

enum { THREADS = 12, ACCOUNTS = 4 };

typedef struct crowd {
    cuzk_budget *b;
    cuzk_amounts totals;
    atomic_ullong in_use[ACCOUNTS];
    atomic_uint over, failures, cancelled;
    cuzk_reservation cache; /* guarded by the budget's mutex */
    unsigned evictions;     /* so too */
    int rounds;
} crowd;

typedef struct member {
    crowd *c;
    test_rng rng;
    atomic_bool flag;
    pthread_t thread;
} member;

/* Frees at once: the cache is only a number. */
static void evict_cache(void *ctx, const cuzk_amounts *shortfall, uint64_t pass)
{
    (void)pass;
    crowd *c = ctx;
    if (shortfall->bytes[0] && c->cache.held.bytes[0]) {
        c->evictions++;
        cuzk_budget_release_locked(c->b, &c->cache);
    }
}

static void enter(crowd *c, const cuzk_reservation *r)
{
    for (int i = 0; i < ACCOUNTS; i++) {
        unsigned long long now = atomic_fetch_add(&c->in_use[i], r->held.bytes[i]);
        atomic_fetch_add(&c->over, now + r->held.bytes[i] > c->totals.bytes[i]);
    }
}

static void leave(crowd *c, const cuzk_amounts *part)
{
    for (int i = 0; i < ACCOUNTS; i++) {
        atomic_fetch_sub(&c->in_use[i], part->bytes[i]);
    }
}

static void use(member *m)
{
    crowd *c = m->c;
    cuzk_budget_request q = {.order = {(int)test_below(&m->rng, 5), test_below(&m->rng, 50),
                                       (uint32_t)test_below(&m->rng, 10)},
                             .cancelled = &m->flag};
    for (int i = 0; i < ACCOUNTS; i++) {
        q.need.bytes[i] = test_below(&m->rng, 3) ? test_below(&m->rng, 1 + c->totals.bytes[i]) : 0;
    }
    if (test_below(&m->rng, 8) == 0) {
        q.deadline_ns = cuzk_clock_ns() + test_below(&m->rng, MS);
    }
    cuzk_reservation r;
    cuzk_code code = cuzk_budget_reserve(c->b, &r, &q, NULL);
    if (code == CUZK_OK) {
        enter(c, &r);
        cuzk_amounts part = {{r.held.bytes[0] / 2, r.held.bytes[1]}};
        leave(c, &part);
        cuzk_budget_release_part(c->b, &r, &part);
        leave(c, &r.held);
        cuzk_budget_release(c->b, &r);
    } else {
        bool expected = (code == CUZK_E_TIMEOUT && q.deadline_ns) ||
                        (code == CUZK_E_CANCELLED && atomic_load(&m->flag));
        atomic_fetch_add(expected ? &c->cancelled : &c->failures, 1);
        atomic_store(&m->flag, false);
    }
    if (test_below(&m->rng, 4) == 0) { /* fills the cache with what is free */
        cuzk_amounts some = {{1 + test_below(&m->rng, c->totals.bytes[0])}};
        cuzk_budget_lock(c->b);
        if (!c->cache.held.bytes[0]) {
            cuzk_budget_try_locked(c->b, &c->cache, &some);
            cuzk_budget_decide_locked(c->b); /* there is something to evict */
        }
        cuzk_budget_unlock(c->b);
    }
}

static void *member_main(void *ctx)
{
    member *m = ctx;
    for (int i = 0; i < m->c->rounds; i++) {
        use(m);
    }
    return NULL;
}

static void nothing_is_lost_and_nobody_waits_forever(void **state)
{
    (void)state;
    crowd c = {.totals = {{1000, 100, 5000, 70}}, .rounds = test_is_slow() ? 200 : 2000};
    assert_int_equal(cuzk_budget_new(&c.b, &c.totals, NULL), CUZK_OK);
    cuzk_budget_set_evictor(c.b, evict_cache, &c);
    test_rng rng = test_rng_new("budget");
    member members[THREADS];
    for (int i = 0; i < THREADS; i++) {
        members[i] = (member){.c = &c, .rng = {test_u64(&rng)}};
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_main, &members[i]), 0);
    }
    for (int i = 0; i < c.rounds; i++) { /* somebody always loses patience */
        atomic_store(&members[test_below(&rng, THREADS)].flag, true);
        cuzk_budget_wake(c.b);
        sched_yield();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(members[i].thread, NULL);
    }
    print_message("evictions %u, waits ended early %u\n", c.evictions, atomic_load(&c.cancelled));
    assert_int_equal(atomic_load(&c.over), 0);
    assert_int_equal(atomic_load(&c.failures), 0);
    assert_true(c.evictions > 0);
    cuzk_budget_release(c.b, &c.cache);
    cuzk_budget_state s;
    cuzk_budget_snapshot(c.b, &s);
    assert_int_equal(s.n_waiting, 0);
    for (unsigned i = 0; i < s.n_accounts; i++) {
        assert_int_equal(s.accounts[i].used, 0);
        assert_int_equal(s.accounts[i].total, c.totals.bytes[i]);
    }
    cuzk_budget_free(c.b);
}

/* The greatest request, of the least priority but the oldest job of it, among many small ones. */
typedef struct stream {
    cuzk_budget *b;
    atomic_bool stop;
    atomic_uint grants;
} stream;

static void *stream_main(void *ctx)
{
    stream *s = ctx;
    uint64_t job = 10;
    while (!atomic_load(&s->stop)) {
        cuzk_budget_request q = {.order = {2, job++, 0}, .need = amounts(3, 0, 0)};
        cuzk_reservation r;
        if (cuzk_budget_reserve(s->b, &r, &q, NULL) == CUZK_OK) {
            atomic_fetch_add(&s->grants, 1);
            cuzk_budget_release(s->b, &r);
        }
    }
    return NULL;
}

static void a_big_request_does_not_starve_among_small_ones(void **state)
{
    (void)state;
    stream s = {.b = budget_of(10, 0, 0)};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, stream_main, &s), 0);
    }
    while (atomic_load(&s.grants) < 100) {
        sched_yield();
    }
    cuzk_budget_request q = {.order = {2, 1, 0}, .need = amounts(10, 0, 0)};
    for (int i = 0; i < 100; i++) {
        cuzk_reservation r;
        assert_int_equal(cuzk_budget_reserve(s.b, &r, &q, NULL), CUZK_OK);
        cuzk_budget_release(s.b, &r);
    }
    atomic_store(&s.stop, true);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    cuzk_budget_free(s.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reservation_is_whole_or_not_at_all),
        cmocka_unit_test(what_can_never_fit_fails_at_once_with_the_numbers),
        cmocka_unit_test(one_that_waits_learns_that_the_budget_shrank_below_it),
        cmocka_unit_test(the_queue_is_by_priority_then_job_then_partition),
        cmocka_unit_test(
            a_later_request_goes_ahead_only_where_it_takes_nothing_from_an_earlier_one),
        cmocka_unit_test(a_wait_ends_by_cancel_or_deadline_and_lets_others_go_on),
        cmocka_unit_test(nothing_is_lost_and_nobody_waits_forever),
        cmocka_unit_test(a_big_request_does_not_starve_among_small_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
