#include "groth16/groth16.h"

#include <inttypes.h>
#include <stdio.h>

cuzk_code cuzk_scalar_random(fr *ret, cuzk_err *err)
{
    uint8_t bytes[32];
    fr value;
    bool found = false;
    /* r / 2^255 > 0.9, so a draw of 255 bits fails less than once in ten times. */
    while (!found) {
        CUZK_TRY(cuzk_random_bytes(bytes, sizeof bytes, err));
        bytes[31] &= 0x7f;
        found = fr_from_bytes(&value, bytes) && !fr_is_zero(&value);
    }
    *ret = value;
    cuzk_wipe(bytes, sizeof bytes);
    cuzk_wipe(&value, sizeof value);
    return CUZK_OK;
}

cuzk_code cuzk_scalar_named(fr *ret, const char *name, cuzk_err *err)
{
    uint8_t digest[32];
    CUZK_TRY(cuzk_sha256(digest, name, strlen(name), err));
    digest[31] &= 0x3f; /* below 2^254, so below r */
    if (!fr_from_bytes(ret, digest)) {
        return CUZK_FAIL(err, CUZK_E_INTERNAL, "a 254-bit integer is not below the modulus");
    }
    return CUZK_OK;
}

typedef struct part {
    const char *name;
    fr *value;
} part;

enum { N_PARTS = 5 };

/* One list of the secrets, so that both ways of making them treat all of them. */
static void parts_of(part parts[N_PARTS], cuzk_trapdoor *t)
{
    parts[0] = (part){"alpha", &t->alpha};
    parts[1] = (part){"beta", &t->beta};
    parts[2] = (part){"gamma", &t->gamma};
    parts[3] = (part){"delta", &t->delta};
    parts[4] = (part){"tau", &t->tau};
}

cuzk_code cuzk_trapdoor_random(cuzk_trapdoor *ret, cuzk_err *err)
{
    cuzk_trapdoor t;
    part parts[N_PARTS];
    parts_of(parts, &t);
    for (int i = 0; i < N_PARTS; i++) {
        CUZK_TRY(cuzk_scalar_random(parts[i].value, err));
    }
    *ret = t;
    cuzk_wipe(&t, sizeof t);
    return CUZK_OK;
}

cuzk_code cuzk_trapdoor_named(cuzk_trapdoor *ret, const char *name, cuzk_err *err)
{
    cuzk_trapdoor t;
    part parts[N_PARTS];
    char full[128];
    parts_of(parts, &t);
    for (int i = 0; i < N_PARTS; i++) {
        int n = snprintf(full, sizeof full, "%s-%s", name, parts[i].name);
        if (n < 0 || (size_t)n >= sizeof full) {
            return CUZK_FAIL(err, CUZK_E_ARG, "a seed name has at most 100 characters");
        }
        CUZK_TRY(cuzk_scalar_named(parts[i].value, full, err));
    }
    *ret = t;
    return CUZK_OK;
}

cuzk_code cuzk_trapdoor_check(const cuzk_trapdoor *trapdoor, cuzk_err *err)
{
    cuzk_trapdoor t = *trapdoor;
    part parts[N_PARTS];
    parts_of(parts, &t);
    const char *zero = NULL;
    for (int i = 0; i < N_PARTS; i++) {
        if (fr_is_zero(parts[i].value)) {
            zero = parts[i].name;
        }
    }
    cuzk_wipe(&t, sizeof t);
    if (zero) {
        return CUZK_FAIL(err, CUZK_E_INPUT, "the trapdoor's %s is zero: draw another", zero);
    }
    return CUZK_OK;
}

cuzk_code cuzk_setup_refuse_domain(unsigned lg, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "the trapdoor's tau is in the domain of 2^%u points: draw another", lg);
}

cuzk_code cuzk_setup_refuse_root(uint64_t var, cuzk_err *err)
{
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "the trapdoor's tau is a root of the polynomial of variable %" PRIu64
                     ": draw another",
                     var);
}

cuzk_code cuzk_setup_refuse_zero(uint64_t var, uint32_t n_inputs, cuzk_err *err)
{
    if (var < n_inputs) {
        return CUZK_FAIL(err, CUZK_E_INPUT,
                         "the trapdoor makes the verifying key's point of input %" PRIu64
                         " infinite: draw another",
                         var);
    }
    return CUZK_FAIL(err, CUZK_E_INPUT,
                     "auxiliary variable %" PRIu64 " occurs in no row: nothing constrains it, and "
                     "the format has no point for it",
                     var - n_inputs);
}
