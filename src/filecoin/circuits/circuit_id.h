#ifndef CUZK_FILECOIN_CIRCUIT_ID_H
#define CUZK_FILECOIN_CIRCUIT_ID_H

#include "filecoin/proof_kind.h"

/** Which circuit. */
typedef struct cuzk_circuit_id {
    cuzk_proof_kind kind;
    const cuzk_sector *sector;
    unsigned cut; /* 0, or that many challenges (porep) or sectors (window) */
} cuzk_circuit_id;

#endif
