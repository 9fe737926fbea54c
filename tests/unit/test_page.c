#include "service/page/page.h"
#include "support/files.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static void the_page_in_the_program_is_the_file(void **state)
{
    (void)state;
    test_file file = test_file_load(PAGE_FILE);
    assert_int_equal(cuzk_page_html_size, file.n);
    assert_memory_equal(cuzk_page_html, file.p, file.n);
    assert_memory_equal(cuzk_page_html, "<!doctype html>", 15);
    free(file.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_in_the_program_is_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
