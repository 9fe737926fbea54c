#ifndef CUZK_BASE_FILE_H
#define CUZK_BASE_FILE_H

#include "base/bytes.h"

/** A whole file mapped for reading. Owns the mapping; the name is borrowed. */
typedef struct cuzk_file_map {
    cuzk_span bytes; /* bytes.p is NULL for an empty file */
    const char *name;
} cuzk_file_map;

/** Maps a regular file. CUZK_E_IO when it cannot be opened, CUZK_E_INPUT when it is not a file. */
cuzk_code cuzk_file_map_open(cuzk_file_map *ret, const char *name, cuzk_err *err);

/** Lets go of the memory behind whole pages of [begin, end): what is read there again comes from
 *  the file. For files that are read once from front to end. */
void cuzk_file_map_drop(const cuzk_file_map *map, size_t begin, size_t end);

/** Unmaps; accepts a map that is all zero. */
void cuzk_file_map_close(cuzk_file_map *map);

/**
 * Writes a file as a whole: bytes go to a temporary name in the same folder, which
 * cuzk_file_writer_commit flushes to disk and renames. Until then, and after an error, the old file
 * stays as it was.
 */
typedef struct cuzk_file_writer cuzk_file_writer;

cuzk_code cuzk_file_writer_open(cuzk_file_writer **ret, const char *name, cuzk_err *err);

/** Appends n bytes (buffered). */
cuzk_code cuzk_file_writer_put(cuzk_file_writer *w, const void *bytes, size_t n, cuzk_err *err);

/** Overwrites n bytes at an offset that was written before, e.g. a length known only later. */
cuzk_code cuzk_file_writer_patch(cuzk_file_writer *w, uint64_t offset, const void *bytes, size_t n,
                                 cuzk_err *err);

/** Bytes put so far. */
uint64_t cuzk_file_writer_offset(const cuzk_file_writer *w);

/** Makes the file appear under its name, and frees the writer whatever the outcome. */
cuzk_code cuzk_file_writer_commit(cuzk_file_writer *w, cuzk_err *err);

/** Drops what was written and frees the writer; accepts NULL. */
void cuzk_file_writer_abort(cuzk_file_writer *w);

/** cuzk_file_writer for bytes that are already in memory. */
cuzk_code cuzk_file_write(const char *name, const void *bytes, size_t n, cuzk_err *err);

/** Makes a folder with all above it; none of them need be missing. */
cuzk_code cuzk_make_folder(const char *name, cuzk_err *err);

enum { CUZK_TEMPORARY_MAX = 256 }; /* bytes of its name, with the NUL */

/** Makes a folder of a new name that begins with `prefix` where $TMPDIR says, or where the system
 *  keeps such; mode 0700. CUZK_E_IO when it cannot be made. To be removed with
 *  cuzk_remove_folder. */
cuzk_code cuzk_temporary_folder(char ret[CUZK_TEMPORARY_MAX], const char *prefix, cuzk_err *err);

/** Removes a folder with all in it, as far as that can be removed. Follows no links. */
void cuzk_remove_folder(const char *name);

#endif
