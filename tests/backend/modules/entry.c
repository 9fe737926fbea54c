#include "backend/cuda/cuda_backend.h"

#include <stddef.h>

int cuzk_test_missing(void);
__attribute__((visibility("default"))) int cuzk_test_module(void);

/* What every one of them exports. */
int cuzk_test_module(void)
{
#ifdef NEEDS
    return cuzk_test_missing();
#else
    return 7;
#endif
}

#ifdef ABI
__attribute__((visibility("default"))) const cuzk_cuda_entry cuzk_cuda_library = {
    .abi = ABI,
    .version = VERSION,
    .count = cuzk_test_module,
};
#endif
