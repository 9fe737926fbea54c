#ifndef TESTS_VANILLA_EQ_H
#define TESTS_VANILLA_EQ_H

#include "filecoin/vanilla.h"

/** Fails the test unless both proofs hold the same in every field but sector_number. */
void assert_porep_equal(const cuzk_porep *a, const cuzk_porep *b);

#endif
