#ifndef CUZK_R1CS_SHAPE_FILE_H
#define CUZK_R1CS_SHAPE_FILE_H

#include "r1cs/template.h"

/*
 * The block of memory behind a cuzk_shape, which is also its file:
 *
 *     header, 256 bytes      magic "cuzkshp" 0, version, byte order, name, counts, see shape_file.c
 *     templates, instances, runs, offsets, terms, classes, plans, dictionary
 *                            as template.h has them, each starting at a multiple of 64 bytes
 *     SHA-256 of all before  32 bytes, in the file only
 */

/** Version of the layout; a file of another version is refused (and made again by the caller). */
enum { CUZK_SHAPE_VERSION = 1 };

/** Counts and sources of the arrays from which cuzk_shape_assemble makes a block: the fields of a
 *  cuzk_shape, name and counts included. The caller owns *ret; the parts are copied. */
cuzk_code cuzk_shape_assemble(cuzk_shape **ret, const cuzk_shape *parts, cuzk_err *err);

/** Writes the shape as a whole or not at all. */
cuzk_code cuzk_shape_save(const cuzk_shape *s, const char *file, cuzk_err *err);

/**
 * Maps a file. CUZK_E_INPUT, naming the field, when it is damaged, of another version, or not of
 * the circuit `name` (NULL: any). Everything in it is checked against the invariants of template.h,
 * so that no reader needs to check again. The caller owns *ret.
 */
cuzk_code cuzk_shape_load(cuzk_shape **ret, const char *file, const char *name, cuzk_err *err);

/** cuzk_shape_load for bytes that are already in memory, 8-byte aligned and borrowed. */
cuzk_code cuzk_shape_parse(cuzk_shape **ret, cuzk_span bytes, const char *file, const char *name,
                           cuzk_err *err);

#endif
