/* One kernel for each field function whose multiplications scripts/count-opcodes counts. It is
 * compiled alone and linked into nothing. */
#include "backend/cuda/dfp.h"
#include "backend/cuda/dfr.h"

#define PROBE(name, type, value)                                                                   \
    extern "C" __global__ void probe_##name(type *ret, const type *a, const type *b,               \
                                            const type *c, const type *d)                          \
    {                                                                                              \
        *ret = value;                                                                              \
    }

PROBE(dfp_mul, dfp, dfp_mul(*a, *b))
PROBE(dfp_sqr, dfp, dfp_sqr(*a))
PROBE(dfp_dot2, dfp, dfp_dot2(*a, *b, *c, *d))
PROBE(dfr_mul, dfr, dfr_mul(*a, *b))
PROBE(dfr_shoup_mul, dfr, dfr_shoup_mul(*a, *b, *c))
