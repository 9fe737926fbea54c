#ifndef TESTS_JSON_WALK_H
#define TESTS_JSON_WALK_H

#include "base/json_pull.h"

#include <jansson.h>

/** What a text is to the reader under test: *ret is its value as jansson would build it (owned by
 *  the caller), or NULL with the code returned. piece 0 gives the reader the text whole, else in
 *  pieces of that many bytes. *ret_deep tells a text that is refused for its depth alone. */
cuzk_code json_walk(json_t **ret, const uint8_t *text, size_t n, size_t piece, bool *ret_deep,
                    cuzk_err *err);

/** Fails the process unless the reader, whole and in pieces, agrees with jansson on a text. */
void json_walk_compare(const uint8_t *text, size_t n);

#endif
