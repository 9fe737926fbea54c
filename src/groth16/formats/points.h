#ifndef CUZK_GROTH16_POINTS_H
#define CUZK_GROTH16_POINTS_H

#include "base/file.h"
#include "groth16/groth16.h"

/*
 * Points of bellperson's binary files: uncompressed ZCash encodings, one by one or in long lists.
 * No such file may hold the point at infinity. Errors name the file, the offset, the point, what
 * was expected and what was found.
 */

cuzk_code cuzk_points_take_g1(cuzk_cursor *c, const char *field, g1_affine *ret, point_check check,
                              cuzk_err *err);
cuzk_code cuzk_points_take_g2(cuzk_cursor *c, const char *field, g2_affine *ret, point_check check,
                              cuzk_err *err);

/** A list of encoded points somewhere in a file. Borrows everything. */
typedef struct cuzk_point_list {
    const char *name; /* of the list */
    const char *file;
    const uint8_t *bytes;
    uint64_t offset; /* of bytes in the file */
    uint64_t n;
    bool is_g2;
    const cuzk_file_map *map; /* NULL, or the file, whose pages are dropped when they are done */
} cuzk_point_list;

/** Fails with CUZK_E_INPUT as the decoder does for point i of a list; `found` says what it is. */
cuzk_code cuzk_points_refuse(const cuzk_point_list *list, uint64_t i, const char *found,
                             cuzk_err *err);

/**
 * Decodes a list on all threads of the pool into ret (g1_affine[n] or g2_affine[n]), or only
 * validates it when ret is NULL. The error is that of the first bad point. After each run of points
 * calls progress (may be NULL) on the caller's thread with the list's name, the points that are
 * done, and n.
 */
cuzk_code cuzk_points_decode(const cuzk_point_list *list, void *ret, point_check check,
                             cuzk_pool *pool, const cuzk_progress *progress, cuzk_err *err);

#endif
