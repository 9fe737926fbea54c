#include "filecoin/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte chooses what the rest is read as. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const sizes[] = {"2KiB", "4KiB", "16KiB", "32KiB"};
    if (size == 0) {
        return 0;
    }
    cuzk_err err;
    const cuzk_span bytes = {data + 1, size - 1};
    const cuzk_sector *sector = cuzk_sector_named(sizes[data[0] / 4 % 4]);
    cuzk_post_proof proof = cuzk_post_proof_of_sector(sector, data[0] % 4 == 0);
    if (data[0] % 4 < 2) {
        cuzk_post_sector s;
        if (cuzk_post_sector_read(&s, bytes, "fuzz", &proof, &err) == CUZK_OK) {
            cuzk_post_sector_clear(&s);
        }
    } else {
        cuzk_update_partition p;
        if (cuzk_update_partition_read(&p, bytes, "fuzz", sector, &err) == CUZK_OK) {
            cuzk_update_partition_clear(&p);
        }
    }
    return 0;
}
