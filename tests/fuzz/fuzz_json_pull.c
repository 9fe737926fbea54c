#include "support/json_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 65536) { /* what the walker keeps of a number */
        json_walk_compare(data, size);
    }
    return 0;
}
