#ifndef TESTS_BASE_FILE_H
#define TESTS_BASE_FILE_H

#include "base/file.h"

/** What `write` writes, as bytes that live as long as the process; ends the process on any error.
 */
cuzk_span base_file(cuzk_code write(cuzk_file_writer *w, void *ctx, cuzk_err *err), void *ctx);

#endif
