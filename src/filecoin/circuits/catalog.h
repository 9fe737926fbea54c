#ifndef CUZK_FILECOIN_CATALOG_H
#define CUZK_FILECOIN_CATALOG_H

#include "filecoin/circuits/circuit_id.h"
#include "r1cs/template.h"

/* Circuits by name: "porep-32GiB", "winning-2KiB", "window-512MiB", "update-64GiB",
 * "update-poseidon-32GiB"; "porep-SIZE-1challenge" and "window-SIZE-2sectors" are cut to that, for
 * tests. */

/** Version of the circuits' code, part of a shape's name: raised with each change of what a shape
 *  holds, so that kept files are made again. */
enum { CUZK_CIRCUITS_VERSION = 1 };

/** Parses a name; CUZK_E_ARG when there is no such circuit. */
cuzk_code cuzk_circuit_named(cuzk_circuit_id *ret, const char *name, cuzk_err *err);

/** The i-th name without cuts, in order of kind and size, or false past the end. */
bool cuzk_circuit_at(unsigned i, char ret[CUZK_SHAPE_NAME_MAX]);

/** Name of a circuit, and with its version as a shape carries it. */
void cuzk_circuit_name(char ret[CUZK_SHAPE_NAME_MAX], const cuzk_circuit_id *id);
void cuzk_circuit_shape_name(char ret[CUZK_SHAPE_NAME_MAX], const cuzk_circuit_id *id);

/** Makes the shape of a circuit. The caller owns *ret. */
cuzk_code cuzk_circuit_shape(cuzk_shape **ret, const cuzk_circuit_id *id, cuzk_err *err);

/** Loads a circuit's shape from a file; makes it and writes the file when there is none or it is
 *  damaged or of another version. *ret_made tells which (NULL: not wanted). */
cuzk_code cuzk_circuit_shape_cached(cuzk_shape **ret, const cuzk_circuit_id *id, const char *file,
                                    bool *ret_made, cuzk_err *err);

#endif
