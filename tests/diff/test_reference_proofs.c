#include "support/reference_proof.h"
#include "support/support.h"

static void key_and_proof_of_window_2KiB_are_those_of_the_reference(void **state)
{
    (void)state;
    static const reference_proof row = {
        "window-2KiB",
        {"reference/window-2KiB.sector0.bincode", "reference/window-2KiB.sector1.bincode"},
        "c5a3ba9fee9d89eceb851ecf30ff13d9fda2018ede2ad0719b8f71f371e6a146",
        "reference/window-2KiB.vk",
        "reference/window-2KiB.0.proof"};
    test_reference_proof(&row);
}

static void key_and_proof_of_winning_2KiB_are_those_of_the_reference(void **state)
{
    (void)state;
    if (test_is_slow()) {
        return; /* the same as above, but larger */
    }
    static const reference_proof row = {
        "winning-2KiB",
        {"reference/winning-2KiB.sector0.bincode"},
        "f9692d7811c6c57ad67dedb9f6273b5319c6279175b67c835c844c5d7ad7f3a6",
        "reference/winning-2KiB.vk",
        "reference/winning-2KiB.0.proof"};
    test_reference_proof(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_and_proof_of_window_2KiB_are_those_of_the_reference),
        cmocka_unit_test(key_and_proof_of_winning_2KiB_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
