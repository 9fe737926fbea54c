#ifndef CUZK_CONFIG_CONFIG_IMPL_H
#define CUZK_CONFIG_CONFIG_IMPL_H

#include "base/toml.h"
#include "config/config.h"

#include <stdio.h>

/* What the module's own files share; nobody else needs this. */

typedef enum config_type {
    CONFIG_STRING,    /* const char * */
    CONFIG_ADDRESS,   /* const char *: HOST:PORT, unix:///PATH or "" */
    CONFIG_ADDRESSES, /* cuzk_config_strings: one or several, at least one */
    CONFIG_STRINGS,   /* cuzk_config_strings */
    CONFIG_NUMBERS,   /* cuzk_config_numbers */
    CONFIG_BOOL,      /* bool */
    CONFIG_COUNT,     /* uint32_t in [min, max] */
    CONFIG_SIZE,      /* uint64_t bytes in [min, max], or auto when max is CUZK_CONFIG_AUTO */
    CONFIG_DURATION,  /* uint64_t milliseconds */
    CONFIG_CPUS,      /* cuzk_config_numbers */
    CONFIG_WORD,      /* an enum, by its place in words */
    CONFIG_EXPLAINED, /* the reference's, without effect here */
} config_type;

typedef struct config_key {
    const char *section, *name;
    config_type type;
    size_t offset;        /* in cuzk_config */
    const char *fallback; /* as TOML; of an explained key the value that deserves no warning */
    uint64_t min, max;
    const char *const *words; /* NULL-terminated */
    const char *explanation;
} config_key;

/** All keys, ordered by section as they are documented. */
extern const config_key cuzk_config_keys[];
extern const size_t cuzk_config_key_count;

/** Memory that lives as long as the configuration; NULL when there is none. */
void *cuzk_config_alloc(cuzk_config *c, size_t n);

/** Reads the value of a key, checked, into the configuration. `where` is "NAME:LINE:COLUMN". */
cuzk_code cuzk_config_read(cuzk_config *c, const config_key *k, const cuzk_toml_value *v,
                           const char *where, cuzk_err *err);

/** Writes a key's value as TOML. */
void cuzk_config_write(const cuzk_config *c, const config_key *k, FILE *out);

/** Of n names the one nearest to a wrong one, when it is near enough to be meant; else NULL. */
const char *cuzk_config_nearest(const char *wrong, const char *const *names, size_t n);

#endif
