#ifndef APPS_CUZK_INSPECT_H
#define APPS_CUZK_INSPECT_H

#include "cli.h"

#include "base/bytes.h"

#include <jansson.h>

/** What a file is, by its content. */
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

/** Goes by magic words, sizes and, where nothing else tells, values. KIND_UNKNOWN when nothing
 *  fits. */
file_kind inspect_kind(cuzk_span bytes);

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
