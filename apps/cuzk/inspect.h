#ifndef APPS_CUZK_INSPECT_H
#define APPS_CUZK_INSPECT_H

#include "cli.h"

#include <jansson.h>

/** What a file is. */
typedef enum file_kind {
    KIND_UNKNOWN,
    KIND_R1CS,
    KIND_WTNS,
    KIND_ZKEY,
    KIND_VK,
    KIND_PARAMS,
    KIND_PROOFS,
    KIND_INPUTS,
    KIND_VK_JSON,
    KIND_PROOF_JSON,
    KIND_PUBLIC_JSON,
    N_FILE_KINDS
} file_kind;

/** A phrase, e.g. "bellperson verifying key". */
const char *inspect_kind_name(file_kind kind);

/** How it is known what a file is. */
typedef enum kind_source {
    KIND_BY_CONTENT, /* a magic word, a member's name, a first proof that is one */
    KIND_BY_NAME,    /* the end of the file's name, where the content does not tell */
    KIND_BY_GUESS,   /* the size and what would be the values */
    KIND_BY_OPTION,
} kind_source;

/** A phrase, e.g. "its content". */
const char *inspect_source_name(kind_source source);

/** What a file of that name and content is, and how that is known; KIND_UNKNOWN when nothing
 *  fits. */
file_kind inspect_kind(cuzk_span bytes, const char *name, kind_source *ret_source);

/** The kind that is called so in --type and at the end of files' names, e.g. "vk" or "vk.json", or
 *  KIND_UNKNOWN. */
file_kind inspect_kind_of_type(const char *type);

/**
 * Reads a file of that kind as every command would, and adds what it holds to the JSON object out,
 * in the order in which it is to be printed. check: also that each point is on its curve and of
 * order r.
 */
cuzk_code inspect_describe(json_t *out, file_kind kind, const char *name, bool check,
                           cuzk_pool *pool, const cuzk_progress *progress, cuzk_err *err);

/** What inspect_describe has made sure of, when check was set. */
const char *inspect_checked(file_kind kind);

#endif
