#include "r1cs/shape_csr.h"

#include <stdlib.h>

static cuzk_code put_instance(cuzk_r1cs_builder *b, const cuzk_shape *s, uint32_t i,
                              const cuzk_var *vars, cuzk_err *err)
{
    const cuzk_template *t = cuzk_shape_template(s, &s->instances[i]);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        for (unsigned m = 0; m < 3; m++) {
            const uint32_t *offset = s->offsets + t->offsets[m] + row;
            for (uint32_t k = offset[0]; k < offset[1]; k++) {
                cuzk_var v = vars[cuzk_term_ref(s->terms[k])];
                uint32_t number = v & CUZK_VAR_INPUT ? v & ~CUZK_VAR_INPUT : s->n_inputs + v;
                CUZK_TRY(cuzk_r1cs_builder_term(b, (cuzk_matrix)m, number,
                                                &s->dictionary[cuzk_term_coeff(s->terms[k])], err));
            }
        }
        CUZK_TRY(cuzk_r1cs_builder_end_row(b, err));
    }
    return CUZK_OK;
}

cuzk_code cuzk_shape_to_r1cs(cuzk_r1cs **ret, const cuzk_shape *s, cuzk_err *err)
{
    cuzk_r1cs_builder *b = NULL;
    CUZK_TRY(cuzk_r1cs_builder_new(&b, s->n_inputs, cuzk_shape_aux(s), err));
    cuzk_code code = CUZK_OK;
    cuzk_var *vars = malloc((CUZK_TEMPLATE_REFS_MAX + 1) * sizeof *vars);
    if (!vars) {
        code = CUZK_FAIL(err, CUZK_E_MEMORY, "no memory to convert %s", s->name);
    }
    for (uint32_t i = 0; code == CUZK_OK && i < s->n_instances; i++) {
        cuzk_instance_vars(s, i, vars);
        code = put_instance(b, s, i, vars, err);
    }
    if (code == CUZK_OK) {
        code = cuzk_r1cs_builder_finish(b, ret, err);
    }
    free(vars);
    cuzk_r1cs_builder_free(b);
    return code;
}
