#include "service/message_pool.h"
#include "service/work.h"
#include "support/support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MIB = 1 << 20 };

static void messages_share_one_limit_and_a_sender_above_it_waits(void **state)
{
    (void)state;
    cuzk_message_pool *p;
    void *a, *b, *c;
    assert_int_equal(cuzk_message_pool_new(&p, 4 * MIB, 2 * MIB, NULL), CUZK_OK);
    cuzk_rpc_allocator m = cuzk_message_pool_allocator(p);
    assert_int_equal(m.alloc(m.ctx, 5 * MIB, &a), CUZK_RPC_NEVER);
    assert_int_equal(m.alloc(m.ctx, 2 * MIB, &a), CUZK_RPC_GRANTED);
    assert_int_equal(m.alloc(m.ctx, 2 * MIB, &b), CUZK_RPC_GRANTED);
    assert_int_equal(m.alloc(m.ctx, 10000, &c), CUZK_RPC_LATER);
    memset(a, 1, 2 * MIB);
    memset(b, 2, 2 * MIB);
    m.free(m.ctx, a, 2 * MIB);
    assert_int_equal(cuzk_message_pool_used(p), 2 * MIB);
    assert_int_equal(m.alloc(m.ctx, 10000, &c), CUZK_RPC_GRANTED);
    m.free(m.ctx, b, 2 * MIB);
    m.free(m.ctx, c, 10000);
    assert_int_equal(cuzk_message_pool_used(p), 0);
    cuzk_message_pool_free(p);
}

static void a_block_serves_the_next_message_of_about_its_size(void **state)
{
    (void)state;
    cuzk_message_pool *p;
    void *a, *b;
    assert_int_equal(cuzk_message_pool_new(&p, 64 * MIB, 64 * MIB, NULL), CUZK_OK);
    cuzk_rpc_allocator m = cuzk_message_pool_allocator(p);
    assert_int_equal(m.alloc(m.ctx, 50 * MIB, &a), CUZK_RPC_GRANTED);
    m.free(m.ctx, a, 50 * MIB);
    assert_int_equal(m.alloc(m.ctx, 50 * MIB + 12345, &b), CUZK_RPC_GRANTED);
    assert_ptr_equal(a, b);
    memset(b, 7, 50 * MIB + 12345);
    m.free(m.ctx, b, 50 * MIB + 12345);
    cuzk_message_pool_free(p);
}

static void a_block_is_never_smaller_than_its_message(void **state)
{
    (void)state;
    cuzk_message_pool *p;
    assert_int_equal(cuzk_message_pool_new(&p, 512 * MIB, 16 * MIB, NULL), CUZK_OK);
    cuzk_rpc_allocator m = cuzk_message_pool_allocator(p);
    for (size_t n = 4097; n < 8 * MIB; n += n / 3 + 1) {
        void *a;
        assert_int_equal(m.alloc(m.ctx, n, &a), CUZK_RPC_GRANTED);
        assert_true(cuzk_message_pool_used(p) >= n &&
                    cuzk_message_pool_used(p) <= n + n / 8 + 4096);
        memset(a, 1, n);
        m.free(m.ctx, a, n);
        assert_int_equal(cuzk_message_pool_used(p), 0);
    }
    cuzk_message_pool_free(p);
}

static void add_one(void *arg) { atomic_fetch_add((atomic_int *)arg, 1); }

static void every_item_that_was_taken_runs_before_the_end(void **state)
{
    (void)state;
    cuzk_work *w;
    atomic_int count = 0;
    unsigned taken = 0;
    assert_int_equal(cuzk_work_new(&w, "test", 3, 1000, NULL), CUZK_OK);
    for (unsigned i = 0; i < 1000; i++) {
        taken += cuzk_work_add(w, add_one, &count, NULL) == CUZK_OK;
    }
    cuzk_work_free(w);
    assert_int_equal(taken, 1000);
    assert_int_equal(atomic_load(&count), taken);
}

typedef struct gate {
    pthread_mutex_t mu;
    pthread_cond_t moved;
    bool open;
} gate;

static void wait_at(void *arg)
{
    gate *g = arg;
    pthread_mutex_lock(&g->mu);
    while (!g->open) {
        pthread_cond_wait(&g->moved, &g->mu);
    }
    pthread_mutex_unlock(&g->mu);
}

static void a_full_queue_says_so(void **state)
{
    (void)state;
    cuzk_work *w;
    cuzk_err err;
    gate g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    assert_int_equal(cuzk_work_new(&w, "test", 1, 2, NULL), CUZK_OK);
    cuzk_code code = CUZK_OK;
    for (unsigned i = 0; i < 4 && code == CUZK_OK; i++) { /* one may be at the gate already */
        code = cuzk_work_add(w, wait_at, &g, &err);
    }
    assert_int_equal(code, CUZK_E_FULL);
    pthread_mutex_lock(&g.mu);
    g.open = true;
    pthread_cond_broadcast(&g.moved);
    pthread_mutex_unlock(&g.mu);
    cuzk_work_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_share_one_limit_and_a_sender_above_it_waits),
        cmocka_unit_test(a_block_serves_the_next_message_of_about_its_size),
        cmocka_unit_test(a_block_is_never_smaller_than_its_message),
        cmocka_unit_test(every_item_that_was_taken_runs_before_the_end),
        cmocka_unit_test(a_full_queue_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
