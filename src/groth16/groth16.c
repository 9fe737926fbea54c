#include "groth16/groth16.h"

#include <stdlib.h>

void cuzk_vk_clear(cuzk_vk *vk)
{
    free(vk->ic);
    *vk = (cuzk_vk){0};
}

void cuzk_pk_free(cuzk_pk *pk)
{
    if (!pk) {
        return;
    }
    cuzk_vk_clear(&pk->vk);
    free(pk->h);
    free(pk->l);
    free(pk->a);
    free(pk->a_var);
    free(pk->b_g1);
    free(pk->b_g2);
    free(pk->b_var);
    free(pk);
}
