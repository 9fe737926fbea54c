#include "r1cs/r1cs.h"

#include <stdlib.h>

void cuzk_r1cs_free(cuzk_r1cs *r)
{
    if (!r) {
        return;
    }
    cuzk_csr *m[] = {&r->a, &r->b, &r->c};
    for (size_t i = 0; i < 3; i++) {
        free(m[i]->row);
        free(m[i]->var);
        free(m[i]->coeff);
    }
    free(r->dictionary);
    free(r);
}
