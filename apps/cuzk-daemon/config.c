#include "daemon.h"

#include <stdio.h>
#include <string.h>

static cuzk_code set_one(cuzk_config *c, const char *assignment, cuzk_err *err)
{
    char key[128];
    const char *equals = strchr(assignment, '=');
    size_t n = equals ? (size_t)(equals - assignment) : 0;
    if (!equals || n == 0 || n >= sizeof key) {
        return CUZK_FAIL(err, CUZK_E_ARG, "--set wants KEY=VALUE, such as pipeline.slot_size=0");
    }
    memcpy(key, assignment, n);
    key[n] = '\0';
    return cuzk_config_set(c, key, equals + 1, "--set", err);
}

static cuzk_code apply(cuzk_config *c, const daemon_args *args, cuzk_err *err)
{
    cuzk_code code = cuzk_config_apply_file(c, args->config, err);
    if (code == CUZK_E_NOT_FOUND && !args->config_given) {
        code = CUZK_OK; /* the default place is empty: defaults */
    }
    CUZK_TRY(code);
    CUZK_TRY(cuzk_config_apply_environment(c, err));
    for (size_t i = 0; i < args->n_set; i++) {
        CUZK_TRY(set_one(c, args->set[i], err));
    }
    return cuzk_config_check(c, err);
}

cuzk_code daemon_config(cuzk_config **ret, const daemon_args *args, cuzk_err *err)
{
    cuzk_config *c;
    CUZK_TRY(cuzk_config_new(&c, err));
    cuzk_code code = apply(c, args, err);
    if (code != CUZK_OK) {
        cuzk_config_free(c);
        return code;
    }
    *ret = c;
    return CUZK_OK;
}
