#include "base/system.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static void large_arrays_can_be_used_throughout(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 1000, (16 << 20) / 96, (16 << 20) / 96 + 1, 1 << 18};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint8_t *p = cuzk_alloc_large(counts[i], 96);
        assert_non_null(p);
        memset(p, 0x5a, counts[i] * 96);
        free(p);
    }
}

static void sizes_that_overflow_get_no_memory(void **state)
{
    (void)state;
    assert_null(cuzk_alloc_large(SIZE_MAX / 96 + 1, 96));
    assert_null(cuzk_alloc_large(SIZE_MAX, 1));
    assert_null(cuzk_alloc_large(SIZE_MAX / 2, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_arrays_can_be_used_throughout),
        cmocka_unit_test(sizes_that_overflow_get_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
