#include "vectors.h"

#include "base/sha256.h"
#include "groth16/groth16.h"

#include <stdio.h>
#include <string.h>

void vector_path(char ret[256], const char *name) { snprintf(ret, 256, ".gpu/vectors/%s", name); }

cuzk_code vector_statement(cuzk_statement **ret, cuzk_circuit_id *ret_id, const char *circuit,
                           const char *const files[2], cuzk_err *err)
{
    static const char text[] = "post randomness";
    uint8_t randomness[32];
    const cuzk_claims claims = {.randomness = randomness};
    char paths[2][256];
    const char *names[2];
    size_t n = 0;
    for (; n < 2 && files[n]; n++) {
        vector_path(paths[n], files[n]);
        names[n] = paths[n];
    }
    CUZK_TRY(cuzk_sha256(randomness, text, strlen(text), err));
    randomness[31] &= 0x3f;
    CUZK_TRY(cuzk_circuit_named(ret_id, circuit, err));
    return cuzk_statement_read(ret, ret_id, names, n, &claims, err);
}

cuzk_code vector_task(cuzk_partition_task *ret, const char *circuit, const cuzk_shape *shape,
                      const cuzk_ports *ports, cuzk_err *err)
{
    fr r, s;
    CUZK_TRY(cuzk_scalar_named(&r, "ref-r-0", err));
    CUZK_TRY(cuzk_scalar_named(&s, "ref-s-0", err));
    *ret = (cuzk_partition_task){
        .circuit = circuit,
        .inputs = {(const uint8_t *)ports->inputs, shape->n_inputs * sizeof(fr)},
        .records = {ports->records, cuzk_shape_record_bytes(shape)}};
    fr_to_bytes(ret->r, &r);
    fr_to_bytes(ret->s, &s);
    return CUZK_OK;
}
