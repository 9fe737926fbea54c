#ifndef CUZK_FILECOIN_WRITE_H
#define CUZK_FILECOIN_WRITE_H

#include "base/file.h"
#include "filecoin/vanilla.h"

/* Vanilla proofs as files, byte for byte as the reference writes them. Roots and what files repeat
 * are those that the proof implies. */

typedef enum cuzk_porep_form {
    CUZK_POREP_BINCODE,
    CUZK_POREP_JSON,    /* the output of "commit phase 1" */
    CUZK_POREP_WRAPPER, /* that in base64, with sector number and size around it */
} cuzk_porep_form;

cuzk_code cuzk_porep_write(cuzk_file_writer *w, const cuzk_porep *p, cuzk_porep_form form,
                           cuzk_err *err);

/** Bincode. */
cuzk_code cuzk_post_sector_write(cuzk_file_writer *w, const cuzk_post_sector *s,
                                 const cuzk_sector *sector, cuzk_err *err);
cuzk_code cuzk_update_partition_write(cuzk_file_writer *w, const cuzk_update_partition *p,
                                      cuzk_err *err);

#endif
