#include "support/support.h"
#include "support/witness.h"

/* From rust-fil-proofs on the same vanilla proofs. */
static const witness_row rows[] = {
    {"porep-8MiB",
     {"reference/c1-8MiB.bincode"},
     "c8fcac54697c10f4cde0b0ad456e969573f3b950ebd429a81186bf5280de4ad6",
     "4083b89adca095b72ab6da2abba7dbcf73a0e8ae89585cee431b3cb6c1502158",
     {"2c34fef08da324d4c6866be86dabb7ac16ae89e43fe80b46d2b9cd0ad884efb3",
      "a14b3bffdae7c890acb0f5e7f48757c4855fc7588e9c29d9b5646534274ad4f9",
      "008096d2f553b9221dd8cb5473d2cd1fe2fcf068f7e13b6c02bae574784aad8e"}},
    {"porep-32GiB",
     {"reference/c1-32GiB.bincode"},
     "ebc6aa9ef70d4c47e77239c0b6081a9eb2b2cc462027b877a7a5bbd6a98cc8c3",
     "c4ac5e32b07546d7e9796c794b495e07f6a1b35f133867a0db3ee340d4a2439f",
     {"b376d9270a26c342d9343fd4045e13efc887057740939965ea0ac643cad6a00e",
      "420f2030c755db1d87e7025bfa1c8cc8140045f2d4aa2dc3527090f4a8e25128",
      "1e76d4452a4ecbb086af2f2802d50494121e1117a846d5829e573c3cdb985d75"}},
    {"update-32GiB",
     {"reference/update-32GiB.partition0.bincode"},
     "11192f2826b69f31a3fa05b9e8173d3b4c023c3e4a2b98d91c9c28add91c725b",
     "1c3a3ef566a5c2d2f91c9d8800e8f1f54e8371318589740c8f2edefe10dacfe3",
     {"60d0dbd89fc75cdd68a554815c528edbe6ba129bf70296c114b33298bcb6dcd0",
      "b447b59e232921975611e8e83832b141cb52197aae0f9d59e368b8753759b5c2",
      "df16d0331f02a9549dcf2e9bc8470915c849818373076db70a5997e9415cf44a"}},
};

static void witnesses_of_large_circuits_are_those_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        test_witness_row(&rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(witnesses_of_large_circuits_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
