#ifndef CUZK_FILECOIN_GENERATE_NAMES_H
#define CUZK_FILECOIN_GENERATE_NAMES_H

#include "base/sha256.h"
#include "filecoin/vanilla.h"

#include <stdio.h>

/* How generated values are named: those of a seed have it before their name. */

enum { CUZK_NAME_MAX = 128, CUZK_SEED_MAX = 48 };

/** "NAME", or "SEED NAME" when there is a seed (cut to 48 bytes). */
static inline void cuzk_seeded_name(char ret[CUZK_NAME_MAX], const char *seed, const char *name)
{
    bool any = seed && seed[0];
    snprintf(ret, CUZK_NAME_MAX, "%.*s%s%s", CUZK_SEED_MAX, any ? seed : "", any ? " " : "", name);
}

/** SHA-256 of the name, cut to 254 bits. */
static inline cuzk_node cuzk_named_node(const char *seed, const char *name)
{
    char text[CUZK_NAME_MAX];
    cuzk_node n;
    cuzk_seeded_name(text, seed, name);
    cuzk_sha256_digest(n.b, text, strlen(text));
    n.b[31] &= 0x3f;
    return n;
}

#endif
