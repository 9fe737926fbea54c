#ifndef CUZK_BACKEND_FAULT_H
#define CUZK_BACKEND_FAULT_H

#include "cuzk/backend.h"

/*
 * For tests: a device that fails by plan. A plan is rules with a comma between them,
 *
 *     CALL[@CIRCUIT][:N | :*K]=ACTION       e.g. prove:2=wrong,prove@window-2KiB:*5=slow-300
 *
 * CALL is load or prove. N is the number of the one call meant, counted from 1 over those that
 * match; *K means every K-th; without either every call is meant. The first rule that means a call
 * decides. Actions:
 *
 *     wrong         the proof with A negated: well encoded, of the right group, not valid
 *     error         CUZK_E_INTERNAL
 *     input         CUZK_E_INPUT
 *     memory        CUZK_E_MEMORY
 *     unavailable   CUZK_E_UNAVAILABLE, and all that is loaded is gone
 *     slow-MS       so many milliseconds later
 *     hang          for good (until the process is killed, or the backend closed)
 *     exit, abort, segv   the process ends in this way
 *
 * With `state=FILE` as the first rule the counts are kept in FILE.1, FILE.2, …, one byte for each
 * call, so that they go on when the process does not.
 */

/** Wraps `inner` (taken: closed with this one, and also when this fails). CUZK_E_ARG names the rule
 *  that is wrong. The caller owns *ret. */
cuzk_code cuzk_backend_fault_open(cuzk_backend **ret, cuzk_backend *inner, const char *plan,
                                  cuzk_err *err);

#endif
