#ifndef CUZK_FILECOIN_CIRCUIT_WITNESS_H
#define CUZK_FILECOIN_CIRCUIT_WITNESS_H

#include "filecoin/circuits/catalog.h"
#include "filecoin/vanilla.h"
#include "r1cs/cs.h"

/*
 * The first stage of a witness: inputs and records of a circuit from a vanilla proof. The second is
 * cuzk_expand. shape: of the circuit `id`. The caller owns *ret.
 */

/** One partition of a PoRep. */
cuzk_code cuzk_porep_ports(cuzk_ports *ret, const cuzk_shape *shape, const cuzk_circuit_id *id,
                           const cuzk_porep *p, unsigned partition, cuzk_err *err);

/** One partition of a PoSt: n given sectors, see cuzk_circuit_post. */
cuzk_code cuzk_post_ports(cuzk_ports *ret, const cuzk_shape *shape, const cuzk_circuit_id *id,
                          const cuzk_post_sector *sectors, size_t n, cuzk_err *err);

/** One partition of a sector update. */
cuzk_code cuzk_update_ports(cuzk_ports *ret, const cuzk_shape *shape,
                            const cuzk_update_partition *p, cuzk_err *err);

#endif
