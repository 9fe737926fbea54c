#include "support/base_file.h"

#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void require(bool ok, const cuzk_err *err)
{
    if (!ok) {
        fprintf(stderr, "base_file: %s\n", err->msg);
        abort();
    }
}

cuzk_span base_file(cuzk_code write(cuzk_file_writer *w, void *ctx, cuzk_err *err), void *ctx)
{
    char name[300];
    cuzk_err err = {0};
    cuzk_file_writer *w;
    cuzk_file_map map;
    snprintf(name, sizeof name, "%s/base", test_tmpdir());
    require(cuzk_file_writer_open(&w, name, &err) == CUZK_OK, &err);
    require(write(w, ctx, &err) == CUZK_OK, &err);
    require(cuzk_file_writer_commit(w, &err) == CUZK_OK, &err);
    require(cuzk_file_map_open(&map, name, &err) == CUZK_OK, &err);
    unlink(name);
    return map.bytes; /* the mapping stays */
}
