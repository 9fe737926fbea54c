#include <stdlib.h>

#include "base/system.h"
#include "r1cs/digest.h"
#include "r1cs/shape_file.h"
#include "support/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A shape file whose checksum is made to fit, so that the checks behind it are reached. What passes
 * them must be safe to read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < 32 || n > 1 << 20) {
        return 0;
    }
    uint8_t *bytes = aligned_alloc(64, (n + 63) / 64 * 64);
    if (!bytes) {
        return 0;
    }
    memcpy(bytes, data, n);
    cuzk_shape *s = NULL;
    cuzk_shape_counts counts;
    uint8_t digest[32];
    if (cuzk_sha256(bytes + n - 32, bytes, n - 32, NULL) == CUZK_OK &&
        cuzk_shape_parse(&s, (cuzk_span){bytes, n}, "fuzz", NULL, NULL) == CUZK_OK) {
        if (cuzk_shape_aux(s) < 1 << 22 && cuzk_shape_rows(s) < 1 << 16) {
            cuzk_shape_count(s, &counts, NULL);
            cuzk_shape_digest(s, digest, NULL);
        }
        cuzk_shape_free(s);
    }
    free(bytes);
    return 0;
}
