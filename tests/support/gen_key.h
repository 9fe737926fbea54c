#ifndef TESTS_GEN_KEY_H
#define TESTS_GEN_KEY_H

#include "groth16/groth16.h"

/**
 * A key of the right shape for a system whose points are random ones of order r: files can be
 * written from it and read back, nothing can be proved with it. Every seventh point of l is
 * infinity. Root and H query as in snarkjs. Fails the test when there is no memory.
 */
cuzk_pk *gen_key_new(const cuzk_r1cs *r, uint64_t seed);

#endif
