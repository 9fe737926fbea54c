#ifndef CUZK_FILECOIN_READ_H
#define CUZK_FILECOIN_READ_H

#include "base/bytes.h"
#include "filecoin/vanilla.h"

/*
 * Vanilla proofs from files. Formats: the bincode 1.x and serde_json forms of rust-fil-proofs and
 * rust-filecoin-proofs-api, and the wrapper that lotus-bench and Curio put around the latter.
 * Every length, index and repeated value is checked against the registered proof. Errors are
 * CUZK_E_INPUT and name the file, the offset, partition and challenge, the field, what was expected
 * and what was found. Paths are not hashed here: filecoin/check.h does that.
 */

/**
 * Reads the output of "commit phase 1" in any of its three forms: bincode, JSON, or JSON in base64
 * in a JSON wrapper (streamed: memory is what *ret takes and about half a MiB). The wrapper and
 * JSON say which registered proof it is; for bincode `want` does, or, when want is NULL, the shape
 * of the proofs: an interactive V1_1 proof of the size, or a non-interactive one. A want that the
 * input contradicts is an error. The caller owns *ret; nothing of bytes is borrowed.
 */
cuzk_code cuzk_porep_read(cuzk_porep *ret, cuzk_span bytes, const char *name,
                          const cuzk_seal_proof *want, cuzk_err *err);

/** cuzk_porep_read of a file. */
cuzk_code cuzk_porep_read_file(cuzk_porep *ret, const char *path, const cuzk_seal_proof *want,
                               cuzk_err *err);

/** Reads one sector's vanilla proof for a PoSt (bincode). The caller owns *ret. */
cuzk_code cuzk_post_sector_read(cuzk_post_sector *ret, cuzk_span bytes, const char *name,
                                const cuzk_post_proof *proof, cuzk_err *err);

cuzk_code cuzk_post_sector_read_file(cuzk_post_sector *ret, const char *path,
                                     const cuzk_post_proof *proof, cuzk_err *err);

/** Reads one partition of a sector update (bincode). The caller owns *ret. */
cuzk_code cuzk_update_partition_read(cuzk_update_partition *ret, cuzk_span bytes, const char *name,
                                     const cuzk_sector *sector, cuzk_err *err);

cuzk_code cuzk_update_partition_read_file(cuzk_update_partition *ret, const char *path,
                                          const cuzk_sector *sector, cuzk_err *err);

#endif
