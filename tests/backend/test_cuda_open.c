#include "backend/cuda_open.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

/* The modules are those of modules/; this program stands in bin/. */

static void found(const char *name, const char *ends)
{
    const cuzk_cuda_entry *e;
    char path[CUZK_CUDA_PATH_MAX];
    cuzk_err err;
    if (cuzk_cuda_open(&e, path, name, &err) != CUZK_OK) {
        fail_msg("%s", err.msg);
    }
    assert_int_equal(e->count(), 7);
    assert_true(strlen(path) > strlen(ends));
    assert_string_equal(path + strlen(path) - strlen(ends), ends);
}

/* The folder of this program, and a file's name after it. */
static const char *beside(const char *name)
{
    static char path[CUZK_CUDA_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = 0;
    char *slash = strrchr(path, '/');
    snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%s", name);
    return path;
}

static void a_library_is_found_beside_the_program_or_by_its_path(void **state)
{
    (void)state;
    found("entry_good.so", "/bin/../lib/cuzk/entry_good.so");
    found("entry_beside.so", "/bin/entry_beside.so");
    found(beside("entry_beside.so"), "/bin/entry_beside.so");
    assert_int_equal(cuzk_cuda_open(&(const cuzk_cuda_entry *){NULL}, NULL, "entry_good.so", NULL),
                     CUZK_OK);
}

/* It cannot be opened: with this code, and one sentence that has these words. */
static void refused(const char *name, cuzk_code code, const char *words)
{
    const cuzk_cuda_entry *e = NULL;
    char path[CUZK_CUDA_PATH_MAX] = "untouched";
    cuzk_err err;
    assert_int_equal(cuzk_cuda_open(&e, path, name, &err), code);
    print_message("  %s\n", err.msg);
    assert_non_null(strstr(err.msg, words));
    assert_null(e);
    assert_string_equal(path, "untouched");
}

static void what_is_nowhere_is_told_with_the_places(void **state)
{
    (void)state;
    const char *none = "libcuzk_nowhere.so is neither beside this program";
    refused("libcuzk_nowhere.so", CUZK_E_NOT_FOUND, none);
    refused("./no/such.so", CUZK_E_NOT_FOUND, "./no/such.so: there is no such file");
    char name[CUZK_CUDA_PATH_MAX + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    refused(name, CUZK_E_ARG, "too long");
}

static void what_is_of_no_use_is_told_with_the_reason(void **state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s/text.so", test_tmpdir());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("this is no library\n", f);
    assert_int_equal(fclose(f), 0);
    refused(path, CUZK_E_UNSUPPORTED, "/text.so cannot be loaded: ");
    refused("entry_none.so", CUZK_E_UNSUPPORTED, "entry_none.so: not cuzk's: no symbol");
    refused("entry_other_abi.so", CUZK_E_UNSUPPORTED, "expected interface 1, found 2");
    refused("entry_other_version.so", CUZK_E_UNSUPPORTED, "found 0.0.1");
    refused("entry_incomplete.so", CUZK_E_UNSUPPORTED, "cuzk_test_missing");
    refused("libm.so.6", CUZK_E_UNSUPPORTED, "libm.so.6: not cuzk's"); /* by the loader */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_is_found_beside_the_program_or_by_its_path),
        cmocka_unit_test(what_is_nowhere_is_told_with_the_places),
        cmocka_unit_test(what_is_of_no_use_is_told_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
