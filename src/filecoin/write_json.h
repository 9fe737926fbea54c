#ifndef CUZK_FILECOIN_WRITE_JSON_H
#define CUZK_FILECOIN_WRITE_JSON_H

#include "base/file.h"
#include "filecoin/vanilla.h"

/** The JSON forms behind cuzk_porep_write. */
cuzk_code cuzk_porep_write_json(cuzk_file_writer *w, const cuzk_porep *p, bool wrapper,
                                cuzk_err *err);

#endif
