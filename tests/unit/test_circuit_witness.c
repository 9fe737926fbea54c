#include "support/support.h"
#include "support/witness.h"

/* From rust-fil-proofs on the same vanilla proofs. */
static const witness_row rows[] = {
    {"window-2KiB",
     {"reference/window-2KiB.sector0.bincode", "reference/window-2KiB.sector1.bincode"},
     "06b102f869ef2e0512d625745997a3532932d11358e866775dd6a2940606347d",
     "ed78c52f190a3996a6e0debf936e3c2843f7c9cbc164eb880db971878d825603",
     {"98c9880d35726f26e0620aa4e72c388164637e538d882420112bc184cdeee7df",
      "68442adb717c6d7f6c708cc8ae37b9f2b89f2c7143fdc0d9d22e8d26392e61bb",
      "eadb839238c632b5dcaf27780a99be5e9484df457f4425013cdc657e2d2110fd"}},
    {"winning-2KiB",
     {"reference/winning-2KiB.sector0.bincode"},
     "b8a10e0c098d933b112b5201626eccb68be9e9cb4eeb6f8594810f0f417bb4cc",
     "1f1a086bf28e23c7570f78d9b02efb590b80c49893cdc195d8cca78513cdd3fe",
     {"97c7cccc7f9b7267854fcbea70065a3863ffa4df8cc49a0dabc718b64580548e",
      "b4509f5bcaefd1464b0e26ad5f92bd3e269c8d743ed3e7b8ba83180b9f2ea5bb",
      "face2544117b7e230b47f09f17381f8a8cec7825a7e88da7a3e29d6b9d5a334c"}},
    {"window-32GiB-2sectors",
     {"reference/window-32GiB.sector0.bincode", "reference/window-32GiB.sector1.bincode"},
     "da492768cd8aadbe50675de4ee8013c164b37727bcfc5201eb212ebadb8f0fbe",
     "ba1fa96d8be4b89b47fd2ac078c114f792cc39c9be04350130b994efab76b480",
     {NULL, NULL, NULL}},
    {"porep-2KiB",
     {"reference/c1-2KiB.bincode"},
     "67983bf5be2394b28b94bf685080edf854d456b9c6ef2e38c4bcc7fdbe7ac00f",
     "ead8395ec294c5e02d7dfb7db0a9c383aac6c15fc40c44b557f1b29d23876427",
     {"9aef64d767cba5b72424fad0c70cc70f7fab53b6059a51b497eabe82f0780a2e",
      "f44d3c04651c71325345cf240168597eacb17ebc2c3b7c0c37b8ee6b205ea0b0",
      "3dc33c1af3a7a149614841f24f18b4641a9adc2d503987cdbe74ee76db0114ad"}},
    {"update-2KiB",
     {"reference/update-2KiB.partition0.bincode"},
     "d9bf0dfde006fe68b2108480afbff135dc1d3f374377127faebf1e8ebb518109",
     "30a16fb01637180e89e56031c16c211e3fc444f89348d197620671940f5d083d",
     {"ec3156c53d295a100a7282ad0de5dbd026b5c6861eab4c67a9338d42dc97e1cf",
      "63774c74fb9eb85879ef7416801030c958b10e86e221752f7a7f6ec7484d3bbf",
      "ed56c173431afa2c3a52d8e5978d3d825341f5577e1a8a1c740f97ad86077092"}},
};

static void witnesses_of_small_circuits_are_those_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        test_witness_row(&rows[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(witnesses_of_small_circuits_are_those_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
