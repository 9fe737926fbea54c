#ifndef CUZK_FILECOIN_POREP_BINCODE_H
#define CUZK_FILECOIN_POREP_BINCODE_H

#include "base/bytes.h"
#include "filecoin/vanilla.h"

/** Whether bytes start as the bincode form of a PoRep vanilla proof does, and no JSON can. */
bool cuzk_porep_is_bincode(cuzk_span bytes);

/** The two readers behind cuzk_porep_read. *ret starts empty and is the caller's to clear also
 *  after an error. */
cuzk_code cuzk_porep_read_bincode(cuzk_porep *ret, cuzk_span bytes, const char *name,
                                  const cuzk_seal_proof *want, cuzk_err *err);
cuzk_code cuzk_porep_read_json(cuzk_porep *ret, cuzk_span bytes, const char *name,
                               const cuzk_seal_proof *want, cuzk_err *err);

#endif
