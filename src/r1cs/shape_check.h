#ifndef CUZK_R1CS_SHAPE_CHECK_H
#define CUZK_R1CS_SHAPE_CHECK_H

#include "r1cs/template.h"

/** CUZK_OK when the arrays of s (whose counts match their sizes) keep every invariant of
 * template.h; else CUZK_E_INPUT naming `file`, the array, the index and what is wrong. */
cuzk_code cuzk_shape_check(const cuzk_shape *s, const char *file, cuzk_err *err);

#endif
