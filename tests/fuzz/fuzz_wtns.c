/* cuzk_wtns_parse over any bytes, and over a good file with edits. */
#include "groth16/formats/formats.h"
#include "support/iden3_bytes.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static iden3_bytes good;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    const fr_repr z[] = {{{1}}, {{0}}, {{1, 2, 3, 4}}, {{7}}};
    char path[4096];
    snprintf(path, sizeof path, "%s/good.wtns", test_tmpdir());
    if (cuzk_wtns_write(z, sizeof z / sizeof *z, path, NULL) != CUZK_OK) {
        abort();
    }
    good = iden3_bytes_load(path);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0) {
        return 0;
    }
    iden3_bytes f = {malloc(n), n - 1};
    if (!f.p) {
        return 0;
    }
    if (data[0] & 1) {
        iden3_bytes_clear(&f);
        f = iden3_bytes_copy(&good);
        iden3_edit(&f, data + 1, n - 1);
    } else {
        memcpy(f.p, data + 1, n - 1);
    }
    fr_repr *z = NULL;
    size_t n_z = 0;
    cuzk_err err = {0};
    if (cuzk_wtns_parse(&z, &n_z, iden3_bytes_span(&f), "fuzz", &err) == CUZK_OK) {
        for (size_t i = 0; i < n_z; i++) {
            if (!fr_repr_is_canonical(&z[i])) {
                abort();
            }
        }
        free(z);
    } else if (err.code != CUZK_E_INPUT || !strstr(err.msg, "fuzz: offset ")) {
        abort();
    }
    iden3_bytes_clear(&f);
    return 0;
}
