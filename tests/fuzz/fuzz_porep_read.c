#include "filecoin/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bincode, JSON or wrapper: the reader tells them apart itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cuzk_err err;
    cuzk_porep p;
    if (cuzk_porep_read(&p, (cuzk_span){data, size}, "fuzz", NULL, &err) == CUZK_OK) {
        cuzk_porep_clear(&p);
    }
    return 0;
}
