#include "base/threads.h"
#include "support/support.h"

#include <stdatomic.h>

typedef struct job {
    cuzk_pool *pool;
    atomic_uint hits[1000];
    atomic_uint bad_worker;
    atomic_uint total;
} job;

static void hit(void *ctx, size_t i, unsigned worker)
{
    job *j = ctx;
    atomic_fetch_add(&j->hits[i], 1);
    if (worker >= cuzk_pool_size(j->pool)) {
        atomic_fetch_add(&j->bad_worker, 1);
    }
}

static void every_index_runs_exactly_once(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        job j = {0};
        assert_int_equal(cuzk_pool_new(&j.pool, threads, NULL), CUZK_OK);
        assert_int_equal(cuzk_pool_size(j.pool), threads);
        for (int round = 1; round <= 20; round++) {
            cuzk_pool_run(j.pool, 1000, hit, &j);
            for (size_t i = 0; i < 1000; i++) {
                assert_int_equal(j.hits[i], round);
            }
        }
        assert_int_equal(j.bad_worker, 0);
        cuzk_pool_free(j.pool);
    }
}

static void inner(void *ctx, size_t i, unsigned worker)
{
    (void)i;
    (void)worker;
    atomic_fetch_add(&((job *)ctx)->total, 1);
}

static void outer(void *ctx, size_t i, unsigned worker)
{
    (void)i;
    (void)worker;
    cuzk_pool_run(((job *)ctx)->pool, 50, inner, ctx);
}

static void a_loop_inside_a_loop_does_not_deadlock(void **state)
{
    (void)state;
    job j = {0};
    assert_int_equal(cuzk_pool_new(&j.pool, 3, NULL), CUZK_OK);
    cuzk_pool_run(j.pool, 40, outer, &j);
    assert_int_equal(j.total, 2000);
    cuzk_pool_free(j.pool);
}

static void the_null_pool_runs_on_the_caller(void **state)
{
    (void)state;
    job j = {0};
    cuzk_pool_run(NULL, 10, hit, &j);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(j.hits[i], 1);
    }
    assert_int_equal(cuzk_pool_size(NULL), 1);
}

static void parts_of_a_split_are_contiguous_and_nearly_equal(void **state)
{
    (void)state;
    for (size_t n = 0; n < 40; n++) {
        for (size_t count = 1; count < 9; count++) {
            size_t at = 0;
            for (size_t i = 0; i < count; i++) {
                size_t begin, end;
                cuzk_split(n, count, i, &begin, &end);
                assert_int_equal(begin, at);
                assert_true(end - begin == n / count || end - begin == n / count + 1);
                at = end;
            }
            assert_int_equal(at, n);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_runs_exactly_once),
        cmocka_unit_test(a_loop_inside_a_loop_does_not_deadlock),
        cmocka_unit_test(the_null_pool_runs_on_the_caller),
        cmocka_unit_test(parts_of_a_split_are_contiguous_and_nearly_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
