#include "support/reference_proof.h"
#include "support/support.h"

/* Keys and proofs that follow from the reference's witnesses and the known secrets. */
#define REFERENCE_PROOF(TEST, ...)                                                                 \
    static void TEST(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        static const reference_proof row = {__VA_ARGS__};                                          \
        test_reference_proof(&row);                                                                \
    }

REFERENCE_PROOF(key_and_proof_of_window_32GiB_cut_to_two_sectors, "window-32GiB-2sectors",
                {"reference/window-32GiB.sector0.bincode",
                 "reference/window-32GiB.sector1.bincode"},
                NULL, "reference/window-32GiB-2sectors.oracle.vk",
                "reference/window-32GiB-2sectors.oracle.proof")

REFERENCE_PROOF(key_and_proof_of_update_2KiB, "update-2KiB",
                {"reference/update-2KiB.partition0.bincode"}, NULL,
                "reference/update-2KiB-p0.oracle.vk", "reference/update-2KiB-p0.oracle.proof")

REFERENCE_PROOF(key_and_proof_of_porep_2KiB, "porep-2KiB", {"reference/c1-2KiB.phase1.json"}, NULL,
                "reference/porep-2KiB.oracle.vk", "reference/porep-2KiB.oracle.proof")

REFERENCE_PROOF(key_and_proof_of_porep_8MiB, "porep-8MiB", {"reference/c1-8MiB.bincode"}, NULL,
                "reference/porep-8MiB.oracle.vk", "reference/porep-8MiB.oracle.proof")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_and_proof_of_window_32GiB_cut_to_two_sectors),
        cmocka_unit_test(key_and_proof_of_update_2KiB),
        cmocka_unit_test(key_and_proof_of_porep_2KiB),
        cmocka_unit_test(key_and_proof_of_porep_8MiB),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
